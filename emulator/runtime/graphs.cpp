// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs: their structure, and the types of nodes whose parameters are the same in both APIs.

#include "forward.hpp"
#include "runtime.hpp"

using namespace cuprum::runtime;

// ---- structure ---------------------------------------------------------------------------------

FORWARD(cudaGraphAddDependencies, cuGraphAddDependencies, IN_CONTEXT);
FORWARD(cudaGraphRemoveDependencies, cuGraphRemoveDependencies, IN_CONTEXT);
FORWARD(cudaGraphGetEdges, cuGraphGetEdges, IN_CONTEXT);
FORWARD(cudaGraphGetRootNodes, cuGraphGetRootNodes, IN_CONTEXT);
FORWARD(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies, IN_CONTEXT);
FORWARD(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes, IN_CONTEXT);
FORWARD(cudaGraphNodeGetType, cuGraphNodeGetType, IN_CONTEXT);
FORWARD(cudaGraphDestroyNode, cuGraphDestroyNode, IN_CONTEXT);
FORWARD(cudaGraphClone, cuGraphClone, IN_CONTEXT);
FORWARD(cudaGraphNodeFindInClone, cuGraphNodeFindInClone, IN_CONTEXT);
FORWARD(cudaGraphDebugDotPrint, cuGraphDebugDotPrint, IN_CONTEXT);
FORWARD(cudaGraphRetainUserObject, cuGraphRetainUserObject, IN_CONTEXT);
FORWARD(cudaGraphReleaseUserObject, cuGraphReleaseUserObject, IN_CONTEXT);

// ---- nodes -------------------------------------------------------------------------------------

FORWARD(cudaGraphAddEmptyNode, cuGraphAddEmptyNode, IN_CONTEXT);
FORWARD(cudaGraphAddHostNode, cuGraphAddHostNode, IN_CONTEXT);
FORWARD(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams, IN_CONTEXT);
FORWARD(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams, IN_CONTEXT);
FORWARD(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode, IN_CONTEXT);
FORWARD(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, IN_CONTEXT);
FORWARD(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode, IN_CONTEXT);
FORWARD(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent, IN_CONTEXT);
FORWARD(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, IN_CONTEXT);
FORWARD(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode, IN_CONTEXT);
FORWARD(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent, IN_CONTEXT);
FORWARD(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, IN_CONTEXT);
FORWARD(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode, IN_CONTEXT);
FORWARD(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams, IN_CONTEXT);
FORWARD(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode, IN_CONTEXT);
FORWARD(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams, IN_CONTEXT);

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

FORWARD(cudaGraphInstantiateWithParams, cuGraphInstantiateWithParams, IN_CONTEXT);

extern "C" cudaError_t CUDARTAPI cudaGraphInstantiateWithParams_ptsz(
    cudaGraphExec_t* pGraphExec, cudaGraph_t graph, cudaGraphInstantiateParams* instantiateParams) {
    if (instantiateParams != nullptr && instantiateParams->uploadStream == nullptr) {
        instantiateParams->uploadStream = cudaStreamPerThread;
    }
    return cudaGraphInstantiateWithParams(pGraphExec, graph, instantiateParams);
}

FORWARD(cudaGraphExecGetFlags, cuGraphExecGetFlags, IN_CONTEXT);
FORWARD(cudaGraphExecUpdate, cuGraphExecUpdate, IN_CONTEXT);
FORWARD(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled, IN_CONTEXT);
FORWARD(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled, IN_CONTEXT);
FORWARD(cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, IN_CONTEXT);
FORWARD(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, IN_CONTEXT);
FORWARD(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, IN_CONTEXT);
FORWARD(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, IN_CONTEXT);

// ---- memory of graphs --------------------------------------------------------------------------

FORWARD(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute, WITHOUT_CONTEXT);
FORWARD(cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute, WITHOUT_CONTEXT);
FORWARD(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim, WITHOUT_CONTEXT);

// ---- captures into a graph ---------------------------------------------------------------------

FORWARD(cudaStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, IN_CONTEXT);
PTSZ(cudaStreamBeginCaptureToGraph);
FORWARD(cudaStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies, IN_CONTEXT);
PTSZ(cudaStreamUpdateCaptureDependencies);
