// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Solves tridiagonal systems in double precision after Thomas, a thread for each system.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void solve(const double* lower, const double* main, const double* upper, double* x,
                                 double* factors, int n, int systems) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    double f = upper[s] / main[s], y = x[s] / main[s];
    factors[s] = f;
    x[s] = y;
    for (int i = 1; i < n; ++i) {
        const int at = i * systems + s;
        const double d = 1 / (main[at] - lower[at] * f);
        f = upper[at] * d;
        y = (x[at] - lower[at] * y) * d;
        factors[at] = f;
        x[at] = y;
    }
    for (int i = n - 2; i >= 0; --i) {
        const int at = i * systems + s;
        y = x[at] - factors[at] * y;
        x[at] = y;
    }
}
)";

void native(const double* lower, const double* main, const double* upper, double* x,
            double* factors, int n, int systems) {
    constexpr int LANES = 64;
#pragma omp parallel for
    for (int first = 0; first < systems; first += LANES) {
        double f[LANES];
        double y[LANES];
        for (int l = 0; l < LANES; ++l) {
            const int s = first + l;
            f[l] = upper[s] / main[s];
            y[l] = x[s] / main[s];
            factors[s] = f[l];
            x[s] = y[l];
        }
        for (int i = 1; i < n; ++i) {
#pragma omp simd
            for (int l = 0; l < LANES; ++l) {
                const int at = i * systems + first + l;
                const double d = 1 / (main[at] - lower[at] * f[l]);
                f[l] = upper[at] * d;
                y[l] = (x[at] - lower[at] * y[l]) * d;
                factors[at] = f[l];
                x[at] = y[l];
            }
        }
        for (int i = n - 2; i >= 0; --i) {
#pragma omp simd
            for (int l = 0; l < LANES; ++l) {
                const int at = i * systems + first + l;
                y[l] = x[at] - factors[at] * y[l];
                x[at] = y[l];
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const int n = 128;
    const int systems = 16384;
    const auto lower = bench.input<double>(n * systems, suite::random_float);
    const auto main =
        bench.input<double>(n * systems, [](std::size_t i) { return 3 + suite::random_float(~i); });
    const auto upper =
        bench.input<double>(n * systems, [](std::size_t i) { return suite::random_float(2 * i); });
    const auto x =
        bench.output<double>(n * systems, [](std::size_t i) { return suite::random_float(3 * i); });
    const auto factors = bench.scratch<double>(n * systems);
    bench.device = [=, &bench] {
        bench.launch("solve", {systems / 128}, {128}, lower, main, upper, x, factors, n, systems);
    };
    bench.native = [=] {
        native(lower.host, main.host, upper.host, x.host, factors.host, n, systems);
    };
}

const suite::Entry
    ENTRY({.name = "tridiagonal", .source = SOURCE, .tolerance = 1e-12, .prepare = prepare});

} // namespace
