// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace cuprum::trace {

/// Starts to write driver calls to stderr: all of them, or only those that fail.
void start_log(bool has_all_calls);

/// Turns on what CUPRUM_TRACE, CUPRUM_LOG and CUPRUM_NVTX ask for. The driver's hook calls it once,
/// before the first use of the driver.
void read_environment();

// Ranges for NVIDIA's profilers, through NVTX.

/// Starts to mark driver calls and ranges. Warns if the library was built without NVTX's headers.
void start_nvtx();

/// Returns whether ranges are marked.
[[nodiscard]] bool is_nvtx_on() noexcept;

/// Begins and ends a range of the calling thread; nothing happens while NVTX is off.
void push_nvtx(std::string_view name);
void pop_nvtx();

// The trace over the life of the process: what the driver's hooks call.

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
