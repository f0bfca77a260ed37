// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/warning.hpp>

#include "support/once.hpp"
#include "support/shared_library.hpp"
#include "support/warn.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <mutex>
#include <sys/ioctl.h>
#include <utility>

namespace cuprum {

namespace {

struct Channel {
    std::mutex mutex;
    std::shared_ptr<const WarningHandler> handler;
};

Channel& channel() {
    static detail::NeverDestroyed<Channel> only; // destructors of static objects may warn
    return *only;
}

} // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
    auto next = handler ? std::make_shared<const WarningHandler>(std::move(handler)) : nullptr;
    {
        const std::lock_guard lock(channel().mutex);
        channel().handler.swap(next);
    }
    return next ? *next : WarningHandler();
}

void detail::warn(WarningKind kind, std::string_view message) noexcept {
    bool is_handled = false;
    try {
        if (LateWarnings* const late = LateWarnings::innermost; late != nullptr) {
            if (late->held_back_ == nullptr) {
                late->held_back_ = std::make_unique<LateWarnings::Warnings>();
            }
            late->held_back_->emplace_back(kind, message);
            return;
        }
        std::shared_ptr<const WarningHandler> handler;
        {
            const std::lock_guard lock(channel().mutex);
            handler = channel().handler;
        }
        if (handler) {
            (*handler)(kind, message);
            is_handled = true;
        }
    } catch (...) { // a handler that throws breaks its promise; the message is not lost with it
        is_handled = false;
    }
    if (!is_handled) {
        std::fprintf(stderr, "cuprum: warning: %.*s\n", static_cast<int>(message.size()),
                     message.data());
    }
}

void detail::LateWarnings::send() noexcept {
    const std::unique_ptr<Warnings> due = std::move(held_back_);
    for (const auto& [kind, message] : *due) {
        warn(kind, message);
    }
}

} // namespace cuprum

namespace cuprum::detail {

namespace {

// The escape sequences are those of a VT100. The first two make a line below the cursor, and scroll
// if the cursor is on the last line of the screen. Unlike a newline, they keep the column.
constexpr std::string_view TO_LINE_BELOW = "\033D\033M"     // down and up
                                           "\0337"          // remember the cursor
                                           "\033D\r\033[K"; // down, and erase the line
constexpr std::string_view BACK = "\0338";                  // to the cursor

void write_to_terminal(std::string_view text) noexcept {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Returns whether stderr leads to the terminal of this process now, and a write would not block.
/// Programs redirect it, shells move programs to the background, and users stop output at any time.
bool has_terminal_now() noexcept {
    pollfd state{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    return ::isatty(STDERR_FILENO) == 1 && ::tcgetpgrp(STDERR_FILENO) == ::getpgrp() &&
           ::poll(&state, 1, 0) == 1 && (state.revents & POLLOUT) != 0;
}

} // namespace

bool has_terminal() {
    const std::string kind = environment("TERM");
    return !kind.empty() && kind != "dumb" && ::isatty(STDERR_FILENO) == 1;
}

std::chrono::seconds progress_delay(std::string& problem) {
    constexpr std::chrono::seconds fallback{3};
    constexpr unsigned most = 86400;
    const std::string text = environment("CUPRUM_PROGRESS");
    if (text.empty()) {
        return fallback;
    }
    unsigned seconds = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, seconds);
    if (error != std::errc() || end != last || seconds > most) {
        problem = "CUPRUM_PROGRESS is '" + text +
                  "' and is ignored: expected the seconds after which progress is shown, up to "
                  "86400, or 0 for never";
        return fallback;
    }
    return std::chrono::seconds(seconds);
}

bool draw_line_below(std::string_view text) noexcept {
    if (!has_terminal_now()) {
        return false;
    }
    winsize size{};
    constexpr std::size_t usual_columns = 80;
    const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    const std::size_t columns = (is_known ? size.ws_col : usual_columns) - 1;
    try {
        std::string line(text.substr(0, columns));
        std::ranges::replace_if(line, [](char each) { return each < ' ' || each > '~'; }, '?');
        line.insert(0, TO_LINE_BELOW);
        line += BACK;
        write_to_terminal(line); // one write, so that it does not mix with other output
    } catch (...) {
        return false; // out of memory
    }
    return true;
}

void erase_line_below() noexcept {
    if (has_terminal_now()) {
        std::array<char, TO_LINE_BELOW.size() + BACK.size()> erase{};
        std::ranges::copy(BACK, std::ranges::copy(TO_LINE_BELOW, erase.begin()).out);
        write_to_terminal({erase.data(), erase.size()});
    }
}

} // namespace cuprum::detail
