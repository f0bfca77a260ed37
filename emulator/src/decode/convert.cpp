// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt.

#include "decode/reader.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;

namespace {

/// The meaning of a type suffix of cvt.
struct Suffix {
    std::string_view name;
    Format format;
    bool is_pair;
    Type type; // the type of the register that holds it
};

constexpr std::array SUFFIXES{
    Suffix{"u8", Format::U8, false, Type::U8},
    Suffix{"s8", Format::S8, false, Type::S8},
    Suffix{"u16", Format::U16, false, Type::U16},
    Suffix{"s16", Format::S16, false, Type::S16},
    Suffix{"u32", Format::U32, false, Type::U32},
    Suffix{"s32", Format::S32, false, Type::S32},
    Suffix{"u64", Format::U64, false, Type::U64},
    Suffix{"s64", Format::S64, false, Type::S64},
    Suffix{"f16", Format::F16, false, Type::F16},
    Suffix{"bf16", Format::BF16, false, Type::BF16},
    Suffix{"f32", Format::F32, false, Type::F32},
    Suffix{"f64", Format::F64, false, Type::F64},
    Suffix{"f16x2", Format::F16, true, Type::F16x2},
    Suffix{"bf16x2", Format::BF16, true, Type::BF16x2},
    Suffix{"tf32", Format::TF32, false, Type::B32},
    Suffix{"e4m3x2", Format::E4M3, true, Type::B16},
    Suffix{"e5m2x2", Format::E5M2, true, Type::B16},
    Suffix{"e2m3x2", Format::E2M3, true, Type::B16},
    Suffix{"e3m2x2", Format::E3M2, true, Type::B16},
    Suffix{"e2m1x2", Format::E2M1, true, Type::B8},
    Suffix{"ue8m0x2", Format::UE8M0, true, Type::B16},
};

/// The types to which cvt.rs converts four values, two at a time.
constexpr std::array QUADS{
    Suffix{"e4m3x4", Format::E4M3, true, Type::B32},
    Suffix{"e5m2x4", Format::E5M2, true, Type::B32},
    Suffix{"e2m3x4", Format::E2M3, true, Type::B32},
    Suffix{"e3m2x4", Format::E3M2, true, Type::B32},
    Suffix{"e2m1x4", Format::E2M1, true, Type::B16},
};

const Suffix* take_suffix(Reader& reader) {
    const std::string_view name = reader.peek();
    for (const Suffix& suffix : SUFFIXES) {
        if (suffix.name == name) {
            reader.take(name);
            return &suffix;
        }
    }
    return nullptr;
}

bool is_integer(Format format) {
    return format <= Format::S64;
}

/// Returns whether a conversion needs no rounding modifier. That is so if the target format
/// contains every value of the source, or if both have 16 bits: the default is then to round to
/// nearest.
bool is_exact(Format from, Format to) {
    const auto is_half = [](Format format) {
        return format == Format::F16 || format == Format::BF16;
    };
    if (from == to || (is_half(from) && is_half(to))) {
        return true;
    }
    switch (to) {
    case Format::F64:
        return !is_integer(from);
    case Format::F32:
        return !is_integer(from) && from != Format::F64;
    default:
        return false;
    }
}

/// Returns whether a conversion of floats never rounds and so states no rounding.
bool is_widening(Format from, Format to) {
    return from == to || (from == Format::F16 && (to == Format::F32 || to == Format::F64)) ||
           (from == Format::F32 && to == Format::F64);
}

/// Checks that .ftz, .sat, .relu and .satfinite fit the two formats.
void check_flags(Reader& reader, const ConvertForm& form) {
    const bool has_single = form.from == Format::F32 || form.to == Format::F32;
    const bool has_bfloat = form.from == Format::BF16 || form.to == Format::BF16;
    const bool is_small = form.from >= Format::E4M3 || form.to >= Format::E4M3;
    const bool is_cut = form.is_relu || form.is_finite_saturating;
    const bool can_be_cut =
        form.from == Format::F32 &&
        (form.to == Format::F16 || form.to == Format::BF16 || form.to == Format::TF32);
    const bool is_plain = !form.is_pair && form.to != Format::TF32;
    if ((form.flushes || form.is_saturating) && !is_plain) {
        reader.reject("has .ftz or .sat, which its types do not have");
    } else if (form.rounds_away && (form.to != Format::TF32 || form.is_relu)) {
        reader.reject("has .rna, which needs tf32 as the result and no .relu");
    } else if (form.flushes && !has_single) {
        reader.reject("has .ftz, which needs an f32");
    } else if (form.is_saturating && has_bfloat) {
        reader.reject("has .sat, which bf16 does not have");
    } else if (is_cut && !is_small && !can_be_cut) {
        reader.reject("has .relu or .satfinite, which need a smaller float as the result");
    } else if (is_cut && (form.flushes || form.is_saturating)) {
        reader.reject("has .ftz or .sat beside .relu or .satfinite");
    }
}

/// Checks that the rounding modifiers fit the two formats.
void check_rounding(Reader& reader, const ConvertForm& form, bool is_rounded,
                    bool is_integer_rounded) {
    const bool from_float = !is_integer(form.from);
    const bool to_float = !is_integer(form.to);
    if (from_float && !to_float && !is_integer_rounded) {
        reader.reject("converts a float to an integer and needs .rni, .rzi, .rmi or .rpi");
    } else if (is_integer_rounded && (!from_float || (to_float && form.from != form.to))) {
        reader.reject("has an integer rounding that does not fit its types");
    } else if (is_rounded && (!to_float || is_widening(form.from, form.to))) {
        reader.reject("has a rounding that does not fit its types");
    } else if (to_float && !is_rounded && !is_integer_rounded && !is_exact(form.from, form.to)) {
        const bool is_small = form.to == Format::TF32;
        reader.reject(is_small ? "needs .rn, .rna or .rz" : "needs .rn, .rz, .rm or .rp");
    }
}

/// Checks the rules for formats of 8 bits and fewer.
void check_small_formats(Reader& reader, const ConvertForm& form) {
    const bool from_small = form.from >= Format::E4M3;
    const bool to_small = form.to >= Format::E4M3;
    if (!from_small && !to_small) {
        return;
    }
    const auto is_half = [](Format format) {
        return format == Format::F16 || format == Format::BF16;
    };
    if (form.flushes || form.is_saturating || form.rounds_away || form.rounds_to_integer) {
        reader.reject("has a modifier that does not fit its types");
    } else if (form.to == Format::UE8M0) {
        if (form.from != Format::F32 && form.from != Format::BF16) {
            reader.reject("converts to ue8m0x2 from a type other than f32 or bf16x2");
        } else if (form.rounding != Rounding::Zero && form.rounding != Rounding::Up) {
            reader.reject("needs .rz or .rp to convert to ue8m0x2");
        } else if (form.is_relu) {
            reader.reject("has .relu, but ue8m0x2 has no sign");
        }
    } else if (form.rounding != Rounding::Nearest) {
        reader.reject("needs .rn");
    } else if (to_small && !form.is_finite_saturating) {
        reader.reject("needs .satfinite");
    } else if (to_small && form.from != Format::F32 && !is_half(form.from)) {
        reader.reject("converts from a type that does not fit");
    } else if (from_small &&
               (!is_half(form.to) || (form.from == Format::UE8M0 && form.to != Format::BF16))) {
        reader.reject("converts to a type that does not fit");
    } else if (from_small && form.is_finite_saturating) {
        reader.reject("has .satfinite, but nothing can overflow");
    }
}

/// Emits the conversion of two values with random rounding. Operand `bits_at` holds the bits.
Operand emit_random(Reader& reader, ConvertForm form, const ptx::Operand& first,
                    const ptx::Operand& second, std::size_t bits_at) {
    const Operand result = reader.lowering().temporary(Width::B32);
    bytecode::Instruction rest;
    rest.immediate = form.packed();
    const Operand sources[3] = {reader.source(first, Type::F32), reader.source(second, Type::F32),
                                reader.source(bits_at, Type::B32)};
    reader.emit(form, std::span(&result, 1), sources, rest);
    return result;
}

/// Decodes cvt.rs: two values, or four in braces, and the random bits that decide the rounding.
void decode_random(Reader& reader) {
    ConvertForm form;
    form.from = Format::F32;
    form.rounding = Rounding::Zero;
    form.is_pair = true;
    form.is_relu = reader.take("relu");
    form.is_finite_saturating = reader.take("satfinite");
    const std::string_view name = reader.peek();
    const auto* const quad = std::find_if(QUADS.begin(), QUADS.end(),
                                          [&](const Suffix& each) { return each.name == name; });
    const bool is_quad = quad != QUADS.end();
    const bool is_half = name == "f16x2" || name == "bf16x2";
    if (!is_quad && !is_half) {
        reader.reject("cannot round to this type with random bits");
        return;
    }
    reader.take(name);
    reader.take_type_of({Type::F32});
    if (is_quad && !form.is_finite_saturating) {
        reader.reject("needs .satfinite");
    }
    if (!reader.finish(is_quad ? 3 : 4)) {
        return;
    }
    if (is_half) {
        form.to = name == "f16x2" ? Format::F16 : Format::BF16;
        form.random = RandomBits::Halves;
        const Operand result = emit_random(reader, form, reader.operand(1), reader.operand(2), 3);
        reader.emit(MoveForm{.op = MoveOp::Copy, .width = Width::B32},
                    {reader.destination(0, Type::B32)}, {result});
        return;
    }
    const std::vector<ptx::Operand>& values = reader.operand(1).parts;
    if (reader.operand(1).kind != ptx::Operand::Kind::Vector || values.size() != 4) {
        reader.reject("needs four values in braces");
        return;
    }
    form.to = quad->format;
    form.random = RandomBits::UpperPair;
    const Operand upper = emit_random(reader, form, values[0], values[1], 2);
    form.random = RandomBits::LowerPair;
    const Operand lower = emit_random(reader, form, values[2], values[3], 2);
    const auto bytes = static_cast<std::uint8_t>(bits_of(quad->type) / 8);
    reader.emit(MoveForm{.op = MoveOp::Pack,
                         .width = Width::B32,
                         .part_bytes = static_cast<std::uint8_t>(bytes / 2),
                         .bytes = bytes},
                {reader.destination(0, quad->type)}, {lower, upper});
}

/// Returns the width of an operand's register, which may be wider than the type.
Width register_width(Reader& reader, const ptx::Operand& operand, Type type) {
    return reader.lowering().type_of(operand) == Type::None ? width_for(type)
                                                            : reader.lowering().width_of(operand);
}

} // namespace

