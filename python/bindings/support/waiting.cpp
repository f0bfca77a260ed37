// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/waiting.hpp"

#include <cuprum/context.hpp>
#include <cuprum/detail/pending.hpp>
#include <cuprum/device.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>

namespace cuprum::python {

namespace nb = nanobind;

namespace {

using Clock = std::chrono::steady_clock;
using detail::is_pending;
using detail::WorkMark;
using std::chrono::nanoseconds;

constexpr nanoseconds SPIN_TIME_WITHOUT_YIELD = std::chrono::microseconds(20);
constexpr nanoseconds SPIN_TIME = std::chrono::microseconds(50);
constexpr nanoseconds SHORTEST_SLEEP = std::chrono::microseconds(25);
constexpr nanoseconds LONGEST_SLEEP = std::chrono::milliseconds(5);
/// A sleep takes this part of the time waited so far, so that no wait ends more than 2 % late.
constexpr int SLEEP_DIVISOR = 50;
/// Signals may arrive on another thread of the process, which does not end a sleep here.
constexpr nanoseconds SIGNAL_INTERVAL = std::chrono::milliseconds(50);

/// Releases the GIL for a scope.
class ReleasedGil {
public:
    [[nodiscard]] ReleasedGil() : saved_(PyEval_SaveThread()) {}

    ~ReleasedGil() {
        if (saved_ != nullptr) {
            PyEval_RestoreThread(saved_);
        }
    }

    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

    /// Runs the handlers of signals that have arrived.
    /// @throws nb::python_error if a handler raised. The GIL is then held.
    void run_signal_handlers() {
        PyEval_RestoreThread(saved_);
        saved_ = nullptr;
        if (PyErr_CheckSignals() != 0) {
            throw nb::python_error();
        }
        saved_ = PyEval_SaveThread();
    }

private:
    PyThreadState* saved_;
};

/// Makes the sleeps of the calling thread as exact as the system can, for a scope: by default Linux
/// adds up to 50 µs to each.
class ExactSleeps {
public:
    [[nodiscard]] ExactSleeps() noexcept : slack_ns_(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
        (void)::prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
    }

    ~ExactSleeps() {
        if (slack_ns_ > 0) {
            (void)::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_ns_), 0, 0, 0);
        }
    }

    ExactSleeps(const ExactSleeps&) = delete;
    ExactSleeps& operator=(const ExactSleeps&) = delete;

private:
    int slack_ns_;
};

/// Returns whether this is the thread that runs Python's signal handlers. Asked once per thread: a
/// forked child cannot use the driver anyway.
[[nodiscard]] bool is_main_thread() noexcept {
    static thread_local const bool is_main = ::syscall(SYS_gettid) == ::getpid();
    return is_main;
}

/// Sleeps. Returns false if a signal handler ran on this thread meanwhile.
[[nodiscard]] bool sleep(nanoseconds duration) noexcept {
    const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(duration.count())};
    return ::nanosleep(&time, nullptr) == 0 || errno != EINTR;
}

[[nodiscard]] bool is_pending(const WorkMark& mark) noexcept {
    return mark.is_pending();
}

/// Spins while work is pending, for a short time. Returns whether it is still pending.
template <typename Work>
[[nodiscard]] bool spin(const Work& work, Clock::time_point begin) noexcept {
    while (is_pending(work)) {
        const nanoseconds waited = Clock::now() - begin;
        if (waited > SPIN_TIME) {
            return true;
        }
        if (waited > SPIN_TIME_WITHOUT_YIELD) {
            std::this_thread::yield(); // the emulated device may need this core for the work
        }
    }
    return false;
}

/// Sleeps while work is pending, and lets signal handlers run.
template <typename Work>
void sleep_while_pending(const Work& work, Clock::time_point begin, ReleasedGil& unlocked) {
    const ExactSleeps exact;
    Clock::time_point checked = begin;
    while (is_pending(work)) {
        const Clock::time_point now = Clock::now();
        const nanoseconds share = (now - begin) / SLEEP_DIVISOR;
        const bool is_undisturbed = sleep(std::clamp(share, SHORTEST_SLEEP, LONGEST_SLEEP));
        if (!is_undisturbed || now - checked > SIGNAL_INTERVAL) {
            unlocked.run_signal_handlers();
            checked = now;
        }
    }
}

} // namespace

void sync_with_signals(const Stream& given) {
    const Stream stream = given; // a signal handler may close the other one
    ReleasedGil unlocked;
    const Clock::time_point begin = Clock::now();
    if (is_main_thread() && spin(stream, begin)) {
        // Other threads may keep the stream busy for ever, so wait for what it holds now.
        const WorkMark end(stream);
        sleep_while_pending(end, begin, unlocked);
    }
    stream.sync();
}

void sync_with_signals(const Event& given) {
    const Event event = given; // a signal handler may close the other one
    ReleasedGil unlocked;
    const Clock::time_point begin = Clock::now();
    if (is_main_thread() && spin(event, begin)) {
        sleep_while_pending(event, begin, unlocked);
    }
    event.sync();
}

void sync_with_signals(const Context& given) {
    const Context context = given; // a signal handler may close the other one
    ReleasedGil unlocked;
    if (is_main_thread()) {
        // The driver has no query for a context, so an event stands for its work.
        const Clock::time_point begin = Clock::now();
        const WorkMark end(context);
        if (spin(end, begin)) {
            sleep_while_pending(end, begin, unlocked);
        }
    }
    context.sync();
}

} // namespace cuprum::python
