// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The last line of the terminal, where progress appears. All other output of the emulated device
// erases the line first.

#pragma once

#include <atomic>
#include <mutex>
#include <string_view>

namespace cuprum::emulator::builtins {

/// A line of text on the terminal of the process that is drawn again and again. Nothing is drawn,
/// and no mutex is used, unless the line was enabled.
class StatusLine {
public:
    /// Returns the line of the process. It is never destroyed.
    [[nodiscard]] static StatusLine& instance();

    /// Lets the line be drawn, or not.
    void enable(bool is_enabled) noexcept { is_enabled_.store(is_enabled); }

    /// Keeps the line as it is until the lock is released: work cannot end meanwhile and leave its
    /// line behind.
    [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }

    /// Draws the line, as much of it as fits. The caller holds the line. Does nothing while the
    /// process runs in the background of its terminal.
    void draw(std::string_view text) noexcept;

    /// Removes the line. The caller holds it.
    void clear() noexcept;

    /// Removes the line before other output. Costs one load while the line is not enabled.
    void make_room() noexcept;

    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

private:
    StatusLine() = default;
    ~StatusLine() = default;

    std::mutex mutex_;
    bool is_drawn_ = false;
    std::atomic<bool> is_enabled_{false};
};

} // namespace cuprum::emulator::builtins
