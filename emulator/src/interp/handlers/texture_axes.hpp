// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// From coordinates to texels, for the texture handlers: what interp/sampling.cpp does, with
// vectors. A coordinate first becomes a place in 1/256 of a texel. Then the address mode of its
// axis chooses the texels.

#pragma once

#include "interp/handlers/texture_vectors.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace texels {

constexpr std::int32_t ONE = 256; // of weights
constexpr std::int32_t HALF_ONE = ONE / 2;

/// The texels of one axis: the second one only with a filter. They always lie inside.
struct Axis {
    Ints at[2]{};
    Ints fraction{};      // weight of the second
    Ints is_outside[2]{}; // the border takes their place; only if the view has a border
};

/// Returns the largest whole number that is not larger.
[[gnu::always_inline]] inline Ints round_down(Floats value) {
    const Ints cut = __builtin_convertvector(value, Ints);
    return cut + (value < __builtin_convertvector(cut, Floats)); // the comparison is 0 or -1
}

[[gnu::always_inline]] inline Ints between(Ints value, Ints low, Ints high) {
    return smaller(larger(value, low), high);
}

/// Finds the texels of coordinates that count texels and are clamped.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline void find_clamped(Floats x, std::int32_t size, Axis& axis) {
    x = larger(x, Floats{}); // also if it is not a number
    x = smaller(x, broadcast<float>(static_cast<float>(size + 1)));
    if constexpr (IS_LINEAR) {
        // In 1/256, rounded, and half a texel less.
        const Constants& constant = constants();
        const Ints doubled = __builtin_convertvector(x * constant.texel.floats(), Ints);
        Ints place = (doubled + constant.half_texel.ints()) >> 1;
        place = between(place, Ints{}, all((size - 1) * ONE));
        axis.at[0] = place >> 8;
        axis.at[1] = smaller(axis.at[0] + 1, all(size - 1));
        axis.fraction = place & constant.weight_bits.ints();
    } else {
        axis.at[0] = smaller(__builtin_convertvector(x, Ints), all(size - 1));
    }
}

/// Returns the places of coordinates that count texels: in 1/256 and half a texel less for filters,
/// in texels for points. Those far outside become others that are outside.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline Ints place_of_count(Floats x, std::int32_t size) {
    x = smaller(larger(x, broadcast<float>(-2)), broadcast<float>(static_cast<float>(size + 1)));
    return IS_LINEAR ? ((round_down(x * constants().texel.floats()) + 1) >> 1) - HALF_ONE
                     : round_down(x);
}

/// The same for coordinates from 0 to 1. Adds the lanes whose coordinate is too large for this way
/// to `too_large`.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline Ints place_of_fraction(Floats x, std::int32_t size, AxisMode mode,
                                                     std::uint32_t& too_large) {
    constexpr float largest = 512;
    constexpr std::int32_t period = 1 << 21;
    std::int32_t bits = -1; // that count
    if (mode == AxisMode::Wrap || mode == AxisMode::Mirror) {
        const Ints fits = (x < largest) & (x > -largest);
        too_large |= ~lanes_where(fits) & CHUNK_MASK;
        x = fits ? x : Floats{};
        bits = mode == AxisMode::Wrap ? period - 1 : 2 * period - 1;
    } else {
        const bool is_clamped = mode == AxisMode::Clamp;
        x = smaller(larger(x, broadcast<float>(is_clamped ? 0 : -1)),
                    broadcast<float>(is_clamped ? 1 : 2));
    }
    const Ints cut = round_down(x * static_cast<float>(period)) & bits; // the product is exact
    // cut * size may have 37 bits, so multiply the upper bits and the lower 11 bits of `cut`.
    const Ints upper = multiply_small(cut >> 11, all(size));
    const Ints lower = multiply_small(cut & 2047, all(size));
    // (cut * size + 2^12) >> 13 is in 1/256, rounded; (cut * size) >> 21 is in texels.
    return IS_LINEAR ? ((upper + ((lower + 4096) >> 11)) >> 2) - HALF_ONE
                     : (upper + (lower >> 11)) >> 10;
}

/// Applies an address mode to the texels of places.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline void choose_texels(Ints place, std::int32_t size, AxisMode mode,
                                                 Axis& axis) {
    const Ints last = all(size - 1);
    if (IS_LINEAR && mode == AxisMode::Clamp) {
        place = between(place, Ints{}, last * ONE);
    }
    axis.fraction = place & (ONE - 1);
    Ints texel = IS_LINEAR ? place >> 8 : place;
    for (unsigned i = 0; i < (IS_LINEAR ? 2 : 1); ++i, texel += 1) {
        switch (mode) {
        case AxisMode::Wrap: // at most one beyond
            axis.at[i] = texel < 0 ? last : texel > last ? Ints{} : texel;
            break;
        case AxisMode::Mirror: // at most one before the first or beyond the reflected ones
            axis.at[i] = larger(smaller(texel, 2 * last + 1 - texel), Ints{});
            break;
        default:
            axis.at[i] = between(texel, Ints{}, last);
            if (mode == AxisMode::Border) {
                axis.is_outside[i] = axis.at[i] != texel;
            }
            break;
        }
    }
}

/// The coordinates and address modes that a fetch is compiled for.
enum class Addressing : std::uint8_t {
    Plain, // counts texels and clamps on all axes
    Any,
};

/// Finds the texels of an axis of a view. Returns the lanes whose coordinate is too large for this
/// way.
template <Addressing ADDRESSING, bool IS_LINEAR>
[[gnu::always_inline]] inline std::uint32_t find(const PlaneView& view, unsigned index, Floats x,
                                                 Axis& axis) {
    const auto size = static_cast<std::int32_t>(view.sizes[index]);
    if constexpr (ADDRESSING == Addressing::Plain) {
        find_clamped<IS_LINEAR>(x, size, axis);
        return 0;
    }
    constexpr float smallest = 0x1p-126f;
    const AxisMode mode = view.modes[index];
    const auto magnitude =
        reinterpret_cast<Floats>(reinterpret_cast<Words>(x) & constants().magnitude.words());
    x = magnitude >= smallest ? x : Floats{}; // also if it is not a number
    std::uint32_t too_large = 0;
    const Ints place = view.is_normalized ? place_of_fraction<IS_LINEAR>(x, size, mode, too_large)
                                          : place_of_count<IS_LINEAR>(x, size);
    choose_texels<IS_LINEAR>(place, size, mode, axis);
    return too_large;
}

} // namespace texels

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
