// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Bitwise operations, shifts, bit fields and predicate logic. Shift amounts are clamped.

#include "jit_llvm/emit_values.hpp"

#include <llvm/IR/Intrinsics.h>

namespace cuprum::emulator::jit {

/// Any function of three bits. Splits the table by the first bit.
ValueEmitter::V ValueEmitter::lop3(unsigned table, V a, V b, V c) {
    const auto two_inputs = [&](unsigned part) -> V {
        V result = nullptr;
        switch (part < 8 ? part : 15 - part) {
        case 0:
            result = n32(0);
            break;
        case 1:
            result = ir_.CreateNot(ir_.CreateOr(b, c));
            break;
        case 2:
            result = ir_.CreateAnd(ir_.CreateNot(b), c);
            break;
        case 3:
            result = ir_.CreateNot(b);
            break;
        case 4:
            result = ir_.CreateAnd(b, ir_.CreateNot(c));
            break;
        case 5:
            result = ir_.CreateNot(c);
            break;
        case 6:
            result = ir_.CreateXor(b, c);
            break;
        default:
            result = ir_.CreateNot(ir_.CreateAnd(b, c));
            break;
        }
        return part < 8 ? result : ir_.CreateNot(result);
    };
    const unsigned when_set = table >> 4;
    const unsigned when_clear = table & 15;
    if (when_set == when_clear) {
        return two_inputs(when_set);
    }
    if (when_set == (when_clear ^ 15)) {
        return ir_.CreateXor(a, two_inputs(when_clear));
    }
    return ir_.CreateOr(ir_.CreateAnd(a, two_inputs(when_set)),
                        ir_.CreateAnd(ir_.CreateNot(a), two_inputs(when_clear)));
}

ValueEmitter::V ValueEmitter::select_bytes(PrmtMode mode, V a, V b, V selector) {
    // Byte numbers into both, for each byte of the result; bit 3 replicates the sign of the byte.
    const auto* const known = llvm::dyn_cast<llvm::Constant>(selector);
    const auto* const splat = known == nullptr ? nullptr
                              : lanes_ == 1    ? known
                                               : known->getSplatValue();
    const auto* const number_of = llvm::dyn_cast_or_null<llvm::ConstantInt>(splat);
    if (number_of != nullptr) {
        const auto value = static_cast<unsigned>(number_of->getZExtValue());
        V result = n32(0);
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned from = byte_number(mode, value, i);
            const V word = (from & 4) != 0 ? b : a;
            V byte = ir_.CreateShl(word, n32(24 - 8 * (from & 3)));
            byte = (from & 8) != 0 ? ir_.CreateLShr(ir_.CreateAShr(byte, n32(31)), n32(24))
                                   : ir_.CreateLShr(byte, n32(24));
            result = ir_.CreateOr(result, ir_.CreateShl(byte, n32(8 * i)));
        }
        return result;
    }
    const V both = ir_.CreateOr(ir_.CreateShl(resize(b, 64, false), n64(32)), resize(a, 64, false));
    const V k = ir_.CreateAnd(selector, n32(3));
    V result = n32(0);
    for (unsigned i = 0; i < 4; ++i) {
        V from = nullptr;
        switch (mode) {
        case PrmtMode::Index:
            from = ir_.CreateAnd(ir_.CreateLShr(selector, n32(4 * i)), n32(7));
            break;
        case PrmtMode::F4e:
            from = ir_.CreateAdd(k, n32(i));
            break;
        case PrmtMode::B4e:
            from = ir_.CreateAnd(ir_.CreateAdd(k, n32(8 - i)), n32(7));
            break;
        case PrmtMode::Rc8:
            from = k;
            break;
        case PrmtMode::Ecl:
            from = intrinsic(llvm::Intrinsic::umax, {k, n32(i)});
            break;
        case PrmtMode::Ecr:
            from = intrinsic(llvm::Intrinsic::umin, {k, n32(i)});
            break;
        case PrmtMode::Rc16:
            from = ir_.CreateAdd(ir_.CreateShl(ir_.CreateAnd(k, n32(1)), n32(1)), n32(i & 1));
            break;
        }
        const V amount = resize(ir_.CreateShl(from, n32(3)), 64, false);
        V byte = extend(resize(ir_.CreateLShr(both, amount), 32, false), 8, false);
        if (mode == PrmtMode::Index) {
            const V replicates =
                ir_.CreateICmpNE(ir_.CreateAnd(selector, n32(8u << (4 * i))), n32(0));
            const V sign =
                ir_.CreateAnd(ir_.CreateSub(n32(0), ir_.CreateLShr(byte, n32(7))), n32(0xff));
            byte = select(replicates, sign, byte);
        }
        result = ir_.CreateOr(result, ir_.CreateShl(byte, n32(8 * i)));
    }
    return result;
}

