// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The video instructions, scalar (vadd) and on halfwords or bytes (vadd2, vadd4).

#include "interp/video.hpp"

#include "decode/reader.hpp"

#include <array>
#include <bit>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using ptx::Type;
using video::Form;
using video::Op;
using video::Second;

namespace {

struct Entry {
    std::string_view name; // without the number of elements
    Op op;
};

constexpr std::array ENTRIES{
    Entry{"vadd", Op::Add},       Entry{"vsub", Op::Sub},        Entry{"vabsdiff", Op::AbsDiff},
    Entry{"vmin", Op::Min},       Entry{"vmax", Op::Max},        Entry{"vavrg", Op::Average},
    Entry{"vshl", Op::ShiftLeft}, Entry{"vshr", Op::ShiftRight}, Entry{"vmad", Op::Multiply},
    Entry{"vset", Op::Eq},
};

constexpr std::array<std::string_view, 7> PARTS{"b0", "b1", "b2", "b3", "h0", "h1"};

/// Cuts the selector off an operand's name and returns it; empty if there is none.
std::string_view cut_selector(ptx::Operand& operand) {
    const std::size_t dot = operand.text.rfind('.');
    if (operand.kind != ptx::Operand::Kind::Name || dot == std::string_view::npos || dot == 0) {
        return {};
    }
    const std::string_view selector = operand.text.substr(dot + 1);
    operand.text = operand.text.substr(0, dot);
    return selector;
}

/// Returns the part that a selector of a scalar instruction names.
std::uint8_t part_of(Reader& reader, std::string_view selector) {
    if (selector.empty()) {
        return Form::ALL;
    }
    for (std::uint8_t i = 0; i < Form::ALL; ++i) {
        if (PARTS[i] == selector) {
            return i;
        }
    }
    reader.reject("has the unknown selector ." + std::string(selector));
    return Form::ALL;
}

/// Returns one nibble per element that a selector such as h10 or b7654 names, lowest first.
std::uint32_t elements_of(Reader& reader, std::string_view selector, unsigned lanes,
                          std::uint32_t fallback) {
    if (selector.empty()) {
        return fallback;
    }
    std::uint32_t result = 0;
    const bool is_known = selector.size() == lanes + 1 && selector[0] == (lanes == 2 ? 'h' : 'b');
    for (unsigned i = 0; is_known && i < lanes; ++i) {
        const char digit = selector[selector.size() - 1 - i];
        if (digit < '0' || digit >= static_cast<char>('0' + 2 * lanes)) {
            reader.reject("has the unknown selector ." + std::string(selector));
            return 0;
        }
        result |= static_cast<std::uint32_t>(digit - '0') << (4 * i);
    }
    if (!is_known) {
        reader.reject("has the unknown selector ." + std::string(selector));
    }
    return result;
}

/// Returns the mask of written elements that .h10 or .b310 names.
std::uint8_t mask_of(Reader& reader, std::string_view selector, unsigned lanes) {
    if (selector.empty()) {
        return static_cast<std::uint8_t>((1u << lanes) - 1);
    }
    unsigned mask = 0;
    if (selector[0] != (lanes == 2 ? 'h' : 'b') || selector.size() < 2) {
        reader.reject("has the unknown mask ." + std::string(selector));
        return 0;
    }
    for (const char digit : selector.substr(1)) {
        if (digit < '0' || digit >= static_cast<char>('0' + lanes)) {
            reader.reject("has the unknown mask ." + std::string(selector));
            return 0;
        }
        mask |= 1u << (digit - '0');
    }
    return static_cast<std::uint8_t>(mask);
}

bool take_signedness(Reader& reader) {
    return is_signed(reader.take_type_of({Type::U32, Type::S32}));
}

/// Takes the types and modifiers of an operation.
void take_modifiers(Reader& reader, Form& form, bool is_compare) {
    unsigned flags = 0;
    if (is_compare) {
        const int which = reader.take_one_of({"eq", "ne", "lt", "le", "gt", "ge"});
        if (which < 0) {
            reader.reject("names no comparison");
        }
        form.op = static_cast<Op>(static_cast<int>(Op::Eq) + std::max(which, 0));
    } else if (take_signedness(reader)) {
        flags |= Form::SIGNED_D;
    }
    flags |= take_signedness(reader) ? Form::SIGNED_A : 0u;
    flags |= take_signedness(reader) ? Form::SIGNED_B : 0u;
    if (!is_compare && reader.take("sat")) {
        flags |= Form::SATURATES;
    }
    if (form.op == Op::ShiftLeft || form.op == Op::ShiftRight) {
        const int mode = reader.take_one_of({"clamp", "wrap"});
        if (mode < 0) {
            reader.reject("needs .clamp or .wrap");
        }
        flags |= mode == 1 ? Form::WRAPS : 0u;
    }
    if (form.op == Op::Multiply) {
        const int scale = reader.take_one_of({"shr7", "shr15"});
        form.shift = static_cast<std::uint8_t>(scale < 0 ? 0 : scale == 0 ? 7 : 15);
        flags |= reader.take("po") ? Form::PLUS_ONE : 0u;
    } else {
        const int second = form.lanes == 1 ? reader.take_one_of({"add", "min", "max"})
                                           : reader.take_one_of({"add"});
        form.second = static_cast<Second>(second + 1);
    }
    form.flags = static_cast<std::uint8_t>(flags);
}

/// Takes the signs of vmad's operands and the .po of the last one.
void take_signs(Reader& reader, Form& form, std::array<ptx::Operand, 4>& operands) {
    unsigned flags = form.flags;
    if (operands[1].is_minus != operands[2].is_minus) {
        flags |= Form::NEGATES_AB;
    }
    if (operands[3].is_minus) {
        flags |= Form::NEGATES_C;
    }
    if (cut_selector(operands[3]) == "po") {
        flags |= Form::PLUS_ONE;
    }
    for (ptx::Operand& operand : operands) {
        operand.is_negated = operand.is_minus = false;
    }
    constexpr unsigned EXCLUSIVE = Form::NEGATES_AB | Form::NEGATES_C | Form::PLUS_ONE;
    if (std::popcount(flags & EXCLUSIVE) > 1) {
        reader.reject("negates both the product and the sum");
    }
    form.flags = static_cast<std::uint8_t>(flags);
}

} // namespace

