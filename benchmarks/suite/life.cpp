// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Steps of the game of life on bytes, on a torus.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void step(const unsigned char* from, unsigned char* to, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int left = (x + w - 1) % w, right = (x + 1) % w;
    const unsigned char *up = from + (y + h - 1) % h * w, *row = from + y * w, *down = from + (y + 1) % h * w;
    const int n = up[left] + up[x] + up[right] + row[left] + row[right] + down[left] + down[x] + down[right];
    to[y * w + x] = n == 3 || (n == 2 && row[x]);
}
)";

void native(const std::uint8_t* from, std::uint8_t* to, int w, int h) {
#pragma omp parallel for
    for (int y = 0; y < h; ++y) {
        const std::uint8_t* const up = from + (y + h - 1) % h * w;
        const std::uint8_t* const row = from + y * w;
        const std::uint8_t* const down = from + (y + 1) % h * w;
        std::uint8_t* const out = to + y * w;
        const auto cell = [=](int left, int x, int right) {
            const auto n =
                static_cast<std::uint8_t>(up[left] + up[x] + up[right] + row[left] + row[right] +
                                          down[left] + down[x] + down[right]);
            return static_cast<std::uint8_t>((n | row[x]) == 3 ? 1 : 0);
        };
        out[0] = cell(w - 1, 0, 1);
#pragma omp simd
        for (int x = 1; x < w - 1; ++x) {
            out[x] = cell(x - 1, x, x + 1);
        }
        out[w - 1] = cell(w - 2, w - 1, 0);
    }
}

void prepare(suite::Bench& bench) {
    const unsigned size = 1024;
    const auto a = bench.output<std::uint8_t>(
        size * size, [](std::size_t i) { return suite::random_bits(i) % 3 == 0 ? 1 : 0; });
    const auto b = bench.scratch<std::uint8_t>(size * size);
    bench.device = [=, &bench] {
        for (int step = 0; step < 20; ++step) {
            bench.launch("step", {size / 32, size / 8}, {32, 8}, step % 2 == 0 ? a : b,
                         step % 2 == 0 ? b : a, size, size);
        }
    };
    bench.native = [=] {
        for (int step = 0; step < 20; ++step) {
            native((step % 2 == 0 ? a : b).host, (step % 2 == 0 ? b : a).host, size, size);
        }
    };
}

const suite::Entry ENTRY({.name = "life", .source = SOURCE, .prepare = prepare});

} // namespace
