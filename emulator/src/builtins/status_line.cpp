// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/status_line.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <sys/ioctl.h>

namespace cuprum::emulator::builtins {

namespace {

// The escape sequences are those of a VT100. The first two make a line below the cursor, and scroll
// if the cursor is on the last line of the screen. Unlike a newline, they keep the column.
constexpr std::string_view TO_LINE_BELOW = "\033D\033M"     // down and up
                                           "\0337"          // remember the cursor
                                           "\033D\r\033[K"; // down, and erase the line
constexpr std::string_view BACK = "\0338";                  // to the cursor
constexpr std::size_t DEFAULT_COLUMNS = 80;
constexpr std::chrono::milliseconds POLL_WINDOW{100};

/// Returns how many characters fit on a line without moving the cursor to the next one.
std::size_t terminal_columns() noexcept {
    winsize size{};
    const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return (is_known ? size.ws_col : DEFAULT_COLUMNS) - 1;
}

/// Returns whether stderr leads to the terminal of this process now, and a write would not block.
/// Programs redirect it, shells move programs to the background, and users stop output at any time.
bool has_terminal_now() noexcept {
    pollfd state{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    return ::isatty(STDERR_FILENO) == 1 && ::tcgetpgrp(STDERR_FILENO) == ::getpgrp() &&
           ::poll(&state, 1, 0) == 1 && (state.revents & POLLOUT) != 0;
}

void write_to_terminal(std::string_view text) noexcept {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

StatusLine& StatusLine::instance() {
    static NeverDestroyed<StatusLine> line;
    return line.value;
}

void StatusLine::draw(std::string_view text) noexcept {
    if (!does_a_host_wait()) {
        clear(); // the last thread that asked again and again has given up
        return;
    }
    if (!has_terminal_now()) {
        return;
    }
    try {
        std::string line(TO_LINE_BELOW);
        line += text.substr(0, std::min(text.size(), terminal_columns()));
        line += BACK;
        is_drawn_ = true;
        write_to_terminal(line); // one write, so that it does not mix with other output
    } catch (...) {
        // Out of memory: the line stays as it is.
    }
}

void StatusLine::clear() noexcept {
    if (!is_drawn_) {
        return;
    }
    is_drawn_ = false;
    if (has_terminal_now()) {
        std::array<char, TO_LINE_BELOW.size() + BACK.size()> erase{};
        std::ranges::copy(BACK, std::ranges::copy(TO_LINE_BELOW, erase.begin()).out);
        write_to_terminal({erase.data(), erase.size()});
    }
}

void StatusLine::make_room() noexcept {
    if (!is_enabled_.load(std::memory_order_relaxed)) {
        return;
    }
    const std::lock_guard lock(mutex_);
    clear();
}

void StatusLine::note_poll() noexcept {
    if (is_enabled_.load(std::memory_order_relaxed)) {
        polled_at_.store(Clock::now().time_since_epoch().count());
    }
}

void StatusLine::end_poll() noexcept {
    if (is_enabled_.load(std::memory_order_relaxed) && polled_at_.load() != 0) {
        polled_at_.store(0);
        make_room();
    }
}

bool StatusLine::does_a_host_wait() const noexcept {
    if (waiting_hosts_.load() > 0) {
        return true;
    }
    const Clock::rep polled_at = polled_at_.load();
    return polled_at != 0 &&
           Clock::now() - Clock::time_point(Clock::duration(polled_at)) < POLL_WINDOW;
}

void StatusLine::forget_after_fork() noexcept {
    is_enabled_.store(false);
    waiting_hosts_.store(0);
}

} // namespace cuprum::emulator::builtins
