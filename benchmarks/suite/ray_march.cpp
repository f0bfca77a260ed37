// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Marches a ray for each pixel to a torus, a sphere and a plane, given by their distance, and
// shades what it meets.

#include "suite/suite.hpp"

#include <algorithm>
#include <cmath>

namespace {

constexpr const char* SOURCE = R"(
__device__ float scene(float x, float y, float z) {
    const float a = sqrtf(x * x + z * z) - 1.0f;
    const float torus = sqrtf(a * a + y * y) - 0.3f;
    const float sphere = sqrtf((x - 0.5f) * (x - 0.5f) + (y - 0.8f) * (y - 0.8f) + z * z) - 0.4f;
    return fminf(fminf(torus, sphere), y + 0.6f);
}
extern "C" __global__ void march(float* out, int w, int h) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    const float u = (2.0f * px - w) / h, v = (h - 2.0f * py) / h;
    const float length = rsqrtf(u * u + v * v + 2.25f);
    const float dx = u * length, dy = v * length, dz = 1.5f * length;
    float t = 0, shade = 0;
    for (int i = 0; i < 64; ++i) {
        const float x = dx * t, y = 0.5f + dy * t, z = -3 + dz * t;
        const float d = scene(x, y, z);
        if (d < 0.001f) {
            const float e = 0.01f;
            const float nx = scene(x + e, y, z) - scene(x - e, y, z), ny = scene(x, y + e, z) - scene(x, y - e, z),
                        nz = scene(x, y, z + e) - scene(x, y, z - e);
            shade = fmaxf(0.1f, (0.6f * nx + 0.7f * ny - 0.4f * nz) * rsqrtf(nx * nx + ny * ny + nz * nz));
            break;
        }
        t += d;
        if (t > 10) break;
    }
    out[py * w + px] = shade;
}
)";

inline float scene(float x, float y, float z) {
    const float a = std::sqrt(x * x + z * z) - 1.0F;
    const float torus = std::sqrt(a * a + y * y) - 0.3F;
    const float sphere =
        std::sqrt((x - 0.5F) * (x - 0.5F) + (y - 0.8F) * (y - 0.8F) + z * z) - 0.4F;
    return std::min(std::min(torus, sphere), y + 0.6F);
}

/// Marches sixteen pixels at a time, as long as one of them has not arrived.
void native(float* out, int w, int h) {
    constexpr int LANES = 16;
#pragma omp parallel for schedule(dynamic, 4)
    for (int py = 0; py < h; ++py) {
        for (int first = 0; first < w; first += LANES) {
            float t[LANES] = {};
            int state[LANES] = {}; // 1: arrived, 2: gone
            float dx[LANES];
            float dy[LANES];
            float dz[LANES];
            for (int l = 0; l < LANES; ++l) {
                const float u = (2.0F * static_cast<float>(first + l) - static_cast<float>(w)) /
                                static_cast<float>(h);
                const float v =
                    (static_cast<float>(h) - 2.0F * static_cast<float>(py)) / static_cast<float>(h);
                const float length = 1 / std::sqrt(u * u + v * v + 2.25F);
                dx[l] = u * length;
                dy[l] = v * length;
                dz[l] = 1.5F * length;
            }
            for (int i = 0; i < 64; ++i) {
                int going = 0;
#pragma omp simd reduction(+ : going)
                for (int l = 0; l < LANES; ++l) {
                    const float d = scene(dx[l] * t[l], 0.5F + dy[l] * t[l], -3 + dz[l] * t[l]);
                    const float next = t[l] + d;
                    const int after = d < 0.001F ? 1 : next > 10 ? 2 : 0;
                    t[l] = state[l] != 0 || after == 1 ? t[l] : next;
                    state[l] = state[l] != 0 ? state[l] : after;
                    going += state[l] == 0 ? 1 : 0;
                }
                if (going == 0) {
                    break;
                }
            }
#pragma omp simd
            for (int l = 0; l < LANES; ++l) {
                const float x = dx[l] * t[l];
                const float y = 0.5F + dy[l] * t[l];
                const float z = -3 + dz[l] * t[l];
                const float e = 0.01F;
                const float nx = scene(x + e, y, z) - scene(x - e, y, z);
                const float ny = scene(x, y + e, z) - scene(x, y - e, z);
                const float nz = scene(x, y, z + e) - scene(x, y, z - e);
                const float shade = std::max(0.1F, (0.6F * nx + 0.7F * ny - 0.4F * nz) /
                                                       std::sqrt(nx * nx + ny * ny + nz * nz));
                out[py * w + first + l] = state[l] == 1 ? shade : 0;
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned w = 640;
    const unsigned h = 480;
    const auto out = bench.output<float>(w * h);
    bench.device = [=, &bench] { bench.launch("march", {w / 16, h / 16}, {16, 16}, out, w, h); };
    bench.native = [=] { native(out.host, w, h); };
}

// A ray that grazes may end one step later, so that a pixel differs much.
const suite::Entry ENTRY({.name = "ray_march",
                          .source = SOURCE,
                          .tolerance = 1e-2,
                          .outliers = 1e-3,
                          .prepare = prepare});

} // namespace
