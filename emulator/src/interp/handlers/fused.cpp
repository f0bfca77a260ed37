// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Two loads and a multiply-add in one handler, the most common use of loaded values. The loaded
// values do not go through registers.

#include "bytecode/fused_forms.hpp"
#include "interp/handlers/float_common.hpp"
#include "interp/handlers/linear_access.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// Returns a chunk of lanes of a half; `chunk` counts from the start of the half.
[[gnu::always_inline]] inline Vector<float> fetch(const std::byte* from, bool is_uniform,
                                                  unsigned chunk) {
    return is_uniform ? broadcast<float>(*reinterpret_cast<const Aliased<float>::Value*>(from))
                      : load<float>(from, chunk);
}

template <Space FIRST>
[[gnu::noinline]] const Instruction* run_first(WarpContext& warp, const Instruction* at,
                                               std::uint32_t mask) {
    static const Handler alone = select_linear_memory({.space = FIRST});
    return alone(warp, at, mask);
}

template <FusedRole ROLE>
[[gnu::always_inline]] inline Vector<float> combine(Vector<float> first, Vector<float> second,
                                                    Vector<float> other) {
    return canonical(ROLE == FusedRole::Product      ? fused(first, second, other)
                     : ROLE == FusedRole::AddsSecond ? fused(first, other, second)
                                                     : fused(second, other, first));
}

/// Computes if the lanes of each half of the warp read adjacent addresses or one address.
template <Space FIRST, Space SECOND, FusedRole ROLE>
[[gnu::noinline]] const Instruction* load_load_fma_halves(WarpContext& warp, const Instruction* at,
                                                          std::uint32_t mask) {
    constexpr unsigned chunks = CHUNKS<float> / 2; // of half a warp
    const Instruction* const fma = at + 2;
    Places a;
    Places b;
    if (mask != FULL_MASK || !find_places<FIRST, 4, false>(warp, at, a) ||
        !find_places<SECOND, 4, false>(warp, at + 1, b)) [[unlikely]] {
        return run_first<FIRST>(warp, at, mask);
    }
    std::byte* const to = locate(warp, fma->dst[0]);
    const std::byte* const other = locate(warp, fma->src[ROLE == FusedRole::Product ? 2 : 1]);
    for (unsigned half = 0; half < 2; ++half) {
        const std::byte* const from_a = half == 0 ? a.low : a.high;
        const std::byte* const from_b = half == 0 ? b.low : b.high;
        for (unsigned i = 0; i < chunks; ++i) {
            const unsigned chunk = half * chunks + i;
            store<float>(to, chunk,
                         combine<ROLE>(fetch(from_a, a.is_uniform, i),
                                       fetch(from_b, b.is_uniform, i), load<float>(other, chunk)));
        }
    }
    return at + 3;
}

template <Space FIRST, Space SECOND, FusedRole ROLE>
const Instruction* load_load_fma(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Instruction* const fma = at + 2;
    bool is_a_uniform = false;
    bool is_b_uniform = false;
    const std::byte* const a =
        mask == FULL_MASK ? find_place<FIRST, 4, false>(warp, at, is_a_uniform) : nullptr;
    const std::byte* const b =
        a != nullptr ? find_place<SECOND, 4, false>(warp, at + 1, is_b_uniform) : nullptr;
    if (b == nullptr) [[unlikely]] {
        return load_load_fma_halves<FIRST, SECOND, ROLE>(warp, at, mask);
    }
    std::byte* const to = locate(warp, fma->dst[0]);
    const std::byte* const other = locate(warp, fma->src[ROLE == FusedRole::Product ? 2 : 1]);
    for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
        store<float>(to, chunk,
                     combine<ROLE>(fetch(a, is_a_uniform, chunk), fetch(b, is_b_uniform, chunk),
                                   load<float>(other, chunk)));
    }
    return at + 3;
}

template <Space FIRST, Space SECOND>
Handler select_role(FusedRole role) {
    switch (role) {
    case FusedRole::Product:
        return load_load_fma<FIRST, SECOND, FusedRole::Product>;
    case FusedRole::AddsSecond:
        return load_load_fma<FIRST, SECOND, FusedRole::AddsSecond>;
    default:
        return load_load_fma<FIRST, SECOND, FusedRole::AddsFirst>;
    }
}

Handler select_load_load_fma(const LoadLoadFmaForm& form) {
    if (form.first == Space::None && form.second == Space::None) {
        return select_role<Space::None, Space::None>(form.role);
    }
    if (form.first == Space::Global) {
        return form.second == Space::Global   ? select_role<Space::Global, Space::Global>(form.role)
               : form.second == Space::Shared ? select_role<Space::Global, Space::Shared>(form.role)
                                              : nullptr;
    }
    if (form.first == Space::Shared) {
        return form.second == Space::Global   ? select_role<Space::Shared, Space::Global>(form.role)
               : form.second == Space::Shared ? select_role<Space::Shared, Space::Shared>(form.role)
                                              : nullptr;
    }
    return nullptr;
}

} // namespace

const FusedSelectors FUSED_SELECTORS = {.load_load_fma = select_load_load_fma};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
