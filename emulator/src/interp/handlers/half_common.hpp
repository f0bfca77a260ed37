// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// 16-bit floating point: f16 (5 bits of exponent, 10 of fraction) and bf16 (8 and 7).
//
// Both are computed in wider precision and rounded once. For +, - and *, single precision is wide
// enough that rounding twice changes nothing. fma needs the sum rounded to odd first.

#pragma once

#include "interp/handlers/float_common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

constexpr std::uint32_t HALF_NAN = 0x7fffu;

[[gnu::always_inline]] inline float half_to_float(std::uint32_t half) {
    const std::uint32_t magnitude = (half & 0x7fffu) << 13;
    // 2^112 moves the exponent's bias from 15 to 127 and normalises subnormal numbers.
    const float scaled = float_from(magnitude) * float_from(0x77800000u);
    const std::uint32_t special = magnitude | 0x7f800000u;
    const std::uint32_t bits = magnitude >= 0x0f800000u ? special : bits_from(scaled);
    return float_from(bits | (half & 0x8000u) << 16);
}

/// Rounds to nearest even. A NaN becomes 0x7fff.
[[gnu::always_inline]] inline std::uint32_t float_to_half(float value) {
    const std::uint32_t bits = bits_from(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    // Adding 0.5 aligns the last bit of a subnormal half with the last bit of the sum, so the sum
    // rounds there.
    const std::uint32_t subnormal =
        bits_from(float_from(magnitude) + float_from(0x3f000000u)) - 0x3f000000u;
    const std::uint32_t odd = magnitude >> 13 & 1;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
    result = magnitude >= 0x47800000u ? 0x7c00u : result;
    return magnitude > 0x7f800000u ? HALF_NAN : result | sign;
}

[[gnu::always_inline]] inline float bfloat_to_float(std::uint32_t bfloat) {
    return float_from(bfloat << 16);
}

[[gnu::always_inline]] inline std::uint32_t float_to_bfloat(float value) {
    const std::uint32_t bits = bits_from(value);
    const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return value != value ? HALF_NAN : rounded;
}

/// The functions of one of the two formats, for templates.
template <bool BFLOAT>
struct HalfFormat {
    [[gnu::always_inline]] static float widen(std::uint32_t bits) {
        return BFLOAT ? bfloat_to_float(bits) : half_to_float(bits);
    }

    [[gnu::always_inline]] static std::uint32_t narrow(float value) {
        return BFLOAT ? float_to_bfloat(value) : float_to_half(value);
    }
};

/// The target format and rounding of a conversion to fewer bits.
struct Encoding {
    int exponent_bits;
    int fraction_bits;
    Rounding rounding;
    bool rounds_away;      // halfway cases away from zero instead of to even
    bool has_infinity;     // the largest exponent encodes infinity and NaN
    std::uint32_t largest; // bits of the largest finite magnitude
};

/// Rounds a number (not a NaN) to a format and returns its bits without the sign. If it exceeds the
/// largest number, sets `overflows` and returns the largest.
inline std::uint32_t encode_magnitude(double value, const Encoding& to, bool& overflows) {
    const std::uint64_t bits = bits_from(value);
    const bool is_negative = (bits >> 63) != 0;
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t fraction = bits & 0xfffffffffffffu;
    overflows = false;
    if (field == 0 && fraction == 0) {
        return 0;
    }
    if (field == 0x7ff) {
        overflows = true;
        return to.largest;
    }
    const std::uint64_t mantissa = field == 0 ? fraction : fraction | std::uint64_t{1} << 52;
    const int exponent = field == 0 ? -1022 : field - 1023;
    const int lowest = 2 - (1 << (to.exponent_bits - 1));
    const int quantum = (exponent > lowest ? exponent : lowest) - to.fraction_bits;
    int dropped = quantum - (exponent - 52);
    dropped = dropped > 62 ? 62 : dropped;
    const std::uint64_t kept = mantissa >> dropped;
    const std::uint64_t rest = mantissa & ((std::uint64_t{1} << dropped) - 1);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    bool rounds_up = false;
    switch (to.rounding) {
    case Rounding::Nearest:
        rounds_up = rest > half || (rest == half && (to.rounds_away || (kept & 1) != 0));
        break;
    case Rounding::Down:
        rounds_up = is_negative && rest != 0;
        break;
    case Rounding::Up:
        rounds_up = !is_negative && rest != 0;
        break;
    case Rounding::Zero:
        break;
    }
    const std::uint64_t step =
        exponent > lowest ? static_cast<std::uint64_t>(exponent - lowest) : 0;
    const std::uint64_t result = (step << to.fraction_bits) + kept + (rounds_up ? 1 : 0);
    if (result > to.largest) {
        overflows = true;
        return to.largest;
    }
    return static_cast<std::uint32_t>(result);
}

/// Returns whether a finite number beyond the largest rounds to it rather than to infinity.
[[gnu::always_inline]] inline bool stays_finite(Rounding rounding, bool is_negative) {
    return rounding == Rounding::Zero || (rounding == Rounding::Down && !is_negative) ||
           (rounding == Rounding::Up && is_negative);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
