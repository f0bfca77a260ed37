// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the sequences of instructions that one handler can run, for the passes `fuse_loads` and
// `find_pairs`.

#pragma once

#include "bytecode/fused_forms.hpp"
#include "bytecode/instruction.hpp"

#include <optional>

namespace cuprum::emulator {

/// Gives the first of three instructions a handler that runs all of them. The three must be two
/// loads with linear addresses and a multiply-add of the loaded values. The caller ensures that
/// nothing else reads these values and that the three have no guards. May swap the factors of the
/// multiply-add.
void fuse_load_load_fma(bytecode::Instruction& first, const bytecode::Instruction& second,
                        bytecode::Instruction& fma);

/// Returns whether an instruction loads one 32-bit word from a linear address.
[[nodiscard]] bool is_word_load(const bytecode::Instruction& load);

/// Returns whether one handler may run two instructions in lockstep: a multiply-add and a store of
/// its result, or a comparison and a branch. The caller ensures that only the second instruction
/// reads the result of the first.
[[nodiscard]] bool runs_next(const bytecode::Instruction& first,
                             const bytecode::Instruction& second);

/// Gives the first of two f32 instructions a handler that runs both, if there is one. The caller
/// ensures that the second instruction, and nothing else, reads the result of the first, once. May
/// swap sources of the second.
void fuse_floats(bytecode::Instruction& first, bytecode::Instruction& second);

/// Returns the form of two instructions that fuse_floats() has fused.
[[nodiscard]] std::optional<FloatPairForm> find_float_pair(const bytecode::Instruction& first,
                                                           const bytecode::Instruction& second);

/// Returns whether an instruction adds linear values of 32 or 64 bits.
[[nodiscard]] bool is_linear_add(const bytecode::Instruction& instruction, unsigned bits);

/// Returns whether two loads read the same space.
[[nodiscard]] bool have_equal_spaces(const bytecode::Instruction& first,
                                     const bytecode::Instruction& second);

} // namespace cuprum::emulator
