// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of instructions on integers, bits and predicates.

#pragma once

#include "rows/row.hpp"

namespace cuprum::emulator::rows {

template <IntegerOp... OPS>
constexpr Meaning<IntegerForm> integer(const Match& match) {
    constexpr IntegerOp ops[] = {OPS...};
    const TypeName type = match.type();
    return {IntegerForm{.op = ops[match.index('O')],
                        .type = type.part,
                        .is_saturating = match.has("sat"),
                        .is_packed = type.is_packed}};
}

constexpr Row<IntegerForm> INTEGER_ROWS[] = {
    {"{O:add,sub,div,rem,min,max}.{T:INT}", "=T TT",
     integer<IntegerOp::Add, IntegerOp::Sub, IntegerOp::Div, IntegerOp::Rem, IntegerOp::Min,
             IntegerOp::Max>},
    {"{O:add,sub}.sat.s32", "=w ww", integer<IntegerOp::Add, IntegerOp::Sub>},
    {"add.sat.u32", "=w ww", integer<IntegerOp::Add>, Effect::Pure, 120},
    {"mul.{O:lo,hi}.{T:INT}", "=T TT", integer<IntegerOp::MulLo, IntegerOp::MulHi>},
    {"mul.wide.{T:u16,s16,u32,s32}", "=D TT", integer<IntegerOp::MulWide>},
    {"mad.{O:lo,hi}.{T:INT}", "=T TTT", integer<IntegerOp::MadLo, IntegerOp::MadHi>},
    {"mad.wide.{T:u16,s16,u32,s32}", "=D TTD", integer<IntegerOp::MadWide>},
    {"mad.hi.sat.s32", "=w www", integer<IntegerOp::MadHi>},
    {"mul24.{O:lo,hi}.{T:u32,s32}", "=T TT", integer<IntegerOp::Mul24Lo, IntegerOp::Mul24Hi>},
    {"mad24.{O:lo,hi}.{T:u32,s32}", "=T TTT", integer<IntegerOp::Mad24Lo, IntegerOp::Mad24Hi>},
    {"mad24.hi.sat.s32", "=w www", integer<IntegerOp::Mad24Hi>},
    {"sad.{T:INT}", "=T TTT", integer<IntegerOp::Sad>},
    {"{O:abs,neg}.{T:s16,s32,s64}", "=T T", integer<IntegerOp::Abs, IntegerOp::Neg>},
    refuse("{abs,neg}.{u16,u32,u64}", "needs a signed type"),
    refuse("{mul,mad}.wide.{u64,s64}", "has no .wide form for 64-bit values"),
    {"{O:min,max}.relu.s32", "=w ww", integer<IntegerOp::MinRelu, IntegerOp::MaxRelu>, Effect::Pure,
     90},
    // Two or four values in a register.
    {"add.{T:u16x2,s16x2}", "=w ww", integer<IntegerOp::Add>, Effect::Pure, 90},
    {"add.sat.{T:u16x2,s16x2}", "=w ww", integer<IntegerOp::Add>, Effect::Pure, 120},
    {"{O:min,max}.{T:u16x2,s16x2}", "=w ww", integer<IntegerOp::Min, IntegerOp::Max>, Effect::Pure,
     90},
    {"{O:min,max}.relu.s16x2", "=w ww", integer<IntegerOp::MinRelu, IntegerOp::MaxRelu>,
     Effect::Pure, 90},
    {"{O:add,sub}{S:,.sat}.{T:u8x4,s8x4}", "=w ww", integer<IntegerOp::Add, IntegerOp::Sub>,
     Effect::Pure, 120},
    {"{O:min,max}.{T:u8x4,s8x4}", "=w ww", integer<IntegerOp::Min, IntegerOp::Max>, Effect::Pure,
     120},
    {"{O:min,max}.relu.s8x4", "=w ww", integer<IntegerOp::MinRelu, IntegerOp::MaxRelu>,
     Effect::Pure, 120},
    {"neg.s8x4", "=w w", integer<IntegerOp::Neg>, Effect::Pure, 120},
    // Carry-less products.
    {"clmad.{O:lo,hi}.u64", "=q qqq", integer<IntegerOp::CarrylessMadLo, IntegerOp::CarrylessMadHi>,
     Effect::Pure, 90},
};

template <bool IS_FOUR_WAY>
constexpr Meaning<DotForm> dot(const Match& match) {
    return {.form = DotForm{.is_four_way = IS_FOUR_WAY},
            .tag = static_cast<std::uint16_t>(match.index('a') | match.index('b') << 1 |
                                              match.index('h') << 2)};
}

constexpr Row<DotForm> DOT_ROWS[] = {
    {"dp4a.{a:u32,s32}.{b:u32,s32}", "=w www", dot<true>},
    {"dp2a.{h:lo,hi}.{a:u32,s32}.{b:u32,s32}", "=w www", dot<false>},
};

/// Extended-precision arithmetic: .cc writes the carry flag, a `c` behind the opcode reads it.
template <bool READS, CarryOp... OPS>
constexpr Meaning<CarryForm> carry(const Match& match) {
    constexpr CarryOp ops[] = {OPS...};
    return {CarryForm{.op = ops[match.index('O')],
                      .type = match.type().part,
                      .reads_carry = READS,
                      .writes_carry = match.has("cc")}};
}

constexpr Row<CarryForm> CARRY_ROWS[] = {
    {"{O:add,sub}.cc.{T:u32,s32,u64,s64}", "=Tc TT", carry<false, CarryOp::Add, CarryOp::Sub>},
    {"{O:addc,subc}.{T:u32,s32,u64,s64}", "=T TTc", carry<true, CarryOp::Add, CarryOp::Sub>},
    {"{O:addc,subc}.cc.{T:u32,s32,u64,s64}", "=Tc TTc", carry<true, CarryOp::Add, CarryOp::Sub>},
    {"mad.{O:lo,hi}.cc.{T:u32,s32,u64,s64}", "=Tc TTT",
     carry<false, CarryOp::MadLo, CarryOp::MadHi>},
    {"madc.{O:lo,hi}.{T:u32,s32,u64,s64}", "=T TTTc", carry<true, CarryOp::MadLo, CarryOp::MadHi>},
    {"madc.{O:lo,hi}.cc.{T:u32,s32,u64,s64}", "=Tc TTTc",
     carry<true, CarryOp::MadLo, CarryOp::MadHi>},
};

constexpr BitsForm bits_form(BitsOp op, ptx::Type type) {
    const unsigned bits = type == ptx::Type::Pred ? 32 : bits_of(type);
    return {.op = op, .bits = static_cast<std::uint8_t>(bits)};
}

template <BitsOp... OPS>
constexpr Meaning<BitsForm> bits(const Match& match) {
    constexpr BitsOp ops[] = {OPS...};
    return {bits_form(ops[match.index('O')], match.type().part)};
}

/// For signed types the second operation.
template <BitsOp UNSIGNED, BitsOp SIGNED>
constexpr Meaning<BitsForm> bits_by_sign(const Match& match) {
    const ptx::Type type = match.type().part;
    return {bits_form(is_signed(type) ? SIGNED : UNSIGNED, type)};
}

constexpr Meaning<BitsForm> szext(const Match& match) {
    constexpr BitsOp ops[] = {BitsOp::SzextClampUnsigned, BitsOp::SzextClampSigned,
                              BitsOp::SzextWrapUnsigned, BitsOp::SzextWrapSigned};
    return {BitsForm{.op = ops[match.index('M') * 2 + match.index('T')]}};
}

constexpr Meaning<BitsForm> funnel_shift(const Match& match) {
    constexpr BitsOp ops[] = {BitsOp::FunnelLeftWrap, BitsOp::FunnelLeftClamp,
                              BitsOp::FunnelRightWrap, BitsOp::FunnelRightClamp};
    return {BitsForm{.op = ops[match.index('D') * 2 + match.index('M')]}};
}

constexpr Meaning<BitsForm> prmt(const Match& match) {
    return {BitsForm{.op = BitsOp::Prmt, .mode = static_cast<PrmtMode>(match.index('M'))}};
}

constexpr Meaning<BitsForm> lop3(const Match& match) {
    return {BitsForm{.op = BitsOp::Lop3, .lut = match.literal}};
}

constexpr Row<BitsForm> BITS_ROWS[] = {
    {"{O:and,or,xor}.{T:BITS}", "=T TT", bits<BitsOp::And, BitsOp::Or, BitsOp::Xor>},
    {"{O:not,cnot}.{T:BITS}", "=T T", bits<BitsOp::Not, BitsOp::Cnot>},
    {"{O:and,or,xor}.pred", "=p p0p1",
     bits<BitsOp::PredicateAnd, BitsOp::PredicateOr, BitsOp::PredicateXor>},
    {"not.pred", "=p p0", bits<BitsOp::PredicateNot>},
    {"shl.{T:BITS}", "=T Tw", bits<BitsOp::Shl>},
    {"shr.{T:b16,b32,b64,u16,u32,u64,s16,s32,s64}", "=T Tw",
     bits_by_sign<BitsOp::ShrUnsigned, BitsOp::ShrSigned>},
    {"shf.{D:l,r}.{M:wrap,clamp}.b32", "=w www", funnel_shift},
    {"{O:popc,clz}.{T:b32,b64}", "=w T", bits<BitsOp::Popc, BitsOp::Clz>},
    {"brev.{T:b32,b64}", "=T T", bits<BitsOp::Brev>},
    {"bfind.{T:u32,s32,u64,s64}", "=w T", bits_by_sign<BitsOp::BfindUnsigned, BitsOp::BfindSigned>},
    {"bfind.shiftamt.{T:u32,s32,u64,s64}", "=w T",
     bits_by_sign<BitsOp::BfindUnsignedShift, BitsOp::BfindSignedShift>},
    {"bfe.{T:u32,s32,u64,s64}", "=T Tww", bits_by_sign<BitsOp::BfeUnsigned, BitsOp::BfeSigned>},
    {"bfi.{T:b32,b64}", "=T TTww", bits<BitsOp::Bfi>},
    {"bmsk.{O:clamp,wrap}.b32", "=w ww", bits<BitsOp::BmskClamp, BitsOp::BmskWrap>},
    {"szext.{M:clamp,wrap}.{T:u32,s32}", "=T Tw", szext},
    {"fns.b32", "=w wwi", bits<BitsOp::Fns>},
    {"prmt.b32{M:,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "=w www", prmt},
    {"lop3.b32", "=w wwwL", lop3},
    {"lop3.{and,or}.b32", "=w|p wwwLp"}, // decode/lop3.cpp
};

/// setp and set. Group b is a Combine. `set` writes 1 in the type of group R.
template <Compare... OPS>
constexpr Meaning<CompareForm> compare(const Match& match) {
    constexpr Compare ops[] = {OPS...};
    const std::string_view result = match['R'];
    CompareForm form{
        .compare = ops[match.index('C')], .type = match.type().part, .flushes = match.has("ftz")};
    // Handlers of halves read the comparison.
    const bool is_half = form.type >= ptx::Type::F16 && form.type <= ptx::Type::BF16x2;
    const auto details = static_cast<unsigned>(form.compare) << 8 | (form.flushes ? 1u << 12 : 0);
    std::int64_t one = 0;
    if (result == "f32") {
        form.result = CompareResult::Float32;
        one = 0x3f800000;
    } else if (result.starts_with("f16")) {
        form.result = CompareResult::Half;
        one = 0x3c003c00;
    } else if (result.starts_with("bf16")) {
        form.result = CompareResult::BFloat;
        one = 0x3f803f80;
    } else if (!result.empty()) {
        form.result = CompareResult::Integer;
        one = 0xffffffff;
    }
    return {.form = form,
            .tag = static_cast<std::uint16_t>(match.index('b') | (is_half ? details : 0)),
            .immediate = one};
}

constexpr std::string_view ONLY_EQUAL =
    "compares bits by their order; only .eq and .ne compare bits";
constexpr std::string_view NOT_UNSIGNED =
    "compares a type that is not unsigned with an unsigned operator";

constexpr auto COMPARE_INTEGERS =
    compare<Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge>;
constexpr auto COMPARE_BITS = compare<Compare::Eq, Compare::Ne>;
constexpr auto COMPARE_UNSIGNED = compare<Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge>;

constexpr Row<CompareForm> COMPARE_ROWS[] = {
    {"setp.{C:ORDERS}{b:COMBINE}.{T:INT}", "=P TTb", COMPARE_INTEGERS},
    {"setp.{C:eq,ne}{b:COMBINE}.{T:BITS}", "=P TTb", COMPARE_BITS},
    {"setp.{C:lo,ls,hi,hs}{b:COMBINE}.{T:u16,u32,u64}", "=P TTb", COMPARE_UNSIGNED},
    {"set.{C:ORDERS}{b:COMBINE}.{R:RESULTS}.{T:INT}", "=R TTb", COMPARE_INTEGERS},
    {"set.{C:eq,ne}{b:COMBINE}.{R:RESULTS}.{T:BITS}", "=R TTb", COMPARE_BITS},
    {"set.{C:lo,ls,hi,hs}{b:COMBINE}.{R:RESULTS}.{T:u16,u32,u64}", "=R TTb", COMPARE_UNSIGNED},
    refuse("setp.{lt,le,gt,ge}{COMBINE}.{BITS}", ONLY_EQUAL),
    refuse("set.{lt,le,gt,ge}{COMBINE}.{RESULTS}.{BITS}", ONLY_EQUAL),
    refuse("setp.{lo,ls,hi,hs}{COMBINE}.{s16,s32,s64,b16,b32,b64}", NOT_UNSIGNED),
    refuse("set.{lo,ls,hi,hs}{COMBINE}.{RESULTS}.{s16,s32,s64,b16,b32,b64}", NOT_UNSIGNED),
};

constexpr auto COMPARE_FLOATS =
    compare<Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge,
            Compare::Equ, Compare::Neu, Compare::Ltu, Compare::Leu, Compare::Gtu, Compare::Geu,
            Compare::Num, Compare::Nan>;

constexpr Row<CompareForm> COMPARE_FLOAT_ROWS[] = {
    {"setp.{C:RELATIONS}{b:COMBINE}{F:,.ftz}.{T:f32}", "=P TTb", COMPARE_FLOATS},
    {"setp.{C:RELATIONS}{b:COMBINE}.{T:f64}", "=P TTb", COMPARE_FLOATS},
    {"set.{C:RELATIONS}{b:COMBINE}{F:,.ftz}.{R:RESULTS}.{T:f32}", "=R TTb", COMPARE_FLOATS},
    {"set.{C:RELATIONS}{b:COMBINE}.{R:RESULTS}.{T:f64}", "=R TTb", COMPARE_FLOATS},
};

constexpr Row<CompareForm> COMPARE_HALF_ROWS[] = {
    {"setp.{C:RELATIONS}{b:COMBINE}{F:,.ftz}.{T:f16}", "=P TTb", COMPARE_FLOATS},
    {"setp.{C:RELATIONS}{b:COMBINE}{F:,.ftz}.{T:f16x2}", "=B TTb", COMPARE_FLOATS},
    {"setp.{C:RELATIONS}{b:COMBINE}.{T:bf16}", "=P TTb", COMPARE_FLOATS, Effect::Pure, 90},
    {"setp.{C:RELATIONS}{b:COMBINE}.{T:bf16x2}", "=B TTb", COMPARE_FLOATS, Effect::Pure, 90},
    {"set.{C:RELATIONS}{b:COMBINE}{F:,.ftz}.{R:RESULTS}.{T:F16S}", "=R TTb", COMPARE_FLOATS},
    {"set.{C:RELATIONS}{b:COMBINE}.{R:RESULTS}.{T:BF16S}", "=R TTb", COMPARE_FLOATS, Effect::Pure,
     90},
};

constexpr Meaning<PackForm> pack(const Match& match) {
    const std::string_view to = match['T'];
    const int bits = to.size() == 3 ? 16 : to[1] - '0';
    return {PackForm{.bits = static_cast<std::uint8_t>(bits), .is_signed = to[0] == 's'}};
}

constexpr Row<PackForm> PACK_ROWS[] = {
    {"cvt.pack.sat.{T:u16,s16}.s32", "=w ii", pack, Effect::Pure, 72},
    {"cvt.pack.sat.{T:u8,s8,u4,s4,u2,s2}.s32.b32", "=w iiw", pack, Effect::Pure, 72},
};

} // namespace cuprum::emulator::rows
