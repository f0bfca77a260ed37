// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of NVRTC's functions: the only way to the compiler. Replaceable as a whole, like the
// driver's.

#pragma once

#include "libraries/entry.hpp"

#include <nvrtc.h>

#include <atomic>
#include <string>

namespace cuprum::nvrtc {

struct Table;

/// Returns the table in force.
[[nodiscard]] Table& table() noexcept;

/// Puts another table in force and returns the one before. The caller keeps both alive.
Table* exchange_table(Table* replacement) noexcept;

/// Finds a function of NVRTC, loading the library if need be.
/// @throws LibraryNotFoundError if NVRTC cannot be found, lacks the function or is too old.
[[nodiscard]] void* resolve(const char* name);

/// Returns the file that NVRTC was loaded from, links resolved; empty for a fake.
[[nodiscard]] std::string library_path();

/// Every NVRTC function that the library uses. Copyable: a test copies it, replaces some entries
/// and puts the copy in force.
struct Table {
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_NVRTC_FUNCTION(function)                                                            \
    Entry<decltype(::function)> function{&Stub<Table, &Table::function, &resolve, &table>::call,   \
                                         #function};
#include "libraries/nvrtc/symbols.def"
#undef CUPRUM_NVRTC_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

} // namespace cuprum::nvrtc
