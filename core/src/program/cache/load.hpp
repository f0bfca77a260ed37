// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/code/padded_code.hpp"

#include <cuprum/program_cache.hpp>

#include <optional>
#include <string_view>

namespace cuprum::detail {

/// Returns what a cache holds under a key, or nothing, in memory that object code takes over.
///
/// The library's own caches read straight into that memory. Any other cache is asked with get(),
/// and the result is copied once more.
[[nodiscard]] std::optional<PaddedCode> load(ProgramCache& cache, std::string_view key);

} // namespace cuprum::detail
