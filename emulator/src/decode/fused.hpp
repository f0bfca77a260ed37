// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the sequences of instructions that one handler can run, for the pass `fuse_loads`.

#pragma once

#include "bytecode/instruction.hpp"

namespace cuprum::emulator {

/// Gives the first of three instructions a handler that runs all of them. The three must be two
/// loads with linear addresses and a multiply-add of the loaded values. The caller ensures that
/// nothing else reads these values and that the three have no guards. May swap the factors of the
/// multiply-add.
void fuse_load_load_fma(bytecode::Instruction& first, const bytecode::Instruction& second,
                        bytecode::Instruction& fma);

/// Returns whether an instruction loads one 32-bit word from a linear address.
[[nodiscard]] bool is_word_load(const bytecode::Instruction& load);

/// Returns whether an instruction adds linear values of 32 or 64 bits.
[[nodiscard]] bool is_linear_add(const bytecode::Instruction& instruction, unsigned bits);

/// Returns whether two loads read the same space.
[[nodiscard]] bool have_equal_spaces(const bytecode::Instruction& first,
                                     const bytecode::Instruction& second);

} // namespace cuprum::emulator
