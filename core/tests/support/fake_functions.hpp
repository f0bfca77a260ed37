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

/// Returns what the fake driver does for each function.
const driver::Table& fake_functions();

} // namespace cuprum::testing
