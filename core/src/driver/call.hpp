// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/table.hpp"

#include <string_view>

namespace cuprum::driver {

/// Throws CUDAError for a failed call. `hint` says what to do here, if more is known than the
/// code's own explanation.
/// @throws NotSupportedError or LibraryNotFoundError instead if that is why it failed.
[[noreturn]] void raise(CUresult status, const char* call, std::string_view hint = {});

/// Calls `entry` and throws CUDAError, naming it, unless it succeeds.
template <typename... Params, typename... Args>
inline void call(const Entry<CUresult(Params...)>& entry, Args... args) {
    if (const CUresult status = entry(args...); status != CUDA_SUCCESS) [[unlikely]] {
        raise(status, entry.name);
    }
}

/// Calls `entry` in the same way, but returns false if the driver does not support it.
template <typename... Params, typename... Args>
[[nodiscard]] inline bool call_if_supported(const Entry<CUresult(Params...)>& entry, Args... args) {
    const CUresult status = entry(args...);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_SUPPORTED) [[unlikely]] {
        raise(status, entry.name);
    }
    return status == CUDA_SUCCESS;
}

/// Loads the driver and initialises it, once per process. Later calls are cheap.
/// @throws LibraryNotFoundError or CUDAError; the next caller tries again.
void initialise();

/// Returns whether the driver in use is the emulated device.
[[nodiscard]] bool is_emulated();

/// Returns whether the process is exiting: the driver must not be called any more.
[[nodiscard]] inline bool is_leaving() noexcept {
    return detail::process_flags.is_leaving.load(std::memory_order_relaxed);
}

/// Releases a driver object: calls `entry` unless the process is leaving. Reports a failure as a
/// warning and never throws; "the driver is gone" counts as success. `what` names the object, as in
/// "stream". Returns whether the call succeeded. Destructors that may run in a host function use
/// release_or_defer() instead.
template <typename... Params, typename... Args>
bool release_now(const char* what, const Entry<CUresult(Params...)>& entry, Args... args) noexcept;

/// Reports that an object could not be released.
void report_release_failure(const char* what, const char* call, CUresult status) noexcept;

/// Reports that an object could not be released, for the reason being handled; call it in a catch.
void report_release_failure(const char* what) noexcept;

template <typename... Params, typename... Args>
inline bool release_now(const char* what, const Entry<CUresult(Params...)>& entry,
                        Args... args) noexcept {
    if (is_leaving()) [[unlikely]] {
        return false;
    }
    const CUresult status = entry(args...);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_DEINITIALIZED) [[unlikely]] {
        report_release_failure(what, entry.name, status);
    }
    return status == CUDA_SUCCESS;
}

} // namespace cuprum::driver
