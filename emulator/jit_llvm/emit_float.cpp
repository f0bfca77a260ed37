// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// f32 and f64 arithmetic in the four rounding directions, and what only looks at numbers.

#include "jit_llvm/emit_values.hpp"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace cuprum::emulator::jit {

bool ValueEmitter::can_emit_float(const FloatForm& form, const Target& target) {
    if (form.type != ptx::Type::F32 && form.type != ptx::Type::F64) {
        return can_emit_half(form);
    }
    const bool is_double = form.type == ptx::Type::F64;
    if (form.rounding != Rounding::Nearest) {
        // Elsewhere rounding twice would flush too early.
        return target.has_avx512 || (!is_double && !target.flushes && form.op != FloatOp::Div &&
                                     form.op != FloatOp::Rcp && form.op != FloatOp::Sqrt);
    }
    return form.op != FloatOp::Fma || !is_double || target.has_fma;
}

ValueEmitter::V ValueEmitter::compute(FloatOp op, V a, V b, V c, Rounding rounding) {
    if (rounding != Rounding::Nearest) {
        return compute_directed(op, a, b, c, rounding);
    }
    switch (op) {
    case FloatOp::Add:
        return ir_.CreateFAdd(a, b);
    case FloatOp::Sub:
        return ir_.CreateFSub(a, b);
    case FloatOp::Mul:
        return ir_.CreateFMul(a, b);
    case FloatOp::Fma:
        return fused(a, b, c);
    default:
        return ir_.CreateFDiv(a, b);
    }
}

ValueEmitter::V ValueEmitter::narrow(V value, V error, Rounding rounding) {
    const V nearest = ir_.CreateFPTrunc(value, single());
    if (rounding == Rounding::Nearest) {
        return nearest;
    }
    // One step in the right direction if the nearest number is on the other side.
    V difference = ir_.CreateFSub(value, ir_.CreateFPExt(nearest, real()));
    difference = error != nullptr ? ir_.CreateFAdd(difference, error) : difference;
    const V zero = real_constant(0.0);
    const V bits = bits_of(nearest);
    const V is_negative = ir_.CreateICmpSLT(bits, n32(0));
    if (rounding == Rounding::Zero) {
        const V is_beyond = select(is_negative, ir_.CreateFCmpOGT(difference, zero),
                                   ir_.CreateFCmpOLT(difference, zero));
        return as_single(select(is_beyond, ir_.CreateSub(bits, n32(1)), bits));
    }
    const bool is_down = rounding == Rounding::Down;
    const V is_beyond =
        is_down ? ir_.CreateFCmpOLT(difference, zero) : ir_.CreateFCmpOGT(difference, zero);
    // The bits of negative numbers grow downwards. 1 and -1 from the sign:
    const V sign = ir_.CreateOr(ir_.CreateAShr(bits, n32(31)), n32(1));
    const V next = is_down ? ir_.CreateSub(bits, sign) : ir_.CreateAdd(bits, sign);
    return as_single(select(is_beyond, next, bits));
}

