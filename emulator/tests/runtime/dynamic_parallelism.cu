// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that launch kernels: sums by halves, in streams with events, and at the tail.

#include "check.hpp"

__global__ void sum(const int* values, int count, long long* total) {
    if (count <= 4) {
        long long own = 0;
        for (int i = 0; i < count; ++i) {
            own += values[i];
        }
        atomicAdd(reinterpret_cast<unsigned long long*>(total), own);
        return;
    }
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sum<<<1, 1>>>(values, count / 2, total);
    sum<<<1, 1, 0, stream>>>(values + count / 2, count - count / 2, total);
    cudaStreamDestroy(stream);
}

__global__ void twice(long long* total) {
    *total *= 2;
}

__global__ void add_one(long long* total) {
    *total += 1;
}

__global__ void twice_at_the_end(const int* values, int count, long long* total) {
    twice<<<1, 1, 0, cudaStreamTailLaunch>>>(total);
    sum<<<1, 1>>>(values, count, total);
}

__global__ void ordered_by_an_event(long long* total) {
    cudaStream_t streams[2];
    cudaEvent_t event;
    for (cudaStream_t& stream : streams) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    add_one<<<1, 1, 0, streams[0]>>>(total);
    cudaEventRecord(event, streams[0]);
    cudaStreamWaitEvent(streams[1], event, 0);
    twice<<<1, 1, 0, streams[1]>>>(total);
    cudaEventDestroy(event);
    cudaStreamDestroy(streams[0]);
    cudaStreamDestroy(streams[1]);
}

__global__ void fail_to_launch(long long* total) {
    twice<<<1, 4096>>>(total);
    total[1] = cudaGetLastError();
    total[2] = cudaGetLastError();
    int device = -1;
    cudaGetDevice(&device);
    total[3] = device;
}

__global__ void use_memory(long long* total) {
    long long* own = nullptr;
    total[1] = cudaMalloc(&own, sizeof *own);
    *own = 20;
    total[0] = *own + 1;
    cudaFree(own);
}

__global__ void copy_and_fill(long long* total) {
    cudaMemsetAsync(total, 1, sizeof *total, nullptr);
    add_one<<<1, 1>>>(total);
    cudaMemcpyAsync(total + 1, total, sizeof *total, cudaMemcpyDeviceToDevice, nullptr);
    cudaMemsetAsync(nullptr, 1, 8, nullptr);
    total[2] = cudaGetLastError();
}

int main() {
    constexpr int count = 1000;
    int* values = nullptr;
    long long* total = nullptr;
    OK(cudaMallocManaged(&values, count * sizeof *values));
    OK(cudaMallocManaged(&total, 4 * sizeof *total));
    for (int i = 0; i < count; ++i) {
        values[i] = i;
    }
    *total = 0;
    twice_at_the_end<<<1, 1>>>(values, count, total);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    EXPECT(*total == count * (count - 1));

    *total = 3;
    ordered_by_an_event<<<1, 1>>>(total);
    OK(cudaDeviceSynchronize());
    EXPECT(*total == 8);

    fail_to_launch<<<1, 1>>>(total);
    OK(cudaDeviceSynchronize());
    EXPECT(total[0] == 8 && total[1] == cudaErrorInvalidConfiguration);
    EXPECT(total[2] == cudaSuccess && total[3] == 0);

    use_memory<<<1, 1>>>(total);
    OK(cudaDeviceSynchronize());
    EXPECT(total[0] == 21 && total[1] == cudaSuccess);

    copy_and_fill<<<1, 1>>>(total);
    OK(cudaDeviceSynchronize());
    EXPECT(total[0] == 0x0101010101010102 && total[1] == total[0]);
    EXPECT(total[2] == cudaErrorInvalidValue);
    OK(cudaFree(values));
    OK(cudaFree(total));
    return EXIT_SUCCESS;
}
