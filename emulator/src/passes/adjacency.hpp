// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cuprum::emulator::passes {

/// A directed graph of numbered nodes. One piece of memory holds all edges, grouped by their node.
class Adjacency {
public:
    using Edge = std::pair<std::uint32_t, std::uint32_t>; // from, to

    /// The edges of a node keep their order.
    Adjacency(std::size_t node_count, std::span<const Edge> edges);

    [[nodiscard]] std::size_t node_count() const { return first_.size() - 1; }

    /// Returns the nodes that the edges of a node lead to.
    [[nodiscard]] std::span<const std::uint32_t> operator[](std::uint32_t node) const {
        return std::span(targets_).subspan(first_[node], first_[node + 1] - first_[node]);
    }

private:
    std::vector<std::uint32_t> first_; // by node: its first edge; then the number of edges
    std::vector<std::uint32_t> targets_;
};

/// Returns for each node the number of its strongly connected component. An edge between two
/// components leads to the one with the lower number.
[[nodiscard]] std::vector<std::uint32_t> components_of(const Adjacency& graph);

} // namespace cuprum::emulator::passes
