// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Linear registers of all warps of a block, or of a team of blocks (interp/lockstep.hpp).
//
// A head of the block has the step from warp to warp in place WARP_STEP, and the step from block to
// block in place BLOCK_STEP. So they take part in every addition and multiplication by themselves.
// A value is uniform only if these steps are zero too.

#pragma once

#include "bytecode/fused_forms.hpp"
#include "interp/handlers/linear_access.hpp"
#include "interp/handlers/linear_arithmetic.hpp"
#include "interp/lockstep.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

bytecode::LockstepHandler select_lockstep_memory(const MemoryForm& form);
bytecode::LockstepHandler select_lockstep_products(const LoadLoadFmaForm& form);

namespace whole {

using U = std::uint32_t;
using UL = std::uint64_t;
using SL = std::int64_t;
using bytecode::LockstepHandler;

constexpr unsigned ALL_STEPS = STEP_BITS | 1u << WARP_STEP | 1u << BLOCK_STEP;

/// Returns a head of single places. (Head's own constructor leaves out the last two with AVX2.)
[[gnu::always_inline]] constexpr inline Head places(UL base, UL steps, UL warp_step,
                                                    UL block_step) {
#if defined(__AVX512F__)
    return Head{base, steps, steps, steps, steps, steps, warp_step, block_step};
#else
    return Head{Head::Half{base, steps, steps, steps},
                Head::Half{steps, steps, warp_step, block_step}};
#endif
}

/// Returns whether a head is valid.
[[gnu::always_inline]] inline bool is_known(Head value) {
#if defined(__AVX512F__)
    const __mmask8 invalid = _mm512_cmpeq_epi64_mask(
        reinterpret_cast<__m512i>(value), _mm512_set1_epi64(static_cast<SL>(INVALID_HEAD)));
    return (invalid & 1u << BLOCK_STEP) == 0;
#else
    return value[BLOCK_STEP] != INVALID_HEAD;
#endif
}

/// Returns whether a head is valid that was loaded from `words`.
[[gnu::always_inline]] inline bool is_known(Head value,
                                            const Aliased<std::uint64_t>::Value* words) {
#if defined(__AVX512F__)
    (void)words; // see is_head_valid()
    return is_known(value);
#else
    (void)value;
    return words[BLOCK_STEP] != INVALID_HEAD;
#endif
}

/// Returns whether an operand differs between the blocks of a team, in bank Block.
[[gnu::always_inline]] inline bool is_of_blocks(const Lockstep& block, Operand operand) {
    return operand.bits >> Operand::OFFSET_BITS == static_cast<U>(bytecode::Bank::Block) &&
           block.block_count > 1;
}

/// Reads a source: a linear register or a value that all threads of a block share. Returns false if
/// the source is not linear.
template <typename T>
[[gnu::always_inline]] inline bool read(const Lockstep& block, Operand operand, Head& value) {
    if (is_linear_operand(operand)) {
        const auto* const head = head_of(block.whole, operand);
        value = load_head(head);
        return is_known(value, head);
    }
    const auto* const words = lanes_of<T>(block.whole, operand);
    value = Head{words[0]};
    if (is_of_blocks(block, operand)) {
        value += places(0, 0, 0, words[1]);
    }
    return true;
}

/// Writes a register of the block.
template <typename T>
[[gnu::always_inline]] inline void write_head(Lockstep& block, Operand operand, Head value) {
    if constexpr (sizeof(T) == 4) {
        constexpr UL all = 0xffffffff;
        value = value & places(all, all, all, all);
    }
    store_head(head_of(block.whole, operand), value);
    const U place = (operand.bits - HEAD_BYTES) / HEAD_BYTES;
    block.written_words[place / 64] |= UL{1} << place % 64;
}

/// Gives every warp its own head of a source, unless the source was never written.
template <typename T>
[[gnu::always_inline]] inline void hand_out(const Lockstep& block, Operand operand) {
    constexpr UL all = sizeof(T) == 4 ? 0xffffffff : ~UL{0};
    if (!is_linear_operand(operand)) {
        return;
    }
    const auto* const head = head_of(block.whole, operand);
    Head first = load_head(head);
    if (!is_known(first, head)) [[unlikely]] {
        return;
    }
    const Head warp_step{first[WARP_STEP]};
    const Head block_step{first[BLOCK_STEP]};
    std::byte* to = block.frames + operand.bits - HEAD_BYTES;
    for (U b = 0; b < block.block_count; ++b) {
        Head value = first;
        for (U w = 0; w < block.block_warps; ++w) {
            store_head(to, value & places(all, all, 0, 0));
            value += warp_step;
            to += block.warp_stride_bytes;
        }
        first += block_step;
    }
}

[[gnu::always_inline]] inline bool is_valid(const Lockstep& block, Operand operand) {
    const auto* const head = head_of(block.whole, operand);
    return is_known(load_head(head), head);
}

/// The threads of all warps of a block, or of a team of blocks.
struct WholeBlock {
    static constexpr unsigned STEPS = ALL_STEPS;

    [[gnu::always_inline]] static Head places(UL base, UL step) {
        // All steps of warps or of blocks together reach no further than one step of a lane.
        return whole::places(base, step, step / MAX_BLOCK_WARPS, step / MAX_TEAM_WARPS);
    }
};

using Ops = HeadArithmetic<WholeBlock>;

/// dst[0] of D = Op(src[0] of A, src[1] of B, src[2] of C), all linear.
template <typename Op, typename D, typename A, typename B = void, typename C = void>
const Instruction* compute(Lockstep& block, const Instruction* at) {
    Head a;
    Head b{};
    Head c{};
    bool is_linear = at->guard.is_none() && read<A>(block, at->src[0], a);
    if constexpr (!__is_same(B, void)) {
        is_linear = is_linear && read<B>(block, at->src[1], b);
    }
    if constexpr (!__is_same(C, void)) {
        is_linear = is_linear && read<C>(block, at->src[2], c);
    }
    Head result;
    if (!is_linear || !Op::apply(a, b, c, result)) [[unlikely]] {
        return block.leave();
    }
    if constexpr (sizeof(D) == 8) {
        if (!is_known(result)) [[unlikely]] {
            return block.leave();
        }
    }
    write_head<D>(block, at->dst[0], result);
    return at + 1;
}

} // namespace whole

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
