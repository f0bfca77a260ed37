// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Joins modules: what one module declares .extern, another defines.
//
// The rules are those of object files:
// - A .visible symbol has one definition. It replaces all .weak ones; without it the first .weak
//   definition counts. Among .common definitions the largest counts.
// - Symbols without linkage are private to their module. They are renamed where they would clash.
// - A member of an archive is linked only if it defines a symbol that is still undefined.
// - .extern .shared arrays without a size need no definition: they all name the dynamic shared
//   memory of a launch.

#pragma once

#include "ptx/tree.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::ptx {

/// One module to be linked.
struct LinkInput {
    std::string name; // as the log calls it
    Module module;
    bool is_member = false; // of an archive: linked only if it is needed
};

/// The result of a link.
struct LinkResult {
    std::string text;                  // the joined module; empty if there were errors
    std::vector<std::string> errors;   // one line each
    std::vector<std::string> warnings; // one line each
    std::size_t input_count = 0;       // that were joined
    std::size_t entry_count = 0;       // kernels
};

/// Returns whether a variable is the dynamic shared memory of a launch. An .extern array with a
/// size is not: ptxas gives it that size, unless another module defines it.
[[nodiscard]] bool is_dynamic_shared(const Variable& variable);

/// Joins modules into one.
///
/// `is_provided` returns whether the device itself provides a function, so that no module needs to
/// define it.
[[nodiscard]] LinkResult link(std::vector<LinkInput> inputs,
                              const std::function<bool(std::string_view)>& is_provided);

} // namespace cuprum::emulator::ptx