/// AVX-512 has instructions with a rounding direction, for vectors of 64 bytes.
ValueEmitter::V ValueEmitter::compute_with_avx512(FloatOp op, V a, V b, V c, Rounding rounding) {
    const bool is_single = a->getType()->getScalarType()->isFloatTy();
    const unsigned width = is_single ? 16 : 8;
    const auto id = [&]() -> llvm::Intrinsic::ID {
        switch (op) {
        case FloatOp::Add:
            return is_single ? llvm::Intrinsic::x86_avx512_add_ps_512
                             : llvm::Intrinsic::x86_avx512_add_pd_512;
        case FloatOp::Sub:
            return is_single ? llvm::Intrinsic::x86_avx512_sub_ps_512
                             : llvm::Intrinsic::x86_avx512_sub_pd_512;
        case FloatOp::Mul:
            return is_single ? llvm::Intrinsic::x86_avx512_mul_ps_512
                             : llvm::Intrinsic::x86_avx512_mul_pd_512;
        case FloatOp::Fma:
            return is_single ? llvm::Intrinsic::x86_avx512_vfmadd_ps_512
                             : llvm::Intrinsic::x86_avx512_vfmadd_pd_512;
        case FloatOp::Sqrt:
            return is_single ? llvm::Intrinsic::x86_avx512_sqrt_ps_512
                             : llvm::Intrinsic::x86_avx512_sqrt_pd_512;
        default:
            return is_single ? llvm::Intrinsic::x86_avx512_div_ps_512
                             : llvm::Intrinsic::x86_avx512_div_pd_512;
        }
    }();
    constexpr unsigned no_exceptions = 8;
    auto* const type = llvm::FixedVectorType::get(a->getType()->getScalarType(), width);
    // Vectors of other lengths are taken apart, or filled up with lanes that nobody reads.
    const auto chunk_of = [&](V value, unsigned first) -> V {
        if (lanes_ == 1) {
            return ir_.CreateInsertElement(llvm::Constant::getNullValue(type), value,
                                           std::uint64_t{0});
        }
        llvm::SmallVector<int> lanes;
        for (unsigned lane = 0; lane < width; ++lane) {
            lanes.push_back(static_cast<int>((first + lane) % lanes_));
        }
        return ir_.CreateShuffleVector(value, lanes);
    };
    llvm::SmallVector<V> chunks;
    for (unsigned first = 0; first < lanes_; first += width) {
        llvm::SmallVector<V> arguments;
        for (const V value : {a, b, c}) {
            if (value != nullptr) {
                arguments.push_back(chunk_of(value, first));
            }
        }
        arguments.push_back(ir_.getInt32(no_exceptions | static_cast<unsigned>(rounding)));
        chunks.push_back(ir_.CreateIntrinsic(id, {}, arguments));
    }
    if (lanes_ == 1) {
        return ir_.CreateExtractElement(chunks[0], std::uint64_t{0});
    }
    while (chunks.size() > 1) {
        llvm::SmallVector<V> wider;
        for (std::size_t i = 0; i < chunks.size(); i += 2) {
            const unsigned count =
                llvm::cast<llvm::FixedVectorType>(chunks[i]->getType())->getNumElements();
            llvm::SmallVector<int> lanes;
            for (unsigned lane = 0; lane < 2 * count; ++lane) {
                lanes.push_back(static_cast<int>(lane));
            }
            wider.push_back(ir_.CreateShuffleVector(chunks[i], chunks[i + 1], lanes));
        }
        chunks = wider;
    }
    llvm::SmallVector<int> lanes;
    for (unsigned lane = 0; lane < lanes_; ++lane) {
        lanes.push_back(static_cast<int>(lane));
    }
    return lanes_ >= width ? chunks[0] : ir_.CreateShuffleVector(chunks[0], lanes);
}

/// Single precision in a direction other than to nearest: computed in double precision, where
/// products are exact and what sums lose is known, then rounded once.
ValueEmitter::V ValueEmitter::compute_in_double(FloatOp op, V a, V b, V c, Rounding rounding) {
    const V x = ir_.CreateFPExt(a, real());
    const V y = ir_.CreateFPExt(b, real());
    if (op == FloatOp::Mul) {
        return narrow(ir_.CreateFMul(x, y), nullptr, rounding);
    }
    const V product = op == FloatOp::Fma ? ir_.CreateFMul(x, y) : x;
    const V addend = op == FloatOp::Fma   ? ir_.CreateFPExt(c, real())
                     : op == FloatOp::Sub ? ir_.CreateFNeg(y)
                                          : y;
    const V sum = ir_.CreateFAdd(product, addend);
    V result = narrow(sum, sum_error(sum, product, addend), rounding);
    if (rounding == Rounding::Down) {
        // A sum of opposite numbers is -0.
        const V is_zero = ir_.CreateFCmpOEQ(sum, real_constant(0.0));
        const V has_sign =
            ir_.CreateICmpSLT(ir_.CreateOr(bits_of(product), bits_of(addend)), n64(0));
        result =
            as_single(select(ir_.CreateAnd(is_zero, has_sign), n32(0x80000000u), bits_of(result)));
    }
    return result;
}

ValueEmitter::V ValueEmitter::compute_directed(FloatOp op, V a, V b, V c, Rounding rounding) {
    return target_.has_avx512 ? compute_with_avx512(op, a, b, c, rounding)
                              : compute_in_double(op, a, b, c, rounding);
}

/// Replaces a result by zero if it only rounds up to the smallest normal number because subnormal
/// numbers have fewer bits. The operation is computed again with inputs that are scaled by 2^64,
/// which changes no rounding: a factor beside such a result is below 2^-62, and the sum of fma can
/// only be so small if `c` is below 2^-78.
ValueEmitter::V ValueEmitter::flush_smallest_normal(FloatOp op, V result, V a, V b, V c,
                                                    Rounding rounding) {
    const V scale = single_constant(0x1p64f);
    const auto magnitude = [&](V value) { return intrinsic(llvm::Intrinsic::fabs, {value}); };
    V scaled = nullptr;
    if (op == FloatOp::Div) {
        scaled = compute(op, ir_.CreateFMul(a, scale), b, c, rounding);
    } else {
        const V scales_a = ir_.CreateFCmpOLT(magnitude(a), magnitude(b));
        const V x = select(scales_a, ir_.CreateFMul(a, scale), a);
        const V y = select(scales_a, b, ir_.CreateFMul(b, scale));
        scaled = compute(op, x, y, op == FloatOp::Fma ? ir_.CreateFMul(c, scale) : c, rounding);
    }
    const V bits = bits_of(result);
    const V is_smallest = ir_.CreateICmpEQ(ir_.CreateAnd(bits, n32(0x7fffffffu)), n32(0x00800000u));
    const V is_below = ir_.CreateFCmpOLT(magnitude(scaled), single_constant(0x1p-62f));
    return as_single(
        select(ir_.CreateAnd(is_smallest, is_below), ir_.CreateAnd(bits, n32(0x80000000u)), bits));
}

