// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Eight sums of 64 bits, so that they fit vector registers. A step takes eight words: to its own
// sum each adds the product of its two halves, mixed with a key that differs between the steps of a
// block, and to its neighbour's sum it adds itself. The product spreads a change over all bits, the
// key makes the order matter, and the word itself is there so that no change of one word can be
// lost where the other half is zero. After each block the sums are stirred, in a way that can be
// undone and so loses nothing: that makes the order of the blocks matter, at a sixteenth of the
// price of new keys for every step.

#include "program/cache/checksum.hpp"

#include <bit>
#include <cstring>

namespace cuprum::detail {

namespace {

constexpr std::uint64_t ODD = 0x9E3779B97F4A7C15;
constexpr std::uint64_t SMALL_ODD = 0x9E3779B1; // of 32 bits: vector units multiply those
constexpr int STIR_SHIFT = 29;
constexpr std::size_t LANES = 8;
constexpr std::size_t STEP_BYTES = LANES * sizeof(std::uint64_t);
constexpr std::size_t BLOCK_STEPS = 16;

/// A word for each sum, in as few registers as the processor needs for that.
using Lanes [[gnu::vector_size(STEP_BYTES)]] = std::uint64_t;

struct Sums {
    Lanes sums;
    Lanes keys[BLOCK_STEPS]; // of each step of a block
};

/// Spreads each bit of a word over all bits; reversible.
std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ word >> 32) * ODD;
    word = (word ^ word >> 29) * ODD;
    return word ^ word >> 32;
}

/// Adds steps, the first of which is number `place` of its block.
[[gnu::always_inline]] inline void add_here(Sums& state, const std::byte* bytes, std::size_t steps,
                                            std::size_t place) {
    Lanes sums = state.sums; // which stay in registers
    for (; steps != 0; --steps, bytes += STEP_BYTES) {
        Lanes words;
        std::memcpy(&words, bytes, STEP_BYTES);
        if constexpr (std::endian::native == std::endian::big) {
            for (std::size_t i = 0; i < LANES; ++i) {
                words[i] = __builtin_bswap64(words[i]);
            }
        }
        const Lanes mixed = words ^ state.keys[place];
        sums += (mixed & 0xFFFFFFFF) * (mixed >> 32);
        sums += __builtin_shufflevector(words, words, 1, 0, 3, 2, 5, 4, 7, 6);
        if (++place == BLOCK_STEPS) {
            place = 0;
            sums = (sums ^ sums >> STIR_SHIFT) * SMALL_ODD;
        }
    }
    state.sums = sums;
}

using AddSteps = void (*)(Sums& state, const std::byte* bytes, std::size_t steps,
                          std::size_t place);

void add_steps_plain(Sums& state, const std::byte* bytes, std::size_t steps, std::size_t place) {
    add_here(state, bytes, steps, place);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void add_steps_wide(Sums& state, const std::byte* bytes,
                                                    std::size_t steps, std::size_t place) {
    add_here(state, bytes, steps, place);
}

__attribute__((target("avx512f"))) void add_steps_widest(Sums& state, const std::byte* bytes,
                                                         std::size_t steps, std::size_t place) {
    add_here(state, bytes, steps, place);
}

AddSteps choose_add_steps() {
    if (__builtin_cpu_supports("avx512f")) {
        return add_steps_widest;
    }
    return __builtin_cpu_supports("avx2") ? add_steps_wide : add_steps_plain;
}

#else

AddSteps choose_add_steps() {
    return add_steps_plain;
}

#endif

} // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
    static const AddSteps add_steps = choose_add_steps();
    Sums state{};
    for (std::size_t i = 0; i < LANES; ++i) {
        std::uint64_t key = mix(seed + i * ODD);
        for (Lanes& keys : state.keys) {
            keys[i] = key;
            key += ODD;
        }
    }
    const std::size_t steps = bytes.size() / STEP_BYTES;
    add_steps(state, bytes.data(), steps, 0);
    const std::span<const std::byte> rest = bytes.subspan(steps * STEP_BYTES);
    if (!rest.empty()) {
        std::byte last[STEP_BYTES] = {};
        std::memcpy(last, rest.data(), rest.size());
        add_steps(state, last, 1, steps % BLOCK_STEPS);
    }
    // The size too: zeros at the end are not the same as none.
    std::uint64_t sum = mix(seed ^ bytes.size());
    for (std::size_t i = 0; i < LANES; ++i) {
        sum = mix(sum ^ state.sums[i]) + ODD;
    }
    return sum;
}

} // namespace cuprum::detail
