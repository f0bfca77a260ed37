// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/graph.hpp"

#include <string>

namespace cuprum::emulator {

/// Writes a graph, with the graphs embedded in it, to a file in the language of Graphviz. `flags`
/// are CUgraphDebugDot_flags. Only under GraphLock.
///
/// @throws DriverError INVALID_VALUE for unknown flags, OPERATING_SYSTEM if the file cannot be
/// written.
void write_dot(const Graph& graph, const std::string& path, unsigned flags);

} // namespace cuprum::emulator
