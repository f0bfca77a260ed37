// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The number formats of matrices: elements of factors and accumulators as floats and integers.

#include "interp/handlers/functions.hpp"
#include "interp/handlers/matrix_product.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using E = MatrixElement;

/// An element of which COUNT make a word. Elements of four bits are stored two per byte.
template <unsigned COUNT>
struct PackedOf {
    using Type = Aliased<std::uint8_t>::Value;
};

template <>
struct PackedOf<1> {
    using Type = Aliased<std::uint32_t>::Value;
};

template <>
struct PackedOf<2> {
    using Type = Aliased<std::uint16_t>::Value;
};

template <unsigned COUNT>
using Packed = typename PackedOf<COUNT>::Type;

/// Widens a number with a sign and the given exponent and fraction bits, in a format without
/// infinity and NaN.
template <unsigned EXPONENT_BITS, unsigned FRACTION_BITS>
[[gnu::always_inline]] inline float widen_finite(std::uint32_t bits) {
    constexpr unsigned SIGN_BIT = EXPONENT_BITS + FRACTION_BITS;
    // The factor moves the exponent's bias to 127 and normalises subnormal numbers.
    constexpr std::uint32_t BIAS = (1u << (EXPONENT_BITS - 1)) - 1;
    const std::uint32_t magnitude = bits & ((1u << SIGN_BIT) - 1);
    const float value =
        float_from(magnitude << (23 - FRACTION_BITS)) * float_from((254u - BIAS) << 23);
    return float_from(bits_from(value) | (bits >> SIGN_BIT & 1) << 31);
}

template <MatrixElement ELEMENT>
[[gnu::always_inline]] inline float widen(std::uint32_t bits) {
    if constexpr (ELEMENT == E::F16) {
        return half_to_float(bits);
    } else if constexpr (ELEMENT == E::BF16) {
        return bfloat_to_float(bits);
    } else if constexpr (ELEMENT == E::TF32) {
        return float_from(bits & 0xffffe000u);
    } else if constexpr (ELEMENT == E::E5M2) {
        return half_to_float(bits << 8); // e5m2 is an f16 without the last eight bits
    } else if constexpr (ELEMENT == E::E4M3) {
        const float value = widen_finite<4, 3>(bits);
        return (bits & 0x7fu) == 0x7fu ? float_from(CANONICAL_NAN) : value;
    } else if constexpr (ELEMENT == E::E3M2) {
        return widen_finite<3, 2>(bits);
    } else if constexpr (ELEMENT == E::E2M3) {
        return widen_finite<2, 3>(bits);
    } else if constexpr (ELEMENT == E::E2M1) {
        return widen_finite<2, 1>(bits >> 2);
    } else {
        return widen_finite<2, 1>(bits);
    }
}

/// Widens all elements of an image of `words` words.
template <MatrixElement ELEMENT, unsigned PER_WORD>
void widen_image(const std::uint32_t* image, unsigned words, float* to) {
#if defined(__F16C__)
    if constexpr (ELEMENT == E::F16) {
        for (unsigned i = 0; i < words; i += 4) {
            const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(image + i));
            _mm256_storeu_ps(to + i * 2, _mm256_cvtph_ps(halves));
        }
        return;
    }
#endif
    const auto* const elements = reinterpret_cast<const Packed<PER_WORD>*>(image);
    for (unsigned i = 0; i < words * PER_WORD; ++i) {
        to[i] = widen<ELEMENT>(elements[i]);
    }
}

void widen_packed_e2m1(const std::uint32_t* image, unsigned words, float* to) {
    const auto* const bytes = reinterpret_cast<const Packed<4>*>(image);
    for (unsigned i = 0; i < words * 4; ++i) {
        to[2 * i] = widen<E::PackedE2M1>(bytes[i]);
        to[2 * i + 1] = widen<E::PackedE2M1>(std::uint32_t{bytes[i]} >> 4);
    }
}

