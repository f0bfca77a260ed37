// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Bitwise operations, shifts and bit fields.
//
// Shift amounts are unsigned and clamped: a shift by the width or more leaves zeros or copies of
// the sign. A host would use the amount modulo the width.

#pragma once

#include "bytecode/forms.hpp"
#include "operations/values.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE::operations {

/// The types of the sources of a form, in a lane: 0 if there is none.
struct BitsShape {
    unsigned sources[4];
    unsigned result = 0;
};

[[nodiscard]] constexpr BitsShape shape_of(const BitsForm& form) {
    const unsigned own = form.bits == 64 ? 64 : 32;
    switch (form.op) {
    case BitsOp::Not:
    case BitsOp::Cnot:
    case BitsOp::Brev:
        return {{own}, own};
    case BitsOp::Popc:
    case BitsOp::Clz:
    case BitsOp::BfindUnsigned:
    case BitsOp::BfindSigned:
    case BitsOp::BfindUnsignedShift:
    case BitsOp::BfindSignedShift:
        return {{own}, 32};
    case BitsOp::And:
    case BitsOp::Or:
    case BitsOp::Xor:
        return {{own, own}, own};
    case BitsOp::BfeUnsigned:
    case BitsOp::BfeSigned:
        return {{own, 32, 32}, own};
    case BitsOp::Bfi:
        return {{own, own, 32, 32}, own};
    case BitsOp::FunnelLeftWrap:
    case BitsOp::FunnelLeftClamp:
    case BitsOp::FunnelRightWrap:
    case BitsOp::FunnelRightClamp:
    case BitsOp::Fns:
    case BitsOp::Prmt:
    case BitsOp::Lop3:
        return {{32, 32, 32}, 32};
    default: // shifts, bmsk, szext
        return {{own, 32}, own};
    }
}

/// What a form computes. All values are unsigned.
template <BitsForm FORM>
struct Bits {
    using T = typename IntegerOfSize<FORM.bits == 64 ? 8 : 4, false>::Type;
    using S = typename IntegerOfSize<sizeof(T), true>::Type;
    using U = std::uint32_t;
    static constexpr U WIDTH = sizeof(T) * 8; // of a lane
    static constexpr T ONES = static_cast<T>(~T{0});
    static constexpr BitsOp OP = FORM.op;

    template <typename V>
    [[gnu::always_inline]] static auto apply(V a) {
        if constexpr (OP == BitsOp::Not) {
            return ~a;
        } else if constexpr (OP == BitsOp::Cnot) {
            return select(own_bits(a) == 0, like(a, 1), like(a, 0));
        } else if constexpr (OP == BitsOp::Brev) {
            return reversed(a);
        } else if constexpr (OP == BitsOp::Popc) {
            return count_ones(a);
        } else if constexpr (OP == BitsOp::Clz) {
            return count_leading_zeros(a);
        } else {
            constexpr bool is_shift =
                OP == BitsOp::BfindUnsignedShift || OP == BitsOp::BfindSignedShift;
            if constexpr (OP == BitsOp::BfindSigned || OP == BitsOp::BfindSignedShift) {
                a = select((a >> (WIDTH - 1)) != 0, ~a, a);
            }
            const auto zeros = count_leading_zeros(a);
            if constexpr (is_shift) {
                return select(a == 0, like(zeros, 0xffffffffu), zeros);
            } else {
                return WIDTH - 1 - zeros; // all ones if there are as many zeros as bits
            }
        }
    }

