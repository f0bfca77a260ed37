// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of NVRTC's functions: the only way to the compiler.

#pragma once

#include "libraries/loader.hpp"

#include <nvrtc.h>

#include <string>
#include <vector>

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
#include "libraries/nvrtc.def"
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

namespace cuprum::nvrtc {

/// Returns the name of a result code, such as "NVRTC_ERROR_COMPILATION".
[[nodiscard]] std::string name_of(nvrtcResult status);

/// Throws NVRTCError for a failed call, with the log and options of its compilation. `advice` says
/// what to do.
[[noreturn]] void raise(nvrtcResult status, const char* call, std::string log = {},
                        std::vector<std::string> options = {}, std::string_view advice = {});

/// Calls `entry`. A failure throws an NVRTCError that names it.
template <typename... Params, typename... Args>
void call(const libraries::Entry<nvrtcResult(Params...)>& entry, Args... args) {
    if (const nvrtcResult status = entry(args...); status != NVRTC_SUCCESS) {
        raise(status, entry.name);
    }
}

/// Returns the architectures that this NVRTC compiles for, ascending: 75, 80, 86...
[[nodiscard]] std::vector<int> supported_architectures();

/// Returns whether this NVRTC can end a compilation early.
[[nodiscard]] bool can_cancel();

} // namespace cuprum::nvrtc
