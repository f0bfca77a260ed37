// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sources, results, and the operations that several families share. Also the family Move.

#include "jit_llvm/emit_values.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

namespace cuprum::emulator::jit {

using bytecode::Family;
using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;

Target Target::of(std::string_view level) {
    const bool is_v4 = level == "isa_v4";
    const bool is_v3 = is_v4 || level == "isa_v3";
    const bool is_generic = level == "isa_generic";
    return {.is_x86 = !is_generic, .has_fma = is_v3 || is_generic, .has_avx512 = is_v4};
}

ValueEmitter::ValueEmitter(llvm::IRBuilder<>& ir, const bytecode::Kernel& kernel, unsigned lanes,
                           const Target& target)
    : ir_(ir), kernel_(kernel), lanes_(lanes), target_(target) {}

// ---- types and constants
// -------------------------------------------------------------------------

llvm::Type* ValueEmitter::shaped(llvm::Type* scalar) const {
    return lanes_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes_);
}

llvm::Type* ValueEmitter::integer(unsigned bits) const {
    return shaped(ir_.getIntNTy(bits));
}

llvm::Type* ValueEmitter::single() const {
    return shaped(ir_.getFloatTy());
}

llvm::Type* ValueEmitter::real() const {
    return shaped(ir_.getDoubleTy());
}

ValueEmitter::V ValueEmitter::number(unsigned bits, std::uint64_t value) const {
    const unsigned unused = bits < 64 ? 64 - bits : 0;
    return llvm::ConstantInt::get(integer(bits), value << unused >> unused);
}

ValueEmitter::V ValueEmitter::single_constant(float value) const {
    return llvm::ConstantFP::get(single(), llvm::APFloat(value));
}

ValueEmitter::V ValueEmitter::real_constant(double value) const {
    return llvm::ConstantFP::get(real(), llvm::APFloat(value));
}

// ---- sources and results
// -------------------------------------------------------------------------

ValueEmitter::V ValueEmitter::word(unsigned index) {
    return (*source_)(index, Width::B32);
}

ValueEmitter::V ValueEmitter::quad(unsigned index) {
    return (*source_)(index, Width::B64);
}

ValueEmitter::V ValueEmitter::predicate(unsigned index) {
    return (*source_)(index, Width::Predicate);
}

ValueEmitter::V ValueEmitter::as_single(V bits) {
    return ir_.CreateBitCast(bits, single());
}

ValueEmitter::V ValueEmitter::as_real(V bits) {
    return ir_.CreateBitCast(bits, real());
}

ValueEmitter::V ValueEmitter::bits_of(V value) {
    return ir_.CreateBitCast(value, integer(value->getType()->getScalarSizeInBits()));
}

void ValueEmitter::give(V value) {
    results_->push_back(value->getType()->isFPOrFPVectorTy() ? bits_of(value) : value);
}

Operand ValueEmitter::destination(unsigned index) const {
    return index < at_->dst_count ? at_->dst[index]
                                  : kernel_.operands[at_->extra + index - at_->dst_count];
}

// ---- integers
// ------------------------------------------------------------------------------------

ValueEmitter::V ValueEmitter::extend(V value, unsigned bits, bool is_signed) {
    const unsigned width = value->getType()->getScalarSizeInBits();
    if (bits == width) {
        return value;
    }
    if (!is_signed) {
        return ir_.CreateAnd(value, number(width, (std::uint64_t{1} << bits) - 1));
    }
    const V unused = number(width, width - bits);
    return ir_.CreateAShr(ir_.CreateShl(value, unused), unused);
}

ValueEmitter::V ValueEmitter::resize(V value, unsigned bits, bool is_signed) {
    return is_signed ? ir_.CreateSExtOrTrunc(value, integer(bits))
                     : ir_.CreateZExtOrTrunc(value, integer(bits));
}

ValueEmitter::V ValueEmitter::select(V condition, V yes, V no) {
    return ir_.CreateSelect(condition, yes, no);
}

