// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of floating-point arithmetic.

#pragma once

#include "rows/row.hpp"

namespace cuprum::emulator::rows {

constexpr Rounding rounding_of(const Match& match) {
    const std::string_view word = match['R'];
    return word.starts_with("rm")   ? Rounding::Down
           : word.starts_with("rp") ? Rounding::Up
           : word.starts_with("rz") ? Rounding::Zero
                                    : Rounding::Nearest;
}

template <FloatOp... OPS>
constexpr Meaning<FloatForm> floating(const Match& match) {
    constexpr FloatOp ops[] = {OPS...};
    const FloatOp op = ops[match.index('O')];
    const bool can_be_exact = op == FloatOp::Div || op == FloatOp::Rcp || op == FloatOp::Sqrt;
    return {FloatForm{.op = op,
                      .type = match.type().part,
                      .rounding = rounding_of(match),
                      .flushes = match.has("ftz"),
                      .is_saturating = match.has("sat"),
                      .is_approximate = can_be_exact && match.has("approx"),
                      .is_relu = match.has("relu"),
                      .is_oob = match.has("oob"),
                      .keeps_nan = match.has("NaN"),
                      .is_xorsign = match.has("xorsign")}};
}

constexpr Meaning<FloatForm> extreme_of_three(const Match& match) {
    Meaning<FloatForm> meaning = floating<FloatOp::Min, FloatOp::Max>(match);
    meaning.form.source_count = 3;
    return meaning;
}

constexpr auto SUMS = floating<FloatOp::Add, FloatOp::Sub>;
constexpr auto SUMS_AND_PRODUCTS = floating<FloatOp::Add, FloatOp::Sub, FloatOp::Mul>;
constexpr auto FUSED = floating<FloatOp::Fma, FloatOp::Fma>;
constexpr auto SIGNS = floating<FloatOp::Neg, FloatOp::Abs>;
constexpr auto EXTREMES = floating<FloatOp::Min, FloatOp::Max>;

/// f32 and f64.
constexpr Row<FloatForm> FLOAT_ROWS[] = {
    {"{O:add,sub,mul}{R:ROUNDS}{F:,.ftz}{S:,.sat}.{T:f32}", "=T TT", SUMS_AND_PRODUCTS},
    {"{O:add,sub,mul}{R:ROUNDS}.{T:f64}", "=T TT", SUMS_AND_PRODUCTS},
    {"{O:fma,mad}.{R:ROUNDING}{F:,.ftz}{S:,.sat}.{T:f32}", "=T TTT", FUSED},
    {"{O:fma,mad}.{R:ROUNDING}.{T:f64}", "=T TTT", FUSED},
    {"div.{approx,full}{F:,.ftz}.{T:f32}", "=T TT", floating<FloatOp::Div>},
    {"div.{R:ROUNDING}{F:,.ftz}.{T:f32}", "=T TT", floating<FloatOp::Div>},
    {"div.{R:ROUNDING}.{T:f64}", "=T TT", floating<FloatOp::Div>},
    {"{O:neg,abs}{F:,.ftz}.{T:f32}", "=T T", SIGNS},
    {"{O:neg,abs}.{T:f64}", "=T T", SIGNS},
    {"{O:min,max}{F:,.ftz}{N:,.NaN}.{T:f32}", "=T TT", EXTREMES},
    {"{O:min,max}{F:,.ftz}{N:,.NaN}.xorsign.abs.{T:f32}", "=T TT", EXTREMES, Effect::Pure, 86},
    {"{O:min,max}{F:,.ftz}{N:,.NaN}.{T:f32}", "=T TTT", extreme_of_three, Effect::Pure, 100},
    {"{O:min,max}{F:,.ftz}{N:,.NaN}.abs.{T:f32}", "=T mmm", extreme_of_three, Effect::Pure, 100},
    {"{O:min,max}.{T:f64}", "=T TT", EXTREMES},
    {"copysign.{T:f32,f64}", "=T TT", floating<FloatOp::CopySign>},
    {"testp.{O:finite,infinite,number,notanumber,normal,subnormal}.{T:f32,f64}", "=p T",
     floating<FloatOp::TestFinite, FloatOp::TestInfinite, FloatOp::TestNumber,
              FloatOp::TestNotANumber, FloatOp::TestNormal, FloatOp::TestSubnormal>},
    // Two values in a register of 64 bits.
    {"{O:add,sub,mul}{R:ROUNDS}{F:,.ftz}.f32x2", "=v vv", SUMS_AND_PRODUCTS, Effect::Pure, 100},
    {"fma.{R:ROUNDING}{F:,.ftz}.f32x2", "=v vvv", FUSED, Effect::Pure, 100},
    // All sources but the last one have 16 bits.
    {"{O:add,sub}{R:ROUNDS}{S:,.sat}.{T:f32}.{n:f16,bf16}", "=T nT", SUMS, Effect::Pure, 100},
    {"fma.{R:ROUNDING}{S:,.sat}.{T:f32}.{n:f16,bf16}", "=T nnT", FUSED, Effect::Pure, 100},
};

/// Roots, reciprocals and approximate functions of f32 and f64.
constexpr Row<FloatForm> FUNCTION_ROWS[] = {
    {"{O:rcp,sqrt}.{R:ROUNDING}{F:,.ftz}.{T:f32}", "=T T", floating<FloatOp::Rcp, FloatOp::Sqrt>},
    {"{O:rcp,sqrt}.{R:ROUNDING}.{T:f64}", "=T T", floating<FloatOp::Rcp, FloatOp::Sqrt>},
    {"{O:rcp,sqrt,rsqrt,sin,cos,lg2,ex2}.approx{F:,.ftz}.{T:f32}", "=T T",
     floating<FloatOp::Rcp, FloatOp::Sqrt, FloatOp::Rsqrt, FloatOp::Sin, FloatOp::Cos, FloatOp::Lg2,
              FloatOp::Ex2>},
    {"tanh.approx.{T:f32}", "=T T", floating<FloatOp::Tanh>, Effect::Pure, 75},
    {"{O:rcp,rsqrt}.approx.ftz.{T:f64}", "=T T", floating<FloatOp::Rcp, FloatOp::Rsqrt>},
    {"rsqrt.approx.{T:f64}", "=T T", floating<FloatOp::Rsqrt>},
};

/// f16, bf16 and pairs of them.
constexpr Row<FloatForm> HALF_ROWS[] = {
    {"{O:add,sub,mul}{,.rn}{F:,.ftz}{S:,.sat}.{T:F16S}", "=T TT", SUMS_AND_PRODUCTS},
    {"{O:add,sub,mul}{,.rn}.{T:BF16S}", "=T TT", SUMS_AND_PRODUCTS, Effect::Pure, 90},
    {"fma.rn{F:,.ftz}{S:,.sat}.{T:F16S}", "=T TTT", FUSED},
    {"fma.rn{F:,.ftz}.relu.{T:F16S}", "=T TTT", FUSED, Effect::Pure, 80},
    {"fma.rn{L:,.relu}.{T:BF16S}", "=T TTT", FUSED, Effect::Pure, 80},
    {"fma.rn.oob{L:,.relu}.{T:HALVES}", "=T TTT", FUSED, Effect::Pure, 90},
    {"{O:neg,abs}{F:,.ftz}.{T:F16S}", "=T T", SIGNS},
    {"{O:neg,abs}.{T:BF16S}", "=T T", SIGNS, Effect::Pure, 80},
    {"{O:min,max}{F:,.ftz}{N:,.NaN}.{T:F16S}", "=T TT", EXTREMES, Effect::Pure, 80},
    {"{O:min,max}{F:,.ftz}{N:,.NaN}.xorsign.abs.{T:F16S}", "=T TT", EXTREMES, Effect::Pure, 86},
    {"{O:min,max}{N:,.NaN}.{T:BF16S}", "=T TT", EXTREMES, Effect::Pure, 80},
    {"{O:min,max}{N:,.NaN}.xorsign.abs.{T:BF16S}", "=T TT", EXTREMES, Effect::Pure, 86},
    {"ex2.approx.{T:F16S}", "=T T", floating<FloatOp::Ex2>, Effect::Pure, 75},
    {"ex2.approx.ftz.{T:BF16S}", "=T T", floating<FloatOp::Ex2>, Effect::Pure, 90},
    {"tanh.approx.{T:F16S}", "=T T", floating<FloatOp::Tanh>, Effect::Pure, 75},
    {"tanh.approx.{T:BF16S}", "=T T", floating<FloatOp::Tanh>, Effect::Pure, 90},
};

} // namespace cuprum::emulator::rows
