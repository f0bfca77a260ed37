// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic on f16, bf16 and pairs of them.
//
// Both are computed in wider precision and rounded once. For +, - and *, single precision is wide
// enough that rounding twice changes nothing; fma needs the sum rounded to odd first.
//
// LLVM must not see that a number was a half: it would compare and add halves, one lane at a time.
// An arithmetic fence hides it.

#include "jit_llvm/emit_values.hpp"

#include <llvm/IR/Intrinsics.h>

namespace cuprum::emulator::jit {

namespace {

constexpr std::uint32_t HALF_NAN = 0x7fffu;

bool is_bfloat_type(ptx::Type type) {
    return type == ptx::Type::BF16 || type == ptx::Type::BF16x2;
}

std::uint32_t exponent_of(bool is_bfloat) {
    return is_bfloat ? 0x7f80u : 0x7c00u;
}

} // namespace

bool ValueEmitter::can_emit_half(const FloatForm& form) {
    const bool is_function = form.op == FloatOp::Ex2 || form.op == FloatOp::Tanh;
    return !is_function && !(form.flushes && is_bfloat_type(form.type));
}

ValueEmitter::V ValueEmitter::widen_half(V bits, bool is_bfloat) {
    if (is_bfloat) {
        return as_single(ir_.CreateShl(bits, n32(16)));
    }
    if (target_.has_fma) { // and F16C
        const V half = ir_.CreateBitCast(resize(bits, 16, false), shaped(ir_.getHalfTy()));
        return intrinsic(llvm::Intrinsic::arithmetic_fence, {ir_.CreateFPExt(half, single())});
    }
    const V magnitude = ir_.CreateShl(ir_.CreateAnd(bits, n32(0x7fffu)), n32(13));
    // 2^112 moves the exponent's bias from 15 to 127 and normalises subnormal numbers.
    const V scaled = bits_of(ir_.CreateFMul(as_single(magnitude), single_constant(0x1p112f)));
    const V is_special = ir_.CreateICmpUGE(magnitude, n32(0x0f800000u));
    const V value = select(is_special, ir_.CreateOr(magnitude, n32(0x7f800000u)), scaled);
    return as_single(
        ir_.CreateOr(value, ir_.CreateShl(ir_.CreateAnd(bits, n32(0x8000u)), n32(16))));
}

ValueEmitter::V ValueEmitter::narrow_half(V value, bool is_bfloat) {
    const V bits = bits_of(value);
    V result = nullptr;
    if (is_bfloat) {
        const V odd = ir_.CreateAnd(ir_.CreateLShr(bits, n32(16)), n32(1));
        result = ir_.CreateLShr(ir_.CreateAdd(ir_.CreateAdd(bits, n32(0x7fffu)), odd), n32(16));
    } else if (target_.has_fma) { // and F16C
        const V fenced = intrinsic(llvm::Intrinsic::arithmetic_fence, {value});
        const V half = ir_.CreateFPTrunc(fenced, shaped(ir_.getHalfTy()));
        result = resize(bits_of(half), 32, false);
    } else {
        const V sign = ir_.CreateAnd(ir_.CreateLShr(bits, n32(16)), n32(0x8000u));
        const V magnitude = ir_.CreateAnd(bits, n32(0x7fffffffu));
        // Adding 0.5 aligns the last bit of a subnormal half with the last bit of the sum.
        const V sum = ir_.CreateFAdd(as_single(magnitude), single_constant(0.5f));
        const V subnormal = ir_.CreateSub(bits_of(sum), n32(0x3f000000u));
        const V odd = ir_.CreateAnd(ir_.CreateLShr(magnitude, n32(13)), n32(1));
        const V normal = ir_.CreateLShr(
            ir_.CreateAdd(ir_.CreateAdd(magnitude, n32(0xfffu - 0x38000000u)), odd), n32(13));
        result = select(ir_.CreateICmpULT(magnitude, n32(0x38800000u)), subnormal, normal);
        result = select(ir_.CreateICmpUGE(magnitude, n32(0x47800000u)), n32(0x7c00u), result);
        result = ir_.CreateOr(result, sign);
    }
    return select(is_nan(value), n32(HALF_NAN), result);
}

ValueEmitter::V ValueEmitter::flush_half(V bits, bool is_bfloat) {
    const V is_tiny = ir_.CreateICmpEQ(ir_.CreateAnd(bits, n32(exponent_of(is_bfloat))), n32(0));
    return select(is_tiny, ir_.CreateAnd(bits, n32(0x8000u)), bits);
}

ValueEmitter::V ValueEmitter::is_half_nan(V bits, bool is_bfloat) {
    return ir_.CreateICmpUGT(ir_.CreateAnd(bits, n32(0x7fffu)), n32(exponent_of(is_bfloat)));
}

/// A product of two f16 is exact in single precision, one of two bf16 in double precision.
ValueEmitter::V ValueEmitter::fused_half(V a, V b, V c, bool is_bfloat, bool flushes) {
    V sum = nullptr;
    if (is_bfloat) {
        const V product = ir_.CreateFMul(ir_.CreateFPExt(a, real()), ir_.CreateFPExt(b, real()));
        sum = sum_to_odd(product, ir_.CreateFPExt(c, real()));
        // Round to odd once more: truncate, and set the last bit if anything was lost.
        const V cut = narrow(sum, Rounding::Zero);
        const V is_inexact = ir_.CreateFCmpONE(ir_.CreateFPExt(cut, real()), sum);
        sum = as_single(ir_.CreateOr(bits_of(cut), resize(is_inexact, 32, false)));
    } else {
        sum = sum_to_odd(ir_.CreateFMul(a, b), c);
    }
    const V result = narrow_half(sum, is_bfloat);
    if (!flushes) {
        return result;
    }
    // 11 bits below the smallest normal f16 are flushed, even if the coarser grid of subnormal
    // numbers would round them up to that number.
    const V is_tiny = ir_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {sum}),
                                        single_constant(0x1p-14f - 0x1p-26f));
    return select(is_tiny, ir_.CreateAnd(result, n32(0x8000u)), result);
}

