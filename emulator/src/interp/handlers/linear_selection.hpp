// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which handler computes or compares linear registers. One warp (linear.cpp) and all warps of a
// block (lockstep.cpp) have the same choice of operations and types.

#pragma once

#include "interp/handlers/linear_arithmetic.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// The results of a comparison in all lanes.
enum class Everywhere : std::uint8_t { Unknown, No, Yes };

template <Compare OP, typename T>
[[gnu::always_inline]] inline bool compare_numbers(T a, T b) {
    switch (OP) {
    case Compare::Eq:
        return a == b;
    case Compare::Ne:
        return a != b;
    case Compare::Lt:
        return a < b;
    case Compare::Le:
        return a <= b;
    case Compare::Gt:
        return a > b;
    default:
        return a >= b;
    }
}

/// Compares differences between `least` and `most` with zero.
template <Compare OP>
[[gnu::always_inline]] inline Everywhere compare_with_zero(std::int64_t least, std::int64_t most) {
    if (most < 0) {
        return compare_numbers<OP, int>(0, 1) ? Everywhere::Yes : Everywhere::No;
    }
    if (least > 0) {
        return compare_numbers<OP, int>(1, 0) ? Everywhere::Yes : Everywhere::No;
    }
    constexpr bool is_split_at_zero = OP == Compare::Lt || OP == Compare::Ge;
    if (is_split_at_zero && least >= 0) {
        return OP == Compare::Ge ? Everywhere::Yes : Everywhere::No;
    }
    return Everywhere::Unknown;
}

/// Selects one of `Handlers`, which has
///
///   Handler                      the type of a handler,
///   Arithmetic                   a HeadArithmetic,
///   COMPUTE<Op, D, A, B, C>      the handler of dst[0] = Op(src[0], src[1], src[2]),
///   COMPARE<OP, T>               the handler of a comparison.
///
/// Every function returns nullptr if there is no handler for the form.
template <typename Handlers>
struct LinearSelection {
    using Handler = typename Handlers::Handler;
    using Ops = typename Handlers::Arithmetic;
    using U = std::uint32_t;
    using UL = std::uint64_t;
    using SL = std::int64_t;

    template <typename T>
    static Handler integer_of(IntegerOp op) {
        switch (op) {
        case IntegerOp::Add:
            return Handlers::template COMPUTE<typename Ops::Add, T, T, T>;
        case IntegerOp::Sub:
            return Handlers::template COMPUTE<typename Ops::Sub, T, T, T>;
        case IntegerOp::MulLo:
            return Handlers::template COMPUTE<typename Ops::Mul, T, T, T>;
        case IntegerOp::MadLo:
            return Handlers::template COMPUTE<typename Ops::Mad, T, T, T, T>;
        default:
            return nullptr;
        }
    }

    static Handler of_integer(const IntegerForm& form) {
        const bool is_signed = form.type == ptx::Type::S32;
        if (form.is_saturating || form.is_packed) {
            return nullptr;
        }
        if (form.type == ptx::Type::U64 || form.type == ptx::Type::S64) {
            return integer_of<UL>(form.op);
        }
        if (form.type != ptx::Type::U32 && !is_signed) {
            return nullptr;
        }
        if (form.op == IntegerOp::MulWide) {
            return is_signed
                       ? Handlers::template COMPUTE<typename Ops::template MulWide<true>, UL, U, U>
                       : Handlers::template COMPUTE<typename Ops::template MulWide<false>, UL, U,
                                                    U>;
        }
        if (form.op == IntegerOp::MadWide) {
            return is_signed ? Handlers::template COMPUTE<typename Ops::template MadWide<true>, UL,
                                                          U, U, UL>
                             : Handlers::template COMPUTE<typename Ops::template MadWide<false>, UL,
                                                          U, U, UL>;
        }
        return integer_of<U>(form.op);
    }

    template <typename T>
    static Handler bits_of(BitsOp op) {
        using S = SignedLike<T>;
        switch (op) {
        case BitsOp::And:
            return Handlers::template COMPUTE<typename Ops::template Uniform<typename Ops::And>, T,
                                              T, T>;
        case BitsOp::Or:
            return Handlers::template COMPUTE<typename Ops::template Uniform<typename Ops::Or>, T,
                                              T, T>;
        case BitsOp::Xor:
            return Handlers::template COMPUTE<typename Ops::template Uniform<typename Ops::Xor>, T,
                                              T, T>;
        case BitsOp::Shl:
            return Handlers::template COMPUTE<typename Ops::template ShiftLeft<sizeof(T) * 8>, T, T,
                                              U>;
        case BitsOp::ShrUnsigned:
            return Handlers::template COMPUTE<
                typename Ops::template Uniform<typename Ops::template ShiftRight<T>>, T, T, U>;
        case BitsOp::ShrSigned:
            return Handlers::template COMPUTE<
                typename Ops::template Uniform<typename Ops::template ShiftRight<S>>, T, T, U>;
        default:
            return nullptr;
        }
    }

    static Handler of_bits(const BitsForm& form) {
        return form.bits == 64   ? bits_of<UL>(form.op)
               : form.bits == 32 ? bits_of<U>(form.op)
                                 : nullptr;
    }

    static Handler of_move(const MoveForm& form) {
        if (form.op != MoveOp::Copy) {
            return nullptr;
        }
        return form.width == Width::B64   ? Handlers::template COMPUTE<typename Ops::Copy, UL, UL>
               : form.width == Width::B32 ? Handlers::template COMPUTE<typename Ops::Copy, U, U>
                                          : nullptr;
    }

    static Handler of_convert(const ConvertForm& form) {
        const bool is_wide = form.to == Format::U64 || form.to == Format::S64;
        if (is_wide && form.from == Format::S32) {
            return Handlers::template COMPUTE<typename Ops::template Widen<true>, UL, U>;
        }
        if (is_wide && form.from == Format::U32) {
            return Handlers::template COMPUTE<typename Ops::template Widen<false>, UL, U>;
        }
        const bool is_narrow = form.to == Format::U32 || form.to == Format::S32;
        if (is_narrow && (form.from == Format::U64 || form.from == Format::S64)) {
            return Handlers::template COMPUTE<typename Ops::Copy, U, UL>;
        }
        return nullptr;
    }

    template <typename T>
    static Handler compare_of(Compare op) {
        switch (op) {
        case Compare::Eq:
            return Handlers::template COMPARE<Compare::Eq, T>;
        case Compare::Ne:
            return Handlers::template COMPARE<Compare::Ne, T>;
        case Compare::Lt:
            return Handlers::template COMPARE<Compare::Lt, T>;
        case Compare::Le:
            return Handlers::template COMPARE<Compare::Le, T>;
        case Compare::Gt:
            return Handlers::template COMPARE<Compare::Gt, T>;
        case Compare::Ge:
            return Handlers::template COMPARE<Compare::Ge, T>;
        default:
            return nullptr;
        }
    }

    static Handler of_compare(const CompareForm& form) {
        if (form.result != CompareResult::Predicate) {
            return nullptr;
        }
        switch (form.type) {
        case ptx::Type::U32:
            return compare_of<U>(form.compare);
        case ptx::Type::S32:
            return compare_of<std::int32_t>(form.compare);
        case ptx::Type::U64:
            return compare_of<UL>(form.compare);
        case ptx::Type::S64:
            return compare_of<SL>(form.compare);
        default:
            return nullptr;
        }
    }
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
