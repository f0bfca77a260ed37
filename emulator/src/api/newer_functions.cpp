// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of CUDA 13.1 and 13.2 that are variants of older ones. newer_symbols.def lists all.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "api/newer_cuda.hpp"
#include "objects/code/library.hpp"
#include "objects/devices/device.hpp"
#include "objects/devices/device_resources.hpp"
#include "objects/devices/green_context.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/stream.hpp"

#include <vector>

using namespace cuprum::emulator;

ROW(cuDevSmResourceSplit, 13010, CUdevResource* result, unsigned int nbGroups,
    const CUdevResource& input, CUdevResource* remainder, unsigned int flags,
    CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams) {
    require(groupParams != nullptr, "groupParams must not be NULL");
    require(nbGroups != 0, "nbGroups is 0");
    require(flags == 0, "the flags must be 0");
    std::vector<StructuredGroup> groups(nbGroups);
    for (unsigned index = 0; index < nbGroups; ++index) {
        const CU_DEV_SM_RESOURCE_GROUP_PARAMS& each = groupParams[index];
        constexpr unsigned backfill = 1; // CU_DEV_SM_RESOURCE_GROUP_BACKFILL
        require((each.flags & ~backfill) == 0, "unknown flags of a group");
        require_zero(each.reserved);
        groups[index] = {each.smCount, each.coscheduledSmCount, each.flags == backfill};
    }
    const CUdevResource whole = input; // the results may overwrite the input
    split_structured(result, groups, whole, remainder);
    for (unsigned index = 0; index < nbGroups; ++index) {
        groupParams[index].smCount = groups[index].count;
    }
}

ROW_PTSZ(cuStreamGetDevResource, 13010, Stream& stream, CUdevResource& resource,
         CUdevResourceType type) {
    resource = resource_of(stream.context().device(), stream.green().get(), type);
}

ROW(cuFuncGetParamCount, 13020, Function& function, size_t* paramCount) {
    put(paramCount, function.kernel()->parameters.size());
}

ROW(cuKernelGetParamCount, 13020, InContext, CUkernel kernel, size_t* paramCount) {
    put(paramCount, object_of(kernel)->kernel().parameters.size());
}

FORWARD_PTSZ(cuMemcpyWithAttributesAsync, 13020, CUdeviceptr dst, CUdeviceptr src, size_t size,
             CUmemcpyAttributes* attr, CUstream hStream) {
    std::size_t first = 0;
    return cuMemcpyBatchAsync_v2(&dst, &src, &size, 1, attr, &first, 1, hStream);
}

FORWARD_PTSZ(cuMemcpy3DWithAttributesAsync, 13020, CUDA_MEMCPY3D_BATCH_OP* op,
             unsigned long long flags, CUstream hStream) {
    return cuMemcpy3DBatchAsync_v2(1, op, flags, hStream);
}
