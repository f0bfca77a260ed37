// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A step of the lattice Boltzmann method in two dimensions: nine streams, a branch at the walls.

#include "suite/suite.hpp"

#include <vector>

namespace {

constexpr const char* SOURCE = R"(
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1},
                 opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ float weight[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
extern "C" __global__ void step(const float* from, float* to, const unsigned char* wall, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, cells = w * h, i = y * w + x;
    float f[9];
    for (int k = 0; k < 9; ++k)
        f[k] = from[k * cells + (y - cy[k] + h) % h * w + (x - cx[k] + w) % w];
    if (wall[i]) {
        for (int k = 0; k < 9; ++k) to[k * cells + i] = f[opposite[k]];
        return;
    }
    float density = 0, u = 0, v = 0;
    for (int k = 0; k < 9; ++k) { density += f[k]; u += f[k] * cx[k]; v += f[k] * cy[k]; }
    u /= density;
    v /= density;
    const float square = 1.5f * (u * u + v * v);
    for (int k = 0; k < 9; ++k) {
        const float c = 3 * (cx[k] * u + cy[k] * v);
        to[k * cells + i] = f[k] + 0.6f * (weight[k] * density * (1 + c + 0.5f * c * c - square) - f[k]);
    }
}
)";

constexpr int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constexpr int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr int OPPOSITE[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
constexpr float WEIGHT[9] = {4.F / 9,  1.F / 9,  1.F / 9,  1.F / 9, 1.F / 9,
                             1.F / 36, 1.F / 36, 1.F / 36, 1.F / 36};

void native(const float* from, float* to, const std::uint8_t* wall, int w, int h) {
    const int cells = w * h;
#pragma omp parallel
    {
        std::vector<float> rows(static_cast<std::size_t>(9) * w);
        float* const f = rows.data();
#pragma omp for
        for (int y = 0; y < h; ++y) {
            for (int k = 0; k < 9; ++k) {
                const float* const row = from + k * cells + (y - CY[k] + h) % h * w;
                for (int x = 1; x < w - 1; ++x) {
                    f[k * w + x] = row[x - CX[k]];
                }
                f[k * w] = row[(w - CX[k]) % w];
                f[k * w + w - 1] = row[(w - 1 - CX[k]) % w];
            }
#pragma omp simd
            for (int x = 0; x < w; ++x) {
                float density = 0;
                float u = 0;
                float v = 0;
                for (int k = 0; k < 9; ++k) {
                    density += f[k * w + x];
                    u += f[k * w + x] * static_cast<float>(CX[k]);
                    v += f[k * w + x] * static_cast<float>(CY[k]);
                }
                u /= density;
                v /= density;
                const float square = 1.5F * (u * u + v * v);
                const bool is_wall = wall[y * w + x] != 0;
                for (int k = 0; k < 9; ++k) {
                    const float c =
                        3 * (static_cast<float>(CX[k]) * u + static_cast<float>(CY[k]) * v);
                    const float mine = f[k * w + x];
                    const float next =
                        mine +
                        0.6F * (WEIGHT[k] * density * (1 + c + 0.5F * c * c - square) - mine);
                    to[k * cells + y * w + x] = is_wall ? f[OPPOSITE[k] * w + x] : next;
                }
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned w = 512;
    const unsigned h = 256;
    const auto a = bench.output<float>(
        9 * w * h, [](std::size_t i) { return 0.1F + 0.01F * suite::random_float(i); });
    const auto b = bench.scratch<float>(9 * w * h);
    const auto wall = bench.input<std::uint8_t>(w * h, [=](std::size_t i) {
        const int x = static_cast<int>(i % w) - 128;
        const int y = static_cast<int>(i / w) - 128;
        return x * x + y * y < 900 ? 1 : 0;
    });
    bench.device = [=, &bench] {
        for (int step = 0; step < 3; ++step) {
            bench.launch("step", {w / 128, h}, {128}, a, b, wall, w, h);
            bench.launch("step", {w / 128, h}, {128}, b, a, wall, w, h);
        }
    };
    bench.native = [=] {
        for (int step = 0; step < 3; ++step) {
            native(a.host, b.host, wall.host, w, h);
            native(b.host, a.host, wall.host, w, h);
        }
    };
}

const suite::Entry
    ENTRY({.name = "fluid", .source = SOURCE, .tolerance = 1e-5, .prepare = prepare});

} // namespace
