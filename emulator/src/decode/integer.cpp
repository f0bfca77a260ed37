// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic, and the choice by type between integer and floating point.

#include "decode/reader.hpp"

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using ptx::Type;

namespace {

enum class Part : std::uint8_t { None, Lo, Hi, Wide };

struct Shape {
    IntegerOp op{};
    std::size_t source_count = 2;
};

IntegerOp by_part(Part part, IntegerOp low, IntegerOp high, IntegerOp wide) {
    return part == Part::Hi ? high : part == Part::Wide ? wide : low;
}

/// Finds the operation of an opcode. Returns false if a multiplication lacks its part (.lo, .hi).
bool find_shape(std::string_view opcode, Part part, bool is_relu, Shape& shape) {
    if (opcode == "add") {
        shape = {IntegerOp::Add};
    } else if (opcode == "sub") {
        shape = {IntegerOp::Sub};
    } else if (opcode == "mul") {
        shape = {by_part(part, IntegerOp::MulLo, IntegerOp::MulHi, IntegerOp::MulWide)};
        return part != Part::None;
    } else if (opcode == "mad") {
        shape = {by_part(part, IntegerOp::MadLo, IntegerOp::MadHi, IntegerOp::MadWide), 3};
        return part != Part::None;
    } else if (opcode == "mul24") {
        shape = {part == Part::Hi ? IntegerOp::Mul24Hi : IntegerOp::Mul24Lo};
        return part == Part::Lo || part == Part::Hi;
    } else if (opcode == "mad24") {
        shape = {part == Part::Hi ? IntegerOp::Mad24Hi : IntegerOp::Mad24Lo, 3};
        return part == Part::Lo || part == Part::Hi;
    } else if (opcode == "div") {
        shape = {IntegerOp::Div};
    } else if (opcode == "rem") {
        shape = {IntegerOp::Rem};
    } else if (opcode == "min") {
        shape = {is_relu ? IntegerOp::MinRelu : IntegerOp::Min};
    } else if (opcode == "max") {
        shape = {is_relu ? IntegerOp::MaxRelu : IntegerOp::Max};
    } else if (opcode == "abs") {
        shape = {IntegerOp::Abs, 1};
    } else if (opcode == "neg") {
        shape = {IntegerOp::Neg, 1};
    } else if (opcode == "clmad") {
        shape = {part == Part::Hi ? IntegerOp::CarrylessMadHi : IntegerOp::CarrylessMadLo, 3};
        return part == Part::Lo || part == Part::Hi;
    } else {
        shape = {IntegerOp::Sad, 3};
    }
    return part == Part::None;
}

bool is_wide(IntegerOp op) {
    return op == IntegerOp::MulWide || op == IntegerOp::MadWide;
}

Type doubled(Type type) {
    switch (type) {
    case Type::U16:
        return Type::U32;
    case Type::S16:
        return Type::S32;
    case Type::U32:
        return Type::U64;
    default:
        return Type::S64;
    }
}

} // namespace

