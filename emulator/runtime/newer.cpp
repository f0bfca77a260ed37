// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What CUDA 13.1 and 13.2 added to functions of graphs, kernels, copies and streams.

#include "newer.hpp"

#ifndef CUPRUM_RUNTIME_12

#include "kernels.hpp"

using namespace cuprum::runtime;

namespace {

constexpr int CUDA_13_1 = 13010;
constexpr int CUDA_13_2 = 13020;

/// Calls a function of CUDA 13.1 that takes handles and pointers, in a context.
template <typename... Arguments>
cudaError_t forward_13_1(const char* name, Arguments... arguments) {
    return in_context([&] { return call_newer(name, CUDA_13_1, arguments...); });
}

cudaStream_t own_if_null(cudaStream_t stream) {
    return stream == nullptr ? cudaStreamPerThread : stream;
}

} // namespace

extern "C" {

// ---- graphs ------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphExecGetId(cudaGraphExec_t hGraphExec, unsigned int* graphID) {
    return forward_13_1("cuGraphExecGetId", hGraphExec, graphID);
}

cudaError_t CUDARTAPI cudaGraphGetId(cudaGraph_t hGraph, unsigned int* graphID) {
    return forward_13_1("cuGraphGetId", hGraph, graphID);
}

cudaError_t CUDARTAPI cudaGraphNodeGetContainingGraph(cudaGraphNode_t hNode, cudaGraph_t* phGraph) {
    return forward_13_1("cuGraphNodeGetContainingGraph", hNode, phGraph);
}

cudaError_t CUDARTAPI cudaGraphNodeGetLocalId(cudaGraphNode_t hNode, unsigned int* nodeId) {
    return forward_13_1("cuGraphNodeGetLocalId", hNode, nodeId);
}

cudaError_t CUDARTAPI cudaGraphNodeGetToolsId(cudaGraphNode_t hNode,
                                              unsigned long long* toolsNodeId) {
    return forward_13_1("cuGraphNodeGetToolsId", hNode, toolsNodeId);
}

cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle* pHandle_out,
                                                          cudaGraph_t graph,
                                                          cudaExecutionContext_t ctx,
                                                          unsigned int defaultLaunchValue,
                                                          unsigned int flags) {
    return in_context([&] {
        auto* context = reinterpret_cast<CUcontext>(ctx);
        const CUresult status = context == nullptr ? cuCtxGetCurrent(&context) : CUDA_SUCCESS;
        return status != CUDA_SUCCESS
                   ? status
                   : cuGraphConditionalHandleCreate(same<CUgraphConditionalHandle>(pHandle_out),
                                                    graph, context, defaultLaunchValue, flags);
    });
}

// ---- kernels and host functions ----------------------------------------------------------------

cudaError_t CUDARTAPI cudaFuncGetParamCount(const void* func, std::size_t* paramCount) {
    return in_context([&] {
        CUfunction function = nullptr;
        const cudaError_t status = find_function(func, &function);
        return status != cudaSuccess
                   ? status
                   : call_newer("cuFuncGetParamCount", CUDA_13_2, function, paramCount);
    });
}

cudaError_t CUDARTAPI cudaLaunchHostFunc_v2(cudaStream_t stream, cudaHostFn_t fn, void* userData,
                                            unsigned int syncMode) {
    return forward_13_1("cuLaunchHostFunc", stream, fn, userData, syncMode);
}

cudaError_t CUDARTAPI cudaLaunchHostFunc_v2_ptsz(cudaStream_t stream, cudaHostFn_t fn,
                                                 void* userData, unsigned int syncMode) {
    return cudaLaunchHostFunc_v2(own_if_null(stream), fn, userData, syncMode);
}

cudaError_t CUDARTAPI cudaStreamGetDevResource_ptsz(cudaStream_t hStream, cudaDevResource* resource,
                                                    cudaDevResourceType type) {
    return cudaStreamGetDevResource(own_if_null(hStream), resource, type);
}

// ---- copies ------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaMemcpyWithAttributesAsync(void* dst, const void* src, std::size_t size,
                                                    cudaMemcpyAttributes* attr,
                                                    cudaStream_t stream) {
    return in_context([&] {
        return call_newer("cuMemcpyWithAttributesAsync", CUDA_13_2, address(dst), address(src),
                          size, same<CUmemcpyAttributes>(attr), stream);
    });
}

cudaError_t CUDARTAPI cudaMemcpyWithAttributesAsync_ptsz(void* dst, const void* src,
                                                         std::size_t size,
                                                         cudaMemcpyAttributes* attr,
                                                         cudaStream_t stream) {
    return cudaMemcpyWithAttributesAsync(dst, src, size, attr, own_if_null(stream));
}

cudaError_t CUDARTAPI cudaMemcpy3DWithAttributesAsync(cudaMemcpy3DBatchOp* op,
                                                      unsigned long long flags,
                                                      cudaStream_t stream) {
    return in_context([&] {
        return call_newer("cuMemcpy3DWithAttributesAsync", CUDA_13_2,
                          same<CUDA_MEMCPY3D_BATCH_OP>(op), flags, stream);
    });
}

cudaError_t CUDARTAPI cudaMemcpy3DWithAttributesAsync_ptsz(cudaMemcpy3DBatchOp* op,
                                                           unsigned long long flags,
                                                           cudaStream_t stream) {
    return cudaMemcpy3DWithAttributesAsync(op, flags, own_if_null(stream));
}

} // extern "C"

#endif
