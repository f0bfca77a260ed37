// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores with a linear address. Its steps show at once whether the lanes are adjacent,
// adjacent in two halves (blocks that are 16 threads wide), or at one address.

#include "interp/handlers/linear_access.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

const Instruction* access_settled(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if ((at->tag & NARROW_ADDRESS) != 0) {
        settle<std::uint32_t>(warp, at->src[0]);
    } else {
        settle<std::uint64_t>(warp, at->src[0]);
    }
    return at->plain(warp, at, mask);
}

namespace {

/// Loads if each half of the warp is adjacent or at one address, and in all other cases.
template <Space SPACE, typename Element, typename Register>
[[gnu::noinline]] const Instruction* load_halves(WarpContext& warp, const Instruction* at,
                                                 std::uint32_t mask) {
    constexpr unsigned chunks = CHUNKS<Register> / 2; // of half a warp
    Places places;
    if (mask != FULL_MASK || !find_places<SPACE, sizeof(Element), false>(warp, at, places)) {
        return access_settled(warp, at, mask);
    }
    std::byte* const to = locate(warp, at->dst[0]);
    for (unsigned half = 0; half < 2; ++half) {
        const std::byte* const from = half == 0 ? places.low : places.high;
        for (unsigned i = 0; i < chunks; ++i) {
            store<Register>(to, half * chunks + i,
                            places.is_uniform ? broadcast_element<Element, Register>(from)
                                              : load_elements<Element, Register>(from, i));
        }
    }
    return at + 1;
}

template <Space SPACE, typename Element, typename Register>
const Instruction* load_linear(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    bool is_uniform = false;
    const std::byte* const from =
        may_be_adjacent(warp, mask)
            ? find_place<SPACE, sizeof(Element), false>(warp, at, is_uniform)
            : nullptr;
    if (from == nullptr) [[unlikely]] {
        return load_halves<SPACE, Element, Register>(warp, at, mask);
    }
    std::byte* const to = locate(warp, at->dst[0]);
    if (is_uniform) {
        const Vector<Register> value = broadcast_element<Element, Register>(from);
        for (unsigned chunk = 0; chunk < CHUNKS<Register>; ++chunk) {
            store<Register>(to, chunk, value);
        }
    } else {
        for (unsigned chunk = 0; chunk < CHUNKS<Register>; ++chunk) {
            store<Register>(to, chunk, load_elements<Element, Register>(from, chunk));
        }
    }
    return at + 1;
}

template <Space SPACE, typename Element, typename Register>
[[gnu::noinline]] const Instruction* store_halves(WarpContext& warp, const Instruction* at,
                                                  std::uint32_t mask) {
    constexpr unsigned chunks = CHUNKS<Register> / 2;
    Places places;
    if (mask != FULL_MASK || !find_places<SPACE, sizeof(Element), true>(warp, at, places) ||
        places.is_uniform) {
        return access_settled(warp, at, mask);
    }
    const std::byte* const from = locate(warp, at->src[1]);
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
        store_elements<Element, Register>(places.low, chunk, load<Register>(from, chunk));
    }
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
        store_elements<Element, Register>(places.high, chunk, load<Register>(from, chunks + chunk));
    }
    return at + 1;
}

template <Space SPACE, typename Element, typename Register>
const Instruction* store_linear(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    bool is_uniform = false;
    std::byte* const to = may_be_adjacent(warp, mask)
                              ? find_place<SPACE, sizeof(Element), true>(warp, at, is_uniform)
                              : nullptr;
    if (to == nullptr || is_uniform) [[unlikely]] {
        return store_halves<SPACE, Element, Register>(warp, at, mask);
    }
    const std::byte* const from = locate(warp, at->src[1]);
    for (unsigned chunk = 0; chunk < CHUNKS<Register>; ++chunk) {
        store_elements<Element, Register>(to, chunk, load<Register>(from, chunk));
    }
    return at + 1;
}

template <Space SPACE, typename Element, typename Register>
Handler select_direction(bool is_store) {
    return is_store ? store_linear<SPACE, Element, Register>
                    : load_linear<SPACE, Element, Register>;
}

template <typename Element, typename Register>
Handler select_space(const MemoryForm& form) {
    switch (form.space) {
    case Space::Global:
    case Space::Constant:
        return select_direction<Space::Global, Element, Register>(form.is_store);
    case Space::Shared:
        return select_direction<Space::Shared, Element, Register>(form.is_store);
    case Space::None:
        return select_direction<Space::None, Element, Register>(form.is_store);
    default:
        return nullptr;
    }
}

} // namespace

Handler select_linear_memory(const MemoryForm& form) {
    using U = std::uint32_t;
    using UL = std::uint64_t;
    if (!HAS_LINEAR_HANDLERS || form.is_ordered) {
        return nullptr;
    }
    if (form.count != 1) {
        return select_linear_vectors(form);
    }
    if (form.register_width == Width::B64) {
        return form.element_bytes == 8 ? select_space<UL, UL>(form) : nullptr;
    }
    if (form.register_width != Width::B32) {
        return nullptr;
    }
    const bool is_signed = form.is_signed && !form.is_store;
    switch (form.element_bytes) {
    case 1:
        return is_signed ? select_space<std::int8_t, U>(form) : select_space<std::uint8_t, U>(form);
    case 2:
        return is_signed ? select_space<std::int16_t, U>(form)
                         : select_space<std::uint16_t, U>(form);
    case 4:
        return select_space<U, U>(form);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
