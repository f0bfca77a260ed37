// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The C boundary: no exception leaves an exported function.

#pragma once

#include "api/cuda_abi.hpp"
#include "objects/process/call_gate.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/origin.hpp"

#include <type_traits>
#include <utility>

namespace cuprum::emulator {

/// Converts the current exception to a result code and logs it with the function's name.
[[nodiscard]] CUresult result_of_exception(const char* name) noexcept;

/// Logs the call of a function, at debug level.
void log_call(const char* name) noexcept;

/// Runs the body of an exported function that may be called before cuInit.
template <typename Body>
CUresult early_entry(const char* name, Body&& body) noexcept {
    const CallScope scope(name);
    try {
        if (is_logged(LogLevel::Debug)) [[unlikely]] {
            log_call(name);
        }
        if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
            std::forward<Body>(body)();
            return CUDA_SUCCESS;
        } else {
            return std::forward<Body>(body)();
        }
    } catch (...) {
        return result_of_exception(name);
    }
}

/// Runs the body of an exported function and converts exceptions to result codes.
///
/// The body returns nothing, or a code that is an answer and not a failure (NOT_READY).
template <typename Body>
CUresult entry(const char* name, Body&& body) noexcept {
    return early_entry(name, [&] {
        const CallGate::Pass pass;
        Driver::instance().check_usable();
        return std::forward<Body>(body)();
    });
}

} // namespace cuprum::emulator
