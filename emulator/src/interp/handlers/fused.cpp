// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Two loads and a multiply-add in one handler, the most common use of loaded values. The loaded
// values do not go through registers.

#include "interp/handlers/linear_access.hpp"
#include "interp/handlers/products.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <Space FIRST>
[[gnu::noinline]] const Instruction* run_first(WarpContext& warp, const Instruction* at,
                                               std::uint32_t mask) {
    static const Handler alone = select_linear_memory({.space = FIRST});
    return alone(warp, at, mask);
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
    Vector<float> results[CHUNKS<float>];
    for (unsigned half = 0; half < 2; ++half) {
        const std::byte* const from_a = half == 0 ? a.low : a.high;
        const std::byte* const from_b = half == 0 ? b.low : b.high;
        for (unsigned i = 0; i < chunks; ++i) {
            const unsigned chunk = half * chunks + i;
            results[chunk] =
                combine<ROLE>(fetch_lanes(from_a, a.is_uniform, i),
                              fetch_lanes(from_b, b.is_uniform, i), load<float>(other, chunk));
        }
    }
    store_canonical(to, results);
    return at + 3;
}

template <Space FIRST, Space SECOND, FusedRole ROLE>
const Instruction* load_load_fma(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Instruction* const fma = at + 2;
    bool is_a_uniform = false;
    bool is_b_uniform = false;
    const std::byte* const a =
        may_be_adjacent(warp, mask) ? find_place<FIRST, 4, false>(warp, at, is_a_uniform) : nullptr;
    const std::byte* const b =
        a != nullptr ? find_place<SECOND, 4, false>(warp, at + 1, is_b_uniform) : nullptr;
    if (b == nullptr) [[unlikely]] {
        return load_load_fma_halves<FIRST, SECOND, ROLE>(warp, at, mask);
    }
    std::byte* const to = locate(warp, fma->dst[0]);
    const std::byte* const other = locate(warp, fma->src[ROLE == FusedRole::Product ? 2 : 1]);
    Vector<float> results[CHUNKS<float>];
    for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
        results[chunk] =
            combine<ROLE>(fetch_lanes(a, is_a_uniform, chunk), fetch_lanes(b, is_b_uniform, chunk),
                          load<float>(other, chunk));
    }
    store_canonical(to, results);
    return at + 3;
}

/// A linear register that a chain has read or written, so that it need not be loaded again.
struct Known {
    std::uint32_t operand = Operand::NONE_BITS;
    Head value{};
};

/// What a chain knows about a linear address: where its lanes are without the offset.
struct Base {
    Known known;
    bool is_uniform = false;
    std::uint64_t low = 0;
    std::uint64_t high = 0; // of the second half of the warp
};

/// Reads a linear register of 64 bits, or a uniform value. Returns false if only the lanes hold the
/// value.
[[gnu::always_inline]] inline bool read_known(const WarpContext& warp, Operand operand,
                                              const Known& first, const Known& second,
                                              Head& value) {
    if (operand.bits == first.operand) {
        value = first.value;
        return true;
    }
    if (operand.bits == second.operand) {
        value = second.value;
        return true;
    }
    return read_linear<std::uint64_t>(warp, operand, value);
}

/// Reads the address of a load, unless it is the same as before. Returns false if its lanes are
/// neither adjacent nor equal.
template <bool HALVES>
[[gnu::always_inline]] inline bool read_base(const WarpContext& warp, const Instruction* load,
                                             const Known& written, Base& base) {
    constexpr unsigned steps = HALVES ? LOW_STEP_BITS : STEP_BITS;
    if (base.known.operand == load->src[0].bits) {
        return true;
    }
    Head value{};
    if (load->src[0].bits == written.operand) {
        value = written.value;
    } else {
        const auto* const head = head_of(warp, load->src[0]);
        value = load_head(head);
        if (!is_head_valid(value, head)) [[unlikely]] {
            return false;
        }
    }
    base.is_uniform = (nonzero_places(value) & steps) == 0;
    if (!base.is_uniform && (nonzero_places(value ^ sequence<4>()) & steps) != 0) {
        return false;
    }
    base.known = {load->src[0].bits, value};
    base.low = value[0];
    base.high = HALVES ? value[0] + value[HALF_STEP] : 0;
    return true;
}

template <Space SPACE>
[[gnu::always_inline]] inline const std::byte*
find_range(const WarpContext& warp, const Instruction* load, std::uint64_t base, unsigned bytes) {
    std::uint64_t start = base + static_cast<std::uint64_t>(load->immediate);
    start = (load->tag & NARROW_ADDRESS) != 0 ? static_cast<std::uint32_t>(start) : start;
    return (start & 3) == 0 ? resolve_mapped<SPACE, false>(warp, start, bytes) : nullptr;
}

/// The sum of a chain, and its steps.
template <Space FIRST, Space SECOND, bool HALVES>
struct Chain {
    static constexpr unsigned PARTS = HALVES ? 2 : 1;
    static constexpr unsigned CHUNKS_A_PART = CHUNKS<float> / PARTS;

    Vector<float> sum[CHUNKS<float>];
    Base a;
    Base b;
    Known written; // by the last addition

