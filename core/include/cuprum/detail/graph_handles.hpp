// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Handles of graphs for the library and its bindings. The public handle() functions say that other
// code may use the graph from now on, which makes its launches slower. These do not.

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>

namespace cuprum {

class GraphDefinition;
class GraphNode;

namespace detail {

/// Returns the handle of a node; null once it is destroyed, and for the entry of a graph.
[[nodiscard]] CUPRUM_API CUgraphNode unexposed_handle(const GraphNode& node) noexcept;

/// Returns the handle of a graph.
/// @throws ClosedError as GraphDefinition::handle() does.
[[nodiscard]] CUPRUM_API CUgraph unexposed_handle(const GraphDefinition& graph);

} // namespace detail

} // namespace cuprum
