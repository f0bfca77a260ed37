// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the instructions that can work on linear registers, for the pass `find_linear`.

#pragma once

#include "bytecode/instruction.hpp"
#include "bytecode/kernel.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// What the linear handler of an instruction expects of its operands.
enum class LinearKind : std::uint8_t {
    None,    // there is no linear handler
    Compute, // dst[0] is linear; each source is linear or uniform over the lanes
    Compare, // src[0] and src[1] are linear or uniform, at least one is linear
    Address, // src[0] is linear
};

/// The alternative handler of an instruction.
struct LinearVariant {
    LinearKind kind = LinearKind::None;
    bytecode::Handler handler = nullptr;
};

/// Returns the linear variant of an instruction.
[[nodiscard]] LinearVariant linear_variant(const bytecode::Instruction& instruction);

/// Returns the handler that brings the lanes of the linear register src[0] up to date.
[[nodiscard]] bytecode::Handler spread_handler(bytecode::Width width);

} // namespace cuprum::emulator
