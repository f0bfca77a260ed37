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

template <ptx::Type TYPE>
struct FloatNamed {
    using T = float;
};

template <>
struct FloatNamed<ptx::Type::F64> {
    using T = double;
};

/// The type of a lane: float or double.
template <ptx::Type TYPE>
using FloatOf = typename FloatNamed<TYPE>::T;

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

/// Returns whether a lane of some vectors is a NaN.
template <unsigned COUNT>
[[gnu::always_inline]] inline bool has_nan(const Vector<float> (&values)[COUNT]) {
    static_assert(COUNT % 2 == 0); // a comparison tests two vectors at once
#if defined(__AVX512F__)
    __mmask16 unordered = 0;
    for (unsigned i = 0; i < COUNT; i += 2) {
        unordered |= _mm512_cmp_ps_mask(values[i], values[i + 1], _CMP_UNORD_Q);
    }
    return unordered != 0;
#elif defined(__AVX2__)
    Vector<float> unordered = _mm256_cmp_ps(values[0], values[1], _CMP_UNORD_Q);
    for (unsigned i = 2; i < COUNT; i += 2) {
        unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(values[i], values[i + 1], _CMP_UNORD_Q));
    }
    return _mm256_movemask_ps(unordered) != 0;
#else
    auto unordered = values[0] != values[0];
    for (unsigned i = 1; i < COUNT; ++i) {
        unordered |= values[i] != values[i];
    }
    return sign_bits<std::int32_t>(unordered) != 0;
#endif
}

/// Replaces NaN lanes of some vectors by the canonical NaN.
///
/// NaNs are rare. The processor predicts that there is none, so an instruction that uses the values
/// need not wait for the test, as it would for a blend.
template <unsigned COUNT>
[[gnu::always_inline]] inline void make_canonical(Vector<float> (&values)[COUNT]) {
    if (has_nan(values)) [[unlikely]] {
        for (Vector<float>& value : values) {
            value = canonical(value);
        }
    }
}

/// Makes the NaNs of a register canonical and stores the lanes of `mask`.
[[gnu::always_inline]] inline void store_canonical(std::byte* to,
                                                   Vector<float> (&values)[CHUNKS<float>],
                                                   std::uint32_t mask = FULL_MASK) {
    make_canonical(values);
    if (mask == FULL_MASK) [[likely]] {
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            store<float>(to, chunk, values[chunk]);
        }
    } else {
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            store_masked<float>(to, chunk, values[chunk], mask);
        }
    }
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

template <FloatOp OP, typename V>
[[gnu::always_inline]] inline V compute(V a, [[maybe_unused]] V b, [[maybe_unused]] V c) {
    if constexpr (OP == FloatOp::Add) {
        return a + b;
    } else if constexpr (OP == FloatOp::Sub) {
        return a - b;
    } else if constexpr (OP == FloatOp::Mul) {
        return a * b;
    } else if constexpr (OP == FloatOp::Fma) {
        return fused(a, b, c);
    } else if constexpr (OP == FloatOp::Div) {
        return a / b;
    } else if constexpr (OP == FloatOp::Rcp) {
        return V{1} / a;
    } else {
        static_assert(OP == FloatOp::Sqrt);
        return root(a);
    }
}

/// Returns whether PTX flushes a result that was rounded to the smallest normal number, 2^-126.
///
/// It does if the result, rounded to 24 bits with unlimited exponent, is smaller. This computes the
/// operation again with inputs that are scaled by 2^64, which changes no rounding: a factor beside
/// such a result is below 2^-62, and the sum of fma can only be so small if `c` is below 2^-78.
template <FloatOp OP>
[[gnu::always_inline]] inline bool is_flushed_at_smallest_normal(float a, float b, float c) {
    constexpr float scale = 0x1p64f;
    constexpr float scaled_smallest = 0x1p-62f;
    const bool scales_a = __builtin_fabsf(a) < __builtin_fabsf(b);
    const float x = scales_a ? a * scale : a;
    const float y = scales_a ? b : b * scale;
    float result = 0.0f;
    if constexpr (OP == FloatOp::Mul) {
        result = x * y;
    } else if constexpr (OP == FloatOp::Fma) {
        result = fused(x, y, c * scale);
    } else if constexpr (OP == FloatOp::Div) {
        result = a * scale / b;
    } else if constexpr (OP == FloatOp::Rcp) {
        result = scale / a;
    } else {
        return false; // sums of normal numbers are exact here, and roots are larger
    }
    return __builtin_fabsf(result) < scaled_smallest;
}

/// Replaces a result by zero if it only rounds up to the smallest normal number because subnormal
/// numbers have fewer bits.
template <FloatOp OP>
[[gnu::always_inline]] inline float flush_smallest_normal(float result, float a, float b, float c) {
    const std::uint32_t bits = bits_from(result);
    const bool is_flushed =
        (bits & 0x7fffffffu) == 0x00800000u && is_flushed_at_smallest_normal<OP>(a, b, c);
    return is_flushed ? float_from(bits & 0x80000000u) : result;
}

template <FloatOp OP>
[[gnu::always_inline]] inline double flush_smallest_normal(double result, double, double, double) {
    return result;
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
