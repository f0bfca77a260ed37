// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs: their structure, and the types of nodes whose parameters are the same in both APIs.

#include "runtime.hpp"

using namespace cuprum::runtime;

namespace {

const CUgraphEdgeData* as_driver(const cudaGraphEdgeData* edges) {
    return same<const CUgraphEdgeData>(edges);
}

CUgraphEdgeData* as_driver(cudaGraphEdgeData* edges) {
    return same<CUgraphEdgeData>(edges);
}

} // namespace

extern "C" {

// ---- structure ---------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to,
                                               const cudaGraphEdgeData* edgeData,
                                               std::size_t numDependencies) {
    return in_context([&] {
        return cuGraphAddDependencies(graph, from, to, as_driver(edgeData), numDependencies);
    });
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to,
                                                  const cudaGraphEdgeData* edgeData,
                                                  std::size_t numDependencies) {
    return in_context([&] {
        return cuGraphRemoveDependencies(graph, from, to, as_driver(edgeData), numDependencies);
    });
}

cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                        cudaGraphNode_t* to, cudaGraphEdgeData* edgeData,
                                        std::size_t* numEdges) {
    return in_context(
        [&] { return cuGraphGetEdges(graph, from, to, as_driver(edgeData), numEdges); });
}

cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* pRootNodes,
                                            std::size_t* pNumRootNodes) {
    return in_context([&] { return cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes); });
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                   cudaGraphNode_t* pDependencies,
                                                   cudaGraphEdgeData* edgeData,
                                                   std::size_t* pNumDependencies) {
    return in_context([&] {
        return cuGraphNodeGetDependencies(node, pDependencies, as_driver(edgeData),
                                          pNumDependencies);
    });
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                     cudaGraphNode_t* pDependentNodes,
                                                     cudaGraphEdgeData* edgeData,
                                                     std::size_t* pNumDependentNodes) {
    return in_context([&] {
        return cuGraphNodeGetDependentNodes(node, pDependentNodes, as_driver(edgeData),
                                            pNumDependentNodes);
    });
}

cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* pType) {
    return in_context([&] { return cuGraphNodeGetType(node, same<CUgraphNodeType>(pType)); });
}

cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t node) {
    return in_context([&] { return cuGraphDestroyNode(node); });
}

cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t* pGraphClone, cudaGraph_t originalGraph) {
    return in_context([&] { return cuGraphClone(pGraphClone, originalGraph); });
}

cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t* pNode, cudaGraphNode_t originalNode,
                                               cudaGraph_t clonedGraph) {
    return in_context([&] { return cuGraphNodeFindInClone(pNode, originalNode, clonedGraph); });
}

cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path,
                                             unsigned int flags) {
    return in_context([&] { return cuGraphDebugDotPrint(graph, path, flags); });
}

cudaError_t CUDARTAPI cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                unsigned int count, unsigned int flags) {
    return in_context([&] { return cuGraphRetainUserObject(graph, object, count, flags); });
}

cudaError_t CUDARTAPI cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                 unsigned int count) {
    return in_context([&] { return cuGraphReleaseUserObject(graph, object, count); });
}

// ---- nodes -------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t* pDependencies,
                                            std::size_t numDependencies) {
    return in_context(
        [&] { return cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies); });
}

cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t* pDependencies,
                                           std::size_t numDependencies,
                                           const cudaHostNodeParams* pNodeParams) {
    return in_context([&] {
        return cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies,
                                  same<const CUDA_HOST_NODE_PARAMS>(pNodeParams));
    });
}

cudaError_t CUDARTAPI cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                 cudaHostNodeParams* pNodeParams) {
    return in_context(
        [&] { return cuGraphHostNodeGetParams(node, same<CUDA_HOST_NODE_PARAMS>(pNodeParams)); });
}

cudaError_t CUDARTAPI cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                 const cudaHostNodeParams* pNodeParams) {
    return in_context([&] {
        return cuGraphHostNodeSetParams(node, same<const CUDA_HOST_NODE_PARAMS>(pNodeParams));
    });
}

cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                 const cudaGraphNode_t* pDependencies,
                                                 std::size_t numDependencies,
                                                 cudaGraph_t childGraph) {
    return in_context([&] {
        return cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies,
                                        childGraph);
    });
}

cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* pGraph) {
    return in_context([&] { return cuGraphChildGraphNodeGetGraph(node, pGraph); });
}

cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t* pDependencies,
                                                  std::size_t numDependencies, cudaEvent_t event) {
    return in_context([&] {
        return cuGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies, event);
    });
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node,
                                                       cudaEvent_t* event_out) {
    return in_context([&] { return cuGraphEventRecordNodeGetEvent(node, event_out); });
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return in_context([&] { return cuGraphEventRecordNodeSetEvent(node, event); });
}

cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t* pDependencies,
                                                std::size_t numDependencies, cudaEvent_t event) {
    return in_context([&] {
        return cuGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies, event);
    });
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
    return in_context([&] { return cuGraphEventWaitNodeGetEvent(node, event_out); });
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return in_context([&] { return cuGraphEventWaitNodeSetEvent(node, event); });
}

cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                               const cudaGraphNode_t* pDependencies,
                                               std::size_t numDependencies,
                                               cudaMemAllocNodeParams* nodeParams) {
    return in_context([&] {
        return cuGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies,
                                      same<CUDA_MEM_ALLOC_NODE_PARAMS>(nodeParams));
    });
}

cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                     cudaMemAllocNodeParams* params_out) {
    return in_context([&] {
        return cuGraphMemAllocNodeGetParams(node, same<CUDA_MEM_ALLOC_NODE_PARAMS>(params_out));
    });
}

cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t* pDependencies,
                                              std::size_t numDependencies, void* dptr) {
    return in_context([&] {
        return cuGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies,
                                     address(dptr));
    });
}

cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out) {
    return in_context(
        [&] { return cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(dptr_out)); });
}

cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out,
                                                       cudaGraph_t graph,
                                                       unsigned int defaultLaunchValue,
                                                       unsigned int flags) {
    return in_context([&] {
        CUcontext context = nullptr;
        const CUresult status = cuCtxGetCurrent(&context);
        return status != CUDA_SUCCESS
                   ? status
                   : cuGraphConditionalHandleCreate(
                         reinterpret_cast<CUgraphConditionalHandle*>(pHandle_out), graph, context,
                         defaultLaunchValue, flags);
    });
}

// ---- executable graphs -------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(
    cudaGraphExec_t* pGraphExec, cudaGraph_t graph, cudaGraphInstantiateParams* instantiateParams) {
    return in_context([&] {
        return cuGraphInstantiateWithParams(pGraphExec, graph,
                                            same<CUDA_GRAPH_INSTANTIATE_PARAMS>(instantiateParams));
    });
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithParams_ptsz(
    cudaGraphExec_t* pGraphExec, cudaGraph_t graph, cudaGraphInstantiateParams* instantiateParams) {
    if (instantiateParams != nullptr && instantiateParams->uploadStream == nullptr) {
        instantiateParams->uploadStream = cudaStreamPerThread;
    }
    return cudaGraphInstantiateWithParams(pGraphExec, graph, instantiateParams);
}

cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long* flags) {
    return in_context(
        [&] { return cuGraphExecGetFlags(graphExec, reinterpret_cast<cuuint64_t*>(flags)); });
}

cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                          cudaGraphExecUpdateResultInfo* resultInfo) {
    return in_context([&] {
        return cuGraphExecUpdate(hGraphExec, hGraph, same<CUgraphExecUpdateResultInfo>(resultInfo));
    });
}

cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                              unsigned int* isEnabled) {
    return in_context([&] { return cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled); });
}

cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                              unsigned int isEnabled) {
    return in_context([&] { return cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled); });
}

cudaError_t CUDARTAPI cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec,
                                                     cudaGraphNode_t node,
                                                     const cudaHostNodeParams* pNodeParams) {
    return in_context([&] {
        return cuGraphExecHostNodeSetParams(hGraphExec, node,
                                            same<const CUDA_HOST_NODE_PARAMS>(pNodeParams));
    });
}

cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec,
                                                           cudaGraphNode_t node,
                                                           cudaGraph_t childGraph) {
    return in_context(
        [&] { return cuGraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph); });
}

cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec,
                                                           cudaGraphNode_t hNode,
                                                           cudaEvent_t event) {
    return in_context([&] { return cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event); });
}

cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec,
                                                         cudaGraphNode_t hNode, cudaEvent_t event) {
    return in_context([&] { return cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event); });
}

// ---- memory of graphs --------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attr,
                                                     void* value) {
    return without_context([&] {
        return cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attr), value);
    });
}

cudaError_t CUDARTAPI cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attr,
                                                     void* value) {
    return without_context([&] {
        return cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attr), value);
    });
}

cudaError_t CUDARTAPI cudaDeviceGraphMemTrim(int device) {
    return without_context([&] { return cuDeviceGraphMemTrim(device); });
}

// ---- captures into a graph ---------------------------------------------------------------------

cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies,
                                                    const cudaGraphEdgeData* dependencyData,
                                                    std::size_t numDependencies,
                                                    cudaStreamCaptureMode mode) {
    return in_context([&] {
        return cuStreamBeginCaptureToGraph(stream, graph, dependencies, as_driver(dependencyData),
                                           numDependencies, static_cast<CUstreamCaptureMode>(mode));
    });
}

cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                                         const cudaGraphNode_t* dependencies,
                                                         const cudaGraphEdgeData* dependencyData,
                                                         std::size_t numDependencies,
                                                         cudaStreamCaptureMode mode) {
    return cudaStreamBeginCaptureToGraph(stream == nullptr ? cudaStreamPerThread : stream, graph,
                                         dependencies, dependencyData, numDependencies, mode);
}

cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                          cudaGraphNode_t* dependencies,
                                                          const cudaGraphEdgeData* dependencyData,
                                                          std::size_t numDependencies,
                                                          unsigned int flags) {
    return in_context([&] {
        return cuStreamUpdateCaptureDependencies(stream, dependencies, as_driver(dependencyData),
                                                 numDependencies, flags);
    });
}

cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies_ptsz(
    cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* dependencyData,
    std::size_t numDependencies, unsigned int flags) {
    return cudaStreamUpdateCaptureDependencies(stream == nullptr ? cudaStreamPerThread : stream,
                                               dependencies, dependencyData, numDependencies,
                                               flags);
}

} // extern "C"
