// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A product of matrices of bytes: four products and sums in one instruction, with 4 x 4 results
// for each thread.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void product(const int* a, const int* b, int* c, int n) {
    // Both matrices lie by rows of four bytes a word; b is transposed.
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    const int words = n / 4;
    int sums[4][4] = {};
    for (int k = 0; k < words; ++k) {
        int u[4], v[4];
        for (int i = 0; i < 4; ++i) { u[i] = a[(y + i) * words + k]; v[i] = b[(x + i) * words + k]; }
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) sums[i][j] = __dp4a(u[i], v[j], sums[i][j]);
    }
    for (int i = 0; i < 4; ++i)
        *(int4*)(c + (y + i) * n + x) = make_int4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}
)";

void native(const std::int8_t* a, const std::int8_t* b, int* c, int n) {
#pragma omp parallel for
    for (int y = 0; y < n; ++y) {
        for (int x = 0; x < n; ++x) {
            int sum = 0;
            for (int k = 0; k < n; ++k) {
                sum += a[y * n + k] * b[x * n + k];
            }
            c[y * n + x] = sum;
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 512;
    const auto a = bench.input<std::uint8_t>(n * n, suite::random_bits);
    const auto b =
        bench.input<std::uint8_t>(n * n, [](std::size_t i) { return suite::random_bits(~i); });
    const auto c = bench.output<int>(n * n);
    bench.device = [=, &bench] { bench.launch("product", {n / 64, n / 32}, {16, 8}, a, b, c, n); };
    bench.native = [=] {
        native(reinterpret_cast<const std::int8_t*>(a.host),
               reinterpret_cast<const std::int8_t*>(b.host), c.host, n);
    };
}

const suite::Entry ENTRY({.name = "product_int8", .source = SOURCE, .prepare = prepare});

} // namespace
