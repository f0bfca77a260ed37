// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic. All operations wrap; none traps.
//
// Division by zero gives all ones for the quotient and the remainder, as NVIDIA's own code
// sequences do. PTX leaves it undefined. The most negative number divided by -1 is itself.

#pragma once

#include "bytecode/forms.hpp"
#include "operations/values.hpp"
#include "ptx/type_sizes.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE::operations {

/// An integer type as it lies in a lane. Values of 8 and 16 bits have garbage above them.
template <ptx::Type TYPE>
struct LaneOf {
    static constexpr unsigned BITS = ptx::bits_of(TYPE);
    static constexpr bool IS_SIGNED = ptx::is_signed(TYPE);
    static constexpr unsigned BYTES = BITS == 64 ? 8 : 4;
    using T = typename IntegerOfSize<BYTES, IS_SIGNED>::Type;
    using Unsigned = typename IntegerOfSize<BYTES, false>::Type;
    using Wide = typename IntegerOfSize<BYTES * 2, IS_SIGNED>::Type;
    using UnsignedWide = typename IntegerOfSize<BYTES * 2, false>::Type;

    /// Returns lanes with the value extended to the full lane.
    template <typename V>
    [[gnu::always_inline]] static V extend(V value) {
        constexpr int unused = static_cast<int>(BYTES * 8 - BITS);
        if constexpr (unused <= 0) {
            return value;
        } else {
            return (value << unused) >> unused;
        }
    }
};

[[nodiscard]] constexpr unsigned source_count(IntegerOp op) {
    switch (op) {
    case IntegerOp::Abs:
    case IntegerOp::Neg:
        return 1;
    case IntegerOp::MadLo:
    case IntegerOp::MadHi:
    case IntegerOp::MadWide:
    case IntegerOp::Mad24Lo:
    case IntegerOp::Mad24Hi:
    case IntegerOp::Sad:
    case IntegerOp::CarrylessMadLo:
    case IntegerOp::CarrylessMadHi:
        return 3;
    default:
        return 2;
    }
}

/// Returns the unsigned form if it has the same results: the low half of a sum or product does not
/// depend on signs or on the bits above.
[[nodiscard]] constexpr IntegerForm without_sign(IntegerForm form) {
    const bool is_any = form.op == IntegerOp::Add || form.op == IntegerOp::Sub ||
                        form.op == IntegerOp::MulLo || form.op == IntegerOp::MadLo ||
                        form.op == IntegerOp::Neg;
    if (is_any && !form.is_saturating && !form.is_packed) {
        form.type = ptx::bits_of(form.type) == 64 ? ptx::Type::U64 : ptx::Type::U32;
    }
    return form;
}

/// Returns a 64-bit value between the limits of 32 bits.
template <typename V>
[[gnu::always_inline]] inline auto clamp_to_s32(V value) {
    value = smaller(value, like(value, INT32_MAX));
    return convert<std::int32_t>(larger(value, like(value, INT32_MIN)));
}

/// Two 16-bit or four 8-bit values in a lane of 32 bits.
template <IntegerForm FORM>
struct PackedInteger {
    using Part = LaneOf<FORM.type>;
    static constexpr unsigned BITS = Part::BITS;
    static constexpr std::uint32_t MASK = (1u << BITS) - 1;

    /// Returns one of the values, extended to the whole lane.
    template <typename V>
    [[gnu::always_inline]] static auto part(V value, unsigned shift) {
        if constexpr (Part::IS_SIGNED) {
            return convert<std::int32_t>(value << (32 - BITS - shift)) >> (32 - BITS);
        } else {
            return convert<std::int32_t>((value >> shift) & MASK);
        }
    }

