// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <string>
#include <vector>

namespace cuprum {

/// One of CUDA's compiler libraries, as it was found.
struct LibraryInfo {
    std::string name;    // "NVRTC"
    std::string path;    // empty if it was not found
    std::string version; // "13.0"
    std::string problem; // why it was not found, and what to do
};

/// Looks for every compiler library that the library can use, and tells what it found.
[[nodiscard]] CUPRUM_API std::vector<LibraryInfo> compiler_libraries();

} // namespace cuprum
