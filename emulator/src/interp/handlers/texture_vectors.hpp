// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Vector operations of the texture handlers. A chunk is the lanes of one hardware vector.
//
// NOTE: the functions of AVX-512 have masks, because g++ 12 warns about its own headers for those
// without.

#pragma once

#include "interp/handlers/functions.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace texels {

using Ints = Vector<std::int32_t>;
using Words = Vector<std::uint32_t>;
using Floats = Vector<float>;

constexpr unsigned CHUNK_LANES = LANES<float>;
constexpr std::uint32_t CHUNK_MASK =
    static_cast<std::uint32_t>((std::uint64_t{1} << CHUNK_LANES) - 1);

#if defined(__AVX512F__)
constexpr __mmask16 ALL_WORDS = 0xffff;

#endif

/// Returns whether all bits are zero.
[[gnu::always_inline]] inline bool is_zero(Ints value) {
#if defined(__AVX512F__)
    const auto bits = reinterpret_cast<__m512i>(value);
    return _mm512_test_epi32_mask(bits, bits) == 0;
#elif defined(__AVX2__)
    const auto bits = reinterpret_cast<__m256i>(value);
    return _mm256_testz_si256(bits, bits) != 0;
#else
    return sign_bits<std::int32_t>(value != 0) == 0;
#endif
}

/// Returns which lanes of a comparison hold.
[[gnu::always_inline]] inline std::uint32_t lanes_where(Ints holds) {
    return sign_bits<std::int32_t>(holds);
}

template <typename V>
[[gnu::always_inline]] inline V smaller(V a, V b) {
    return a < b ? a : b;
}

template <typename V>
[[gnu::always_inline]] inline V larger(V a, V b) {
    return a > b ? a : b;
}

[[gnu::always_inline]] inline Ints all(std::int32_t value) {
    return broadcast<std::int32_t>(value);
}

// ---- constants ---------------------------------------------------------------------------------

/// A number in all lanes, in memory.
class Lanes {
public:
    constexpr explicit Lanes(std::uint32_t value) {
        for (std::uint32_t& each : words_) {
            each = value;
        }
    }

    [[gnu::always_inline]] Ints ints() const {
        return load<std::int32_t>(reinterpret_cast<const std::byte*>(words_), 0);
    }

    [[gnu::always_inline]] Words words() const {
        return load<std::uint32_t>(reinterpret_cast<const std::byte*>(words_), 0);
    }

    [[gnu::always_inline]] Floats floats() const {
        return load<float>(reinterpret_cast<const std::byte*>(words_), 0);
    }

private:
    alignas(VECTOR_BYTES) std::uint32_t words_[CHUNK_LANES] = {};
};

/// The constants of filters. The compiler must not see their values: with AVX2, it would
/// make each of them anew for every chunk, by three instructions.
struct Constants {
    Lanes weight_one{256};
    Lanes weight_half{128};
    Lanes weight_bits{255};
    Lanes half_texel{static_cast<std::uint32_t>(1 - 256)}; // in 1/512, less one for rounding
    Lanes texel{0x44000000};                               // 512.0
    Lanes magnitude{0x7fffffff};
    Lanes infinite{255u << 23};
    Lanes smallest{36u << 23};
    Lanes largest{254u << 23};
    Lanes to_units{281u << 23};
    Lanes from_units{35u << 23};
    Lanes low_parts{0x3fff3fff};
    Lanes high_part{0x46800000};     // 2^14
    Lanes half{0x3f000000};          // 0.5
    Lanes rounded{0x4b7fffff};       // just below 2^24
    Lanes smallest_half{113u << 23}; // that is not subnormal
    Lanes to_half_units{268u << 23};
    Lanes from_half_units{22u << 23};
    Lanes low_bits{0xffff};
    Lanes bytes{0x00ff00ff};
    Lanes fraction{0x37800000};      // 2^-16
    Lanes fraction_rest{0x2f800080}; // 2^-32 + 2^-48
};

constexpr Constants CONSTANTS;

[[gnu::always_inline]] inline const Constants& constants() {
    const Constants* place = &CONSTANTS;
    asm("" : "+r"(place));
    return *place;
}

// ---- pairs of 16 bits in a lane ----------------------------------------------------------------

/// Returns the low 16 bits of `low` and the high 16 bits of `high`.
[[gnu::always_inline]] inline Words blend_pairs(Words low, Words high) {
#if defined(__AVX512F__)
    return reinterpret_cast<Words>(_mm512_mask_blend_epi16(
        0xaaaaaaaau, reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(high)));
#elif defined(__AVX2__)
    return reinterpret_cast<Words>(
        _mm256_blend_epi16(reinterpret_cast<__m256i>(low), reinterpret_cast<__m256i>(high), 0xaa));
#else
    return (low & 0xffffu) | (high & 0xffff0000u);
#endif
}

/// Returns the low 16 bits of `low` and of `high`.
[[gnu::always_inline]] inline Words make_pairs(Words low, Words high) {
    return blend_pairs(low, high << 16);
}

