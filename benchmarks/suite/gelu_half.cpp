// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The activation GELU of numbers in half precision, with tanh, two at a time.

#include "suite/suite.hpp"

#include <cmath>

namespace {

constexpr const char* SOURCE = R"(
#include <cuda_fp16.h>
__device__ float gelu(float x) { return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }
extern "C" __global__ void activate(const __half2* from, __half2* to, int pairs) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
        const float2 v = __half22float2(from[i]);
        to[i] = __floats2half2_rn(gelu(v.x), gelu(v.y));
    }
}
)";

void native(const _Float16* from, _Float16* to, int n) {
#pragma omp parallel for
    for (int first = 0; first < n; first += 256) {
        float values[256];
        for (int i = 0; i < 256; ++i) {
            values[i] = static_cast<float>(from[first + i]);
        }
        for (float& x : values) {
            // tanh(x) = 1 - 2 / (exp(2 x) + 1), which the compiler vectorises
            const float e = std::exp(2 * 0.79788456F * (x + 0.044715F * x * x * x));
            x = 0.5F * x * (2 - 2 / (e + 1));
        }
        for (int i = 0; i < 256; ++i) {
            to[first + i] = static_cast<_Float16>(values[i]);
        }
    }
}

void prepare(suite::Bench& bench) {
    const int n = 1 << 22;
    const auto from =
        bench.input<_Float16>(n, [](std::size_t i) { return 8 * suite::random_float(i) - 4; });
    const auto to = bench.output<_Float16>(n);
    bench.device = [=, &bench] { bench.launch("activate", {512}, {256}, from, to, n / 2); };
    bench.native = [=] { native(from.host, to.host, n); };
}

const suite::Entry ENTRY({.name = "gelu_half",
                          .difference = "tanh by exp",
                          .source = SOURCE,
                          .tolerance = 2e-3,
                          .prepare = prepare});

} // namespace
