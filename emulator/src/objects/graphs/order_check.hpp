// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes that use the same memory although no path of edges orders them
// (CUPRUM_EMULATOR_CHECK=graphs).

#pragma once

#include "objects/graphs/schedule.hpp"

namespace cuprum::emulator {

/// Returns whether the program asks for this check.
[[nodiscard]] bool is_order_checked() noexcept;

/// Forgets what the kernels of a schedule have accessed. Before each launch.
void forget_accesses(const Schedule& schedule) noexcept;

/// Warns of each pair of nodes, once, that used the same memory in the launch that ends now, one of
/// them to write it, and that no path of edges orders. Looks into embedded graphs too.
void report_unordered(Schedule& schedule) noexcept;

} // namespace cuprum::emulator
