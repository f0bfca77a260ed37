// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Devices: enumeration, attributes, limits, peers and versions.

#include "forward.hpp"
#include "runtime.hpp"

#include <algorithm>

using namespace cuprum::runtime;

// Declared in cudaProfiler.h, which is a separate package and may be missing.
extern "C" CUresult CUDAAPI cuProfilerStart();
extern "C" CUresult CUDAAPI cuProfilerStop();
extern "C" cudaError_t CUDARTAPI cudaProfilerStart();
extern "C" cudaError_t CUDARTAPI cudaProfilerStop();

cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
    return without_context([&] {
        const CUresult status = cuDeviceGetCount(count);
        return status == CUDA_SUCCESS && *count == 0 ? CUDA_ERROR_NO_DEVICE : status;
    });
}

FORWARD(cudaDeviceGetAttribute, cuDeviceGetAttribute, WITHOUT_CONTEXT);
FORWARD(cudaDeviceGetPCIBusId, cuDeviceGetPCIBusId, WITHOUT_CONTEXT);
FORWARD(cudaDeviceGetByPCIBusId, cuDeviceGetByPCIBusId, WITHOUT_CONTEXT);

cudaError_t CUDARTAPI cudaSetValidDevices(int* device_arr, int len) {
    return without_context([&] {
        int count = 0;
        if (const CUresult status = cuDeviceGetCount(&count); status != CUDA_SUCCESS) {
            return status;
        }
        if (len < 0 || (len > 0 && device_arr == nullptr)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        for (int each = 0; each < len; ++each) {
            if (device_arr[each] < 0 || device_arr[each] >= count) {
                return CUDA_ERROR_INVALID_DEVICE;
            }
            if (std::count(device_arr, device_arr + each, device_arr[each]) != 0) {
                return CUDA_ERROR_INVALID_VALUE;
            }
        }
        return CUDA_SUCCESS; // only a preference: every thread chooses its device itself
    });
}

FORWARD(cudaDeviceSynchronize, cuCtxSynchronize, IN_CONTEXT);
FORWARD(cudaDeviceSetLimit, cuCtxSetLimit, IN_CONTEXT);
FORWARD(cudaDeviceGetLimit, cuCtxGetLimit, IN_CONTEXT);
FORWARD(cudaDeviceGetCacheConfig, cuCtxGetCacheConfig, IN_CONTEXT);
FORWARD(cudaDeviceSetCacheConfig, cuCtxSetCacheConfig, IN_CONTEXT);
FORWARD(cudaDeviceGetSharedMemConfig, cuCtxGetSharedMemConfig, IN_CONTEXT);
FORWARD(cudaDeviceSetSharedMemConfig, cuCtxSetSharedMemConfig, IN_CONTEXT);
FORWARD(cudaDeviceGetStreamPriorityRange, cuCtxGetStreamPriorityRange, IN_CONTEXT);
FORWARD(cudaCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache, IN_CONTEXT);
FORWARD(cudaDeviceFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites, IN_CONTEXT);
FORWARD(cudaDeviceCanAccessPeer, cuDeviceCanAccessPeer, WITHOUT_CONTEXT);

cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
    return in_context([&] {
        CUcontext peer = nullptr;
        const CUresult status = primary_context(peerDevice, &peer);
        if (status != CUDA_SUCCESS) {
            return status;
        }
        // The runtime takes a device where the driver takes a context.
        CUcontext current = nullptr;
        return cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == peer
                   ? CUDA_ERROR_INVALID_DEVICE
                   : cuCtxEnablePeerAccess(peer, flags);
    });
}

cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peerDevice) {
    return in_context([&] {
        CUcontext peer = nullptr;
        const CUresult status = primary_context(peerDevice, &peer);
        return status != CUDA_SUCCESS ? status : cuCtxDisablePeerAccess(peer);
    });
}

FORWARD(cudaDeviceGetP2PAttribute, cuDeviceGetP2PAttribute, WITHOUT_CONTEXT);
FORWARD(cudaDeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities, WITHOUT_CONTEXT);
FORWARD(cudaDeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities, WITHOUT_CONTEXT);
FORWARD(cudaDeviceRegisterAsyncNotification, cuDeviceRegisterAsyncNotification, WITHOUT_CONTEXT);
FORWARD(cudaDeviceUnregisterAsyncNotification, cuDeviceUnregisterAsyncNotification,
        WITHOUT_CONTEXT);

cudaError_t CUDARTAPI cudaDriverGetVersion(int* driverVersion) {
    // This works without a device or driver; the version is then 0.
    return keep(driverVersion == nullptr ? cudaErrorInvalidValue
                                         : as_error(cuDriverGetVersion(driverVersion)));
}

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* runtimeVersion) {
    if (runtimeVersion == nullptr) {
        return keep(cudaErrorInvalidValue);
    }
    *runtimeVersion = VERSION;
    return cudaSuccess;
}

FORWARD(cudaProfilerStart, cuProfilerStart, IN_CONTEXT);
FORWARD(cudaProfilerStop, cuProfilerStop, IN_CONTEXT);

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(
    const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
    cudaDriverEntryPointQueryResult* driverStatus) {
    return without_context([&] {
        CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        const CUresult status =
            cuGetProcAddress(symbol, funcPtr, static_cast<int>(cudaVersion), flags, &result);
        if (driverStatus != nullptr) {
            *driverStatus = static_cast<cudaDriverEntryPointQueryResult>(result);
        }
        return status;
    });
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint(const char* symbol, void** funcPtr,
                                              unsigned long long flags,
                                              cudaDriverEntryPointQueryResult* driverStatus) {
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, VERSION, flags, driverStatus);
}

FORWARD(cudaLogsRegisterCallback, cuLogsRegisterCallback, WITHOUT_CONTEXT);
FORWARD(cudaLogsUnregisterCallback, cuLogsUnregisterCallback, WITHOUT_CONTEXT);
FORWARD(cudaLogsCurrent, cuLogsCurrent, WITHOUT_CONTEXT);
FORWARD(cudaLogsDumpToFile, cuLogsDumpToFile, WITHOUT_CONTEXT);
FORWARD(cudaLogsDumpToMemory, cuLogsDumpToMemory, WITHOUT_CONTEXT);
