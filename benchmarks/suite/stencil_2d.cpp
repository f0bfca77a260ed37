// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Steps of the heat equation on a plane: five points, with a test for the border.

#include "suite/suite.hpp"

#include <algorithm>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void heat(const float* from, float* to, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) { to[i] = from[i]; return; }
    to[i] = from[i] + 0.2f * (from[i - 1] + from[i + 1] + from[i - w] + from[i + w] - 4 * from[i]);
}
)";

void native(const float* from, float* to, int w, int h) {
#pragma omp parallel for
    for (int y = 0; y < h; ++y) {
        const float* const row = from + y * w;
        float* const out = to + y * w;
        if (y == 0 || y == h - 1) {
            std::copy(row, row + w, out);
            continue;
        }
        out[0] = row[0];
        for (int x = 1; x < w - 1; ++x) {
            out[x] =
                row[x] + 0.2F * (row[x - 1] + row[x + 1] + row[x - w] + row[x + w] - 4 * row[x]);
        }
        out[w - 1] = row[w - 1];
    }
}

void prepare(suite::Bench& bench) {
    const int w = 1000;
    const int h = 1000;
    const int steps = 20;
    const auto a = bench.output<float>(w * h, suite::random_float);
    const auto b = bench.output<float>(w * h);
    bench.device = [=, &bench] {
        for (int step = 0; step < steps; step += 2) {
            bench.launch("heat", {(w + 31) / 32, (h + 7) / 8}, {32, 8}, a, b, w, h);
            bench.launch("heat", {(w + 31) / 32, (h + 7) / 8}, {32, 8}, b, a, w, h);
        }
    };
    bench.native = [=] {
        for (int step = 0; step < steps; step += 2) {
            native(a.host, b.host, w, h);
            native(b.host, a.host, w, h);
        }
    };
}

const suite::Entry
    ENTRY({.name = "stencil_2d", .source = SOURCE, .tolerance = 1e-5, .prepare = prepare});

} // namespace
