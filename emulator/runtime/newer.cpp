// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What CUDA 13.1 and 13.2 added to functions of graphs, kernels, copies and streams.

#include "newer.hpp"

#ifndef CUPRUM_RUNTIME_12

#include "kernels.hpp"

using namespace cuprum::runtime;

// ---- graphs ------------------------------------------------------------------------------------

NEWER(cudaGraphExecGetId, cuGraphExecGetId, 13010);
NEWER(cudaGraphGetId, cuGraphGetId, 13010);
NEWER(cudaGraphNodeGetContainingGraph, cuGraphNodeGetContainingGraph, 13010);
NEWER(cudaGraphNodeGetLocalId, cuGraphNodeGetLocalId, 13010);
NEWER(cudaGraphNodeGetToolsId, cuGraphNodeGetToolsId, 13010);

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
                   : call_newer("cuFuncGetParamCount", 13020, function, paramCount);
    });
}

NEWER(cudaLaunchHostFunc_v2, cuLaunchHostFunc, 13010);
PTSZ(cudaLaunchHostFunc_v2);
PTSZ(cudaStreamGetDevResource);

// ---- copies ------------------------------------------------------------------------------------

NEWER(cudaMemcpyWithAttributesAsync, cuMemcpyWithAttributesAsync, 13020);
PTSZ(cudaMemcpyWithAttributesAsync);
NEWER(cudaMemcpy3DWithAttributesAsync, cuMemcpy3DWithAttributesAsync, 13020);
PTSZ(cudaMemcpy3DWithAttributesAsync);

#endif