/// Returns which byte of the two sources becomes byte `i` of the result, plus 8 for its sign.
unsigned ValueEmitter::byte_number(PrmtMode mode, unsigned selector, unsigned i) {
    const unsigned k = selector & 3;
    switch (mode) {
    case PrmtMode::Index:
        return selector >> (4 * i) & 15;
    case PrmtMode::F4e:
        return k + i;
    case PrmtMode::B4e:
        return (k + 8 - i) & 7;
    case PrmtMode::Rc8:
        return k;
    case PrmtMode::Ecl:
        return i > k ? i : k;
    case PrmtMode::Ecr:
        return i < k ? i : k;
    case PrmtMode::Rc16:
        break;
    }
    return (k & 1) * 2 + (i & 1);
}

/// Returns a value with the lowest `count` bits set, or all bits if `count` exceeds the width.
ValueEmitter::V ValueEmitter::low_ones(V count, unsigned bits) {
    const V all = number(bits, ~std::uint64_t{0});
    return ir_.CreateNot(shift_left(all, count));
}

/// bfe, bfi, and what counts or reverses bits.
void ValueEmitter::emit_field(const BitsForm& form) {
    const unsigned bits = form.bits == 64 ? 64 : 32;
    const auto source = [&](unsigned index) { return bits == 64 ? quad(index) : word(index); };
    // Of positions and lengths only 8 bits count, but the 64-bit forms clamp instead of wrapping.
    const auto field = [&](unsigned index) {
        return bits == 32 ? extend(word(index), 8, false)
                          : intrinsic(llvm::Intrinsic::umin, {word(index), n32(255)});
    };
    const auto leading_zeros = [&](V value) {
        return resize(
            ir_.CreateIntrinsic(llvm::Intrinsic::ctlz, {value->getType()}, {value, ir_.getFalse()}),
            32, false);
    };
    switch (form.op) {
    case BitsOp::Popc:
        give(resize(intrinsic(llvm::Intrinsic::ctpop, {source(0)}), 32, false));
        break;
    case BitsOp::Clz:
        give(leading_zeros(source(0)));
        break;
    case BitsOp::Brev:
        give(intrinsic(llvm::Intrinsic::bitreverse, {source(0)}));
        break;
    case BitsOp::BfindUnsigned:
    case BitsOp::BfindSigned:
    case BitsOp::BfindUnsignedShift:
    case BitsOp::BfindSignedShift: {
        const bool is_signed =
            form.op == BitsOp::BfindSigned || form.op == BitsOp::BfindSignedShift;
        const bool is_shift =
            form.op == BitsOp::BfindUnsignedShift || form.op == BitsOp::BfindSignedShift;
        V a = source(0);
        a = is_signed ? ir_.CreateXor(a, ir_.CreateAShr(a, number(bits, bits - 1))) : a;
        const V zeros = leading_zeros(a);
        const V position = is_shift ? zeros : ir_.CreateSub(n32(bits - 1), zeros);
        // Without a bit, the position is -1 as it is; the amount of a shift must be made so.
        give(is_shift ? select(ir_.CreateICmpEQ(a, number(bits, 0)), n32(~0u), position)
                      : position);
        break;
    }
    case BitsOp::BfeUnsigned:
        give(ir_.CreateAnd(shift_right(source(0), field(1), false), low_ones(field(2), bits)));
        break;
    case BitsOp::BfeSigned: {
        const V a = source(0);
        const V position = field(1);
        const V length = field(2);
        const V last =
            intrinsic(llvm::Intrinsic::umin,
                      {ir_.CreateSub(ir_.CreateAdd(position, length), n32(1)), n32(bits - 1)});
        const V sign = ir_.CreateAnd(ir_.CreateLShr(a, resize(last, bits, false)), number(bits, 1));
        const V fill = ir_.CreateSub(number(bits, 0), sign);
        // Above the bits that are left of the field, all are the sign.
        const V room = intrinsic(llvm::Intrinsic::usub_sat, {n32(bits), position});
        const V kept = low_ones(intrinsic(llvm::Intrinsic::umin, {length, room}), bits);
        const V value = shift_right(a, position, false);
        const V result =
            ir_.CreateOr(ir_.CreateAnd(value, kept), ir_.CreateAnd(fill, ir_.CreateNot(kept)));
        give(select(ir_.CreateICmpEQ(length, n32(0)), number(bits, 0), result));
        break;
    }
    default: { // Bfi
        const V a = source(0);
        const V b = source(1);
        const V position = field(2);
        const V mask = shift_left(low_ones(field(3), bits), position);
        give(ir_.CreateOr(ir_.CreateAnd(b, ir_.CreateNot(mask)),
                          ir_.CreateAnd(shift_left(a, position), mask)));
        break;
    }
    }
}

