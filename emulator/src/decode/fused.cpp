// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "decode/fused.hpp"

#include "bytecode/forms.hpp"
#include "decode/select.hpp"

#include <utility>

namespace cuprum::emulator {

using bytecode::Family;
using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Variant;

bool is_word_load(const Instruction& load) {
    if (load.form.family() != Family::Memory || load.form.variant != Variant::Linear) {
        return false;
    }
    const auto form = load.form.as<MemoryForm>();
    return !form.is_store && form.count == 1 && form.element_bytes == 4 &&
           form.register_width == bytecode::Width::B32;
}

namespace {

/// Returns whether an instruction is fma.rn.f32 without further modifiers.
bool is_plain_fma(const Instruction& instruction) {
    if (instruction.form.family() != Family::Float) {
        return false;
    }
    const auto form = instruction.form.as<FloatForm>();
    return form.op == FloatOp::Fma && form.type == ptx::Type::F32 &&
           form.rounding == Rounding::Nearest && !form.flushes && !form.is_saturating &&
           !form.is_relu && !form.is_oob;
}

} // namespace

void fuse_load_load_fma(Instruction& first, const Instruction& second, Instruction& fma) {
    if (!is_plain_fma(fma) || !is_word_load(first) || !is_word_load(second)) {
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
    Variant role = Variant::FusedProduct;
    if (is_sum && fma.src[0] == loaded) {
        role = fma.src[2] == b ? Variant::FusedAddsSecond : Variant::FusedAddsFirst;
    } else if (is_sum ||
               !((fma.src[0] == a && fma.src[1] == b) || (fma.src[0] == b && fma.src[1] == a))) {
        return;
    }
    bytecode::Form fused = first.form;
    fused.variant = role;
    if (fused_handler(fused, second.form) != nullptr) {
        first.form = fused;
    }
}

bool is_linear_add(const Instruction& instruction, unsigned bits) {
    if (instruction.form.family() != Family::Integer ||
        instruction.form.variant != Variant::Linear) {
        return false;
    }
    const auto form = instruction.form.as<IntegerForm>();
    const bool fits = bits == 64 ? form.type == ptx::Type::U64 || form.type == ptx::Type::S64
                                 : form.type == ptx::Type::U32 || form.type == ptx::Type::S32;
    return form.op == IntegerOp::Add && fits;
}

bool have_equal_spaces(const Instruction& first, const Instruction& second) {
    return first.form.as<MemoryForm>().space == second.form.as<MemoryForm>().space;
}

} // namespace cuprum::emulator
