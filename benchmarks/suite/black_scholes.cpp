// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Prices of European options by the formula of Black and Scholes.

#include "suite/suite.hpp"

#include <cmath>

namespace {

constexpr const char* SOURCE = R"(
__device__ float normal(float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float p = 0.39894228f * expf(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - p : p;
}
extern "C" __global__ void price(const float* stock, const float* strike, const float* years,
                                 float* call, float* put, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float s = stock[i], x = strike[i], t = years[i], rate = 0.02f, volatility = 0.3f;
        const float root = sqrtf(t);
        const float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        const float d2 = d1 - volatility * root;
        const float n1 = normal(d1), n2 = normal(d2), e = expf(-rate * t);
        call[i] = s * n1 - x * e * n2;
        put[i] = x * e * (1 - n2) - s * (1 - n1);
    }
}
)";

inline float normal(float d) {
    const float k = 1.0F / (1.0F + 0.2316419F * std::fabs(d));
    const float p =
        0.39894228F * std::exp(-0.5F * d * d) *
        (k * (0.31938153F +
              k * (-0.356563782F + k * (1.781477937F + k * (-1.821255978F + k * 1.330274429F)))));
    return d > 0 ? 1 - p : p;
}

void native(const float* stock, const float* strike, const float* years, float* call, float* put,
            int n) {
#pragma omp parallel for simd
    for (int i = 0; i < n; ++i) {
        const float s = stock[i];
        const float x = strike[i];
        const float t = years[i];
        const float rate = 0.02F;
        const float volatility = 0.3F;
        const float root = std::sqrt(t);
        const float d1 =
            (std::log(s / x) + (rate + 0.5F * volatility * volatility) * t) / (volatility * root);
        const float d2 = d1 - volatility * root;
        const float n1 = normal(d1);
        const float n2 = normal(d2);
        const float e = std::exp(-rate * t);
        call[i] = s * n1 - x * e * n2;
        put[i] = x * e * (1 - n2) - s * (1 - n1);
    }
}

void prepare(suite::Bench& bench) {
    const int n = 1 << 21;
    const auto part = [](std::size_t salt, float from, float to) {
        return
            [=](std::size_t i) { return from + (to - from) * suite::random_float(3 * i + salt); };
    };
    const auto stock = bench.input<float>(n, part(0, 5, 30));
    const auto strike = bench.input<float>(n, part(1, 1, 100));
    const auto years = bench.input<float>(n, part(2, 0.25F, 10));
    const auto call = bench.output<float>(n);
    const auto put = bench.output<float>(n);
    bench.device = [=, &bench] {
        bench.launch("price", {512}, {256}, stock, strike, years, call, put, n);
    };
    bench.native = [=] { native(stock.host, strike.host, years.host, call.host, put.host, n); };
}

const suite::Entry
    ENTRY({.name = "black_scholes", .source = SOURCE, .tolerance = 1e-5, .prepare = prepare});

} // namespace
