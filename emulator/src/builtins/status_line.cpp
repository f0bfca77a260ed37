// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/status_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <sys/ioctl.h>

namespace cuprum::emulator::builtins {

namespace {

constexpr std::string_view ERASE = "\r\x1b[K";
constexpr std::size_t DEFAULT_COLUMNS = 80;

/// Returns how many characters fit on a line without moving the cursor to the next one.
std::size_t terminal_columns() noexcept {
    winsize size{};
    const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return (is_known ? size.ws_col : DEFAULT_COLUMNS) - 1;
}

bool is_in_background() noexcept {
    const pid_t foreground = ::tcgetpgrp(STDERR_FILENO);
    return foreground > 0 && foreground != ::getpgrp();
}

void write_to_terminal(std::string_view text) noexcept {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

StatusLine& StatusLine::instance() {
    static StatusLine* const LINE = new StatusLine;
    return *LINE;
}

void StatusLine::draw(std::string_view text) noexcept {
    if (is_in_background()) {
        return;
    }
    try {
        std::string line(ERASE);
        line += text.substr(0, std::min(text.size(), terminal_columns()));
        is_drawn_ = true;
        write_to_terminal(line); // one write, so that it does not mix with other output
    } catch (...) {
        // Out of memory: the line stays as it is.
    }
}

void StatusLine::clear() noexcept {
    if (is_drawn_) {
        is_drawn_ = false;
        write_to_terminal(ERASE);
    }
}

void StatusLine::make_room() noexcept {
    if (!is_enabled_.load(std::memory_order_relaxed)) {
        return;
    }
    const std::lock_guard lock(mutex_);
    clear();
}

} // namespace cuprum::emulator::builtins
