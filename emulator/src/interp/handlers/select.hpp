// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The selectors of one instruction-set level, one per family; `table.cpp` collects them.

#pragma once

#include "bytecode/fused_forms.hpp"
#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

Handler select_move(const MoveForm& form);
Handler select_integer(const IntegerForm& form);
Handler select_dot(const DotForm& form);
Handler select_bits(const BitsForm& form);
Handler select_carry(const CarryForm& form);
Handler select_float(const FloatForm& form);
Handler select_function(const FloatForm& form);
Handler select_half(const FloatForm& form);
Handler select_compare(const CompareForm& form);
Handler select_half_compare(const CompareForm& form);
Handler select_convert(const ConvertForm& form);
const Instruction* convert_any(WarpContext& warp, const Instruction* at, std::uint32_t mask);
const Instruction* convert_integer_to_double(WarpContext& warp, const Instruction* at,
                                             std::uint32_t mask);
const Instruction* convert_random(WarpContext& warp, const Instruction* at, std::uint32_t mask);
Handler select_memory(const MemoryForm& form);
Handler select_atomic(const AtomicForm& form);
Handler select_warp(const WarpForm& form);
Handler select_matrix(const MatrixForm& form);
Handler select_copy(const CopyForm& form);
Handler select_pack(const PackForm& form);
Handler select_texture(const SampleForm& form);
bytecode::LockstepHandler select_lockstep_texture(const SampleForm& form);
bytecode::LockstepHandler select_lockstep_float(const FloatForm& form);
bytecode::LockstepHandler select_lockstep_conversion(const ConvertForm& form);
Handler select_float_pair(const FloatPairForm& form);
bytecode::LockstepHandler select_lockstep_float_pair(const FloatPairForm& form);
Handler select_linear_move(const MoveForm& form);
Handler select_linear_integer(const IntegerForm& form);
Handler select_linear_bits(const BitsForm& form);
Handler select_linear_compare(const CompareForm& form);
Handler select_linear_convert(const ConvertForm& form);
Handler select_linear_memory(const MemoryForm& form);
Handler select_linear_vectors(const MemoryForm& form);
Handler select_spread(Width width);
const Instruction* settle_lanes(WarpContext& warp, const Instruction* at, std::uint32_t mask);
const Instruction* settle_linear(WarpContext& warp, const Instruction* at, std::uint32_t mask);
const Instruction* settle_block(Lockstep& block, const Instruction* at);

extern const Selectors SELECTORS;
extern const FusedSelectors FUSED_SELECTORS;
extern const LockstepSelectors LOCKSTEP_SELECTORS;

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
