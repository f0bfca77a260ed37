// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/adjacency.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

Adjacency::Adjacency(std::size_t node_count, std::span<const Edge> edges)
    : first_(node_count + 1, 0), targets_(edges.size()) {
    for (const auto& [from, to] : edges) {
        ++first_[from];
    }
    std::uint32_t end = 0;
    for (std::uint32_t& count : first_) {
        end += count;
        count = end;
    }
    for (std::size_t i = edges.size(); i-- > 0;) {
        targets_[--first_[edges[i].first]] = edges[i].second;
    }
}

/// Tarjan's algorithm, with an explicit stack because a path may have millions of nodes.
std::vector<std::uint32_t> components_of(const Adjacency& graph) {
    constexpr std::uint32_t NONE = ~0u;
    const auto count = static_cast<std::uint32_t>(graph.node_count());
    std::vector<std::uint32_t> component(count, NONE);
    std::vector<std::uint32_t> order(count, NONE); // in which nodes are found
    std::vector<std::uint32_t> lowest(count);      // the first found node that a node leads back to
    std::vector<std::uint32_t> open;               // found nodes without a component

    struct Visit {
        std::uint32_t node;
        std::uint32_t next_edge;
    };

    std::vector<Visit> path;
    std::uint32_t found = 0;
    std::uint32_t components = 0;
    const auto enter = [&](std::uint32_t node) {
        order[node] = lowest[node] = found++;
        open.push_back(node);
        path.push_back({node, 0});
    };
    for (std::uint32_t start = 0; start < count; ++start) {
        if (order[start] != NONE) {
            continue;
        }
        enter(start);
        while (!path.empty()) {
            const std::uint32_t node = path.back().node;
            const auto edges = graph[node];
            if (path.back().next_edge < edges.size()) {
                const std::uint32_t next = edges[path.back().next_edge++];
                if (order[next] == NONE) {
                    enter(next);
                } else if (component[next] == NONE) {
                    lowest[node] = std::min(lowest[node], order[next]);
                }
                continue;
            }
            path.pop_back();
            if (!path.empty()) {
                std::uint32_t& before = lowest[path.back().node];
                before = std::min(before, lowest[node]);
            }
            if (lowest[node] == order[node]) {
                for (std::uint32_t last = NONE; last != node;) {
                    last = open.back();
                    open.pop_back();
                    component[last] = components;
                }
                ++components;
            }
        }
    }
    return component;
}

} // namespace cuprum::emulator::passes
