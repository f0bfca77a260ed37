// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// From coordinates to texels, for the texture handlers: what interp/sampling.cpp does, with
// vectors.

#pragma once

#include "interp/handlers/texture_vectors.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace texels {

constexpr std::int32_t ONE = 256; // of weights
constexpr std::int32_t HALF_ONE = ONE / 2;

/// The texels of one axis.
struct Axis {
    Ints first{};
    Ints second{};
    Ints fraction{}; // weight of the second
};

/// Finds the texels of coordinates that count texels.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline void find_counted(Floats x, std::int32_t size, Axis& axis) {
    x = larger(x, Floats{}); // also if it is not a number
    x = smaller(x, broadcast<float>(static_cast<float>(size + 1)));
    if constexpr (IS_LINEAR) {
        // In 1/256, rounded, and half a texel less.
        const Constants& constant = constants();
        const Ints doubled = __builtin_convertvector(x * constant.texel.floats(), Ints);
        Ints place = (doubled + constant.half_texel.ints()) >> 1;
        place = smaller(larger(place, Ints{}), all((size - 1) * ONE));
        axis.first = place >> 8;
        axis.second = smaller(axis.first + 1, all(size - 1));
        axis.fraction = place & constant.weight_bits.ints();
    } else {
        axis.first = smaller(__builtin_convertvector(x, Ints), all(size - 1));
    }
}

/// Finds the texels of coordinates from 0 to 1. Returns the lanes whose coordinate is too large for
/// this way.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline std::uint32_t find_normalized(Floats x, std::int32_t size, bool wraps,
                                                            Axis& axis) {
    constexpr float smallest = 0x1p-126f;
    constexpr float largest = 512;
    constexpr std::int32_t period = 1 << 21;
    const auto magnitude = reinterpret_cast<Floats>(reinterpret_cast<Words>(x) & 0x7fffffffu);
    std::uint32_t too_large = 0;
    x = magnitude >= smallest ? x : Floats{};
    if (wraps) {
        const Ints fits = magnitude < largest;
        too_large = ~lanes_where(fits) & CHUNK_MASK;
        x = fits ? x : Floats{};
    } else {
        x = smaller(larger(x, Floats{}), broadcast<float>(1));
    }
    const Floats scaled = x * static_cast<float>(period); // exact
    Ints cut = __builtin_convertvector(scaled, Ints);
    cut += scaled < __builtin_convertvector(cut, Floats); // the comparison is 0 or -1
    cut = wraps ? cut & (period - 1) : cut;
    // cut * size may have 36 bits, so multiply the upper and the lower 11 bits of `cut`.
    const Ints upper = multiply_small(cut >> 11, all(size));
    const Ints lower = multiply_small(cut & 2047, all(size));
    if constexpr (IS_LINEAR) {
        // (cut * size + 2^12) >> 13: in 1/256, rounded
        Ints place = ((upper + ((lower + 4096) >> 11)) >> 2) - HALF_ONE;
        place = wraps ? place : smaller(larger(place, Ints{}), all((size - 1) * ONE));
        const Ints first = place >> 8;
        const Ints second = first + 1;
        axis.first = first < 0 ? all(size - 1) : first;
        axis.second = second < size ? second : all(wraps ? 0 : size - 1);
        axis.fraction = place & (ONE - 1);
    } else {
        axis.first = smaller((upper + (lower >> 11)) >> 10, all(size - 1)); // (cut * size) >> 21
    }
    return too_large;
}

template <bool IS_LINEAR>
[[gnu::always_inline]] inline std::uint32_t find(const PlaneView& view, unsigned index, Floats x,
                                                 Axis& axis) {
    const auto size = static_cast<std::int32_t>(view.sizes[index]);
    if (view.is_normalized) {
        return find_normalized<IS_LINEAR>(x, size, view.wraps[index], axis);
    }
    find_counted<IS_LINEAR>(x, size, axis);
    return 0;
}

} // namespace texels

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
