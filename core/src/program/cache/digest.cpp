// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/cache/digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace cuprum::detail {

namespace {

using State = std::array<std::uint32_t, 8>;
using Compress = void (*)(State& state, const unsigned char* blocks, std::size_t count);

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
alignas(16) constexpr std::array<std::uint32_t, 64> ROUND{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void compress_plain(State& state, const unsigned char* blocks, std::size_t count) {
    for (; count != 0; --count, blocks += 64) {
        std::array<std::uint32_t, 64> words{};
        for (std::size_t i = 0; i < 16; ++i) {
            words[i] = std::uint32_t{blocks[i * 4]} << 24 | std::uint32_t{blocks[i * 4 + 1]} << 16 |
                       std::uint32_t{blocks[i * 4 + 2]} << 8 | std::uint32_t{blocks[i * 4 + 3]};
        }
        for (std::size_t i = 16; i < 64; ++i) {
            const std::uint32_t early = words[i - 15];
            const std::uint32_t late = words[i - 2];
            words[i] = words[i - 16] + words[i - 7] +
                       (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) +
                       (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
        }
        auto [a, b, c, d, e, f, g, h] = state;
        for (std::size_t i = 0; i < 64; ++i) {
            const std::uint32_t first = h +
                                        (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                        ((e & f) ^ (~e & g)) + ROUND[i] + words[i];
            const std::uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                                         ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + first;
            d = c;
            c = b;
            b = a;
            a = first + second;
        }
        const State worked{a, b, c, d, e, f, g, h};
        for (std::size_t i = 0; i < state.size(); ++i) {
            state[i] += worked[i];
        }
    }
}

#if defined(__x86_64__)

/// The same with the processor's instructions, which do two rounds at a time and hold the state as
/// ABEF and CDGH.
__attribute__((target("sha,sse4.1"))) void
compress_with_instructions(State& state, const unsigned char* blocks, std::size_t count) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    auto* const stored = reinterpret_cast<__m128i*>(state.data());
    const __m128i dcba = _mm_loadu_si128(stored);
    const __m128i hgfe = _mm_loadu_si128(stored + 1);
    const __m128i badc = _mm_shuffle_epi32(dcba, 0xB1);
    const __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1B);
    __m128i abef = _mm_alignr_epi8(badc, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, badc, 0xF0);
    for (; count != 0; --count, blocks += 64) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i words[4]; // NOLINT: std::array would drop the alignment attribute
        for (int i = 0; i < 4; ++i) {
            words[i] = _mm_shuffle_epi8(
                _mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i), swap);
        }
        for (int i = 0; i < 16; ++i) {
            const __m128i word = words[i % 4];
            const __m128i sum = _mm_add_epi32(
                word, _mm_load_si128(reinterpret_cast<const __m128i*>(ROUND.data()) + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
            if (i < 12) { // the words of four rounds on
                const __m128i next = words[(i + 1) % 4];
                const __m128i after = words[(i + 2) % 4];
                const __m128i last = words[(i + 3) % 4];
                const __m128i partial = _mm_add_epi32(_mm_sha256msg1_epu32(word, next),
                                                      _mm_alignr_epi8(last, after, 4));
                words[i % 4] = _mm_sha256msg2_epu32(partial, last);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128(stored, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(stored + 1, _mm_alignr_epi8(dchg, feba, 8));
}

bool has_instructions() {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    static constexpr unsigned SHA_BIT = 1U << 29;
    return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3") &&
           __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & SHA_BIT) != 0;
}

Compress choose_compress() {
    return has_instructions() ? compress_with_instructions : compress_plain;
}

#else

Compress choose_compress() {
    return compress_plain;
}

#endif

} // namespace

void Sha256::add(std::string_view bytes) noexcept {
    if (bytes.empty()) {
        return; // there may not even be an address
    }
    static const Compress compress = choose_compress();
    const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t left = bytes.size();
    const std::size_t held = bytes_ % BLOCK_BYTES;
    bytes_ += left;
    if (held != 0) {
        const std::size_t taken = std::min(left, BLOCK_BYTES - held);
        std::memcpy(pending_.data() + held, from, taken);
        from += taken;
        left -= taken;
        if (held + taken < BLOCK_BYTES) {
            return;
        }
        compress(state_, pending_.data(), 1);
    }
    compress(state_, from, left / BLOCK_BYTES);
    from += left / BLOCK_BYTES * BLOCK_BYTES;
    if (left % BLOCK_BYTES != 0) {
        std::memcpy(pending_.data(), from, left % BLOCK_BYTES);
    }
}

void Sha256::add_field(std::string_view text) noexcept {
    const std::uint64_t length = text.size();
    std::array<char, sizeof(length)> bytes{};
    std::memcpy(bytes.data(), &length, sizeof(length));
    add({bytes.data(), bytes.size()});
    add(text);
}

std::string Sha256::finish() {
    const std::uint64_t bits = bytes_ * 8;
    static constexpr std::size_t LENGTH_AT = BLOCK_BYTES - 8;
    const std::size_t held = bytes_ % BLOCK_BYTES;
    std::string padding(1, '\x80');
    padding.append((held < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK_BYTES) - held - 1, '\0');
    for (int shift = 56; shift >= 0; shift -= 8) {
        padding += static_cast<char>(bits >> shift & 0xFF);
    }
    add(padding);
    std::string digest;
    for (const std::uint32_t word : state_) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            digest += static_cast<char>(word >> shift & 0xFF);
        }
    }
    return digest;
}

std::string sha256(std::string_view text) {
    Sha256 hash;
    hash.add(text);
    return hash.finish();
}

std::string hexadecimal(std::string_view bytes) {
    static constexpr std::string_view DIGITS = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char byte : bytes) {
        text += DIGITS[static_cast<unsigned char>(byte) >> 4];
        text += DIGITS[static_cast<unsigned char>(byte) & 0xF];
    }
    return text;
}

} // namespace cuprum::detail
