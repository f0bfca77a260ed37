// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "graph/graph_objects.hpp"

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Binds ExecutableGraphNode and the classes derived from it.
void bind_executable_nodes(nb::module_& module);

/// Returns the object for a node of an executable graph.
/// @throws TypeError if it is no node or one that cannot be changed, ValueError if the graph is
///         closed or the node destroyed.
[[nodiscard]] nb::object executable_node(const PyGraph& graph, nb::handle node);

} // namespace cuprum::python
