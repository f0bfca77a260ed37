// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the emulated device says on stderr: CUPRUM_EMULATOR_LOG=off|error|warn|info|debug.

#pragma once

#include <cstdint>
#include <string_view>

namespace cuprum::emulator {

/// How much is said; each level includes those before it.
enum class LogLevel : std::uint8_t { Off, Error, Warn, Info, Debug };

/// Sets how much is said from now on.
void set_log_level(LogLevel level) noexcept;

/// Tells whether messages of this level are written. Cheap: guards the making of a message.
[[nodiscard]] bool is_logged(LogLevel level) noexcept;

/// Writes one message, whole lines at a time, if its level is on.
void log(LogLevel level, std::string_view message) noexcept;

/// Writes a message that the user needs whatever the level, unless nothing is to be said at all.
void note(std::string_view message) noexcept;

} // namespace cuprum::emulator
