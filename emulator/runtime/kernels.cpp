// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Launches, attributes of kernels, occupancy.

#include "kernels.hpp"

#include "forward.hpp"
#include "registry.hpp"

#include <cstddef>
#include <limits>
#include <string>

namespace cuprum::runtime {

cudaError_t find_kernel(const void* entry, CUkernel* result) {
    const cudaError_t status = Registry::instance().kernel(entry, result);
    if (status != cudaErrorInvalidDeviceFunction) {
        return status;
    }
    // This is not a stub. It may be a handle that the driver knows.
    auto* const handle = static_cast<CUkernel>(const_cast<void*>(entry));
    CUfunction function = nullptr;
    if (entry == nullptr || cuKernelGetFunction(&function, handle) != CUDA_SUCCESS) {
        return cudaErrorInvalidDeviceFunction;
    }
    *result = handle;
    return cudaSuccess;
}

cudaError_t find_function(const void* entry, CUfunction* result) {
    CUkernel kernel = nullptr;
    const cudaError_t status = find_kernel(entry, &kernel);
    if (status == cudaSuccess) {
        return as_error(cuKernelGetFunction(result, kernel));
    }
    auto* const handle = static_cast<CUfunction>(const_cast<void*>(entry));
    int unused = 0;
    if (entry != nullptr && status == cudaErrorInvalidDeviceFunction &&
        cuFuncGetAttribute(&unused, CU_FUNC_ATTRIBUTE_NUM_REGS, handle) == CUDA_SUCCESS) {
        *result = handle; // from cudaGetFuncBySymbol or from the driver
        return cudaSuccess;
    }
    return status;
}

namespace {

bool fits_device(dim3 grid, dim3 block) {
    int device = 0;
    if (current_device(&device) != cudaSuccess) {
        return true;
    }
    const auto limit = [&](CUdevice_attribute attribute) {
        int value = 0;
        cuDeviceGetAttribute(&value, attribute, device);
        return static_cast<unsigned int>(value);
    };
    const auto is_within = [&](unsigned int size, CUdevice_attribute attribute) {
        return size > 0 && size <= limit(attribute);
    };
    return is_within(grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
           is_within(grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
           is_within(grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) &&
           is_within(block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
           is_within(block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
           is_within(block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) &&
           is_within(block.x * block.y * block.z, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

// NVIDIA's library takes the lower 32 bits of the shared memory: a kernel that asks for 4 GiB runs
// there with none.
cudaError_t to_driver(const cudaLaunchConfig_t& from, CUlaunchConfig& to) {
    if (from.dynamicSmemBytes > std::numeric_limits<unsigned int>::max()) {
        return fail(cudaErrorInvalidValue,
                    std::to_string(from.dynamicSmemBytes) +
                        " bytes of dynamic shared memory are more than any device has; "
                        "cudaDevAttrMaxSharedMemoryPerBlockOptin tells the most");
    }
    to.gridDimX = from.gridDim.x;
    to.gridDimY = from.gridDim.y;
    to.gridDimZ = from.gridDim.z;
    to.blockDimX = from.blockDim.x;
    to.blockDimY = from.blockDim.y;
    to.blockDimZ = from.blockDim.z;
    to.sharedMemBytes = static_cast<unsigned int>(from.dynamicSmemBytes);
    to.hStream = from.stream;
    to.attrs = same<CUlaunchAttribute>(from.attrs);
    to.numAttrs = from.numAttrs;
    return cudaSuccess;
}

CUresult fill(cudaFuncAttributes& result, CUfunction function) {
    CUresult status = CUDA_SUCCESS;
    const auto get = [&](CUfunction_attribute attribute) {
        int value = 0;
        if (status == CUDA_SUCCESS) {
            status = cuFuncGetAttribute(&value, attribute, function);
        }
        return value;
    };
    const auto get_bytes = [&](CUfunction_attribute attribute) {
        return static_cast<std::size_t>(get(attribute));
    };
    result = {};
    result.sharedSizeBytes = get_bytes(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    result.constSizeBytes = get_bytes(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    result.localSizeBytes = get_bytes(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    result.maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    result.numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
    result.ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    result.binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    result.cacheModeCA = get(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
    result.maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    result.preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    result.clusterDimMustBeSet = get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
    result.requiredClusterWidth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
    result.requiredClusterHeight = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
    result.requiredClusterDepth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
    result.clusterSchedulingPolicyPreference =
        get(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
    result.nonPortableClusterSizeAllowed = get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
    return status;
}

/// Launches a kernel and translates an invalid value to the runtime's specific code.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* entry, void** arguments) {
    CUfunction function = nullptr;
    if (const cudaError_t status = find_function(entry, &function); status != cudaSuccess) {
        return status;
    }
    CUlaunchConfig driver{};
    if (const cudaError_t status = to_driver(config, driver); status != cudaSuccess) {
        return status;
    }
    const CUresult status = cuLaunchKernelEx(&driver, function, arguments, nullptr);
    if (status == CUDA_ERROR_INVALID_VALUE && !fits_device(config.gridDim, config.blockDim)) {
        return cudaErrorInvalidConfiguration;
    }
    return as_error(status);
}

/// Runs `body` in a context with the function that `entry` identifies.
template <typename Body>
cudaError_t with_function(const void* entry, Body&& body) {
    return in_context([&] {
        CUfunction function = nullptr;
        const cudaError_t status = find_function(entry, &function);
        return status != cudaSuccess ? status : as_error(body(function));
    });
}

/// Converts an argument as the others are, or an entry to the function that it identifies.
template <typename Wanted, typename Given>
Wanted converted_for(CUfunction function, Given given) noexcept {
    if constexpr (std::is_same_v<Wanted, CUfunction>) {
        return function;
    } else {
        return converted<Wanted>(given);
    }
}

/// Calls a function of the driver that takes a function, with the entry among the arguments.
template <typename... Wanted, typename... Given>
cudaError_t forward_function(CUresult (*driver)(Wanted...), Given... given) noexcept {
    const void* entry = nullptr;
    const auto take = [&](auto argument) {
        if constexpr (std::is_same_v<decltype(argument), const void*>) {
            entry = argument;
        }
    };
    (take(given), ...);
    return with_function(entry, [&](CUfunction function) {
        return driver(converted_for<Wanted>(function, given)...);
    });
}

/// Runs `body` as with_function() does, with a configuration for the driver.
template <typename Body>
cudaError_t with_config(const void* entry, const cudaLaunchConfig_t* config, Body&& body) {
    return in_context([&] {
        CUfunction function = nullptr;
        CUlaunchConfig driver{};
        cudaError_t status = find_function(entry, &function);
        if (status == cudaSuccess) {
            status = config == nullptr ? cudaErrorInvalidValue : to_driver(*config, driver);
        }
        return status != cudaSuccess ? status : as_error(body(function, driver));
    });
}

} // namespace

} // namespace cuprum::runtime

using namespace cuprum::runtime;

/// FORWARD for a function that takes an entry: a host stub or a handle.
#define FORWARD_FUNCTION(function, driver)                                                         \
    CUPRUM_DEFINE(function, cuprum::runtime::forward_function(driver, given...))

cudaError_t CUDARTAPI cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                       std::size_t sharedMem, cudaStream_t stream) {
    return in_context([&] {
        return launch({.gridDim = gridDim,
                       .blockDim = blockDim,
                       .dynamicSmemBytes = sharedMem,
                       .stream = stream,
                       .attrs = nullptr,
                       .numAttrs = 0},
                      func, args);
    });
}

cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func,
                                          void** args) {
    return in_context(
        [&] { return config == nullptr ? cudaErrorInvalidValue : launch(*config, func, args); });
}

cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim,
                                                  void** args, std::size_t sharedMem,
                                                  cudaStream_t stream) {
    return in_context([&] {
        cudaLaunchAttribute cooperative{};
        cooperative.id = cudaLaunchAttributeCooperative;
        cooperative.val.cooperative = 1;
        return launch({.gridDim = gridDim,
                       .blockDim = blockDim,
                       .dynamicSmemBytes = sharedMem,
                       .stream = stream,
                       .attrs = &cooperative,
                       .numAttrs = 1},
                      func, args);
    });
}

FORWARD(cudaLaunchHostFunc, cuLaunchHostFunc, IN_CONTEXT);

cudaError_t CUDARTAPI cudaFuncGetAttributes(cudaFuncAttributes* attr, const void* func) {
    return with_function(func, [&](CUfunction function) {
        return attr == nullptr ? CUDA_ERROR_INVALID_VALUE : fill(*attr, function);
    });
}

FORWARD_FUNCTION(cudaFuncSetAttribute, cuFuncSetAttribute);
FORWARD_FUNCTION(cudaFuncSetCacheConfig, cuFuncSetCacheConfig);
FORWARD_FUNCTION(cudaFuncSetSharedMemConfig, cuFuncSetSharedMemConfig);
FORWARD_FUNCTION(cudaFuncGetName, cuFuncGetName);
FORWARD_FUNCTION(cudaFuncGetParamInfo, cuFuncGetParamInfo);

cudaError_t CUDARTAPI cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr) {
    return with_function(symbolPtr, [&](CUfunction function) {
        if (functionPtr == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *functionPtr = function;
        return CUDA_SUCCESS;
    });
}

cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr) {
    return in_context([&] {
        return kernelPtr == nullptr ? cudaErrorInvalidValue : find_kernel(entryFuncAddr, kernelPtr);
    });
}

FORWARD_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                 cuOccupancyMaxActiveBlocksPerMultiprocessor);
FORWARD_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                 cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
FORWARD_FUNCTION(cudaOccupancyAvailableDynamicSMemPerBlock,
                 cuOccupancyAvailableDynamicSMemPerBlock);

cudaError_t CUDARTAPI cudaOccupancyMaxPotentialClusterSize(int* clusterSize, const void* func,
                                                           const cudaLaunchConfig_t* launchConfig) {
    return with_config(func, launchConfig, [&](CUfunction function, const CUlaunchConfig& config) {
        return cuOccupancyMaxPotentialClusterSize(clusterSize, function, &config);
    });
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int* numClusters, const void* func,
                                                     const cudaLaunchConfig_t* launchConfig) {
    return with_config(func, launchConfig, [&](CUfunction function, const CUlaunchConfig& config) {
        return cuOccupancyMaxActiveClusters(numClusters, function, &config);
    });
}
