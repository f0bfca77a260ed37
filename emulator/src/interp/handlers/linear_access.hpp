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

template <typename Element, typename Register>
[[gnu::always_inline]] inline Vector<Register> load_elements(const std::byte* from,
                                                             unsigned chunk) {
    if constexpr (sizeof(Element) == sizeof(Register)) {
        return load<Register>(from, chunk);
    } else {
        using Elements = typename ElementsOf<Element, Register>::Value;
        // Convert through the signed type: a narrow signed element extends its sign.
        const auto wide = __builtin_convertvector(reinterpret_cast<const Elements*>(from)[chunk],
                                                  Vector<SignedLike<Register>>);
        return reinterpret_cast<Vector<Register>>(wide);
    }
}

template <typename Element, typename Register>
[[gnu::always_inline]] inline void store_elements(std::byte* to, unsigned chunk,
                                                  Vector<Register> value) {
    if constexpr (sizeof(Element) == sizeof(Register)) {
        store<Register>(to, chunk, value);
    } else {
        using Elements = typename ElementsOf<Element, Register>::Value;
        reinterpret_cast<Elements*>(to)[chunk] = __builtin_convertvector(value, Elements);
    }
}

template <typename Element, typename Register>
[[gnu::always_inline]] inline Vector<Register> broadcast_element(const std::byte* from) {
    const auto value = *reinterpret_cast<const typename Aliased<Element>::Value*>(from);
    return broadcast<Register>(static_cast<Register>(static_cast<SignedLike<Register>>(value)));
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
