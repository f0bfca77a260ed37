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
    // PTX has .ftz of bf16 only there.
    return !form.flushes || !is_bfloat_type(form.type) || form.op == FloatOp::Ex2;
}

ValueEmitter::V ValueEmitter::like(V value, std::uint64_t number) {
    return llvm::ConstantInt::get(value->getType(), number);
}

ValueEmitter::V ValueEmitter::widen_half(V bits, bool is_bfloat) {
    if (!is_bfloat && target_.has_fma) { // and F16C
        const V half = ir_.CreateBitCast(resize(bits, 16, false), shaped(ir_.getHalfTy()));
        return intrinsic(llvm::Intrinsic::arithmetic_fence, {ir_.CreateFPExt(half, single())});
    }
    bits = resize(bits, 32, false);
    if (is_bfloat) {
        return as_single(ir_.CreateShl(bits, n32(16)));
    }
    const V magnitude = ir_.CreateShl(ir_.CreateAnd(bits, n32(0x7fffu)), n32(13));
    // 2^112 moves the exponent's bias from 15 to 127 and normalises subnormal numbers.
    const V scaled = bits_of(ir_.CreateFMul(as_single(magnitude), single_constant(0x1p112f)));
    const V is_special = ir_.CreateICmpUGE(magnitude, n32(0x0f800000u));
    const V value = select(is_special, ir_.CreateOr(magnitude, n32(0x7f800000u)), scaled);
    return as_single(
        ir_.CreateOr(value, ir_.CreateShl(ir_.CreateAnd(bits, n32(0x8000u)), n32(16))));
}

ValueEmitter::V ValueEmitter::narrow_half(V value, bool is_bfloat, unsigned width) {
    const V bits = bits_of(value);
    V result = nullptr;
    if (is_bfloat) {
        const V odd = ir_.CreateAnd(ir_.CreateLShr(bits, n32(16)), n32(1));
        result = ir_.CreateLShr(ir_.CreateAdd(ir_.CreateAdd(bits, n32(0x7fffu)), odd), n32(16));
    } else if (target_.has_fma) { // and F16C
        const V fenced = intrinsic(llvm::Intrinsic::arithmetic_fence, {value});
        result = bits_of(ir_.CreateFPTrunc(fenced, shaped(ir_.getHalfTy())));
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
    return select(is_nan(value), number(width, HALF_NAN), resize(result, width, false));
}

ValueEmitter::V ValueEmitter::flush_half(V bits, bool is_bfloat) {
    const V is_tiny =
        ir_.CreateICmpEQ(ir_.CreateAnd(bits, like(bits, exponent_of(is_bfloat))), like(bits, 0));
    return select(is_tiny, ir_.CreateAnd(bits, like(bits, 0x8000u)), bits);
}

ValueEmitter::V ValueEmitter::is_half_nan(V bits, bool is_bfloat) {
    return ir_.CreateICmpUGT(ir_.CreateAnd(bits, like(bits, 0x7fffu)),
                             like(bits, exponent_of(is_bfloat)));
}

/// A product of two f16 is exact in single precision, one of two bf16 in double precision.
ValueEmitter::V ValueEmitter::fused_half(V a, V b, V c, bool is_bfloat) {
    V sum = nullptr;
    if (is_bfloat) {
        const V product = ir_.CreateFMul(ir_.CreateFPExt(a, real()), ir_.CreateFPExt(b, real()));
        sum = sum_to_odd(product, ir_.CreateFPExt(c, real()));
        // Round to odd once more: truncate, and set the last bit if anything was lost.
        const V cut = narrow(sum, nullptr, Rounding::Zero);
        const V is_inexact = ir_.CreateFCmpONE(ir_.CreateFPExt(cut, real()), sum);
        sum = as_single(ir_.CreateOr(bits_of(cut), resize(is_inexact, 32, false)));
    } else {
        sum = sum_to_odd(ir_.CreateFMul(a, b), c);
    }
    return sum;
}

/// One value of 16 bits, or in the low bits of 32. The bits above the result are 0.
ValueEmitter::V ValueEmitter::half_arithmetic(const FloatForm& form, V a, V b, V c) {
    const bool is_bfloat = is_bfloat_type(form.type);
    const unsigned width = a->getType()->getScalarSizeInBits();
    const auto sign_of = [&](V bits) { return ir_.CreateAnd(bits, like(bits, 0x8000u)); };
    V is_out = nullptr;
    if (form.is_oob) {
        // The NaN, of either sign, that tensor copies write for out-of-bounds elements.
        const auto is_mark = [&](V bits) {
            return ir_.CreateICmpEQ(ir_.CreateAnd(bits, like(bits, 0x7fffu)), like(bits, 0x7ff7u));
        };
        is_out = ir_.CreateOr(is_mark(a), is_mark(b));
    }
    if (form.flushes) {
        a = flush_half(a, is_bfloat);
        b = b != nullptr ? flush_half(b, is_bfloat) : b;
        c = c != nullptr ? flush_half(c, is_bfloat) : c;
    }
    const auto wide = [&](V bits) { return widen_half(bits, is_bfloat); };
    V exact = nullptr; // or rounded to odd
    switch (form.op) {
    case FloatOp::Add:
        exact = ir_.CreateFAdd(wide(a), wide(b));
        break;
    case FloatOp::Sub:
        exact = ir_.CreateFSub(wide(a), wide(b));
        break;
    case FloatOp::Mul:
        exact = ir_.CreateFMul(wide(a), wide(b));
        break;
    case FloatOp::Fma:
        exact = fused_half(wide(a), wide(b), wide(c), is_bfloat);
        break;
    case FloatOp::Ex2:
    case FloatOp::Tanh: {
        // The polynomials give the same halves as the functions of the handlers, for every half.
        const V x = ir_.CreateFPExt(wide(a), real());
        exact = ir_.CreateFPTrunc(form.op == FloatOp::Ex2 ? exp2_of(x) : tanh_of(x), single());
        break;
    }
    default: { // Neg, Abs
        const V changed = form.op == FloatOp::Neg
                              ? extend(ir_.CreateXor(a, like(a, 0x8000u)), 16, false)
                              : ir_.CreateAnd(a, like(a, 0x7fffu));
        return select(is_half_nan(a, is_bfloat), like(a, HALF_NAN), changed);
    }
    }
    V result = narrow_half(exact, is_bfloat, width);
    if (form.flushes) {
        if (form.op == FloatOp::Mul || form.op == FloatOp::Fma) {
            // 11 bits below the smallest normal f16 are flushed, even if the coarser grid of
            // subnormal numbers would round them up to that number.
            const V is_tiny = ir_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {exact}),
                                                single_constant(0x1p-14f - 0x1p-26f));
            result = select(is_tiny, sign_of(result), result);
        }
        result = flush_half(result, is_bfloat);
    }
    const V is_negative = ir_.CreateICmpUGE(result, like(result, 0x8000u));
    if (form.is_relu) { // a NaN has no sign here, and stays
        result = select(is_negative, like(result, 0), result);
    } else if (form.is_saturating) {
        const V one = like(result, is_bfloat ? 0x3f80u : 0x3c00u);
        const V is_zero = ir_.CreateOr(is_negative, is_half_nan(result, is_bfloat));
        result = select(is_zero, like(result, 0), intrinsic(llvm::Intrinsic::umin, {result, one}));
    }
    return is_out == nullptr ? result : select(is_out, like(result, 0), result);
}

