// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The longest way of numbers to 1 in 64-bit integers: loops of different length, and a maximum
// by atomics.

#include "suite/suite.hpp"

#include <algorithm>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void longest(int n, unsigned long long* best) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i > n) return;
    unsigned long long x = i;
    unsigned steps = 0;
    while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; ++steps; }
    atomicMax(best, (unsigned long long)steps << 32 | i);
}
)";

void prepare(suite::Bench& bench) {
    const int n = 1 << 17;
    const auto best = bench.output<std::uint64_t>(1);
    bench.device = [=, &bench] { bench.launch("longest", {n / 256}, {256}, n, best); };
    bench.native = [=] {
        std::uint64_t most = 0;
#pragma omp parallel for reduction(max : most) schedule(dynamic, 1024)
        for (int i = 1; i <= n; ++i) {
            auto x = static_cast<std::uint64_t>(i);
            std::uint64_t steps = 0;
            while (x != 1) {
                x = (x & 1) != 0 ? 3 * x + 1 : x / 2;
                ++steps;
            }
            most = std::max(most, steps << 32 | static_cast<std::uint64_t>(i));
        }
        *best.host = most;
    };
}

const suite::Entry ENTRY({.name = "collatz", .source = SOURCE, .prepare = prepare});

} // namespace
