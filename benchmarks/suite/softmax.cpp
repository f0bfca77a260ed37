// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Softmax of rows, a warp for each row, with shuffles.

#include "suite/suite.hpp"

#include <algorithm>
#include <cmath>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void softmax(const float* from, float* to, int rows, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    from += row * n;
    to += row * n;
    float most = -1e30f;
    for (int i = lane; i < n; i += 32) most = fmaxf(most, from[i]);
    for (int o = 16; o > 0; o /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    float sum = 0;
    for (int i = lane; i < n; i += 32) sum += expf(from[i] - most);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    const float factor = 1 / sum;
    for (int i = lane; i < n; i += 32) to[i] = expf(from[i] - most) * factor;
}
)";

void native(const float* from, float* to, int rows, int n) {
#pragma omp parallel for
    for (int row = 0; row < rows; ++row) {
        const float* const in = from + row * n;
        float* const out = to + row * n;
        float most = in[0];
        for (int i = 0; i < n; ++i) {
            most = std::max(most, in[i]);
        }
        float sum = 0;
        for (int i = 0; i < n; ++i) {
            out[i] = std::exp(in[i] - most);
            sum += out[i];
        }
        for (int i = 0; i < n; ++i) {
            out[i] /= sum;
        }
    }
}

void prepare(suite::Bench& bench) {
    const int rows = 16384;
    const int n = 512;
    const auto from =
        bench.input<float>(rows * n, [](std::size_t i) { return 10 * suite::random_float(i); });
    const auto to = bench.output<float>(rows * n);
    bench.device = [=, &bench] { bench.launch("softmax", {rows / 4}, {128}, from, to, rows, n); };
    bench.native = [=] { native(from.host, to.host, rows, n); };
}

const suite::Entry ENTRY({.name = "softmax",
                          .difference = "one exp for each number instead of two",
                          .source = SOURCE,
                          .tolerance = 1e-5,
                          .prepare = prepare});

} // namespace
