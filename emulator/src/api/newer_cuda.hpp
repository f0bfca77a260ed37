// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Declares what CUDA 13.1 and 13.2 add to the driver and the emulated device implements. The
// layouts are those of the driver's binary interface.

#pragma once

#include "api/cuda_abi.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
#pragma GCC visibility push(default)

extern "C" {

#if CUDA_VERSION < 13010

typedef struct CU_DEV_SM_RESOURCE_GROUP_PARAMS_st {
    unsigned int smCount;
    unsigned int coscheduledSmCount;
    unsigned int preferredCoscheduledSmCount;
    unsigned int flags;
    unsigned int reserved[12];
} CU_DEV_SM_RESOURCE_GROUP_PARAMS;

CUresult CUDAAPI cuDevSmResourceSplit(CUdevResource* result, unsigned int nbGroups,
                                      const CUdevResource* input, CUdevResource* remainder,
                                      unsigned int flags,
                                      CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams);
CUresult CUDAAPI cuStreamGetDevResource(CUstream hStream, CUdevResource* resource,
                                        CUdevResourceType type);
CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void* userData,
                                     unsigned int syncMode);
CUresult CUDAAPI cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId);
CUresult CUDAAPI cuGraphGetId(CUgraph hGraph, unsigned int* graphId);
CUresult CUDAAPI cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph);
CUresult CUDAAPI cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int* nodeId);
CUresult CUDAAPI cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long* toolsNodeId);

#endif

#if CUDA_VERSION < 13020

CUresult CUDAAPI cuFuncGetParamCount(CUfunction func, size_t* paramCount);
CUresult CUDAAPI cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams);
CUresult CUDAAPI cuKernelGetParamCount(CUkernel kernel, size_t* paramCount);
CUresult CUDAAPI cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                             CUmemcpyAttributes* attr, CUstream hStream);
CUresult CUDAAPI cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP* op, unsigned long long flags,
                                               CUstream hStream);

#endif

} // extern "C"

#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
