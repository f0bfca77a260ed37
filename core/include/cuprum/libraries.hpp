// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <string>
#include <vector>

namespace cuprum {

/// One of CUDA's compiler libraries.
struct LibraryInfo {
    std::string name;    // "NVRTC"
    std::string path;    // empty if not found
    std::string version; // "13.0"
    std::string problem; // why it was not found and what to do; empty if it was found
};

/// Searches for every compiler library that Cuprum can use and describes the result.
[[nodiscard]] CUPRUM_API std::vector<LibraryInfo> compiler_libraries();

} // namespace cuprum