/// Returns a.low * b.low + a.high * b.high of signed numbers.
[[gnu::always_inline]] inline Ints multiply_pairs(Words a, Words b) {
#if defined(__AVX512F__)
    return reinterpret_cast<Ints>(_mm512_maskz_madd_epi16(ALL_WORDS, reinterpret_cast<__m512i>(a),
                                                          reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
    return reinterpret_cast<Ints>(
        _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
    const auto x = reinterpret_cast<Ints>(a);
    const auto y = reinterpret_cast<Ints>(b);
    return (x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16);
#endif
}

/// Returns the low 16 bits of the products of both halves.
[[gnu::always_inline]] inline Words multiply_halves(Words a, Words b) {
    typedef std::uint16_t Shorts __attribute__((vector_size(VECTOR_BYTES)));
    return reinterpret_cast<Words>(reinterpret_cast<Shorts>(a) * reinterpret_cast<Shorts>(b));
}

/// Returns the product of numbers from 0 to 32767.
[[gnu::always_inline]] inline Ints multiply_small(Ints a, Ints b) {
    return multiply_pairs(reinterpret_cast<Words>(a), reinterpret_cast<Words>(b));
}

// ---- double precision --------------------------------------------------------------------------

typedef double Doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef float HalfFloats __attribute__((vector_size(VECTOR_BYTES / 2)));

/// The two halves of a vector of floats.
struct FloatHalves {
    HalfFloats of[2];
};

/// Returns half of the lanes as doubles.
[[gnu::always_inline]] inline Doubles widen(Floats value, unsigned half) {
    return __builtin_convertvector(__builtin_bit_cast(FloatHalves, value).of[half], Doubles);
}

/// Returns the doubles `compute(half)` of both halves, rounded to floats.
template <typename Compute>
[[gnu::always_inline]] inline Floats for_each_half(Compute compute) {
    const FloatHalves halves{{__builtin_convertvector(compute(0), HalfFloats),
                              __builtin_convertvector(compute(1), HalfFloats)}};
    return __builtin_bit_cast(Floats, halves);
}

/// Returns the largest whole numbers that are not larger.
[[gnu::always_inline]] inline Doubles round_down(Doubles value) {
#if defined(__AVX512F__)
    return _mm512_maskz_roundscale_pd(0xff, value, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif defined(__AVX2__)
    return _mm256_floor_pd(value);
#elif defined(__SSE4_1__)
    return _mm_floor_pd(value);
#else
    for (unsigned lane = 0; lane < CHUNK_LANES / 2; ++lane) {
        value[lane] = __builtin_floor(value[lane]);
    }
    return value;
#endif
}

// ---- half precision ----------------------------------------------------------------------------

/// Converts the low 16 bits of lanes. Other bits must be zero. NaN may have other bits.
[[gnu::always_inline]] inline Floats widen_halves(Words halves) {
#if defined(__AVX512F__)
    return _mm512_maskz_cvtph_ps(
        ALL_WORDS, _mm512_maskz_cvtepi32_epi16(ALL_WORDS, reinterpret_cast<__m512i>(halves)));
#elif defined(__F16C__)
    const auto words = reinterpret_cast<__m256i>(halves);
    return _mm256_cvtph_ps(
        _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
#else
    Floats floats{};
    for (unsigned lane = 0; lane < CHUNK_LANES; ++lane) {
        floats[lane] = half_to_float(std::uint32_t{halves[lane]});
    }
    return floats;
#endif
}

/// Converts a row of halves in memory. NaN may have other bits.
[[gnu::always_inline]] inline Floats widen_row(const std::byte* from) {
#if defined(__AVX512F__)
    return _mm512_maskz_cvtph_ps(ALL_WORDS,
                                 _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__F16C__)
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
    typedef std::uint16_t Pair __attribute__((aligned(1), may_alias));
    Floats floats{};
    for (unsigned lane = 0; lane < CHUNK_LANES; ++lane) {
        floats[lane] = half_to_float(std::uint32_t{reinterpret_cast<const Pair*>(from)[lane]});
    }
    return floats;
#endif
}

/// The same as widen_halves(), with the bits of NaN.
[[gnu::always_inline]] inline Floats widen_any_halves(Words halves) {
    const auto floats = reinterpret_cast<Words>(widen_halves(halves));
    const Words magnitude = halves << 13 & 0x0fffe000u;
    const Words sign = halves << 16 & 0x80000000u;
    return reinterpret_cast<Floats>(magnitude >= 0x0f800000u ? sign | magnitude | 0x7f800000u
                                                             : floats);
}

/// Rounds to half precision, to nearest even, and back.
[[gnu::always_inline]] inline Floats round_to_half(Floats value) {
#if defined(__AVX512F__)
    const __m256i halves =
        _mm512_maskz_cvtps_ph(ALL_WORDS, value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_maskz_cvtph_ps(ALL_WORDS, halves);
#elif defined(__F16C__)
    return _mm256_cvtph_ps(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
#else
    for (unsigned lane = 0; lane < CHUNK_LANES; ++lane) {
        value[lane] = half_to_float(float_to_half(value[lane]));
    }
    return value;
#endif
}

} // namespace texels

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