ValueEmitter::V ValueEmitter::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<V> arguments) {
    return ir_.CreateIntrinsic(id, {arguments[0]->getType()}, arguments);
}

ValueEmitter::V ValueEmitter::clamp(V value, std::int64_t least, std::int64_t most) {
    const unsigned bits = value->getType()->getScalarSizeInBits();
    value =
        intrinsic(llvm::Intrinsic::smax, {value, number(bits, static_cast<std::uint64_t>(least))});
    return intrinsic(llvm::Intrinsic::smin,
                     {value, number(bits, static_cast<std::uint64_t>(most))});
}

/// Amounts of the width or more shift everything out.
ValueEmitter::V ValueEmitter::shift_left(V value, V amount) {
    const unsigned bits = value->getType()->getScalarSizeInBits();
    amount = resize(amount, bits, false);
    return select(ir_.CreateICmpULT(amount, number(bits, bits)), ir_.CreateShl(value, amount),
                  number(bits, 0));
}

ValueEmitter::V ValueEmitter::shift_right(V value, V amount, bool is_signed) {
    const unsigned bits = value->getType()->getScalarSizeInBits();
    amount = resize(amount, bits, false);
    if (is_signed) {
        amount = intrinsic(llvm::Intrinsic::umin, {amount, number(bits, bits - 1)});
        return ir_.CreateAShr(value, amount);
    }
    return select(ir_.CreateICmpULT(amount, number(bits, bits)), ir_.CreateLShr(value, amount),
                  number(bits, 0));
}

// ---- floats
// --------------------------------------------------------------------------------------

ValueEmitter::V ValueEmitter::flush(V value) {
    const V bits = bits_of(value);
    const V is_tiny = ir_.CreateICmpEQ(ir_.CreateAnd(bits, n32(0x7f800000u)), n32(0));
    return as_single(select(is_tiny, ir_.CreateAnd(bits, n32(0x80000000u)), bits));
}

ValueEmitter::V ValueEmitter::flush_operand(V value) {
    return target_.flushes ? value : flush(value);
}

ValueEmitter::V ValueEmitter::is_nan(V value) {
    return ir_.CreateFCmpUNO(value, value);
}

ValueEmitter::V ValueEmitter::canonical(V value) {
    constexpr std::uint32_t nan = 0x7fffffffu;
    return as_single(select(is_nan(value), n32(nan), bits_of(value)));
}

ValueEmitter::V ValueEmitter::escape(V value) {
    return bits_escape_ ? canonical(value) : value;
}

ValueEmitter::V ValueEmitter::saturate(V value) {
    const bool is_single = value->getType()->getScalarType()->isFloatTy();
    const V zero = is_single ? single_constant(0.0f) : real_constant(0.0);
    const V one = is_single ? single_constant(1.0f) : real_constant(1.0);
    value = select(ir_.CreateFCmpOGT(value, zero), value, zero);
    return select(ir_.CreateFCmpOLT(value, one), value, one);
}

/// Without the instruction, single precision is computed in double precision, where the product is
/// exact, and rounded once.
ValueEmitter::V ValueEmitter::fused(V a, V b, V c) {
    if (target_.has_fma) {
        return intrinsic(llvm::Intrinsic::fma, {a, b, c});
    }
    const V product = ir_.CreateFMul(ir_.CreateFPExt(a, real()), ir_.CreateFPExt(b, real()));
    return ir_.CreateFPTrunc(sum_to_odd(product, ir_.CreateFPExt(c, real())), single());
}

/// Returns what rounding has lost of a sum.
ValueEmitter::V ValueEmitter::sum_error(V sum, V product, V addend) {
    const V part = ir_.CreateFSub(sum, product);
    return ir_.CreateFAdd(ir_.CreateFSub(product, ir_.CreateFSub(sum, part)),
                          ir_.CreateFSub(addend, part));
}

