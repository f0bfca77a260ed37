// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of CUDA 13.1 and 13.2 that are variants of older ones. newer_symbols.def lists all.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "api/newer_cuda.hpp"
#include "api/per_thread.hpp"
#include "objects/code/library.hpp"
#include "objects/devices/device.hpp"
#include "objects/devices/device_resources.hpp"
#include "objects/devices/green_context.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/stream.hpp"

#include <vector>

using namespace cuprum::emulator;

extern "C" {

CUresult CUDAAPI cuDevSmResourceSplit(CUdevResource* result, unsigned int nbGroups,
                                      const CUdevResource* input, CUdevResource* remainder,
                                      unsigned int flags,
                                      CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams) {
    return entry("cuDevSmResourceSplit", [&] {
        require(input != nullptr && groupParams != nullptr, "an argument is NULL");
        require(nbGroups != 0, "nbGroups is 0");
        require(flags == 0, "the flags must be 0");
        std::vector<StructuredGroup> groups(nbGroups);
        for (unsigned index = 0; index < nbGroups; ++index) {
            const CU_DEV_SM_RESOURCE_GROUP_PARAMS& each = groupParams[index];
            constexpr unsigned backfill = 1; // CU_DEV_SM_RESOURCE_GROUP_BACKFILL
            require((each.flags & ~backfill) == 0, "unknown flags of a group");
            groups[index] = {each.smCount, each.coscheduledSmCount, each.flags == backfill};
        }
        const CUdevResource whole = *input; // the results may overwrite the input
        split_structured(result, groups, whole, remainder);
        for (unsigned index = 0; index < nbGroups; ++index) {
            groupParams[index].smCount = groups[index].count;
        }
    });
}

CUresult CUDAAPI cuStreamGetDevResource(CUstream hStream, CUdevResource* resource,
                                        CUdevResourceType type) {
    return entry("cuStreamGetDevResource", [&] {
        require(resource != nullptr, "resource must not be NULL");
        const auto stream = stream_from(hStream);
        *resource = resource_of(stream->context().device(), stream->green().get(), type);
    });
}

CUresult CUDAAPI cuStreamGetDevResource_ptsz(CUstream hStream, CUdevResource* resource,
                                             CUdevResourceType type) {
    return per_thread(cuStreamGetDevResource, hStream, resource, type);
}

CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void* userData,
                                     unsigned int syncMode) {
    // How the driver's thread waits for the function makes no difference here.
    constexpr unsigned spin_wait = 1; // CU_HOST_TASK_SPINWAIT
    if (syncMode > spin_wait) {
        return entry("cuLaunchHostFunc", [] { require(false, "unknown syncMode"); });
    }
    return cuLaunchHostFunc(hStream, fn, userData);
}

CUresult CUDAAPI cuLaunchHostFunc_v2_ptsz(CUstream hStream, CUhostFn fn, void* userData,
                                          unsigned int syncMode) {
    return per_thread(cuLaunchHostFunc_v2, hStream, fn, userData, syncMode);
}

CUresult CUDAAPI cuFuncGetParamCount(CUfunction func, size_t* paramCount) {
    return entry("cuFuncGetParamCount", [&] {
        const auto function = function_from(func);
        put(paramCount, function->kernel()->parameters.size());
    });
}

CUresult CUDAAPI cuKernelGetParamCount(CUkernel kernel, size_t* paramCount) {
    return entry("cuKernelGetParamCount", [&] {
        (void)current_context(); // as for cuKernelGetParamInfo
        put(paramCount, kernel_from(kernel)->kernel().parameters.size());
    });
}

CUresult CUDAAPI cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                             CUmemcpyAttributes* attr, CUstream hStream) {
    std::size_t first = 0;
    return cuMemcpyBatchAsync_v2(&dst, &src, &size, 1, attr, &first, 1, hStream);
}

CUresult CUDAAPI cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                                  CUmemcpyAttributes* attr, CUstream hStream) {
    return per_thread(cuMemcpyWithAttributesAsync, dst, src, size, attr, hStream);
}

CUresult CUDAAPI cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP* op, unsigned long long flags,
                                               CUstream hStream) {
    return cuMemcpy3DBatchAsync_v2(1, op, flags, hStream);
}

CUresult CUDAAPI cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP* op,
                                                    unsigned long long flags, CUstream hStream) {
    return per_thread(cuMemcpy3DWithAttributesAsync, op, flags, hStream);
}

} // extern "C"
