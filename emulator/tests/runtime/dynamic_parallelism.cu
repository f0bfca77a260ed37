// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A kernel that launches a kernel, which the emulated device refuses by name.

#include "check.hpp"

__global__ void child(int* value) {
    *value = 1;
}

__global__ void parent(int* value) {
    child<<<1, 1>>>(value);
}

int main() {
    int* value = nullptr;
    OK(cudaMallocManaged(&value, sizeof(int)));
    parent<<<1, 1>>>(value);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    EXPECT(*value == 1);
    return EXIT_SUCCESS;
}
