// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The arithmetic of linear filters, for the texture handlers: what interp/texels.cpp does, with
// vectors. Both give the same bits.
//
// A filter adds up four texels. Their weights, in 1/256, add up to 256. Weights and numbers are
// kept as pairs of 16 bits in a lane, of which processors multiply and add two at a time.
//
// Floats become whole numbers first, in units of the largest texel's last place and 4 bits more, as
// a GPU does. Bits below are cut off. Such a number has 28 bits and a sign, so it is added up in
// two parts of 14 bits:
//
//   texel = high * 2^14 + low      sum = (Σ weight * high) * 2^14 + (Σ weight * low)
//
// Both sums are exact floats, so the last addition is the only one that rounds.
//
// A filter of a volume adds up four texels of each of two slices. Each slice has its own unit. The
// sum in the smaller unit is cut off to quarters of the larger one. Their weights add up to 256.

#pragma once

#include "interp/handlers/texture_reads.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace texels {

/// The weights of four texels.
struct Weights {
    Words upper; // pairs: left, right
    Words lower;

    /// Returns the weight of a texel in bits that are not zero if it is not zero.
    [[gnu::always_inline]] Words bits_of(unsigned corner) const {
        const Words pair = corner < 2 ? upper : lower;
        return corner % 2 == 0 ? pair << 16 : pair >> 16;
    }

    /// Returns the weight of a texel in both halves of a lane.
    [[gnu::always_inline]] Words twice(unsigned corner) const {
        const Words pair = corner < 2 ? upper : lower;
        return corner % 2 == 0 ? blend_pairs(pair, pair << 16) : blend_pairs(pair >> 16, pair);
    }
};

/// Splits the weight of a slice: columns first, then rows. Each part is rounded, and the other gets
/// the rest. `right` is the part of the right column.
[[gnu::always_inline]] inline Weights split_weight(Ints total, Ints right, Ints below) {
    const Ints one = constants().weight_one.ints();
    const Ints half = constants().weight_half.ints();
    const Ints left = total - right;
    const Ints right_bottom = (multiply_small(right, below) + half) >> 8;
    const Ints left_top = (multiply_small(left, one - below) + half) >> 8;
    const auto pair = [](Ints low, Ints high) __attribute__((always_inline)) {
        return reinterpret_cast<Words>(low | high << 16);
    };
    return {pair(left_top, right - right_bottom), pair(left - left_top, right_bottom)};
}

/// Finds the weights of the texels of one slice, or of both slices of a volume.
template <unsigned SLICES>
[[gnu::always_inline]] inline void find_weights(const Axis& x, const Slice (&slices)[SLICES],
                                                Weights (&weights)[SLICES]) {
    if constexpr (SLICES == 1) {
        weights[0] =
            split_weight(constants().weight_one.ints(), x.fraction, slices[0].rows.fraction);
        return;
    }
    for (unsigned i = 0; i < SLICES; ++i) {
        const Ints total = slices[i].weight;
        const Ints right =
            (multiply_small(total, x.fraction) + constants().weight_half.ints()) >> 8;
        weights[i] = split_weight(total, right, slices[i].rows.fraction);
    }
}

/// Returns whether a texel has no weight in any lane.
[[gnu::always_inline]] inline bool has_zero(const Weights& weights) {
    typedef std::int16_t Shorts __attribute__((vector_size(VECTOR_BYTES)));
    const auto is_zero_of = [](Words pairs) __attribute__((always_inline)) {
        return reinterpret_cast<Ints>(reinterpret_cast<Shorts>(pairs) == 0);
    };
    return !is_zero(is_zero_of(weights.upper) | is_zero_of(weights.lower));
}

/// Sets texels to zero that have no weight.
[[gnu::noinline]] inline void remove_unweighted(Words (&texels)[CORNERS], const Weights& weights) {
    for (unsigned i = 0; i < CORNERS; ++i) {
        texels[i] = weights.bits_of(i) != 0 ? texels[i] : Words{};
    }
}

/// Returns the largest of texels that are not negative, as bits.
[[gnu::always_inline]] inline Ints largest_of(const Words (&texels)[CORNERS]) {
    const auto bits = [&](unsigned i) __attribute__((always_inline)) {
        return reinterpret_cast<Ints>(texels[i]);
    };
    return larger(larger(bits(0), bits(1)), larger(bits(2), bits(3)));
}

