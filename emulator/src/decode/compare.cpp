// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// setp and set of floats; rows describe those of integers.

#include "decode/reader.hpp"

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using ptx::Type;

namespace {

/// Takes a comparison and returns its index in Compare.
int take_operator(Reader& reader) {
    return reader.take_one_of({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                               "gtu", "geu", "num", "nan"});
}

/// Returns whether an instruction compares floats: its last type is one.
bool compares_floats(const Reader& reader) {
    Type last = Type::None;
    for (const std::string_view modifier : reader.modifiers()) {
        const Type type = ptx::type_from(modifier);
        last = type != Type::None ? type : last;
    }
    return is_float(last);
}

bool is_half(Type type) {
    return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 || type == Type::BF16x2;
}

/// Returns what `set` writes where the comparison holds.
std::int64_t true_value(Type type) {
    switch (type) {
    case Type::F32:
        return 0x3f800000;
    case Type::F16:
    case Type::F16x2:
        return 0x3c003c00;
    case Type::BF16:
    case Type::BF16x2:
        return 0x3f803f80;
    default:
        return 0xffffffff;
    }
}

CompareResult result_of(Type type) {
    switch (type) {
    case Type::F32:
        return CompareResult::Float32;
    case Type::F16:
    case Type::F16x2:
        return CompareResult::Half;
    case Type::BF16:
    case Type::BF16x2:
        return CompareResult::BFloat;
    default:
        return CompareResult::Integer;
    }
}

} // namespace

void decode_compare(Reader& reader) {
    if (!compares_floats(reader)) {
        decode_rows(reader);
        return;
    }
    const bool is_setp = reader.opcode() == "setp";
    CompareForm form;
    const int index = take_operator(reader);
    if (index < 0) {
        reader.reject("names no comparison");
        return;
    }
    form.compare = static_cast<Compare>(index);
    const int how = reader.take_one_of({"and", "or", "xor"});
    form.flushes = reader.take("ftz");
    const Type result =
        is_setp ? Type::Pred
                : reader.take_type_of({Type::U32, Type::S32, Type::U16, Type::S16, Type::F32,
                                       Type::F16, Type::F16x2, Type::BF16, Type::BF16x2});
    form.type = reader.take_type_of(
        {Type::F16, Type::F16x2, Type::BF16, Type::BF16x2, Type::F32, Type::F64});
    form.result = is_setp ? CompareResult::Predicate : result_of(result);
    if (form.flushes && (form.type == Type::BF16 || form.type == Type::BF16x2)) {
        reader.reject("has .ftz, which its type does not have");
    }
    if (!reader.finish(how >= 0 ? 4 : 3)) {
        return;
    }
    bytecode::Instruction rest;
    rest.immediate = is_setp ? 0 : true_value(result);
    rest.tag = static_cast<std::uint16_t>(static_cast<unsigned>(form.compare) << 8 |
                                          static_cast<unsigned>(form.flushes) << 12);
    if (!is_half(form.type)) {
        rest.tag = 0;
    }
    Operand sources[3] = {reader.source(1, form.type), reader.source(2, form.type), {}};
    if (how >= 0) {
        rest.tag |= static_cast<std::uint16_t>(how + 1);
        sources[2] = reader.predicate(reader.operand(3), rest.tag, 4);
    }
    Operand destinations[2];
    std::size_t count = 1;
    const ptx::Operand& to = reader.operand(0);
    if (is_setp && to.kind == ptx::Operand::Kind::Pair) {
        destinations[0] = reader.destination(to.parts[0], Type::Pred);
        destinations[1] = reader.destination(to.parts[1], Type::Pred);
        count = 2;
    } else {
        destinations[0] = reader.destination(0, result);
    }
    const bool is_packed = form.type == Type::F16x2 || form.type == Type::BF16x2;
    if (is_setp && is_packed && count != 2) {
        reader.reject("compares pairs and needs two destinations");
    }
    reader.emit(form, std::span(destinations, count), std::span(sources, how >= 0 ? 3 : 2), rest);
}

} // namespace cuprum::emulator::decoding
