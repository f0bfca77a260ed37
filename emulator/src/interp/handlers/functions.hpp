// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What instructions on numbers compute, written once for any kind of value: one number, a vector of
// lanes, or whatever else has the operators of a number and the four functions below (Words, cast,
// choose, convert). The code is straight: `choose` stands where a branch would.
//
// Results depend on no library of the host. Approximate functions are computed in double precision
// and rounded once.

#pragma once

#include "interp/handlers/float_common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// A vector that has as many lanes as a hardware vector of doubles.
template <typename T>
struct NarrowOf {
    typedef T Value __attribute__((vector_size(sizeof(T) * LANES<double>)));
    typedef T Memory __attribute__((vector_size(sizeof(T) * LANES<double>), aligned(4), may_alias));
};

template <typename T>
using Narrow = typename NarrowOf<T>::Value;

/// The unsigned integers (`Bits`) and the floating-point numbers (`Float`) of a value's size.
template <typename V>
struct Words;

template <>
struct Words<float> {
    using Bits = std::uint32_t;
};

template <>
struct Words<double> {
    using Bits = std::uint64_t;
};

template <>
struct Words<std::uint32_t> {
    using Float = float;
};

template <>
struct Words<std::uint64_t> {
    using Float = double;
};

template <>
struct Words<Vector<float>> {
    using Bits = Vector<std::uint32_t>;
};

template <>
struct Words<Vector<double>> {
    using Bits = Vector<std::uint64_t>;
};

template <>
struct Words<Vector<std::uint32_t>> {
    using Float = Vector<float>;
};

template <>
struct Words<Vector<std::uint64_t>> {
    using Float = Vector<double>;
};

template <>
struct Words<Narrow<float>> {
    using Bits = Narrow<std::uint32_t>;
};

template <>
struct Words<Narrow<std::uint32_t>> {
    using Float = Narrow<float>;
};

template <typename V>
using BitsOf = typename Words<V>::Bits;
template <typename V>
using FloatOf = typename Words<V>::Float;

/// Returns the same bits as another type.
template <typename To, typename From>
[[gnu::always_inline]] inline To cast(From value) {
    return __builtin_bit_cast(To, value);
}

/// Returns `a` where the condition holds and `b` elsewhere.
template <typename Condition, typename V>
[[gnu::always_inline]] inline V choose(Condition condition, V a, V b) {
    return condition ? a : b;
}

/// Converts the lanes of a vector to another type. Each fits, or is a number to round.
template <typename To, typename From>
[[gnu::always_inline]] inline To convert(From value) {
    return __builtin_convertvector(value, To);
}

/// Replaces subnormal numbers of single precision by zeros of the same sign.
template <typename F>
[[gnu::always_inline]] inline F flush_lanes(F value) {
    const BitsOf<F> bits = cast<BitsOf<F>>(value);
    return cast<F>(choose((bits & 0x7f800000u) == 0, bits & 0x80000000u, bits));
}

// ---- doubles -----------------------------------------------------------------------------------

constexpr std::uint64_t SIGN_64 = 0x8000000000000000u;

/// Adding this to a whole number of at most 51 bits puts the number into the lowest bits of the
/// sum.
constexpr double TO_WHOLE = 0x1.8p52;

template <typename D>
[[gnu::always_inline]] inline D with_sign_of(D magnitude, D sign) {
    return cast<D>((cast<BitsOf<D>>(magnitude) & ~SIGN_64) | (cast<BitsOf<D>>(sign) & SIGN_64));
}

/// Rounds to a whole number. Keeps the sign of a zero; infinity and NaN stay.
template <typename D>
[[gnu::always_inline]] inline D whole_of(D value, Rounding rounding) {
    const D magnitude = cast<D>(cast<BitsOf<D>>(value) & ~SIGN_64);
    const D nearest = (value + TO_WHOLE) - TO_WHOLE;
    const D one = D{} + 1.0;
    D whole = nearest;
    if (rounding != Rounding::Nearest) {
        const D lower = choose(nearest > value, nearest - one, nearest);
        const D upper = choose(nearest < value, nearest + one, nearest);
        whole = rounding == Rounding::Down ? lower
                : rounding == Rounding::Up ? upper
                                           : choose(value < 0.0, upper, lower);
    }
    return choose(magnitude < 0x1p52, with_sign_of(whole, value), value);
}