/// Returns the exact sum of two numbers rounded to odd in their precision: truncated, with the last
/// bit set if anything is lost. Rounding it to a precision of at least two bits less then equals
/// rounding the exact sum.
ValueEmitter::V ValueEmitter::sum_to_odd(V product, V addend) {
    const unsigned width = product->getType()->getScalarSizeInBits();
    if (target_.has_avx512 && lanes_ * width >= 512) {
        const auto sum = [&](Rounding rounding) {
            return compute_with_avx512(FloatOp::Add, product, addend, nullptr, rounding);
        };
        const V is_inexact = ir_.CreateFCmpONE(sum(Rounding::Down), sum(Rounding::Up));
        const V bits = bits_of(sum(Rounding::Zero));
        const V odd = select(is_inexact, ir_.CreateOr(bits, number(width, 1)), bits);
        return ir_.CreateBitCast(odd, product->getType());
    }
    const V sum = ir_.CreateFAdd(product, addend);
    const V error = sum_error(sum, product, addend);
    const V bits = bits_of(sum);
    // The truncated sum is one step smaller if the signs differ.
    const V step = ir_.CreateAShr(ir_.CreateXor(bits_of(error), bits), number(width, width - 1));
    const V odd = ir_.CreateOr(ir_.CreateAdd(bits, step), number(width, 1));
    // Where the sum is infinite or a NaN, the error is a NaN.
    const V is_inexact = ir_.CreateFCmpONE(error, llvm::Constant::getNullValue(sum->getType()));
    return ir_.CreateBitCast(select(is_inexact, odd, bits), sum->getType());
}

ValueEmitter::V ValueEmitter::round_to_integer(V value, Rounding rounding) {
    switch (rounding) {
    case Rounding::Nearest:
        return intrinsic(llvm::Intrinsic::roundeven, {value});
    case Rounding::Down:
        return intrinsic(llvm::Intrinsic::floor, {value});
    case Rounding::Up:
        return intrinsic(llvm::Intrinsic::ceil, {value});
    default:
        return intrinsic(llvm::Intrinsic::trunc, {value});
    }
}

// ---- moves
// ---------------------------------------------------------------------------------------

bool ValueEmitter::can_emit_move(const MoveForm& form) {
    switch (form.op) {
    case MoveOp::Copy:
    case MoveOp::Pack:
    case MoveOp::Unpack:
    case MoveOp::Select:
    case MoveOp::SelectBySign:
    case MoveOp::SelectByFloatSign:
    case MoveOp::Nothing:
        return true;
    default:
        return false; // reads more than its sources
    }
}

namespace {

/// The width of a register that holds a value of so many bytes.
Width width_of_bytes(unsigned bytes) {
    return bytes <= 4 ? Width::B32 : bytes == 8 ? Width::B64 : Width::B128;
}

} // namespace

void ValueEmitter::emit_pack_parts(const MoveForm& form) {
    const unsigned lane_bits = static_cast<unsigned>(width_of_bytes(form.bytes)) * 8;
    const unsigned part_bits = form.part_bytes * 8u;
    V whole = nullptr;
    for (unsigned part = 0; part * form.part_bytes < form.bytes; ++part) {
        V value = (*source_)(part, width_of_bytes(form.part_bytes));
        value = resize(extend(value, part_bits, false), lane_bits, false);
        value = part == 0
                    ? value
                    : ir_.CreateShl(value, number(lane_bits, std::uint64_t{part} * part_bits));
        whole = part == 0 ? value : ir_.CreateOr(whole, value);
    }
    give(whole);
}

void ValueEmitter::emit_unpack(const MoveForm& form) {
    const unsigned lane_bits = static_cast<unsigned>(width_of_bytes(form.bytes)) * 8;
    const unsigned part_lane_bits = static_cast<unsigned>(width_of_bytes(form.part_bytes)) * 8;
    const unsigned part_bits = form.part_bytes * 8u;
    const V whole = (*source_)(0, width_of_bytes(form.bytes));
    for (unsigned part = 0; part * form.part_bytes < form.bytes; ++part) {
        if (destination(part).is_none()) {
            results_->push_back(nullptr);
            continue;
        }
        const V shifted = ir_.CreateLShr(whole, number(lane_bits, std::uint64_t{part} * part_bits));
        give(extend(resize(shifted, part_lane_bits, false), part_bits, false));
    }
}

