// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Code loaded at run time, contexts of the driver API, moves of managed memory, batches.

#include "check.hpp"

#include <cuda.h>

#include <cstring>

namespace {

constexpr char PTX[] = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 step = 5;
.visible .entry add_step(.param .u64 where) {
    .reg .u64 %address;
    .reg .u32 %value, %step;
    ld.param.u64 %address, [where];
    ld.global.u32 %step, [step];
    ld.global.u32 %value, [%address];
    add.u32 %value, %value, %step;
    st.global.u32 [%address], %value;
    ret;
}
)";

__global__ void add_ten(int* value) {
    *value += 10;
}

void a_library_is_loaded_from_text() {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    unsigned int count = 0;
    void* step = nullptr;
    std::size_t bytes = 0;
    int* value = nullptr;
    OK(cudaMallocManaged(&value, sizeof(int)));
    *value = 1;
    OK(cudaLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
    OK(cudaLibraryGetKernelCount(&count, library));
    EXPECT(count == 1);
    OK(cudaLibraryGetKernel(&kernel, library, "add_step"));
    void* arguments[] = {&value};
    OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0,
                        nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(*value == 6);
    OK(cudaLibraryGetGlobal(&step, &bytes, library, "step"));
    EXPECT(bytes == sizeof(int));
    RETURNS(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "none"));
    RETURNS(cudaErrorSymbolNotFound, cudaGetLastError());
    OK(cudaLibraryUnload(library));
    RETURNS(cudaErrorInvalidPtx, cudaLibraryLoadData(&library, ".version 8.0\n.target sm_70\nwhat",
                                                     nullptr, nullptr, 0, nullptr, nullptr, 0));
    cudaGetLastError();
    OK(cudaFree(value));
}

void a_context_of_the_driver_is_used() {
    CUcontext context = nullptr;
    CUcontext popped = nullptr;
    int* value = nullptr;
    EXPECT(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
    OK(cudaMalloc(&value, sizeof(int)));
    CUcontext owner = nullptr;
    EXPECT(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT,
                                 reinterpret_cast<CUdeviceptr>(value)) == CUDA_SUCCESS);
    EXPECT(owner == context);
    OK(cudaMemset(value, 0, sizeof(int)));
    add_ten<<<1, 1>>>(value);
    int result = 0;
    OK(cudaMemcpy(&result, value, sizeof result, cudaMemcpyDeviceToHost));
    EXPECT(result == 10);
    OK(cudaFree(value));
    EXPECT(cuCtxPopCurrent(&popped) == CUDA_SUCCESS && popped == context);
    EXPECT(cuCtxDestroy(context) == CUDA_SUCCESS);
    OK(cudaDeviceSynchronize()); // in the primary context again
}

void managed_memory_moves() {
    constexpr std::size_t bytes = 1 << 16;
    int* values = nullptr;
    const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
    const cudaMemLocation host{cudaMemLocationTypeHost, 0};
    OK(cudaMallocManaged(&values, bytes));
    OK(cudaMemAdvise(values, bytes, cudaMemAdviseSetReadMostly, device));
    int is_read_mostly = 0;
    OK(cudaMemRangeGetAttribute(&is_read_mostly, sizeof is_read_mostly,
                                cudaMemRangeAttributeReadMostly, values, bytes));
    EXPECT(is_read_mostly == 1);
    values[0] = 5;
    OK(cudaMemPrefetchAsync(values, bytes, device, 0, nullptr));
    add_ten<<<1, 1>>>(values);
    OK(cudaMemPrefetchAsync(values, bytes, host, 0, nullptr));
    OK(cudaStreamSynchronize(nullptr));
    EXPECT(values[0] == 15);
    OK(cudaFree(values));
}

void copies_come_in_batches() {
    constexpr std::size_t count = 3;
    cudaStream_t stream = nullptr;
    int in[count] = {1, 2, 3};
    int out[count] = {};
    int* memory = nullptr;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&memory, sizeof in));
    void* destinations[count] = {memory, memory + 1, memory + 2};
    const void* sources[count] = {in, in + 1, in + 2};
    const std::size_t sizes[count] = {sizeof(int), sizeof(int), sizeof(int)};
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    OK(cudaMemcpyBatchAsync(destinations, sources, sizes, count, &attributes, &first, 1, stream));
    OK(cudaMemcpyAsync(out, memory, sizeof out, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(std::memcmp(in, out, sizeof in) == 0);
    OK(cudaFree(memory));
    OK(cudaStreamDestroy(stream));
}

} // namespace

int main() {
    a_library_is_loaded_from_text();
    a_context_of_the_driver_is_used();
    managed_memory_moves();
    copies_come_in_batches();
    return EXIT_SUCCESS;
}
