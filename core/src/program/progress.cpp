// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/progress.hpp"

#include "support/once.hpp"
#include "support/warn.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <vector>

namespace cuprum::detail {

namespace {

constexpr std::chrono::milliseconds REDRAW_PERIOD{500};

/// The line on the terminal, which all compilations share.
struct Line {
    std::mutex mutex;
    std::vector<const CompileProgress*> running; // the first one draws
    bool is_drawn = false;
};

Line& line() {
    static NeverDestroyed<Line> only;
    return *only;
}

/// Lets forked children start anew. Only the thread that forks lives on in a child: those that
/// compile, and the one that held the mutex, do not.
void renew_in_children() {
    [[maybe_unused]] static const int registered =
        ::pthread_atfork(nullptr, nullptr, [] { ::new (&line()) Line; });
}

/// Returns after which time a compilation is shown; zero means never.
std::chrono::seconds delay() {
    static const std::chrono::seconds seconds = [] {
        std::string problem; // the first use of the driver warns about it
        return has_terminal() ? progress_delay(problem) : std::chrono::seconds(0);
    }();
    return seconds;
}

} // namespace

CompileProgress::CompileProgress(std::string what) : what_(std::move(what)) {
    if (delay().count() == 0) {
        return;
    }
    renew_in_children();
    {
        const std::lock_guard lock(line().mutex);
        line().running.push_back(this);
    }
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's own threads
    try {
        thread_ = std::thread([this] { watch(); });
    } catch (...) {
        // No thread or no memory: the compiler runs without progress.
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CompileProgress::~CompileProgress() {
    if (delay().count() == 0) {
        return;
    }
    {
        const std::lock_guard lock(line().mutex);
        is_over_ = true;
        std::erase(line().running, this);
        if (line().is_drawn) {
            line().is_drawn = false;
            erase_line_below(); // what runs now draws its own
        }
    }
    over_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void CompileProgress::watch() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    const auto is_over = [this] { return is_over_; };
    std::unique_lock lock(line().mutex);
    if (over_.wait_for(lock, delay(), is_over)) {
        return;
    }
    do {
        if (line().running.front() == this) {
            const auto time = Clock::now() - begin;
            draw(std::chrono::duration_cast<std::chrono::seconds>(time).count());
        }
    } while (!over_.wait_for(lock, REDRAW_PERIOD, is_over));
}

/// Draws the line. The mutex is held.
void CompileProgress::draw(std::int64_t seconds) const noexcept {
    try {
        const std::size_t others = line().running.size() - 1;
        line().is_drawn |= draw_line_below(
            "cuprum: " + what_ + (others == 0 ? "" : " and " + std::to_string(others) + " more") +
            ", " + std::to_string(seconds) + " s");
    } catch (const std::exception&) {
        // Out of memory: the line stays as it is.
    }
}

} // namespace cuprum::detail
