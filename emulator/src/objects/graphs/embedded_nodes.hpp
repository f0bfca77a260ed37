// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes that contain graphs. Everything here is only for holders of GraphLock.

#pragma once

#include "objects/graphs/graph.hpp"

#include <cuda.h>

#include <memory>
#include <vector>

namespace cuprum::emulator {

/// Adds a node that runs another graph: a copy of it, or, if `is_moved`, the graph itself.
///
/// @throws DriverError NOT_SUPPORTED for a copy of a graph that cannot be cloned.
[[nodiscard]] std::shared_ptr<GraphNode>
add_child(Graph& graph, Graph& child, const std::vector<GraphEdge>& dependencies, bool is_moved);

/// Replaces the graph inside a node by a copy of another one.
void replace_child(GraphNode& node, Graph& child);

/// Makes a handle for the condition of a node of the graph.
[[nodiscard]] CUgraphConditionalHandle add_variable(Graph& graph, std::shared_ptr<Context> context,
                                                    std::uint32_t default_value, unsigned flags);

/// Adds a conditional node with empty bodies.
///
/// @throws DriverError INVALID_VALUE if the handle is none of this graph's, or in use.
[[nodiscard]] std::shared_ptr<GraphNode>
add_conditional(Graph& graph, const CUDA_CONDITIONAL_NODE_PARAMS& request,
                std::shared_ptr<Context> context, const std::vector<GraphEdge>& dependencies);

} // namespace cuprum::emulator
