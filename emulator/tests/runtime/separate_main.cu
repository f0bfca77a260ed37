// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled with -rdc=true, together with separate_part.cu: the device code is linked when it is
// loaded.

#include "check.hpp"
#include "separate_part.hpp"

namespace {

__global__ void ask_other_file(int* result) {
    *result = twice(offset + 20);
}

} // namespace

int main() {
    int* result = nullptr;
    OK(cudaMallocManaged(&result, sizeof(int)));
    const int value = 1;
    OK(cudaMemcpyToSymbol(offset, &value, sizeof value));
    ask_other_file<<<1, 1>>>(result);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    EXPECT(*result == 42);
    run_in_other_file(result);
    OK(cudaDeviceSynchronize());
    EXPECT(*result == 43);
    OK(cudaFree(result));
    return EXIT_SUCCESS;
}
