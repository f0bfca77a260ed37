// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A kernel that calls a function of the device runtime that the emulated device refuses by name.

#include "check.hpp"

__global__ void ask(int* value) {
    size_t bytes = 0;
    cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize);
    *value = bytes > 0;
}

int main() {
    int* value = nullptr;
    OK(cudaMallocManaged(&value, sizeof(int)));
    ask<<<1, 1>>>(value);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    EXPECT(*value == 1);
    return EXIT_SUCCESS;
}
