// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Recognises the most common accesses with a few vector operations.

#pragma once

#include "interp/handlers/access.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// The result of a quick look at an access. Scattered means that a closer look is needed.
struct QuickAccess {
    Pattern pattern = Pattern::Scattered;
    std::byte* host = nullptr; // host address of lane 0
};

/// Returns whether COUNT lanes of base addresses are `first` + lane * STRIDE.
template <typename T, std::uint64_t STRIDE, unsigned COUNT>
[[gnu::always_inline]] inline bool is_sequence(const std::byte* base, T first) {
    Vector<T> difference{};
    Vector<T> expected = broadcast<T>(first) + iota<T>() * static_cast<T>(STRIDE);
    for (unsigned chunk = 0; chunk < COUNT / LANES<T>; ++chunk) {
        difference |= load<T>(base, chunk) ^ expected;
        expected += static_cast<T>(LANES<T> * STRIDE);
    }
    return is_zero(reinterpret_cast<Vector<std::uint64_t>>(difference));
}

template <typename T, unsigned BYTES, unsigned COUNT>
[[gnu::always_inline]] inline Pattern quick_pattern(const std::byte* base, T first) {
    // The second lane shows which of the two patterns is worth checking.
    const T step = reinterpret_cast<const typename Aliased<T>::Value*>(base)[1] - first;
    if (step == BYTES) {
        return is_sequence<T, BYTES, COUNT>(base, first) ? Pattern::Sequence : Pattern::Scattered;
    }
    return step == 0 && is_sequence<T, 0, COUNT>(base, first) ? Pattern::Uniform
                                                              : Pattern::Scattered;
}

/// Checks COUNT lanes whose base addresses are stored at `base`.
template <Space SPACE, unsigned BYTES, unsigned COUNT, typename T>
[[gnu::always_inline]] inline QuickAccess
quick_lanes(const WarpContext& warp, const Instruction* at, const std::byte* base, bool is_write) {
    const T first = *reinterpret_cast<const typename Aliased<T>::Value*>(base);
    const Pattern pattern = quick_pattern<T, BYTES, COUNT>(base, first);
    // If a narrow sequence wraps at 2^32, its end is beyond any shared memory and is refused.
    const std::uint64_t start = static_cast<T>(first + static_cast<T>(at->immediate));
    if (pattern == Pattern::Scattered || (start & (BYTES - 1)) != 0) {
        return {};
    }
    const std::uint32_t bytes = pattern == Pattern::Uniform ? BYTES : BYTES * COUNT;
    std::byte* const host = resolve_range<SPACE>(warp, start, bytes, is_write);
    return host == nullptr ? QuickAccess{} : QuickAccess{pattern, host};
}

/// Recognises the most common accesses: all lanes, one value each, adjacent or all at one address.
/// Works on the base addresses in their register, so nothing is computed per lane.
template <Space SPACE, unsigned BYTES>
[[gnu::always_inline]] inline QuickAccess
quick_access(const WarpContext& warp, const Instruction* at, std::uint32_t mask, bool is_write) {
    if (mask != FULL_MASK || (at->tag & COMPONENTS_MASK) != 1) [[unlikely]] {
        return {};
    }
    const std::byte* const base = locate(warp, at->src[0]);
    return (at->tag & NARROW_ADDRESS) == 0
               ? quick_lanes<SPACE, BYTES, WARP_SIZE, std::uint64_t>(warp, at, base, is_write)
               : quick_lanes<SPACE, BYTES, WARP_SIZE, std::uint32_t>(warp, at, base, is_write);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
