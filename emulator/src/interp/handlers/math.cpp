// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reciprocals, roots and the approximate functions.
//
// A GPU computes the approximate functions with tables, to about 1 or 2 units in the last place.
// Here they are computed in double precision and rounded once. The results stay inside those
// bounds, but are not meant to be bit-equal to a GPU's.

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/round.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

// Plain arithmetic in double precision without branches, so that 32 lanes vectorise.

/// Returns 2^x for any float, to about 1e-11.
[[gnu::always_inline]] inline double exp2_of(double x) {
    const double limited = x > 1000.0 ? 1000.0 : x < -1000.0 ? -1000.0 : x;
    const double whole = round_to_even(limited);
    const double f = (limited - whole) * 0.69314718055994530942;
    double sum = 1.0 / 3628800;
    sum = sum * f + 1.0 / 362880;
    sum = sum * f + 1.0 / 40320;
    sum = sum * f + 1.0 / 5040;
    sum = sum * f + 1.0 / 720;
    sum = sum * f + 1.0 / 120;
    sum = sum * f + 1.0 / 24;
    sum = sum * f + 1.0 / 6;
    sum = sum * f + 0.5;
    sum = sum * f + 1.0;
    sum = sum * f + 1.0;
    const auto power = static_cast<std::int64_t>(static_cast<std::int32_t>(whole)) + 1023;
    const double result = sum * double_from(static_cast<std::uint64_t>(power) << 52);
    return x != x ? x : result;
}

/// Returns log2(x) for a float x > 0, to about 1e-10. The caller handles special values.
[[gnu::always_inline]] inline double log2_of(double x) {
    const std::uint64_t bits = bits_from(x);
    // Scale the mantissa to [sqrt(1/2), sqrt(2)), so that the logarithm of 1 is exactly 0.
    const std::uint64_t shifted = bits - 0x3fe6a09e00000000u;
    const auto exponent = static_cast<std::int32_t>(static_cast<std::int64_t>(shifted) >> 52);
    const double mantissa =
        double_from(bits - (static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)) << 52));
    const double s = (mantissa - 1.0) / (mantissa + 1.0);
    const double z = s * s;
    double sum = 1.0 / 13;
    sum = sum * z + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    sum = sum * z + 1.0;
    return static_cast<double>(exponent) + s * sum * (2 / 0.69314718055994530942);
}

/// Returns sin(x), or cos(x) as the sine of a quarter turn more.
///
/// Beyond 2^31, neighbouring floats are many turns apart. The angle is then taken as 0, as in a
/// GPU's range reduction.
template <bool COSINE>
[[gnu::always_inline]] inline double sine_of(double x) {
    const double limited = x < 0x1p31 && x > -0x1p31 ? x : 0.0;
    const double quarters = round_to_even(limited * 0.63661977236758134308);
    double r = limited - quarters * 1.57079632673412561417;
    r -= quarters * 6.07710050650619224932e-11;
    const double z = r * r;
    double sine = -1.0 / 39916800;
    sine = sine * z + 1.0 / 362880;
    sine = sine * z - 1.0 / 5040;
    sine = sine * z + 1.0 / 120;
    sine = sine * z - 1.0 / 6;
    sine = r + r * z * sine;
    double cosine = 1.0 / 479001600;
    cosine = cosine * z - 1.0 / 3628800;
    cosine = cosine * z + 1.0 / 40320;
    cosine = cosine * z - 1.0 / 720;
    cosine = cosine * z + 1.0 / 24;
    cosine = cosine * z - 0.5;
    cosine = 1.0 + z * cosine;
    const auto turn = static_cast<std::int32_t>(quarters) + (COSINE ? 1 : 0);
    const double value = (turn & 1) != 0 ? cosine : sine;
    const double result = (turn & 2) != 0 ? -value : value;
    return x - x != 0 ? x - x : result; // infinity and NaN
}

[[gnu::always_inline]] inline double tanh_of(double x) {
    const double magnitude = x < 0 ? -x : x;
    const double e = exp2_of(magnitude * (2 * 1.44269504088896340736));
    const double large = 1.0 - 2.0 / (e + 1.0);
    const double small = magnitude - magnitude * magnitude * magnitude * (1.0 / 3);
    const double result = magnitude < 1e-3 ? small : large;
    return x != x ? x : __builtin_copysign(result, x);
}

