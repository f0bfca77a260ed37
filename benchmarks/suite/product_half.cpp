// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A product of matrices in half precision, two numbers at a time, with tiles in shared memory.

#include "suite/suite.hpp"

#include <algorithm>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
#include <cuda_fp16.h>
extern "C" __global__ void product(const __half2* a, const __half2* b, __half2* c, int n) {
    __shared__ __half s[16][16];
    __shared__ __half2 t[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, pairs = n / 2;
    const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    __half2 sum = __floats2half2_rn(0, 0);
    for (int k = 0; k < n; k += 16) {
        if (tx < 8) *(__half2*)&s[ty][2 * tx] = a[y * pairs + k / 2 + tx];
        t[ty][tx] = b[(k + ty) * pairs + x];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum = __hfma2(__half2half2(s[ty][i]), t[i][tx], sum);
        __syncthreads();
    }
    c[y * pairs + x] = sum;
}
)";

void native(const _Float16* a, const _Float16* b, _Float16* c, int n) {
#pragma omp parallel
    {
        std::vector<float> sums(static_cast<std::size_t>(n));
#pragma omp for
        for (int y = 0; y < n; ++y) {
            std::fill(sums.begin(), sums.end(), 0.0F);
            for (int k = 0; k < n; ++k) {
                const auto factor = static_cast<float>(a[y * n + k]);
                for (int x = 0; x < n; ++x) {
                    sums[static_cast<std::size_t>(x)] += factor * static_cast<float>(b[k * n + x]);
                }
            }
            for (int x = 0; x < n; ++x) {
                c[y * n + x] = static_cast<_Float16>(sums[static_cast<std::size_t>(x)]);
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 256;
    const auto a = bench.input<_Float16>(n * n, suite::random_float);
    const auto b =
        bench.input<_Float16>(n * n, [](std::size_t i) { return suite::random_float(~i); });
    const auto c = bench.output<_Float16>(n * n);
    bench.device = [=, &bench] { bench.launch("product", {n / 32, n / 16}, {16, 16}, a, b, c, n); };
    bench.native = [=] { native(a.host, b.host, c.host, n); };
}

const suite::Entry ENTRY({.name = "product_half",
                          .difference = "sums in single precision",
                          .source = SOURCE,
                          .tolerance = 0.05,
                          .prepare = prepare});

} // namespace
