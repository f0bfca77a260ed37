// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Random choices of the schedule. They must be repeatable from a seed; quality does not matter.

#pragma once

#include <cstdint>

namespace cuprum::emulator {

/// Returns a hash of its argument (the finaliser of splitmix64).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/// Advances a nonzero state and returns a number below `limit`, which is not 0.
[[nodiscard]] constexpr std::uint32_t random_below(std::uint64_t& state,
                                                   std::uint32_t limit) noexcept {
    state ^= state << 13; // xorshift64: never becomes 0
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::uint32_t>((state >> 32) * limit >> 32);
}

} // namespace cuprum::emulator
