// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels launched with <<<>>> and by function, their attributes, occupancy.

#include "check.hpp"

#include <cooperative_groups.h>

#include <string>
#include <vector>

namespace {

constexpr int COUNT = 1000;
constexpr int BLOCK = 128;
constexpr int BLOCKS = 8;

__global__ void saxpy(int count, float factor, const float* x, float* y) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) {
        y[index] = factor * x[index] + y[index];
    }
}

template <typename Value>
__global__ void reverse_in_block(Value* values) {
    extern __shared__ unsigned char bytes[];
    auto* shared = reinterpret_cast<Value*>(bytes);
    shared[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void sum_over_grid(int* partial, int* total) {
    const auto grid = cooperative_groups::this_grid();
    partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    grid.sync();
    if (grid.thread_rank() == 0) {
        for (unsigned int block = 0; block < gridDim.x; ++block) {
            *total += partial[block];
        }
    }
}

__global__ void rank_in_cluster(int* ranks) {
    const auto cluster = cooperative_groups::this_cluster();
    ranks[blockIdx.x] = static_cast<int>(cluster.block_rank());
}

void the_arrows_launch() {
    std::vector<float> x(COUNT, 1.0F);
    std::vector<float> y(COUNT, 2.0F);
    float* on_device[2] = {};
    for (int each = 0; each < 2; ++each) {
        OK(cudaMalloc(&on_device[each], COUNT * sizeof(float)));
        OK(cudaMemcpy(on_device[each], each == 0 ? x.data() : y.data(), COUNT * sizeof(float),
                      cudaMemcpyHostToDevice));
    }
    saxpy<<<BLOCKS, BLOCK>>>(COUNT, 3.0F, on_device[0], on_device[1]);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(y.data(), on_device[1], COUNT * sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT(y.front() == 5.0F && y.back() == 5.0F);
    OK(cudaFree(on_device[0]));
    OK(cudaFree(on_device[1]));
}

void shared_memory_and_a_stream_are_given() {
    constexpr int large_bytes = 64 * 1024;
    cudaStream_t stream = nullptr;
    double* values = nullptr;
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocManaged(&values, BLOCK * sizeof(double)));
    for (int index = 0; index < BLOCK; ++index) {
        values[index] = index;
    }
    reverse_in_block<<<1, BLOCK, BLOCK * sizeof(double), stream>>>(values);
    OK(cudaStreamSynchronize(stream));
    EXPECT(values[0] == BLOCK - 1 && values[BLOCK - 1] == 0);
    OK(cudaFuncSetAttribute(reverse_in_block<double>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            large_bytes));
    reverse_in_block<<<1, BLOCK, large_bytes, stream>>>(values);
    OK(cudaStreamSynchronize(stream));
    EXPECT(values[0] == 0 && values[BLOCK - 1] == BLOCK - 1);
    cudaFuncAttributes attributes{};
    OK(cudaFuncGetAttributes(&attributes, reverse_in_block<double>));
    EXPECT(attributes.maxThreadsPerBlock >= BLOCK && attributes.numRegs > 0);
    EXPECT(attributes.maxDynamicSharedSizeBytes == large_bytes);
    OK(cudaFree(values));
    OK(cudaStreamDestroy(stream));
}

void a_grid_meets() {
    int* numbers = nullptr;
    OK(cudaMallocManaged(&numbers, (BLOCKS + 1) * sizeof(int)));
    numbers[BLOCKS] = 0;
    int* total = numbers + BLOCKS;
    void* arguments[] = {&numbers, &total};
    OK(cudaLaunchCooperativeKernel(sum_over_grid, dim3(2), dim3(32), arguments, 0, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(*total == 3);
    OK(cudaFree(numbers));
}

void attributes_go_with_a_launch() {
    int* ranks = nullptr;
    OK(cudaMallocManaged(&ranks, 4 * sizeof(int)));
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, rank_in_cluster, ranks));
    OK(cudaDeviceSynchronize());
    EXPECT(ranks[0] == 0 && ranks[1] == 1 && ranks[2] == 0 && ranks[3] == 1);
    OK(cudaFree(ranks));
}

void occupancy_is_told() {
    int blocks = 0;
    int least_grid = 0;
    int best_block = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, BLOCK, 0));
    EXPECT(blocks > 0);
    OK(cudaOccupancyMaxPotentialBlockSize(&least_grid, &best_block, saxpy, 0, 0));
    EXPECT(least_grid > 0 && best_block >= 32 && best_block <= 1024);
}

void kernels_have_handles() {
    cudaKernel_t kernel = nullptr;
    cudaFunction_t function = nullptr;
    const char* name = nullptr;
    OK(cudaGetKernel(&kernel, saxpy));
    OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(saxpy)));
    EXPECT(kernel != nullptr && function != nullptr);
    OK(cudaFuncGetName(&name, reinterpret_cast<const void*>(saxpy)));
    EXPECT(std::string(name).find("saxpy") != std::string::npos);
}

} // namespace

int main() {
    the_arrows_launch();
    shared_memory_and_a_stream_are_given();
    a_grid_meets();
    attributes_go_with_a_launch();
    occupancy_is_told();
    kernels_have_handles();
    return EXIT_SUCCESS;
}
