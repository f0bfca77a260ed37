// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/table.hpp"

#include <memory>

namespace cuprum::driver {

/// Throws CUDAError for a failed call.
[[noreturn]] void raise(CUresult status, const char* call);

/// Calls `entry` and throws CUDAError, naming it, unless it succeeds.
template <typename... Params, typename... Args>
inline void call(const Entry<CUresult(Params...)>& entry, Args... args) {
    if (const CUresult status = entry(args...); status != CUDA_SUCCESS) [[unlikely]] {
        raise(status, entry.name);
    }
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

namespace detail {

/// Returns whether the calling thread runs a host function of a stream.
[[nodiscard]] bool runs_host_function() noexcept;

} // namespace detail

/// Returns whether the calling thread runs a host function of a stream: it must not call the
/// driver.
[[nodiscard]] inline bool is_in_host_function() noexcept {
    return detail::process_flags.host_functions.load(std::memory_order_relaxed) != 0 &&
           detail::runs_host_function();
}

/// Keeps an object whose destructor calls the driver until a thread that may do so releases it.
/// Objects are released in the order in which they came.
void keep_for_later(std::shared_ptr<void> object);

/// Releases a driver object in a destructor: calls `entry` unless the process is exiting. A failure
/// other than "the driver is gone" becomes a warning and is never thrown. `what` names the object,
/// as in "stream". In a host function the release is deferred.
template <typename... Params, typename... Args>
void release(const char* what, const Entry<CUresult(Params...)>& entry, Args... args) noexcept;

/// Releases a driver object at once, in host functions too; for state of the calling thread.
template <typename... Params, typename... Args>
void release_now(const char* what, const Entry<CUresult(Params...)>& entry, Args... args) noexcept;

/// Reports that an object could not be released.
void report_release_failure(const char* what, const char* call, CUresult status) noexcept;

/// Reports that an object could not be released, for the reason being handled; call it in a catch.
void report_release_failure(const char* what) noexcept;

template <typename... Params, typename... Args>
inline void release_now(const char* what, const Entry<CUresult(Params...)>& entry,
                        Args... args) noexcept {
    if (is_leaving()) [[unlikely]] {
        return;
    }
    try {
        const CUresult status = entry(args...);
        if (status != CUDA_SUCCESS && status != CUDA_ERROR_DEINITIALIZED) [[unlikely]] {
            report_release_failure(what, entry.name, status);
        }
    } catch (...) { // the first call of an entry looks it up, which can fail
        report_release_failure(what);
    }
}

template <typename... Params, typename... Args>
inline void release(const char* what, const Entry<CUresult(Params...)>& entry,
                    Args... args) noexcept {
    if (is_in_host_function()) [[unlikely]] {
        try {
            keep_for_later(std::shared_ptr<void>(
                nullptr, [=, &entry](void*) noexcept { release_now(what, entry, args...); }));
        } catch (...) {
            report_release_failure(what);
        }
        return;
    }
    release_now(what, entry, args...);
}

} // namespace cuprum::driver
