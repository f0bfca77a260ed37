// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>
#include <memory>

namespace cuprum::detail {

/// A function that a stream will call once, on a thread of the driver.
struct HostFunction {
    std::function<void()> function;
    std::shared_ptr<void> kept;   // in place of a function: something whose end was put off
    HostFunction* next = nullptr; // in the list of those that are done
};

/// Puts something on the list of what is to be destroyed by a thread that may call the driver.
void put_on_list(std::unique_ptr<HostFunction> held) noexcept;

/// Calls a HostFunction, for the driver: reports what it throws and puts it on the list of those
/// that are done. It is not destroyed here: what it captured may have to call the driver, which
/// this thread must not.
void call_host_function(void* function) noexcept;

// A stack that threads of the driver push to; all of it is taken at once.
extern std::atomic<HostFunction*> finished_host_functions;

void release_all_finished_host_functions() noexcept;

/// Destroys the host functions that are done, what they gave up, and what captures held up. Costs
/// one load when there are none. In a host function it does nothing. Tells whether there were any.
inline bool release_finished_host_functions() noexcept {
    if (finished_host_functions.load(std::memory_order_relaxed) == nullptr) [[likely]] {
        return false;
    }
    release_all_finished_host_functions();
    return true;
}

} // namespace cuprum::detail
