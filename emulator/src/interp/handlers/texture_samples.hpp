// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// From texels to results, for the texture handlers: points and linear filters of a chunk of lanes.

#pragma once

#include "interp/handlers/texture_filters.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace texels {

/// The texels that a fetch is compiled for.
enum class Texels : std::uint8_t { SingleWord, Words, Halves, Bytes, Shorts };

/// Returns the size of a texel, or 0 if it is known only at run time.
constexpr unsigned bytes_of(Texels texels) {
    return texels == Texels::SingleWord ? 4 : 0;
}

/// Returns a channel of texels of bytes or shorts.
template <Texels TEXELS>
[[gnu::always_inline]] inline Words number_of(const PlaneView& view, const TexelWords& words,
                                              unsigned channel) {
    constexpr unsigned bits = TEXELS == Texels::Bytes ? 8 : 16;
    constexpr unsigned in_word = 32 / bits;
    const unsigned place = channel % in_word * bits;
    const Words shifted = words.of[channel / in_word] << (32 - bits - place);
    return view.is_signed ? reinterpret_cast<Words>(reinterpret_cast<Ints>(shifted) >> (32 - bits))
                          : shifted >> (32 - bits);
}

/// Fetches points. `results` receives as many words as a texel has channels.
template <Addressing ADDRESSING, Texels TEXELS>
[[gnu::always_inline]] inline void sample_points(const PlaneView& view, const Axis& x,
                                                 const Rows& rows, bool shares_rows,
                                                 Words (&results)[4]) {
    const TexelWords words = read_points<ADDRESSING, bytes_of(TEXELS)>(view, x, rows, shares_rows);
    const unsigned channels = TEXELS == Texels::SingleWord ? 1 : view.channels;
    for (unsigned channel = 0; channel < channels; ++channel) {
        if constexpr (TEXELS == Texels::SingleWord || TEXELS == Texels::Words) {
            results[channel] = words.of[channel];
            continue;
        }
        const Words number = number_of<TEXELS>(view, words, channel);
        if constexpr (TEXELS == Texels::Halves) {
            results[channel] = reinterpret_cast<Words>(widen_any_halves(number));
        } else if (view.reads_integers) {
            results[channel] = number;
        } else {
            constexpr std::int32_t expanded = TEXELS == Texels::Bytes ? 257 : 1;
            results[channel] =
                reinterpret_cast<Words>(fractions(reinterpret_cast<Ints>(number) * expanded));
        }
    }
}

/// The same with a linear filter. Adds lanes that must be fetched in another way to `missed`.
template <Addressing ADDRESSING, Texels TEXELS, unsigned SLICES>
[[gnu::always_inline]] inline void sample_filtered(const PlaneView& view, const Axis& x,
                                                   const Slice (&slices)[SLICES], bool shares_rows,
                                                   Words (&results)[4], std::uint32_t& missed) {
    Weights weights[SLICES];
    find_weights(x, slices, weights);
    TexelWords corners[SLICES][CORNERS];
    for (unsigned slice = 0; slice < SLICES; ++slice) {
        read_corners<ADDRESSING, bytes_of(TEXELS)>(view, x, slices[slice].rows, shares_rows,
                                                   corners[slice]);
    }
    // Calls `number(texel)` for all texels of the filter.
    Words numbers[SLICES][CORNERS];
    const auto find_numbers = [&](auto number) __attribute__((always_inline)) {
        for (unsigned slice = 0; slice < SLICES; ++slice) {
            for (unsigned i = 0; i < CORNERS; ++i) {
                numbers[slice][i] = number(corners[slice][i]);
            }
        }
    };
    if constexpr (TEXELS == Texels::Bytes) {
        find_numbers([](const TexelWords& texel) { return texel.of[0]; });
        filter_bytes(numbers, weights, view.channels, results);
        return;
    }
    const unsigned channels = TEXELS == Texels::SingleWord ? 1 : view.channels;
    for (unsigned channel = 0; channel < channels; ++channel) {
        Floats sum;
        if constexpr (TEXELS == Texels::Halves) {
            find_numbers([&](const TexelWords& texel) __attribute__((always_inline)) {
                return reinterpret_cast<Words>(
                    widen_halves(number_of<TEXELS>(view, texel, channel)));
            });
            sum = filter_halves(numbers, weights, missed);
        } else if constexpr (TEXELS == Texels::Shorts) {
            find_numbers([&](const TexelWords& texel) __attribute__((always_inline)) {
                return number_of<TEXELS>(view, texel, channel);
            });
            sum = filter_shorts(numbers, weights);
        } else {
            find_numbers([&](const TexelWords& texel)
                             __attribute__((always_inline)) { return texel.of[channel]; });
            sum = filter_floats(numbers, weights, missed);
        }
        results[channel] = reinterpret_cast<Words>(sum);
    }
}

} // namespace texels

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
