// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fourier transforms of 1024 complex numbers in shared memory, one for each block: ten passes
// after Stockham.

#include "suite/suite.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void fft(const float2* from, float2* to) {
    __shared__ float2 memory[2][1024];
    float2 *a = memory[0], *b = memory[1];
    const int t = threadIdx.x;
    from += blockIdx.x * 1024;
    to += blockIdx.x * 1024;
    for (int i = t; i < 1024; i += 256) a[i] = from[i];
    __syncthreads();
    for (int half = 512, s = 1; half >= 1; half /= 2, s *= 2) {
        for (int i = t; i < 512; i += 256) {
            const int p = i / s, q = i % s;
            float sine, cosine;
            sincosf(-3.14159265358979f * p / half, &sine, &cosine);
            const float2 u = a[q + s * p], v = a[q + s * (p + half)];
            const float x = u.x - v.x, y = u.y - v.y;
            b[q + s * 2 * p] = make_float2(u.x + v.x, u.y + v.y);
            b[q + s * (2 * p + 1)] = make_float2(x * cosine - y * sine, x * sine + y * cosine);
        }
        __syncthreads();
        float2* const c = a; a = b; b = c;
    }
    for (int i = t; i < 1024; i += 256) to[i] = a[i];
}
)";

void native(const float* from, float* to, int count) {
    const double pi = std::numbers::pi;
#pragma omp parallel
    {
        std::vector<float> memory(4 * 1024);
        std::vector<float> factors(2 * 1024); // of half = 512, 256, ... one after the other
        for (int half = 512, at = 0; half >= 1; at += half, half /= 2) {
            for (int p = 0; p < half; ++p) {
                factors[2 * (at + p)] = static_cast<float>(std::cos(-pi * p / half));
                factors[2 * (at + p) + 1] = static_cast<float>(std::sin(-pi * p / half));
            }
        }
#pragma omp for
        for (int k = 0; k < count; ++k) {
            float* a = memory.data();
            float* b = a + 2 * 1024;
            std::copy(from + 2048L * k, from + 2048L * (k + 1), a);
            for (int half = 512, s = 1, at = 0; half >= 1; at += half, half /= 2, s *= 2) {
                for (int p = 0; p < half; ++p) {
                    const float cosine = factors[2 * (at + p)];
                    const float sine = factors[2 * (at + p) + 1];
                    const float* const u = a + 2 * s * p;
                    const float* const v = a + 2 * s * (p + half);
                    float* const sum = b + 2 * s * 2 * p;
                    float* const turned = b + 2 * s * (2 * p + 1);
#pragma omp simd
                    for (int q = 0; q < s; ++q) {
                        const float x = u[2 * q] - v[2 * q];
                        const float y = u[2 * q + 1] - v[2 * q + 1];
                        sum[2 * q] = u[2 * q] + v[2 * q];
                        sum[2 * q + 1] = u[2 * q + 1] + v[2 * q + 1];
                        turned[2 * q] = x * cosine - y * sine;
                        turned[2 * q + 1] = x * sine + y * cosine;
                    }
                }
                std::swap(a, b);
            }
            std::copy(a, a + 2048, to + 2048L * k);
        }
    }
}

void prepare(suite::Bench& bench) {
    const int count = 1024;
    const auto from = bench.input<float>(2048 * count, suite::random_float);
    const auto to = bench.output<float>(2048 * count);
    bench.device = [=, &bench] { bench.launch("fft", {count}, {256}, from, to); };
    bench.native = [=] { native(from.host, to.host, count); };
}

const suite::Entry ENTRY({.name = "fft",
                          .difference = "factors from a table instead of sincosf",
                          .source = SOURCE,
                          .tolerance = 1e-4,
                          .prepare = prepare});

} // namespace
