// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Before a load behind a reduction that was collected (interp/reductions.hpp): the thread must see
// its own reduction. The addresses of all lanes, or of a whole block in lockstep, are compared with
// the range of collected words. Lanes that do not load may be included: applying early is harmless.

#include "interp/handlers/lockstep_block.hpp"
#include "interp/handlers/select.hpp"
#include "interp/reductions.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using U = std::uint64_t;
using S = std::int64_t;

/// Returns what is pending, or nullptr if nothing is.
[[gnu::always_inline]] inline PendingReductions* pending_of(const WarpContext& warp) {
    PendingReductions* const pending = warp.block->reductions;
    return pending != nullptr && pending->apply != nullptr ? pending : nullptr;
}

/// Applies what is pending if a load may see it. The lanes load `bytes` bytes each, the first lane
/// in memory at `lowest` and the last one at `highest`.
[[gnu::always_inline]] inline void settle_range(PendingReductions& pending, U lowest, U highest,
                                                U bytes) {
    U end = highest + bytes;
    if (lowest > highest || end < highest) [[unlikely]] { // the addresses wrap
        lowest = 0;
        end = ~U{0};
    }
    if (lowest < pending.end && end > pending.begin) [[unlikely]] {
        apply_within(pending, lowest, end);
    }
}

/// How far lanes reach below and above the base of their head.
struct Reach {
    S below;
    S above;
};

[[gnu::always_inline]] inline Reach reach_of(Head value) {
    const auto all = static_cast<S>(sum_of_steps(value));
    const S below =
        has_negative_steps(value) ? static_cast<S>(sum_of_steps(negative_part(value))) : S{0};
    return {below, all - below};
}

} // namespace

const Instruction* settle_lanes(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    PendingReductions* const pending = pending_of(warp);
    if (pending == nullptr) {
        return at + 1;
    }
    const Addresses addresses = addresses_of(warp, at, false);
    const U any = addresses[static_cast<unsigned>(__builtin_ctz(mask))];
    Vector<U> least = broadcast<U>(any);
    Vector<U> most = least;
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        Vector<U> value = addresses.chunks[chunk];
        if (mask != FULL_MASK) {
            value = expand<U>(mask, chunk) ? value : broadcast<U>(any);
        }
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    U lowest = any;
    U highest = any;
    for (unsigned i = 0; i < LANES<U>; ++i) {
        lowest = least[i] < lowest ? least[i] : lowest;
        highest = most[i] > highest ? most[i] : highest;
    }
    settle_range(*pending, lowest, highest, at->extra);
    return at + 1;
}

const Instruction* settle_linear(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    PendingReductions* const pending = pending_of(warp);
    if (pending == nullptr) {
        return at + 1;
    }
    const auto* const head = head_of(warp, at->src[0]);
    const Head value = load_head(head);
    if (!is_head_valid(value, head)) [[unlikely]] {
        settle<U>(warp, at->src[0]);
        return settle_lanes(warp, at, mask);
    }
    const U start = head[0] + static_cast<U>(at->immediate);
    const Reach reach = reach_of(value);
    settle_range(*pending, start + static_cast<U>(reach.below), start + static_cast<U>(reach.above),
                 at->extra);
    return at + 1;
}

const Instruction* settle_block(Lockstep& block, const Instruction* at) {
    PendingReductions* const pending = pending_of(block.whole);
    if (pending == nullptr) {
        return at + 1;
    }
    const auto* const head = head_of(block.whole, at->src[0]);
    const Head value = load_head(head);
    if (!whole::is_known(value, head)) [[unlikely]] {
        return block.leave(); // the load would do so too
    }
    const U start = head[0] + static_cast<U>(at->immediate);
    Reach reach = reach_of(value);
    const auto add = [&](U step, U count) __attribute__((always_inline)) {
        const auto distance = static_cast<S>(step * (count - 1));
        (distance < 0 ? reach.below : reach.above) += distance;
    };
    add(value[WARP_STEP], block.block_warps);
    add(value[BLOCK_STEP], block.block_count);
    settle_range(*pending, start + static_cast<U>(reach.below), start + static_cast<U>(reach.above),
                 at->extra);
    return at + 1;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
