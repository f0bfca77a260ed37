// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of floating-point numbers, and conversions to formats of fewer bits. The code is
// straight: select() stands where a branch would. Results depend on no library of the host.
// Approximate functions are computed in double precision and rounded once.
//
// Besides what values.hpp asks for, a type of values has the operators of a number, and
//
//   as_bits(value)    the bits of a number, as an unsigned integer
//   as_float(bits)    the reverse

#pragma once

#include "bytecode/forms.hpp"
#include "operations/values.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE::operations {

template <unsigned BYTES>
struct FloatOfSize;

template <>
struct FloatOfSize<4> {
    using Type = float;
};

template <>
struct FloatOfSize<8> {
    using Type = double;
};

template <Number V>
[[gnu::always_inline]] inline auto as_bits(V value) {
    return __builtin_bit_cast(typename IntegerOfSize<sizeof(V), false>::Type, value);
}

template <Lanes V>
[[gnu::always_inline]] inline auto as_bits(V value) {
    using Lane = typename IntegerOfSize<sizeof(value[0]), false>::Type;
    return reinterpret_cast<typename LanesOf<Lane, sizeof(V) / sizeof(Lane)>::Value>(value);
}

template <Number V>
[[gnu::always_inline]] inline auto as_float(V bits) {
    return __builtin_bit_cast(typename FloatOfSize<sizeof(V)>::Type, bits);
}

template <Lanes V>
[[gnu::always_inline]] inline auto as_float(V bits) {
    using Lane = typename FloatOfSize<sizeof(bits[0])>::Type;
    return reinterpret_cast<typename LanesOf<Lane, sizeof(V) / sizeof(Lane)>::Value>(bits);
}

/// Replaces subnormal numbers of single precision by zeros of the same sign.
template <typename F>
[[gnu::always_inline]] inline F flush_lanes(F value) {
    const auto bits = as_bits(value);
    return as_float(select((bits & 0x7f800000u) == 0, bits & 0x80000000u, bits));
}

// ---- doubles -----------------------------------------------------------------------------------

constexpr std::uint64_t SIGN_64 = 0x8000000000000000u;

/// Adding this to a whole number of at most 51 bits puts the number into the lowest bits of the
/// sum.
constexpr double TO_WHOLE = 0x1.8p52;

template <typename D>
[[gnu::always_inline]] inline D with_sign_of(D magnitude, D sign) {
    return as_float((as_bits(magnitude) & ~SIGN_64) | (as_bits(sign) & SIGN_64));
}

/// Rounds to a whole number. Keeps the sign of a zero; infinity and NaN stay.
template <typename D>
[[gnu::always_inline]] inline D whole_of(D value, Rounding rounding) {
    const D magnitude = as_float(as_bits(value) & ~SIGN_64);
    const D nearest = (value + TO_WHOLE) - TO_WHOLE;
    const D one = like(value, 1.0);
    D whole = nearest;
    if (rounding != Rounding::Nearest) {
        const D lower = select(nearest > value, nearest - one, nearest);
        const D upper = select(nearest < value, nearest + one, nearest);
        whole = rounding == Rounding::Down ? lower
                : rounding == Rounding::Up ? upper
                                           : select(value < 0.0, upper, lower);
    }
    return select(magnitude < 0x1p52, with_sign_of(whole, value), value);
}

/// Returns the exact sum of two numbers, rounded to odd: rounding it once more to at least two bits
/// fewer equals rounding the exact sum. The sum must not overflow, unless an addend is infinite.
template <typename F>
[[gnu::always_inline]] inline F sum_to_odd(F a, F b) {
    const F sum = a + b;
    const F part = sum - a;
    const F error = (a - (sum - part)) + (b - part);
    const auto bits = as_bits(sum);
    // Move an even number towards the error: one step up in magnitude if the signs agree.
    const F zero = like(sum, 0);
    const auto moved = select((error > zero) == (sum > zero), bits + 1, bits - 1);
    const auto is_moved = (error != zero) & (sum - sum == zero) & ((bits & 1) == 0);
    return as_float(select(is_moved, moved, bits));
}

