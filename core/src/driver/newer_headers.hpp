// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What drivers newer than the CUDA headers we build with offer: work queues and the structured
// split of multiprocessors, both since CUDA 13.1, and the parameters of any node of a graph, since
// 13.2. The layouts are those of the driver's binary interface. Also the functions of cudaGL.h and
// cudaEGL.h, which need the headers of OpenGL and EGL.

#pragma once

#include <cuda.h>

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
#if CUDA_VERSION < 13010

struct CU_DEV_SM_RESOURCE_GROUP_PARAMS_st {
    unsigned int smCount;
    unsigned int coscheduledSmCount;
    unsigned int preferredCoscheduledSmCount;
    unsigned int flags;
    unsigned int reserved[12];
};

using CU_DEV_SM_RESOURCE_GROUP_PARAMS = CU_DEV_SM_RESOURCE_GROUP_PARAMS_st;

extern "C" CUresult CUDAAPI cuDevSmResourceSplit(CUdevResource* result, unsigned int nbGroups,
                                                 const CUdevResource* input,
                                                 CUdevResource* remainder, unsigned int flags,
                                                 CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams);

#endif

#if CUDA_VERSION < 13020

extern "C" CUresult CUDAAPI cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams);

#endif

extern "C" {
CUresult CUDAAPI cuGraphicsGLRegisterBuffer(CUgraphicsResource* pCudaResource, unsigned int buffer,
                                            unsigned int Flags);
CUresult CUDAAPI cuGraphicsGLRegisterImage(CUgraphicsResource* pCudaResource, unsigned int image,
                                           unsigned int target, unsigned int Flags);
CUresult CUDAAPI cuGraphicsEGLRegisterImage(CUgraphicsResource* pCudaResource, void* image,
                                            unsigned int flags);
CUresult CUDAAPI cuGLGetDevices(unsigned int* pCudaDeviceCount, CUdevice* pCudaDevices,
                                unsigned int cudaDeviceCount, unsigned int deviceList);
}

// NOLINTEND(readability-identifier-naming)

namespace cuprum::driver {

constexpr unsigned BACKFILL = 1; // CU_DEV_SM_RESOURCE_GROUP_BACKFILL
// Not constexpr: our cuda.h may not know it, and clang takes no such constant then.
// NOLINTNEXTLINE(*EnumCastOutOfRange)
inline const auto WORKQUEUE_CONFIG = static_cast<CUdevResourceType>(1000);

/// The union's part for CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG.
struct WorkqueueConfig {
    CUdevice device;
    unsigned concurrency_limit;
    unsigned sharing_scope;
};

/// The union's part for CU_DEV_RESOURCE_TYPE_SM; 13.0 lacks the last member.
struct SmResource {
    unsigned sm_count;
    unsigned min_partition_size;
    unsigned coscheduled_alignment;
    unsigned flags;
};

} // namespace cuprum::driver