void ValueEmitter::emit_move(const MoveForm& form) {
    switch (form.op) {
    case MoveOp::Copy:
        give((*source_)(0, form.width));
        break;
    case MoveOp::Pack:
        emit_pack_parts(form);
        break;
    case MoveOp::Unpack:
        emit_unpack(form);
        break;
    case MoveOp::Select: {
        const V a = (*source_)(0, form.width);
        const V b = (*source_)(1, form.width);
        const bool is_negated = (at_->tag & 1) != 0;
        give(select(predicate(2), is_negated ? b : a, is_negated ? a : b));
        break;
    }
    case MoveOp::SelectBySign: {
        const V a = (*source_)(0, form.width);
        const V b = (*source_)(1, form.width);
        give(select(ir_.CreateICmpSGE(word(2), n32(0)), a, b));
        break;
    }
    case MoveOp::SelectByFloatSign: {
        // -0 and numbers not below 0 choose a. All others and NaN choose b.
        const V a = (*source_)(0, form.width);
        const V b = (*source_)(1, form.width);
        const bool flushes = (at_->tag & 1) != 0;
        const V c = flushes ? flush_operand(as_single(word(2))) : as_single(word(2));
        give(select(ir_.CreateFCmpOGE(c, single_constant(0.0f)), a, b));
        break;
    }
    default:
        break; // Nothing
    }
}

// ---- all families
// --------------------------------------------------------------------------------

bool ValueEmitter::can_emit(const Instruction& at, const Target& target) {
    switch (at.form.family()) {
    case Family::Move:
        return can_emit_move(at.form.as<MoveForm>());
    case Family::Integer:
    case Family::Dot:
    case Family::Carry:
    case Family::Pack:
    case Family::Compare:
        return true;
    case Family::Bits:
        return at.form.as<BitsForm>().op != BitsOp::Fns;
    case Family::Float:
        return can_emit_float(at.form.as<FloatForm>(), target);
    case Family::Convert:
        return can_emit_convert(at.form.as<ConvertForm>());
    default:
        return false;
    }
}

bool ValueEmitter::emit(const Instruction& at, Source source, Results& results, bool bits_escape) {
    if (!can_emit(at, target_)) {
        return false;
    }
    at_ = &at;
    source_ = &source;
    results_ = &results;
    bits_escape_ = bits_escape;
    switch (at.form.family()) {
    case Family::Move:
        emit_move(at.form.as<MoveForm>());
        break;
    case Family::Integer:
        emit_integer(at.form.as<IntegerForm>());
        break;
    case Family::Dot:
        emit_dot(at.form.as<DotForm>());
        break;
    case Family::Carry:
        emit_carry(at.form.as<CarryForm>());
        break;
    case Family::Pack:
        emit_pack(at.form.as<PackForm>());
        break;
    case Family::Compare:
        emit_compare(at.form.as<CompareForm>());
        break;
    case Family::Bits:
        emit_bits(at.form.as<BitsForm>());
        break;
    case Family::Float:
        emit_float(at.form.as<FloatForm>());
        break;
    default:
        emit_convert(at.form.as<ConvertForm>());
        break;
    }
    return true;
}

bool ValueEmitter::flushes(const Instruction& at) {
    switch (at.form.family()) {
    case Family::Float:
        return at.form.as<FloatForm>().flushes;
    case Family::Compare:
        return at.form.as<CompareForm>().flushes || (at.tag >> 12 & 1) != 0;
    case Family::Convert:
        return at.form.as<ConvertForm>().flushes;
    default:
        return false;
    }
}

