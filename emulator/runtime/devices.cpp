// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Devices: enumeration, attributes, limits, peers and versions.

#include "runtime.hpp"

#include <algorithm>

using namespace cuprum::runtime;

// Declared in cudaProfiler.h, which is a separate package and may be missing.
extern "C" CUresult CUDAAPI cuProfilerStart();
extern "C" CUresult CUDAAPI cuProfilerStop();

namespace {

/// Converts the runtime's number of an attribute, which is also the driver's.
CUdevice_attribute attribute_of(cudaDeviceAttr attribute) {
    return static_cast<CUdevice_attribute>(attribute);
}

} // namespace

extern "C" {

cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
    return without_context([&] {
        const CUresult status = cuDeviceGetCount(count);
        return status == CUDA_SUCCESS && *count == 0 ? CUDA_ERROR_NO_DEVICE : status;
    });
}

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
    return without_context([&] { return cuDeviceGetAttribute(value, attribute_of(attr), device); });
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
    return without_context([&] { return cuDeviceGetPCIBusId(pciBusId, len, device); });
}

cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
    return without_context([&] { return cuDeviceGetByPCIBusId(device, pciBusId); });
}

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

cudaError_t CUDARTAPI cudaDeviceSynchronize() {
    return in_context([] { return cuCtxSynchronize(); });
}

cudaError_t CUDARTAPI cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
    return in_context([&] { return cuCtxSetLimit(static_cast<CUlimit>(limit), value); });
}

cudaError_t CUDARTAPI cudaDeviceGetLimit(std::size_t* pValue, cudaLimit limit) {
    return in_context([&] { return cuCtxGetLimit(pValue, static_cast<CUlimit>(limit)); });
}

cudaError_t CUDARTAPI cudaDeviceGetCacheConfig(cudaFuncCache* pCacheConfig) {
    return in_context([&] { return cuCtxGetCacheConfig(same<CUfunc_cache>(pCacheConfig)); });
}

cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(cudaFuncCache cacheConfig) {
    return in_context([&] { return cuCtxSetCacheConfig(static_cast<CUfunc_cache>(cacheConfig)); });
}

cudaError_t CUDARTAPI cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* pConfig) {
    return in_context([&] { return cuCtxGetSharedMemConfig(same<CUsharedconfig>(pConfig)); });
}

cudaError_t CUDARTAPI cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    return in_context([&] { return cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(config)); });
}

cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
    return in_context([&] { return cuCtxGetStreamPriorityRange(leastPriority, greatestPriority); });
}

cudaError_t CUDARTAPI cudaCtxResetPersistingL2Cache() {
    return in_context([] { return cuCtxResetPersistingL2Cache(); });
}

cudaError_t CUDARTAPI cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target,
                                                         cudaFlushGPUDirectRDMAWritesScope scope) {
    return in_context([&] {
        return cuFlushGPUDirectRDMAWrites(static_cast<CUflushGPUDirectRDMAWritesTarget>(target),
                                          static_cast<CUflushGPUDirectRDMAWritesScope>(scope));
    });
}

cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
    return without_context(
        [&] { return cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice); });
}

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

cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attr, int srcDevice,
                                                int dstDevice) {
    return without_context([&] {
        return cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attr), srcDevice,
                                       dstDevice);
    });
}

cudaError_t CUDARTAPI cudaDeviceGetHostAtomicCapabilities(unsigned int* capabilities,
                                                          const cudaAtomicOperation* operations,
                                                          unsigned int count, int device) {
    return without_context([&] {
        return cuDeviceGetHostAtomicCapabilities(
            capabilities, same<const CUatomicOperation>(operations), count, device);
    });
}

cudaError_t CUDARTAPI cudaDeviceGetP2PAtomicCapabilities(unsigned int* capabilities,
                                                         const cudaAtomicOperation* operations,
                                                         unsigned int count, int srcDevice,
                                                         int dstDevice) {
    return without_context([&] {
        return cuDeviceGetP2PAtomicCapabilities(
            capabilities, same<const CUatomicOperation>(operations), count, srcDevice, dstDevice);
    });
}

cudaError_t CUDARTAPI cudaDeviceRegisterAsyncNotification(int device,
                                                          cudaAsyncCallback callbackFunc,
                                                          void* userData,
                                                          cudaAsyncCallbackHandle_t* callback) {
    return without_context([&] {
        return cuDeviceRegisterAsyncNotification(
            device, reinterpret_cast<CUasyncCallback>(callbackFunc), userData,
            reinterpret_cast<CUasyncCallbackHandle*>(callback));
    });
}

cudaError_t CUDARTAPI cudaDeviceUnregisterAsyncNotification(int device,
                                                            cudaAsyncCallbackHandle_t callback) {
    return without_context([&] {
        return cuDeviceUnregisterAsyncNotification(
            device, reinterpret_cast<CUasyncCallbackHandle>(callback));
    });
}

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

cudaError_t CUDARTAPI cudaProfilerStart() {
    return in_context([] { return cuProfilerStart(); });
}

cudaError_t CUDARTAPI cudaProfilerStop() {
    return in_context([] { return cuProfilerStop(); });
}

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

cudaError_t CUDARTAPI cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void* userData,
                                               cudaLogsCallbackHandle* callback_out) {
    return without_context([&] {
        return cuLogsRegisterCallback(reinterpret_cast<CUlogsCallback>(callbackFunc), userData,
                                      callback_out);
    });
}

cudaError_t CUDARTAPI cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback) {
    return without_context([&] { return cuLogsUnregisterCallback(callback); });
}

cudaError_t CUDARTAPI cudaLogsCurrent(cudaLogIterator* iterator_out, unsigned int flags) {
    return without_context([&] { return cuLogsCurrent(iterator_out, flags); });
}

cudaError_t CUDARTAPI cudaLogsDumpToFile(cudaLogIterator* iterator, const char* pathToFile,
                                         unsigned int flags) {
    return without_context([&] { return cuLogsDumpToFile(iterator, pathToFile, flags); });
}

cudaError_t CUDARTAPI cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer,
                                           std::size_t* size, unsigned int flags) {
    return without_context([&] { return cuLogsDumpToMemory(iterator, buffer, size, flags); });
}

} // extern "C"
