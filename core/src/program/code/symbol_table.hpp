// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/code/padded_code.hpp"

#include <cuprum/object_code.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace cuprum::detail {

/// Code, and the names of its kernels in the source.
struct CodeWithSymbols {
    PaddedCode code;
    SymbolMapping symbols;
};

/// Packs code and symbols into one piece for caches, which store bytes. The code comes first, so
/// that it can be used without a copy and tools can read it.
[[nodiscard]] std::vector<std::byte> with_symbols(const SymbolMapping& symbols,
                                                  std::span<const std::byte> code);

/// Unpacks the symbols from the result of with_symbols(). Returns false and changes nothing for
/// other bytes. Does not trust its input.
[[nodiscard]] bool take_symbols(CodeWithSymbols& packed);

} // namespace cuprum::detail
