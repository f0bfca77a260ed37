// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Several host threads that call the runtime at once, from the first call on.

#include "check.hpp"

#include <thread>
#include <vector>

namespace {

__device__ int total;

__global__ void add(int* own) {
    ++*own;
    atomicAdd(&total, 1);
}

void work(int launches) {
    cudaStream_t stream = nullptr;
    int* own = nullptr;
    int result = 0;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMallocAsync(&own, sizeof(int), stream));
    OK(cudaMemsetAsync(own, 0, sizeof(int), stream));
    for (int launch = 0; launch < launches; ++launch) {
        add<<<1, 1, 0, stream>>>(own);
    }
    OK(cudaMemcpyAsync(&result, own, sizeof result, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(own, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(result == launches);
    OK(cudaStreamDestroy(stream));
    OK(cudaGetLastError());
}

} // namespace

int main() {
    constexpr int thread_count = 8;
    constexpr int launches = 50;
    std::vector<std::thread> threads;
    for (int index = 0; index < thread_count; ++index) {
        threads.emplace_back(work, launches);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    int sum = 0;
    OK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    EXPECT(sum == thread_count * launches);
    return EXIT_SUCCESS;
}