void ValueEmitter::emit_bits(const BitsForm& form) {
    const unsigned lane = form.bits == 64 ? 64 : 32;
    const auto source = [&](unsigned index) { return lane == 64 ? quad(index) : word(index); };
    const auto negatable = [&](unsigned index) {
        return (at_->tag >> index & 1) != 0 ? ir_.CreateNot(predicate(index)) : predicate(index);
    };
    switch (form.op) {
    case BitsOp::And:
        give(ir_.CreateAnd(source(0), source(1)));
        break;
    case BitsOp::Or:
        give(ir_.CreateOr(source(0), source(1)));
        break;
    case BitsOp::Xor:
        give(ir_.CreateXor(source(0), source(1)));
        break;
    case BitsOp::Not:
        give(ir_.CreateNot(source(0)));
        break;
    case BitsOp::Cnot: {
        const V a = extend(source(0), form.bits, false);
        give(resize(ir_.CreateICmpEQ(a, number(lane, 0)), lane, false));
        break;
    }
    case BitsOp::Shl:
        give(shift_left(source(0), word(1)));
        break;
    case BitsOp::ShrUnsigned:
        give(shift_right(extend(source(0), form.bits, false), word(1), false));
        break;
    case BitsOp::ShrSigned:
        give(shift_right(extend(source(0), form.bits, true), word(1), true));
        break;
    case BitsOp::FunnelLeftWrap:
        give(intrinsic(llvm::Intrinsic::fshl, {word(1), word(0), word(2)}));
        break;
    case BitsOp::FunnelRightWrap:
        give(intrinsic(llvm::Intrinsic::fshr, {word(1), word(0), word(2)}));
        break;
    case BitsOp::FunnelLeftClamp: {
        const V shifted = intrinsic(llvm::Intrinsic::fshl, {word(1), word(0), word(2)});
        give(select(ir_.CreateICmpULT(word(2), n32(32)), shifted, word(0)));
        break;
    }
    case BitsOp::FunnelRightClamp: {
        const V shifted = intrinsic(llvm::Intrinsic::fshr, {word(1), word(0), word(2)});
        give(select(ir_.CreateICmpULT(word(2), n32(32)), shifted, word(1)));
        break;
    }
    case BitsOp::Lop3:
        give(lop3(form.lut, word(0), word(1), word(2)));
        break;
    case BitsOp::BmskClamp:
    case BitsOp::BmskWrap: {
        const bool clamps = form.op == BitsOp::BmskClamp;
        const V a = word(0);
        const V b = word(1);
        const V start = ir_.CreateAnd(a, n32(31));
        const V end = ir_.CreateAdd(start, ir_.CreateAnd(b, n32(31)));
        V from = ir_.CreateShl(n32(~0u), start);
        V beyond = shift_left(n32(~0u), end); // nothing if the mask reaches the top
        if (clamps) {
            const V a_large = ir_.CreateICmpUGE(a, n32(32));
            const V b_large = ir_.CreateICmpUGE(b, n32(32));
            from = select(a_large, n32(0), from);
            beyond = select(b_large, n32(0), beyond);
        }
        give(ir_.CreateAnd(from, ir_.CreateNot(beyond)));
        break;
    }
    case BitsOp::Prmt:
        give(select_bytes(form.mode, word(0), word(1), word(2)));
        break;
    case BitsOp::SzextClampUnsigned:
    case BitsOp::SzextClampSigned:
    case BitsOp::SzextWrapUnsigned:
    case BitsOp::SzextWrapSigned: {
        const bool clamps =
            form.op == BitsOp::SzextClampUnsigned || form.op == BitsOp::SzextClampSigned;
        const bool is_signed =
            form.op == BitsOp::SzextClampSigned || form.op == BitsOp::SzextWrapSigned;
        const V a = word(0);
        const V b = word(1);
        const V bits = ir_.CreateAnd(b, n32(31));
        const V above = ir_.CreateShl(n32(~0u), bits);
        V result = ir_.CreateAnd(a, ir_.CreateNot(above));
        if (is_signed) {
            const V last = ir_.CreateAnd(ir_.CreateSub(bits, n32(1)), n32(31));
            const V is_negative = ir_.CreateAnd(
                ir_.CreateICmpNE(ir_.CreateAnd(ir_.CreateLShr(a, last), n32(1)), n32(0)),
                ir_.CreateICmpNE(bits, n32(0)));
            result = ir_.CreateOr(result, select(is_negative, above, n32(0)));
        }
        give(clamps ? select(ir_.CreateICmpUGE(b, n32(32)), a, result) : result);
        break;
    }
    case BitsOp::PredicateAnd:
        give(ir_.CreateAnd(negatable(0), negatable(1)));
        break;
    case BitsOp::PredicateOr:
        give(ir_.CreateOr(negatable(0), negatable(1)));
        break;
    case BitsOp::PredicateXor:
        give(ir_.CreateXor(negatable(0), negatable(1)));
        break;
    case BitsOp::PredicateNot:
        give(ir_.CreateNot(negatable(0)));
        break;
    default:
        emit_field(form);
        break;
    }
}

} // namespace cuprum::emulator::jit
