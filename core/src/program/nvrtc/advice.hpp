// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/nvrtc/compilation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::nvrtc {

/// Returns the first error of a log, with the lines that NVRTC quotes; empty if it has none.
[[nodiscard]] std::string_view first_error(std::string_view log);

/// Returns the message of an error, without its place.
[[nodiscard]] std::string headline_of(std::string_view error);

/// Returns the line of the first error in a log, as "line 3 of "x.cu": <the line>"; empty if it is
/// in none of `texts`, which are the sources by name.
[[nodiscard]] std::string offending_line(const std::string& log, Compilation::Headers texts);

/// Returns what to do about a failed compilation, derived from the first error of its log; empty if
/// the error says it all. `name` is the source's: NVRTC searches its folder for headers too.
[[nodiscard]] std::string advice_for(const std::string& whole_log,
                                     const std::vector<std::string>& options,
                                     Compilation::Headers headers = {}, std::string_view name = {},
                                     std::string_view source = {});

} // namespace cuprum::nvrtc