/// One value in the low bits of each source. The bits above the result are 0.
ValueEmitter::V ValueEmitter::half_arithmetic(const FloatForm& form, V a, V b, V c) {
    const bool is_bfloat = is_bfloat_type(form.type);
    V is_out = nullptr;
    if (form.is_oob) {
        // The NaN, of either sign, that tensor copies write for out-of-bounds elements.
        const auto is_mark = [&](V bits) {
            return ir_.CreateICmpEQ(ir_.CreateAnd(bits, n32(0x7fffu)), n32(0x7ff7u));
        };
        is_out = ir_.CreateOr(is_mark(a), is_mark(b));
    }
    if (form.flushes) {
        a = flush_half(a, is_bfloat);
        b = b != nullptr ? flush_half(b, is_bfloat) : b;
        c = c != nullptr ? flush_half(c, is_bfloat) : c;
    }
    const auto wide = [&](V bits) { return widen_half(bits, is_bfloat); };
    V result = nullptr;
    switch (form.op) {
    case FloatOp::Add:
        result = narrow_half(ir_.CreateFAdd(wide(a), wide(b)), is_bfloat);
        break;
    case FloatOp::Sub:
        result = narrow_half(ir_.CreateFSub(wide(a), wide(b)), is_bfloat);
        break;
    case FloatOp::Mul: {
        const V product = ir_.CreateFMul(wide(a), wide(b));
        result = narrow_half(product, is_bfloat);
        if (form.flushes) {
            const V is_tiny = ir_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {product}),
                                                single_constant(0x1p-14f - 0x1p-26f));
            result = select(is_tiny, ir_.CreateAnd(result, n32(0x8000u)), result);
        }
        break;
    }
    case FloatOp::Fma:
        result = fused_half(wide(a), wide(b), wide(c), is_bfloat, form.flushes);
        break;
    default: { // Neg, Abs
        const V changed = form.op == FloatOp::Neg
                              ? extend(ir_.CreateXor(a, n32(0x8000u)), 16, false)
                              : ir_.CreateAnd(a, n32(0x7fffu));
        return select(is_half_nan(a, is_bfloat), n32(HALF_NAN), changed);
    }
    }
    if (form.flushes) {
        result = flush_half(result, is_bfloat);
    }
    const V is_negative = ir_.CreateICmpUGE(result, n32(0x8000u));
    if (form.is_relu) { // a NaN has no sign here, and stays
        result = select(is_negative, n32(0), result);
    } else if (form.is_saturating) {
        const V one = n32(is_bfloat ? 0x3f80u : 0x3c00u);
        const V is_zero = ir_.CreateOr(is_negative, is_half_nan(result, is_bfloat));
        result = select(is_zero, n32(0), intrinsic(llvm::Intrinsic::umin, {result, one}));
    }
    return is_out == nullptr ? result : select(is_out, n32(0), result);
}

