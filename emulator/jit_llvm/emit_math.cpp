// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reciprocals, roots and the approximate functions: the algorithms of interp/handlers/math.cpp,
// operation by operation. Their constants and order of operations must not differ.

#include "jit_llvm/emit_values.hpp"

#include <llvm/IR/Intrinsics.h>

#include <limits>

namespace cuprum::emulator::jit {

/// Evaluates a polynomial, the highest coefficient first.
ValueEmitter::V ValueEmitter::polynomial(V x, llvm::ArrayRef<double> coefficients) {
    V sum = real_constant(coefficients[0]);
    for (const double coefficient : coefficients.drop_front()) {
        sum = ir_.CreateFAdd(ir_.CreateFMul(sum, x), real_constant(coefficient));
    }
    return sum;
}

ValueEmitter::V ValueEmitter::exp2_of(V x) {
    const V high = real_constant(1000.0);
    const V low = real_constant(-1000.0);
    const V limited =
        select(ir_.CreateFCmpOGT(x, high), high, select(ir_.CreateFCmpOLT(x, low), low, x));
    const V whole = round_to_integer(limited, Rounding::Nearest);
    const V f =
        ir_.CreateFMul(ir_.CreateFSub(limited, whole), real_constant(0.69314718055994530942));
    const V sum = polynomial(f, {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                                 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0});
    const V power =
        ir_.CreateAdd(resize(ir_.CreateFPToSI(whole, integer(32)), 64, true), n64(1023));
    const V result = ir_.CreateFMul(sum, as_real(ir_.CreateShl(power, n64(52))));
    return select(is_nan(x), x, result);
}

ValueEmitter::V ValueEmitter::log2_of(V x) {
    const V bits = bits_of(x);
    const V shifted = ir_.CreateSub(bits, n64(0x3fe6a09e00000000u));
    const V exponent = ir_.CreateAShr(shifted, n64(52));
    const V mantissa = as_real(ir_.CreateSub(bits, ir_.CreateShl(exponent, n64(52))));
    const V one = real_constant(1.0);
    const V s = ir_.CreateFDiv(ir_.CreateFSub(mantissa, one), ir_.CreateFAdd(mantissa, one));
    const V z = ir_.CreateFMul(s, s);
    const V sum = polynomial(z, {1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0});
    const V scaled =
        ir_.CreateFMul(ir_.CreateFMul(s, sum), real_constant(2 / 0.69314718055994530942));
    return ir_.CreateFAdd(ir_.CreateSIToFP(resize(exponent, 32, true), real()), scaled);
}

ValueEmitter::V ValueEmitter::sine_of(V x, bool is_cosine) {
    const V in_range = ir_.CreateAnd(ir_.CreateFCmpOLT(x, real_constant(0x1p31)),
                                     ir_.CreateFCmpOGT(x, real_constant(-0x1p31)));
    const V limited = select(in_range, x, real_constant(0.0));
    const V quarters = round_to_integer(
        ir_.CreateFMul(limited, real_constant(0.63661977236758134308)), Rounding::Nearest);
    V r = ir_.CreateFSub(limited, ir_.CreateFMul(quarters, real_constant(1.57079632673412561417)));
    r = ir_.CreateFSub(r, ir_.CreateFMul(quarters, real_constant(6.07710050650619224932e-11)));
    const V z = ir_.CreateFMul(r, r);
    V sine = polynomial(z, {-1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6});
    sine = ir_.CreateFAdd(r, ir_.CreateFMul(ir_.CreateFMul(r, z), sine));
    V cosine =
        polynomial(z, {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5});
    cosine = ir_.CreateFAdd(real_constant(1.0), ir_.CreateFMul(z, cosine));
    V turn = ir_.CreateFPToSI(quarters, integer(32));
    turn = is_cosine ? ir_.CreateAdd(turn, n32(1)) : turn;
    const auto has_bit = [&](std::uint32_t bit) {
        return ir_.CreateICmpNE(ir_.CreateAnd(turn, n32(bit)), n32(0));
    };
    const V value = select(has_bit(1), cosine, sine);
    const V result = select(has_bit(2), ir_.CreateFNeg(value), value);
    const V difference = ir_.CreateFSub(x, x);
    return select(ir_.CreateFCmpUNE(difference, real_constant(0.0)), difference, result);
}

ValueEmitter::V ValueEmitter::tanh_of(V x) {
    const V one = real_constant(1.0);
    const V magnitude = select(ir_.CreateFCmpOLT(x, real_constant(0.0)), ir_.CreateFNeg(x), x);
    const V e = exp2_of(ir_.CreateFMul(magnitude, real_constant(2 * 1.44269504088896340736)));
    const V large = ir_.CreateFSub(one, ir_.CreateFDiv(real_constant(2.0), ir_.CreateFAdd(e, one)));
    const V cube = ir_.CreateFMul(ir_.CreateFMul(magnitude, magnitude), magnitude);
    const V small = ir_.CreateFSub(magnitude, ir_.CreateFMul(cube, real_constant(1.0 / 3)));
    const V result = select(ir_.CreateFCmpOLT(magnitude, real_constant(1e-3)), small, large);
    return select(is_nan(x), x, intrinsic(llvm::Intrinsic::copysign, {result, x}));
}

/// Evaluates a function of single precision, in double precision where it is not exact, or one of
/// double precision.
ValueEmitter::V ValueEmitter::evaluate(FloatOp op, V a) {
    const bool is_single = a->getType()->getScalarType()->isFloatTy();
    const V one = is_single ? single_constant(1.0f) : real_constant(1.0);
    if (op == FloatOp::Rcp) {
        return ir_.CreateFDiv(one, a);
    }
    if (op == FloatOp::Sqrt) {
        return intrinsic(llvm::Intrinsic::sqrt, {a});
    }
    const V x = is_single ? ir_.CreateFPExt(a, real()) : a;
    V result = nullptr;
    switch (op) {
    case FloatOp::Rsqrt:
        result = ir_.CreateFDiv(real_constant(1.0), intrinsic(llvm::Intrinsic::sqrt, {x}));
        break;
    case FloatOp::Sin:
        result = sine_of(x, false);
        break;
    case FloatOp::Cos:
        result = sine_of(x, true);
        break;
    case FloatOp::Lg2: {
        const float infinity = std::numeric_limits<float>::infinity();
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const V zero = single_constant(0.0f);
        const V value = ir_.CreateFPTrunc(log2_of(x), single());
        const V other =
            select(ir_.CreateFCmpOEQ(a, zero), single_constant(-infinity), single_constant(nan));
        const V finite = select(ir_.CreateFCmpOGT(a, zero), value, other);
        return select(ir_.CreateFCmpOEQ(a, single_constant(infinity)), a, finite);
    }
    case FloatOp::Ex2:
        result = exp2_of(x);
        break;
    default:
        result = tanh_of(x);
        break;
    }
    return is_single ? ir_.CreateFPTrunc(result, single()) : result;
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64. Only the upper halves count.
ValueEmitter::V ValueEmitter::upper_half(FloatOp op, V a) {
    const V sign = n64(0x8000000000000000u);
    const V upper = n64(0xffffffff00000000u);
    const auto is_tiny = [&](V bits) {
        return ir_.CreateICmpEQ(ir_.CreateAnd(bits, n64(0x7ff0000000000000u)), n64(0));
    };
    const V truncated = ir_.CreateAnd(bits_of(a), upper);
    const V input = as_real(select(is_tiny(truncated), ir_.CreateAnd(truncated, sign), truncated));
    const V result = evaluate(op, input);
    const V bits = bits_of(result);
    const V cut = ir_.CreateAnd(bits, select(is_tiny(bits), sign, upper));
    return as_real(select(is_nan(result), n64(0x7fffffff00000000u), cut));
}

ValueEmitter::V ValueEmitter::function(const FloatForm& form, V a) {
    if (form.rounding != Rounding::Nearest) { // Rcp and Sqrt
        FloatForm rounded = form;
        if (form.op == FloatOp::Sqrt) {
            return arithmetic(rounded, a, nullptr, nullptr);
        }
        rounded.op = FloatOp::Div;
        const bool is_single = form.type == ptx::Type::F32;
        return arithmetic(rounded, is_single ? single_constant(1.0f) : real_constant(1.0), a,
                          nullptr);
    }
    if (form.type == ptx::Type::F64) {
        return form.flushes ? upper_half(form.op, a) : evaluate(form.op, a);
    }
    const V result = evaluate(form.op, form.flushes ? flush_operand(a) : a);
    return escape(form.flushes ? flush_operand(result) : result);
}

} // namespace cuprum::emulator::jit
