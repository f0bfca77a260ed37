// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program_cache.hpp>

#include <string>
#include <string_view>

namespace cuprum::detail {

/// Returns the key of a compilation whose source has this SHA-256: a program's is made once.
[[nodiscard]] std::string make_key(const ProgramCacheKeyParts& parts, std::string_view code_digest);

} // namespace cuprum::detail
