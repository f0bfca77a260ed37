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

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
// NOTE: GCC 12 warns of its own header; clang does not know that warning.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace cuprum::detail {

namespace {

constexpr std::uint64_t ODD = 0x9E3779B97F4A7C15;
constexpr std::uint64_t SMALL_ODD = 0x9E3779B1; // of 32 bits: vector units multiply those
constexpr int STIR_SHIFT = 29;
constexpr std::size_t LANES = 8;
constexpr std::size_t STEP_BYTES = LANES * sizeof(std::uint64_t);
constexpr std::size_t BLOCK_STEPS = 16;

using Lanes = std::array<std::uint64_t, LANES>;

struct Sums {
    alignas(STEP_BYTES) Lanes sums;
    alignas(STEP_BYTES) std::array<Lanes, BLOCK_STEPS> keys; // of each step of a block
};

/// Adds steps, the first of which is number `place` of its block.
using AddSteps = void (*)(Sums& state, const std::byte* bytes, std::size_t steps,
                          std::size_t place);

/// Spreads each bit of a word over all bits; reversible.
std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ word >> 32) * ODD;
    word = (word ^ word >> 29) * ODD;
    return word ^ word >> 32;
}

void add_steps_plain(Sums& state, const std::byte* bytes, std::size_t steps, std::size_t place) {
    Lanes sums = state.sums; // which stay in registers
    for (; steps != 0; --steps, bytes += STEP_BYTES) {
        Lanes words;
        std::memcpy(words.data(), bytes, STEP_BYTES);
        for (std::size_t i = 0; i < LANES; ++i) {
            const std::uint64_t word =
                std::endian::native == std::endian::big ? __builtin_bswap64(words[i]) : words[i];
            const std::uint64_t mixed = word ^ state.keys[place][i];
            sums[i] += (mixed & 0xFFFFFFFF) * (mixed >> 32);
            sums[i ^ 1] += word;
        }
        if (++place == BLOCK_STEPS) {
            place = 0;
            for (std::uint64_t& sum : sums) {
                sum = (sum ^ sum >> STIR_SHIFT) * SMALL_ODD;
            }
        }
    }
    state.sums = sums;
}

#if defined(__x86_64__)

constexpr int NEIGHBOUR = 0x4E; // exchanges the words of each pair

__attribute__((target("avx2"))) inline __m256i sum_with(__m256i sum, const __m256i* words,
                                                        const __m256i* keys) {
    const __m256i word = _mm256_loadu_si256(words);
    const __m256i mixed = _mm256_xor_si256(word, _mm256_load_si256(keys));
    const __m256i product = _mm256_mul_epu32(mixed, _mm256_srli_epi64(mixed, 32));
    sum = _mm256_add_epi64(sum, _mm256_shuffle_epi32(word, NEIGHBOUR));
    return _mm256_add_epi64(sum, product);
}

__attribute__((target("avx2"))) inline __m256i stirred(__m256i sum) {
    const __m256i factor = _mm256_set1_epi64x(SMALL_ODD);
    sum = _mm256_xor_si256(sum, _mm256_srli_epi64(sum, STIR_SHIFT));
    const __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(sum, 32), factor);
    return _mm256_add_epi64(_mm256_mul_epu32(sum, factor), _mm256_slli_epi64(high, 32));
}

__attribute__((target("avx2"))) void add_steps_wide(Sums& state, const std::byte* bytes,
                                                    std::size_t steps, std::size_t place) {
    auto* const sums = reinterpret_cast<__m256i*>(state.sums.data());
    __m256i low = _mm256_load_si256(sums);
    __m256i high = _mm256_load_si256(sums + 1);
    while (steps != 0) {
        const std::size_t count = std::min(steps, BLOCK_STEPS - place);
        const auto* keys = reinterpret_cast<const __m256i*>(state.keys[place].data());
        for (std::size_t i = 0; i < count; ++i, bytes += STEP_BYTES, keys += 2) {
            const auto* const words = reinterpret_cast<const __m256i*>(bytes);
            low = sum_with(low, words, keys);
            high = sum_with(high, words + 1, keys + 1);
        }
        steps -= count;
        place += count;
        if (place == BLOCK_STEPS) {
            place = 0;
            low = stirred(low);
            high = stirred(high);
        }
    }
    _mm256_store_si256(sums, low);
    _mm256_store_si256(sums + 1, high);
}

__attribute__((target("avx512f"))) inline __m512i stirred(__m512i sum) {
    const __m512i factor = _mm512_set1_epi64(SMALL_ODD);
    sum = _mm512_xor_si512(sum, _mm512_srli_epi64(sum, STIR_SHIFT));
    const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(sum, 32), factor);
    return _mm512_add_epi64(_mm512_mul_epu32(sum, factor), _mm512_slli_epi64(high, 32));
}

__attribute__((target("avx512f"))) void add_steps_widest(Sums& state, const std::byte* bytes,
                                                         std::size_t steps, std::size_t place) {
    __m512i sum = _mm512_load_si512(state.sums.data());
    while (steps != 0) {
        const std::size_t count = std::min(steps, BLOCK_STEPS - place);
        const auto* keys = reinterpret_cast<const __m512i*>(state.keys[place].data());
        for (std::size_t i = 0; i < count; ++i, bytes += STEP_BYTES, ++keys) {
            const __m512i word = _mm512_loadu_si512(bytes);
            const __m512i mixed = _mm512_xor_si512(word, _mm512_load_si512(keys));
            const __m512i product = _mm512_mul_epu32(mixed, _mm512_srli_epi64(mixed, 32));
            // Apart, so that a step waits for one addition of the step before.
            sum = _mm512_add_epi64(
                sum, _mm512_add_epi64(product, _mm512_shuffle_epi32(
                                                   word, static_cast<_MM_PERM_ENUM>(NEIGHBOUR))));
        }
        steps -= count;
        place += count;
        if (place == BLOCK_STEPS) {
            place = 0;
            sum = stirred(sum);
        }
    }
    _mm512_store_si512(state.sums.data(), sum);
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
        std::array<std::byte, STEP_BYTES> last{};
        std::copy(rest.begin(), rest.end(), last.begin());
        add_steps(state, last.data(), 1, steps % BLOCK_STEPS);
    }
    // The size too: zeros at the end are not the same as none.
    std::uint64_t sum = mix(seed ^ bytes.size());
    for (const std::uint64_t lane : state.sums) {
        sum = mix(sum ^ lane) + ODD;
    }
    return sum;
}

} // namespace cuprum::detail
