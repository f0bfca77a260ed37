// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Layer normalisation of rows of vectors of four, a block for each row: shuffles, then shared
// memory.

#include "suite/suite.hpp"

#include <cmath>

namespace {

constexpr const char* SOURCE = R"(
__device__ float total(float v, float* parts) {
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < 8 ? parts[threadIdx.x] : 0;
    if (threadIdx.x < 32) {
        for (int o = 4; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
        if (threadIdx.x == 0) parts[8] = v;
    }
    __syncthreads();
    v = parts[8];
    __syncthreads();
    return v;
}
extern "C" __global__ void normalise(const float4* from, const float* scale, const float* shift,
                                     float4* to, int n) {
    __shared__ float parts[9];
    const int t = threadIdx.x;
    float4 v = from[blockIdx.x * (n / 4) + t];
    const float mean = total(v.x + v.y + v.z + v.w, parts) / n;
    v.x -= mean; v.y -= mean; v.z -= mean; v.w -= mean;
    const float variance = total(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, parts) / n;
    const float r = rsqrtf(variance + 1e-5f);
    const float4 s = ((const float4*)scale)[t], o = ((const float4*)shift)[t];
    to[blockIdx.x * (n / 4) + t] =
        make_float4(v.x * r * s.x + o.x, v.y * r * s.y + o.y, v.z * r * s.z + o.z, v.w * r * s.w + o.w);
}
)";

void native(const float* from, const float* scale, const float* shift, float* to, int rows, int n) {
#pragma omp parallel for
    for (int row = 0; row < rows; ++row) {
        const float* const in = from + row * n;
        float* const out = to + row * n;
        float sum = 0;
        for (int i = 0; i < n; ++i) {
            sum += in[i];
        }
        const float mean = sum / static_cast<float>(n);
        float squares = 0;
        for (int i = 0; i < n; ++i) {
            squares += (in[i] - mean) * (in[i] - mean);
        }
        const float r = 1 / std::sqrt(squares / static_cast<float>(n) + 1e-5F);
        for (int i = 0; i < n; ++i) {
            out[i] = (in[i] - mean) * r * scale[i] + shift[i];
        }
    }
}

void prepare(suite::Bench& bench) {
    const int rows = 8192;
    const int n = 1024;
    const auto from = bench.input<float>(rows * n, suite::random_float);
    const auto scale = bench.input<float>(n, suite::random_float);
    const auto shift = bench.input<float>(n, suite::random_float);
    const auto to = bench.output<float>(rows * n);
    bench.device = [=, &bench] {
        bench.launch("normalise", {rows}, {n / 4}, from, scale, shift, to, n);
    };
    bench.native = [=] { native(from.host, scale.host, shift.host, to.host, rows, n); };
}

const suite::Entry
    ENTRY({.name = "layer_norm", .source = SOURCE, .tolerance = 1e-4, .prepare = prepare});

} // namespace