/// add, sub, mul, fma and div, and sqrt with a direction.
ValueEmitter::V ValueEmitter::arithmetic(const FloatForm& form, V a, V b, V c) {
    V result = nullptr;
    if (form.flushes) {
        a = flush_operand(a);
        b = b != nullptr ? flush_operand(b) : b;
        c = c != nullptr ? flush_operand(c) : c;
        result = flush_operand(compute(form.op, a, b, c, form.rounding));
        // Sums of normal numbers are exact there, and roots are larger.
        if (!target_.flushes &&
            (form.op == FloatOp::Mul || form.op == FloatOp::Fma || form.op == FloatOp::Div)) {
            result = flush_smallest_normal(form.op, result, a, b, c, form.rounding);
        }
    } else {
        result = compute(form.op, a, b, c, form.rounding);
    }
    if (form.is_saturating) {
        return saturate(result);
    }
    return form.type == ptx::Type::F32 ? escape(result) : result;
}

/// Returns whether a value is known to be a number other than zero.
bool ValueEmitter::is_never_zero_or_nan(V value) {
    const auto* const constant = llvm::dyn_cast<llvm::Constant>(value);
    const auto* const one = constant == nullptr ? nullptr
                            : lanes_ == 1       ? constant
                                                : constant->getSplatValue();
    const auto* const number = llvm::dyn_cast_or_null<llvm::ConstantFP>(one);
    return number != nullptr && !number->isZero() && !number->isNaN();
}

/// Minimum and maximum; -0 is less than +0.
ValueEmitter::V ValueEmitter::extreme(const FloatForm& form, V a, V b) {
    const bool is_max = form.op == FloatOp::Max;
    const unsigned width = a->getType()->getScalarSizeInBits();
    const V sign = number(width, std::uint64_t{1} << (width - 1));
    if (form.flushes) {
        a = flush(a);
        b = flush(b);
    }
    if (!form.keeps_nan && !form.is_xorsign && is_never_zero_or_nan(a)) {
        std::swap(a, b);
    }
    if (!form.keeps_nan && !form.is_xorsign && is_never_zero_or_nan(b)) {
        return select(is_max ? ir_.CreateFCmpOGT(a, b) : ir_.CreateFCmpOLT(a, b), a, b);
    }
    const V result_sign = ir_.CreateAnd(ir_.CreateXor(bits_of(a), bits_of(b)), sign);
    if (form.is_xorsign) {
        a = intrinsic(llvm::Intrinsic::fabs, {a});
        b = intrinsic(llvm::Intrinsic::fabs, {b});
    }
    const V x = bits_of(a);
    const V y = bits_of(b);
    V result = nullptr;
    if (form.keeps_nan) {
        result = bits_of(select(is_max ? ir_.CreateFCmpOGT(a, b) : ir_.CreateFCmpOLT(a, b), a, b));
    } else {
        result =
            bits_of(intrinsic(is_max ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {a, b}));
    }
    result =
        select(ir_.CreateFCmpOEQ(a, b), is_max ? ir_.CreateAnd(x, y) : ir_.CreateOr(x, y), result);
    if (form.keeps_nan) { // the result of unordered lanes is b, which is right if b is a NaN
        result = select(is_nan(a), x, result);
    }
    if (form.is_xorsign) {
        result = ir_.CreateOr(result, result_sign);
    }
    result = ir_.CreateBitCast(result, a->getType());
    return result;
}

ValueEmitter::V ValueEmitter::change_sign(const FloatForm& form, V a) {
    const bool is_single = form.type == ptx::Type::F32;
    const unsigned width = is_single ? 32 : 64;
    const std::uint64_t sign = std::uint64_t{1} << (width - 1);
    if (form.flushes && is_single) {
        a = flush(a);
    }
    const V bits = bits_of(a);
    if (form.op == FloatOp::Abs) {
        const V result =
            ir_.CreateBitCast(ir_.CreateAnd(bits, number(width, sign - 1)), a->getType());
        return is_single ? escape(result) : result;
    }
    const V result = ir_.CreateBitCast(ir_.CreateXor(bits, number(width, sign)), a->getType());
    // A GPU keeps the sign of a NaN of double precision.
    return is_single ? escape(result) : select(is_nan(a), a, result);
}

