// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Device and host memory: allocation, registration, sharing, and queries about pointers.

#include "runtime.hpp"

#include <iterator>
#include <string>

using namespace cuprum::runtime;

namespace {

cudaError_t describe(const void* memory, cudaPointerAttributes& result);

} // namespace

extern "C" {

cudaError_t CUDARTAPI cudaMalloc(void** devPtr, std::size_t size) {
    return in_context([&] {
        if (devPtr == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        CUdeviceptr allocated = 0;
        // A size of 0 is valid here but not in the driver.
        const CUresult status = size == 0 ? CUDA_SUCCESS : cuMemAlloc(&allocated, size);
        *devPtr = pointer(allocated);
        return status;
    });
}

cudaError_t CUDARTAPI cudaFree(void* devPtr) {
    return in_context(
        [&] { return devPtr == nullptr ? CUDA_SUCCESS : cuMemFree(address(devPtr)); });
}

cudaError_t CUDARTAPI cudaMallocPitch(void** devPtr, std::size_t* pitch, std::size_t width,
                                      std::size_t height) {
    return in_context([&] {
        if (devPtr == nullptr || pitch == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        CUdeviceptr allocated = 0;
        *pitch = 0;
        // The driver uses the element size only to align rows; 4 is the smallest.
        const CUresult status = width == 0 || height == 0
                                    ? CUDA_SUCCESS
                                    : cuMemAllocPitch(&allocated, pitch, width, height, 4);
        *devPtr = pointer(allocated);
        return status;
    });
}

cudaError_t CUDARTAPI cudaMalloc3D(cudaPitchedPtr* pitchedDevPtr, cudaExtent extent) {
    if (pitchedDevPtr == nullptr) {
        return keep(cudaErrorInvalidValue);
    }
    *pitchedDevPtr = {nullptr, 0, extent.width, extent.height};
    std::size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) {
        return keep(fail(cudaErrorMemoryAllocation,
                         std::to_string(extent.depth) + " slices of " +
                             std::to_string(extent.height) +
                             " rows are more than any device holds; the extent is width in bytes, "
                             "height and depth"));
    }
    return cudaMallocPitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, rows);
}

cudaError_t CUDARTAPI cudaMallocManaged(void** devPtr, std::size_t size, unsigned int flags) {
    return in_context([&] {
        CUdeviceptr allocated = 0;
        if (devPtr == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        // As for cudaMalloc.
        const CUresult status =
            size == 0 ? CUDA_SUCCESS : cuMemAllocManaged(&allocated, size, flags);
        *devPtr = pointer(allocated);
        return status;
    });
}

cudaError_t CUDARTAPI cudaHostAlloc(void** pHost, std::size_t size, unsigned int flags) {
    return in_context([&] {
        if (pHost == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *pHost = nullptr;
        return size == 0 ? CUDA_SUCCESS : cuMemHostAlloc(pHost, size, flags);
    });
}

cudaError_t CUDARTAPI cudaMallocHost(void** ptr, std::size_t size) {
    return cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

cudaError_t CUDARTAPI cudaFreeHost(void* ptr) {
    return in_context([&] { return ptr == nullptr ? CUDA_SUCCESS : cuMemFreeHost(ptr); });
}

cudaError_t CUDARTAPI cudaHostRegister(void* ptr, std::size_t size, unsigned int flags) {
    return in_context([&] { return cuMemHostRegister(ptr, size, flags); });
}

cudaError_t CUDARTAPI cudaHostUnregister(void* ptr) {
    return in_context([&] { return cuMemHostUnregister(ptr); });
}

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags) {
    return in_context([&] {
        CUdeviceptr mapped = 0;
        if (pDevice == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const CUresult status = cuMemHostGetDevicePointer(&mapped, pHost, flags);
        *pDevice = pointer(mapped);
        return status;
    });
}

cudaError_t CUDARTAPI cudaHostGetFlags(unsigned int* pFlags, void* pHost) {
    return in_context([&] { return cuMemHostGetFlags(pFlags, pHost); });
}

cudaError_t CUDARTAPI cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return in_context([&] { return cuMemGetInfo(free, total); });
}

cudaError_t CUDARTAPI cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
    return in_context(
        [&] { return attributes == nullptr ? cudaErrorInvalidValue : describe(ptr, *attributes); });
}

cudaError_t CUDARTAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* devPtr) {
    return in_context(
        [&] { return cuIpcGetMemHandle(same<CUipcMemHandle>(handle), address(devPtr)); });
}

cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle,
                                           unsigned int flags) {
    return in_context([&] {
        CUdeviceptr opened = 0;
        if (devPtr == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const CUresult status = cuIpcOpenMemHandle(&opened, *same<CUipcMemHandle>(&handle), flags);
        *devPtr = pointer(opened);
        return status;
    });
}

cudaError_t CUDARTAPI cudaIpcCloseMemHandle(void* devPtr) {
    return in_context([&] { return cuIpcCloseMemHandle(address(devPtr)); });
}

cudaError_t CUDARTAPI cudaMemAdvise(const void* devPtr, std::size_t count, cudaMemoryAdvise advice,
                                    cudaMemLocation location) {
    return in_context([&] {
        return cuMemAdvise(address(devPtr), count, static_cast<CUmem_advise>(advice),
                           *same<CUmemLocation>(&location));
    });
}

cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void* devPtr, std::size_t count,
                                           cudaMemLocation location, unsigned int flags,
                                           cudaStream_t stream) {
    return in_context([&] {
        return cuMemPrefetchAsync(address(devPtr), count, *same<CUmemLocation>(&location), flags,
                                  stream);
    });
}

