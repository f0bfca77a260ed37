// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of libNVVM's functions: the only way to the compiler of NVVM IR.

#pragma once

#include "libraries/loader.hpp"
#include "libraries/nvvm/declarations.hpp"

namespace cuprum::nvvm {

struct Table;
using Library = libraries::Loader<Table>;

/// Every libNVVM function that Cuprum uses.
struct Table {
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_NVVM_FUNCTION(function)                                                             \
    libraries::Entry<decltype(declared::function)> function{                                       \
        &libraries::Stub<Table, &Table::function>::call, #function};
#include "libraries/nvvm/symbols.def"
#undef CUPRUM_NVVM_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

/// Returns the active table.
[[nodiscard]] inline Table& table() noexcept {
    return Library::table();
}

} // namespace cuprum::nvvm

template <>
const cuprum::libraries::LibraryDescription
    cuprum::libraries::Loader<cuprum::nvvm::Table>::DESCRIPTION;

extern template class cuprum::libraries::Loader<cuprum::nvvm::Table>;
