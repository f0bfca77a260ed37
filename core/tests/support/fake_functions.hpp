// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/fake_driver.hpp"

#include <vector>

namespace cuprum::testing {

/// Returns the fake driver in force.
FakeDriver*& active_fake();

/// Returns the calling thread's stack of contexts, the current one last.
std::vector<CUcontext>& context_stack();

/// Adds contexts that are made, green ones, and what they are made of.
void add_made_contexts(driver::Table& table);

/// Adds what streams do beside kernels and copies, and events between processes.
void add_stream_operations(driver::Table& table);
/// What every call with a stream checks first.
CUresult check_stream(CUstream stream);

// Each puts one family of functions into the table.
void add_pool_sharing(driver::Table& table);
void add_host_memory(driver::Table& table);
void add_virtual_memory(driver::Table& table);
void add_managed_memory(driver::Table& table);

/// Returns what the fake driver does for each function.
const driver::Table& fake_functions();

} // namespace cuprum::testing
