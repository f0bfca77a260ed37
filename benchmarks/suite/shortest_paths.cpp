// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Shortest paths between all nodes after Floyd and Warshall, a kernel for each node in between.

#include "suite/suite.hpp"

#include <algorithm>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void relax(int* d, int n, int k) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const int through = d[y * n + k] + d[k * n + x];
    if (through < d[y * n + x]) d[y * n + x] = through;
}
)";

void native(int* d, int n) {
    for (int k = 0; k < n; ++k) {
#pragma omp parallel for
        for (int y = 0; y < n; ++y) {
            const int first = d[y * n + k];
#pragma omp simd
            for (int x = 0; x < n; ++x) {
                d[y * n + x] = std::min(d[y * n + x], first + d[k * n + x]);
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 256;
    const auto d = bench.output<int>(n * n, [=](std::size_t i) {
        return i / n == i % n ? 0 : 1 + suite::random_bits(i) % 10000;
    });
    bench.device = [=, &bench] {
        for (unsigned k = 0; k < n; ++k) {
            bench.launch("relax", {n / 128, n}, {128}, d, n, k);
        }
    };
    bench.native = [=] { native(d.host, n); };
}

const suite::Entry ENTRY({.name = "shortest_paths", .source = SOURCE, .prepare = prepare});

} // namespace
