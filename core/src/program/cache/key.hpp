// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program_cache.hpp>

#include <string>
#include <string_view>

namespace cuprum::detail {

/// What a key holds about a source. Computing it takes longer than the rest of the key, so a
/// program keeps it.
struct SourceFacts {
    explicit SourceFacts(std::string_view code);

    std::string digest;         // SHA-256
    bool may_read_files = true; // false: the source certainly reads no file
};

/// Returns the key of a compilation. `toolchain` identifies the compiler, see toolchain_of().
[[nodiscard]] std::string make_key(const ProgramCacheKeyParts& parts, const SourceFacts& facts,
                                   std::string_view toolchain);

} // namespace cuprum::detail
