// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic and comparisons of linear registers that run once for all warps of a block, or of a
// team of blocks. lockstep_memory.cpp and lockstep_products.cpp access memory, lockstep_lanes.cpp
// computes with plain registers.

#include "interp/handlers/linear_selection.hpp"
#include "interp/handlers/lockstep_block.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace whole {

namespace {

template <typename T>
const Instruction* spread(Lockstep& block, const Instruction* at) {
    const Operand source = at->src[0];
    if (!is_linear_operand(source)) {
        return at + 1;
    }
    const auto* const head = head_of(block.whole, source);
    const Head value = load_head(head);
    if (!is_known(value, head)) [[unlikely]] {
        return block.leave();
    }
    // The lanes of the first warp. Those of the others are a multiple of a step away.
    constexpr UL all = sizeof(T) == 4 ? 0xffffffff : ~UL{0};
    std::byte* to = block.frames + source.bits;
    store_head(to - HEAD_BYTES, value & places(all, all, 0, 0));
    spread_lanes<T>(to);
    Vector<T> first[CHUNKS<T>];
    for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
        first[chunk] = load<T>(to, chunk);
    }
    for (UL b = 0; b < block.block_count; ++b) {
        for (UL w = 0; w < block.block_warps; ++w) {
            const auto distance = static_cast<T>(value[BLOCK_STEP] * b + value[WARP_STEP] * w);
            for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
                store<T>(to, chunk, first[chunk] + distance);
            }
            to += block.warp_stride_bytes;
        }
    }
    return at + 1;
}

/// Compares two 32-bit values that differ between lanes or warps. One may still be less everywhere.
template <Compare OP, typename T>
[[gnu::always_inline]] inline Everywhere compare_ranges(const Lockstep& block, Head a, Head b) {
    constexpr bool is_signed = T(-1) < T(0);
    if (!Ops::widen<is_signed>(a, a) || !Ops::widen<is_signed>(b, b)) {
        return Everywhere::Unknown;
    }
    const Head difference = a - b;
    const auto all = static_cast<SL>(sum_of_steps(difference));
    // Steps are rarely negative.
    const auto below = has_negative_steps(difference)
                           ? static_cast<SL>(sum_of_steps(negative_part(difference)))
                           : SL{0};
    const SL by_warps = static_cast<SL>(difference[WARP_STEP]) * (SL{block.block_warps} - 1);
    const SL by_blocks = static_cast<SL>(difference[BLOCK_STEP]) * (SL{block.block_count} - 1);
    const auto base = static_cast<SL>(difference[0]);
    const SL least = base + below + (by_warps < 0 ? by_warps : 0) + (by_blocks < 0 ? by_blocks : 0);
    const SL most =
        base + all - below + (by_warps > 0 ? by_warps : 0) + (by_blocks > 0 ? by_blocks : 0);
    return compare_with_zero<OP>(least, most);
}

/// Compares in each warp.
template <typename T>
[[gnu::noinline]] const Instruction* compare_each(Lockstep& block, const Instruction* at) {
    hand_out<UnsignedLike<T>>(block, at->src[0]);
    hand_out<UnsignedLike<T>>(block, at->src[1]);
    return lockstep::run_in_each(block, at, at + 1);
}

template <Compare OP, typename T>
const Instruction* compare(Lockstep& block, const Instruction* at) {
    Head a;
    Head b;
    if (!at->guard.is_none() || !read<UnsignedLike<T>>(block, at->src[0], a) ||
        !read<UnsignedLike<T>>(block, at->src[1], b)) [[unlikely]] {
        return block.leave();
    }
    auto result = Everywhere::Unknown;
    if (Ops::is_same(a | b)) {
        const bool holds = compare_numbers<OP, T>(static_cast<T>(a[0]), static_cast<T>(b[0]));
        result = holds ? Everywhere::Yes : Everywhere::No;
    } else if constexpr (sizeof(T) == 4) {
        result = compare_ranges<OP, T>(block, a, b);
    }
    if (result == Everywhere::Unknown || at->tag != 0 || at->dst_count != 1) {
        return compare_each<T>(block, at);
    }
    if ((at->flags & bytecode::RUNS_NEXT) != 0) { // a branch, the only reader of the result
        return lockstep::run_branch(block, at + 1, result == Everywhere::Yes);
    }
    std::byte* to = block.frames + at->dst[0].bits;
    for (U w = 0; w < block.warp_count; ++w) {
        *reinterpret_cast<Aliased<U>::Value*>(to) = result == Everywhere::Yes ? FULL_MASK : 0;
        to += block.warp_stride_bytes;
    }
    return at + 1;
}

/// The handlers of a block.
struct BlockHandlers {
    using Handler = LockstepHandler;
    using Arithmetic = Ops;

    template <typename Op, typename D, typename A, typename B = void, typename C = void>
    static constexpr Handler COMPUTE = compute<Op, D, A, B, C>;

    template <Compare OP, typename T>
    static constexpr Handler COMPARE = compare<OP, T>;
};

using Selection = LinearSelection<BlockHandlers>;

LockstepHandler select_spread(Width width) {
    return width == Width::B64 ? spread<UL> : spread<U>;
}

} // namespace

} // namespace whole

const LockstepSelectors LOCKSTEP_SELECTORS = {
    .move = whole::Selection::of_move,
    .integer = whole::Selection::of_integer,
    .bits = whole::Selection::of_bits,
    .compare = whole::Selection::of_compare,
    .convert = whole::Selection::of_convert,
    .memory = select_lockstep_memory,
    .load_load_fma = select_lockstep_products,
    .texture = select_lockstep_texture,
    .spread = whole::select_spread,
    .settle = settle_block,
    .floating = select_lockstep_float,
    .conversion = select_lockstep_conversion,
    .float_pair = select_lockstep_float_pair,
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
