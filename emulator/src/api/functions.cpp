// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions: kernels in a context; launches; occupancy.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/code/launch.hpp"
#include "objects/code/occupancy.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

using namespace cuprum::emulator;

namespace {

const Device& device_of(const Function& function) {
    return function.module()->context().device();
}

std::span<const CUlaunchAttribute> attributes_of(const CUlaunchConfig& config) {
    require(config.attrs != nullptr || config.numAttrs == 0, "the attributes are NULL");
    return {config.attrs, config.numAttrs};
}

/// Returns the product of three sizes, where 0 counts as 1. Returns 0 if the product exceeds
/// `most`.
int bounded_volume(const std::uint32_t (&shape)[3], int most) {
    const auto limit = static_cast<std::uint64_t>(most);
    std::uint64_t product = 1;
    for (const std::uint32_t size : shape) {
        product *= std::max(size, 1U); // cannot overflow: `most` is small
        if (product > limit) {
            return 0;
        }
    }
    return static_cast<int>(product);
}

void launch_on(CUfunction handle, CUstream stream_handle, LaunchRequest request) {
    const auto stream = object_of(stream_handle);
    if (stream->may_be_capturing()) {
        request.kernel = kernel_or_null(handle);
    }
    const auto event =
        request.completion_event != nullptr ? object_of(request.completion_event) : nullptr;
    if (event != nullptr) {
        event->check_recordable(*stream);
    }
    const bool is_legacy = stream->kind() == Stream::Kind::Legacy;
    launch(function_in(is_legacy ? current_context() : stream->shared_context(), handle), *stream,
           request);
    if (event != nullptr) {
        event->record(*stream);
    }
}

} // namespace

ROW(cuFuncGetAttribute, 2020, int* pi, CUfunction_attribute attrib, Function& function) {
    put(pi, function.attributes().get(attrib, *function.kernel(), device_of(function)));
}

ROW(cuFuncSetAttribute, 9000, Function& function, CUfunction_attribute attrib, int value) {
    function.attributes().set(attrib, value, *function.kernel(), device_of(function));
}

ROW(cuFuncSetCacheConfig, 3000, Function& /*hfunc*/, CUfunc_cache config) {
    check_cache_config(config);
}

ROW(cuFuncSetSharedMemConfig, 4020, Function& /*hfunc*/, CUsharedconfig config) {
    check_shared_memory_config(config);
}

ROW(cuFuncGetModule, 11000, CUmodule& hmod, Function& function) {
    hmod = function.module()->handle<CUmodule>();
}

ROW(cuFuncGetName, 12030, const char** name, CUfunction hfunc) {
    require(name != nullptr && hfunc != nullptr, "an argument is NULL");
    *name = object_of(hfunc)->kernel()->name.c_str();
}

ROW(cuFuncGetParamInfo, 12040, Function& function, size_t paramIndex, size_t* paramOffset,
    size_t* paramSize) {
    get_parameter_info(*function.kernel(), paramIndex, paramOffset, paramSize);
}

ROW(cuFuncIsLoaded, 12040, CUfunctionLoadingState* state, Function& /*function*/) {
    put(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

ROW(cuFuncLoad, 12040, Function& /*function*/) {}

// ---- launches ----------------------------------------------------------------------------------

ROW_PTSZ(cuLaunchKernel, 4000, CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
         unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
         unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void** kernelParams,
         void** extra) {
    launch_on(f, hStream,
              {.grid = {gridDimX, gridDimY, gridDimZ},
               .block = {blockDimX, blockDimY, blockDimZ},
               .shared_bytes = sharedMemBytes,
               .parameters = kernelParams,
               .extra = extra});
}

ROW_PTSZ(cuLaunchKernelEx, 11060, const CUlaunchConfig& config, CUfunction f, void** kernelParams,
         void** extra) {
    LaunchRequest request{.grid = {config.gridDimX, config.gridDimY, config.gridDimZ},
                          .block = {config.blockDimX, config.blockDimY, config.blockDimZ},
                          .shared_bytes = config.sharedMemBytes,
                          .parameters = kernelParams,
                          .extra = extra};
    apply_attributes(request, attributes_of(config));
    launch_on(f, config.hStream, request);
}

ROW_PTSZ(cuLaunchCooperativeKernel, 9000, CUfunction f, unsigned int gridDimX,
         unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
         unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
         CUstream hStream, void** kernelParams) {
    launch_on(f, hStream,
              {.grid = {gridDimX, gridDimY, gridDimZ},
               .block = {blockDimX, blockDimY, blockDimZ},
               .shared_bytes = sharedMemBytes,
               .parameters = kernelParams,
               .is_cooperative = true});
}

// ---- occupancy ---------------------------------------------------------------------------------

ROW(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, int* numBlocks, Function& function,
    int blockSize, size_t dynamicSMemSize, Flags<CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE> /*flags*/) {
    put(numBlocks, active_blocks_per_sm(function, device_of(function), blockSize, dynamicSMemSize));
}

FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, int* numBlocks, CUfunction func,
        int blockSize, size_t dynamicSMemSize) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, CU_OCCUPANCY_DEFAULT);
}

ROW(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, int* minGridSize, int* blockSize,
    Function& function, CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
    int blockSizeLimit, Flags<CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE> /*flags*/) {
    const auto advice = advise_block_size(function, device_of(function), blockSizeToDynamicSMemSize,
                                          dynamicSMemSize, blockSizeLimit);
    require(minGridSize != nullptr && blockSize != nullptr, "an output argument is NULL");
    *minGridSize = advice.min_grid_blocks;
    *blockSize = advice.block_threads;
}

FORWARD(cuOccupancyMaxPotentialBlockSize, 6050, int* minGridSize, int* blockSize, CUfunction func,
        CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                     blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                     blockSizeLimit, CU_OCCUPANCY_DEFAULT);
}

ROW(cuOccupancyAvailableDynamicSMemPerBlock, 10020, size_t* dynamicSmemSize, Function& function,
    int numBlocks, int blockSize) {
    put(dynamicSmemSize,
        available_shared_bytes(function, device_of(function), numBlocks, blockSize));
}

ROW(cuOccupancyMaxPotentialClusterSize, 11070, int* clusterSize, Function& function,
    const CUlaunchConfig& /*config*/) {
    put(clusterSize, max_cluster_blocks(function, device_of(function)));
}

ROW(cuOccupancyMaxActiveClusters, 11070, int* numClusters, Function& function,
    const CUlaunchConfig& config) {
    LaunchRequest request;
    request.block[0] = config.blockDimX;
    request.block[1] = config.blockDimY;
    request.block[2] = config.blockDimZ;
    apply_attributes(request, attributes_of(config));
    const Device& device = device_of(function);
    const int blocks = bounded_volume(request.cluster, max_cluster_blocks(function, device));
    if (blocks == 0) {
        fail(CUDA_ERROR_INVALID_CLUSTER_SIZE, "the cluster is too large");
    }
    const int threads =
        bounded_volume(request.block, device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    require(threads != 0 && std::ranges::count(request.block, 0U) == 0,
            "the block is empty or larger than the device allows");
    const int resident = active_blocks_per_sm(function, device, threads, config.sharedMemBytes) *
                         static_cast<int>(device.sm_count());
    put(numClusters, resident / blocks);
}
