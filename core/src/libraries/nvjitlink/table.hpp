// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of nvJitLink's functions: the only way to the linker. Replaceable as a whole, like the
// driver's.

#pragma once

#include "libraries/entry.hpp"

#include <nvJitLink.h>

#include <atomic>

namespace cuprum::nvjitlink {

struct Table;

/// Returns the table in force.
[[nodiscard]] Table& table() noexcept;

/// Puts another table in force and returns the one before. The caller keeps both alive.
Table* exchange_table(Table* replacement) noexcept;

/// Finds a function of nvJitLink, loading the library if need be.
/// @throws LibraryNotFoundError if it cannot be found, NotSupportedError if it lacks the function.
[[nodiscard]] void* resolve(const char* name);

/// Every nvJitLink function that the library uses.
struct Table {
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_NVJITLINK_FUNCTION(function)                                                        \
    nvrtc::Entry<decltype(::function)> function{                                                   \
        &nvrtc::Stub<Table, &Table::function, &resolve, &table>::call, #function};
#include "libraries/nvjitlink/symbols.def"
#undef CUPRUM_NVJITLINK_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

} // namespace cuprum::nvjitlink