/// Returns the largest magnitude, as bits.
[[gnu::always_inline]] inline Ints largest_magnitude(const Words (&texels)[CORNERS]) {
    Words magnitudes[CORNERS];
    for (unsigned i = 0; i < CORNERS; ++i) {
        magnitudes[i] = texels[i] & constants().magnitude.words();
    }
    return largest_of(magnitudes);
}

/// Returns the power of two whose exponent is that of a constant less the given one.
[[gnu::always_inline]] inline Floats inverse_power(Words constant, Ints exponent) {
    return reinterpret_cast<Floats>(constant - reinterpret_cast<Words>(exponent));
}

/// Returns a float that is multiplied by a power of two, as a whole number. Cuts off the rest.
[[gnu::always_inline]] inline Words to_whole(Words texel, Floats power) {
    return reinterpret_cast<Words>(
        __builtin_convertvector(reinterpret_cast<Floats>(texel) * power, Ints));
}

[[gnu::always_inline]] inline Ints sum_of_pairs(Words upper, Words lower, const Weights& weights) {
    return multiply_pairs(upper, weights.upper) + multiply_pairs(lower, weights.lower);
}

/// A sum of whole numbers: both parts are exact.
struct Sum {
    Floats high;
    Floats low;
};

/// Adds up floats whose largest magnitude has the exponent `exponent`, as whole numbers.
[[gnu::always_inline]] inline Sum sum_floats(const Words (&texels)[CORNERS], const Weights& weights,
                                             Ints exponent) {
    constexpr unsigned part_bits = 14;
    const Constants& constant = constants();
    const Floats to_units = inverse_power(constant.to_units.words(), exponent);
    Words numbers[CORNERS];
    for (unsigned i = 0; i < CORNERS; ++i) {
        numbers[i] = to_whole(texels[i], to_units);
    }
    const auto high_parts = [&](unsigned i) __attribute__((always_inline)) {
        const auto first = reinterpret_cast<Words>(reinterpret_cast<Ints>(numbers[i]) >> part_bits);
        return blend_pairs(first, numbers[i + 1] << (16 - part_bits));
    };
    const auto low_parts = [&](unsigned i) __attribute__((always_inline)) {
        return make_pairs(numbers[i], numbers[i + 1]) & constant.low_parts.words();
    };
    const Ints high_sum = sum_of_pairs(high_parts(0), high_parts(2), weights);
    const Ints low_sum = sum_of_pairs(low_parts(0), low_parts(2), weights);
    return {__builtin_convertvector(high_sum, Floats) * constant.high_part.floats(),
            __builtin_convertvector(low_sum, Floats)};
}

/// Adds up floats. HAS_SIGNS: some may be negative. Without, not all are zero.
template <bool HAS_SIGNS>
[[gnu::always_inline]] inline Floats add_floats(const Words (&texels)[CORNERS],
                                                const Weights& weights, Ints exponent) {
    const Constants& constant = constants();
    const auto [high, low] = sum_floats(texels, weights, exponent);
    // Halfway cases round away from zero. A sum that is rounded is a whole number of at least 2^24,
    // so half of one more changes only these. Sums without signs have at least 2^27.
    Words extra = constant.half.words();
    if constexpr (HAS_SIGNS) {
        const auto sum = reinterpret_cast<Words>(high + low);
        const Words magnitude = sum & constant.magnitude.words();
        const Ints is_rounded = reinterpret_cast<Ints>(magnitude) > constant.rounded.ints();
        extra = is_rounded ? extra | (sum ^ magnitude) : Words{};
    }
    const auto from_units = reinterpret_cast<Floats>(exponent - constant.from_units.ints());
    return (high + (low + reinterpret_cast<Floats>(extra))) * from_units;
}

/// Adds up floats of any kind. Adds the lanes with a number that is tiny or not finite to `missed`.
[[gnu::noinline]] inline Floats add_any_floats(const Words (&texels)[CORNERS],
                                               const Weights& weights, std::uint32_t& missed) {
    const Ints infinite = constants().infinite.ints();
    const Ints smallest = constants().smallest.ints(); // no result is subnormal
    const Ints exponent = largest_magnitude(texels) & infinite;
    // Sums of zeros and subnormal numbers are zero.
    missed |= lanes_where((exponent == infinite) | ((exponent < smallest) & (exponent != 0)));
    return add_floats<true>(texels, weights, larger(exponent, smallest));
}

