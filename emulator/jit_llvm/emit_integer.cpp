// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic, also packed, with carries, and dot products. Division by zero gives all ones.

#include "jit_llvm/emit_values.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <limits>

namespace cuprum::emulator::jit {

using llvm::Intrinsic::ID;

namespace {

constexpr std::int64_t LEAST32 = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t MOST32 = std::numeric_limits<std::int32_t>::max();

struct IntegerType {
    unsigned bits; // of the values
    unsigned lane; // of the registers
    bool is_signed;
};

IntegerType integer_type(ptx::Type type) {
    switch (type) {
    case ptx::Type::U8:
        return {8, 32, false};
    case ptx::Type::S8:
        return {8, 32, true};
    case ptx::Type::U16:
        return {16, 32, false};
    case ptx::Type::S16:
        return {16, 32, true};
    case ptx::Type::U64:
        return {64, 64, false};
    case ptx::Type::S64:
        return {64, 64, true};
    case ptx::Type::S32:
        return {32, 32, true};
    default:
        return {32, 32, false};
    }
}

} // namespace

/// Returns the upper half of a product.
ValueEmitter::V ValueEmitter::high_product(V a, V b, unsigned bits, bool is_signed) {
    if (bits == 32 || lanes_ == 1) {
        const V product =
            ir_.CreateMul(resize(a, 2 * bits, is_signed), resize(b, 2 * bits, is_signed));
        return resize(ir_.CreateLShr(product, number(2 * bits, bits)), bits, false);
    }
    // From products of halves: vectors have no products of 128 bits.
    const V low = n64(0xffffffffu);
    const V half = n64(32);
    const V al = ir_.CreateAnd(a, low);
    const V bl = ir_.CreateAnd(b, low);
    const V ah = ir_.CreateLShr(a, half);
    const V bh = ir_.CreateLShr(b, half);
    const V first =
        ir_.CreateAdd(ir_.CreateMul(ah, bl), ir_.CreateLShr(ir_.CreateMul(al, bl), half));
    const V second = ir_.CreateAdd(ir_.CreateMul(al, bh), ir_.CreateAnd(first, low));
    V result = ir_.CreateAdd(ir_.CreateMul(ah, bh), ir_.CreateAdd(ir_.CreateLShr(first, half),
                                                                  ir_.CreateLShr(second, half)));
    if (is_signed) {
        const V sign = n64(63);
        result = ir_.CreateSub(result, ir_.CreateAnd(ir_.CreateAShr(a, sign), b));
        result = ir_.CreateSub(result, ir_.CreateAnd(ir_.CreateAShr(b, sign), a));
    }
    return result;
}

/// Divides integers of 32 bits in double precision, and truncates, which is exact and, unlike
/// division of integers, exists for vectors. A divisor that all lanes share, `shared`, is inverted
/// once: adding a half keeps the product away from integers by at least half the inverse, which is
/// more than its error.
ValueEmitter::V ValueEmitter::quotient_of(V a, V divisor, V shared, bool is_signed) {
    const auto to_real = [&](V value, llvm::Type* type) {
        return is_signed ? ir_.CreateSIToFP(value, type) : ir_.CreateUIToFP(value, type);
    };
    const V dividend = to_real(a, real());
    V result = nullptr;
    if (shared != nullptr) {
        llvm::Type* const number = ir_.getDoubleTy();
        const V inverse =
            ir_.CreateFDiv(llvm::ConstantFP::get(number, 1.0), to_real(shared, number));
        V half = real_constant(0.5);
        if (is_signed) {
            half = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, half, dividend);
        }
        result =
            ir_.CreateFMul(ir_.CreateFAdd(dividend, half), ir_.CreateVectorSplat(lanes_, inverse));
    } else {
        result = ir_.CreateFDiv(dividend, to_real(divisor, real()));
    }
    return is_signed ? ir_.CreateFPToSI(result, integer(32))
                     : ir_.CreateFPToUI(result, integer(32));
}

