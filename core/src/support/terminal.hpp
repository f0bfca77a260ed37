// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The terminal behind stderr, and a line of it that is drawn again and again.

#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace cuprum::detail {

/// Returns whether stderr is a terminal on which a line can be drawn again.
[[nodiscard]] bool has_terminal();

/// Returns after which time long work is shown on the terminal, as CUPRUM_PROGRESS says; zero means
/// never. If the variable has an invalid value, sets `problem` and returns the default.
[[nodiscard]] std::chrono::seconds progress_delay(std::string& problem);

/// Draws the line below the cursor, as much of it as fits, with "?" for what is not printable
/// ASCII. The cursor stays where it is, so nothing that the program wrote is overwritten.
///
/// Returns false, and draws nothing, unless stderr is the terminal that controls the process, and
/// the process runs in its foreground.
bool draw_line_below(std::string_view text) noexcept;

/// Erases the line below the cursor, on the same condition.
void erase_line_below() noexcept;

} // namespace cuprum::detail