/// Adds up four floats. Adds the lanes with a number that is tiny or not finite to `missed`.
[[gnu::always_inline]] inline Floats filter_slice(Words (&texels)[CORNERS], const Weights& weights,
                                                  std::uint32_t& missed) {
    if (has_zero(weights)) {
        remove_unweighted(texels, weights);
    }
    const Constants& constant = constants();
    const Words any = texels[0] | texels[1] | texels[2] | texels[3];
    const Ints exponent = largest_of(texels) & constant.infinite.ints();
    const Ints usual = smaller(larger(exponent, constant.smallest.ints()), constant.largest.ints());
    const auto sign = reinterpret_cast<Ints>(any & ~constant.magnitude.words());
    if (!is_zero((usual ^ exponent) | sign)) [[unlikely]] {
        return add_any_floats(texels, weights, missed);
    }
    return add_floats<false>(texels, weights, exponent);
}

/// Adds up the floats of two slices in the same way.
[[gnu::noinline]] inline Floats filter_slices(Words (&texels)[2][CORNERS],
                                              const Weights (&weights)[2], std::uint32_t& missed) {
    constexpr std::int32_t exponent_one = 1 << 23;
    const Ints infinite = constants().infinite.ints();
    const Ints smallest = all(38 * exponent_one); // quarters of units are not subnormal
    Ints exponents[2];
    Sum sums[2];
    for (unsigned i = 0; i < 2; ++i) {
        remove_unweighted(texels[i], weights[i]);
        const Ints exponent = largest_magnitude(texels[i]) & infinite;
        missed |= lanes_where((exponent == infinite) | ((exponent < smallest) & (exponent != 0)));
        exponents[i] = larger(exponent, smallest);
        sums[i] = sum_floats(texels[i], weights[i], exponents[i]);
    }
    const Ints largest = larger(exponents[0], exponents[1]);
    Floats to_quarters[2];
    for (unsigned i = 0; i < 2; ++i) {
        // Beyond a distance of 100, nothing or -1/4 is left.
        const Ints distance = smaller(largest - exponents[i], all(100 * exponent_one));
        to_quarters[i] = reinterpret_cast<Floats>(all(129 * exponent_one) - distance);
    }
    const Floats total = for_each_half([&](unsigned half) __attribute__((always_inline)) {
        Doubles quarters{};
        for (unsigned i = 0; i < 2; ++i) {
            const Doubles sum = widen(sums[i].high, half) + widen(sums[i].low, half);
            quarters += round_down(sum * widen(to_quarters[i], half));
        }
        // Halfway cases round away from zero, as in add_floats().
        const Doubles extra = quarters < 0 ? Doubles{} - 0.5 : Doubles{} + 0.5;
        const auto is_rounded = (quarters >= 0x1p24) | (quarters <= -0x1p24);
        return (quarters + (is_rounded ? extra : Doubles{})) * 0.25;
    });
    return total * reinterpret_cast<Floats>(largest - constants().from_units.ints());
}

/// Adds up the floats of one slice, or of both slices of a volume. Adds the lanes with a number
/// that is tiny or not finite to `missed`.
template <unsigned SLICES>
[[gnu::always_inline]] inline Floats filter_floats(Words (&texels)[SLICES][CORNERS],
                                                   const Weights (&weights)[SLICES],
                                                   std::uint32_t& missed) {
    if constexpr (SLICES == 1) {
        return filter_slice(texels[0], weights[0], missed);
    } else {
        return filter_slices(texels, weights, missed);
    }
}

