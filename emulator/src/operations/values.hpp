// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What operations are written with. An operation is a template over the type of its values, so that
// one text serves handlers, which pass vectors of lanes or one lane, tests, which pass numbers, and
// compiled code, whose values stand for instructions.
//
// A type of values has the operators of an integer, and these functions; other types than numbers
// and vectors define their own, which are found by their arguments:
//
//   select(condition, a, b)   a where the condition holds, b elsewhere; both are computed
//   smaller(a, b), larger(a, b)
//   shift_left(value, amount), shift_right: by any amount
//   convert<T>(value)         the value as lanes of T, extended as the sign of its own type says
//   like(value, number)       a number, in each lane of a value like this one
//   count_ones, count_leading_zeros, reverse_bytes
//
// NOTE: handlers include this file once for each instruction-set level, in the level's namespace.
// Nothing here calls inline functions of other headers; see interp/handlers/common.hpp.

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifndef CUPRUM_ISA_NAMESPACE
#define CUPRUM_ISA_NAMESPACE isa_generic
#endif

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE::operations {

__extension__ typedef unsigned __int128 Unsigned128;
__extension__ typedef __int128 Signed128;

/// A vector of lanes.
template <typename V>
concept Lanes = !std::is_class_v<V> && requires(V value) { value[0]; };

/// One lane.
template <typename V>
concept Number = !std::is_class_v<V> && !Lanes<V>;

template <typename T, std::size_t COUNT>
struct LanesOf {
    typedef T Value __attribute__((vector_size(COUNT * sizeof(T))));
};

/// Returns the size of a lane.
template <typename V>
consteval unsigned lane_bits() {
    if constexpr (Number<V>) {
        return sizeof(V) * 8;
    } else {
        return sizeof(V{}[0]) * 8;
    }
}

template <typename Condition, typename V>
    requires(Number<V> || Lanes<V>)
[[gnu::always_inline]] inline V select(Condition condition, V a, V b) {
    return condition ? a : b;
}

// Not through select(): the compiler knows these as one instruction only in this shape.
template <typename V>
    requires(Number<V> || Lanes<V>)
[[gnu::always_inline]] inline V smaller(V a, V b) {
    return a < b ? a : b;
}

template <typename V>
    requires(Number<V> || Lanes<V>)
[[gnu::always_inline]] inline V larger(V a, V b) {
    return a > b ? a : b;
}

/// Shifts by any amount, as PTX does: from the width on, nothing is left.
template <typename V, typename W>
    requires(Number<V> || Lanes<V>)
[[gnu::always_inline]] inline V shift_left(V value, W amount) {
    constexpr unsigned width = lane_bits<V>();
    if constexpr (Number<V>) {
        return amount < width ? value << amount : 0;
    } else {
        return amount < width ? value << (amount & (width - 1)) : V{};
    }
}

template <typename V, typename W>
    requires(Number<V> || Lanes<V>)
[[gnu::always_inline]] inline V shift_right(V value, W amount) {
    constexpr unsigned width = lane_bits<V>();
    if constexpr (Number<V>) {
        return amount < width ? value >> amount : 0;
    } else {
        return amount < width ? value >> (amount & (width - 1)) : V{};
    }
}

template <typename T, Number V>
[[gnu::always_inline]] inline T convert(V value) {
    return static_cast<T>(value);
}

template <typename T, Lanes V>
[[gnu::always_inline]] inline auto convert(V value) {
    return __builtin_convertvector(value, typename LanesOf<T, sizeof(V) / sizeof(value[0])>::Value);
}

template <Number V, typename T>
[[gnu::always_inline]] inline V like(V /*value*/, T number) {
    return static_cast<V>(number);
}

template <Lanes V, typename T>
[[gnu::always_inline]] inline V like(V /*value*/, T number) {
    return V{} + static_cast<std::remove_reference_t<decltype(V{}[0])>>(number);
}

/// Returns the number of set bits, of zeros above the highest one, or the bytes in reverse order.
template <Number V>
[[gnu::always_inline]] inline std::uint32_t count_ones(V value) {
    return static_cast<std::uint32_t>(sizeof(V) == 4
                                          ? __builtin_popcount(static_cast<std::uint32_t>(value))
                                          : __builtin_popcountll(value));
}

template <Number V>
[[gnu::always_inline]] inline std::uint32_t count_leading_zeros(V value) {
    if constexpr (sizeof(V) == 4) {
        return value == 0 ? 32 : static_cast<std::uint32_t>(__builtin_clz(value));
    } else {
        return value == 0 ? 64 : static_cast<std::uint32_t>(__builtin_clzll(value));
    }
}

template <Number V>
[[gnu::always_inline]] inline V reverse_bytes(V value) {
    if constexpr (sizeof(V) == 4) {
        return __builtin_bswap32(value);
    } else {
        return __builtin_bswap64(value);
    }
}

/// Integer types by size and sign.
template <unsigned BYTES, bool IS_SIGNED>
struct IntegerOfSize;

template <>
struct IntegerOfSize<4, false> {
    using Type = std::uint32_t;
};

template <>
struct IntegerOfSize<4, true> {
    using Type = std::int32_t;
};

template <>
struct IntegerOfSize<8, false> {
    using Type = std::uint64_t;
};

template <>
struct IntegerOfSize<8, true> {
    using Type = std::int64_t;
};

template <>
struct IntegerOfSize<16, false> {
    using Type = Unsigned128;
};

template <>
struct IntegerOfSize<16, true> {
    using Type = Signed128;
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE::operations
