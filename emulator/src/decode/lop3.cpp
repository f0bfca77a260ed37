// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// lop3 with a predicate; a row describes the rest.

#include "decode/reader.hpp"

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using ptx::Type;

void decode_lop3(Reader& reader) {
    const int combine = reader.take_one_of({"and", "or"});
    if (combine < 0) {
        decode_rows(reader);
        return;
    }
    const Type type = reader.take_type_of({Type::B32});
    if (!reader.finish(6)) {
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
    reader.emit(BitsForm{.op = BitsOp::Lop3, .lut = static_cast<std::uint8_t>(table.bits)}, {value},
                {a, b, c});
    const Operand sources[3] = {value, reader.lowering().constant(0, bytecode::Width::B32), other};
    reader.emit(CompareForm{.compare = Compare::Ne, .type = Type::U32}, std::span(&predicate, 1),
                sources, rest);
}

} // namespace cuprum::emulator::decoding