/// Adds up numbers of half precision, given as floats. Adds the lanes with a number that is not
/// finite to `missed`.
template <unsigned SLICES>
[[gnu::always_inline]] inline Floats filter_halves(Words (&texels)[SLICES][CORNERS],
                                                   const Weights (&weights)[SLICES],
                                                   std::uint32_t& missed) {
    const Constants& constant = constants();
    const Ints infinite = constant.infinite.ints();
    Ints exponents[SLICES];
    Ints sums[SLICES];
    for (unsigned slice = 0; slice < SLICES; ++slice) {
        Words(&each)[CORNERS] = texels[slice];
        if (has_zero(weights[slice])) {
            remove_unweighted(each, weights[slice]);
        }
        const Ints field = largest_magnitude(each) & infinite;
        exponents[slice] = larger(field, constant.smallest_half.ints());
        const Ints is_odd = field == infinite;
        if (!is_zero(is_odd)) [[unlikely]] {
            missed |= lanes_where(is_odd);
        }
        const Floats to_units = inverse_power(constant.to_half_units.words(), exponents[slice]);
        Words numbers[CORNERS]; // of 15 bits and a sign
        for (unsigned i = 0; i < CORNERS; ++i) {
            numbers[i] = to_whole(each[i], to_units);
        }
        sums[slice] = sum_of_pairs(make_pairs(numbers[0], numbers[1]),
                                   make_pairs(numbers[2], numbers[3]), weights[slice]);
    }
    Ints sum = sums[0];
    Ints exponent = exponents[0];
    if constexpr (SLICES == 2) {
        const Ints largest = larger(exponents[0], exponents[1]);
        sum = (sums[0] * 4 >> ((largest - exponents[0]) >> 23)) +
              (sums[1] * 4 >> ((largest - exponents[1]) >> 23));
        // 26 bits. If there are more than 23, the last ones cannot matter.
        const Ints magnitude = larger(sum, -sum);
        const Ints cut = magnitude >= 1 << 23 ? magnitude & ~7 : magnitude;
        sum = sum < 0 ? -cut : cut;
        exponent = largest - all(2 << 23);
    }
    const auto from_units = reinterpret_cast<Floats>(exponent - constant.from_half_units.ints());
    // Sums have 23 bits. A bit more makes halfway cases round away from zero.
    const auto bits = reinterpret_cast<Ints>(__builtin_convertvector(sum, Floats)) - (sum != 0);
    return round_to_half(reinterpret_cast<Floats>(bits) * from_units);
}

/// Returns numbers up to 65535 as fractions of 65535, correctly rounded.
[[gnu::always_inline]] inline Floats fractions(Ints numbers) {
    // 1 / 65535 = 2^-16 + 2^-32 + 2^-48 + ...: the first product is exact.
    const Floats values = __builtin_convertvector(numbers, Floats);
    return values * constants().fraction.floats() + values * constants().fraction_rest.floats();
}

/// Adds up texels of `channels` bytes.
template <unsigned SLICES>
[[gnu::always_inline]] inline void filter_bytes(const Words (&texels)[SLICES][CORNERS],
                                                const Weights (&weights)[SLICES], unsigned channels,
                                                Words (&results)[4]) {
    // A byte is a number of 16 bits in the filter: 257 times as much.
    const auto result = [](Words sum) __attribute__((always_inline)) {
        const Words half = constants().weight_half.words();
        return reinterpret_cast<Words>(
            fractions(reinterpret_cast<Ints>(sum + ((sum + half) >> 8))));
    };
    if (channels == 1) {
        Ints sum{};
        for (unsigned i = 0; i < SLICES; ++i) {
            const Words(&each)[CORNERS] = texels[i];
            sum += sum_of_pairs(each[0] | each[1] << 16, each[2] | each[3] << 16, weights[i]);
        }
        results[0] = result(reinterpret_cast<Words>(sum));
        return;
    }
    const Words bytes = constants().bytes.words();
    const Words low_bits = constants().low_bits.words();
    Words even_sums{}; // of channels 0 and 2: at most 255 * 256
    Words odd_sums{};
    for (unsigned slice = 0; slice < SLICES; ++slice) {
        for (unsigned i = 0; i < CORNERS; ++i) {
            const Words weight = weights[slice].twice(i);
            even_sums += multiply_halves(texels[slice][i] & bytes, weight);
            odd_sums += multiply_halves(texels[slice][i] >> 8 & bytes, weight);
        }
    }
    results[0] = result(even_sums & low_bits);
    results[1] = result(odd_sums & low_bits);
    if (channels > 2) {
        results[2] = result(even_sums >> 16);
        results[3] = result(odd_sums >> 16);
    }
}

/// Adds up numbers from 0 to 65535.
template <unsigned SLICES>
[[gnu::always_inline]] inline Floats filter_shorts(const Words (&texels)[SLICES][CORNERS],
                                                   const Weights (&weights)[SLICES]) {
    // Pairs are signed.
    constexpr std::uint32_t middles = 0x80008000u;
    Ints sum{};
    for (unsigned i = 0; i < SLICES; ++i) {
        const Words(&each)[CORNERS] = texels[i];
        sum += sum_of_pairs((each[0] | each[1] << 16) ^ middles,
                            (each[2] | each[3] << 16) ^ middles, weights[i]);
    }
    return fractions((sum + 0x8000 * ONE + HALF_ONE) >> 8);
}

} // namespace texels

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
