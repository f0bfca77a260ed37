// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Captures streams into graphs and runs those graphs. Graphs that are built node by node are
// refused; see refused.def.

#include "runtime.hpp"

using namespace cuprum::runtime;

extern "C" {

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return in_context(
        [&] { return cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)); });
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
    return in_context([&] { return cuStreamEndCapture(stream, pGraph); });
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream,
                                            cudaStreamCaptureStatus* pCaptureStatus) {
    return in_context(
        [&] { return cuStreamIsCapturing(stream, same<CUstreamCaptureStatus>(pCaptureStatus)); });
}

cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return in_context(
        [&] { return cuThreadExchangeStreamCaptureMode(same<CUstreamCaptureMode>(mode)); });
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream,
                                               cudaStreamCaptureStatus* captureStatus_out,
                                               unsigned long long* id_out, cudaGraph_t* graph_out,
                                               const cudaGraphNode_t** dependencies_out,
                                               const cudaGraphEdgeData** edgeData_out,
                                               std::size_t* numDependencies_out) {
    return in_context([&] {
        return cuStreamGetCaptureInfo(
            stream, same<CUstreamCaptureStatus>(captureStatus_out),
            reinterpret_cast<cuuint64_t*>(id_out), graph_out, dependencies_out,
            reinterpret_cast<const CUgraphEdgeData**>(edgeData_out), numDependencies_out);
    });
}

cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags) {
    return in_context([&] { return cuGraphCreate(pGraph, flags); });
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
    return in_context([&] { return cuGraphDestroy(graph); });
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                           unsigned long long flags) {
    return in_context([&] { return cuGraphInstantiate(pGraphExec, graph, flags); });
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                    unsigned long long flags) {
    return cudaGraphInstantiate(pGraphExec, graph, flags);
}

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return in_context([&] { return cuGraphLaunch(graphExec, stream); });
}

cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return in_context([&] { return cuGraphUpload(graphExec, stream); });
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
    return in_context([&] { return cuGraphExecDestroy(graphExec); });
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                        std::size_t* numNodes) {
    return in_context([&] { return cuGraphGetNodes(graph, nodes, numNodes); });
}

cudaError_t CUDARTAPI cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr,
                                           cudaHostFn_t destroy, unsigned int initialRefcount,
                                           unsigned int flags) {
    return without_context(
        [&] { return cuUserObjectCreate(object_out, ptr, destroy, initialRefcount, flags); });
}

cudaError_t CUDARTAPI cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
    return without_context([&] { return cuUserObjectRetain(object, count); });
}

cudaError_t CUDARTAPI cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
    return without_context([&] { return cuUserObjectRelease(object, count); });
}

} // extern "C"
