// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where CUDA's own headers are.

#pragma once

#include "libraries/search.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// Returns the folders of CUDA's and of CCCL's headers: the first of each kind among the folder
/// tree of a compiler's file, which may be empty, and `roots`.
[[nodiscard]] std::vector<std::string>
find_include_directories(const std::string& compiler, std::span<const std::string> roots,
                         libraries::Targets targets = libraries::BUILD_TARGETS);

/// Returns a text that changes with CUDA's own headers: the folders, and the size and time of the
/// files in them that change with every release. Made once.
[[nodiscard]] const std::string& default_headers_fingerprint();

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
