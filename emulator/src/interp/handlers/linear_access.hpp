// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds where the lanes of an access lie from the steps of its linear address, and moves a vector
// of them.

#pragma once

#include "interp/handlers/access.hpp"
#include "interp/handlers/linear.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Runs the plain handler of an access after bringing the lanes of its address up to date.
[[gnu::noinline]] const Instruction* access_settled(WarpContext& warp, const Instruction* at,
                                                    std::uint32_t mask);

/// Returns whether all lanes of the warp access memory and may be adjacent. In blocks that are 16
/// threads wide they rarely are, so handlers look at the halves of the warp at once.
[[gnu::always_inline]] inline bool may_be_adjacent(const WarpContext& warp, std::uint32_t mask) {
    return mask == warp.row_mask; // a mask is never empty
}

/// Where the two halves of a warp access memory. The lanes of a half are adjacent or all at one
/// address.
struct Places {
    std::byte* low;
    std::byte* high;
    bool is_uniform;
};

constexpr unsigned HALF = WARP_SIZE / 2;
constexpr unsigned HALF_STEP = 5; // index in a head of the step between the halves
constexpr unsigned LOW_STEP_BITS = STEP_BITS & ~(1u << HALF_STEP);

/// The steps of addresses that are BYTES apart.
template <std::uint64_t BYTES>
[[gnu::always_inline]] inline Head sequence() {
    return Head{0, BYTES, BYTES * 2, BYTES * 4, BYTES * 8, BYTES * 16, 0, 0};
}

/// Returns the host address of a range in device memory that may be read (or written), or in the
/// block's shared memory. Returns nullptr for all others, which plain handlers check.
template <Space SPACE, bool IS_WRITE>
[[gnu::always_inline]] inline std::byte* resolve_mapped(const WarpContext& warp,
                                                        std::uint64_t address, unsigned bytes) {
    const BlockContext& block = *warp.block;
    if constexpr (SPACE == Space::Shared) {
        // address + bytes may wrap.
        return address <= block.shared_bytes && bytes <= block.shared_bytes - address
                   ? block.shared + address
                   : nullptr;
    } else {
        const MemoryMap& map = *block.memory;
        const std::uint64_t begin = address - map.memory_base;
        if (begin < map.memory_bytes) [[likely]] {
            const auto* const granules = reinterpret_cast<const std::uint8_t*>(map.granules);
            constexpr std::uint8_t wanted = IS_WRITE ? WRITE_BIT : READ_BIT;
            const std::uint64_t granule = begin >> map.granule_shift;
            // Ranges that span two granules are rare.
            return (begin + bytes - 1) >> map.granule_shift == granule &&
                           (__atomic_load_n(granules + granule, __ATOMIC_RELAXED) & wanted) != 0
                       ? reinterpret_cast<std::byte*>(address)
                       : nullptr;
        }
        if constexpr (SPACE == Space::None) {
            const std::uint64_t offset = address - map.shared_base;
            if (offset < map.shared_bytes) {
                return resolve_mapped<Space::Shared, IS_WRITE>(warp, offset, bytes);
            }
        }
        return nullptr;
    }
}

/// Returns the address of the first lane of an access, in the space of the instruction.
[[gnu::always_inline]] inline std::uint64_t start_of(const Aliased<std::uint64_t>::Value* head,
                                                     const Instruction* at) {
    const std::uint64_t start = head[0] + static_cast<std::uint64_t>(at->immediate);
    return (at->tag & NARROW_ADDRESS) != 0 ? static_cast<std::uint32_t>(start) : start;
}

/// Finds where all 32 lanes access memory, one element of BYTES each, adjacent or at one address.
/// Returns nullptr if they do neither, or if the memory may not exist.
template <Space SPACE, unsigned BYTES, bool IS_WRITE>
[[gnu::always_inline]] inline std::byte* find_place(const WarpContext& warp, const Instruction* at,
                                                    bool& is_uniform) {
    const auto* const head = head_of(warp, at->src[0]);
    const std::uint64_t start = start_of(head, at);
    const Head value = load_head(head);
    if (!is_head_valid(value, head) || (start & (BYTES - 1)) != 0) [[unlikely]] {
        return nullptr;
    }
    is_uniform = (nonzero_places(value) & STEP_BITS) == 0;
    if (is_uniform) {
        return resolve_mapped<SPACE, IS_WRITE>(warp, start, BYTES);
    }
    return (nonzero_places(value ^ sequence<BYTES>()) & STEP_BITS) == 0
               ? resolve_mapped<SPACE, IS_WRITE>(warp, start, BYTES * WARP_SIZE)
               : nullptr;
}

