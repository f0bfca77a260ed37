// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A product of matrices in double precision, with tiles of 16 x 16 in shared memory.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void product(const double* a, const double* b, double* c, int n) {
    __shared__ double s[16][16], t[16][16];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
)";

void native(const double* a, const double* b, double* c, int n) {
    constexpr int TILE = 64;
#pragma omp parallel for
    for (int first = 0; first < n; first += TILE) {
        for (int k0 = 0; k0 < n; k0 += TILE) {
            for (int y = first; y < first + TILE; ++y) {
                for (int k = k0; k < k0 + TILE; ++k) {
                    const double factor = a[y * n + k];
                    for (int x = 0; x < n; ++x) {
                        c[y * n + x] += factor * b[k * n + x];
                    }
                }
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 384;
    const auto a = bench.input<double>(n * n, suite::random_float);
    const auto b =
        bench.input<double>(n * n, [](std::size_t i) { return suite::random_float(~i); });
    const auto c = bench.output<double>(n * n);
    bench.device = [=, &bench] { bench.launch("product", {n / 16, n / 16}, {16, 16}, a, b, c, n); };
    bench.native = [=] { native(a.host, b.host, c.host, n); };
}

const suite::Entry
    ENTRY({.name = "product_f64", .source = SOURCE, .tolerance = 1e-12, .prepare = prepare});

} // namespace
