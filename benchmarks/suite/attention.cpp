// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Attention of one head of 64 numbers: a warp for each query, with a running maximum.

#include "suite/suite.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void attend(const float* q, const float* k, const float* v, float* out, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float a = q[row * 64 + lane] * 0.125f, b = q[row * 64 + 32 + lane] * 0.125f;
    float most = -1e30f, sum = 0, x = 0, y = 0;
    for (int j = 0; j < n; ++j) {
        float s = a * k[j * 64 + lane] + b * k[j * 64 + 32 + lane];
        for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
        const float next = fmaxf(most, s);
        const float keep = __expf(most - next), weight = __expf(s - next);
        most = next;
        sum = sum * keep + weight;
        x = x * keep + weight * v[j * 64 + lane];
        y = y * keep + weight * v[j * 64 + 32 + lane];
    }
    out[row * 64 + lane] = x / sum;
    out[row * 64 + 32 + lane] = y / sum;
}
)";

void native(const float* q, const float* k, const float* v, float* out, int n) {
#pragma omp parallel
    {
        std::vector<float> scores(static_cast<std::size_t>(n));
#pragma omp for
        for (int row = 0; row < n; ++row) {
            float most = -1e30f;
            for (int j = 0; j < n; ++j) {
                float s = 0;
                for (int i = 0; i < 64; ++i) {
                    s += q[row * 64 + i] * k[j * 64 + i];
                }
                scores[j] = s * 0.125F;
                most = std::max(most, scores[j]);
            }
            float sum = 0;
            for (int j = 0; j < n; ++j) {
                scores[j] = std::exp(scores[j] - most);
                sum += scores[j];
            }
            float result[64] = {};
            for (int j = 0; j < n; ++j) {
                for (int i = 0; i < 64; ++i) {
                    result[i] += scores[j] * v[j * 64 + i];
                }
            }
            for (int i = 0; i < 64; ++i) {
                out[row * 64 + i] = result[i] / sum;
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const int n = 1024;
    const auto part = [](std::size_t salt) {
        return [=](std::size_t i) { return 2 * suite::random_float(3 * i + salt) - 1; };
    };
    const auto q = bench.input<float>(64 * n, part(0));
    const auto k = bench.input<float>(64 * n, part(1));
    const auto v = bench.input<float>(64 * n, part(2));
    const auto out = bench.output<float>(64 * n);
    bench.device = [=, &bench] { bench.launch("attend", {n / 4}, {128}, q, k, v, out, n); };
    bench.native = [=] { native(q.host, k.host, v.host, out.host, n); };
}

const suite::Entry ENTRY({.name = "attention",
                          .difference = "two passes instead of a running maximum",
                          .source = SOURCE,
                          .tolerance = 1e-4,
                          .prepare = prepare});

} // namespace
