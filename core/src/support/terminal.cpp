// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/terminal.hpp"

#include "support/shared_library.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sys/ioctl.h>

namespace cuprum::detail {

namespace {

constexpr std::string_view ERASE_LINE = "\r\x1b[K";

void write_to_terminal(std::string_view text) noexcept {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
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

bool draw_last_line(std::string_view text) noexcept {
    const pid_t foreground = ::tcgetpgrp(STDERR_FILENO);
    if (foreground > 0 && foreground != ::getpgrp()) {
        return false;
    }
    winsize size{};
    constexpr std::size_t usual_columns = 80;
    const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    const std::size_t columns = (is_known ? size.ws_col : usual_columns) - 1;
    try {
        std::string line(text.substr(0, columns));
        std::ranges::replace_if(line, [](char each) { return each < ' ' || each > '~'; }, '?');
        line.insert(0, ERASE_LINE);
        write_to_terminal(line); // one write, so that it does not mix with other output
    } catch (...) {
        return false; // out of memory
    }
    return true;
}

void erase_last_line() noexcept {
    write_to_terminal(ERASE_LINE);
}

} // namespace cuprum::detail
