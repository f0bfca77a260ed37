// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a node of a graph does, in words: for pictures and traces.

#pragma once

#include "driver/table.hpp"

#include <cuprum/graph/graph_node.hpp>

#include <cuda.h>

#include <cstddef>
#include <string>
#include <vector>

namespace cuprum::detail {

/// What a node does.
struct NodeText {
    GraphNodeType type = GraphNodeType::Empty;
    std::string title;                // "scale", "copy 4 KiB"
    std::vector<std::string> details; // "grid 16, block 256"
};

/// Describes a node. What the driver does not say is left out: no failure is an error here.
/// `driver` is the table to ask.
[[nodiscard]] NodeText describe_node(CUgraphNode node, const driver::Table& driver);

/// Describes all nodes of a graph in one line each, graphs below them too. `count` limits the
/// lines; the last one then says how many are missing.
[[nodiscard]] std::vector<std::string> describe_nodes(CUgraph graph, std::size_t count,
                                                      const driver::Table& driver);

/// Returns title and details in one line.
[[nodiscard]] std::string to_line(const NodeText& text);

/// Returns a number of bytes in the largest unit that keeps it short: "4 KiB", "1.5 MiB".
[[nodiscard]] std::string bytes_text(std::size_t bytes);

} // namespace cuprum::detail