/// Returns 2^x for any float, to about 1e-11.
template <typename D>
[[gnu::always_inline]] inline D exp2_of(D x) {
    const D most = like(x, 1000.0);
    const D limited = select(x > most, most, select(x < -most, -most, x));
    const D shifted = limited + TO_WHOLE;
    const D f = (limited - (shifted - TO_WHOLE)) * 0.69314718055994530942;
    D sum = f * (1.0 / 3628800) + 1.0 / 362880;
    sum = sum * f + 1.0 / 40320;
    sum = sum * f + 1.0 / 5040;
    sum = sum * f + 1.0 / 720;
    sum = sum * f + 1.0 / 120;
    sum = sum * f + 1.0 / 24;
    sum = sum * f + 1.0 / 6;
    sum = sum * f + 0.5;
    sum = sum * f + 1.0;
    sum = sum * f + 1.0;
    const D power = as_float((as_bits(shifted) + 1023) << 52);
    return select(x != x, x, sum * power);
}

/// Returns log2(x) of a float, to about 1e-10.
template <typename D>
[[gnu::always_inline]] inline D log2_of(D x) {
    // Scale the mantissa to [sqrt(1/2), sqrt(2)), so that the logarithm of 1 is exactly 0. The bits
    // of a float > 0 are above 2^61, so that the exponent is not negative with 2048 added.
    const auto bits = as_bits(x);
    const auto exponent = ((bits - 0x3fe6a09e00000000u + SIGN_64) >> 52) - 2048;
    const D mantissa = as_float(bits - (exponent << 52));
    const D s = (mantissa - 1.0) / (mantissa + 1.0);
    const D z = s * s;
    D sum = z * (1.0 / 13) + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    sum = sum * z + 1.0;
    const D whole = as_float(exponent + 0x4338000000000000u) - TO_WHOLE;
    const D value = whole + s * sum * (2 / 0.69314718055994530942);
    const D infinity = like(x, __builtin_inf());
    const D finite =
        select(x > 0.0, value, select(x == 0.0, -infinity, like(x, __builtin_nan(""))));
    return select(x == infinity, x, finite);
}

/// Returns sin(x), or cos(x) as the sine of a quarter turn more.
///
/// Beyond 2^31, neighbouring floats are many turns apart. The angle is then taken as 0, as in a
/// GPU's range reduction.
template <bool COSINE, typename D>
[[gnu::always_inline]] inline D sine_of(D x) {
    const D limited = select((x < 0x1p31) & (x > -0x1p31), x, like(x, 0.0));
    const D shifted = limited * 0.63661977236758134308 + TO_WHOLE;
    const D quarters = shifted - TO_WHOLE;
    D r = limited - quarters * 1.57079632673412561417;
    r -= quarters * 6.07710050650619224932e-11;
    const D z = r * r;
    D sine = z * (-1.0 / 39916800) + 1.0 / 362880;
    sine = sine * z - 1.0 / 5040;
    sine = sine * z + 1.0 / 120;
    sine = sine * z - 1.0 / 6;
    sine = r + r * z * sine;
    D cosine = z * (1.0 / 479001600) - 1.0 / 3628800;
    cosine = cosine * z + 1.0 / 40320;
    cosine = cosine * z - 1.0 / 720;
    cosine = cosine * z + 1.0 / 24;
    cosine = cosine * z - 0.5;
    cosine = 1.0 + z * cosine;
    const auto turn = as_bits(shifted) + (COSINE ? 1 : 0);
    const D value = select((turn & 1) != 0, cosine, sine);
    const D result = select((turn & 2) != 0, -value, value);
    return select(x - x != 0.0, x - x, result); // infinity and NaN
}

template <typename D>
[[gnu::always_inline]] inline D tanh_of(D x) {
    const D magnitude = as_float(as_bits(x) & ~SIGN_64);
    const D e = exp2_of(magnitude * (2 * 1.44269504088896340736));
    const D large = 1.0 - 2.0 / (e + 1.0);
    const D small = magnitude - magnitude * magnitude * magnitude * (1.0 / 3);
    const D result = select(magnitude < 1e-3, small, large);
    return select(x != x, x, with_sign_of(result, x));
}

// ---- 16 bits -----------------------------------------------------------------------------------

constexpr std::uint32_t HALF_NAN = 0x7fffu;

template <typename U>
[[gnu::always_inline]] inline auto half_to_float(U half) {
    const auto magnitude = (half & 0x7fffu) << 13;
    // 2^112 moves the exponent's bias from 15 to 127 and normalises subnormal numbers.
    const auto scaled = as_float(magnitude) * 0x1p112f;
    const auto bits = select(magnitude >= 0x0f800000u, magnitude | 0x7f800000u, as_bits(scaled));
    return as_float(bits | (half & 0x8000u) << 16);
}