    /// Adds the product of two loads. Returns false if they need a closer look.
    [[gnu::always_inline]] bool add_product(const WarpContext& warp, const Instruction* at) {
        if (!read_base<HALVES>(warp, at, written, a) ||
            !read_base<HALVES>(warp, at + 1, written, b)) [[unlikely]] {
            return false;
        }
        const unsigned a_bytes = a.is_uniform ? 4 : 4 * WARP_SIZE / PARTS;
        const unsigned b_bytes = b.is_uniform ? 4 : 4 * WARP_SIZE / PARTS;
        const std::byte* from_a[2];
        const std::byte* from_b[2];
        from_a[0] = find_range<FIRST>(warp, at, a.low, a_bytes);
        from_b[0] = find_range<SECOND>(warp, at + 1, b.low, b_bytes);
        from_a[1] = HALVES ? find_range<FIRST>(warp, at, a.high, a_bytes) : from_a[0];
        from_b[1] = HALVES ? find_range<SECOND>(warp, at + 1, b.high, b_bytes) : from_b[0];
        if (from_a[0] == nullptr || from_b[0] == nullptr || from_a[1] == nullptr ||
            from_b[1] == nullptr) [[unlikely]] {
            return false;
        }
        for (unsigned part = 0; part < PARTS; ++part) {
            for (unsigned i = 0; i < CHUNKS_A_PART; ++i) {
                Vector<float>& chunk = sum[part * CHUNKS_A_PART + i];
                chunk = fused(fetch_lanes(from_a[part], a.is_uniform, i),
                              fetch_lanes(from_b[part], b.is_uniform, i), chunk);
            }
        }
        return true;
    }

    /// Runs an addition between two products. Returns false if it needs a closer look.
    [[gnu::always_inline]] bool add_addresses(const WarpContext& warp, const Instruction* at) {
        Head first;
        Head second;
        if (!read_known(warp, at->src[0], written, a.known, first) ||
            !read_known(warp, at->src[1], written, b.known, second)) [[unlikely]] {
            return false;
        }
        const std::uint32_t changed = at->dst[0].bits;
        written = {changed, first + second};
        write_linear<std::uint64_t>(warp, at->dst[0], written.value);
        a.known.operand = a.known.operand == changed ? Operand::NONE_BITS : a.known.operand;
        b.known.operand = b.known.operand == changed ? Operand::NONE_BITS : b.known.operand;
        return true;
    }
};

/// Runs an addition behind a chain. Returns false if it needs a closer look.
template <typename T>
[[gnu::always_inline]] inline bool add_linear(const WarpContext& warp, const Instruction* at) {
    Head first;
    Head second;
    if (!read_linear<T>(warp, at->src[0], first) || !read_linear<T>(warp, at->src[1], second))
        [[unlikely]] {
        return false;
    }
    write_linear<T>(warp, at->dst[0], first + second);
    return true;
}

/// Runs a chain of products that are added to one sum (bytecode::Variant::FusedChain). The sum
/// stays in registers of the processor. NaNs become canonical at the end: until then, only the sum
/// itself is computed from them.
template <Space FIRST, Space SECOND, bool HALVES>
[[gnu::noinline]] const Instruction* run_chain(WarpContext& warp, const Instruction* at,
                                               std::uint32_t mask) {
    if constexpr (!HALVES) {
        if (!may_be_adjacent(warp, mask)) [[unlikely]] {
            return run_chain<FIRST, SECOND, true>(warp, at, mask);
        }
    } else if (mask != FULL_MASK) {
        return load_load_fma_halves<FIRST, SECOND, FusedRole::Product>(warp, at, mask);
    }
    Chain<FIRST, SECOND, HALVES> chain;
    const std::byte* const start = locate(warp, at[2].src[2]);
    for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
        chain.sum[chunk] = load<float>(start, chunk);
    }
    if (!chain.add_product(warp, at)) [[unlikely]] {
        return load_load_fma_halves<FIRST, SECOND, FusedRole::Product>(warp, at, mask);
    }
    const Instruction* fma = at + 2; // the last one whose result is in `sum`
    const Instruction* next = at + 3;
    while (fma[-2].form.variant == bytecode::Variant::FusedChain) {
        bool is_done = true;
        while (is_done && next->form.variant == bytecode::Variant::LinkedAdd) {
            is_done = chain.add_addresses(warp, next);
            next += is_done ? 1 : 0;
        }
        if (!is_done || !chain.add_product(warp, next)) [[unlikely]] {
            break; // continue with `next` alone
        }
        fma = next + 2;
        next += 3;
    }
    store_canonical(locate(warp, fma->dst[0]), chain.sum);
    for (bool is_done = true; is_done; next += is_done ? 1 : 0) {
        const bytecode::Variant variant = next->form.variant;
        is_done = variant == bytecode::Variant::LinkedAdd ? add_linear<std::uint64_t>(warp, next)
                  : variant == bytecode::Variant::LinkedAdd32
                      ? add_linear<std::uint32_t>(warp, next)
                      : false;
    }
    return next;
}

template <Space FIRST, Space SECOND>
Handler select_role(const LoadLoadFmaForm& form) {
    if (form.is_chain) {
        return run_chain<FIRST, SECOND, false>;
    }
    switch (form.role) {
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
        return select_role<Space::None, Space::None>(form);
    }
    if (form.first == Space::Global) {
        return form.second == Space::Global   ? select_role<Space::Global, Space::Global>(form)
               : form.second == Space::Shared ? select_role<Space::Global, Space::Shared>(form)
                                              : nullptr;
    }
    if (form.first == Space::Shared) {
        return form.second == Space::Global   ? select_role<Space::Shared, Space::Global>(form)
               : form.second == Space::Shared ? select_role<Space::Shared, Space::Shared>(form)
                                              : nullptr;
    }
    return nullptr;
}

} // namespace

const FusedSelectors FUSED_SELECTORS = {
    .load_load_fma = select_load_load_fma,
    .float_pair = select_float_pair,
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
