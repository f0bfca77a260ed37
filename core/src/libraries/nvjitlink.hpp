// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of nvJitLink's functions: the only way to the linker.

#pragma once

#include "libraries/loader.hpp"

#include <nvJitLink.h>

#include <string>

namespace cuprum::nvjitlink {

struct Table;
using Library = libraries::Loader<Table>;

/// Every nvJitLink function that Cuprum uses.
struct Table {
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_NVJITLINK_FUNCTION(function)                                                        \
    libraries::Entry<decltype(::function)> function{                                               \
        &libraries::Stub<Table, &Table::function>::call, #function};
#include "libraries/nvjitlink.def"
#undef CUPRUM_NVJITLINK_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

/// Returns the active table.
[[nodiscard]] inline Table& table() noexcept {
    return Library::table();
}

} // namespace cuprum::nvjitlink

template <>
const cuprum::libraries::LibraryDescription
    cuprum::libraries::Loader<cuprum::nvjitlink::Table>::DESCRIPTION;

extern template class cuprum::libraries::Loader<cuprum::nvjitlink::Table>;

namespace cuprum::nvjitlink {

/// Returns the name of a result code, such as "NVJITLINK_ERROR_PTX_COMPILE".
[[nodiscard]] std::string name_of(nvJitLinkResult status);

/// Returns nvJitLink's version, such as "13.0".
[[nodiscard]] std::string version();

} // namespace cuprum::nvjitlink
