// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the instructions that can work on linear registers, for the pass `find_linear`.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// What the linear handler of an instruction expects of its operands.
enum class LinearKind : std::uint8_t {
    None,    // there is no linear handler
    Compute, // dst[0] is linear; each source is linear or uniform over the lanes
    Compare, // src[0] and src[1] are linear or uniform, at least one is linear
    Address, // src[0] is linear
};

/// Returns what an instruction's linear handler expects.
[[nodiscard]] LinearKind linear_kind(const bytecode::Instruction& instruction);

} // namespace cuprum::emulator
