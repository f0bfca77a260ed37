// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered allocation and its memory pools.

#include "forward.hpp"
#include "runtime.hpp"

using namespace cuprum::runtime;

cudaError_t CUDARTAPI cudaMallocAsync(void** devPtr, std::size_t size, cudaStream_t hStream) {
    return in_context([&] {
        return put_memory(devPtr, size, [&](CUdeviceptr* memory) {
            return cuMemAllocAsync(memory, size, hStream);
        });
    });
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void** ptr, std::size_t size, cudaMemPool_t memPool,
                                              cudaStream_t stream) {
    return in_context([&] {
        return put_memory(ptr, size, [&](CUdeviceptr* memory) {
            return cuMemAllocFromPoolAsync(memory, size, memPool, stream);
        });
    });
}

cudaError_t CUDARTAPI cudaFreeAsync(void* devPtr, cudaStream_t hStream) {
    return in_context([&] {
        return devPtr == nullptr ? CUDA_SUCCESS : cuMemFreeAsync(address(devPtr), hStream);
    });
}

FORWARD(cudaDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, WITHOUT_CONTEXT);
FORWARD(cudaDeviceGetMemPool, cuDeviceGetMemPool, WITHOUT_CONTEXT);
FORWARD(cudaDeviceSetMemPool, cuDeviceSetMemPool, WITHOUT_CONTEXT);
FORWARD(cudaMemGetDefaultMemPool, cuMemGetDefaultMemPool, WITHOUT_CONTEXT);
FORWARD(cudaMemGetMemPool, cuMemGetMemPool, WITHOUT_CONTEXT);
FORWARD(cudaMemSetMemPool, cuMemSetMemPool, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolCreate, cuMemPoolCreate, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolDestroy, cuMemPoolDestroy, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolTrimTo, cuMemPoolTrimTo, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolSetAttribute, cuMemPoolSetAttribute, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolGetAttribute, cuMemPoolGetAttribute, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolSetAccess, cuMemPoolSetAccess, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolGetAccess, cuMemPoolGetAccess, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle, WITHOUT_CONTEXT);
FORWARD(cudaMemPoolExportPointer, cuMemPoolExportPointer, IN_CONTEXT);

cudaError_t CUDARTAPI cudaMemPoolImportPointer(void** ptr, cudaMemPool_t memPool,
                                               cudaMemPoolPtrExportData* exportData) {
    return in_context([&] {
        return put_address(ptr, [&](CUdeviceptr* found) {
            return cuMemPoolImportPointer(found, memPool, same<CUmemPoolPtrExportData>(exportData));
        });
    });
}