/// Minimum and maximum by the order of the bits, which equals that of the numbers once signs are
/// folded.
ValueEmitter::V ValueEmitter::half_extreme(const FloatForm& form, V a, V b) {
    const bool is_bfloat = is_bfloat_type(form.type);
    const unsigned width = a->getType()->getScalarSizeInBits();
    a = extend(a, 16, false);
    b = extend(b, 16, false);
    if (form.flushes) {
        a = flush_half(a, is_bfloat);
        b = flush_half(b, is_bfloat);
    }
    const V sign = ir_.CreateAnd(ir_.CreateXor(a, b), like(a, 0x8000u));
    if (form.is_xorsign) {
        a = ir_.CreateAnd(a, like(a, 0x7fffu));
        b = ir_.CreateAnd(b, like(b, 0x7fffu));
    }
    const V a_nan = is_half_nan(a, is_bfloat);
    const V b_nan = is_half_nan(b, is_bfloat);
    // As signed numbers: the magnitude's bits change where the sign is set.
    const auto ordered = [&](V bits) {
        const V value = extend(bits, 16, true);
        const V negative = ir_.CreateAShr(value, like(value, width - 1));
        return ir_.CreateXor(value, ir_.CreateAnd(negative, like(value, 0x7fffu)));
    };
    const V x = ordered(a);
    const V y = ordered(b);
    const V is_first = form.op == FloatOp::Max ? ir_.CreateICmpSGT(x, y) : ir_.CreateICmpSLT(x, y);
    const V takes_a = ir_.CreateOr(b_nan, ir_.CreateAnd(ir_.CreateNot(a_nan), is_first));
    V result = select(takes_a, a, b);
    result = form.is_xorsign ? ir_.CreateOr(result, sign) : result;
    const V is_nan_result =
        form.keeps_nan ? ir_.CreateOr(a_nan, b_nan) : ir_.CreateAnd(a_nan, b_nan);
    return select(is_nan_result, like(result, HALF_NAN), result);
}

void ValueEmitter::emit_half(const FloatForm& form) {
    const bool is_pair = form.type == ptx::Type::F16x2 || form.type == ptx::Type::BF16x2;
    const bool is_extreme = form.op == FloatOp::Min || form.op == FloatOp::Max;
    const bool is_binary =
        is_extreme || form.op == FloatOp::Add || form.op == FloatOp::Sub || form.op == FloatOp::Mul;
    const unsigned count = form.op == FloatOp::Fma ? 3 : is_binary ? 2 : 1;
    V sources[3] = {};
    const auto run = [&](ValueEmitter& emitter, V a, V b, V c) {
        return is_extreme ? emitter.half_extreme(form, a, b)
                          : emitter.half_arithmetic(form, a, b, c);
    };
    for (unsigned i = 0; i < count; ++i) {
        sources[i] = word(i);
    }
    if (is_pair && (is_extreme || !is_bfloat_type(form.type))) {
        // As twice as many lanes of 16 bits.
        ValueEmitter halves(ir_, kernel_, 2 * lanes_, target_);
        for (unsigned i = 0; i < count; ++i) {
            sources[i] = ir_.CreateBitCast(sources[i], halves.integer(16));
        }
        give(ir_.CreateBitCast(run(halves, sources[0], sources[1], sources[2]), integer(32)));
        return;
    }
    // The upper one of two bf16 is a number of single precision once the lower one is cut off.
    V result = run(*this, sources[0], sources[1], sources[2]);
    if (is_pair) {
        for (unsigned i = 0; i < count; ++i) {
            sources[i] = ir_.CreateLShr(sources[i], n32(16));
        }
        const V upper = run(*this, sources[0], sources[1], sources[2]);
        result = ir_.CreateOr(result, ir_.CreateShl(upper, n32(16)));
    }
    give(result);
}

} // namespace cuprum::emulator::jit
