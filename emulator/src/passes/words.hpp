// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/tree.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace cuprum::emulator::passes {

/// Quotes a name for a message.
[[nodiscard]] inline std::string quoted(std::string_view name) {
    return "'" + std::string(name) + "'";
}

[[nodiscard]] inline bool has_modifier(const ptx::Instruction& instruction,
                                       std::string_view modifier) {
    return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) !=
           instruction.modifiers.end();
}

} // namespace cuprum::emulator::passes
