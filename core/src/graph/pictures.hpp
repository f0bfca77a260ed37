// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Pictures of graphs: a description without the driver's types, and the ways to write it.

#pragma once

#include "graph/node_text.hpp"

#include <cuprum/graph/graph_definition.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cuprum::detail {

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

} // namespace cuprum::detail
