// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"

#include "driver/error_log.hpp"
#include "driver/explanations.hpp"
#include "driver/library.hpp"
#include "observe/environment.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/error.hpp>

#include <pthread.h>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

namespace cuprum::driver {

namespace {

constinit std::atomic<bool> forked{false}; // and nobody has been told yet
constinit std::mutex initialising;
constinit std::once_flag environment_read;

/// Makes sure that is_leaving() turns true before the driver's own exit handlers run: handlers run
/// last registered first, and the driver has registered its own by the time cuInit returns.
void watch_for_exit() {
    [[maybe_unused]] static const int registered =
        std::atexit([] { detail::in_force.is_leaving.store(true, std::memory_order_relaxed); });
}

/// Makes a forked child leave the driver alone in destructors, and warn at the first use of it.
void watch_for_fork() {
    [[maybe_unused]] static const int registered =
        ::pthread_atfork(&trace::before_fork, &trace::after_fork, [] {
            trace::after_fork_in_child();
            forked.store(true, std::memory_order_relaxed);
            detail::in_force.is_leaving.store(true, std::memory_order_relaxed);
            detail::initialised_table.store(nullptr, std::memory_order_relaxed);
        });
}

void warn_if_forked() {
    if (forked.exchange(false, std::memory_order_relaxed)) {
        cuprum::detail::warn(WarningKind::Degraded,
                             "this process was forked from one that had initialised CUDA, and the "
                             "driver does not work here; start processes with "
                             "multiprocessing.get_context(\"spawn\") or exec(), or fork before the "
                             "first use of CUDA");
    }
}

/// Throws for a cuInit that failed. All that the emulated device can be wrong about is its
/// settings.
[[noreturn]] void raise_start_failure(CUresult status) {
    if (status == CUDA_ERROR_INVALID_VALUE && is_library_loaded() && driver_library().is_emulated) {
        throw CUDAError(status, "cuInit",
                        "a variable of the emulated device (CUPRUM_EMULATOR_...) has a value that "
                        "is not allowed; a line on stderr says which, and what is");
    }
    raise(status, "cuInit");
}

} // namespace

void raise(CUresult status, const char* call) {
    warn_if_forked();
    throw CUDAError(static_cast<int>(status), call);
}

void initialise() {
    if (detail::initialised_table.load(std::memory_order_acquire) == &table()) [[likely]] {
        return;
    }
    warn_if_forked();
    std::call_once(environment_read, trace::read_environment); // may put another table in force
    {
        const Table* current = &table();
        const std::lock_guard lock(initialising);
        if (detail::initialised_table.load(std::memory_order_relaxed) != current) {
            if (const CUresult status = current->cuInit(0U); status != CUDA_SUCCESS) {
                raise_start_failure(status);
            }
            watch_for_exit();
            watch_for_fork();
            trace::finish_at_exit();
            if (is_library_loaded()) { // not a fake driver
                attach_error_log(driver_library());
            }
            detail::initialised_table.store(current, std::memory_order_release);
        }
    }
    send_choice_warning();
}

bool is_emulated() {
    initialise();
    // A table with a cuInit of its own never came to load a library: a fake driver.
    return is_library_loaded() && driver_library().is_emulated;
}

namespace {

/// Begins what is said of an object that could not be released, as in "a stream".
std::string unreleased(const char* what) {
    const bool is_vowel = std::string_view("aeiou").find(what[0]) != std::string_view::npos;
    return std::string("could not release ") + (is_vowel ? "an " : "a ") + what + ": ";
}

} // namespace

void report_release_failure(const char* what, const char* call, CUresult status) noexcept {
    try {
        cuprum::detail::warn(WarningKind::Release, unreleased(what) + call +
                                                       " failed: " + name_of(status) + " (" +
                                                       std::to_string(static_cast<int>(status)) +
                                                       "): " + explanation_of(status));
    } catch (...) {
        cuprum::detail::warn(WarningKind::Release, "could not release an object");
    }
}

void report_release_failure(const char* what) noexcept {
    const auto report = [what](const char* reason) {
        try {
            cuprum::detail::warn(WarningKind::Release, unreleased(what) + reason);
        } catch (...) {
            cuprum::detail::warn(WarningKind::Release, reason);
        }
    };
    try {
        throw;
    } catch (const std::exception& error) {
        report(error.what());
    } catch (...) {
        report("something that is not a std::exception was thrown");
    }
}

} // namespace cuprum::driver

namespace cuprum::detail {

void mark_leaving() noexcept {
    trace::finish();
    driver::detail::in_force.is_leaving.store(true, std::memory_order_relaxed);
}

} // namespace cuprum::detail