    template <typename V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        V result = like(a, 0u);
        for (unsigned shift = 0; shift < 32; shift += BITS) {
            const auto value = one(part(a, shift), part(b, shift));
            result = result | ((convert<std::uint32_t>(value) & MASK) << shift);
        }
        return result;
    }

    template <typename V>
    [[gnu::always_inline]] static V apply(V a) {
        return apply(like(a, 0u), a); // 0 - a
    }

    template <typename V>
    [[gnu::always_inline]] static V one(V x, V y) {
        V result = x;
        if constexpr (FORM.op == IntegerOp::Add) {
            result = x + y;
        } else if constexpr (FORM.op == IntegerOp::Sub || FORM.op == IntegerOp::Neg) {
            result = x - y;
        } else if constexpr (FORM.op == IntegerOp::Min || FORM.op == IntegerOp::MinRelu) {
            result = smaller(x, y);
        } else {
            result = larger(x, y);
        }
        if constexpr (FORM.op == IntegerOp::MinRelu || FORM.op == IntegerOp::MaxRelu) {
            result = larger(result, like(result, 0));
        }
        if constexpr (FORM.is_saturating) {
            constexpr int highest = (1 << (Part::IS_SIGNED ? BITS - 1 : BITS)) - 1;
            constexpr int lowest = Part::IS_SIGNED ? -highest - 1 : 0;
            result = smaller(larger(result, like(result, lowest)), like(result, highest));
        }
        return result;
    }
};

/// One value in a lane. Sources have the type Lane::T, but for the third one of .wide.
template <IntegerForm FORM>
struct PlainInteger {
    using Lane = LaneOf<FORM.type>;
    using T = typename Lane::T;
    using U = typename Lane::Unsigned;

    template <typename V>
    [[gnu::always_inline]] static auto apply(V a) {
        const auto zero = like(convert<U>(a), 0u);
        if constexpr (FORM.op == IntegerOp::Abs) {
            a = Lane::extend(a);
            return convert<T>(select(a < 0, zero - convert<U>(a), convert<U>(a)));
        } else {
            static_assert(FORM.op == IntegerOp::Neg);
            return convert<T>(zero - convert<U>(a));
        }
    }

    template <typename V>
    [[gnu::always_inline]] static auto apply(V a, V b) {
        if constexpr (FORM.is_saturating) {
            return saturated(a, b);
        } else if constexpr (FORM.op == IntegerOp::Add) {
            return convert<T>(convert<U>(a) + convert<U>(b));
        } else if constexpr (FORM.op == IntegerOp::Sub) {
            return convert<T>(convert<U>(a) - convert<U>(b));
        } else if constexpr (FORM.op == IntegerOp::MulLo) {
            return convert<T>(convert<U>(a) * convert<U>(b));
        } else if constexpr (FORM.op == IntegerOp::MulHi) {
            return upper_product(a, b);
        } else if constexpr (FORM.op == IntegerOp::MulWide) {
            return wide_product(a, b);
        } else if constexpr (FORM.op == IntegerOp::Mul24Lo) {
            return convert<T>(product_of_24(a, b));
        } else if constexpr (FORM.op == IntegerOp::Mul24Hi) {
            return convert<T>(product_of_24(a, b) >> 16);
        } else if constexpr (FORM.op == IntegerOp::Div || FORM.op == IntegerOp::Rem) {
            return divide(Lane::extend(a), Lane::extend(b));
        } else {
            a = Lane::extend(a);
            b = Lane::extend(b);
            if constexpr (FORM.op == IntegerOp::Min || FORM.op == IntegerOp::MinRelu) {
                a = smaller(a, b);
            } else {
                static_assert(FORM.op == IntegerOp::Max || FORM.op == IntegerOp::MaxRelu);
                a = larger(a, b);
            }
            constexpr bool is_relu = FORM.op == IntegerOp::MinRelu || FORM.op == IntegerOp::MaxRelu;
            if constexpr (is_relu) {
                a = larger(a, like(a, 0));
            }
            return a;
        }
    }

