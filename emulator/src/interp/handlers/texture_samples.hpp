// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// From texels to results, for the texture handlers: points and linear filters of a chunk of lanes.

#pragma once

#include "interp/handlers/texture_filters.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace texels {

/// The texels that a fetch is compiled for.
enum class Texels : std::uint8_t {
    SingleWord,
    Words,
    SingleHalf,
    Halves,
    FourBytes,
    Bytes,
    Shorts,
};

constexpr bool has_bytes(Texels texels) {
    return texels == Texels::FourBytes || texels == Texels::Bytes;
}

constexpr bool has_halves(Texels texels) {
    return texels == Texels::SingleHalf || texels == Texels::Halves;
}

/// Returns the size of a texel, or 0 if it is known only at run time.
constexpr unsigned bytes_of(Texels texels) {
    return texels == Texels::SingleWord || texels == Texels::FourBytes ? 4
           : texels == Texels::SingleHalf                              ? 2
                                                                       : 0;
}

/// Returns the number of channels of a texel.
template <Texels TEXELS>
[[gnu::always_inline]] inline unsigned channels_of(const PlaneView& view) {
    return TEXELS == Texels::FourBytes ? 4 : bytes_of(TEXELS) != 0 ? 1 : view.channels;
}

/// Returns a channel of texels of bytes or shorts.
template <Texels TEXELS>
[[gnu::always_inline]] inline Words number_of(const PlaneView& view, const TexelWords& words,
                                              unsigned channel) {
    constexpr unsigned bits = has_bytes(TEXELS) ? 8 : 16;
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
    const unsigned channels = channels_of<TEXELS>(view);
    for (unsigned channel = 0; channel < channels; ++channel) {
        if constexpr (TEXELS == Texels::SingleWord || TEXELS == Texels::Words) {
            results[channel] = words.of[channel];
            continue;
        }
        const Words number = number_of<TEXELS>(view, words, channel);
        if constexpr (has_halves(TEXELS)) {
            results[channel] = reinterpret_cast<Words>(widen_any_halves(number));
        } else if (view.reads_integers) {
            results[channel] = number;
        } else {
            constexpr std::int32_t expanded = has_bytes(TEXELS) ? 257 : 1;
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
    Words numbers[SLICES][CORNERS];
    if constexpr (TEXELS == Texels::SingleHalf) {
        for (unsigned slice = 0; slice < SLICES; ++slice) {
            read_halves<ADDRESSING>(view, x, slices[slice].rows, shares_rows, numbers[slice]);
        }
        results[0] = reinterpret_cast<Words>(filter_halves(numbers, weights, missed));
        return;
    }
    TexelWords corners[SLICES][CORNERS];
    for (unsigned slice = 0; slice < SLICES; ++slice) {
        read_corners<ADDRESSING, bytes_of(TEXELS)>(view, x, slices[slice].rows, shares_rows,
                                                   corners[slice]);
    }
    // Calls `number(texel)` for all texels of the filter.
    const auto find_numbers = [&](auto number) __attribute__((always_inline)) {
        for (unsigned slice = 0; slice < SLICES; ++slice) {
            for (unsigned i = 0; i < CORNERS; ++i) {
                numbers[slice][i] = number(corners[slice][i]);
            }
        }
    };
    if constexpr (has_bytes(TEXELS)) {
        find_numbers([](const TexelWords& texel) { return texel.of[0]; });
        filter_bytes(numbers, weights, channels_of<TEXELS>(view), results);
        return;
    }
    const unsigned channels = channels_of<TEXELS>(view);
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
