// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Handles for the library and its bindings. The public handle() functions say that other code may
// use the object from now on: launches of a graph become slower, and so do allocations, frees and
// launches on a stream, since it may be captured. These do not.

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>

namespace cuprum {

class GraphDefinition;
class GraphNode;
class Stream;

namespace detail {

/// Returns the handle of a node; null once it is destroyed, and for the entry of a graph.
[[nodiscard]] CUPRUM_API CUgraphNode unexposed_handle(const GraphNode& node) noexcept;

/// Returns the handle of a graph.
/// @throws ClosedError as GraphDefinition::handle() does.
[[nodiscard]] CUPRUM_API CUgraph unexposed_handle(const GraphDefinition& graph);

/// Returns the handle of a stream. Do not hand it to code that may begin a capture, nor let the
/// stream wait by it for an event of another stream.
/// @throws ClosedError as Stream::handle() does.
[[nodiscard]] CUPRUM_API CUstream unexposed_handle(const Stream& stream);

} // namespace detail

} // namespace cuprum
