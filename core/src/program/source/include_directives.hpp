// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// A name in an #include directive or in __has_include.
struct Include {
    std::string name; // empty if a macro gives it
    bool is_quoted;   // "name", not <name>
};

/// Returns whether a text may have such names. A quick test that may say yes without need.
[[nodiscard]] bool may_include(std::string_view text);

/// Returns every name that a text includes or tests with __has_include, even in branches that a
/// condition skips. A name that comes from a macro is returned empty and quoted.
[[nodiscard]] std::vector<Include> includes_in(std::string_view text);

} // namespace cuprum::detail
