// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Plain kernels: memory spaces, vectors, switches, initialised tables, launch bounds.

__constant__ float coefficients[8] = {1.0f, 0.5f, 0.25f, 0.125f};
__device__ int counter = 7;
__device__ int* counter_pointer = &counter;
__device__ double table[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
__device__ const char text[] = "hello, device";
__device__ const char* texts[] = {text, text + 3, "third"};
struct Mixed { char tag; int* where; float value; };
__device__ Mixed mixed = {'x', &counter, 2.5f};
__device__ __managed__ int managed_value = 3;
extern __shared__ float dynamic_shared[];

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

extern "C" __global__ void __launch_bounds__(256, 2) tables(float* out, int which) {
    __shared__ float tile[32][33];
    tile[threadIdx.x & 31][threadIdx.x >> 5] = coefficients[which & 7];
    dynamic_shared[threadIdx.x] = table[which % 3][which & 3];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x >> 5][threadIdx.x & 7] + dynamic_shared[255 - threadIdx.x] +
                       *counter_pointer + texts[which % 3][0] + *mixed.where + managed_value;
}

extern "C" __global__ void choose(int* out, int which) {
    int value = out[threadIdx.x];
    switch (which) {
    case 0: value += 1; break;
    case 1: value *= 3; break;
    case 2: value ^= 0x55; break;
    case 3: value = value / 7; break;
    case 4: value = value % 11; break;
    case 5: value = __popc(value); break;
    case 6: value = __clz(value); break;
    case 7: value = -value; break;
    default: value = 0;
    }
    out[threadIdx.x] = value;
}

extern "C" __global__ void vectors(float4* out, const int2* in, double* wide, long long* big) {
    const int2 v = in[threadIdx.x];
    out[threadIdx.x] = make_float4(v.x, v.y, v.x + v.y, v.x * 1.5f);
    wide[threadIdx.x] = sqrt((double)v.x) / 3.0;
    big[threadIdx.x] = (long long)v.x * v.y >> (v.x & 63);
}

/// Returns the kinds of memory that an address belongs to, one bit for each.
__device__ __noinline__ int space_of(const void* p) {
    return __isGlobal(p) | __isShared(p) << 1 | __isLocal(p) << 2 | __isConstant(p) << 3;
}

extern "C" __global__ void spaces(int* out, int which) {
    __shared__ int shared_word;
    int local_words[4] = {which, which + 1, which + 2, which + 3};
    const void* const places[] = {out, &shared_word, &local_words[which & 3], coefficients, &counter};
    out[0] = space_of(places[which]);
    out[1] = local_words[(which + 1) & 3];
}
