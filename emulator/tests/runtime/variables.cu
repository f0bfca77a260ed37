// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// __device__, __constant__ and __managed__ variables, and printf.

#include "check.hpp"

namespace {

__device__ int counters[4] = {1, 2, 3, 4};
__constant__ float factors[2];
__managed__ int shared_with_host = 40;

__global__ void use_all(float* result) {
    counters[threadIdx.x] += 10;
    if (threadIdx.x == 0) {
        shared_with_host += 2;
        *result = factors[0] * factors[1];
        printf("printed by a kernel: %d %s %.1f\n", shared_with_host, "text", *result);
    }
}

} // namespace

int main() {
    EXPECT(shared_with_host == 40); // on the host, before any call
    shared_with_host = 50;
    const float values[2] = {2.0F, 4.0F};
    OK(cudaMemcpyToSymbol(factors, values, sizeof values));
    OK(cudaMemcpyToSymbol(factors, &values[1], sizeof(float), sizeof(float)));
    float* result = nullptr;
    OK(cudaMallocManaged(&result, sizeof(float)));
    use_all<<<1, 4>>>(result);
    OK(cudaDeviceSynchronize());
    EXPECT(*result == 8.0F && shared_with_host == 52);

    int read[4] = {};
    OK(cudaMemcpyFromSymbol(read, counters, sizeof read));
    EXPECT(read[0] == 11 && read[3] == 14);
    int last = 0;
    OK(cudaMemcpyFromSymbolAsync(&last, counters, sizeof last, 3 * sizeof(int),
                                 cudaMemcpyDeviceToHost, nullptr));
    OK(cudaStreamSynchronize(nullptr));
    EXPECT(last == 14);
    void* where = nullptr;
    std::size_t size = 0;
    OK(cudaGetSymbolAddress(&where, counters));
    OK(cudaGetSymbolSize(&size, counters));
    EXPECT(where != nullptr && size == sizeof read);
    OK(cudaMemcpy(read, where, sizeof read, cudaMemcpyDeviceToHost));
    EXPECT(read[1] == 12);

    RETURNS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(read, read, sizeof(int)));
    RETURNS(cudaErrorInvalidValue, cudaMemcpyToSymbol(factors, values, sizeof values, 4));
    OK(cudaFree(result));
    return EXIT_SUCCESS;
}