void decode_integer_or_float(Reader& reader) {
    // The type decides. Look for it without taking it.
    for (const std::string_view name : {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2", "f32x2"}) {
        if (reader.has(name)) {
            decode_float(reader);
            return;
        }
    }
    if (reader.has("cc")) {
        decode_carry(reader);
        return;
    }
    decode_integer(reader);
}

void decode_integer(Reader& reader) {
    const int part_index = reader.take_one_of({"lo", "hi", "wide"});
    const auto part = static_cast<Part>(part_index + 1);
    const bool is_relu = reader.take("relu");
    IntegerForm form;
    form.is_saturating = reader.take("sat");
    const int packed = reader.take_one_of({"u16x2", "s16x2", "u8x4", "s8x4"});
    if (packed >= 0) {
        constexpr Type PARTS[] = {Type::U16, Type::S16, Type::U8, Type::S8};
        form.is_packed = true;
        form.type = PARTS[packed];
    } else {
        form.type =
            reader.take_type_of({Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64});
    }
    Shape shape;
    if (!find_shape(reader.opcode(), part, is_relu, shape)) {
        reader.reject(part == Part::None ? "needs .lo, .hi or .wide"
                                         : "has no .lo, .hi or .wide form");
    }
    form.op = shape.op;
    if (is_relu && form.op != IntegerOp::MinRelu && form.op != IntegerOp::MaxRelu) {
        reader.reject("has no .relu form");
    }
    if (!form.is_packed && !is_signed(form.type) && form.op == IntegerOp::Neg) {
        reader.reject("needs a signed type");
    }
    if (!reader.finish(shape.source_count + 1)) {
        return;
    }
    const Type type = form.is_packed ? Type::B32 : form.type;
    const Type wide_type = is_wide(form.op) ? doubled(form.type) : type;
    if (is_wide(form.op) && bits_of(form.type) == 64) {
        reader.reject("has no .wide form for 64-bit values");
        return;
    }
    const Operand a = reader.source(1, type);
    const Operand b = shape.source_count > 1 ? reader.source(2, type) : Operand{};
    const Operand c = shape.source_count > 2 ? reader.source(3, wide_type) : Operand{};
    const Operand destination = reader.destination(0, wide_type);
    if (shape.source_count == 1) {
        reader.emit(form, {destination}, {a});
    } else if (shape.source_count == 2) {
        reader.emit(form, {destination}, {a, b});
    } else {
        reader.emit(form, {destination}, {a, b, c});
    }
}

void decode_dot(Reader& reader) {
    const bool is_four_way = reader.opcode() == "dp4a";
    const int part = is_four_way ? 0 : reader.take_one_of({"lo", "hi"});
    if (part < 0) {
        reader.reject("needs .lo or .hi");
    }
    const Type a_type = reader.take_type_of({Type::U32, Type::S32});
    const Type b_type = reader.take_type_of({Type::U32, Type::S32});
    if (!reader.finish(4)) {
        return;
    }
    const Operand a = reader.source(1, a_type);
    const Operand b = reader.source(2, b_type);
    const Operand c = reader.source(3, Type::B32);
    const auto tag = static_cast<std::uint16_t>(static_cast<unsigned>(is_signed(a_type)) |
                                                static_cast<unsigned>(is_signed(b_type)) << 1 |
                                                static_cast<unsigned>(part == 1) << 2);
    reader.emit(DotForm{.is_four_way = is_four_way}, {reader.destination(0, Type::B32)}, {a, b, c},
                tag);
}

void decode_carry(Reader& reader) {
    // add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi and so on. The carry flag is a predicate
    // register that the lowering keeps.
    const std::string_view opcode = reader.opcode();
    CarryForm form;
    form.reads_carry = opcode.ends_with('c');
    form.writes_carry = reader.take("cc");
    const bool is_mad = opcode.starts_with("mad");
    if (is_mad) {
        const int part = reader.take_one_of({"lo", "hi"});
        if (part < 0) {
            reader.reject("needs .lo or .hi");
        }
        form.op = part == 1 ? CarryOp::MadHi : CarryOp::MadLo;
    } else if (opcode.starts_with("add")) {
        form.op = CarryOp::Add;
    } else if (opcode.starts_with("sub")) {
        form.op = CarryOp::Sub;
    } else {
        reader.reject("has no .cc form");
    }
    form.type = reader.take_type_of({Type::U32, Type::S32, Type::U64, Type::S64});
    if (!reader.finish(is_mad ? 4 : 3)) {
        return;
    }
    Operand sources[4] = {reader.source(1, form.type), reader.source(2, form.type), {}, {}};
    std::size_t count = 2;
    if (is_mad) {
        sources[count++] = reader.source(3, form.type);
    }
    const Operand carry = reader.lowering().carry_flag();
    if (form.reads_carry) {
        sources[count++] = carry;
    }
    const Operand destinations[2] = {reader.destination(0, form.type), carry};
    reader.emit(form, std::span(destinations, form.writes_carry ? 2 : 1), std::span(sources, count),
                {});
}

} // namespace cuprum::emulator::decoding
