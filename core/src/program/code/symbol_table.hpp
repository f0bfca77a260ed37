// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/code/padded_code.hpp"

#include <cuprum/object_code.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace cuprum::detail {

/// Code, and what its kernels are called in the source.
struct CodeWithSymbols {
    PaddedCode code;
    SymbolMapping symbols;
};

/// Returns code and symbols in one piece, for caches, which keep bytes. The code comes first: it is
/// taken out without a copy, and tools can read it.
[[nodiscard]] std::vector<std::byte> with_symbols(const SymbolMapping& symbols,
                                                  std::span<const std::byte> code);

/// Takes the symbols out of what with_symbols() made; false, with nothing changed, if it is none of
/// that. Does not trust what it reads.
[[nodiscard]] bool take_symbols(CodeWithSymbols& packed);

} // namespace cuprum::detail
