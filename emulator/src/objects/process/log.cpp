// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/log.hpp"

#include "builtins/status_line.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

namespace cuprum::emulator {

namespace {

std::atomic<LogLevel> current_level{LogLevel::Error};

constexpr std::array<std::string_view, 5> LEVEL_NAMES{"off", "error", "warning", "info", "debug"};

void write_line(std::string_view label, std::string_view message) noexcept;

} // namespace

void set_log_level(LogLevel level) noexcept {
    current_level.store(level, std::memory_order_relaxed);
}

bool is_logged(LogLevel level) noexcept {
    return level <= current_level.load(std::memory_order_relaxed) && level != LogLevel::Off;
}

void log(LogLevel level, std::string_view message) noexcept {
    if (is_logged(level)) {
        write_line(LEVEL_NAMES[static_cast<std::size_t>(level)], message);
    }
}

void warn(std::string_view message) noexcept {
    if (current_level.load(std::memory_order_relaxed) != LogLevel::Off) {
        write_line("warning", message);
    }
}

void note(std::string_view message) noexcept {
    if (current_level.load(std::memory_order_relaxed) != LogLevel::Off) {
        write_line("note", message);
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void write_line(std::string_view label, std::string_view message) noexcept {
    try {
        std::string line = "cuprum emulator: ";
        line += label;
        line += ": ";
        line += message;
        line += '\n';
        builtins::StatusLine::instance().make_room();
        // One write call, so that lines of several threads do not mix.
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    } catch (...) {
        // Out of memory while reporting: the message is lost.
    }
}

} // namespace

} // namespace cuprum::emulator
