// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A Laplace operator of seven points in double precision. Threads walk along the third axis and
// keep values in registers.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void laplace(const double* from, double* to, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= n - 1 || y >= n - 1) return;
    const int slice = n * n;
    int i = slice + y * n + x;
    double below = from[i - slice], here = from[i];
    for (int z = 1; z < n - 1; ++z, i += slice) {
        const double above = from[i + slice];
        to[i] = 0.4 * here + 0.1 * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] + below + above);
        below = here;
        here = above;
    }
}
)";

void native(const double* from, double* to, int n) {
    const int slice = n * n;
#pragma omp parallel for collapse(2)
    for (int z = 1; z < n - 1; ++z) {
        for (int y = 1; y < n - 1; ++y) {
            const double* const row = from + z * slice + y * n;
            double* const out = to + z * slice + y * n;
            for (int x = 1; x < n - 1; ++x) {
                out[x] = 0.4 * row[x] + 0.1 * (row[x - 1] + row[x + 1] + row[x - n] + row[x + n] +
                                               row[x - slice] + row[x + slice]);
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 130;
    const auto a = bench.output<double>(n * n * n, suite::random_float);
    const auto b = bench.output<double>(n * n * n);
    bench.device = [=, &bench] {
        for (int step = 0; step < 3; ++step) {
            bench.launch("laplace", {4, 32}, {32, 4}, a, b, n);
            bench.launch("laplace", {4, 32}, {32, 4}, b, a, n);
        }
    };
    bench.native = [=] {
        for (int step = 0; step < 3; ++step) {
            native(a.host, b.host, n);
            native(b.host, a.host, n);
        }
    };
}

const suite::Entry
    ENTRY({.name = "stencil_3d", .source = SOURCE, .tolerance = 1e-12, .prepare = prepare});

} // namespace
