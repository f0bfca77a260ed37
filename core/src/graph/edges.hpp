// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Dependencies between nodes: read, added and removed, many in one driver call.

#pragma once

#include "graph/graph_state.hpp"

#include <cuprum/graph/graph_definition.hpp>

#include <span>
#include <vector>

namespace cuprum::detail {

enum class EdgeChange : bool { Remove, Add };

/// Adds or removes edges from each of `from` to each of `to`, one of which is a single node.
/// @throws std::invalid_argument, naming the nodes, if one is of another graph, an edge is there
/// already or is missing, or it joins a node with itself.
void change_edges(GraphState& graph, std::span<const GraphNode> from, std::span<const GraphNode> to,
                  EdgeChange change);
void change_edges(GraphState& graph, std::span<const GraphEdge> edges, EdgeChange change);

/// Returns all edges of a graph.
[[nodiscard]] std::vector<GraphEdge> edges_of(const GraphShare& graph);

/// Returns the nodes on a cycle of the graph, each before the one that waits for it; empty if there
/// is none.
[[nodiscard]] std::vector<CUgraphNode> find_cycle(CUgraph graph);

using NeighbourEntry =
    driver::Entry<CUresult(CUgraphNode, CUgraphNode*, CUgraphEdgeData*, std::size_t*)>;

/// Returns the nodes that an entry of the driver lists for a node.
[[nodiscard]] std::vector<GraphNode> neighbours(const GraphNode& node, const NeighbourEntry& entry);

} // namespace cuprum::detail
