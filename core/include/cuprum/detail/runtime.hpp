// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions for language bindings, not for users.

#pragma once

#include <cuprum/detail/export.hpp>

#include <string>
#include <vector>

namespace cuprum::detail {

/// Marks the process as exiting. From now on destructors do not call the driver.
///
/// The library detects the end of main() itself. An interpreter that shuts down earlier calls this.
CUPRUM_API void mark_leaving() noexcept;

/// Replaces the directories that are searched for CUDA's compiler libraries before the usual
/// places. Each may hold the libraries themselves or, like a site-packages folder, packages in
/// `nvidia/*/lib`. Relative paths are ignored. Takes effect for libraries not yet loaded.
CUPRUM_API void set_library_search_paths(std::vector<std::string> directories);

/// Lets the warning about managed memory without concurrent access be given again.
CUPRUM_API void reset_managed_access_warning() noexcept;

} // namespace cuprum::detail
