// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Breadth-first search of a random graph, a kernel for each level, until nothing changes.

#include "suite/suite.hpp"

#include <utility>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void level(const int* starts, const int* edges, int* depth, int now, int* changed, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || depth[i] != now) return;
    for (int e = starts[i]; e < starts[i + 1]; ++e) {
        const int other = edges[e];
        if (depth[other] < 0) { depth[other] = now + 1; *changed = now + 1; }
    }
}
)";

void native(const int* starts, const int* edges, int* depth, int n) {
    bool is_changed = true;
    for (int now = 0; is_changed; ++now) {
        is_changed = false;
#pragma omp parallel for schedule(dynamic, 1024) reduction(|| : is_changed)
        for (int i = 0; i < n; ++i) {
            if (depth[i] != now) {
                continue;
            }
            for (int e = starts[i]; e < starts[i + 1]; ++e) {
                int& other = depth[edges[e]];
                if (other < 0) {
                    other = now + 1;
                    is_changed = true;
                }
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const int n = 1 << 18;
    std::vector<int> start_list;
    std::vector<int> edge_list;
    for (int i = 0; i < n; ++i) {
        start_list.push_back(static_cast<int>(edge_list.size()));
        for (std::uint32_t e = suite::random_bits(i) % 8; e > 0; --e) {
            edge_list.push_back(static_cast<int>(suite::random_bits(edge_list.size() + 99) % n));
        }
        edge_list.push_back((i + 1) % n);
    }
    start_list.push_back(static_cast<int>(edge_list.size()));
    const auto starts = bench.input(std::move(start_list));
    const auto edges = bench.input(std::move(edge_list));
    const auto depth = bench.output<int>(n, [](std::size_t i) { return i == 0 ? 0 : -1; });
    const auto changed = bench.scratch<int>(1);
    bench.device = [=, &bench] {
        for (int now = 0; now == bench.read(changed); ++now) {
            bench.launch("level", {n / 256}, {256}, starts, edges, depth, now, changed, n);
        }
    };
    bench.native = [=] { native(starts.host, edges.host, depth.host, n); };
}

const suite::Entry ENTRY({.name = "bfs", .source = SOURCE, .prepare = prepare});

} // namespace
