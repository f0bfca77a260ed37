// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds CUDA's libraries (compilers, linker, NVML), its headers and its bitcode.

#pragma once

#include "support/shared_library.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::libraries {

/// Names of the folders under `targets/` that hold files for one architecture, preferred first.
using Targets = std::span<const char* const>;

inline constexpr std::array X86_64_TARGETS{"x86_64-linux"};
/// Servers come first, then Jetson.
inline constexpr std::array ARM64_TARGETS{"sbsa-linux", "aarch64-linux"};

/// The folders for the architecture that this library was built for.
#if defined(__x86_64__)
inline constexpr Targets BUILD_TARGETS = X86_64_TARGETS;
#elif defined(__aarch64__)
inline constexpr Targets BUILD_TARGETS = ARM64_TARGETS;
#else
inline constexpr Targets BUILD_TARGETS;
#endif

/// Describes the library to search for.
struct LibraryRequest {
    const char* name;                        // as messages call it: "NVRTC"
    std::span<const char* const> file_names; // "libnvrtc.so.13", newest first
    const char* variable;                    // the environment variable that may name the file
    std::string_view advice;                 // what to do when the library is not found
    const char* folder = nullptr;            // a further folder of a package: "nvvm/lib64"
    Targets targets = BUILD_TARGETS;
};

/// Loads a library from the first place that has it.
///
/// The places, in order: already loaded, the environment variable (an absolute path), packages of
/// Python (`nvidia/*/lib`), the conda prefix, the system loader, the toolkit (CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda).
/// @throws LibraryNotFoundError that lists every place tried.
[[nodiscard]] detail::SharedLibrary load_library(const LibraryRequest& request);

/// Returns the root folders of CUDA's packages and toolkits (`include`, `lib`... lie inside), in
/// the order in which load_library() searches them.
[[nodiscard]] std::vector<std::string> component_roots(Targets targets = BUILD_TARGETS);

} // namespace cuprum::libraries
