// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Bitwise operations, shifts and bit fields.

#include "decode/reader.hpp"

#include <algorithm>
#include <array>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using ptx::Type;

namespace {

void emit_form(Reader& reader, const BitsForm& form, Type result,
               std::initializer_list<Type> sources) {
    if (!reader.finish(sources.size() + 1)) {
        return;
    }
    std::array<Operand, 4> operands;
    std::size_t index = 0;
    for (const Type type : sources) {
        operands[index] = reader.source(index + 1, type);
        ++index;
    }
    const Operand destination = reader.destination(0, result);
    reader.emit(form, std::span(&destination, 1), std::span(operands.data(), index), {});
}

BitsForm form_of(BitsOp op, Type type) {
    return {.op = op, .bits = static_cast<std::uint8_t>(bits_of(type))};
}

/// Decodes and, or, xor and not, for predicates and for bits.
void decode_logic(Reader& reader, BitsOp op, BitsOp predicate_op) {
    const Type type = reader.take_type_of({Type::Pred, Type::B16, Type::B32, Type::B64});
    const bool is_unary = op == BitsOp::Not;
    if (type != Type::Pred) {
        if (is_unary) {
            emit_form(reader, form_of(op, type), type, {type});
        } else {
            emit_form(reader, form_of(op, type), type, {type, type});
        }
        return;
    }
    if (!reader.finish(is_unary ? 2 : 3)) {
        return;
    }
    std::uint16_t tag = 0;
    Operand sources[2];
    sources[0] = reader.predicate(reader.operand(1), tag, 1);
    if (!is_unary) {
        sources[1] = reader.predicate(reader.operand(2), tag, 2);
    }
    const Operand destination = reader.destination(0, type);
    bytecode::Instruction rest;
    rest.tag = tag;
    reader.emit(BitsForm{.op = predicate_op}, std::span(&destination, 1),
                std::span(sources, is_unary ? 1 : 2), rest);
}

void decode_shift(Reader& reader) {
    const bool is_left = reader.opcode() == "shl";
    const Type type =
        is_left ? reader.take_type_of({Type::B16, Type::B32, Type::B64})
                : reader.take_type_of({Type::B16, Type::B32, Type::B64, Type::U16, Type::U32,
                                       Type::U64, Type::S16, Type::S32, Type::S64});
    const BitsOp op = is_left           ? BitsOp::Shl
                      : is_signed(type) ? BitsOp::ShrSigned
                                        : BitsOp::ShrUnsigned;
    emit_form(reader, form_of(op, type), type, {type, Type::U32});
}

void decode_funnel(Reader& reader) {
    const int direction = reader.take_one_of({"l", "r"});
    const int mode = reader.take_one_of({"wrap", "clamp"});
    if (direction < 0 || mode < 0) {
        reader.reject("needs .l or .r, and .wrap or .clamp");
    }
    const Type type = reader.take_type_of({Type::B32});
    const BitsOp op = direction == 0
                          ? (mode == 0 ? BitsOp::FunnelLeftWrap : BitsOp::FunnelLeftClamp)
                          : (mode == 0 ? BitsOp::FunnelRightWrap : BitsOp::FunnelRightClamp);
    emit_form(reader, form_of(op, type), type, {type, type, Type::U32});
}

void decode_lop3(Reader& reader) {
    const int combine = reader.take_one_of({"and", "or"});
    const Type type = reader.take_type_of({Type::B32});
    if (!reader.finish(combine < 0 ? 5 : 6)) {
        return;
    }
    const ptx::Operand& table = reader.operand(4);
    if (table.kind != ptx::Operand::Kind::Integer || table.bits > 255) {
        reader.reject("needs a literal from 0 to 255 as its table");
        return;
    }
    const Operand a = reader.source(1, type);
    const Operand b = reader.source(2, type);
    const Operand c = reader.source(3, type);
    const bytecode::Form form =
        BitsForm{.op = BitsOp::Lop3, .lut = static_cast<std::uint8_t>(table.bits)};
    if (combine < 0) {
        reader.emit(form, {reader.destination(0, type)}, {a, b, c});
        return;
    }
    // d|p: the predicate tells whether any bit is set, combined with another predicate.
    const ptx::Operand& to = reader.operand(0);
    if (to.kind != ptx::Operand::Kind::Pair) {
        reader.reject("needs two destinations, a value and a predicate");
        return;
    }
    bytecode::Instruction rest;
    rest.tag = static_cast<std::uint16_t>(combine == 0 ? Combine::And : Combine::Or);
    const Operand other = reader.predicate(reader.operand(5), rest.tag, 4);
    const Operand value = reader.destination(to.parts[0], type);
    const Operand predicate = reader.destination(to.parts[1], Type::Pred);
    reader.emit(form, {value}, {a, b, c});
    const Operand sources[3] = {value, reader.lowering().constant(0, bytecode::Width::B32), other};
    reader.emit(CompareForm{.compare = Compare::Ne, .type = Type::U32}, std::span(&predicate, 1),
                sources, rest);
}

void decode_prmt(Reader& reader) {
    const Type type = reader.take_type_of({Type::B32});
    const int mode = reader.take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
    emit_form(reader, {.op = BitsOp::Prmt, .mode = static_cast<PrmtMode>(mode + 1)}, type,
              {type, type, type});
}

void decode_bfind(Reader& reader) {
    const bool is_shift = reader.take("shiftamt");
    const Type type = reader.take_type_of({Type::U32, Type::S32, Type::U64, Type::S64});
    const BitsOp op = is_signed(type)
                          ? (is_shift ? BitsOp::BfindSignedShift : BitsOp::BfindSigned)
                          : (is_shift ? BitsOp::BfindUnsignedShift : BitsOp::BfindUnsigned);
    emit_form(reader, form_of(op, type), Type::U32, {type});
}

void decode_clamped(Reader& reader) {
    const int mode = reader.take_one_of({"clamp", "wrap"});
    if (mode < 0) {
        reader.reject("needs .clamp or .wrap");
    }
    if (reader.opcode() == "bmsk") {
        reader.take_type_of({Type::B32});
        emit_form(reader, {.op = mode == 0 ? BitsOp::BmskClamp : BitsOp::BmskWrap}, Type::B32,
                  {Type::U32, Type::U32});
        return;
    }
    const Type type = reader.take_type_of({Type::U32, Type::S32});
    const BitsOp op =
        mode == 0 ? (is_signed(type) ? BitsOp::SzextClampSigned : BitsOp::SzextClampUnsigned)
                  : (is_signed(type) ? BitsOp::SzextWrapSigned : BitsOp::SzextWrapUnsigned);
    emit_form(reader, {.op = op}, type, {type, Type::U32});
}

void decode_field(Reader& reader) {
    const std::string_view opcode = reader.opcode();
    if (opcode == "bfe") {
        const Type type = reader.take_type_of({Type::U32, Type::S32, Type::U64, Type::S64});
        emit_form(reader, form_of(is_signed(type) ? BitsOp::BfeSigned : BitsOp::BfeUnsigned, type),
                  type, {type, Type::U32, Type::U32});
        return;
    }
    const Type type = reader.take_type_of({Type::B32, Type::B64});
    if (opcode == "bfi") {
        emit_form(reader, form_of(BitsOp::Bfi, type), type, {type, type, Type::U32, Type::U32});
    } else if (opcode == "brev") {
        emit_form(reader, form_of(BitsOp::Brev, type), type, {type});
    } else {
        const BitsOp op = opcode == "popc" ? BitsOp::Popc : BitsOp::Clz;
        emit_form(reader, form_of(op, type), Type::U32, {type});
    }
}

struct Entry {
    std::string_view opcode;
    void (*decoder)(Reader&);
};

constexpr std::array ENTRIES{
    Entry{"and", [](Reader& r) { decode_logic(r, BitsOp::And, BitsOp::PredicateAnd); }},
    Entry{"or", [](Reader& r) { decode_logic(r, BitsOp::Or, BitsOp::PredicateOr); }},
    Entry{"xor", [](Reader& r) { decode_logic(r, BitsOp::Xor, BitsOp::PredicateXor); }},
    Entry{"not", [](Reader& r) { decode_logic(r, BitsOp::Not, BitsOp::PredicateNot); }},
    Entry{"cnot",
          [](Reader& r) {
              const Type type = r.take_type_of({Type::B16, Type::B32, Type::B64});
              emit_form(r, form_of(BitsOp::Cnot, type), type, {type});
          }},
    Entry{"fns",
          [](Reader& r) {
              r.take_type_of({Type::B32});
              emit_form(r, {.op = BitsOp::Fns}, Type::B32, {Type::B32, Type::B32, Type::S32});
          }},
    Entry{"shl", decode_shift},
    Entry{"shr", decode_shift},
    Entry{"shf", decode_funnel},
    Entry{"lop3", decode_lop3},
    Entry{"prmt", decode_prmt},
    Entry{"bfind", decode_bfind},
    Entry{"bmsk", decode_clamped},
    Entry{"szext", decode_clamped},
    Entry{"bfe", decode_field},
    Entry{"bfi", decode_field},
    Entry{"brev", decode_field},
    Entry{"popc", decode_field},
    Entry{"clz", decode_field},
};

} // namespace

void decode_bits(Reader& reader) {
    const auto* const found = std::find_if(ENTRIES.begin(), ENTRIES.end(), [&](const Entry& entry) {
        return entry.opcode == reader.opcode();
    });
    found->decoder(reader);
}

} // namespace cuprum::emulator::decoding
