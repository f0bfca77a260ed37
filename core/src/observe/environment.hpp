// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace cuprum::trace {

/// Turns on what CUPRUM_TRACE, CUPRUM_LOG and CUPRUM_NVTX ask for. Called once, before the driver
/// is first used.
void read_environment();

/// Starts a trace; warns if that is impossible.
void start_trace_from_environment(const std::string& path);

/// Ends the trace that is being recorded, if there is one; warns if it is incomplete.
void finish() noexcept;

/// Makes sure that a trace is finished before the driver must not be called any more: handlers run
/// last registered first, so this comes after those that it has to precede.
void finish_at_exit();

/// Make a child that is forked leave the trace to its parent: both would write to one file.
void before_fork() noexcept;
void after_fork() noexcept;
void after_fork_in_child() noexcept;

/// Starts to write driver calls to stderr: failed ones at level "error", all at level "debug".
void start_log(bool has_all_calls);

} // namespace cuprum::trace
