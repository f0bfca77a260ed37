// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/progress.hpp"

#include "support/never_destroyed.hpp"
#include "support/terminal.hpp"

#include <signal.h>

#include <chrono>
#include <mutex>
#include <system_error>
#include <vector>

namespace cuprum::detail {

namespace {

constexpr std::chrono::milliseconds REDRAW_PERIOD{500};

/// The last line of the terminal, which all compilations share.
struct Line {
    std::mutex mutex;
    std::vector<const CompileProgress*> running; // the first one draws
    bool is_drawn = false;
};

Line& line() {
    static NeverDestroyed<Line> only;
    return *only;
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
    } catch (const std::system_error&) {
        // There is no progress to see then.
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
            erase_last_line(); // what runs now draws its own
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
        const std::size_t others = line().running.size() - 1;
        if (line().running.front() == this) {
            const auto seconds =
                std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
            line().is_drawn |=
                draw_last_line("cuprum: " + what_ +
                               (others == 0 ? "" : " and " + std::to_string(others) + " more") +
                               ", " + std::to_string(seconds) + " s");
        }
    } while (!over_.wait_for(lock, REDRAW_PERIOD, is_over));
}

} // namespace cuprum::detail
