// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "decode/fused.hpp"

#include "bytecode/forms.hpp"
#include "bytecode/fused_forms.hpp"

#include <optional>
#include <utility>

namespace cuprum::emulator {

using bytecode::Instruction;
using bytecode::Operand;
using ptx::Space;

namespace {

/// Returns the space of an f32 load with a linear address; none for other instructions.
std::optional<Space> space_of(const Instruction& load) {
    for (const Space space : {Space::Global, Space::Shared, Space::None}) {
        if (load.handler == selectors().linear_memory({.space = space})) {
            return space;
        }
    }
    return std::nullopt;
}

} // namespace

void fuse_load_load_fma(Instruction& first, const Instruction& second, Instruction& fma) {
    const FloatForm form{.op = FloatOp::Fma, .type = ptx::Type::F32};
    if (fma.handler != selectors().floating(form)) {
        return;
    }
    const std::optional<Space> first_space = space_of(first);
    const std::optional<Space> second_space = space_of(second);
    if (!first_space || !second_space) {
        return;
    }
    const Operand a = first.dst[0];
    const Operand b = second.dst[0];
    // If only one factor is loaded, it must come first.
    const Operand loaded = fma.src[2] == b ? a : b;
    const bool is_sum = fma.src[2] == a || fma.src[2] == b;
    if (is_sum && fma.src[1] == loaded) {
        std::swap(fma.src[0], fma.src[1]);
    }
    FusedRole role = FusedRole::Product;
    if (is_sum && fma.src[0] == loaded) {
        role = fma.src[2] == b ? FusedRole::AddsSecond : FusedRole::AddsFirst;
    } else if (is_sum ||
               !((fma.src[0] == a && fma.src[1] == b) || (fma.src[0] == b && fma.src[1] == a))) {
        return;
    }
    const bytecode::Handler handler = selectors().fused->load_load_fma(
        {.first = *first_space, .second = *second_space, .role = role});
    if (handler != nullptr) {
        first.handler = handler;
    }
}

} // namespace cuprum::emulator