/// Rounds to nearest even. A NaN becomes 0x7fff.
template <typename F>
[[gnu::always_inline]] inline auto float_to_half(F value) {
    const auto bits = as_bits(value);
    const auto magnitude = bits & 0x7fffffffu;
    // Adding 0.5 aligns the last bit of a subnormal half with the last bit of the sum, so the sum
    // rounds there.
    const auto subnormal = as_bits(as_float(magnitude) + 0.5f) - 0x3f000000u;
    const auto odd = magnitude >> 13 & 1;
    const auto normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    const auto finite = select(magnitude < 0x38800000u, subnormal, normal);
    const auto result =
        select(magnitude >= 0x47800000u, like(bits, 0x7c00u), finite) | (bits >> 16 & 0x8000u);
    return select(magnitude > 0x7f800000u, like(bits, HALF_NAN), result);
}

template <typename U>
[[gnu::always_inline]] inline auto bfloat_to_float(U bfloat) {
    return as_float(bfloat << 16);
}

template <typename F>
[[gnu::always_inline]] inline auto float_to_bfloat(F value) {
    const auto bits = as_bits(value);
    const auto rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return select(value != value, like(bits, HALF_NAN), rounded);
}

/// The functions of f16 (5 bits of exponent, 10 of fraction) or bf16 (8 and 7), for templates.
template <bool BFLOAT>
struct HalfFormat {
    template <typename U>
    [[gnu::always_inline]] static auto widen(U bits) {
        if constexpr (BFLOAT) {
            return bfloat_to_float(bits);
        } else {
            return half_to_float(bits);
        }
    }

    template <typename F>
    [[gnu::always_inline]] static auto narrow(F value) {
        if constexpr (BFLOAT) {
            return float_to_bfloat(value);
        } else {
            return float_to_half(value);
        }
    }
};

// ---- any format --------------------------------------------------------------------------------

/// The target format and rounding of a conversion to fewer bits than a double has.
struct Encoding {
    int exponent_bits;
    int fraction_bits;
    Rounding rounding;
    bool rounds_away; // halfway cases away from zero instead of to even
};

/// Rounds doubles (not NaNs) to a format and returns the bits without the sign, which may exceed
/// those of the largest number.
template <typename D>
[[gnu::always_inline]] inline auto encode_magnitude(D value, const Encoding& to) {
    const auto bits = as_bits(value);
    const auto one = like(bits, 1);
    const auto zero = like(bits, 0);
    const auto field = bits >> 52 & 0x7ff;
    const auto fraction = bits & 0xfffffffffffffu;
    const auto mantissa = select(field == 0, fraction, fraction | (std::uint64_t{1} << 52));
    // Exponents are compared with their bias of double precision, as numbers >= 0.
    const auto exponent = select(field == 0, one, field);
    const auto lowest = static_cast<std::uint64_t>(1023 + 2 - (1 << (to.exponent_bits - 1)));
    const auto above = select(exponent > lowest, exponent - lowest, zero);
    const auto below = select(exponent < lowest, lowest - exponent, zero);
    const auto all_dropped = below + static_cast<std::uint64_t>(52 - to.fraction_bits);
    const auto dropped = select(all_dropped > 62, like(bits, 62), all_dropped);
    const auto half = one << (dropped - 1);
    const auto is_odd = mantissa >> dropped & 1;
    auto addend = zero;
    if (to.rounding == Rounding::Nearest) {
        addend = to.rounds_away ? half : half - 1 + is_odd;
    } else if (to.rounding != Rounding::Zero) {
        const auto wanted = to.rounding == Rounding::Down ? one : zero;
        addend = select((bits >> 63) == wanted, (one << dropped) - 1, zero);
    }
    return (above << static_cast<std::uint64_t>(to.fraction_bits)) +
           ((mantissa + addend) >> dropped);
}

/// Returns whether a finite number beyond the largest rounds to it rather than to infinity.
[[gnu::always_inline]] inline bool stays_finite(Rounding rounding, bool is_negative) {
    return rounding == Rounding::Zero || (rounding == Rounding::Down && !is_negative) ||
           (rounding == Rounding::Up && is_negative);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE::operations
