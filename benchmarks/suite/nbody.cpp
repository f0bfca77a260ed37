// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Gravity between all pairs of bodies, with tiles of bodies in shared memory.

#include "suite/suite.hpp"

#include <cmath>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void nbody(const float4* bodies, float4* forces, int n) {
    __shared__ float4 tile[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float4 me = bodies[i];
    float x = 0, y = 0, z = 0;
    for (int first = 0; first < n; first += 256) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; ++j) {
            const float4 other = tile[j];
            const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float s = other.w * r * r * r;
            x += dx * s; y += dy * s; z += dz * s;
        }
        __syncthreads();
    }
    forces[i] = make_float4(x, y, z, 0);
}
)";

void native(const float* bodies, float* forces, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        float x = 0;
        float y = 0;
        float z = 0;
        for (int j = 0; j < n; ++j) {
            const float dx = bodies[4 * j] - bodies[4 * i];
            const float dy = bodies[4 * j + 1] - bodies[4 * i + 1];
            const float dz = bodies[4 * j + 2] - bodies[4 * i + 2];
            const float r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01F);
            const float s = bodies[4 * j + 3] * r * r * r;
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        forces[4 * i] = x;
        forces[4 * i + 1] = y;
        forces[4 * i + 2] = z;
    }
}

void prepare(suite::Bench& bench) {
    const int n = 4096;
    const auto bodies = bench.input<float>(4 * n, suite::random_float);
    const auto forces = bench.output<float>(4 * n);
    bench.device = [=, &bench] { bench.launch("nbody", {n / 256}, {256}, bodies, forces, n); };
    bench.native = [=] { native(bodies.host, forces.host, n); };
}

const suite::Entry
    ENTRY({.name = "nbody", .source = SOURCE, .tolerance = 1e-4, .prepare = prepare});

} // namespace