/// Does the same separately for each half of the warp.
template <Space SPACE, unsigned BYTES, bool IS_WRITE>
[[gnu::always_inline]] inline bool find_places(const WarpContext& warp, const Instruction* at,
                                               Places& places) {
    const auto* const head = head_of(warp, at->src[0]);
    const std::uint64_t start = start_of(head, at);
    const Head value = load_head(head);
    std::uint64_t second = start + value[HALF_STEP];
    second = (at->tag & NARROW_ADDRESS) != 0 ? static_cast<std::uint32_t>(second) : second;
    if (!is_head_valid(value, head) || ((start | second) & (BYTES - 1)) != 0) {
        return false;
    }
    places.is_uniform = (nonzero_places(value) & LOW_STEP_BITS) == 0;
    if (!places.is_uniform && (nonzero_places(value ^ sequence<BYTES>()) & LOW_STEP_BITS) != 0) {
        return false;
    }
    const unsigned bytes = places.is_uniform ? BYTES : BYTES * HALF;
    places.low = resolve_mapped<SPACE, IS_WRITE>(warp, start, bytes);
    places.high = resolve_mapped<SPACE, IS_WRITE>(warp, second, bytes);
    return places.low != nullptr && places.high != nullptr;
}

/// Memory elements, as many as a vector register has lanes.
template <typename Element, typename Register>
struct ElementsOf {
    typedef Element Value __attribute__((vector_size(LANES<Register> * sizeof(Element)),
                                         aligned(sizeof(Element)), may_alias));
};

/// Loads narrow elements and extends them to the lanes of a register.
///
/// NOTE: compilers convert vectors of bytes to words one by one, so this names the instructions.
template <typename Element>
[[gnu::always_inline]] inline Vector<std::uint32_t> extend_elements(const std::byte* from) {
    using Elements = typename ElementsOf<Element, std::uint32_t>::Value;
    const Elements narrow = *reinterpret_cast<const Elements*>(from);
    [[maybe_unused]] constexpr bool is_signed = Element(-1) < Element(0);
#if defined(__AVX512F__)
    constexpr __mmask16 all = 0xffff;
    if constexpr (sizeof(Element) == 1) {
        const auto bytes = reinterpret_cast<__m128i>(narrow);
        return reinterpret_cast<Vector<std::uint32_t>>(
            is_signed ? _mm512_maskz_cvtepi8_epi32(all, bytes)
                      : _mm512_maskz_cvtepu8_epi32(all, bytes));
    } else {
        const auto halves = reinterpret_cast<__m256i>(narrow);
        return reinterpret_cast<Vector<std::uint32_t>>(
            is_signed ? _mm512_maskz_cvtepi16_epi32(all, halves)
                      : _mm512_maskz_cvtepu16_epi32(all, halves));
    }
#elif defined(__AVX2__)
    if constexpr (sizeof(Element) == 1) {
        const __m128i bytes = _mm_cvtsi64_si128(reinterpret_cast<long long>(narrow));
        return reinterpret_cast<Vector<std::uint32_t>>(is_signed ? _mm256_cvtepi8_epi32(bytes)
                                                                 : _mm256_cvtepu8_epi32(bytes));
    } else {
        const auto halves = reinterpret_cast<__m128i>(narrow);
        return reinterpret_cast<Vector<std::uint32_t>>(is_signed ? _mm256_cvtepi16_epi32(halves)
                                                                 : _mm256_cvtepu16_epi32(halves));
    }
#else
    // Convert through the signed type: a narrow signed element extends its sign.
    return reinterpret_cast<Vector<std::uint32_t>>(
        __builtin_convertvector(narrow, Vector<std::int32_t>));
#endif
}

/// Stores the low bits of the lanes of a register as narrow elements.
template <typename Element>
[[gnu::always_inline]] inline void store_narrowed(std::byte* to, Vector<std::uint32_t> value) {
    using Elements = typename ElementsOf<Element, std::uint32_t>::Value;
    auto* const place = reinterpret_cast<Elements*>(to);
#if defined(__AVX512F__)
    constexpr __mmask16 all = 0xffff;
    const auto words = reinterpret_cast<__m512i>(value);
    if constexpr (sizeof(Element) == 1) {
        *place = reinterpret_cast<Elements>(_mm512_maskz_cvtepi32_epi8(all, words));
    } else {
        *place = reinterpret_cast<Elements>(_mm512_maskz_cvtepi32_epi16(all, words));
    }
#else
    *place = __builtin_convertvector(value, Elements);
#endif
}

template <typename Element, typename Register>
[[gnu::always_inline]] inline Vector<Register> load_elements(const std::byte* from,
                                                             unsigned chunk) {
    if constexpr (sizeof(Element) == sizeof(Register)) {
        return load<Register>(from, chunk);
    } else {
        return extend_elements<Element>(from + chunk * LANES<Register> * sizeof(Element));
    }
}

template <typename Element, typename Register>
[[gnu::always_inline]] inline void store_elements(std::byte* to, unsigned chunk,
                                                  Vector<Register> value) {
    if constexpr (sizeof(Element) == sizeof(Register)) {
        store<Register>(to, chunk, value);
    } else {
        store_narrowed<Element>(to + chunk * LANES<Register> * sizeof(Element), value);
    }
}

template <typename Element, typename Register>
[[gnu::always_inline]] inline Vector<Register> broadcast_element(const std::byte* from) {
    const auto value = *reinterpret_cast<const typename Aliased<Element>::Value*>(from);
    return broadcast<Register>(static_cast<Register>(static_cast<SignedLike<Register>>(value)));
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
