// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of libNVVM's functions: the only way to the compiler of NVVM IR. Replaceable as a
// whole, like the driver's.

#pragma once

#include "libraries/entry.hpp"
#include "libraries/nvvm/declarations.hpp"

#include <string>

namespace cuprum::nvvm {

struct Table;

/// Returns the table in force.
[[nodiscard]] Table& table() noexcept;

/// Puts another table in force and returns the one before. The caller keeps both alive.
Table* exchange_table(Table* replacement) noexcept;

/// Finds a function of libNVVM, loading the library if need be.
/// @throws LibraryNotFoundError if it cannot be found, NotSupportedError if it lacks the function.
[[nodiscard]] void* resolve(const char* name);

/// Returns where libNVVM was loaded from, empty if it was not.
[[nodiscard]] std::string library_path();

/// Every libNVVM function that the library uses.
struct Table {
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_NVVM_FUNCTION(function)                                                             \
    nvrtc::Entry<decltype(declared::function)> function{                                           \
        &nvrtc::Stub<Table, &Table::function, &resolve, &table>::call, #function};
#include "libraries/nvvm/symbols.def"
#undef CUPRUM_NVVM_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

} // namespace cuprum::nvvm