cudaError_t CUDARTAPI cudaMemPrefetchBatchAsync(void** dptrs, std::size_t* sizes, std::size_t count,
                                                cudaMemLocation* prefetchLocs,
                                                std::size_t* prefetchLocIdxs,
                                                std::size_t numPrefetchLocs,
                                                unsigned long long flags, cudaStream_t stream) {
    return in_context([&] {
        return cuMemPrefetchBatchAsync(same<CUdeviceptr>(dptrs), sizes, count,
                                       same<CUmemLocation>(prefetchLocs), prefetchLocIdxs,
                                       numPrefetchLocs, flags, stream);
    });
}

cudaError_t CUDARTAPI cudaMemDiscardBatchAsync(void** dptrs, std::size_t* sizes, std::size_t count,
                                               unsigned long long flags, cudaStream_t stream) {
    return in_context([&] {
        return cuMemDiscardBatchAsync(same<CUdeviceptr>(dptrs), sizes, count, flags, stream);
    });
}

cudaError_t CUDARTAPI cudaMemDiscardAndPrefetchBatchAsync(
    void** dptrs, std::size_t* sizes, std::size_t count, cudaMemLocation* prefetchLocs,
    std::size_t* prefetchLocIdxs, std::size_t numPrefetchLocs, unsigned long long flags,
    cudaStream_t stream) {
    return in_context([&] {
        return cuMemDiscardAndPrefetchBatchAsync(same<CUdeviceptr>(dptrs), sizes, count,
                                                 same<CUmemLocation>(prefetchLocs), prefetchLocIdxs,
                                                 numPrefetchLocs, flags, stream);
    });
}

cudaError_t CUDARTAPI cudaMemRangeGetAttribute(void* data, std::size_t dataSize,
                                               cudaMemRangeAttribute attribute, const void* devPtr,
                                               std::size_t count) {
    return in_context([&] {
        return cuMemRangeGetAttribute(data, dataSize, static_cast<CUmem_range_attribute>(attribute),
                                      address(devPtr), count);
    });
}

cudaError_t CUDARTAPI cudaMemRangeGetAttributes(void** data, std::size_t* dataSizes,
                                                cudaMemRangeAttribute* attributes,
                                                std::size_t numAttributes, const void* devPtr,
                                                std::size_t count) {
    return in_context([&] {
        return cuMemRangeGetAttributes(data, dataSizes, same<CUmem_range_attribute>(attributes),
                                       numAttributes, address(devPtr), count);
    });
}

// This only fills in a description, so it works without support for arrays.
cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                      cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}

} // extern "C"

// ---- helpers -----------------------------------------------------------------------------------

namespace {

cudaError_t describe(const void* memory, cudaPointerAttributes& result) {
    unsigned int type = 0;
    unsigned int is_managed = 0;
    int device = 0;
    CUdeviceptr on_device = 0;
    void* on_host = nullptr;
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER,
    };
    void* values[] = {&type, &is_managed, &device, &on_device, &on_host};
    // Unlike cuPointerGetAttribute, this function succeeds for memory that CUDA does not know.
    const CUresult status =
        cuPointerGetAttributes(std::size(attributes), attributes, values, address(memory));
    if (status != CUDA_SUCCESS) {
        return as_error(status);
    }
    result = {};
    result.device = device;
    result.devicePointer = pointer(on_device);
    result.hostPointer = on_host;
    if (type == 0) {
        result.type = cudaMemoryTypeUnregistered;
        result.device = cudaInvalidDeviceId;
        result.devicePointer = nullptr;
        result.hostPointer = const_cast<void*>(memory);
    } else if (is_managed != 0) {
        result.type = cudaMemoryTypeManaged;
    } else if (type == CU_MEMORYTYPE_HOST) {
        result.type = cudaMemoryTypeHost;
    } else {
        result.type = cudaMemoryTypeDevice;
    }
    return cudaSuccess;
}

} // namespace