/// Returns the exact sum of two numbers, rounded to odd: rounding it once more to at least two bits
/// fewer equals rounding the exact sum. The sum must not overflow, unless an addend is infinite.
template <typename F>
[[gnu::always_inline]] inline F sum_to_odd(F a, F b) {
    using U = BitsOf<F>;
    const F sum = a + b;
    const F part = sum - a;
    const F error = (a - (sum - part)) + (b - part);
    const U bits = cast<U>(sum);
    // Move an even number towards the error: one step up in magnitude if the signs agree.
    const F zero{};
    const U moved = choose((error > zero) == (sum > zero), bits + 1, bits - 1);
    const auto is_moved = (error != zero) & (sum - sum == zero) & ((bits & 1) == 0);
    return cast<F>(choose(is_moved, moved, bits));
}

/// Returns 2^x for any float, to about 1e-11.
template <typename D>
[[gnu::always_inline]] inline D exp2_of(D x) {
    const D most = D{} + 1000.0;
    const D limited = choose(x > most, most, choose(x < -most, -most, x));
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
    const D power = cast<D>((cast<BitsOf<D>>(shifted) + 1023) << 52);
    return choose(x != x, x, sum * power);
}

/// Returns log2(x) of a float, to about 1e-10.
template <typename D>
[[gnu::always_inline]] inline D log2_of(D x) {
    using U = BitsOf<D>;
    // Scale the mantissa to [sqrt(1/2), sqrt(2)), so that the logarithm of 1 is exactly 0. The bits
    // of a float > 0 are above 2^61, so that the exponent is not negative with 2048 added.
    const U bits = cast<U>(x);
    const U exponent = ((bits - 0x3fe6a09e00000000u + SIGN_64) >> 52) - 2048;
    const D mantissa = cast<D>(bits - (exponent << 52));
    const D s = (mantissa - 1.0) / (mantissa + 1.0);
    const D z = s * s;
    D sum = z * (1.0 / 13) + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    sum = sum * z + 1.0;
    const D whole = cast<D>(exponent + 0x4338000000000000u) - TO_WHOLE;
    const D value = whole + s * sum * (2 / 0.69314718055994530942);
    const D infinity = D{} + __builtin_inf();
    const D finite = choose(x > 0.0, value, choose(x == 0.0, -infinity, D{} + __builtin_nan("")));
    return choose(x == infinity, x, finite);
}

/// Returns sin(x), or cos(x) as the sine of a quarter turn more.
///
/// Beyond 2^31, neighbouring floats are many turns apart. The angle is then taken as 0, as in a
/// GPU's range reduction.
template <bool COSINE, typename D>
[[gnu::always_inline]] inline D sine_of(D x) {
    using U = BitsOf<D>;
    const D limited = choose((x < 0x1p31) & (x > -0x1p31), x, D{});
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
    const U turn = cast<U>(shifted) + (COSINE ? 1 : 0);
    const D value = choose((turn & 1) != 0, cosine, sine);
    const D result = choose((turn & 2) != 0, -value, value);
    return choose(x - x != 0.0, x - x, result); // infinity and NaN
}

template <typename D>
[[gnu::always_inline]] inline D tanh_of(D x) {
    const D magnitude = cast<D>(cast<BitsOf<D>>(x) & ~SIGN_64);
    const D e = exp2_of(magnitude * (2 * 1.44269504088896340736));
    const D large = 1.0 - 2.0 / (e + 1.0);
    const D small = magnitude - magnitude * magnitude * magnitude * (1.0 / 3);
    const D result = choose(magnitude < 1e-3, small, large);
    return choose(x != x, x, with_sign_of(result, x));
}

// ---- 16 bits -----------------------------------------------------------------------------------

constexpr std::uint32_t HALF_NAN = 0x7fffu;

