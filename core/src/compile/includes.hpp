// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a source includes, and where CUDA's own headers are.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// A name in an #include directive.
struct Include {
    std::string_view name;
    bool is_quoted; // "name", not <name>
};

/// Returns the #include directives in a text, also those that a condition may skip. Names that
/// come from macros have no name here: they are returned empty and quoted.
[[nodiscard]] std::vector<Include> includes_in(std::string_view text);

/// Returns a text that changes when CUDA's own headers are others: the folders and the size and
/// time of the files in them that change with every release. Made once.
[[nodiscard]] const std::string& default_headers_fingerprint();

/// Tells whether one of the default folders has a file of this name.
[[nodiscard]] bool is_default_header(std::string_view name);

} // namespace cuprum::detail
