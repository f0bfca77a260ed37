// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bytecode/fused_forms.hpp"
#include "interp/handlers/linear.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

const Selectors SELECTORS = {
    .move = select_move,
    .integer = select_integer,
    .dot = select_dot,
    .bits = select_bits,
    .carry = select_carry,
    .floating = select_float,
    .compare = select_compare,
    .convert = select_convert,
    .memory = select_memory,
    .atomic = select_atomic,
    .warp = select_warp,
    .matrix = select_matrix,
    .copy = select_copy,
    .pack = select_pack,
    .texture = select_texture,
    .linear_move = select_linear_move,
    .linear_integer = select_linear_integer,
    .linear_bits = select_linear_bits,
    .linear_compare = select_linear_compare,
    .linear_convert = select_linear_convert,
    .linear_memory = select_linear_memory,
    .spread = select_spread,
    .settle = settle_lanes,
    .linear_settle = HAS_LINEAR_HANDLERS ? settle_linear : nullptr,
    .fused = &FUSED_SELECTORS,
    .lockstep = HAS_LINEAR_HANDLERS ? &LOCKSTEP_SELECTORS : nullptr,
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
