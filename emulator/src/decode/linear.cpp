// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "decode/linear.hpp"

#include "bytecode/forms.hpp"
#include "decode/select.hpp"

namespace cuprum::emulator {

using bytecode::Family;
using bytecode::Instruction;
using bytecode::Width;

namespace {

/// Returns whether a conversion changes only the width of an integer.
bool is_plain_conversion(const ConvertForm& form) {
    const auto width = [](Format format) {
        return format == Format::U64 || format == Format::S64 ? Width::B64 : Width::B32;
    };
    const ConvertForm plain{.from = form.from,
                            .to = form.to,
                            .from_width = width(form.from),
                            .to_width = width(form.to)};
    return form.packed() == plain.packed();
}

LinearKind possible_kind(const Instruction& instruction) {
    switch (instruction.form.family()) {
    case Family::Move:
    case Family::Integer:
    case Family::Bits:
        return instruction.tag == 0 ? LinearKind::Compute : LinearKind::None;
    case Family::Convert:
        return is_plain_conversion(instruction.form.as<ConvertForm>()) ? LinearKind::Compute
                                                                       : LinearKind::None;
    case Family::Compare:
        return instruction.tag == 0 ? LinearKind::Compare : LinearKind::None;
    case Family::Memory:
    case Family::Settle:
        return LinearKind::Address;
    default:
        return LinearKind::None;
    }
}

} // namespace

LinearKind linear_kind(const Instruction& instruction) {
    const LinearKind kind = possible_kind(instruction);
    return kind != LinearKind::None && linear_handler(instruction.form) != nullptr
               ? kind
               : LinearKind::None;
}

} // namespace cuprum::emulator
