// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The line of the terminal where progress appears. All other output of the emulated device erases
// the line first.

#pragma once

#include "builtins/never_destroyed.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string_view>

namespace cuprum::emulator::builtins {

/// A line of text below the cursor of the terminal that is drawn again and again. Nothing is drawn,
/// and no mutex is used, unless the line was enabled.
///
/// The cursor stays where it is, so what the program has written, or its user has typed, is never
/// overwritten. The line appears only while a host thread waits for the device, because a program
/// that goes on may write to the line below at any time.
class StatusLine {
public:
    /// Returns the line of the process. It is never destroyed.
    [[nodiscard]] static StatusLine& instance();

    /// Lets the line be drawn, or not.
    void enable(bool is_enabled) noexcept { is_enabled_.store(is_enabled); }

    /// Keeps the line as it is until the lock is released: work cannot end meanwhile and leave its
    /// line behind.
    [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }

    /// Draws the line, as much of it as fits. The caller holds the line. Does nothing unless a host
    /// thread waits, stderr is the terminal that controls the process, and the process runs in its
    /// foreground.
    void draw(std::string_view text) noexcept;

    /// Removes the line. The caller holds it.
    void clear() noexcept;

    /// Removes the line before other output. Costs one load while the line is not enabled.
    void make_room() noexcept;

    /// Notes that a host thread starts to wait for the device.
    void begin_wait() noexcept { waiting_hosts_.fetch_add(1); }

    /// Notes that a host thread goes on, and removes the line, because the thread may print.
    void end_wait() noexcept {
        waiting_hosts_.fetch_sub(1);
        make_room();
    }

    /// Notes that a host thread has asked whether work is done, and it was not. A thread that asks
    /// many times a second waits, too: cuprum's Python package does, so that Ctrl-C ends a wait.
    void note_poll() noexcept;

    /// Notes that a host thread has asked whether work is done, and it was: the thread may print.
    void end_poll() noexcept;

    /// Disables the line in a forked child, which has no thread that draws. Takes no mutex: a
    /// thread of the parent may have held it.
    void forget_after_fork() noexcept;

    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

private:
    using Clock = std::chrono::steady_clock;

    template <typename T>
    friend union NeverDestroyed;

    StatusLine() = default;
    ~StatusLine() = default;

    [[nodiscard]] bool does_a_host_wait() const noexcept;

    std::mutex mutex_;
    bool is_drawn_ = false;
    std::atomic<bool> is_enabled_{false};
    std::atomic<int> waiting_hosts_{0};
    std::atomic<Clock::rep> polled_at_{0}; // zero: never, or the work was done
};

} // namespace cuprum::emulator::builtins
