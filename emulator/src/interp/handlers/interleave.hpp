// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores of v2 and v4 by lanes that are adjacent in memory: whole vectors are read, and
// the components are sorted into registers by shuffles.
//
// The bytes of one lane never cross a cache line, because they are at most 16 and aligned. So a
// lane still moves as a whole, as memory.cpp promises.

#pragma once

#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Returns the elements with an even number of two vectors.
template <typename T>
[[gnu::always_inline]] inline Vector<T> even(Vector<T> a, Vector<T> b) {
    if constexpr (LANES<T> == 16) {
        return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
                                       30);
    } else if constexpr (LANES<T> == 8) {
        return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
    } else if constexpr (LANES<T> == 4) {
        return __builtin_shufflevector(a, b, 0, 2, 4, 6);
    } else {
        return __builtin_shufflevector(a, b, 0, 2);
    }
}

/// Returns the elements with an odd number of two vectors.
template <typename T>
[[gnu::always_inline]] inline Vector<T> odd(Vector<T> a, Vector<T> b) {
    if constexpr (LANES<T> == 16) {
        return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29,
                                       31);
    } else if constexpr (LANES<T> == 8) {
        return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
    } else if constexpr (LANES<T> == 4) {
        return __builtin_shufflevector(a, b, 1, 3, 5, 7);
    } else {
        return __builtin_shufflevector(a, b, 1, 3);
    }
}

/// Alternates the lower halves of two vectors.
template <typename T>
[[gnu::always_inline]] inline Vector<T> alternate_low(Vector<T> a, Vector<T> b) {
    if constexpr (LANES<T> == 16) {
        return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                       23);
    } else if constexpr (LANES<T> == 8) {
        return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    } else if constexpr (LANES<T> == 4) {
        return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    } else {
        return __builtin_shufflevector(a, b, 0, 2);
    }
}

/// Alternates the upper halves of two vectors.
template <typename T>
[[gnu::always_inline]] inline Vector<T> alternate_high(Vector<T> a, Vector<T> b) {
    if constexpr (LANES<T> == 16) {
        return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                       15, 31);
    } else if constexpr (LANES<T> == 8) {
        return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    } else if constexpr (LANES<T> == 4) {
        return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    } else {
        return __builtin_shufflevector(a, b, 1, 3);
    }
}

/// Loads `chunks` vectors of lanes with COUNT components each, from `from` on, into the registers
/// at `to`, beginning with vector `first`.
template <typename T, unsigned COUNT>
[[gnu::always_inline]] inline void load_interleaved(std::byte* const* to, unsigned first,
                                                    unsigned chunks, const std::byte* from) {
    for (unsigned i = 0; i < chunks; ++i) {
        const Vector<T> a = load<T>(from, i * COUNT);
        const Vector<T> b = load<T>(from, i * COUNT + 1);
        if constexpr (COUNT == 2) {
            store<T>(to[0], first + i, even<T>(a, b));
            store<T>(to[1], first + i, odd<T>(a, b));
        } else {
            const Vector<T> c = load<T>(from, i * COUNT + 2);
            const Vector<T> d = load<T>(from, i * COUNT + 3);
            const Vector<T> even_low = even<T>(a, b);
            const Vector<T> even_high = even<T>(c, d);
            const Vector<T> odd_low = odd<T>(a, b);
            const Vector<T> odd_high = odd<T>(c, d);
            store<T>(to[0], first + i, even<T>(even_low, even_high));
            store<T>(to[1], first + i, even<T>(odd_low, odd_high));
            store<T>(to[2], first + i, odd<T>(even_low, even_high));
            store<T>(to[3], first + i, odd<T>(odd_low, odd_high));
        }
    }
}

/// Stores `chunks` vectors of lanes with COUNT components each, from the registers at `from`.
template <typename T, unsigned COUNT>
[[gnu::always_inline]] inline void store_interleaved(std::byte* to, unsigned first, unsigned chunks,
                                                     const std::byte* const* from) {
    for (unsigned i = 0; i < chunks; ++i) {
        const Vector<T> a = load<T>(from[0], first + i);
        const Vector<T> b = load<T>(from[1], first + i);
        if constexpr (COUNT == 2) {
            store<T>(to, i * COUNT, alternate_low<T>(a, b));
            store<T>(to, i * COUNT + 1, alternate_high<T>(a, b));
        } else {
            const Vector<T> c = load<T>(from[2], first + i);
            const Vector<T> d = load<T>(from[3], first + i);
            const Vector<T> even_low = alternate_low<T>(a, c);
            const Vector<T> even_high = alternate_high<T>(a, c);
            const Vector<T> odd_low = alternate_low<T>(b, d);
            const Vector<T> odd_high = alternate_high<T>(b, d);
            store<T>(to, i * COUNT, alternate_low<T>(even_low, odd_low));
            store<T>(to, i * COUNT + 1, alternate_high<T>(even_low, odd_low));
            store<T>(to, i * COUNT + 2, alternate_low<T>(even_high, odd_high));
            store<T>(to, i * COUNT + 3, alternate_high<T>(even_high, odd_high));
        }
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