    template <typename V, typename W>
    [[gnu::always_inline]] static auto apply(V a, V b, W c) {
        if constexpr (FORM.op == IntegerOp::MadLo) {
            return convert<T>(convert<U>(a) * convert<U>(b) + convert<U>(c));
        } else if constexpr (FORM.op == IntegerOp::MadHi && FORM.is_saturating) {
            return clamp_to_s32(convert<std::int64_t>(upper_product(a, b)) +
                                convert<std::int64_t>(c));
        } else if constexpr (FORM.op == IntegerOp::MadHi) {
            return convert<T>(convert<U>(upper_product(a, b)) + convert<U>(c));
        } else if constexpr (FORM.op == IntegerOp::MadWide) {
            if constexpr (Lane::BITS == 16) {
                return convert<T>(convert<U>(wide_product(a, b)) + convert<U>(c));
            } else {
                using D = typename Lane::UnsignedWide;
                return convert<typename Lane::Wide>(convert<D>(wide_product(a, b)) + convert<D>(c));
            }
        } else if constexpr (FORM.op == IntegerOp::Mad24Lo) {
            return convert<T>(convert<U>(product_of_24(a, b)) + convert<U>(c));
        } else if constexpr (FORM.op == IntegerOp::Mad24Hi && FORM.is_saturating) {
            return clamp_to_s32((product_of_24(a, b) >> 16) + convert<std::int64_t>(c));
        } else if constexpr (FORM.op == IntegerOp::Mad24Hi) {
            return convert<T>(convert<U>(product_of_24(a, b) >> 16) + convert<U>(c));
        } else if constexpr (FORM.op == IntegerOp::Sad) {
            a = Lane::extend(a);
            b = Lane::extend(b);
            const auto difference = convert<U>(larger(a, b)) - convert<U>(smaller(a, b));
            return convert<T>(convert<U>(c) + difference);
        } else {
            static_assert(FORM.op == IntegerOp::CarrylessMadLo ||
                          FORM.op == IntegerOp::CarrylessMadHi);
            for (unsigned i = 0; i < 64; ++i) { // sums are exclusive ors
                const auto chosen = like(a, 0u) - ((b >> i) & 1);
                // Shifting by 64 is undefined, so the high half shifts in two steps.
                c = c ^
                    (chosen & (FORM.op == IntegerOp::CarrylessMadHi ? a >> 1 >> (63 - i) : a << i));
            }
            return c;
        }
    }

private:
    template <typename V>
    [[gnu::always_inline]] static auto saturated(V a, V b) {
        if constexpr (Lane::IS_SIGNED) {
            const auto x = convert<std::int64_t>(a);
            const auto y = convert<std::int64_t>(b);
            return clamp_to_s32(FORM.op == IntegerOp::Add ? x + y : x - y);
        } else {
            const V sum = a + b;
            return select(sum < a, like(sum, UINT32_MAX), sum);
        }
    }

    /// Returns the product in twice the bits of a value, but for 16 bits in a lane of 32.
    template <typename V>
    [[gnu::always_inline]] static auto wide_product(V a, V b) {
        if constexpr (Lane::BITS == 16) {
            return Lane::extend(a) * Lane::extend(b);
        } else {
            using D = typename Lane::Wide;
            return convert<D>(a) * convert<D>(b);
        }
    }

    template <typename V>
    [[gnu::always_inline]] static auto upper_product(V a, V b) {
        return convert<T>(wide_product(a, b) >> static_cast<int>(Lane::BITS));
    }

    /// Returns the product of the lower 24 bits, in 64 bits.
    template <typename V>
    [[gnu::always_inline]] static auto product_of_24(V a, V b) {
        if constexpr (Lane::IS_SIGNED) {
            return convert<std::int64_t>((a << 8) >> 8) * convert<std::int64_t>((b << 8) >> 8);
        } else {
            return convert<std::int64_t>(convert<std::uint64_t>(a & 0xffffffu) *
                                         convert<std::uint64_t>(b & 0xffffffu));
        }
    }

    template <typename V>
    [[gnu::always_inline]] static auto divide(V a, V b) {
        constexpr bool is_remainder = FORM.op == IntegerOp::Rem;
        const auto is_zero = b == 0;
        if constexpr (Lane::BITS == 64) {
            // A division by -1 may overflow, so negate instead.
            const auto is_negation = b == like(b, Lane::IS_SIGNED ? -1 : 0);
            const V divisor = select(is_zero | is_negation, like(b, 1), b);
            V value = a;
            if constexpr (is_remainder) {
                value = a % divisor;
            } else {
                const auto negated = convert<T>(like(convert<U>(a), 0u) - convert<U>(a));
                value = select(is_negation, negated, a / divisor);
            }
            return select(is_zero, like(a, -1), value);
        } else {
            // A float with twice the digits is exact here and, unlike integer division, vectorises.
            constexpr bool is_narrow = Lane::BITS == 16;
            using Real = std::conditional_t<is_narrow, float, double>;
            // INT_MIN / -1 does not fit 32 bits.
            using Whole = std::conditional_t<is_narrow, std::int32_t, std::int64_t>;
            const V divisor = select(is_zero, like(b, 1), b);
            const auto quotient = convert<Real>(a) / convert<Real>(divisor);
            auto value = convert<U>(convert<Whole>(quotient));
            if constexpr (is_remainder) {
                value = convert<U>(a) - value * convert<U>(divisor);
            }
            return select(is_zero, like(a, -1), convert<T>(value));
        }
    }
};

