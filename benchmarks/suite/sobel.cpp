// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Edges in a grey picture of bytes, with the larger of two sums of differences.

#include "suite/suite.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void edges(const unsigned char* from, unsigned char* to, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const unsigned char *a = from + (y - 1) * w + x, *b = a + w, *c = b + w;
    const int dx = a[1] + 2 * b[1] + c[1] - a[-1] - 2 * b[-1] - c[-1];
    const int dy = c[-1] + 2 * c[0] + c[1] - a[-1] - 2 * a[0] - a[1];
    to[y * w + x] = min(max(abs(dx), abs(dy)), 255);
}
)";

void native(const std::uint8_t* from, std::uint8_t* to, int w, int h) {
#pragma omp parallel for
    for (int y = 1; y < h - 1; ++y) {
        const std::uint8_t* const a = from + (y - 1) * w;
        const std::uint8_t* const b = a + w;
        const std::uint8_t* const c = b + w;
        for (int x = 1; x < w - 1; ++x) {
            const int dx = a[x + 1] + 2 * b[x + 1] + c[x + 1] - a[x - 1] - 2 * b[x - 1] - c[x - 1];
            const int dy = c[x - 1] + 2 * c[x] + c[x + 1] - a[x - 1] - 2 * a[x] - a[x + 1];
            to[y * w + x] =
                static_cast<std::uint8_t>(std::min(std::max(std::abs(dx), std::abs(dy)), 255));
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned w = 7681;
    const unsigned h = 4320;
    const auto from = bench.input<std::uint8_t>(w * h, suite::random_bits);
    const auto to = bench.output<std::uint8_t>(w * h);
    bench.device = [=, &bench] {
        bench.launch("edges", {(w + 31) / 32, (h + 7) / 8}, {32, 8}, from, to, w, h);
    };
    bench.native = [=] { native(from.host, to.host, w, h); };
}

const suite::Entry ENTRY({.name = "sobel", .source = SOURCE, .prepare = prepare});

} // namespace