void decode_convert(Reader& reader) {
    if (reader.has("pack")) {
        decode_rows(reader);
        return;
    }
    if (reader.take("rs")) {
        decode_random(reader);
        return;
    }
    ConvertForm form;
    bool is_rounded = false;
    form.rounding = reader.take_rounding(&is_rounded);
    if (reader.take("rna")) {
        if (is_rounded) {
            reader.reject("has two roundings");
        }
        is_rounded = true;
        form.rounds_away = true;
    }
    const int integer_rounding = reader.take_one_of({"rni", "rmi", "rpi", "rzi"});
    if (integer_rounding >= 0) {
        if (is_rounded) {
            reader.reject("has two roundings");
        }
        form.rounding = static_cast<Rounding>(integer_rounding);
    }
    form.flushes = reader.take("ftz");
    form.is_saturating = reader.take("sat");
    form.is_relu = reader.take("relu");
    form.is_finite_saturating = reader.take("satfinite");
    const Suffix* const to = take_suffix(reader);
    const Suffix* const from = to == nullptr ? nullptr : take_suffix(reader);
    if (to == nullptr || from == nullptr) {
        reader.refuse("converts from or to an unsupported type");
        return;
    }
    form.from = from->format;
    form.to = to->format;
    form.is_pair = to->is_pair;
    check_flags(reader, form);
    if (to->type == Type::F16 && from->type == Type::F32) {
        form.flushes = false; // a GPU rounds subnormal sources here in spite of .ftz
    }
    check_rounding(reader, form, is_rounded, integer_rounding >= 0);
    form.rounds_to_integer = integer_rounding >= 0 && !is_integer(form.to);
    check_small_formats(reader, form);
    if (from->is_pair && !to->is_pair) {
        reader.reject("converts a pair to a single value");
    }
    const bool has_two_sources = to->is_pair && !from->is_pair;
    if (!reader.finish(has_two_sources ? 3 : 2)) {
        return;
    }
    form.from_width = register_width(reader, reader.operand(1), from->type);
    form.to_width = register_width(reader, reader.operand(0), to->type);
    bytecode::Instruction rest;
    rest.immediate = form.packed();
    rest.tag = static_cast<std::uint16_t>(static_cast<unsigned>(form.flushes) |
                                          static_cast<unsigned>(form.is_saturating) << 1);
    Operand sources[2];
    const std::size_t count = has_two_sources ? 2 : 1;
    for (std::size_t i = 0; i < count; ++i) {
        sources[i] = reader.lowering().source(reader.operand(i + 1), form.from_width, from->type);
        if (sources[i].is_none()) {
            return;
        }
    }
    const Operand destination = reader.destination(reader.operand(0), form.to_width);
    reader.emit(form, std::span(&destination, 1), std::span(sources, count), rest);
}

} // namespace cuprum::emulator::decoding
