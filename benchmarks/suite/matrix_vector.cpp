// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A matrix times a vector, a block for each row, loads of four numbers and a reduction.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void multiply(const float4* a, const float4* x, float* y, int n) {
    __shared__ float parts[4];
    float sum = 0;
    for (int i = threadIdx.x; i < n / 4; i += 128) {
        const float4 u = a[blockIdx.x * (n / 4) + i], v = x[i];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}
)";

void prepare(suite::Bench& bench) {
    const int rows = 8192;
    const int n = 4096;
    const auto a = bench.input<float>(rows * n, suite::random_float);
    const auto x = bench.input<float>(n, [](std::size_t i) { return suite::random_float(~i); });
    const auto y = bench.output<float>(rows);
    bench.device = [=, &bench] { bench.launch("multiply", {rows}, {128}, a, x, y, n); };
    bench.native = [=] {
#pragma omp parallel for
        for (int row = 0; row < rows; ++row) {
            float sum = 0;
            for (int i = 0; i < n; ++i) {
                sum += a.host[row * n + i] * x.host[i];
            }
            y.host[row] = sum;
        }
    };
}

const suite::Entry
    ENTRY({.name = "matrix_vector", .source = SOURCE, .tolerance = 1e-5, .prepare = prepare});

} // namespace
