// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt of four values, which random bits round. Rows describe all others.

#include "decode/reader.hpp"
#include "rows/format.hpp"

#include <algorithm>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;

namespace {

bool is_quad(std::string_view modifier) {
    return rows::format_named(modifier).count == 4;
}

/// Emits the conversion of two values.
Operand emit_pair(Reader& reader, ConvertForm form, RandomBits random, const ptx::Operand& first,
                  const ptx::Operand& second) {
    form.random = random;
    const Operand result = reader.lowering().temporary(Width::B32);
    bytecode::Instruction rest;
    rest.immediate = form.packed();
    const Operand sources[3] = {reader.source(first, Type::F32), reader.source(second, Type::F32),
                                reader.source(2, Type::B32)};
    reader.emit(form, std::span(&result, 1), sources, rest);
    return result;
}

/// Decodes cvt.rs of four values in braces, and the random bits.
void decode_four(Reader& reader) {
    reader.need("rs");
    ConvertForm form{.from = Format::F32, .rounding = Rounding::Zero, .is_pair = true};
    form.is_relu = reader.take("relu");
    reader.need("satfinite");
    form.is_finite_saturating = true;
    const std::string_view name = reader.take_any();
    if (!is_quad(name)) {
        reader.reject("has a modifier that does not fit its types");
    }
    form.to = rows::format_named(name).format;
    reader.take_type_of({Type::F32});
    if (!reader.finish(3)) {
        return;
    }
    const std::vector<ptx::Operand>& values = reader.operand(1).parts;
    if (reader.operand(1).kind != ptx::Operand::Kind::Vector || values.size() != 4) {
        reader.reject("needs four values in braces");
        return;
    }
    const Operand upper = emit_pair(reader, form, RandomBits::UpperPair, values[0], values[1]);
    const Operand lower = emit_pair(reader, form, RandomBits::LowerPair, values[2], values[3]);
    const unsigned bytes = rows::FORMATS[static_cast<unsigned>(form.to)].bits / 2;
    reader.emit(MoveForm{.op = MoveOp::Pack,
                         .width = Width::B32,
                         .part_bytes = static_cast<std::uint8_t>(bytes / 2),
                         .bytes = static_cast<std::uint8_t>(bytes)},
                {reader.destination(0, bytes == 4 ? Type::B32 : Type::B16)}, {lower, upper});
}

} // namespace

void decode_convert(Reader& reader) {
    std::ranges::any_of(reader.modifiers(), is_quad) ? decode_four(reader) : decode_rows(reader);
}

} // namespace cuprum::emulator::decoding
