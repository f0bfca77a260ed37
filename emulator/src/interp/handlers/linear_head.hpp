// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A LinearHead as a vector: one register of AVX-512, two of AVX2.

#pragma once

#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

constexpr unsigned STEP_BITS = 0x3e; // mask of the places of a head that are steps
constexpr unsigned VARIED_PLACE = 7; // of the flag that only the lanes hold the value

#if defined(__AVX512F__)

/// The base, five steps and two flags.
typedef std::uint64_t Head __attribute__((vector_size(64)));
typedef std::uint64_t HeadMemory __attribute__((vector_size(64), aligned(64), may_alias));

[[gnu::always_inline]] inline Head load_head(const void* from) {
    return *static_cast<const HeadMemory*>(from);
}

[[gnu::always_inline]] inline void store_head(void* to, Head value) {
    *static_cast<HeadMemory*>(to) = value;
}

/// Returns the mask of places of a head that are not zero.
[[gnu::always_inline]] inline unsigned nonzero_places(Head value) {
    const auto bits = reinterpret_cast<__m512i>(value);
    return _mm512_test_epi64_mask(bits, bits);
}

/// Returns the mask of places that are at least `limit`.
[[gnu::always_inline]] inline unsigned places_at_least(Head value, Head limit) {
    return _mm512_cmpge_epu64_mask(reinterpret_cast<__m512i>(value),
                                   reinterpret_cast<__m512i>(limit));
}

/// Returns the sign-extended lower 32 bits of each place.
[[gnu::always_inline]] inline Head sign_extended(Head value) {
    typedef std::int64_t Signed __attribute__((vector_size(64)));
    return reinterpret_cast<Head>(reinterpret_cast<Signed>(value << 32) >> 32);
}

/// Returns the negative places, and zero for the others.
[[gnu::always_inline]] inline Head negative_part(Head value) {
    typedef std::int64_t Signed __attribute__((vector_size(64)));
    const auto numbers = reinterpret_cast<Signed>(value);
    return reinterpret_cast<Head>(numbers < 0 ? numbers : Signed{});
}

/// Returns whether base and steps hold the value, for a head that was loaded from `words`.
///
/// NOTE: not a load of the flag alone. After a store of 64 bytes, single words of the upper half
/// reach a load much later than all 64 bytes do.
[[gnu::always_inline]] inline bool is_head_valid(Head value,
                                                 const Aliased<std::uint64_t>::Value* /*words*/) {
    return (nonzero_places(value) & 1u << VARIED_PLACE) == 0;
}

[[gnu::always_inline]] inline bool has_negative_steps(Head value) {
    return (_mm512_movepi64_mask(reinterpret_cast<__m512i>(value)) & STEP_BITS) != 0;
}

[[gnu::always_inline]] inline std::uint64_t sum_of_steps(Head value) {
    typedef std::uint64_t Half __attribute__((vector_size(32)));
    typedef std::uint64_t Quarter __attribute__((vector_size(16)));
    const auto steps =
        reinterpret_cast<Head>(_mm512_maskz_mov_epi64(STEP_BITS, reinterpret_cast<__m512i>(value)));
    const Half half = __builtin_shufflevector(steps, steps, 0, 1, 2, 3) +
                      __builtin_shufflevector(steps, steps, 4, 5, 6, 7);
    const Quarter quarter =
        __builtin_shufflevector(half, half, 0, 1) + __builtin_shufflevector(half, half, 2, 3);
    return quarter[0] + quarter[1];
}

#else

/// The base, five steps and two flags.
///
/// NOTE: not a 64-byte vector. On processors with shorter registers, compilers keep such a vector
/// in memory and split it at every step.
struct Head {
    typedef std::uint64_t Half __attribute__((vector_size(32)));

    Half low;
    Half high;

    Head() = default;

    [[gnu::always_inline]] constexpr Head(Half low, Half high) : low(low), high(high) {}

    [[gnu::always_inline]] constexpr explicit Head(std::uint64_t base, std::uint64_t step_1 = 0,
                                                   std::uint64_t step_2 = 0,
                                                   std::uint64_t step_3 = 0,
                                                   std::uint64_t step_4 = 0,
                                                   std::uint64_t step_5 = 0, std::uint64_t = 0,
                                                   std::uint64_t = 0)
        : low{base, step_1, step_2, step_3}, high{step_4, step_5, 0, 0} {}

    [[gnu::always_inline]] std::uint64_t operator[](unsigned place) const {
        return place < 4 ? low[place] : high[place - 4];
    }

    [[gnu::always_inline]] Head& operator+=(Head other) {
        low += other.low;
        high += other.high;
        return *this;
    }

