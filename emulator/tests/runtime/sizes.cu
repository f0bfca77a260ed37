// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sizes that do not fit where they are passed on are refused. Here NVIDIA's library of CUDA 13.0
// differs: it drops the upper bits, and launches, allocates or copies something else.

#include "check.hpp"

namespace {

__global__ void fill(int* values) {
    extern __shared__ int scratch[];
    scratch[threadIdx.x] = 1;
    *values = scratch[0];
}

constexpr std::size_t FOUR_GIB = std::size_t{1} << 32;
constexpr std::size_t HIGHEST_BIT = std::size_t{1} << 63;

void shared_memory_is_not_cut() {
    int* values = nullptr;
    OK(cudaMalloc(&values, sizeof(int)));
    void* arguments[] = {&values};
    const auto* const kernel = reinterpret_cast<const void*>(fill);
    for (const std::size_t bytes : {FOUR_GIB, FOUR_GIB + 64, HIGHEST_BIT, ~std::size_t{0}}) {
        RETURNS(cudaErrorInvalidValue,
                cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, bytes, nullptr));
        RETURNS(cudaErrorInvalidValue,
                cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(1), arguments, bytes, nullptr));
        cudaLaunchConfig_t config{};
        config.gridDim = config.blockDim = dim3(1);
        config.dynamicSmemBytes = bytes;
        RETURNS(cudaErrorInvalidValue, cudaLaunchKernelExC(&config, kernel, arguments));
        int clusters = 0;
        RETURNS(cudaErrorInvalidValue, cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
        int blocks = -1;
        OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, bytes));
        EXPECT(blocks == 0);
    }
    OK(cudaDeviceSynchronize());
    OK(cudaFree(values));
}

void slices_are_not_lost() {
    cudaPitchedPtr box{};
    for (const auto& extent :
         {make_cudaExtent(16, HIGHEST_BIT + 8, 2), make_cudaExtent(16, FOUR_GIB, FOUR_GIB)}) {
        RETURNS(cudaErrorMemoryAllocation, cudaMalloc3D(&box, extent));
        EXPECT(box.ptr == nullptr);
    }
    char* memory = nullptr;
    OK(cudaMalloc(&memory, 4096));
    OK(cudaMemset(memory, 1, 4096));
    RETURNS(cudaErrorInvalidValue, cudaMemset3D(make_cudaPitchedPtr(memory, 16, 16, FOUR_GIB), 0,
                                                make_cudaExtent(16, FOUR_GIB, FOUR_GIB)));
    RETURNS(cudaErrorInvalidValue,
            cudaMemset3D(make_cudaPitchedPtr(memory, 16, 16, HIGHEST_BIT / 2), 0,
                         make_cudaExtent(16, 2, 4)));
    char first = 0;
    OK(cudaMemcpy(&first, memory, 1, cudaMemcpyDeviceToHost));
    EXPECT(first == 1);
    OK(cudaFree(memory));
}

void texels_are_not_confused() {
    constexpr std::size_t far = (std::size_t{1} << 60) + 2; // times 16 bytes: texel 2
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    cudaArray_t array = nullptr;
    OK(cudaMallocArray(&array, &format, 8, 8));
    float4 texels[8] = {};
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(texels, sizeof texels, 8, 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(2, 1, 1);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    copy.dstPos.x = far;
    RETURNS(cudaErrorInvalidValue, cudaMemcpy3D(&copy));
    copy.dstPos.x = 0;
    copy.extent.width = far;
    RETURNS(cudaErrorInvalidValue, cudaMemcpy3D(&copy));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy3DAsync(&copy, nullptr));
    OK(cudaFreeArray(array));
}

} // namespace

int main() {
    shared_memory_is_not_cut();
    slices_are_not_lost();
    texels_are_not_confused();
    return EXIT_SUCCESS;
}