void ValueEmitter::emit_divide(const IntegerForm& form, V a, V b) {
    const auto [bits, lane, is_signed] = integer_type(form.type);
    const bool is_constant = llvm::isa<llvm::Constant>(b);
    // What only depends on a divisor that all lanes share is computed once.
    const V shared = lanes_ == 1 || is_constant ? nullptr : llvm::getSplatValue(b);
    const V by = shared != nullptr ? shared : b;
    const auto spread = [&](V value) {
        return shared != nullptr ? ir_.CreateVectorSplat(lanes_, value) : value;
    };
    const auto constant = [&](std::uint64_t value) {
        return llvm::ConstantInt::get(by->getType(), value);
    };
    const V is_zero = ir_.CreateICmpEQ(by, constant(0));
    const V divisor = ir_.CreateSelect(is_zero, constant(1), by);
    V quotient = nullptr;
    if (is_signed) {
        // The most negative number divided by -1 overflows.
        const V is_negation = ir_.CreateICmpEQ(divisor, constant(~std::uint64_t{0}));
        const V other = ir_.CreateSelect(is_negation, constant(1), divisor);
        if (lane == 64 || is_constant) {
            quotient = ir_.CreateSDiv(a, spread(other));
        } else {
            quotient = quotient_of(a, spread(other), shared == nullptr ? nullptr : other, true);
        }
        quotient = select(spread(is_negation), ir_.CreateSub(number(lane, 0), a), quotient);
    } else if (lane == 64 || is_constant) {
        quotient = ir_.CreateUDiv(a, spread(divisor));
    } else {
        quotient = quotient_of(a, spread(divisor), shared == nullptr ? nullptr : divisor, false);
    }
    const V result = form.op == IntegerOp::Rem
                         ? ir_.CreateSub(a, ir_.CreateMul(quotient, spread(divisor)))
                         : quotient;
    give(select(spread(is_zero), number(lane, ~std::uint64_t{0}), result));
}

/// Two 16-bit or four 8-bit values in a lane.
void ValueEmitter::emit_packed(const IntegerForm& form) {
    const auto [bits, lane, is_signed] = integer_type(form.type);
    auto* const type = llvm::FixedVectorType::get(ir_.getIntNTy(bits), lanes_ * 32 / bits);
    const auto part = [&](unsigned index) { return ir_.CreateBitCast(word(index), type); };
    const V zero = llvm::Constant::getNullValue(type);
    V result = nullptr;
    switch (form.op) {
    case IntegerOp::Add:
        result = !form.is_saturating
                     ? ir_.CreateAdd(part(0), part(1))
                     : intrinsic(is_signed ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat,
                                 {part(0), part(1)});
        break;
    case IntegerOp::Sub:
        result = !form.is_saturating
                     ? ir_.CreateSub(part(0), part(1))
                     : intrinsic(is_signed ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat,
                                 {part(0), part(1)});
        break;
    case IntegerOp::Neg:
        result = ir_.CreateSub(zero, part(0));
        break;
    case IntegerOp::Min:
    case IntegerOp::MinRelu:
        result = intrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
                           {part(0), part(1)});
        break;
    default:
        result = intrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                           {part(0), part(1)});
        break;
    }
    if (form.op == IntegerOp::MinRelu || form.op == IntegerOp::MaxRelu) {
        result = intrinsic(llvm::Intrinsic::smax, {result, zero});
    }
    give(ir_.CreateBitCast(result, integer(32)));
}

