// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Building blocks of floating-point handlers: flushing, saturation, NaN and rounding.
//
// PTX differs from x86 here. A NaN result in single precision is always 0x7fffffff. .ftz is a
// property of one instruction. min and max prefer a number to a NaN and order -0 below +0.

#pragma once

#include "interp/handlers/common.hpp"

#if !defined(__x86_64__)
#include <fenv.h>
#endif

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

constexpr std::uint32_t CANONICAL_NAN = 0x7fffffffu;

[[gnu::always_inline]] inline float float_from(std::uint32_t bits) {
    return __builtin_bit_cast(float, bits);
}

[[gnu::always_inline]] inline std::uint32_t bits_from(float value) {
    return __builtin_bit_cast(std::uint32_t, value);
}

[[gnu::always_inline]] inline double double_from(std::uint64_t bits) {
    return __builtin_bit_cast(double, bits);
}

[[gnu::always_inline]] inline std::uint64_t bits_from(double value) {
    return __builtin_bit_cast(std::uint64_t, value);
}

/// Replaces subnormal lanes by zeros of the same sign.
[[gnu::always_inline]] inline Vector<float> flush(Vector<float> value) {
    using V = Vector<std::uint32_t>;
    const V bits = reinterpret_cast<V>(value);
    const V flushed = (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
    return reinterpret_cast<Vector<float>>(flushed);
}

[[gnu::always_inline]] inline float flush(float value) {
    const std::uint32_t bits = bits_from(value);
    return (bits & 0x7f800000u) == 0 ? float_from(bits & 0x80000000u) : value;
}

[[gnu::always_inline]] inline double flush(double value) {
    return value;
}

/// Replaces NaN lanes of single precision by the canonical NaN.
[[gnu::always_inline]] inline Vector<float> canonical(Vector<float> value) {
    return value != value ? broadcast<float>(float_from(CANONICAL_NAN)) : value;
}

[[gnu::always_inline]] inline float canonical(float value) {
    return value != value ? float_from(CANONICAL_NAN) : value;
}

[[gnu::always_inline]] inline Vector<double> canonical(Vector<double> value) {
    return value;
}

[[gnu::always_inline]] inline double canonical(double value) {
    return value;
}

/// Clamps to [0, 1]; a NaN becomes +0.
template <typename V>
[[gnu::always_inline]] inline V saturate(V value) {
    const V zero{};
    const V one = zero + 1;
    value = value > zero ? value : zero;
    return value < one ? value : one;
}

[[gnu::always_inline]] inline Vector<float> fused(Vector<float> a, Vector<float> b,
                                                  Vector<float> c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#else
    for (unsigned i = 0; i < LANES<float>; ++i) {
        a[i] = __builtin_fmaf(a[i], b[i], c[i]);
    }
    return a;
#endif
}

[[gnu::always_inline]] inline Vector<double> fused(Vector<double> a, Vector<double> b,
                                                   Vector<double> c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
    return _mm256_fmadd_pd(a, b, c);
#else
    for (unsigned i = 0; i < LANES<double>; ++i) {
        a[i] = __builtin_fma(a[i], b[i], c[i]);
    }
    return a;
#endif
}

[[gnu::always_inline]] inline float fused(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

[[gnu::always_inline]] inline double fused(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

[[gnu::always_inline]] inline float root(float value) {
    return __builtin_sqrtf(value);
}

[[gnu::always_inline]] inline double root(double value) {
    return __builtin_sqrt(value);
}

/// A scope with another rounding direction of the processor. On x86 it can also make the processor
/// flush subnormal results to zero.
///
/// NOTE: the compiler does not know about this. Code inside must read its inputs from memory that
/// others can see after construction, and pass its results to `keep` before destruction. Both act
/// as barriers that the arithmetic cannot cross.
class RoundingScope {
public:
    [[gnu::always_inline]] explicit RoundingScope(Rounding rounding, bool flushes = false) {
#if defined(__x86_64__)
        saved_ = _mm_getcsr();
        _mm_setcsr((saved_ & ~0xe000u) | static_cast<unsigned>(rounding) << 13 |
                   (flushes ? 0x8000u : 0u));
#else
        (void)flushes;
        saved_ = static_cast<unsigned>(fegetround());
        constexpr int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
        fesetround(modes[static_cast<unsigned>(rounding)]);
#endif
        asm volatile("" ::: "memory");
    }

    [[gnu::always_inline]] ~RoundingScope() {
        asm volatile("" ::: "memory");
#if defined(__x86_64__)
        _mm_setcsr(saved_);
#else
        fesetround(static_cast<int>(saved_));
#endif
    }

    RoundingScope(const RoundingScope&) = delete;
    RoundingScope& operator=(const RoundingScope&) = delete;

    /// Ensures that everything stored at `results` is computed before the direction is restored.
    [[gnu::always_inline]] void keep(const void* results) const {
        asm volatile("" ::"r"(results) : "memory");
    }

private:
    unsigned saved_;
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
