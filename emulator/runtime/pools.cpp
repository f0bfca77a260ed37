// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered allocation and its memory pools.

#include "runtime.hpp"

using namespace cuprum::runtime;

extern "C" {

cudaError_t CUDARTAPI cudaMallocAsync(void** devPtr, std::size_t size, cudaStream_t hStream) {
    return in_context([&] {
        CUdeviceptr allocated = 0;
        if (devPtr == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const CUresult status =
            size == 0 ? CUDA_SUCCESS : cuMemAllocAsync(&allocated, size, hStream);
        *devPtr = pointer(allocated);
        return status;
    });
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void** ptr, std::size_t size, cudaMemPool_t memPool,
                                              cudaStream_t stream) {
    return in_context([&] {
        CUdeviceptr allocated = 0;
        if (ptr == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const CUresult status =
            size == 0 ? CUDA_SUCCESS : cuMemAllocFromPoolAsync(&allocated, size, memPool, stream);
        *ptr = pointer(allocated);
        return status;
    });
}

cudaError_t CUDARTAPI cudaFreeAsync(void* devPtr, cudaStream_t hStream) {
    return in_context([&] {
        return devPtr == nullptr ? CUDA_SUCCESS : cuMemFreeAsync(address(devPtr), hStream);
    });
}

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
    return without_context([&] { return cuDeviceGetDefaultMemPool(memPool, device); });
}

cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device) {
    return without_context([&] { return cuDeviceGetMemPool(memPool, device); });
}

cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
    return without_context([&] { return cuDeviceSetMemPool(device, memPool); });
}

cudaError_t CUDARTAPI cudaMemGetDefaultMemPool(cudaMemPool_t* memPool, cudaMemLocation* location,
                                               cudaMemAllocationType type) {
    return without_context([&] {
        return cuMemGetDefaultMemPool(memPool, same<CUmemLocation>(location),
                                      static_cast<CUmemAllocationType>(type));
    });
}

cudaError_t CUDARTAPI cudaMemGetMemPool(cudaMemPool_t* memPool, cudaMemLocation* location,
                                        cudaMemAllocationType type) {
    return without_context([&] {
        return cuMemGetMemPool(memPool, same<CUmemLocation>(location),
                               static_cast<CUmemAllocationType>(type));
    });
}

cudaError_t CUDARTAPI cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                                        cudaMemPool_t memPool) {
    return without_context([&] {
        return cuMemSetMemPool(same<CUmemLocation>(location),
                               static_cast<CUmemAllocationType>(type), memPool);
    });
}

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t* memPool, const cudaMemPoolProps* poolProps) {
    return without_context(
        [&] { return cuMemPoolCreate(memPool, same<const CUmemPoolProps>(poolProps)); });
}

cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t memPool) {
    return without_context([&] { return cuMemPoolDestroy(memPool); });
}

cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t memPool, std::size_t minBytesToKeep) {
    return without_context([&] { return cuMemPoolTrimTo(memPool, minBytesToKeep); });
}

cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr,
                                              void* value) {
    return without_context([&] {
        return cuMemPoolSetAttribute(memPool, static_cast<CUmemPool_attribute>(attr), value);
    });
}

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr,
                                              void* value) {
    return without_context([&] {
        return cuMemPoolGetAttribute(memPool, static_cast<CUmemPool_attribute>(attr), value);
    });
}

cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t memPool, const cudaMemAccessDesc* descList,
                                           std::size_t count) {
    return without_context(
        [&] { return cuMemPoolSetAccess(memPool, same<const CUmemAccessDesc>(descList), count); });
}

cudaError_t CUDARTAPI cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t memPool,
                                           cudaMemLocation* location) {
    return without_context([&] {
        return cuMemPoolGetAccess(same<CUmemAccess_flags>(flags), memPool,
                                  same<CUmemLocation>(location));
    });
}

cudaError_t CUDARTAPI cudaMemPoolExportToShareableHandle(void* shareableHandle,
                                                         cudaMemPool_t memPool,
                                                         cudaMemAllocationHandleType handleType,
                                                         unsigned int flags) {
    return without_context([&] {
        return cuMemPoolExportToShareableHandle(
            shareableHandle, memPool, static_cast<CUmemAllocationHandleType>(handleType), flags);
    });
}

cudaError_t CUDARTAPI cudaMemPoolImportFromShareableHandle(cudaMemPool_t* memPool,
                                                           void* shareableHandle,
                                                           cudaMemAllocationHandleType handleType,
                                                           unsigned int flags) {
    return without_context([&] {
        return cuMemPoolImportFromShareableHandle(
            memPool, shareableHandle, static_cast<CUmemAllocationHandleType>(handleType), flags);
    });
}

cudaError_t CUDARTAPI cudaMemPoolExportPointer(cudaMemPoolPtrExportData* exportData, void* ptr) {
    return in_context([&] {
        return cuMemPoolExportPointer(same<CUmemPoolPtrExportData>(exportData), address(ptr));
    });
}

cudaError_t CUDARTAPI cudaMemPoolImportPointer(void** ptr, cudaMemPool_t memPool,
                                               cudaMemPoolPtrExportData* exportData) {
    return in_context([&] {
        CUdeviceptr imported = 0;
        if (ptr == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const CUresult status =
            cuMemPoolImportPointer(&imported, memPool, same<CUmemPoolPtrExportData>(exportData));
        *ptr = pointer(imported);
        return status;
    });
}

} // extern "C"
