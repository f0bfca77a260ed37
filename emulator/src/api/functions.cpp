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
    const auto stream = stream_from(stream_handle);
    if (stream->may_be_capturing()) {
        request.kernel = kernel_or_null(handle);
    }
    const auto event =
        request.completion_event != nullptr ? event_from(request.completion_event) : nullptr;
    if (event != nullptr) {
        event->check_recordable(*stream);
    }
    launch(function_from(handle, stream->kind() == Stream::Kind::Legacy ? current_context()
                                                                        : stream->shared_context()),
           *stream, request);
    if (event != nullptr) {
        event->record(*stream);
    }
}

} // namespace

extern "C" {

CUresult CUDAAPI cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
    return entry("cuFuncGetAttribute", [&] {
        const auto function = function_from(hfunc);
        put(pi, function->attributes().get(attrib, *function->kernel(), device_of(*function)));
    });
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    return entry("cuFuncSetAttribute", [&] {
        const auto function = function_from(hfunc);
        function->attributes().set(attrib, value, *function->kernel(), device_of(*function));
    });
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
    return entry("cuFuncSetCacheConfig", [&] {
        (void)function_from(hfunc);
        check_cache_config(config);
    });
}

CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
    return entry("cuFuncSetSharedMemConfig", [&] {
        (void)function_from(hfunc);
        check_shared_memory_config(config);
    });
}

CUresult CUDAAPI cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
    return entry("cuFuncGetModule", [&] {
        require(hmod != nullptr, "hmod must not be NULL");
        *hmod = function_from(hfunc)->module()->handle<CUmodule>();
    });
}

CUresult CUDAAPI cuFuncGetName(const char** name, CUfunction hfunc) {
    return entry("cuFuncGetName", [&] {
        require(name != nullptr && hfunc != nullptr, "an argument is NULL");
        *name = function_from(hfunc)->kernel()->name.c_str();
    });
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset,
                                    size_t* paramSize) {
    return entry("cuFuncGetParamInfo", [&] {
        get_parameter_info(*function_from(func)->kernel(), paramIndex, paramOffset, paramSize);
    });
}

CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
    return entry("cuFuncIsLoaded", [&] {
        (void)function_from(function);
        put(state, CU_FUNCTION_LOADING_STATE_LOADED);
    });
}

CUresult CUDAAPI cuFuncLoad(CUfunction function) {
    return entry("cuFuncLoad", [&] { (void)function_from(function); });
}

// ---- launches ----------------------------------------------------------------------------------

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                unsigned int gridDimZ, unsigned int blockDimX,
                                unsigned int blockDimY, unsigned int blockDimZ,
                                unsigned int sharedMemBytes, CUstream hStream, void** kernelParams,
                                void** extra) {
    return entry("cuLaunchKernel", [&] {
        launch_on(f, hStream,
                  {.grid = {gridDimX, gridDimY, gridDimZ},
                   .block = {blockDimX, blockDimY, blockDimZ},
                   .shared_bytes = sharedMemBytes,
                   .parameters = kernelParams,
                   .extra = extra});
    });
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                                  void** extra) {
    return entry("cuLaunchKernelEx", [&] {
        require(config != nullptr, "config must not be NULL");
        LaunchRequest request{.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                              .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                              .shared_bytes = config->sharedMemBytes,
                              .parameters = kernelParams,
                              .extra = extra};
        apply_attributes(request, attributes_of(*config));
        launch_on(f, config->hStream, request);
    });
}

CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                           unsigned int gridDimY, unsigned int gridDimZ,
                                           unsigned int blockDimX, unsigned int blockDimY,
                                           unsigned int blockDimZ, unsigned int sharedMemBytes,
                                           CUstream hStream, void** kernelParams) {
    return entry("cuLaunchCooperativeKernel", [&] {
        launch_on(f, hStream,
                  {.grid = {gridDimX, gridDimY, gridDimZ},
                   .block = {blockDimX, blockDimY, blockDimZ},
                   .shared_bytes = sharedMemBytes,
                   .parameters = kernelParams,
                   .is_cooperative = true});
    });
}

// ---- occupancy ---------------------------------------------------------------------------------

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int flags) {
    return entry("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
        require((flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) == 0,
                "unknown flags");
        const auto function = function_from(func);
        put(numBlocks,
            active_blocks_per_sm(*function, device_of(*function), blockSize, dynamicSMemSize));
    });
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func,
                                                             int blockSize,
                                                             size_t dynamicSMemSize) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, CU_OCCUPANCY_DEFAULT);
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(
    int* minGridSize, int* blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit,
    unsigned int flags) {
    return entry("cuOccupancyMaxPotentialBlockSize", [&] {
        require((flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) == 0,
                "unknown flags");
        const auto function = function_from(func);
        const auto advice =
            advise_block_size(*function, device_of(*function), blockSizeToDynamicSMemSize,
                              dynamicSMemSize, blockSizeLimit);
        require(minGridSize != nullptr && blockSize != nullptr, "an output argument is NULL");
        *minGridSize = advice.min_grid_blocks;
        *blockSize = advice.block_threads;
    });
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                                  CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                  size_t dynamicSMemSize, int blockSizeLimit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                     blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                     blockSizeLimit, CU_OCCUPANCY_DEFAULT);
}

CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func,
                                                         int numBlocks, int blockSize) {
    return entry("cuOccupancyAvailableDynamicSMemPerBlock", [&] {
        const auto function = function_from(func);
        put(dynamicSmemSize,
            available_shared_bytes(*function, device_of(*function), numBlocks, blockSize));
    });
}

CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func,
                                                    const CUlaunchConfig* config) {
    return entry("cuOccupancyMaxPotentialClusterSize", [&] {
        require(config != nullptr, "config must not be NULL");
        const auto function = function_from(func);
        put(clusterSize, max_cluster_blocks(*function, device_of(*function)));
    });
}

CUresult CUDAAPI cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func,
                                              const CUlaunchConfig* config) {
    return entry("cuOccupancyMaxActiveClusters", [&] {
        require(config != nullptr, "config must not be NULL");
        const auto function = function_from(func);
        LaunchRequest request;
        request.block[0] = config->blockDimX;
        request.block[1] = config->blockDimY;
        request.block[2] = config->blockDimZ;
        apply_attributes(request, attributes_of(*config));
        const Device& device = device_of(*function);
        const int blocks = bounded_volume(request.cluster, max_cluster_blocks(*function, device));
        if (blocks == 0) {
            fail(CUDA_ERROR_INVALID_CLUSTER_SIZE, "the cluster is too large");
        }
        const int threads = bounded_volume(
            request.block, device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
        require(threads != 0 && std::ranges::count(request.block, 0U) == 0,
                "the block is empty or larger than the device allows");
        const int resident =
            active_blocks_per_sm(*function, device, threads, config->sharedMemBytes) *
            static_cast<int>(device.sm_count());
        put(numClusters, resident / blocks);
    });
}

} // extern "C"
