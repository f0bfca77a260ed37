// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Device and host memory: allocation, registration, sharing, and queries about pointers.

#include "forward.hpp"
#include "runtime.hpp"

#include <iterator>
#include <string>

using namespace cuprum::runtime;

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

cudaError_t CUDARTAPI cudaMalloc(void** devPtr, std::size_t size) {
    return in_context([&] {
        return put_memory(devPtr, size,
                          [&](CUdeviceptr* memory) { return cuMemAlloc(memory, size); });
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
        return put_memory(devPtr, size, [&](CUdeviceptr* memory) {
            return cuMemAllocManaged(memory, size, flags);
        });
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

FORWARD(cudaHostRegister, cuMemHostRegister, IN_CONTEXT);
FORWARD(cudaHostUnregister, cuMemHostUnregister, IN_CONTEXT);

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags) {
    return in_context([&] {
        return put_address(pDevice, [&](CUdeviceptr* found) {
            return cuMemHostGetDevicePointer(found, pHost, flags);
        });
    });
}

FORWARD(cudaHostGetFlags, cuMemHostGetFlags, IN_CONTEXT);
FORWARD(cudaMemGetInfo, cuMemGetInfo, IN_CONTEXT);

cudaError_t CUDARTAPI cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
    return in_context(
        [&] { return attributes == nullptr ? cudaErrorInvalidValue : describe(ptr, *attributes); });
}

FORWARD(cudaIpcGetMemHandle, cuIpcGetMemHandle, IN_CONTEXT);

cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle,
                                           unsigned int flags) {
    return in_context([&] {
        return put_address(devPtr, [&](CUdeviceptr* found) {
            return cuIpcOpenMemHandle(found, *same<CUipcMemHandle>(&handle), flags);
        });
    });
}

FORWARD(cudaIpcCloseMemHandle, cuIpcCloseMemHandle, IN_CONTEXT);
FORWARD(cudaMemAdvise, cuMemAdvise, IN_CONTEXT);
FORWARD(cudaMemPrefetchAsync, cuMemPrefetchAsync, IN_CONTEXT);
FORWARD(cudaMemPrefetchBatchAsync, cuMemPrefetchBatchAsync, IN_CONTEXT);
FORWARD(cudaMemDiscardBatchAsync, cuMemDiscardBatchAsync, IN_CONTEXT);
FORWARD(cudaMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync, IN_CONTEXT);
FORWARD(cudaMemRangeGetAttribute, cuMemRangeGetAttribute, IN_CONTEXT);
FORWARD(cudaMemRangeGetAttributes, cuMemRangeGetAttributes, IN_CONTEXT);

// This only fills in a description, so it works without support for arrays.
cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                      cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}