template <unsigned BITS, bool IS_SIGNED>
void widen_integers(const std::uint32_t* image, unsigned words, std::uint32_t* to) {
    // 4-bit elements come in pairs. Each in turn is moved to the top of a byte.
    constexpr unsigned PER_BYTE = 8 / BITS;
    const auto* const bytes = reinterpret_cast<const Packed<4>*>(image);
    for (unsigned i = 0; i < words * 4; ++i) {
        for (unsigned part = 0; part < PER_BYTE; ++part) {
            const auto top = static_cast<std::uint8_t>(bytes[i] << (8 - BITS - part * BITS));
            const int value = IS_SIGNED ? static_cast<std::int8_t>(top) : int{top};
            to[i * PER_BYTE + part] = static_cast<std::uint32_t>(value >> (8 - BITS));
        }
    }
}

/// Adds two numbers, and saturates to the range of an int if requested.
[[gnu::always_inline]] inline std::uint32_t add_result(std::uint32_t c, std::uint32_t sum,
                                                       bool is_saturating) {
    if (!is_saturating) {
        return c + sum;
    }
    constexpr std::int64_t LARGEST = 0x7fffffff;
    const std::int64_t value =
        std::int64_t{static_cast<std::int32_t>(c)} + std::int64_t{static_cast<std::int32_t>(sum)};
    const std::int64_t clamped =
        value > LARGEST ? LARGEST : (value < -LARGEST - 1 ? -LARGEST - 1 : value);
    return static_cast<std::uint32_t>(clamped);
}

} // namespace

void widen_elements(MatrixElement element, const std::uint32_t* image, unsigned words, float* to) {
    switch (element) {
    case E::F16:
        return widen_image<E::F16, 2>(image, words, to);
    case E::BF16:
        return widen_image<E::BF16, 2>(image, words, to);
    case E::TF32:
        return widen_image<E::TF32, 1>(image, words, to);
    case E::E4M3:
        return widen_image<E::E4M3, 4>(image, words, to);
    case E::E5M2:
        return widen_image<E::E5M2, 4>(image, words, to);
    case E::E3M2:
        return widen_image<E::E3M2, 4>(image, words, to);
    case E::E2M3:
        return widen_image<E::E2M3, 4>(image, words, to);
    case E::E2M1:
        return widen_image<E::E2M1, 4>(image, words, to);
    default:
        return widen_packed_e2m1(image, words, to);
    }
}

void widen_elements(MatrixElement element, const std::uint32_t* image, unsigned words,
                    std::uint32_t* to) {
    switch (element) {
    case E::S8:
        return widen_integers<8, true>(image, words, to);
    case E::U8:
        return widen_integers<8, false>(image, words, to);
    case E::S4:
        return widen_integers<4, true>(image, words, to);
    default:
        return widen_integers<4, false>(image, words, to);
    }
}

void gather_floats(const WarpContext& warp, const Instruction* at, const Product& product,
                   unsigned first, float* result) {
    alignas(VECTOR_BYTES) std::uint32_t image[MAX_IMAGE_WORDS];
    const unsigned results = product.m * product.n;
    gather_result(warp, at, product, first, image);
    if (product.c == E::F16) {
        widen_image<E::F16, 2>(image, results / 2, result);
    } else {
        __builtin_memcpy(result, image, results * sizeof(float));
    }
}

void scatter_floats(const WarpContext& warp, const Instruction* at, const Product& product,
                    const float* result, std::uint32_t mask) {
    alignas(VECTOR_BYTES) std::uint32_t image[MAX_IMAGE_WORDS];
    const unsigned results = product.m * product.n;
    if (product.d == E::F16) {
        for (unsigned i = 0; i < results / 2; ++i) {
            image[i] = float_to_half(result[2 * i]) | float_to_half(result[2 * i + 1]) << 16;
        }
    } else {
        for (unsigned i = 0; i < results; ++i) {
            image[i] = bits_from(canonical(result[i]));
        }
    }
    scatter_result(warp, at, product, image, mask);
}

void add_integers(const WarpContext& warp, const Instruction* at, const Product& product,
                  unsigned first, const std::uint32_t* sums, std::uint32_t mask) {
    alignas(VECTOR_BYTES) std::uint32_t image[MAX_IMAGE_WORDS];
    gather_result(warp, at, product, first, image);
    const bool is_saturating = (at->tag & MATRIX_SATURATING) != 0;
    for (unsigned i = 0; i < product.m * product.n; ++i) {
        image[i] = add_result(image[i], sums[i], is_saturating);
    }
    scatter_result(warp, at, product, image, mask);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
