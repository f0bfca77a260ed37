// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "decode/fused.hpp"

#include "bytecode/forms.hpp"
#include "decode/select.hpp"

#include <optional>
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

/// Returns what an instruction of f32 computes: add, sub, mul or fma without further modifiers.
std::optional<FloatOp> plain_operation(const Instruction& instruction) {
    if (instruction.form.family() != Family::Float) {
        return std::nullopt;
    }
    const auto form = instruction.form.as<FloatForm>();
    const bool is_plain = form.type == ptx::Type::F32 && form.rounding == Rounding::Nearest &&
                          !form.flushes && !form.is_saturating && !form.is_relu && !form.is_oob;
    const bool is_known = form.op == FloatOp::Add || form.op == FloatOp::Sub ||
                          form.op == FloatOp::Mul || form.op == FloatOp::Fma;
    return is_plain && is_known ? std::optional(form.op) : std::nullopt;
}

/// Returns how a comparison of f32 uses its first source, if it only writes a predicate.
std::optional<FloatPairUse> use_of_comparison(const Instruction& instruction) {
    const auto form = instruction.form.as<CompareForm>();
    if (form.type != ptx::Type::F32 || form.flushes || form.result != CompareResult::Predicate ||
        instruction.tag != 0 || instruction.dst_count != 1) {
        return std::nullopt;
    }
    switch (form.compare) {
    case Compare::Lt:
        return FloatPairUse::Less;
    case Compare::Le:
        return FloatPairUse::NotGreater;
    case Compare::Gt:
        return FloatPairUse::Greater;
    case Compare::Ge:
        return FloatPairUse::NotLess;
    default:
        return std::nullopt;
    }
}

/// Returns whether an instruction stores one 32-bit word to a linear address in device memory.
bool is_word_store(const Instruction& store) {
    if (store.form.family() != Family::Memory || store.form.variant != Variant::Linear) {
        return false;
    }
    const auto form = store.form.as<MemoryForm>();
    return form.is_store && !form.is_ordered && form.count == 1 && form.element_bytes == 4 &&
           form.register_width == bytecode::Width::B32 && form.space == ptx::Space::Global;
}

} // namespace

void fuse_load_load_fma(Instruction& first, const Instruction& second, Instruction& fma) {
    if (plain_operation(fma) != FloatOp::Fma || !is_word_load(first) || !is_word_load(second)) {
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

bool runs_next(const Instruction& first, const Instruction& second) {
    const Operand result = first.dst[0];
    if (plain_operation(first) == FloatOp::Fma) {
        return is_word_store(second) && second.guard.is_none() && second.src[1] == result;
    }
    return first.form.family() == Family::Compare && first.form.variant == Variant::Linear &&
           second.form.is(FixedOp::BranchGuarded) && second.guard == result;
}

void fuse_floats(Instruction& first, Instruction& second) {
    // A multiply-add may belong to a sequence of fuse_loads already.
    const std::optional<FloatOp> op = plain_operation(first);
    if (!op || op == FloatOp::Fma || first.form.variant != Variant::Plain ||
        second.form.variant != Variant::Plain || !second.guard.is_none()) {
        return;
    }
    const std::optional<FloatOp> next = plain_operation(second);
    if (next && next != FloatOp::Sub && second.src[1] == first.dst[0]) {
        std::swap(second.src[0], second.src[1]); // NaNs become canonical, so the order is free
    }
    if (find_float_pair(first, second)) {
        first.form.variant = Variant::FusedPair;
    }
}

std::optional<FloatPairForm> find_float_pair(const Instruction& first, const Instruction& second) {
    const std::optional<FloatOp> op = plain_operation(first);
    if (!op) {
        return std::nullopt;
    }
    const auto is_result = [&](unsigned source) { return second.src[source] == first.dst[0]; };
    std::optional<FloatPairUse> use;
    if (second.form.family() == Family::Compare) {
        use = is_result(0) ? use_of_comparison(second) : std::nullopt;
    } else if (const std::optional<FloatOp> next = plain_operation(second); next) {
        const bool is_sum = next == FloatOp::Fma;
        if (is_result(0)) {
            use = is_sum                 ? FloatPairUse::Scaled
                  : next == FloatOp::Add ? FloatPairUse::Added
                  : next == FloatOp::Sub ? FloatPairUse::Reduced
                                         : FloatPairUse::Multiplied;
        } else if (is_sum && is_result(2)) {
            use = FloatPairUse::Summed;
        } else if (next == FloatOp::Sub && is_result(1)) {
            use = FloatPairUse::Subtracted;
        }
    }
    return use ? std::optional(FloatPairForm{*op, *use}) : std::nullopt;
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
