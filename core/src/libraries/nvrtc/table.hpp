// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of NVRTC's functions: the only way to the compiler.

#pragma once

#include "libraries/loader.hpp"

#include <nvrtc.h>

namespace cuprum::nvrtc {

struct Table;
using Library = libraries::Loader<Table>;

/// Every NVRTC function that Cuprum uses. Copyable: a test copies it, replaces some entries and
/// activates the copy.
struct Table {
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_NVRTC_FUNCTION(function)                                                            \
    libraries::Entry<decltype(::function)> function{                                               \
        &libraries::Stub<Table, &Table::function>::call, #function};
#include "libraries/nvrtc/symbols.def"
#undef CUPRUM_NVRTC_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

/// Returns the active table.
[[nodiscard]] inline Table& table() noexcept {
    return Library::table();
}

} // namespace cuprum::nvrtc

template <>
const cuprum::libraries::LibraryDescription
    cuprum::libraries::Loader<cuprum::nvrtc::Table>::DESCRIPTION;

extern template class cuprum::libraries::Loader<cuprum::nvrtc::Table>;