    template <typename V, typename W>
    [[gnu::always_inline]] static auto apply(V a, W b) {
        if constexpr (OP == BitsOp::And) {
            return a & b;
        } else if constexpr (OP == BitsOp::Or) {
            return a | b;
        } else if constexpr (OP == BitsOp::Xor) {
            return a ^ b;
        } else if constexpr (OP == BitsOp::Shl) {
            return shift_left(a, b);
        } else if constexpr (OP == BitsOp::ShrUnsigned) {
            return shift_right(own_bits(a), b);
        } else if constexpr (OP == BitsOp::ShrSigned) {
            auto value = convert<S>(a);
            if constexpr (FORM.bits == 16) {
                value = (value << 16) >> 16;
            }
            const auto amount = smaller(b, like(b, WIDTH - 1));
            return convert<T>(value >> convert<S>(amount));
        } else if constexpr (OP == BitsOp::BmskClamp || OP == BitsOp::BmskWrap) {
            constexpr bool clamps = OP == BitsOp::BmskClamp;
            const V zero = like(a, 0);
            const V start = a & 31;
            const V end = start + (b & 31);
            V from = like(a, ONES) << start;
            auto reaches_top = end >= 32;
            if constexpr (clamps) {
                from = select(a >= 32, zero, from);
                reaches_top = reaches_top | (a >= 32) | (b >= 32);
            }
            return from & ~select(reaches_top, zero, like(a, ONES) << (end & 31));
        } else {
            constexpr bool clamps =
                OP == BitsOp::SzextClampUnsigned || OP == BitsOp::SzextClampSigned;
            constexpr bool is_signed =
                OP == BitsOp::SzextClampSigned || OP == BitsOp::SzextWrapSigned;
            const V zero = like(a, 0);
            const V bits = b & 31;
            V result = a;
            if constexpr (is_signed) {
                const auto above = convert<S>((32 - bits) & 31);
                result = convert<U>((convert<S>(a) << above) >> above);
                result = select(bits != 0, result, zero);
            } else {
                result = a & ~(like(a, ONES) << bits);
            }
            return clamps ? select(b >= 32, a, result) : result;
        }
    }

    template <typename V, typename W, typename X>
    [[gnu::always_inline]] static auto apply(V a, W b, X c) {
        if constexpr (OP == BitsOp::BfeUnsigned || OP == BitsOp::BfeSigned) {
            return extract(a, field_operand(b), field_operand(c));
        } else if constexpr (OP == BitsOp::Prmt) {
            const auto both = (convert<std::uint64_t>(b) << 32) | convert<std::uint64_t>(a);
            V result = like(a, 0);
            for (U i = 0; i < 4; ++i) {
                result = result | (permuted_byte(both, c, i) << (8 * i));
            }
            return result;
        } else if constexpr (OP == BitsOp::Fns) {
            return find_nth_set(a, b, convert<std::int32_t>(c));
        } else {
            constexpr bool is_left = OP == BitsOp::FunnelLeftWrap || OP == BitsOp::FunnelLeftClamp;
            constexpr bool wraps = OP == BitsOp::FunnelLeftWrap || OP == BitsOp::FunnelRightWrap;
            const auto both = (convert<std::uint64_t>(b) << 32) | convert<std::uint64_t>(a);
            const auto amount = convert<std::uint64_t>(wraps ? c & 31 : smaller(c, like(c, 32)));
            return convert<U>(is_left ? (both << amount) >> 32 : both >> amount);
        }
    }

    /// bfi
    template <typename V, typename W>
    [[gnu::always_inline]] static V apply(V a, V b, W position, W length) {
        const W at = field_operand(position);
        const auto shift = convert<T>(at & (WIDTH - 1));
        const V field = low_ones(a, field_operand(length)) << shift;
        return select(at < WIDTH, (b & ~field) | ((a << shift) & field), b);
    }

private:
    /// Returns lanes without the garbage above 16-bit values.
    template <typename V>
    [[gnu::always_inline]] static V own_bits(V value) {
        return FORM.bits == 16 ? value & 0xffff : value;
    }

    /// Returns a value like `a` with the lowest `count` bits set, or all bits if `count` exceeds
    /// the width.
    template <typename V, typename W>
    [[gnu::always_inline]] static V low_ones(V a, W count) {
        return ~shift_left(like(a, ONES), count);
    }

    /// Reads a position or length. Only 8 bits count, but on a GPU the 64-bit forms clamp instead
    /// of wrapping.
    template <typename W>
    [[gnu::always_inline]] static W field_operand(W value) {
        return WIDTH == 32 ? value & 0xff : smaller(value, like(value, 255));
    }

