// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Joins modules: what one declares .extern, another defines.
//
// The rules are those of object files. A .visible symbol is defined once. Of several .weak ones the
// first stays, and none where there is a .visible one. Of several .common ones the largest stays.
// Symbols without linkage are private to their module and get another name where they would clash.
// Arrays that are .extern .shared are no symbols to be resolved: they all name the memory that a
// launch gives to the block.

#pragma once

#include "ptx/tree.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::ptx {

/// One module to be linked.
struct LinkInput {
    std::string name; // as the log calls it
    Module module;
};

/// What linking gave.
struct LinkResult {
    std::string text;                // the joined module; empty if there were errors
    std::vector<std::string> errors; // one line each
    std::size_t entry_count = 0;     // kernels
};

/// Joins modules into one; changes names in them on the way.
///
/// `is_provided` tells which functions the device itself has, and need no definition.
[[nodiscard]] LinkResult link(std::span<LinkInput> inputs,
                              const std::function<bool(std::string_view)>& is_provided);

} // namespace cuprum::emulator::ptx
