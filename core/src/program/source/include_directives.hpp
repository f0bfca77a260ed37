// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// A name in an #include directive, or asked about with __has_include.
struct Include {
    std::string name; // empty if a macro gives it
    bool is_quoted;   // "name", not <name>
};

/// Returns what a text includes or asks for, also what a condition may skip: nothing is left out,
/// though there may be too much. Names that come from macros are returned empty and quoted.
[[nodiscard]] std::vector<Include> includes_in(std::string_view text);

} // namespace cuprum::detail
