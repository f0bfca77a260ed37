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

/// Loads the driver and initialises it, once per process. Cheap when done already.
/// @throws LibraryNotFoundError or CUDAError; a failure is tried again by the next caller.
void initialise();

/// Tells whether the driver in use is the emulated device.
[[nodiscard]] bool is_emulated();

/// Tells whether the process is leaving: the driver must not be called any more.
[[nodiscard]] inline bool is_leaving() noexcept {
    return detail::process_flags.is_leaving.load(std::memory_order_relaxed);
}

namespace detail {

/// Tells whether the calling thread is running a host function of a stream.
[[nodiscard]] bool runs_host_function() noexcept;

} // namespace detail

/// Tells whether a stream called a host function that is running on the calling thread: the driver
/// must not be called.
[[nodiscard]] inline bool is_in_host_function() noexcept {
    return detail::process_flags.host_functions.load(std::memory_order_relaxed) != 0 &&
           detail::runs_host_function();
}

/// Keeps an object that a host function gave up, whose end calls the driver, until another thread
/// looks at which host functions are done. Those that came first go first.
void keep_for_later(std::shared_ptr<void> object);

/// Releases a driver object in a destructor: calls `entry` unless the process is leaving; a failure
/// other than "the driver is gone" is reported as a warning, never thrown. `what` names the object,
/// as in "stream". In a host function it is put off until that is done.
template <typename... Params, typename... Args>
void release(const char* what, const Entry<CUresult(Params...)>& entry, Args... args) noexcept;

/// Does the same here and now, for what belongs to the calling thread.
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
