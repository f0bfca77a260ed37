// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// An Asian option by simulation: a generator for each thread, normal numbers after Box and
// Muller.

#include "suite/suite.hpp"

#include <cmath>

namespace {

constexpr const char* SOURCE = R"(
__device__ unsigned next(unsigned& s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
extern "C" __global__ void simulate(float* sums, int paths, int steps) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = t * 2654435761u + 12345u;
    float result = 0;
    for (int p = 0; p < paths; ++p) {
        float price = 100, mean = 0;
        for (int i = 0; i < steps; ++i) {
            const float u = ((next(s) >> 8) + 1) * 5.9604645e-8f, v = (next(s) >> 8) * 5.9604645e-8f;
            const float z = sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
            price *= expf(0.0001f + 0.02f * z);
            mean += price;
        }
        result += fmaxf(mean / steps - 100, 0.0f);
    }
    sums[t] = result / paths;
}
)";

inline std::uint32_t next(std::uint32_t& s) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}

void native(float* sums, int threads, int paths, int steps) {
    constexpr int LANES = 16;
#pragma omp parallel for
    for (int first = 0; first < threads; first += LANES) {
        std::uint32_t s[LANES];
        float result[LANES] = {};
        for (int l = 0; l < LANES; ++l) {
            s[l] = static_cast<std::uint32_t>(first + l) * 2654435761U + 12345U;
        }
        for (int p = 0; p < paths; ++p) {
            float price[LANES];
            float mean[LANES] = {};
            for (float& each : price) {
                each = 100;
            }
            for (int i = 0; i < steps; ++i) {
#pragma omp simd
                for (int l = 0; l < LANES; ++l) {
                    const float u = static_cast<float>((next(s[l]) >> 8) + 1) * 5.9604645e-8F;
                    const float v = static_cast<float>(next(s[l]) >> 8) * 5.9604645e-8F;
                    const float z = std::sqrt(-2 * std::log(u)) * std::cos(6.2831853F * v);
                    price[l] *= std::exp(0.0001F + 0.02F * z);
                    mean[l] += price[l];
                }
            }
            for (int l = 0; l < LANES; ++l) {
                const float gain = mean[l] / static_cast<float>(steps) - 100;
                result[l] += gain > 0 ? gain : 0;
            }
        }
        for (int l = 0; l < LANES; ++l) {
            sums[first + l] = result[l] / static_cast<float>(paths);
        }
    }
}

void prepare(suite::Bench& bench) {
    const int threads = 1 << 14;
    const auto sums = bench.output<float>(threads);
    bench.device = [=, &bench] { bench.launch("simulate", {threads / 128}, {128}, sums, 8, 32); };
    bench.native = [=] { native(sums.host, threads, 8, 32); };
}

const suite::Entry
    ENTRY({.name = "monte_carlo", .source = SOURCE, .tolerance = 1e-3, .prepare = prepare});

} // namespace
