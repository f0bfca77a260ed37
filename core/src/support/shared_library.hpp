// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finding and loading libraries that are not linked: CUDA's compilers, and the driver itself.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::driver {

/// A library that stays loaded until the process ends. A plain value.
struct SharedLibrary {
    void* handle = nullptr;
    std::string path; // where the loader found it

    /// Returns the address of a symbol, null if there is none.
    [[nodiscard]] void* find(const char* symbol) const noexcept;
};

/// Which library is wanted.
struct LibraryRequest {
    const char* name;                        // as messages call it: "NVRTC"
    std::span<const char* const> file_names; // "libnvrtc.so.13", newest first
    const char* variable;                    // the environment variable that may name it
    std::string_view advice;                 // what to do when there is none
    const char* folder = nullptr; // where else in a package or toolkit it may lie: "nvvm/lib64"
};

/// Loads a library from the first place that has it: already loaded, the environment variable (an
/// absolute path), packages of Python (`nvidia/*/lib`), the conda prefix, the system loader, the
/// toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda).
/// @throws LibraryNotFoundError that lists every place tried.
[[nodiscard]] SharedLibrary load_library(const LibraryRequest& request);

/// Loads one file, or what the system loader finds under a plain name. When there is none, appends
/// the place and the reason to `tried`.
[[nodiscard]] std::optional<SharedLibrary> open_library(const std::string& file,
                                                        std::vector<std::string>& tried);

/// Returns the folders that CUDA's packages and toolkits are laid out in (`include`, `lib`... are
/// inside), in the order in which load_library() searches them.
[[nodiscard]] std::vector<std::string> component_roots();

/// Returns the folder of the file that holds this code, links resolved; empty if unknown.
[[nodiscard]] std::string own_directory();

/// Returns an environment variable, empty if unset; always empty in a set-uid program.
[[nodiscard]] std::string environment(const char* name);

} // namespace cuprum::driver
