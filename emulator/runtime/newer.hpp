// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Declares what CUDA 13.1 and 13.2 add to the runtime API. Programs built with a newer CUDA call
// these functions; the headers that we build with may lack them.

#pragma once

#include "forward.hpp"
#include "runtime.hpp"

#ifndef CUPRUM_RUNTIME_12

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.

#if CUDART_VERSION < 13010

// The layouts are those of the driver's structures.
using cudaDevResource = CUdevResource;
using cudaDevResourceType = CUdevResourceType;
using cudaDevResourceDesc_t = CUdevResourceDesc;
using cudaExecutionContext_t = struct cudaExecutionContext_st*;
struct cudaDevSmResourceGroupParams;

extern "C" {

cudaError_t CUDARTAPI cudaDeviceGetDevResource(int device, cudaDevResource* resource,
                                               cudaDevResourceType type);
cudaError_t CUDARTAPI cudaStreamGetDevResource(cudaStream_t hStream, cudaDevResource* resource,
                                               cudaDevResourceType type);
cudaError_t CUDARTAPI cudaDevSmResourceSplitByCount(cudaDevResource* result, unsigned int* nbGroups,
                                                    const cudaDevResource* input,
                                                    cudaDevResource* remaining, unsigned int flags,
                                                    unsigned int minCount);
cudaError_t CUDARTAPI cudaDevSmResourceSplit(cudaDevResource* result, unsigned int nbGroups,
                                             const cudaDevResource* input,
                                             cudaDevResource* remainder, unsigned int flags,
                                             cudaDevSmResourceGroupParams* groupParams);
cudaError_t CUDARTAPI cudaDevResourceGenerateDesc(cudaDevResourceDesc_t* phDesc,
                                                  cudaDevResource* resources,
                                                  unsigned int nbResources);
cudaError_t CUDARTAPI cudaGreenCtxCreate(cudaExecutionContext_t* phCtx, cudaDevResourceDesc_t desc,
                                         int device, unsigned int flags);
cudaError_t CUDARTAPI cudaDeviceGetExecutionCtx(cudaExecutionContext_t* ctx, int device);
cudaError_t CUDARTAPI cudaExecutionCtxDestroy(cudaExecutionContext_t ctx);
cudaError_t CUDARTAPI cudaExecutionCtxGetDevResource(cudaExecutionContext_t ctx,
                                                     cudaDevResource* resource,
                                                     cudaDevResourceType type);
cudaError_t CUDARTAPI cudaExecutionCtxGetDevice(int* device, cudaExecutionContext_t ctx);
cudaError_t CUDARTAPI cudaExecutionCtxGetId(cudaExecutionContext_t ctx, unsigned long long* ctxId);
cudaError_t CUDARTAPI cudaExecutionCtxStreamCreate(cudaStream_t* phStream,
                                                   cudaExecutionContext_t ctx, unsigned int flags,
                                                   int priority);
cudaError_t CUDARTAPI cudaExecutionCtxSynchronize(cudaExecutionContext_t ctx);
cudaError_t CUDARTAPI cudaExecutionCtxRecordEvent(cudaExecutionContext_t ctx, cudaEvent_t event);
cudaError_t CUDARTAPI cudaExecutionCtxWaitEvent(cudaExecutionContext_t ctx, cudaEvent_t event);
cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle* pHandle_out,
                                                          cudaGraph_t graph,
                                                          cudaExecutionContext_t ctx,
                                                          unsigned int defaultLaunchValue,
                                                          unsigned int flags);
cudaError_t CUDARTAPI cudaGraphExecGetId(cudaGraphExec_t hGraphExec, unsigned int* graphID);
cudaError_t CUDARTAPI cudaGraphGetId(cudaGraph_t hGraph, unsigned int* graphID);
cudaError_t CUDARTAPI cudaGraphNodeGetContainingGraph(cudaGraphNode_t hNode, cudaGraph_t* phGraph);
cudaError_t CUDARTAPI cudaGraphNodeGetLocalId(cudaGraphNode_t hNode, unsigned int* nodeId);
cudaError_t CUDARTAPI cudaGraphNodeGetToolsId(cudaGraphNode_t hNode,
                                              unsigned long long* toolsNodeId);
cudaError_t CUDARTAPI cudaLaunchHostFunc_v2(cudaStream_t stream, cudaHostFn_t fn, void* userData,
                                            unsigned int syncMode);

} // extern "C"

#endif

extern "C" {

#if CUDART_VERSION < 13020

cudaError_t CUDARTAPI cudaFuncGetParamCount(const void* func, std::size_t* paramCount);
cudaError_t CUDARTAPI cudaGraphNodeGetParams(cudaGraphNode_t node,
                                             struct cudaGraphNodeParams* nodeParams);
cudaError_t CUDARTAPI cudaMemcpyWithAttributesAsync(void* dst, const void* src, std::size_t size,
                                                    cudaMemcpyAttributes* attr,
                                                    cudaStream_t stream);
cudaError_t CUDARTAPI cudaMemcpy3DWithAttributesAsync(cudaMemcpy3DBatchOp* op,
                                                      unsigned long long flags,
                                                      cudaStream_t stream);

#endif

} // extern "C"

// NOLINTEND(readability-identifier-naming)

namespace cuprum::runtime {

/// Calls a function of the driver that a version of CUDA after 13.0 added.
template <typename... Arguments>
cudaError_t call_newer(const char* name, int version, Arguments... arguments) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult found{};
    const CUresult status =
        cuGetProcAddress(name, &address, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    if (status != CUDA_SUCCESS || address == nullptr) {
        return cudaErrorCallRequiresNewerDriver;
    }
    return as_error(reinterpret_cast<CUresult (*)(Arguments...)>(address)(arguments...));
}

} // namespace cuprum::runtime

/// FORWARD for a function of the driver that a version of CUDA after 13.0 added.
#define NEWER(function, driver, version)                                                           \
    CUPRUM_DEFINE(function, cuprum::runtime::guarded(cuprum::runtime::IN_CONTEXT, [&] {            \
                      return cuprum::runtime::call_newer(#driver, version, given...);              \
                  }))

#endif
