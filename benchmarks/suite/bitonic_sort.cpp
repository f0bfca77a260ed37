// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sorts pieces of 1024 keys in shared memory with a bitonic network.

#include "suite/suite.hpp"

#include <algorithm>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void sort(unsigned* keys) {
    __shared__ unsigned s[1024];
    const int t = threadIdx.x;
    keys += blockIdx.x * 1024;
    s[t] = keys[t];
    s[t + 512] = keys[t + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            const int i = 2 * t - (t & (stride - 1));
            const bool up = (i & size) == 0;
            const unsigned a = s[i], b = s[i + stride];
            if ((a > b) == up) { s[i] = b; s[i + stride] = a; }
        }
    __syncthreads();
    keys[t] = s[t];
    keys[t + 512] = s[t + 512];
}
)";

void prepare(suite::Bench& bench) {
    const int count = 256;
    const auto keys = bench.output<std::uint32_t>(1024 * count, suite::random_bits);
    bench.device = [=, &bench] { bench.launch("sort", {count}, {512}, keys); };
    bench.native = [=] {
#pragma omp parallel for
        for (int i = 0; i < count; ++i) {
            std::sort(keys.host + 1024L * i, keys.host + 1024L * (i + 1));
        }
    };
}

const suite::Entry ENTRY({.name = "bitonic_sort",
                          .difference = "std::sort instead of a network",
                          .source = SOURCE,
                          .prepare = prepare});

} // namespace