void ValueEmitter::emit_integer(const IntegerForm& form) {
    if (form.is_packed) {
        emit_packed(form);
        return;
    }
    const auto [bits, lane, is_signed] = integer_type(form.type);
    const auto source = [&](unsigned index) { return lane == 64 ? quad(index) : word(index); };
    // Only where the upper bits matter.
    const auto extended = [&](unsigned index) { return extend(source(index), bits, is_signed); };
    const auto pick = [&](ID of_signed, ID of_unsigned) {
        return is_signed ? of_signed : of_unsigned;
    };
    const auto product24 = [&] {
        return ir_.CreateMul(resize(extend(word(0), 24, is_signed), 64, is_signed),
                             resize(extend(word(1), 24, is_signed), 64, is_signed));
    };
    const auto saturated = [&](V sum) { return resize(clamp(sum, LEAST32, MOST32), 32, false); };
    switch (form.op) {
    case IntegerOp::Add:
        give(!form.is_saturating
                 ? ir_.CreateAdd(source(0), source(1))
                 : intrinsic(pick(llvm::Intrinsic::sadd_sat, llvm::Intrinsic::uadd_sat),
                             {source(0), source(1)}));
        break;
    case IntegerOp::Sub:
        give(!form.is_saturating ? ir_.CreateSub(source(0), source(1))
                                 : intrinsic(llvm::Intrinsic::ssub_sat, {source(0), source(1)}));
        break;
    case IntegerOp::MulLo:
        give(ir_.CreateMul(source(0), source(1)));
        break;
    case IntegerOp::MadLo:
        give(ir_.CreateAdd(ir_.CreateMul(source(0), source(1)), source(2)));
        break;
    case IntegerOp::MulHi:
    case IntegerOp::MadHi: {
        V high = nullptr;
        if (bits == 16) {
            const V product = ir_.CreateMul(extended(0), extended(1));
            high = is_signed ? ir_.CreateAShr(product, n32(16)) : ir_.CreateLShr(product, n32(16));
        } else {
            high = high_product(source(0), source(1), bits, is_signed);
        }
        if (form.op == IntegerOp::MulHi) {
            give(high);
        } else if (form.is_saturating) {
            give(saturated(ir_.CreateAdd(resize(high, 64, true), resize(word(2), 64, true))));
        } else {
            give(ir_.CreateAdd(high, source(2)));
        }
        break;
    }
    case IntegerOp::MulWide:
    case IntegerOp::MadWide: {
        const unsigned wide = 2 * bits;
        const V product = ir_.CreateMul(resize(extended(0), wide, is_signed),
                                        resize(extended(1), wide, is_signed));
        const bool adds = form.op == IntegerOp::MadWide;
        give(!adds ? product : ir_.CreateAdd(product, wide == 64 ? quad(2) : word(2)));
        break;
    }
    case IntegerOp::Mul24Lo:
        give(resize(product24(), 32, false));
        break;
    case IntegerOp::Mul24Hi:
        give(resize(ir_.CreateLShr(product24(), n64(16)), 32, false));
        break;
    case IntegerOp::Mad24Lo:
        give(ir_.CreateAdd(resize(product24(), 32, false), word(2)));
        break;
    case IntegerOp::Mad24Hi:
        if (form.is_saturating) {
            give(saturated(
                ir_.CreateAdd(ir_.CreateAShr(product24(), n64(16)), resize(word(2), 64, true))));
        } else {
            give(ir_.CreateAdd(resize(ir_.CreateLShr(product24(), n64(16)), 32, false), word(2)));
        }
        break;
    case IntegerOp::Div:
    case IntegerOp::Rem:
        emit_divide(form, extended(0), extended(1));
        break;
    case IntegerOp::Min:
    case IntegerOp::MinRelu:
    case IntegerOp::Max:
    case IntegerOp::MaxRelu: {
        const bool is_min = form.op == IntegerOp::Min || form.op == IntegerOp::MinRelu;
        const bool is_relu = form.op == IntegerOp::MinRelu || form.op == IntegerOp::MaxRelu;
        const ID id = is_min ? pick(llvm::Intrinsic::smin, llvm::Intrinsic::umin)
                             : pick(llvm::Intrinsic::smax, llvm::Intrinsic::umax);
        const V result = intrinsic(id, {extended(0), extended(1)});
        give(is_relu ? intrinsic(llvm::Intrinsic::smax, {result, number(lane, 0)}) : result);
        break;
    }
    case IntegerOp::Abs: {
        const V a = extended(0);
        give(select(ir_.CreateICmpSLT(a, number(lane, 0)), ir_.CreateSub(number(lane, 0), a), a));
        break;
    }
    case IntegerOp::Neg:
        give(ir_.CreateSub(number(lane, 0), source(0)));
        break;
    case IntegerOp::Sad: {
        const V a = extended(0);
        const V b = extended(1);
        const V more = intrinsic(pick(llvm::Intrinsic::smax, llvm::Intrinsic::umax), {a, b});
        const V less = intrinsic(pick(llvm::Intrinsic::smin, llvm::Intrinsic::umin), {a, b});
        give(ir_.CreateAdd(source(2), ir_.CreateSub(more, less)));
        break;
    }
    case IntegerOp::CarrylessMadLo:
    case IntegerOp::CarrylessMadHi: {
        const bool is_high = form.op == IntegerOp::CarrylessMadHi;
        const V a = quad(0);
        const V b = quad(1);
        V result = quad(2);
        for (unsigned i = is_high ? 1 : 0; i < 64; ++i) {
            const V shifted = is_high ? ir_.CreateLShr(a, n64(64 - i)) : ir_.CreateShl(a, n64(i));
            const V chosen = ir_.CreateAShr(ir_.CreateShl(b, n64(63 - i)), n64(63));
            result = ir_.CreateXor(result, ir_.CreateAnd(chosen, shifted));
        }
        give(result);
        break;
    }
    }
}

