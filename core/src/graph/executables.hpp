// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which definition an executable graph came from, so that a trace can say what its launches run.
//
// The driver cannot list the nodes of an executable. While driver calls are observed, the nodes are
// described when the executable is made or updated. Else the description is made when it is first
// asked for, from the definition, if that still exists.

#pragma once

#include "graph/graph_state.hpp"

#include <cuda.h>

#include <string>
#include <vector>

namespace cuprum::detail {

/// Notes that an executable was made from a definition, or updated from one. Never throws.
void note_executable(CUgraphExec executable, const GraphShare& source) noexcept;

/// Notes that an executable is gone.
void forget_executable(CUgraphExec executable) noexcept;

/// Describes the nodes of an executable, one line each. Empty if they are not known. Asks the
/// driver below the observers.
[[nodiscard]] std::vector<std::string> nodes_of_executable(CUgraphExec executable);

} // namespace cuprum::detail
