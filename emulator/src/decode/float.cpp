// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Floating-point arithmetic: f32 and f64, and halves where the opcode has them.

#include "decode/reader.hpp"

#include <algorithm>
#include <array>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;

namespace {

struct Entry {
    std::string_view opcode;
    FloatOp op;
    std::size_t source_count;
};

constexpr std::array ENTRIES{
    Entry{"add", FloatOp::Add, 2},     Entry{"sub", FloatOp::Sub, 2},
    Entry{"mul", FloatOp::Mul, 2},     Entry{"fma", FloatOp::Fma, 3},
    Entry{"mad", FloatOp::Fma, 3},     Entry{"div", FloatOp::Div, 2},
    Entry{"rcp", FloatOp::Rcp, 1},     Entry{"sqrt", FloatOp::Sqrt, 1},
    Entry{"rsqrt", FloatOp::Rsqrt, 1}, Entry{"neg", FloatOp::Neg, 1},
    Entry{"abs", FloatOp::Abs, 1},     Entry{"min", FloatOp::Min, 2},
    Entry{"max", FloatOp::Max, 2},     Entry{"copysign", FloatOp::CopySign, 2},
    Entry{"sin", FloatOp::Sin, 1},     Entry{"cos", FloatOp::Cos, 1},
    Entry{"lg2", FloatOp::Lg2, 1},     Entry{"ex2", FloatOp::Ex2, 1},
    Entry{"tanh", FloatOp::Tanh, 1},
};

constexpr std::string_view FLOATS[] = {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2", "f32x2"};

bool rounds(FloatOp op) {
    switch (op) {
    case FloatOp::Add:
    case FloatOp::Sub:
    case FloatOp::Mul:
    case FloatOp::Fma:
    case FloatOp::Div:
    case FloatOp::Rcp:
    case FloatOp::Sqrt:
        return true;
    default:
        return false;
    }
}

bool is_approximate_only(FloatOp op) {
    return op == FloatOp::Rsqrt || op == FloatOp::Sin || op == FloatOp::Cos || op == FloatOp::Lg2 ||
           op == FloatOp::Ex2 || op == FloatOp::Tanh;
}

void decode_test(Reader& reader) {
    constexpr std::array OPS{FloatOp::TestFinite, FloatOp::TestInfinite,
                             FloatOp::TestNumber, FloatOp::TestNotANumber,
                             FloatOp::TestNormal, FloatOp::TestSubnormal};
    const int which =
        reader.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
    if (which < 0) {
        reader.reject("names no property to test");
    }
    const Type type = reader.take_type_of({Type::F32, Type::F64});
    if (!reader.finish(2)) {
        return;
    }
    const Operand source = reader.source(1, type);
    reader.emit(FloatForm{.op = OPS[static_cast<std::size_t>(which)], .type = type},
                {reader.destination(0, Type::Pred)}, {source});
}

/// Takes the modifiers that only some operations have, and only where they are valid.
void take_modifiers(Reader& reader, FloatForm& form) {
    const bool is_half =
        bits_of(form.type) == 16 || form.type == Type::F16x2 || form.type == Type::BF16x2;
    const bool is_wide_exponent = form.type == Type::BF16 || form.type == Type::BF16x2;
    const bool can_flush =
        form.type != Type::F64 && form.op != FloatOp::CopySign && form.op != FloatOp::Tanh &&
        (form.op == FloatOp::Ex2 ? is_wide_exponent || !is_half : !is_wide_exponent);
    if (can_flush) {
        form.flushes = reader.take("ftz");
    }
    if (form.op == FloatOp::Ex2 && is_wide_exponent && !form.flushes) {
        reader.reject("needs .ftz");
    }
    if (rounds(form.op)) {
        bool is_stated = false;
        if (is_half) {
            is_stated = reader.take("rn");
        } else {
            form.rounding = reader.take_rounding(&is_stated);
        }
        const bool is_full = form.op == FloatOp::Div && reader.take("full");
        const bool is_approximate =
            is_full ||
            ((form.op == FloatOp::Div || form.op == FloatOp::Rcp || form.op == FloatOp::Sqrt) &&
             reader.take("approx"));
        form.is_approximate = is_approximate && !is_full;
        if (is_approximate && is_stated) {
            reader.reject("is both approximate and rounded");
        }
        const bool is_sum =
            form.op == FloatOp::Add || form.op == FloatOp::Sub || form.op == FloatOp::Mul;
        if (!is_approximate && !is_stated && !is_sum) {
            const bool has_choice = form.op != FloatOp::Fma && form.type == Type::F32;
            reader.reject(is_half      ? "needs .rn"
                          : has_choice ? "needs .approx, or a rounding: .rn, .rz, .rm or .rp"
                                       : "needs a rounding: .rn, .rz, .rm or .rp");
        }
        if (is_approximate && form.type == Type::F64) {
            // Only rcp.approx.ftz.f64 exists. Its result is a starting value with only the upper
            // half.
            form.flushes = reader.take("ftz");
            if (!form.flushes || form.op != FloatOp::Rcp) {
                reader.reject("has no such form for .f64");
            }
        }
        if (form.op == FloatOp::Add || form.op == FloatOp::Sub || form.op == FloatOp::Mul ||
            form.op == FloatOp::Fma) {
            form.is_saturating = form.type != Type::F64 && !is_wide_exponent && reader.take("sat");
        }
        if (form.op == FloatOp::Fma && is_half) {
            form.is_oob = reader.opcode() == "fma" && reader.take("oob");
            form.is_relu = reader.take("relu");
        }
    }
    if (is_approximate_only(form.op)) {
        reader.need("approx");
        if (form.type == Type::F64) {
            form.flushes = reader.take("ftz");
        }
    }
    if (form.op == FloatOp::Min || form.op == FloatOp::Max) {
        form.keeps_nan = form.type != Type::F64 && reader.take("NaN");
        if (form.type != Type::F64 && reader.take("xorsign")) {
            form.is_xorsign = true;
            if (!reader.take("abs")) {
                reader.reject("has .xorsign without .abs");
            }
        }
    }
}

/// Emits the operation for each half of 64-bit registers.
void emit_pairs(Reader& reader, const FloatForm& form, std::size_t count) {
    Lowering& lowering = reader.lowering();
    std::array<std::array<Operand, 3>, 2> halves;
    for (std::size_t i = 0; i < count; ++i) {
        halves[0][i] = lowering.temporary(Width::B32);
        halves[1][i] = lowering.temporary(Width::B32);
        const Operand source = reader.source(i + 1, Type::B64);
        reader.emit(
            MoveForm{.op = MoveOp::Unpack, .width = Width::B64, .part_bytes = 4, .bytes = 8},
            {halves[0][i], halves[1][i]}, {source});
    }
    const Operand results[2] = {lowering.temporary(Width::B32), lowering.temporary(Width::B32)};
    for (std::size_t half = 0; half < 2; ++half) {
        reader.emit(form, std::span(&results[half], 1), std::span(halves[half].data(), count), {});
    }
    const Operand destination = reader.destination(0, Type::B64);
    reader.emit(MoveForm{.op = MoveOp::Pack, .width = Width::B64, .part_bytes = 4, .bytes = 8},
                std::span(&destination, 1), results, {});
}

/// Resolves a 16-bit source and widens it to single precision.
Operand widened(Reader& reader, std::size_t index, Type type) {
    const ConvertForm form{.from = type == Type::F16 ? Format::F16 : Format::BF16,
                           .to = Format::F32};
    const Operand source = reader.source(index, type);
    const Operand result = reader.lowering().temporary(Width::B32);
    bytecode::Instruction rest;
    rest.immediate = form.packed();
    reader.emit(form, std::span(&result, 1), std::span(&source, 1), rest);
    return result;
}

/// Takes the type of the narrow sources of mixed-precision add, sub and fma; None if not mixed.
Type take_narrow_type(Reader& reader, const FloatForm& form) {
    const bool can_mix = form.op == FloatOp::Add || form.op == FloatOp::Sub ||
                         (form.op == FloatOp::Fma && reader.opcode() == "fma");
    if (form.type != Type::F32 || !can_mix) {
        return Type::None;
    }
    return reader.take("f16") ? Type::F16 : reader.take("bf16") ? Type::BF16 : Type::None;
}

} // namespace

void decode_number(Reader& reader) {
    const bool has_float =
        std::ranges::any_of(FLOATS, [&](std::string_view type) { return reader.has(type); });
    has_float ? decode_float(reader) : decode_rows(reader);
}

void decode_float(Reader& reader) {
    if (reader.opcode() == "testp") {
        decode_test(reader);
        return;
    }
    const auto* const found = std::find_if(ENTRIES.begin(), ENTRIES.end(), [&](const Entry& entry) {
        return entry.opcode == reader.opcode();
    });
    FloatForm form;
    form.op = found->op;
    const bool is_pair =
        (form.op == FloatOp::Add || form.op == FloatOp::Sub || form.op == FloatOp::Mul ||
         (form.op == FloatOp::Fma && reader.opcode() == "fma")) &&
        reader.take("f32x2");
    form.type = is_pair ? Type::F32
                : reader.opcode() == "mad"
                    ? reader.take_type_of({Type::F32, Type::F64})
                    : reader.take_type_of(
                          {Type::F32, Type::F64, Type::F16, Type::F16x2, Type::BF16, Type::BF16x2});
    const Type narrow = is_pair ? Type::None : take_narrow_type(reader, form);
    take_modifiers(reader, form);
    std::size_t count = found->source_count;
    const bool is_three_way = (form.op == FloatOp::Min || form.op == FloatOp::Max) &&
                              form.type == Type::F32 && reader.operand_count() == 4;
    if (is_three_way) {
        count = 3;
        if (form.is_xorsign) {
            reader.reject("has three sources and .xorsign");
        }
    }
    const bool takes_magnitudes = is_three_way && reader.take("abs");
    form.source_count = static_cast<std::uint8_t>(count);
    if (!reader.finish(count + 1)) {
        return;
    }
    if (is_pair) {
        emit_pairs(reader, form, count);
        return;
    }
    std::array<Operand, 3> sources;
    for (std::size_t i = 0; i < count; ++i) {
        // In mixed precision all sources but the last are narrow.
        sources[i] = narrow != Type::None && i + 1 < count ? widened(reader, i + 1, narrow)
                                                           : reader.source(i + 1, form.type);
        if (takes_magnitudes) {
            const Operand magnitude = reader.lowering().temporary(Width::B32);
            reader.emit(FloatForm{.op = FloatOp::Abs, .type = Type::F32}, {magnitude},
                        {sources[i]});
            sources[i] = magnitude;
        }
    }
    const Operand destination = reader.destination(0, form.type);
    reader.emit(form, std::span(&destination, 1), std::span(sources.data(), count), {});
}

} // namespace cuprum::emulator::decoding
