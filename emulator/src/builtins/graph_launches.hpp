// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that launch graphs. objects/ knows what graphs are, so it provides the functions.

#pragma once

#include "interp/warp.hpp"

#include <cstdint>

namespace cuprum::emulator::builtins {

/// What kernels can do with graphs.
struct GraphLaunches {
    /// Launches an executable graph into one of the special streams. Returns a cudaError_t.
    std::uint32_t (*launch)(const BlockContext& block, std::uint64_t graph,
                            std::uint64_t stream) = nullptr;
    /// Returns the handle of the executable graph that the kernel is part of, or 0.
    std::uint64_t (*current)(const BlockContext& block) = nullptr;
};

/// Sets the functions. Before the first kernel that calls them.
void set_graph_launches(const GraphLaunches& functions) noexcept;

} // namespace cuprum::emulator::builtins