/// dp4a: the sum of the products of four bytes.
template <bool A_IS_SIGNED, bool B_IS_SIGNED>
struct Dot4 {
    template <typename V>
    [[gnu::always_inline]] static V apply(V a, V b, V c) {
        for (unsigned i = 0; i < 4; ++i) {
            c = c + convert<std::uint32_t>(field<A_IS_SIGNED, 8>(a, 8 * i) *
                                           field<B_IS_SIGNED, 8>(b, 8 * i));
        }
        return c;
    }

    /// Returns some bits of a word as a number.
    template <bool IS_SIGNED, unsigned BITS, typename V>
    [[gnu::always_inline]] static auto field(V value, unsigned shift) {
        if constexpr (IS_SIGNED) {
            return convert<std::int32_t>(value << (32 - BITS - shift)) >> (32 - BITS);
        } else {
            return convert<std::int32_t>((value >> shift) & ((1u << BITS) - 1));
        }
    }
};

/// dp2a: the sum of the products of two halves of a and the lower or upper two bytes of b.
template <bool A_IS_SIGNED, bool B_IS_SIGNED, bool IS_UPPER>
struct Dot2 {
    template <typename V>
    [[gnu::always_inline]] static V apply(V a, V b, V c) {
        using Fields = Dot4<A_IS_SIGNED, B_IS_SIGNED>;
        for (unsigned i = 0; i < 2; ++i) {
            const auto half = Fields::template field<A_IS_SIGNED, 16>(a, 16 * i);
            const auto byte =
                Fields::template field<B_IS_SIGNED, 8>(b, 8 * (i + (IS_UPPER ? 2 : 0)));
            c = c + convert<std::uint32_t>(half * byte);
        }
        return c;
    }
};

/// cvt.pack: two numbers, clamped, below what was packed before.
template <PackForm FORM>
struct Pack {
    static constexpr unsigned BITS = FORM.bits;

    template <typename V>
    [[gnu::always_inline]] static auto clamped(V value) {
        constexpr int most = (1 << (FORM.is_signed ? BITS - 1 : BITS)) - 1;
        constexpr int least = FORM.is_signed ? -most - 1 : 0;
        value = smaller(larger(value, like(value, least)), like(value, most));
        return convert<std::uint32_t>(value) & ((1u << BITS) - 1);
    }

    template <typename V>
    [[gnu::always_inline]] static auto apply(V a, V b) {
        return (clamped(a) << BITS) | clamped(b);
    }

    template <typename V, typename W>
    [[gnu::always_inline]] static W apply(V a, V b, W before) {
        return (before << (2 * BITS)) | apply(a, b);
    }
};

/// Extended precision: a result and a carry.
template <CarryForm FORM>
struct Carry {
    static constexpr bool IS_MAD = FORM.op == CarryOp::MadLo || FORM.op == CarryOp::MadHi;

    /// Computes with unsigned values; `carry_in` is 0 or 1 and `c` the third source of mad. Sets
    /// `carries` to a condition.
    template <typename V, typename Condition>
    [[gnu::always_inline]] static V apply(V a, V b, V c, V carry_in, Condition& carries) {
        if constexpr (FORM.op == CarryOp::Sub) {
            // A GPU adds the complement, so the flag is 0 if the subtraction borrows. This matters
            // where both kinds of instructions read the same flag, as in NVRTC's division of
            // 128-bit integers.
            const V borrow = FORM.reads_carry ? carry_in ^ 1 : carry_in;
            const V difference = a - b;
            carries = (a >= b) & (difference >= borrow);
            return difference - borrow;
        } else {
            V x = a;
            V y = b;
            if constexpr (FORM.op == CarryOp::MadLo) {
                x = a * b;
                y = c;
            } else if constexpr (FORM.op == CarryOp::MadHi) {
                using Lane = LaneOf<FORM.type>;
                using Product = PlainInteger<IntegerForm{IntegerOp::MulHi, FORM.type}>;
                using T = typename Lane::T;
                x = convert<typename Lane::Unsigned>(Product::apply(convert<T>(a), convert<T>(b)));
                y = c;
            }
            const V sum = x + y;
            const V result = sum + carry_in;
            carries = (sum < x) | (result < sum);
            return result;
        }
    }
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE::operations
