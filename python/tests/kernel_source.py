# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The kernels that most tests use."""

SOURCE = r"""
template <typename T> __global__ void scale(T* data, T factor, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= factor;
}
struct Pair { int first; double second; };
extern "C" {
__global__ void empty() {}
__global__ void add_one(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void saxpy(float a, const float* x, float* y, unsigned long long count) {
    const unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < count) y[i] = a * x[i] + y[i];
}
__global__ void keep_char(long long* out, signed char value) { *out = value; }
__global__ void keep_short(long long* out, short value) { *out = value; }
__global__ void keep_int(long long* out, int value) { *out = value; }
__global__ void keep_unsigned(long long* out, unsigned value) { *out = value; }
__global__ void keep_long(long long* out, long long value) { *out = value; }
__global__ void keep_bool(long long* out, bool value) { *out = value; }
__global__ void keep_float(double* out, float value) { *out = value; }
__global__ void keep_double(double* out, double value) { *out = value; }
__global__ void keep_complex(double* out, float2 value) { out[0] = value.x; out[1] = value.y; }
struct alignas(64) Map { int words[32]; };
__global__ void keep_map(long long* out, Map value) { *out = value.words[31]; }
__global__ void keep_pair(double* out, Pair value) { out[0] = value.first; out[1] = value.second; }
__global__ void sixteen(long long* out, int a, int b, int c, int d, int e, int f, int g, int h,
                        int i, int j, int k, int l, int m, int n, int o) {
    *out = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o;
}
}
"""
