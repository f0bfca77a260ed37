// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Pictures of graphs: a description without the driver's types, and the ways to write it.

#pragma once

#include "driver/table.hpp"

#include <cuprum/graph/graph_definition.hpp>
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

struct GraphPicture;

/// One node of a picture.
struct NodePicture {
    NodeText text;
    std::vector<std::size_t> predecessors; // indices, in order
    std::vector<std::size_t> early_starts; // those that it need not wait for to the end
    std::vector<GraphPicture> children;    // the graphs inside it
};

/// A graph as pictures show it. The nodes are in an order in which they can run.
struct GraphPicture {
    std::string label; // of a child: "child graph", "then", "case 2"
    std::vector<NodePicture> nodes;
    bool has_cycle = false; // some nodes can never run; they come last
};

/// Describes a graph with all graphs below it.
[[nodiscard]] GraphPicture picture_of(const GraphDefinition& graph);

/// Writes a picture in the language of Graphviz.
[[nodiscard]] std::string to_dot(const GraphPicture& picture);

/// Writes a picture as a tree of lines.
[[nodiscard]] std::string to_text(const GraphPicture& picture);

// What a node of a graph does, in words: for pictures and traces.

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
