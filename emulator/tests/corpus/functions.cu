// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Real calls with results that the host can check, and barriers inside called functions.

#include "functions.hpp"

#include <cooperative_groups.h>

extern "C" __global__ void sort_slices(int* data, int length) {
    functions::sort(data + (blockIdx.x * blockDim.x + threadIdx.x) * length, 0, length - 1);
}

extern "C" __global__ void parities(int* out) {
    out[threadIdx.x] = functions::parity(threadIdx.x % 37);
}

extern "C" __global__ void objects(double* out) {
    out[threadIdx.x] = functions::use_objects(threadIdx.x);
}

extern "C" __global__ void mixes(unsigned* out, unsigned rounds) {
    out[threadIdx.x] = functions::mix(threadIdx.x, rounds);
}

/// Adds up the values of the warp, with one call and one barrier for each level.
__device__ __noinline__ int add_over_warp(int value, int distance, int* count) {
    if (distance == 0) {
        __syncthreads();
        return value;
    }
    value += __shfl_xor_sync(0xffffffff, value, distance);
    atomicAdd(count, 1);
    __syncthreads();
    return add_over_warp(value, distance / 2, count);
}

extern "C" __global__ void warp_sums(int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0;
    }
    __syncthreads();
    const int sum = add_over_warp(threadIdx.x, 16, &count);
    __syncthreads();
    out[threadIdx.x] = sum * 1000 + count;
}

extern "C" __global__ void count_over_grid(int* sum, int* out) {
    atomicAdd(sum, 1);
    cooperative_groups::this_grid().sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = *static_cast<volatile int*>(sum);
    cooperative_groups::this_grid().sync();
}
