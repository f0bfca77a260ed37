// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Assigns points to the nearest of 16 centres and adds them up for the next step of k-means.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void assign(const float* points, const float* centres, int* nearest, unsigned* counts, int n) {
    __shared__ float c[16 * 8];
    if (threadIdx.x < 128) c[threadIdx.x] = centres[threadIdx.x];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p[8];
    for (int k = 0; k < 8; ++k) p[k] = points[k * n + i];
    float least = 1e30f;
    int best = 0;
    for (int j = 0; j < 16; ++j) {
        float d = 0;
        for (int k = 0; k < 8; ++k) d += (p[k] - c[j * 8 + k]) * (p[k] - c[j * 8 + k]);
        if (d < least) { least = d; best = j; }
    }
    nearest[i] = best;
    atomicAdd(&counts[best], 1u);
}
)";

void native(const float* points, const float* centres, int* nearest, std::uint32_t* counts, int n) {
#pragma omp parallel
    {
        std::uint32_t mine[16] = {};
#pragma omp for nowait
        for (int first = 0; first < n; first += 64) {
            float least[64];
            for (int l = 0; l < 64; ++l) {
                least[l] = 1e30F;
                nearest[first + l] = 0;
            }
            for (int j = 0; j < 16; ++j) {
                for (int l = 0; l < 64; ++l) {
                    float d = 0;
                    for (int k = 0; k < 8; ++k) {
                        const float x = points[k * n + first + l] - centres[j * 8 + k];
                        d += x * x;
                    }
                    nearest[first + l] = d < least[l] ? j : nearest[first + l];
                    least[l] = d < least[l] ? d : least[l];
                }
            }
            for (int l = 0; l < 64; ++l) {
                ++mine[nearest[first + l]];
            }
        }
#pragma omp critical
        for (int j = 0; j < 16; ++j) {
            counts[j] += mine[j];
        }
    }
}

void prepare(suite::Bench& bench) {
    const int n = 1 << 21;
    const auto points = bench.input<float>(8 * n, suite::random_float);
    const auto centres =
        bench.input<float>(16 * 8, [](std::size_t i) { return suite::random_float(i + 12345678); });
    const auto nearest = bench.output<int>(n);
    const auto counts = bench.output<std::uint32_t>(16);
    bench.device = [=, &bench] {
        bench.launch("assign", {n / 256}, {256}, points, centres, nearest, counts, n);
    };
    bench.native = [=] { native(points.host, centres.host, nearest.host, counts.host, n); };
}

// Of two centres that are equally far, rounding decides.
const suite::Entry ENTRY({.name = "clusters",
                          .source = SOURCE,
                          .tolerance = 1e-3,
                          .outliers = 1e-3,
                          .prepare = prepare});

} // namespace
