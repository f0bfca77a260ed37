// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where CUDA's own headers are.

#pragma once

#include "libraries/search.hpp"

#include <span>
#include <string>
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

} // namespace cuprum::detail
