// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Opens one shared library at run time, and says where this library itself lies. The search for
// CUDA's libraries is in libraries/search.hpp.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cuprum::detail {

/// A library that stays loaded until the process ends. A plain value.
struct SharedLibrary {
    void* handle = nullptr;
    std::string path; // where the loader found it

    /// Returns the address of a symbol, null if the library has none of that name.
    [[nodiscard]] void* find(const char* symbol) const noexcept;
};

/// Loads one file, or what the system loader finds under a plain name. On failure, appends the
/// file and the reason to `tried`.
[[nodiscard]] std::optional<SharedLibrary> open_library(const std::string& file,
                                                        std::vector<std::string>& tried);

/// Returns a library that this process has loaded already, by its plain name.
[[nodiscard]] std::optional<SharedLibrary> find_loaded_library(const char* name);

/// Returns the folder of the file that holds this code, with links resolved; empty if unknown.
[[nodiscard]] std::string own_directory();

/// Returns an environment variable, empty if unset; always empty in a set-uid program.
[[nodiscard]] std::string environment(const char* name);

} // namespace cuprum::detail
