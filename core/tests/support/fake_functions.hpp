// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/fake_driver.hpp"

#include <vector>

namespace cuprum::testing {

/// Returns the active fake driver.
FakeDriver*& active_fake();

/// Returns the calling thread's stack of contexts, the current one last.
std::vector<CUcontext>& context_stack();

/// Adds the functions for created contexts, green contexts and device resources.
void add_made_contexts(driver::Table& table);

/// Adds the stream functions apart from kernels and copies, and events that processes share.
void add_stream_operations(driver::Table& table);

/// Adds the functions for checkpoints of processes.
void add_checkpoints(driver::Table& table);

/// Makes the checks of every call with a stream.
CUresult check_stream(CUstream stream);

// Each adds one family of functions to the table.
void add_pool_sharing(driver::Table& table);
void add_host_memory(driver::Table& table);
void add_virtual_memory(driver::Table& table);
void add_managed_memory(driver::Table& table);
void add_arrays(driver::Table& table);
void add_graphs(driver::Table& table);

/// Makes a stream part of a capture, if that is not over.
void join_capture(CUstream stream, cuuint64_t capture);

/// Returns the functions of the fake driver.
const driver::Table& fake_functions();

} // namespace cuprum::testing
