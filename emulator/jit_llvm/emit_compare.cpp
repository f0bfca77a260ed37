// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// setp and set.

#include "jit_llvm/emit_values.hpp"

namespace cuprum::emulator::jit {

using llvm::CmpInst;

namespace {

/// Of floats. The unordered operators hold if an input is a NaN.
CmpInst::Predicate float_predicate(Compare compare) {
    switch (compare) {
    case Compare::Eq:
        return CmpInst::FCMP_OEQ;
    case Compare::Ne:
        return CmpInst::FCMP_ONE;
    case Compare::Lt:
        return CmpInst::FCMP_OLT;
    case Compare::Le:
        return CmpInst::FCMP_OLE;
    case Compare::Gt:
        return CmpInst::FCMP_OGT;
    case Compare::Ge:
        return CmpInst::FCMP_OGE;
    case Compare::Equ:
        return CmpInst::FCMP_UEQ;
    case Compare::Neu:
        return CmpInst::FCMP_UNE;
    case Compare::Ltu:
        return CmpInst::FCMP_ULT;
    case Compare::Leu:
        return CmpInst::FCMP_ULE;
    case Compare::Gtu:
        return CmpInst::FCMP_UGT;
    case Compare::Geu:
        return CmpInst::FCMP_UGE;
    case Compare::Num:
        return CmpInst::FCMP_ORD;
    case Compare::Nan:
        break;
    }
    return CmpInst::FCMP_UNO;
}

CmpInst::Predicate integer_predicate(Compare compare, bool is_signed) {
    switch (compare) {
    case Compare::Eq:
        return CmpInst::ICMP_EQ;
    case Compare::Ne:
        return CmpInst::ICMP_NE;
    case Compare::Lt:
        return is_signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT;
    case Compare::Le:
        return is_signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE;
    case Compare::Gt:
        return is_signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT;
    default:
        return is_signed ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE;
    }
}

struct ComparedType {
    unsigned bits;
    bool is_wide; // in registers of 64 bits
    bool is_signed;
};

ComparedType compared_type(ptx::Type type) {
    switch (type) {
    case ptx::Type::B16:
    case ptx::Type::U16:
        return {16, false, false};
    case ptx::Type::S16:
        return {16, false, true};
    case ptx::Type::S32:
        return {32, false, true};
    case ptx::Type::B64:
    case ptx::Type::U64:
        return {64, true, false};
    case ptx::Type::S64:
        return {64, true, true};
    default:
        return {32, false, false};
    }
}

} // namespace

/// Joins a result with the predicate that setp and set may have as their third source.
ValueEmitter::V ValueEmitter::combine(V result) {
    const auto how = static_cast<Combine>(at_->tag & 3);
    if (how == Combine::None) {
        return result;
    }
    const V other = (at_->tag >> 2 & 1) != 0 ? ir_.CreateNot(predicate(2)) : predicate(2);
    return how == Combine::And  ? ir_.CreateAnd(result, other)
           : how == Combine::Or ? ir_.CreateOr(result, other)
                                : ir_.CreateXor(result, other);
}

ValueEmitter::V ValueEmitter::compare_numbers(Compare compare, V a, V b) {
    return ir_.CreateFCmp(float_predicate(compare), a, b);
}

/// One or two values in a lane. `tag` holds the operator, as for the handlers.
void ValueEmitter::emit_half_compare(const CompareForm& form) {
    const bool is_bfloat = form.type == ptx::Type::BF16 || form.type == ptx::Type::BF16x2;
    const bool is_pair = form.type == ptx::Type::F16x2 || form.type == ptx::Type::BF16x2;
    const auto op = static_cast<Compare>(at_->tag >> 8 & 15);
    const bool flushes = (at_->tag >> 12 & 1) != 0;
    const auto one = [&](unsigned shift) {
        V values[2];
        for (unsigned i = 0; i < 2; ++i) {
            V bits = shift == 0 ? word(i) : ir_.CreateLShr(word(i), n32(shift));
            bits = flushes ? flush_half(bits, is_bfloat) : bits;
            values[i] = widen_half(bits, is_bfloat);
        }
        return compare_numbers(op, values[0], values[1]);
    };
    const V low = one(0);
    const V high = is_pair ? one(16) : ir_.CreateNot(low);
    if (form.result == CompareResult::Predicate) {
        give(combine(low));
        if (at_->dst_count == 2) {
            give(combine(high));
        }
        return;
    }
    const auto value = static_cast<std::uint32_t>(at_->immediate);
    if (!is_pair) {
        give(select(combine(low), n32(value), n32(0)));
        return;
    }
    give(ir_.CreateOr(select(combine(low), n32(value & 0xffffu), n32(0)),
                      select(combine(high), n32(value & 0xffff0000u), n32(0))));
}

void ValueEmitter::emit_compare(const CompareForm& form) {
    V result = nullptr;
    switch (form.type) {
    case ptx::Type::F16:
    case ptx::Type::F16x2:
    case ptx::Type::BF16:
    case ptx::Type::BF16x2:
        emit_half_compare(form);
        return;
    case ptx::Type::F32: {
        V a = as_single(word(0));
        V b = as_single(word(1));
        if (form.flushes) {
            a = flush_operand(a);
            b = flush_operand(b);
        }
        result = compare_numbers(form.compare, a, b);
        break;
    }
    case ptx::Type::F64:
        result = compare_numbers(form.compare, as_real(quad(0)), as_real(quad(1)));
        break;
    default: {
        const auto [bits, is_wide, is_signed] = compared_type(form.type);
        const V a = is_wide ? quad(0) : word(0);
        const V b = is_wide ? quad(1) : word(1);
        result = ir_.CreateICmp(integer_predicate(form.compare, is_signed),
                                extend(a, bits, is_signed), extend(b, bits, is_signed));
        break;
    }
    }
    if (form.result == CompareResult::Predicate) {
        give(combine(result));
        if (at_->dst_count == 2) {
            give(combine(ir_.CreateNot(result)));
        }
        return;
    }
    give(select(combine(result), n32(static_cast<std::uint32_t>(at_->immediate)), n32(0)));
}

} // namespace cuprum::emulator::jit
