// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace cuprum::detail {

/// Returns a digest of the files that a source may include: every file that an #include directive
/// could refer to, and the files these include. CUDA's own headers have a fingerprint instead.
/// Empty if the source includes nothing.
///
/// Conditions are not evaluated, so files in a skipped branch count, and so do files that are
/// absent: the digest may change without need, but never misses a change.
/// @throws std::invalid_argument if a macro names a file.
[[nodiscard]] std::string dependency_digest(std::string_view code, const ProgramOptions& options);

/// How many files the process remembers, so that it reads each of them once.
constexpr std::size_t MAX_REMEMBERED_FILES = 8192;

/// Returns how many files it remembers now, for tests.
[[nodiscard]] std::size_t remembered_files();

} // namespace cuprum::detail