void ValueEmitter::emit_dot(const DotForm& form) {
    const bool a_signed = (at_->tag & 1) != 0;
    const bool b_signed = (at_->tag & 2) != 0;
    const bool is_high = (at_->tag & 4) != 0;
    const V a = word(0);
    const V b = word(1);
    V sum = word(2);
    const auto part = [&](V value, unsigned bits, unsigned index, bool is_signed) {
        const unsigned above = 32 - bits * (index + 1);
        value = ir_.CreateShl(value, n32(above));
        const V unused = n32(32 - bits);
        return is_signed ? ir_.CreateAShr(value, unused) : ir_.CreateLShr(value, unused);
    };
    const unsigned count = form.is_four_way ? 4 : 2;
    for (unsigned i = 0; i < count; ++i) {
        const V x = part(a, form.is_four_way ? 8 : 16, i, a_signed);
        const V y = part(b, 8, i + (!form.is_four_way && is_high ? 2 : 0), b_signed);
        sum = ir_.CreateAdd(sum, ir_.CreateMul(x, y));
    }
    give(sum);
}

void ValueEmitter::emit_carry(const CarryForm& form) {
    const auto [bits, lane, is_signed] = integer_type(form.type);
    const bool is_mad = form.op == CarryOp::MadLo || form.op == CarryOp::MadHi;
    const auto source = [&](unsigned index) { return lane == 64 ? quad(index) : word(index); };
    V x = source(0);
    V y = source(1);
    const V flag = form.reads_carry ? predicate(is_mad ? 3 : 2) : nullptr;
    V result = nullptr;
    V carries = nullptr;
    if (form.op == CarryOp::Sub) {
        // The flag is 0 if the subtraction borrows.
        const V difference = ir_.CreateSub(x, y);
        V borrows = ir_.CreateICmpULT(x, y);
        result = difference;
        if (flag != nullptr) {
            const V borrow = resize(ir_.CreateNot(flag), lane, false);
            result = ir_.CreateSub(difference, borrow);
            borrows = ir_.CreateOr(borrows, ir_.CreateICmpULT(difference, borrow));
        }
        carries = ir_.CreateNot(borrows);
    } else {
        if (is_mad) {
            x = form.op == CarryOp::MadHi ? high_product(x, y, lane, is_signed)
                                          : ir_.CreateMul(x, y);
            y = source(2);
        }
        const V sum = ir_.CreateAdd(x, y);
        carries = ir_.CreateICmpULT(sum, x);
        result = sum;
        if (flag != nullptr) {
            result = ir_.CreateAdd(sum, resize(flag, lane, false));
            carries = ir_.CreateOr(carries, ir_.CreateICmpULT(result, sum));
        }
    }
    give(result);
    if (form.writes_carry) {
        give(carries);
    }
}

/// cvt.pack: two saturated integers below the value that was packed before.
void ValueEmitter::emit_pack(const PackForm& form) {
    const std::int64_t most = (std::int64_t{1} << (form.is_signed ? form.bits - 1 : form.bits)) - 1;
    const auto part = [&](unsigned index) {
        return extend(clamp(word(index), form.is_signed ? -most - 1 : 0, most), form.bits, false);
    };
    V result = ir_.CreateOr(ir_.CreateShl(part(0), n32(form.bits)), part(1));
    if (form.bits != 16) {
        result = ir_.CreateOr(ir_.CreateShl(word(2), n32(2u * form.bits)), result);
    }
    give(result);
}

} // namespace cuprum::emulator::jit
