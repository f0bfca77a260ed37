// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program.hpp>

#include <string>
#include <string_view>

namespace cuprum::detail {

/// Tells whether a source may read files at all, without looking closely.
[[nodiscard]] bool may_include(std::string_view code);

/// Returns a digest of the files that a source may include: of every file that one of its #include
/// directives could mean, and so on for those. CUDA's own headers are left to their fingerprint.
/// Empty if it includes nothing.
///
/// There is no preprocessor, so it may change without need, but not fail to: files that a condition
/// skips count, and so does that a file is not there.
/// @throws std::invalid_argument if a macro gives a name.
[[nodiscard]] std::string dependency_digest(std::string_view code, const ProgramOptions& options);

} // namespace cuprum::detail
