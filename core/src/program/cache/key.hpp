// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program_cache.hpp>

#include <string>
#include <string_view>

namespace cuprum::detail {

/// What keys need to know of a source. Reading it takes longer than all the rest, so that a program
/// keeps it.
struct SourceFacts {
    explicit SourceFacts(std::string_view code);

    std::string digest;           // SHA-256
    bool mentions_include = true; // false: it includes no header, without looking closer
    bool may_read_files = true;   // false: nor anything else
};

/// Returns the key of a compilation of a source with these facts.
[[nodiscard]] std::string make_key(const ProgramCacheKeyParts& parts, const SourceFacts& facts);

} // namespace cuprum::detail
