// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"

#include "driver/explanations.hpp"
#include "driver/hooks.hpp"
#include "driver/library.hpp"
#include "support/locks.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/error.hpp>

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

namespace cuprum::driver {

namespace {

constinit std::atomic<bool> is_fork_unreported{false}; // this is a child; no warning was sent yet
constinit std::mutex initialising;
constinit std::once_flag hooks_started;

/// A function that the driver lacks, the last one that this thread wanted.
struct Lacking {
    const char* name;
    int needed;
    int found;

    /// Returns whether a call failed because of it.
    [[nodiscard]] bool explains(CUresult status, const char* call) const noexcept {
        return status == CUDA_ERROR_NOT_SUPPORTED && name != nullptr &&
               std::strcmp(name, call) == 0;
    }
};

thread_local constinit Lacking lacking{};

/// Makes is_leaving() true before the driver's own exit handlers run. Handlers run in reverse order
/// of registration, and the driver has registered its own when cuInit returns.
void watch_for_exit() {
    [[maybe_unused]] static const int registered = std::atexit(
        [] { detail::process_flags.is_leaving.store(true, std::memory_order_relaxed); });
}

/// Keeps destructors in a forked child from calling the driver; its first use there warns.
void watch_for_fork() {
    [[maybe_unused]] static const int registered = ::pthread_atfork(
        [] { run_hooks(&Hooks::before_fork); }, [] { run_hooks(&Hooks::after_fork_in_parent); },
        [] {
            run_hooks(&Hooks::after_fork_in_child);
            is_fork_unreported.store(true, std::memory_order_relaxed);
            detail::process_flags.is_leaving.store(true, std::memory_order_relaxed);
            detail::initialised_table.store(nullptr, std::memory_order_relaxed);
        });
}

void warn_if_forked() {
    if (is_fork_unreported.exchange(false, std::memory_order_relaxed)) {
        cuprum::detail::warn(WarningKind::Degraded,
                             "this process was forked from one that had initialised CUDA, and the "
                             "driver does not work here; start child processes with spawn or "
                             "exec(), or fork before the first use of CUDA");
    }
}

/// Throws for a failed cuInit. The emulated device only fails over one of its settings.
[[noreturn]] void raise_start_failure(CUresult status) {
    if (status == CUDA_ERROR_INVALID_VALUE && is_library_loaded() && driver_library().is_emulated) {
        raise(status, "cuInit",
              "a variable of the emulated device (CUPRUM_EMULATOR_...) has an invalid "
              "value; a line on stderr names it and shows the valid values");
    }
    raise(status, "cuInit");
}

} // namespace

CUresult lack(const char* name, int needed, int found) noexcept {
    lacking = {name, needed, found};
    return CUDA_ERROR_NOT_SUPPORTED;
}

void raise(CUresult status, const char* call, std::string_view hint) {
    warn_if_forked();
    if (lacking.explains(status, call)) [[unlikely]] {
        if (lacking.found == 0) {
            static_cast<void>(driver_library()); // says why there is none
        }
        throw NotSupportedError(call, lacking.needed, lacking.found);
    }
    throw CUDAError(static_cast<int>(status), call, hint);
}

void initialise() {
    if (detail::initialised_table.load(std::memory_order_acquire) == &table()) [[likely]] {
        return;
    }
    warn_if_forked();
    {
        const cuprum::detail::LateWarnings late; // a handler may use the driver, too
        std::call_once(hooks_started, [] { run_hooks(&Hooks::before_first_use); });
    }
    {
        const Table* current = &table();
        const cuprum::detail::QuietLock lock(initialising);
        if (detail::initialised_table.load(std::memory_order_relaxed) != current) {
            if (const CUresult status = current->cuInit(0U); status != CUDA_SUCCESS) {
                raise_start_failure(status);
            }
            watch_for_exit();
            watch_for_fork();
            run_hooks(&Hooks::after_init);
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
    // A fake driver has its own cuInit, so no library was loaded.
    return is_library_loaded() && driver_library().is_emulated;
}

namespace {

/// Returns the beginning of a message about an object, such as "stream", that was not released.
std::string unreleased(const char* what) {
    const bool is_vowel = std::string_view("aeiou").find(what[0]) != std::string_view::npos;
    return std::string("could not release ") + (is_vowel ? "an " : "a ") + what + ": ";
}

} // namespace

void report_release_failure(const char* what, const char* call, CUresult status) noexcept {
    try {
        if (lacking.explains(status, call)) {
            raise(status, call);
        }
        cuprum::detail::warn(WarningKind::Release, unreleased(what) + call +
                                                       " failed: " + name_of(status) + " (" +
                                                       std::to_string(static_cast<int>(status)) +
                                                       "): " + explanation_of(status));
    } catch (...) {
        report_release_failure(what);
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
    driver::run_hooks(&driver::Hooks::before_exit);
    driver::detail::process_flags.is_leaving.store(true, std::memory_order_relaxed);
}

} // namespace cuprum::detail
