// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which instructions can work on linear registers, as the pass `find_linear` asks.

#pragma once

#include "bytecode/instruction.hpp"
#include "bytecode/kernel.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// What an instruction wants its operands to be when it runs with its linear handler.
enum class LinearKind : std::uint8_t {
    None,    // there is no linear handler
    Compute, // dst[0] is linear; each source is linear or the same for all lanes
    Compare, // src[0] and src[1] are linear or the same for all lanes, one of them linear
    Address, // src[0] is linear
};

/// The other way to run an instruction.
struct LinearVariant {
    LinearKind kind = LinearKind::None;
    bytecode::Handler handler = nullptr;
};

/// Returns how an instruction runs on linear registers.
[[nodiscard]] LinearVariant linear_variant(const bytecode::Instruction& instruction);

/// Returns the handler that brings the lanes of the linear register src[0] up to date.
[[nodiscard]] bytecode::Handler spread_handler(bytecode::Width width);

} // namespace cuprum::emulator