template <FloatOp OP>
[[gnu::always_inline]] inline float evaluate(float a) {
    const auto x = static_cast<double>(a);
    switch (OP) {
    case FloatOp::Rcp:
        return 1.0f / a;
    case FloatOp::Sqrt:
        return root(a);
    case FloatOp::Rsqrt:
        return static_cast<float>(1.0 / root(x));
    case FloatOp::Sin:
        return static_cast<float>(sine_of<false>(x));
    case FloatOp::Cos:
        return static_cast<float>(sine_of<true>(x));
    case FloatOp::Lg2: {
        const float value = static_cast<float>(log2_of(x));
        const float finite = a > 0 ? value : a == 0 ? -__builtin_inff() : __builtin_nanf("");
        return a == __builtin_inff() ? a : finite;
    }
    case FloatOp::Ex2:
        return static_cast<float>(exp2_of(x));
    default:
        return static_cast<float>(tanh_of(x));
    }
}

template <FloatOp OP>
double evaluate(double a) {
    static_assert(OP == FloatOp::Rcp || OP == FloatOp::Sqrt || OP == FloatOp::Rsqrt);
    switch (OP) {
    case FloatOp::Rcp:
        return 1.0 / a;
    case FloatOp::Sqrt:
        return root(a);
    default:
        return 1.0 / root(a);
    }
}

template <FloatOp OP, typename T, bool FLUSHES>
struct Function {
    static T apply(T a) {
        if constexpr (FLUSHES) {
            return canonical(flush(evaluate<OP>(flush(a))));
        } else {
            return canonical(evaluate<OP>(a));
        }
    }
};

/// The operations rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64. Only the upper halves count.
template <FloatOp OP>
struct UpperHalf {
    static double apply(double a) {
        const double truncated = double_from(bits_from(a) & 0xffffffff00000000u);
        const bool is_subnormal = (bits_from(truncated) & 0x7ff0000000000000u) == 0;
        const double input =
            is_subnormal ? double_from(bits_from(truncated) & 0x8000000000000000u) : truncated;
        const double result = evaluate<OP>(input);
        if (result != result) {
            return double_from(0x7fffffff00000000u);
        }
        const bool is_flushed = (bits_from(result) & 0x7ff0000000000000u) == 0;
        return double_from(bits_from(result) &
                           (is_flushed ? 0x8000000000000000u : 0xffffffff00000000u));
    }
};

template <FloatOp OP>
Handler select_vectorised(const FloatForm& form) {
    if (form.type == ptx::Type::F64) {
        return form.flushes ? map_lanes<UpperHalf<OP>, double, double>
                            : map_lanes<Function<OP, double, false>, double, double>;
    }
    return form.flushes ? map_lanes<Function<OP, float, true>, float, float>
                        : map_lanes<Function<OP, float, false>, float, float>;
}

template <FloatOp OP>
Handler select_single(const FloatForm& form) {
    if (form.type != ptx::Type::F32) {
        return nullptr;
    }
    return form.flushes ? map_lanes<Function<OP, float, true>, float, float>
                        : map_lanes<Function<OP, float, false>, float, float>;
}

} // namespace

Handler select_math(const FloatForm& form) {
    switch (form.op) {
    case FloatOp::Rcp:
        return select_vectorised<FloatOp::Rcp>(form);
    case FloatOp::Sqrt:
        return select_vectorised<FloatOp::Sqrt>(form);
    case FloatOp::Rsqrt:
        return select_vectorised<FloatOp::Rsqrt>(form);
    case FloatOp::Sin:
        return select_single<FloatOp::Sin>(form);
    case FloatOp::Cos:
        return select_single<FloatOp::Cos>(form);
    case FloatOp::Lg2:
        return select_single<FloatOp::Lg2>(form);
    case FloatOp::Ex2:
        return select_single<FloatOp::Ex2>(form);
    case FloatOp::Tanh:
        return select_single<FloatOp::Tanh>(form);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
