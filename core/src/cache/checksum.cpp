// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Eight sums of 64 bits, so that they fit vector registers. A step takes eight words: to its own
// sum each adds the product of its two halves, mixed with a key that is new in every step, and to
// its neighbour's sum it adds itself. The product spreads a change over all bits, the key makes the
// order matter, and the word itself is there so that no change of one word can be lost where the
// other half is zero.

#include "cache/checksum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cuprum::detail {

namespace {

constexpr std::uint64_t ODD = 0x9E3779B97F4A7C15;
constexpr std::size_t LANES = 8;
constexpr std::size_t STEP_BYTES = LANES * sizeof(std::uint64_t);

struct Sums {
    std::array<std::uint64_t, LANES> sums;
    std::array<std::uint64_t, LANES> keys;
};

using AddSteps = void (*)(Sums& sums, const std::byte* bytes, std::size_t steps);

[[nodiscard]] AddSteps choose_add_steps();
[[nodiscard]] std::uint64_t mix(std::uint64_t word) noexcept;

} // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
    static const AddSteps add_steps = choose_add_steps();
    Sums state{};
    for (std::size_t i = 0; i < LANES; ++i) {
        state.keys[i] = mix(seed + i * ODD);
    }
    const std::size_t steps = bytes.size() / STEP_BYTES;
    add_steps(state, bytes.data(), steps);
    const std::span<const std::byte> rest = bytes.subspan(steps * STEP_BYTES);
    if (!rest.empty()) {
        std::array<std::byte, STEP_BYTES> last{};
        std::copy(rest.begin(), rest.end(), last.begin());
        add_steps(state, last.data(), 1);
    }
    // The size too: zeros at the end are not the same as none.
    std::uint64_t sum = mix(seed ^ bytes.size());
    for (const std::uint64_t lane : state.sums) {
        sum = mix(sum ^ lane) + ODD;
    }
    return sum;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Spreads each bit of a word over all bits; reversible.
std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ word >> 32) * ODD;
    word = (word ^ word >> 29) * ODD;
    return word ^ word >> 32;
}

void add_steps_plain(Sums& state, const std::byte* bytes, std::size_t steps) {
    Sums local = state; // which stays in registers
    for (; steps != 0; --steps, bytes += STEP_BYTES) {
        std::array<std::uint64_t, LANES> words;
        std::memcpy(words.data(), bytes, STEP_BYTES);
        for (std::size_t i = 0; i < LANES; ++i) {
            const std::uint64_t word =
                std::endian::native == std::endian::big ? __builtin_bswap64(words[i]) : words[i];
            const std::uint64_t mixed = word ^ local.keys[i];
            local.sums[i] += (mixed & 0xFFFFFFFF) * (mixed >> 32);
            local.sums[i ^ 1] += word;
            local.keys[i] += ODD;
        }
    }
    state = local;
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void add_steps_wide(Sums& state, const std::byte* bytes,
                                                    std::size_t steps) {
    auto* const sums = reinterpret_cast<__m256i*>(state.sums.data());
    auto* const keys = reinterpret_cast<__m256i*>(state.keys.data());
    const __m256i odd = _mm256_set1_epi64x(static_cast<long long>(ODD));
    static constexpr int NEIGHBOUR = 0x4E; // exchanges the words of each pair
    __m256i low_sum = _mm256_loadu_si256(sums);
    __m256i high_sum = _mm256_loadu_si256(sums + 1);
    __m256i low_key = _mm256_loadu_si256(keys);
    __m256i high_key = _mm256_loadu_si256(keys + 1);
    for (; steps != 0; --steps, bytes += STEP_BYTES) {
        const auto* const words = reinterpret_cast<const __m256i*>(bytes);
        const __m256i low = _mm256_loadu_si256(words);
        const __m256i high = _mm256_loadu_si256(words + 1);
        const __m256i low_mixed = _mm256_xor_si256(low, low_key);
        const __m256i high_mixed = _mm256_xor_si256(high, high_key);
        low_sum = _mm256_add_epi64(
            low_sum, _mm256_add_epi64(_mm256_mul_epu32(low_mixed, _mm256_srli_epi64(low_mixed, 32)),
                                      _mm256_shuffle_epi32(low, NEIGHBOUR)));
        high_sum = _mm256_add_epi64(
            high_sum,
            _mm256_add_epi64(_mm256_mul_epu32(high_mixed, _mm256_srli_epi64(high_mixed, 32)),
                             _mm256_shuffle_epi32(high, NEIGHBOUR)));
        low_key = _mm256_add_epi64(low_key, odd);
        high_key = _mm256_add_epi64(high_key, odd);
    }
    _mm256_storeu_si256(sums, low_sum);
    _mm256_storeu_si256(sums + 1, high_sum);
    _mm256_storeu_si256(keys, low_key);
    _mm256_storeu_si256(keys + 1, high_key);
}

AddSteps choose_add_steps() {
    return __builtin_cpu_supports("avx2") ? add_steps_wide : add_steps_plain;
}

#else

AddSteps choose_add_steps() {
    return add_steps_plain;
}

#endif

} // namespace

} // namespace cuprum::detail
