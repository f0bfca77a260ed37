// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Transposes a matrix through padded tiles of 32 x 32 in shared memory.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void transpose(const float* from, float* to, int w, int h) {
    __shared__ float tile[32][33];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * w + x];
    __syncthreads();
    const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) to[(v + j) * h + u] = tile[threadIdx.x][threadIdx.y + j];
}
)";

void native(const float* from, float* to, int w, int h) {
    constexpr int TILE = 32;
#pragma omp parallel for collapse(2)
    for (int y0 = 0; y0 < h; y0 += TILE) {
        for (int x0 = 0; x0 < w; x0 += TILE) {
            for (int x = x0; x < x0 + TILE; ++x) {
                for (int y = y0; y < y0 + TILE; ++y) {
                    to[x * h + y] = from[y * w + x];
                }
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned w = 4096;
    const unsigned h = 3072;
    const auto from = bench.input<float>(w * h, suite::random_float);
    const auto to = bench.output<float>(w * h);
    bench.device = [=, &bench] {
        bench.launch("transpose", {w / 32, h / 32}, {32, 8}, from, to, w, h);
    };
    bench.native = [=] { native(from.host, to.host, w, h); };
}

const suite::Entry ENTRY({.name = "transpose", .source = SOURCE, .prepare = prepare});

} // namespace
