// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checked calls of NVML. The first call in a process initialises NVML; nobody shuts it down, as it
// costs nothing while idle and other libraries may use it.

#pragma once

#include "libraries/nvml/table.hpp"

#include <atomic>
#include <string>
#include <string_view>

namespace cuprum::nvml {

/// What is known about NVML in this process.
enum class State : int { Uninitialized = 0, Initialized = 1, Busy = 2 };

/// The state. A fork resets it in the child, which must initialise NVML itself.
extern std::atomic<State> state;

/// Initialises NVML. Any number of threads may call it at once.
/// @throws LibraryNotFoundError, NVMLError.
void initialize();

/// Returns the name of a result code, such as "NVML_ERROR_NOT_SUPPORTED".
[[nodiscard]] std::string name_of(nvml_abi::nvmlReturn_t status);

/// Throws NVMLError. `advice` says what to do if more is known than the code says.
[[noreturn, gnu::cold]] void raise(nvml_abi::nvmlReturn_t status, const char* function,
                                   std::string_view advice = {});

/// Calls a function and returns its code. Initialises NVML before, and again if another library
/// shut it down.
template <typename... Params, typename... Args>
[[nodiscard]] nvml_abi::nvmlReturn_t
try_call(const libraries::Entry<nvml_abi::nvmlReturn_t(Params...)>& entry, Args... args) {
    if (state.load(std::memory_order_acquire) != State::Initialized) [[unlikely]] {
        initialize();
    }
    nvml_abi::nvmlReturn_t status = entry(args...);
    if (status == nvml_abi::NVML_ERROR_UNINITIALIZED) [[unlikely]] {
        State expected = State::Initialized;
        state.compare_exchange_strong(expected, State::Uninitialized);
        initialize();
        status = entry(args...);
    }
    return status;
}

/// Calls a function and throws NVMLError, naming it, unless it succeeds.
template <typename... Params, typename... Args>
void call(const libraries::Entry<nvml_abi::nvmlReturn_t(Params...)>& entry, Args... args) {
    if (const nvml_abi::nvmlReturn_t status = try_call(entry, args...);
        status != nvml_abi::NVML_SUCCESS) [[unlikely]] {
        raise(status, entry.name);
    }
}

} // namespace cuprum::nvml
