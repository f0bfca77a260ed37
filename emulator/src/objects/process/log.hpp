// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The log of the emulated device on stderr: CUPRUM_EMULATOR_LOG=off|error|warn|info|debug.

#pragma once

#include <cstdint>
#include <string_view>

namespace cuprum::emulator {

/// How much is logged. Each level includes those before it.
enum class LogLevel : std::uint8_t { Off, Error, Warn, Info, Debug };

/// Sets the log level from now on.
void set_log_level(LogLevel level) noexcept;

/// Returns whether messages of this level are written. Cheap, so that callers can skip formatting a
/// message.
[[nodiscard]] bool is_logged(LogLevel level) noexcept;

/// Writes one message, whole lines at a time, if its level is on.
void log(LogLevel level, std::string_view message) noexcept;

/// Writes a warning that the program asked for, at every level but Off.
void warn(std::string_view message) noexcept;

/// Writes a message at every level but Off.
void note(std::string_view message) noexcept;

} // namespace cuprum::emulator
