// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of cvt, except cvt.pack, which works on integers.

#pragma once

#include "rows/float.hpp"

namespace cuprum::emulator::rows {

constexpr bytecode::Width register_of(Format format) {
    return FORMATS[static_cast<unsigned>(format)].bits == 64 ? bytecode::Width::B64
                                                             : bytecode::Width::B32;
}

/// The registers may be wider; decoding changes the widths then.
constexpr Meaning<ConvertForm> conversion(const Match& match) {
    const FormatName to = format_named(match['T']);
    const FormatName from = format_named(match['A']);
    const bool is_random = match.has("rs");
    const bool is_to_float = FORMATS[static_cast<unsigned>(to.format)].exponent_bits != 0;
    // A GPU rounds subnormal f32 to f16 in spite of .ftz.
    const bool flushes =
        match.has("ftz") && (to.format != Format::F16 || from.format != Format::F32);
    const bool is_saturating = match.has("sat");
    return {.form = ConvertForm{.from = from.format,
                                .to = to.format,
                                .from_width = register_of(from.format),
                                .to_width = register_of(to.format),
                                .rounding = is_random ? Rounding::Zero : rounding_of(match),
                                .rounds_away = match.has("rna"),
                                .rounds_to_integer = is_to_float && match['R'].size() == 3,
                                .flushes = flushes,
                                .is_saturating = is_saturating,
                                .is_finite_saturating = match.has("satfinite"),
                                .is_relu = match.has("relu"),
                                .is_pair = to.count == 2,
                                .random = is_random ? RandomBits::Halves : RandomBits::None},
            .tag = static_cast<std::uint16_t>((flushes ? 1 : 0) | (is_saturating ? 2 : 0))};
}

constexpr Row<ConvertForm> CONVERT_ROWS[] = {
    {"cvt{S:,.sat}.{T:INTEGERS}.{A:INTEGERS}", "=T~ A~", conversion},
    // Integers to floats and back.
    {"cvt.{R:ROUNDING}{F:,.ftz}{S:,.sat}.{T:f32}.{A:INTEGERS}", "=T~ A~", conversion},
    {"cvt.{R:ROUNDING}{S:,.sat}.{T:f16,f64}.{A:INTEGERS}", "=T~ A~", conversion},
    {"cvt.{R:ROUNDING}.{T:bf16}.{A:INTEGERS}", "=T~ A~", conversion, Effect::Pure, 90},
    {"cvt.{R:WHOLE}{F:,.ftz}{S:,.sat}.{T:INTEGERS}.{A:f32}", "=T~ A~", conversion},
    {"cvt.{R:WHOLE}{S:,.sat}.{T:INTEGERS}.{A:f16,f64}", "=T~ A~", conversion},
    {"cvt.{R:WHOLE}.{T:INTEGERS}.{A:bf16}", "=T~ A~", conversion, Effect::Pure, 90},
    // Floats to whole numbers of the same type, or copied.
    {"cvt{R:WHOLES}{F:,.ftz}{S:,.sat}.{T:f32}.{A:f32}", "=T~ A~", conversion},
    {"cvt{R:WHOLES}{S:,.sat}.{T:f16}.{A:f16}", "=T~ A~", conversion},
    {"cvt{R:WHOLES}{S:,.sat}.{T:f64}.{A:f64}", "=T~ A~", conversion},
    {"cvt{R:WHOLES}.{T:bf16}.{A:bf16}", "=T~ A~", conversion, Effect::Pure, 90},
    // Floats to wider ones.
    {"cvt{F:,.ftz}{S:,.sat}.{T:f64}.{A:f32}", "=T~ A~", conversion},
    {"cvt{F:,.ftz}{S:,.sat}.{T:f32}.{A:f16}", "=T~ A~", conversion},
    {"cvt{S:,.sat}.{T:f64}.{A:f16}", "=T~ A~", conversion},
    {"cvt{R:ROUNDS}{F:,.ftz}.{T:f32}.{A:bf16}", "=T~ A~", conversion, Effect::Pure, 90},
    {"cvt{R:ROUNDS}.{T:f64}.{A:bf16}", "=T~ A~", conversion, Effect::Pure, 90},
    // Floats to smaller ones.
    {"cvt.{R:ROUNDING}{F:,.ftz}{S:,.sat}.{T:f32}.{A:f64}", "=T~ A~", conversion},
    {"cvt.{R:ROUNDING}{S:,.sat}.{T:f16}.{A:f64}", "=T~ A~", conversion},
    {"cvt.{R:ROUNDING}.{T:bf16}.{A:f64}", "=T~ A~", conversion, Effect::Pure, 90},
    {"cvt.{R:ROUNDING}{F:,.ftz}{S:,.sat}.{T:f16}.{A:f32}", "=T~ A~", conversion},
    {"cvt.{R:ROUNDING}{F:,.ftz}.{T:bf16}.{A:f32}", "=T~ A~", conversion, Effect::Pure, 80},
    {"cvt.{R:rn,rz}.relu{N:,.satfinite}.{T:f16,bf16}.{A:f32}", "=T~ A~", conversion, Effect::Pure,
     80},
    {"cvt.{R:rn,rz}.satfinite.{T:f16,bf16}.{A:f32}", "=T~ A~", conversion, Effect::Pure, 80},
    {"cvt{R:ROUNDS}.{T:f16}.{A:bf16}", "=T~ A~", conversion, Effect::Pure, 90},
    {"cvt{R:ROUNDS}.{T:bf16}.{A:f16}", "=T~ A~", conversion, Effect::Pure, 90},
    {"cvt.rna{N:,.satfinite}.{T:tf32}.{A:f32}", "=T~ A~", conversion, Effect::Pure, 80},
    {"cvt.{R:rn,rz}{L:,.relu}{N:,.satfinite}.{T:tf32}.{A:f32}", "=T~ A~", conversion, Effect::Pure,
     90},
    // Two values.
    {"cvt.{R:rn,rz}{L:,.relu}{N:,.satfinite}.{T:f16x2,bf16x2}.{A:f32}", "=T~ A~A~", conversion,
     Effect::Pure, 80},
    {"cvt.rn.satfinite{L:,.relu}.{T:PAIRS}.{A:f32}", "=T~ A~A~", conversion, Effect::Pure, 89},
    {"cvt.rn.satfinite{L:,.relu}.{T:PAIRS}.{A:f16x2,bf16x2}", "=T~ A~", conversion, Effect::Pure,
     89},
    {"cvt.rn{L:,.relu}.{T:f16x2,bf16x2}.{A:PAIRS}", "=T~ A~", conversion, Effect::Pure, 89},
    {"cvt.{R:rz,rp}{N:,.satfinite}.{T:ue8m0x2}.{A:f32}", "=T~ A~A~", conversion, Effect::Pure, 100},
    {"cvt.{R:rz,rp}{N:,.satfinite}.{T:ue8m0x2}.{A:bf16x2}", "=T~ A~", conversion, Effect::Pure,
     100},
    {"cvt.rn.{T:bf16x2}.{A:ue8m0x2}", "=T~ A~", conversion, Effect::Pure, 100},
    // Random bits decide the rounding.
    {"cvt.rs{L:,.relu}{N:,.satfinite}.{T:f16x2,bf16x2}.{A:f32}", "=T AAw", conversion, Effect::Pure,
     100},
    {"cvt.rs{L:,.relu}.satfinite.{T:QUADS}.{A:f32}", "=T AAAAw"}, // decode/convert.cpp
};

} // namespace cuprum::emulator::rows