    [[gnu::always_inline]] friend Head operator+(Head a, Head b) {
        return {a.low + b.low, a.high + b.high};
    }

    [[gnu::always_inline]] friend Head operator-(Head a, Head b) {
        return {a.low - b.low, a.high - b.high};
    }

    [[gnu::always_inline]] friend Head operator*(Head a, std::uint64_t b) {
        return {a.low * b, a.high * b};
    }

    [[gnu::always_inline]] friend Head operator<<(Head a, std::uint64_t bits) {
        return {a.low << bits, a.high << bits};
    }

    [[gnu::always_inline]] friend Head operator&(Head a, Head b) {
        return {a.low & b.low, a.high & b.high};
    }

    [[gnu::always_inline]] friend Head operator|(Head a, Head b) {
        return {a.low | b.low, a.high | b.high};
    }

    [[gnu::always_inline]] friend Head operator^(Head a, Head b) {
        return {a.low ^ b.low, a.high ^ b.high};
    }
};

typedef std::uint64_t HalfMemory __attribute__((vector_size(32), aligned(32), may_alias));

[[gnu::always_inline]] inline Head load_head(const void* from) {
    const auto* const halves = static_cast<const HalfMemory*>(from);
    return {halves[0], halves[1]};
}

[[gnu::always_inline]] inline void store_head(void* to, Head value) {
    auto* const halves = static_cast<HalfMemory*>(to);
    halves[0] = value.low;
    halves[1] = value.high;
}

/// Returns the set places of a mask as bits.
[[gnu::always_inline]] inline unsigned places_of(Head::Half mask) {
#if defined(__AVX2__)
    return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
#else
    unsigned places = 0;
    for (unsigned i = 0; i < 4; ++i) {
        places |= static_cast<unsigned>(mask[i] != 0) << i;
    }
    return places;
#endif
}

/// Returns the mask of places of a head that are not zero.
[[gnu::always_inline]] inline unsigned nonzero_places(Head value) {
    const auto zeros = [](Head::Half half) {
        return places_of(reinterpret_cast<Head::Half>(half == Head::Half{}));
    };
    return (zeros(value.low) | zeros(value.high) << 4) ^ 0xff;
}

/// Returns the mask of places that are at least `limit`.
[[gnu::always_inline]] inline unsigned places_at_least(Head value, Head limit) {
    return places_of(reinterpret_cast<Head::Half>(value.low >= limit.low)) |
           places_of(reinterpret_cast<Head::Half>(value.high >= limit.high)) << 4;
}

/// Returns the sign-extended lower 32 bits of each place.
[[gnu::always_inline]] inline Head sign_extended(Head value) {
    // AVX2 lacks the arithmetic shift of 64-bit values.
    const auto extend = [](Head::Half half) {
        constexpr std::uint64_t sign = 0x80000000;
        return ((half & 0xffffffff) ^ sign) - sign;
    };
    return {extend(value.low), extend(value.high)};
}

/// Returns the negative places, and zero for the others.
[[gnu::always_inline]] inline Head negative_part(Head value) {
    typedef std::int64_t Signed __attribute__((vector_size(32)));
    const auto part = [](Head::Half half) {
        return half & reinterpret_cast<Head::Half>(reinterpret_cast<Signed>(half) < 0);
    };
    return {part(value.low), part(value.high)};
}

/// Returns whether base and steps hold the value, for a head that was loaded from `words`.
[[gnu::always_inline]] inline bool is_head_valid(Head /*value*/,
                                                 const Aliased<std::uint64_t>::Value* words) {
    return words[VARIED_PLACE] == 0;
}

[[gnu::always_inline]] inline bool has_negative_steps(Head value) {
    typedef std::int64_t Signed __attribute__((vector_size(32)));
    const Head::Half steps =
        (value.low & Head::Half{0, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}) |
        (value.high & Head::Half{~std::uint64_t{0}, ~std::uint64_t{0}, 0, 0});
    return places_of(reinterpret_cast<Head::Half>(reinterpret_cast<Signed>(steps) < 0)) != 0;
}

[[gnu::always_inline]] inline std::uint64_t sum_of_steps(Head value) {
    typedef std::uint64_t Quarter __attribute__((vector_size(16)));
    const Head::Half sums =
        (value.low & Head::Half{0, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}) +
        (value.high & Head::Half{~std::uint64_t{0}, ~std::uint64_t{0}, 0, 0});
    const Quarter quarter =
        __builtin_shufflevector(sums, sums, 0, 1) + __builtin_shufflevector(sums, sums, 2, 3);
    return quarter[0] + quarter[1];
}

#endif

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
