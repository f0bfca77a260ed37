// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/nvrtc/compilation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::nvrtc {

/// Returns the line of the first error in a log, as "line 3 of "x.cu": <the line>"; empty if it is
/// in none of `texts`, which are the sources by name.
[[nodiscard]] std::string offending_line(const std::string& log, Compilation::Headers texts);

/// Returns what to do about a failed compilation, derived from its log; empty if the log says it
/// all. `name` is the source's: NVRTC searches its folder for headers too.
[[nodiscard]] std::string advice_for(const std::string& log,
                                     const std::vector<std::string>& options,
                                     Compilation::Headers headers = {}, std::string_view name = {},
                                     std::string_view source = {});

} // namespace cuprum::nvrtc