/// Minimum and maximum by the order of the bits, which equals that of the numbers once signs are
/// folded.
ValueEmitter::V ValueEmitter::half_extreme(const FloatForm& form, V a, V b) {
    const bool is_bfloat = is_bfloat_type(form.type);
    a = extend(a, 16, false);
    b = extend(b, 16, false);
    if (form.flushes) {
        a = flush_half(a, is_bfloat);
        b = flush_half(b, is_bfloat);
    }
    const V sign = ir_.CreateAnd(ir_.CreateXor(a, b), n32(0x8000u));
    if (form.is_xorsign) {
        a = ir_.CreateAnd(a, n32(0x7fffu));
        b = ir_.CreateAnd(b, n32(0x7fffu));
    }
    const V a_nan = is_half_nan(a, is_bfloat);
    const V b_nan = is_half_nan(b, is_bfloat);
    // As signed numbers: the magnitude's bits change where the sign is set.
    const auto ordered = [&](V bits) {
        const V value = extend(bits, 16, true);
        return ir_.CreateXor(value, ir_.CreateLShr(ir_.CreateAShr(value, n32(31)), n32(17)));
    };
    const V x = ordered(a);
    const V y = ordered(b);
    const V is_first = form.op == FloatOp::Max ? ir_.CreateICmpSGT(x, y) : ir_.CreateICmpSLT(x, y);
    const V takes_a = ir_.CreateOr(b_nan, ir_.CreateAnd(ir_.CreateNot(a_nan), is_first));
    V result = select(takes_a, a, b);
    result = form.is_xorsign ? ir_.CreateOr(result, sign) : result;
    const V is_nan_result =
        form.keeps_nan ? ir_.CreateOr(a_nan, b_nan) : ir_.CreateAnd(a_nan, b_nan);
    return select(is_nan_result, n32(HALF_NAN), result);
}

void ValueEmitter::emit_half(const FloatForm& form) {
    const bool is_pair = form.type == ptx::Type::F16x2 || form.type == ptx::Type::BF16x2;
    const bool is_extreme = form.op == FloatOp::Min || form.op == FloatOp::Max;
    const bool is_unary = form.op == FloatOp::Neg || form.op == FloatOp::Abs;
    const V a = word(0);
    const V b = is_unary ? nullptr : word(1);
    const V c = form.op == FloatOp::Fma ? word(2) : nullptr;
    const auto one = [&](unsigned shift) {
        const auto part = [&](V value) {
            return value == nullptr || shift == 0 ? value : ir_.CreateLShr(value, n32(shift));
        };
        return is_extreme ? half_extreme(form, part(a), part(b))
                          : half_arithmetic(form, part(a), part(b), part(c));
    };
    const V low = one(0);
    give(is_pair ? ir_.CreateOr(low, ir_.CreateShl(one(16), n32(16))) : low);
}

} // namespace cuprum::emulator::jit