    template <typename V, typename W>
    [[gnu::always_inline]] static V extract(V a, W position, W length) {
        if constexpr (OP == BitsOp::BfeUnsigned) {
            return shift_right(a, position) & low_ones(a, length);
        } else {
            // Outside, all bits are copies of the highest one.
            const W first = smaller(position, like(position, WIDTH - 1));
            const W count = smaller(larger(length, like(length, 1)), WIDTH - first);
            const V field = a << convert<T>(WIDTH - first - count);
            const V result = convert<T>(convert<S>(field) >> convert<S>(WIDTH - count));
            return select(length != 0, result, like(a, 0));
        }
    }

    /// Returns byte `i` of prmt's result.
    template <typename V, typename W>
    [[gnu::always_inline]] static W permuted_byte(V both, W selector, U i) {
        const auto byte = [&](W from) __attribute__((always_inline)) {
            return convert<U>(both >> convert<std::uint64_t>(8 * from)) & 0xff;
        };
        const W k = selector & 3;
        const W at = like(selector, i);
        if constexpr (FORM.mode == PrmtMode::Index) {
            const W nibble = (selector >> (4 * i)) & 15;
            const W chosen = byte(nibble & 7);
            const W signs = select((chosen & 0x80) != 0, like(chosen, 0xff), like(chosen, 0));
            return select((nibble & 8) != 0, signs, chosen);
        } else if constexpr (FORM.mode == PrmtMode::F4e) {
            return byte(k + i);
        } else if constexpr (FORM.mode == PrmtMode::B4e) {
            return byte((k + 8 - i) & 7);
        } else if constexpr (FORM.mode == PrmtMode::Rc8) {
            return byte(k);
        } else if constexpr (FORM.mode == PrmtMode::Ecl) {
            return byte(select(k < i, at, k));
        } else if constexpr (FORM.mode == PrmtMode::Ecr) {
            return byte(select(k > i, at, k));
        } else {
            return byte((k & 1) * 2 + (i & 1));
        }
    }

    /// fns: the position of the bit that is `offset` set bits away from `base`.
    template <typename V, typename W>
    [[gnu::always_inline]] static V find_nth_set(V value, V base, W offset) {
        const V zero = like(value, 0);
        const auto is_up = offset > 0;
        const V start = base & 31;
        // Bits above `base`, or, in reverse order, those below.
        V bits = select(is_up, value >> start, reversed(value << (31 - start)));
        V left = select(is_up, convert<U>(offset), zero - convert<U>(offset));
        // How many bits are set in groups of 2, 4, 8 and 16.
        const V pairs = bits - ((bits >> 1) & 0x55555555);
        const V nibbles = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333);
        const V bytes = (nibbles + (nibbles >> 4)) & 0x0f0f0f0f;
        const V halves = (bytes + (bytes >> 8)) & 0x00ff00ff;
        const auto is_there = (base < 32) & (left <= ((halves + (halves >> 16)) & 63));
        V at = zero;
        const auto descend = [&](V counts, U most, U size) __attribute__((always_inline)) {
            const V count = (counts >> at) & most;
            const auto is_above = left > count;
            left = left - select(is_above, count, zero);
            at = at + select(is_above, like(at, size), zero);
        };
        descend(halves, 31, 16);
        descend(bytes, 15, 8);
        descend(nibbles, 7, 4);
        descend(pairs, 3, 2);
        descend(bits, 1, 1);
        const V none = like(value, ONES);
        const V found = select(is_up, start + at, start - at);
        // An offset of 0 asks for the bit at `base` itself.
        const V own = select((bits & 1) != 0, start, none);
        return select(is_there, select(offset == 0, own, found), none);
    }

    template <typename V>
    [[gnu::always_inline]] static V reversed(V a) {
        a = ((a & ONES / 3) << 1) | ((a >> 1) & ONES / 3);
        a = ((a & ONES / 5) << 2) | ((a >> 2) & ONES / 5);
        a = ((a & ONES / 17) << 4) | ((a >> 4) & ONES / 17);
        return reverse_bytes(a);
    }
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE::operations
