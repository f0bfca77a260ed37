// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The trace over the life of the process: what the driver's hooks call.

#pragma once

#include <string>

namespace cuprum::trace {

/// Starts a trace, or warns that it cannot be started.
void start_trace_from_environment(const std::string& path);

/// Stops the trace, if one is being recorded, at the end of the process. Waits for unfinished work
/// only for a limited time; warns if the trace is incomplete.
void finish() noexcept;

/// Registers finish() to run at exit. Exit handlers run in reverse order of registration, so call
/// this after every handler that ends the use of the driver is registered.
void finish_at_exit();

// A forked child leaves the trace to its parent: both would write to one file.
void before_fork() noexcept;
void after_fork_in_parent() noexcept;
void after_fork_in_child() noexcept;

} // namespace cuprum::trace
