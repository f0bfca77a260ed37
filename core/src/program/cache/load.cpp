// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/cache/load.hpp"

#include "program/cache/forgiving_cache.hpp"

#include <cuprum/detail/access.hpp>

#include <cstddef>
#include <vector>

namespace cuprum::detail {

std::optional<PaddedCode> load(ProgramCache& cache, std::string_view key) {
    if (auto* const forgiving = dynamic_cast<ForgivingCache*>(&cache)) {
        return forgiving->load(key);
    }
    if (auto* const files = dynamic_cast<FileStreamProgramCache*>(&cache)) {
        return Access::load(*files, key);
    }
    if (auto* const memory = dynamic_cast<InMemoryProgramCache*>(&cache)) {
        return Access::load(*memory, key);
    }
    const std::optional<std::vector<std::byte>> code = cache.get(key);
    return code.has_value() ? std::optional(PaddedCode(*code)) : std::nullopt;
}

} // namespace cuprum::detail