/// div.approx. If |b| exceeds 2^126 its reciprocal is flushed, so the quotient is 0, or NaN if a is
/// infinite.
ValueEmitter::V ValueEmitter::approximate_quotient(const FloatForm& form, V a, V b) {
    if (form.flushes) {
        a = flush_operand(a);
        b = flush_operand(b);
    }
    const V bits = bits_of(b);
    const V zero = as_single(ir_.CreateAnd(bits, n32(0x80000000u)));
    const V magnitude = ir_.CreateAnd(bits, n32(0x7fffffffu));
    const V is_large = ir_.CreateICmpULT(ir_.CreateSub(magnitude, n32(0x7e800001u)),
                                         n32(0x7f800000u - 0x7e800001u));
    V result = select(is_large, ir_.CreateFMul(a, zero), ir_.CreateFDiv(a, b));
    if (form.flushes && !target_.flushes) {
        result = flush_smallest_normal(FloatOp::Div, flush(result), a, b, nullptr, form.rounding);
    }
    return escape(result);
}

void ValueEmitter::emit_test(const FloatForm& form) {
    const bool is_single = form.type == ptx::Type::F32;
    const unsigned width = is_single ? 32 : 64;
    const V exponent = number(width, is_single ? 0x7f800000u : 0x7ff0000000000000u);
    const V zero = number(width, 0);
    const V bits = is_single ? word(0) : quad(0);
    const V magnitude = ir_.CreateAnd(bits, number(width, (std::uint64_t{1} << (width - 1)) - 1));
    const V has_exponent = ir_.CreateICmpNE(ir_.CreateAnd(magnitude, exponent), zero);
    const V is_zero = ir_.CreateICmpEQ(magnitude, zero);
    switch (form.op) {
    case FloatOp::TestFinite:
        give(ir_.CreateICmpULT(magnitude, exponent));
        break;
    case FloatOp::TestInfinite:
        give(ir_.CreateICmpEQ(magnitude, exponent));
        break;
    case FloatOp::TestNumber:
        give(ir_.CreateICmpULE(magnitude, exponent));
        break;
    case FloatOp::TestNotANumber:
        give(ir_.CreateICmpUGT(magnitude, exponent));
        break;
    case FloatOp::TestNormal: // zero counts as normal
        give(ir_.CreateAnd(ir_.CreateICmpULT(magnitude, exponent),
                           ir_.CreateOr(is_zero, has_exponent)));
        break;
    default:
        give(ir_.CreateNot(ir_.CreateOr(is_zero, has_exponent)));
        break;
    }
}

void ValueEmitter::emit_float(const FloatForm& form) {
    if (form.type != ptx::Type::F32 && form.type != ptx::Type::F64) {
        emit_half(form);
        return;
    }
    const bool is_single = form.type == ptx::Type::F32;
    const auto source = [&](unsigned index) {
        return is_single ? as_single(word(index)) : as_real(quad(index));
    };
    switch (form.op) {
    case FloatOp::Add:
    case FloatOp::Sub:
    case FloatOp::Mul:
        give(arithmetic(form, source(0), source(1), nullptr));
        break;
    case FloatOp::Fma:
        give(arithmetic(form, source(0), source(1), source(2)));
        break;
    case FloatOp::Div:
        give(form.is_approximate ? approximate_quotient(form, source(0), source(1))
                                 : arithmetic(form, source(0), source(1), nullptr));
        break;
    case FloatOp::Neg:
    case FloatOp::Abs:
        give(change_sign(form, source(0)));
        break;
    case FloatOp::Min:
    case FloatOp::Max: {
        V result = extreme(form, source(0), source(1));
        if (is_single && form.source_count == 3) {
            result = extreme(form, canonical(result), source(2));
        }
        give(is_single ? escape(result) : result);
        break;
    }
    case FloatOp::CopySign: {
        const unsigned width = is_single ? 32 : 64;
        const std::uint64_t sign = std::uint64_t{1} << (width - 1);
        const V a = is_single ? word(0) : quad(0);
        const V b = is_single ? word(1) : quad(1);
        give(ir_.CreateOr(ir_.CreateAnd(a, number(width, sign)),
                          ir_.CreateAnd(b, number(width, sign - 1))));
        break;
    }
    case FloatOp::TestFinite:
    case FloatOp::TestInfinite:
    case FloatOp::TestNumber:
    case FloatOp::TestNotANumber:
    case FloatOp::TestNormal:
    case FloatOp::TestSubnormal:
        emit_test(form);
        break;
    default:
        give(function(form, source(0)));
        break;
    }
}

} // namespace cuprum::emulator::jit