template <typename U>
[[gnu::always_inline]] inline FloatOf<U> half_to_float(U half) {
    using F = FloatOf<U>;
    const U magnitude = (half & 0x7fffu) << 13;
    // 2^112 moves the exponent's bias from 15 to 127 and normalises subnormal numbers.
    const F scaled = cast<F>(magnitude) * 0x1p112f;
    const U bits = choose(magnitude >= 0x0f800000u, magnitude | 0x7f800000u, cast<U>(scaled));
    return cast<F>(bits | (half & 0x8000u) << 16);
}

/// Rounds to nearest even. A NaN becomes 0x7fff.
template <typename F>
[[gnu::always_inline]] inline BitsOf<F> float_to_half(F value) {
    using U = BitsOf<F>;
    const U bits = cast<U>(value);
    const U magnitude = bits & 0x7fffffffu;
    // Adding 0.5 aligns the last bit of a subnormal half with the last bit of the sum, so the sum
    // rounds there.
    const U subnormal = cast<U>(cast<F>(magnitude) + 0.5f) - 0x3f000000u;
    const U odd = magnitude >> 13 & 1;
    const U normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    const U finite = choose(magnitude < 0x38800000u, subnormal, normal);
    const U result =
        choose(magnitude >= 0x47800000u, U{} + 0x7c00u, finite) | (bits >> 16 & 0x8000u);
    return choose(magnitude > 0x7f800000u, U{} + HALF_NAN, result);
}

template <typename U>
[[gnu::always_inline]] inline FloatOf<U> bfloat_to_float(U bfloat) {
    return cast<FloatOf<U>>(bfloat << 16);
}

template <typename F>
[[gnu::always_inline]] inline BitsOf<F> float_to_bfloat(F value) {
    using U = BitsOf<F>;
    const U bits = cast<U>(value);
    const U rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return choose(value != value, U{} + HALF_NAN, rounded);
}

/// The functions of f16 (5 bits of exponent, 10 of fraction) or bf16 (8 and 7), for templates.
template <bool BFLOAT>
struct HalfFormat {
    template <typename U>
    [[gnu::always_inline]] static FloatOf<U> widen(U bits) {
        if constexpr (BFLOAT) {
            return bfloat_to_float(bits);
        } else {
            return half_to_float(bits);
        }
    }

    template <typename F>
    [[gnu::always_inline]] static BitsOf<F> narrow(F value) {
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
[[gnu::always_inline]] inline BitsOf<D> encode_magnitude(D value, const Encoding& to) {
    using U = BitsOf<D>;
    const U bits = cast<U>(value);
    const U one = U{} + 1;
    const U field = bits >> 52 & 0x7ff;
    const U fraction = bits & 0xfffffffffffffu;
    const U mantissa = choose(field == 0, fraction, fraction | (std::uint64_t{1} << 52));
    // Exponents are compared with their bias of double precision, as numbers >= 0.
    const U exponent = choose(field == 0, one, field);
    const auto lowest = static_cast<std::uint64_t>(1023 + 2 - (1 << (to.exponent_bits - 1)));
    const U above = choose(exponent > lowest, exponent - lowest, U{});
    const U below = choose(exponent < lowest, lowest - exponent, U{});
    const U all_dropped = below + static_cast<std::uint64_t>(52 - to.fraction_bits);
    const U dropped = choose(all_dropped > 62, U{} + 62, all_dropped);
    const U half = one << (dropped - 1);
    const U is_odd = mantissa >> dropped & 1;
    U addend{};
    if (to.rounding == Rounding::Nearest) {
        addend = to.rounds_away ? half : half - 1 + is_odd;
    } else if (to.rounding != Rounding::Zero) {
        const U wanted = to.rounding == Rounding::Down ? one : U{};
        addend = choose((bits >> 63) == wanted, (one << dropped) - 1, U{});
    }
    return (above << static_cast<std::uint64_t>(to.fraction_bits)) +
           ((mantissa + addend) >> dropped);
}

/// Returns whether a finite number beyond the largest rounds to it rather than to infinity.
[[gnu::always_inline]] inline bool stays_finite(Rounding rounding, bool is_negative) {
    return rounding == Rounding::Zero || (rounding == Rounding::Down && !is_negative) ||
           (rounding == Rounding::Up && is_negative);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
