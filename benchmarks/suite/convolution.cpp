// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A filter of 7 x 7 on a picture, with weights in constant memory and a tile with a border in
// shared memory.

#include "suite/suite.hpp"

#include <algorithm>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
__constant__ float weights[49] = {
    1, 2, 3, 4, 3, 2, 1, 2, 4, 6, 8, 6, 4, 2, 3, 6, 9, 12, 9, 6, 3, 4, 8, 12, 16, 12, 8, 4,
    3, 6, 9, 12, 9, 6, 3, 2, 4, 6, 8, 6, 4, 2, 1, 2, 3, 4, 3, 2, 1};
extern "C" __global__ void filter(const float* from, float* to, int w, int h) {
    __shared__ float tile[22][22];
    const int x0 = blockIdx.x * 16 - 3, y0 = blockIdx.y * 16 - 3;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 22 * 22; i += 256) {
        const int x = min(max(x0 + i % 22, 0), w - 1), y = min(max(y0 + i / 22, 0), h - 1);
        tile[i / 22][i % 22] = from[y * w + x];
    }
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 7; ++j)
        for (int i = 0; i < 7; ++i) sum += weights[j * 7 + i] * tile[threadIdx.y + j][threadIdx.x + i];
    to[(y0 + 3 + threadIdx.y) * w + x0 + 3 + threadIdx.x] = sum / 256;
}
)";

constexpr int WEIGHTS[7] = {1, 2, 3, 4, 3, 2, 1};

void native(const float* from, float* to, int w, int h) {
#pragma omp parallel
    {
        std::vector<float> wide(7 * (static_cast<std::size_t>(w) + 6));
#pragma omp for
        for (int y = 0; y < h; ++y) {
            for (int j = 0; j < 7; ++j) {
                const float* const row = from + std::min(std::max(y + j - 3, 0), h - 1) * w;
                float* const copy = wide.data() + j * (w + 6);
                for (int x = 0; x < w + 6; ++x) {
                    copy[x] = row[std::min(std::max(x - 3, 0), w - 1)];
                }
            }
            for (int x = 0; x < w; ++x) {
                float sum = 0;
                for (int j = 0; j < 7; ++j) {
                    for (int i = 0; i < 7; ++i) {
                        sum +=
                            static_cast<float>(WEIGHTS[j] * WEIGHTS[i]) * wide[j * (w + 6) + x + i];
                    }
                }
                to[y * w + x] = sum / 256;
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned w = 1024;
    const unsigned h = 1024;
    const auto from = bench.input<float>(w * h, suite::random_float);
    const auto to = bench.output<float>(w * h);
    bench.device = [=, &bench] {
        bench.launch("filter", {w / 16, h / 16}, {16, 16}, from, to, w, h);
    };
    bench.native = [=] { native(from.host, to.host, w, h); };
}

const suite::Entry
    ENTRY({.name = "convolution", .source = SOURCE, .tolerance = 1e-5, .prepare = prepare});

} // namespace