bool ValueEmitter::allows_flushing(const Instruction& at, const Target& target) {
    // The instructions of F16C never flush.
    const auto is_f16 = [&](ptx::Type type) {
        return target.has_fma && (type == ptx::Type::F16 || type == ptx::Type::F16x2);
    };
    const auto is_float = [](ptx::Type type) {
        return type >= ptx::Type::F16 && type <= ptx::Type::F64;
    };
    switch (at.form.family()) {
    case Family::Move:
        return at.form.as<MoveForm>().op != MoveOp::SelectByFloatSign || (at.tag & 1) != 0;
    case Family::Atomic:
        return !is_float(at.form.as<AtomicForm>().type);
    case Family::Compare: {
        const auto form = at.form.as<CompareForm>();
        return !is_float(form.type) || is_f16(form.type) || form.flushes;
    }
    case Family::Float: {
        const auto form = at.form.as<FloatForm>();
        switch (form.op) {
        case FloatOp::Neg:
        case FloatOp::Abs:
        case FloatOp::CopySign:
        case FloatOp::TestFinite:
        case FloatOp::TestInfinite:
        case FloatOp::TestNumber:
        case FloatOp::TestNotANumber:
        case FloatOp::TestNormal:
        case FloatOp::TestSubnormal:
            return true;
        default:
            return is_f16(form.type) || (form.type == ptx::Type::F32 && form.flushes);
        }
    }
    case Family::Convert: {
        // Conversions of halves do not flush, and integers are never subnormal.
        const auto form = at.form.as<ConvertForm>();
        const bool is_to_integer = form.to <= Format::S64;
        const bool from_full = form.from == Format::F32 || form.from == Format::F64 ||
                               (form.from == Format::BF16 && (is_to_integer || form.is_saturating));
        const bool is_same_to_nearest =
            form.rounding == Rounding::Nearest || form.rounding == Rounding::Zero;
        if (!target.has_fma && (form.from == Format::F16 || form.to == Format::F16)) {
            return false;
        }
        return form.flushes || !from_full || form.to == Format::F16 || form.to == Format::BF16 ||
               form.to == Format::TF32 || (is_to_integer && is_same_to_nearest);
    }
    default:
        return true;
    }
}

bool ValueEmitter::can_flush(const bytecode::Kernel& kernel, const Target& target) {
    Target flushing = target;
    flushing.flushes = true;
    // What is left to handlers runs with subnormal numbers.
    const auto is_right = [&](const Instruction& at) {
        return allows_flushing(at, flushing) ||
               (at.form.family() != Family::Atomic && !can_emit(at, flushing));
    };
    return target.is_x86 && std::ranges::any_of(kernel.code, flushes) &&
           std::ranges::all_of(kernel.code, is_right);
}

/// Arithmetic and comparisons see only that a value is a NaN, and conversions to integers too.
bool ValueEmitter::reads_bits(const Instruction& at) {
    const auto is_full = [](ptx::Type type) { return type == ptx::Type::F32; };
    if (at.form.family() == Family::Compare) {
        return !is_full(at.form.as<CompareForm>().type);
    }
    if (at.form.family() == Family::Convert) {
        const auto form = at.form.as<ConvertForm>();
        return form.from != Format::F32 || form.to > Format::BF16;
    }
    if (at.form.family() != Family::Float) {
        return true;
    }
    const auto form = at.form.as<FloatForm>();
    switch (form.op) {
    case FloatOp::CopySign:
    case FloatOp::TestFinite:
    case FloatOp::TestInfinite:
    case FloatOp::TestNumber:
    case FloatOp::TestNotANumber:
    case FloatOp::TestNormal:
    case FloatOp::TestSubnormal:
        return true;
    case FloatOp::Min:
    case FloatOp::Max:
        return form.is_xorsign || !is_full(form.type);
    default:
        return !is_full(form.type);
    }
}

} // namespace cuprum::emulator::jit
