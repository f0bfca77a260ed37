// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores of v2 and v4 with a linear address.

#include "interp/handlers/interleave.hpp"
#include "interp/handlers/linear_access.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <typename T>
constexpr unsigned HALF_CHUNKS = CHUNKS<T> / 2;

/// Finds the registers of the components. At most four components are loaded, and three stored,
/// without the kernel's list of further operands.
template <unsigned COUNT>
[[gnu::always_inline]] inline void locate_all(const WarpContext& warp, const Operand* operands,
                                              std::byte** places) {
    for (unsigned i = 0; i < COUNT; ++i) {
        places[i] = locate(warp, operands[i]);
    }
}

/// Loads the components of one address into `chunks` vectors of each register.
template <typename T, unsigned COUNT>
[[gnu::always_inline]] inline void load_one(std::byte* const* to, unsigned first, unsigned chunks,
                                            const std::byte* from) {
    // One access: programs pass a value and the flag that guards it together.
    typedef T Whole __attribute__((vector_size(sizeof(T) * COUNT), may_alias));
    const Whole whole = *reinterpret_cast<const Whole*>(from);
    for (unsigned i = 0; i < COUNT; ++i) {
        const Vector<T> value = broadcast<T>(whole[i]);
        for (unsigned chunk = 0; chunk < chunks; ++chunk) {
            store<T>(to[i], first + chunk, value);
        }
    }
}

template <Space SPACE, typename T, unsigned COUNT>
[[gnu::noinline]] const Instruction* load_halves(WarpContext& warp, const Instruction* at,
                                                 std::uint32_t mask) {
    Places places;
    if (mask != FULL_MASK || !find_places<SPACE, sizeof(T) * COUNT, false>(warp, at, places)) {
        return access_settled(warp, at, mask);
    }
    std::byte* to[COUNT];
    locate_all<COUNT>(warp, at->dst, to);
    if (places.is_uniform) {
        load_one<T, COUNT>(to, 0, HALF_CHUNKS<T>, places.low);
        load_one<T, COUNT>(to, HALF_CHUNKS<T>, HALF_CHUNKS<T>, places.high);
    } else {
        load_interleaved<T, COUNT>(to, 0, HALF_CHUNKS<T>, places.low);
        load_interleaved<T, COUNT>(to, HALF_CHUNKS<T>, HALF_CHUNKS<T>, places.high);
    }
    return at + 1;
}

template <Space SPACE, typename T, unsigned COUNT>
const Instruction* load_vectors(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    bool is_uniform = false;
    const std::byte* const from =
        may_be_adjacent(warp, mask)
            ? find_place<SPACE, sizeof(T) * COUNT, false>(warp, at, is_uniform)
            : nullptr;
    if (from == nullptr) [[unlikely]] {
        return load_halves<SPACE, T, COUNT>(warp, at, mask);
    }
    std::byte* to[COUNT];
    locate_all<COUNT>(warp, at->dst, to);
    if (is_uniform) {
        load_one<T, COUNT>(to, 0, CHUNKS<T>, from);
    } else {
        load_interleaved<T, COUNT>(to, 0, CHUNKS<T>, from);
    }
    return at + 1;
}

template <unsigned COUNT>
[[gnu::always_inline]] inline void locate_values(const WarpContext& warp, const Instruction* at,
                                                 std::byte** from) {
    constexpr unsigned own = COUNT < 3 ? COUNT : 3;
    locate_all<own>(warp, at->src + 1, from);
    if constexpr (COUNT > own) {
        from[own] = locate(warp, further_operand(warp, at, 0));
    }
}

template <Space SPACE, typename T, unsigned COUNT>
[[gnu::noinline]] const Instruction* store_halves(WarpContext& warp, const Instruction* at,
                                                  std::uint32_t mask) {
    Places places;
    if (mask != FULL_MASK || !find_places<SPACE, sizeof(T) * COUNT, true>(warp, at, places) ||
        places.is_uniform) {
        return access_settled(warp, at, mask);
    }
    std::byte* from[COUNT];
    locate_values<COUNT>(warp, at, from);
    store_interleaved<T, COUNT>(places.low, 0, HALF_CHUNKS<T>, from);
    store_interleaved<T, COUNT>(places.high, HALF_CHUNKS<T>, HALF_CHUNKS<T>, from);
    return at + 1;
}

template <Space SPACE, typename T, unsigned COUNT>
const Instruction* store_vectors(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    bool is_uniform = false;
    std::byte* const to = may_be_adjacent(warp, mask)
                              ? find_place<SPACE, sizeof(T) * COUNT, true>(warp, at, is_uniform)
                              : nullptr;
    if (to == nullptr || is_uniform) [[unlikely]] {
        return store_halves<SPACE, T, COUNT>(warp, at, mask);
    }
    std::byte* from[COUNT];
    locate_values<COUNT>(warp, at, from);
    store_interleaved<T, COUNT>(to, 0, CHUNKS<T>, from);
    return at + 1;
}

template <Space SPACE, typename T, unsigned COUNT>
Handler select_direction(bool is_store) {
    return is_store ? store_vectors<SPACE, T, COUNT> : load_vectors<SPACE, T, COUNT>;
}

template <typename T, unsigned COUNT>
Handler select_space(const MemoryForm& form) {
    switch (form.space) {
    case Space::Global:
    case Space::Constant:
        return select_direction<Space::Global, T, COUNT>(form.is_store);
    case Space::Shared:
        return select_direction<Space::Shared, T, COUNT>(form.is_store);
    case Space::None:
        return select_direction<Space::None, T, COUNT>(form.is_store);
    default:
        return nullptr;
    }
}

} // namespace

Handler select_linear_vectors(const MemoryForm& form) {
    if (form.element_bytes == 8 && form.register_width == Width::B64 && form.count == 2) {
        return select_space<std::uint64_t, 2>(form);
    }
    if (form.element_bytes != 4 || form.register_width != Width::B32) {
        return nullptr;
    }
    return form.count == 2   ? select_space<std::uint32_t, 2>(form)
           : form.count == 4 ? select_space<std::uint32_t, 4>(form)
                             : nullptr;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