void decode_video(Reader& reader) {
    std::string_view name = reader.opcode();
    Form form;
    if (name.back() == '2' || name.back() == '4') {
        form.lanes = static_cast<std::uint8_t>(name.back() - '0');
        name.remove_suffix(1);
    }
    for (const Entry& entry : ENTRIES) {
        if (entry.name == name) {
            form.op = entry.op;
        }
    }
    take_modifiers(reader, form, name == "vset");
    const bool needs_c = form.lanes != 1 || form.op == Op::Multiply || form.second != Second::None;
    if (!reader.finish(needs_c ? 4 : 3, 4)) {
        return;
    }
    std::array<ptx::Operand, 4> operands;
    for (std::size_t i = 0; i < reader.operand_count(); ++i) {
        operands[i] = reader.operand(i);
    }
    if (form.op == Op::Multiply) {
        take_signs(reader, form, operands);
    }
    const std::string_view d = cut_selector(operands[0]);
    const std::string_view a = cut_selector(operands[1]);
    const std::string_view b = cut_selector(operands[2]);
    bytecode::Instruction rest;
    if (form.lanes == 1) {
        form.d = part_of(reader, d);
        form.a = part_of(reader, a);
        form.b = part_of(reader, b);
        if (reader.operand_count() == 4 && form.second == Second::None && form.op != Op::Multiply) {
            form.second = Second::Merge;
        }
        if ((form.second == Second::Merge) != (form.d != Form::ALL)) {
            reader.reject(
                "merges only into a part of the destination, and then needs a third source");
            return;
        }
    } else {
        form.d = mask_of(reader, d, form.lanes);
        rest.target = elements_of(reader, a, form.lanes, form.lanes == 2 ? 0x10 : 0x3210) |
                      elements_of(reader, b, form.lanes, form.lanes == 2 ? 0x32 : 0x7654) << 16;
    }
    rest.immediate = std::bit_cast<std::int64_t>(form);
    const Operand sources[3] = {
        reader.source(operands[1], Type::U32), reader.source(operands[2], Type::U32),
        reader.operand_count() == 4 ? reader.source(operands[3], Type::U32)
                                    : reader.lowering().constant(0, bytecode::Width::B32)};
    const Operand destination = reader.destination(operands[0], Type::U32);
    reader.emit(FixedOp::Video, std::span(&destination, 1), sources, rest);
}

} // namespace cuprum::emulator::decoding
