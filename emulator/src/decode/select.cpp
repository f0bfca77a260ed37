// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "decode/select.hpp"

#include "bytecode/forms.hpp"
#include "bytecode/fused_forms.hpp"
#include "bytecode/image_forms.hpp"
#include "bytecode/matrix_forms.hpp"
#include "decode/fused.hpp"
#include "interp/lockstep.hpp"
#include "interp/texture.hpp"

#include <algorithm>
#include <span>

namespace cuprum::emulator {

using bytecode::Family;
using bytecode::Form;
using bytecode::Handler;
using bytecode::LockstepHandler;
using bytecode::Variant;

namespace {

Handler sample_handler(const SampleForm& form) {
    const Handler quick = selectors().texture(form);
    return quick != nullptr ? quick : texture::sample;
}

/// Returns the spaces of handlers that load constants through device memory.
ptx::Space fused_space(const Form& load) {
    const ptx::Space space = load.as<MemoryForm>().space;
    return space == ptx::Space::Constant ? ptx::Space::Global : space;
}

} // namespace

Handler plain_handler(const Form& form) {
    const Selectors& level = selectors();
    switch (form.family()) {
    case Family::Move:
        return level.move(form.as<MoveForm>());
    case Family::Integer:
        return level.integer(form.as<IntegerForm>());
    case Family::Dot:
        return level.dot(form.as<DotForm>());
    case Family::Bits:
        return level.bits(form.as<BitsForm>());
    case Family::Carry:
        return level.carry(form.as<CarryForm>());
    case Family::Float:
        return level.floating(form.as<FloatForm>());
    case Family::Compare:
        return level.compare(form.as<CompareForm>());
    case Family::Convert:
        return level.convert(form.as<ConvertForm>());
    case Family::Memory:
        return level.memory(form.as<MemoryForm>());
    case Family::Atomic:
        return level.atomic(form.as<AtomicForm>());
    case Family::Warp:
        return level.warp(form.as<WarpForm>());
    case Family::Matrix:
        return level.matrix(form.as<MatrixForm>());
    case Family::Copy:
        return level.copy(form.as<CopyForm>());
    case Family::Pack:
        return level.pack(form.as<PackForm>());
    case Family::Sample:
        return sample_handler(form.as<SampleForm>());
    case Family::Spread:
        return level.spread(form.as<SpreadForm>().width);
    case Family::Settle:
        return level.settle;
    case Family::None:
    case Family::Fixed:
        break;
    }
    return nullptr;
}

Handler linear_handler(const Form& form) {
    const Selectors& level = selectors();
    switch (form.family()) {
    case Family::Move:
        return level.linear_move(form.as<MoveForm>());
    case Family::Integer:
        return level.linear_integer(form.as<IntegerForm>());
    case Family::Bits:
        return level.linear_bits(form.as<BitsForm>());
    case Family::Compare:
        return level.linear_compare(form.as<CompareForm>());
    case Family::Convert:
        return level.linear_convert(form.as<ConvertForm>());
    case Family::Memory:
        return level.linear_memory(form.as<MemoryForm>());
    case Family::Settle:
        return level.linear_settle;
    default:
        return nullptr;
    }
}

namespace {

LoadLoadFmaForm fused_form(const Form& first, const Form& second) {
    const FusedRole role = first.variant == Variant::FusedAddsSecond  ? FusedRole::AddsSecond
                           : first.variant == Variant::FusedAddsFirst ? FusedRole::AddsFirst
                                                                      : FusedRole::Product;
    return {.first = fused_space(first),
            .second = fused_space(second),
            .role = role,
            .is_chain = first.variant == Variant::FusedChain};
}

} // namespace

Handler fused_handler(const Form& first, const Form& second) {
    return selectors().fused->load_load_fma(fused_form(first, second));
}

Handler pair_handler(const bytecode::Instruction& first, const bytecode::Instruction& second) {
    return selectors().fused->float_pair(find_float_pair(first, second).value());
}

namespace {

/// Returns whether all warps fetch from one texture, with coordinates of their own.
bool has_one_texture(const bytecode::Instruction& at) {
    const auto is_of_block = [](bytecode::Operand operand) {
        return operand.bank() == bytecode::Bank::Block;
    };
    return at.guard.is_none() && at.src[0].bank() != bytecode::Bank::Registers &&
           std::none_of(at.src, at.src + at.src_count, is_of_block);
}

/// Returns the handler of an instruction on plain registers.
LockstepHandler plain_lockstep_handler(const bytecode::Instruction& at) {
    const LockstepSelectors& level = *selectors().lockstep;
    LockstepHandler handler = nullptr;
    if (at.guard.is_none() && at.form.family() == Family::Float) {
        handler = level.floating(at.form.as<FloatForm>());
    } else if (at.guard.is_none() && at.form.family() == Family::Convert) {
        handler = level.conversion(at.form.as<ConvertForm>());
    }
    return handler != nullptr ? handler : lockstep::common_handler(at);
}

} // namespace

LockstepHandler lockstep_handler(std::span<const bytecode::Instruction> code) {
    const LockstepSelectors* const level = selectors().lockstep;
    const bytecode::Instruction& at = code[0];
    const Form& form = at.form;
    if (level == nullptr) {
        return nullptr;
    }
    if (form.family() == Family::Spread) {
        return level->spread(form.as<SpreadForm>().width);
    }
    if (form.family() == Family::Sample && has_one_texture(at)) {
        if (const LockstepHandler handler = level->texture(form.as<SampleForm>())) {
            return handler;
        }
    }
    switch (form.variant) {
    case Variant::Plain:
        return plain_lockstep_handler(at);
    case Variant::FusedProduct:
    case Variant::FusedAddsSecond:
    case Variant::FusedAddsFirst:
    case Variant::FusedChain: {
        LoadLoadFmaForm fused = fused_form(form, code[1].form);
        fused.is_stored = (code[2].flags & bytecode::RUNS_NEXT) != 0;
        return level->load_load_fma(fused);
    }
    case Variant::FusedPair:
        return level->float_pair(find_float_pair(at, code[1]).value());
    default:
        break;
    }
    switch (form.family()) {
    case Family::Move:
        return level->move(form.as<MoveForm>());
    case Family::Integer:
        return level->integer(form.as<IntegerForm>());
    case Family::Bits:
        return level->bits(form.as<BitsForm>());
    case Family::Compare:
        return level->compare(form.as<CompareForm>());
    case Family::Convert:
        return level->convert(form.as<ConvertForm>());
    case Family::Memory:
        return level->memory(form.as<MemoryForm>());
    case Family::Settle:
        return level->settle;
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator
