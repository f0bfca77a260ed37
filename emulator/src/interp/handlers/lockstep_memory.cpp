// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores of all warps of a block, or of a team of blocks: the range is checked once, then
// the warps copy.

#include "interp/handlers/lockstep_span.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace whole {

namespace {

/// Accesses memory in each warp.
[[gnu::noinline]] const Instruction* access_each(Lockstep& block, const Instruction* at) {
    if (!is_valid(block, at->src[0])) {
        return block.leave();
    }
    if ((at->tag & NARROW_ADDRESS) != 0) {
        hand_out<U>(block, at->src[0]);
    } else {
        hand_out<UL>(block, at->src[0]);
    }
    return lockstep::run_in_each(block, at, at + 1);
}

/// Fetches what the next round of a loop will load, if it goes in steps that the processor does not
/// foresee: blocks often step by the size of the grid, or by the rows of a tile.
[[gnu::always_inline]] inline void fetch_ahead(Lockstep& block, const Instruction* at,
                                               const Span& span, unsigned warp_bytes) {
    constexpr SL most = 4096; // bytes of a block
    constexpr SL line = 64;
    const SL step = unforeseen_step(block, at, span);
    const SL bytes = SL{warp_bytes} * SL{block.warp_count};
    if (step == 0 || span.is_uniform || bytes > most) {
        return;
    }
    if (span.stride == SL{warp_bytes} && span.half * 2 == SL{warp_bytes}) {
        for (SL offset = 0; offset < bytes; offset += line) {
            __builtin_prefetch(reinterpret_cast<const std::byte*>(reinterpret_cast<UL>(span.first) +
                                                                  static_cast<UL>(step + offset)));
        }
    } else if (warp_bytes <= 2 * line) { // half a warp loads one line
        fetch_next_round(block, span, step);
    }
}

template <Space SPACE, typename Element, typename Register>
const Instruction* load_block(Lockstep& block, const Instruction* at) {
    Span span;
    if (!at->guard.is_none()) [[unlikely]] {
        return block.leave();
    }
    if (!find_span<SPACE, sizeof(Element), false>(block, at, span)) [[unlikely]] {
        return access_each(block, at);
    }
    SL next = 0;
    if constexpr (SPACE != Space::Shared) {
        next = next_team(block, at, span);
        if (block.block_count == 1) {
            fetch_ahead(block, at, span, sizeof(Element) * WARP_SIZE);
        }
    }
    constexpr unsigned chunks = CHUNKS<Register> / 2; // of half a warp
    std::byte* to = block.frames + at->dst[0].bits;
    const auto load_warp = [&]() __attribute__((always_inline)) {
        fetch_next(span, next);
        for (unsigned half = 0; half < 2; ++half) {
            const std::byte* const from = span.part(half);
            if (span.is_uniform) {
                const Vector<Register> value = broadcast_element<Element, Register>(from);
                for (unsigned i = 0; i < chunks; ++i) {
                    store<Register>(to, half * chunks + i, value);
                }
            } else {
                for (unsigned i = 0; i < chunks; ++i) {
                    store<Register>(to, half * chunks + i,
                                    load_elements<Element, Register>(from, i));
                }
            }
        }
        to += block.warp_stride_bytes;
    };
    for_each_warp(block, load_warp, span);
    return at + 1;
}

template <Space SPACE, typename Element, typename Register>
const Instruction* store_block(Lockstep& block, const Instruction* at) {
    Span span;
    if (!at->guard.is_none()) [[unlikely]] {
        return block.leave();
    }
    if (!find_span<SPACE, sizeof(Element), true>(block, at, span) || span.is_uniform ||
        is_of_blocks(block, at->src[1])) [[unlikely]] {
        return access_each(block, at);
    }
    const std::byte* from = block.at(0, at->src[1]);
    const std::size_t step = is_linear_operand(at->src[1]) ? block.warp_stride_bytes : 0;
    constexpr unsigned chunks = CHUNKS<Register> / 2; // of half a warp
    const auto store_warp = [&]() __attribute__((always_inline)) {
        for (unsigned half = 0; half < 2; ++half) {
            for (unsigned i = 0; i < chunks; ++i) {
                store_elements<Element, Register>(span.part(half), i,
                                                  load<Register>(from, half * chunks + i));
            }
        }
        from += step;
    };
    for_each_warp(block, store_warp, span);
    return at + 1;
}

template <typename Element, typename Register>
LockstepHandler select_access_of(const MemoryForm& form) {
    switch (form.space) {
    case Space::Global:
    case Space::Constant:
        return form.is_store ? store_block<Space::Global, Element, Register>
                             : load_block<Space::Global, Element, Register>;
    case Space::Shared:
        return form.is_store ? store_block<Space::Shared, Element, Register>
                             : load_block<Space::Shared, Element, Register>;
    case Space::None:
        return form.is_store ? store_block<Space::None, Element, Register>
                             : load_block<Space::None, Element, Register>;
    default:
        return nullptr;
    }
}

} // namespace

} // namespace whole

bytecode::LockstepHandler select_lockstep_memory(const MemoryForm& form) {
    using namespace whole;
    if (form.count != 1) {
        return access_each;
    }
    if (form.register_width == Width::B64 && form.element_bytes == 8) {
        return select_access_of<UL, UL>(form);
    }
    if (form.register_width != Width::B32) {
        return access_each;
    }
    const bool is_signed = form.is_signed && !form.is_store;
    switch (form.element_bytes) {
    case 1:
        return is_signed ? select_access_of<std::int8_t, U>(form)
                         : select_access_of<std::uint8_t, U>(form);
    case 2:
        return is_signed ? select_access_of<std::int16_t, U>(form)
                         : select_access_of<std::uint16_t, U>(form);
    case 4:
        return select_access_of<U, U>(form);
    default:
        return access_each;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
