// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "state/library_state.hpp"

#include <cuprum/kernel.hpp>

#include <memory>
#include <string>

namespace cuprum::detail {

/// A kernel, its launch plan, and the library it keeps loaded.
struct KernelState {
    std::shared_ptr<LibraryState> library;
    CUkernel handle = nullptr;
    std::string name;                 // as it was asked for
    const LaunchPlan* plan = nullptr; // the library's
    const char* label = nullptr;      // the name once more, for as long as the process lives
};

/// Reads a kernel's parameters from the driver.
[[nodiscard]] LaunchPlan read_plan(CUkernel kernel);

} // namespace cuprum::detail
