// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A product of matrices in half precision with mma.sync: a tile of 16 x 32 for each warp,
// straight from memory.

#include "suite/suite.hpp"

#include <memory>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void product(const unsigned* a, const unsigned* b, float* c, int n) {
    // Rows of pairs of halves; b is stored by columns.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, pairs = n / 2;
    const int y = (blockIdx.y * 4 + warp) * 16 + lane / 4, x = blockIdx.x * 32 + lane / 4;
    float d[4][4] = {};
    for (int k = lane % 4; k < pairs; k += 8) {
        const unsigned a0 = a[y * pairs + k], a1 = a[(y + 8) * pairs + k], a2 = a[y * pairs + k + 4],
                       a3 = a[(y + 8) * pairs + k + 4];
        for (int j = 0; j < 4; ++j) {
            const unsigned b0 = b[(x + 8 * j) * pairs + k], b1 = b[(x + 8 * j) * pairs + k + 4];
            asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                "{%8, %9}, {%0, %1, %2, %3};"
                : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        }
    }
    for (int j = 0; j < 4; ++j) {
        float* const out = c + y * n + blockIdx.x * 32 + 8 * j + lane % 4 * 2;
        *(float2*)out = make_float2(d[j][0], d[j][1]);
        *(float2*)(out + 8 * n) = make_float2(d[j][2], d[j][3]);
    }
}
)";

void native(const _Float16* a, const _Float16* b, float* c, float* wide, int n) {
#pragma omp parallel
    {
#pragma omp for
        for (int k = 0; k < n; ++k) {
            for (int x = 0; x < n; ++x) {
                wide[k * n + x] = static_cast<float>(b[x * n + k]);
            }
        }
#pragma omp for
        for (int y = 0; y < n; ++y) {
            for (int k = 0; k < n; ++k) {
                const auto factor = static_cast<float>(a[y * n + k]);
                for (int x = 0; x < n; ++x) {
                    c[y * n + x] += factor * wide[k * n + x];
                }
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 512;
    const auto a = bench.input<_Float16>(n * n, suite::random_float);
    const auto b =
        bench.input<_Float16>(n * n, [](std::size_t i) { return suite::random_float(~i); });
    const auto c = bench.output<float>(n * n);
    bench.device = [=, &bench] { bench.launch("product", {n / 32, n / 64}, {128}, a, b, c, n); };
    bench.native = [=, wide = std::make_shared<std::vector<float>>(n * n)] {
        native(a.host, b.host, c.host, wide->data(), n);
    };
}

const suite::Entry ENTRY({.name = "product_mma",
                          .difference = "converts b to single precision first",
                          .source = SOURCE,
                          .tolerance = 1e-4,
                          .prepare = prepare});

} // namespace
