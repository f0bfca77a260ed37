// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

namespace cuprum::detail {

/// A function that a stream will call once, on a thread of the driver.
struct HostFunction {
    std::function<void()> function;
    HostFunction* next = nullptr; // in the list of those that are done
};

/// Calls a HostFunction, for the driver: reports what it throws and puts it on the list of those
/// that are done. It is not destroyed here: what it captured may have to call the driver, which
/// this thread must not.
void call_host_function(void* function) noexcept;

/// Destroys the host functions that are done. Costs one load when there are none.
void release_finished_host_functions() noexcept;

} // namespace cuprum::detail
