// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where the warps of a block, or of a team of blocks, access memory.

#pragma once

#include "interp/handlers/lockstep_block.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace whole {

/// Where the warps of a block access memory. The lanes of each half of a warp are adjacent, or all
/// at one address.
struct Span {
    std::byte* first = nullptr; // of the current warp
    SL stride = 0;              // from warp to warp
    SL block_jump = 0;          // from the end of a block to the next block
    SL half = 0;                // from the first half of a warp to the second
    bool is_uniform = false;    // each half is at one address

    /// Returns where a half of the current warp is.
    [[gnu::always_inline]] std::byte* part(unsigned number) const {
        return first + (number == 0 ? 0 : half);
    }
};

/// Calls `body()` for every warp, and moves the spans from warp to warp.
template <typename Body, typename... Spans>
[[gnu::always_inline]] inline void for_each_warp(const Lockstep& block, Body body,
                                                 Spans&... spans) {
    for (U b = 0; b < block.block_count; ++b) {
        for (U w = 0; w < block.block_warps; ++w) {
            body();
            ((spans.first += spans.stride), ...);
        }
        ((spans.first += spans.block_jump), ...);
    }
}

/// Returns the host address of a range of device or shared memory, as resolve_mapped() does. The
/// range may span several granules.
template <Space SPACE, bool IS_WRITE>
[[gnu::always_inline]] inline std::byte* resolve_block(const Lockstep& block, UL address,
                                                       unsigned bytes) {
    std::byte* const place = resolve_mapped<SPACE, IS_WRITE>(block.whole, address, bytes);
    if (place != nullptr || SPACE == Space::Shared) [[likely]] {
        return place;
    }
    const MemoryMap& map = *block.whole.block->memory;
    const UL begin = address - map.memory_base;
    const UL end = begin + bytes - 1;
    if (begin >= map.memory_bytes || end >= map.memory_bytes) {
        return nullptr;
    }
    const auto* const granules = reinterpret_cast<const std::uint8_t*>(map.granules);
    std::uint8_t common = IS_WRITE ? WRITE_BIT : READ_BIT;
    for (UL granule = begin >> map.granule_shift; granule <= end >> map.granule_shift; ++granule) {
        common &= __atomic_load_n(granules + granule, __ATOMIC_RELAXED);
    }
    return common != 0 ? reinterpret_cast<std::byte*>(address) : nullptr;
}

/// The range of addresses that the warps access together.
struct Reach {
    UL low = 0;
    unsigned bytes = 0;
    SL below = 0; // from the first lane of the first warp down to `low`
    bool is_narrow = false;
};

/// Finds the shape of a span and its reach. Returns false if the lanes of half a warp are neither
/// adjacent nor at one address.
template <unsigned BYTES>
[[gnu::always_inline]] inline bool find_shape(const Lockstep& block, const Instruction* at,
                                              Span& span, Reach& reach) {
    const auto* const head = head_of(block.whole, at->src[0]);
    const Head value = load_head(head);
    const bool is_narrow = (at->tag & NARROW_ADDRESS) != 0;
    const UL start = start_of(head, at);
    const auto number = [&](unsigned place) __attribute__((always_inline)) {
        return is_narrow ? static_cast<std::int32_t>(value[place]) : static_cast<SL>(value[place]);
    };
    span.stride = number(WARP_STEP);
    span.half = number(HALF_STEP);
    const SL block_step = number(BLOCK_STEP);
    span.is_uniform = (nonzero_places(value) & LOW_STEP_BITS) == 0;
    const UL all = start | static_cast<UL>(span.stride) | static_cast<UL>(span.half) |
                   static_cast<UL>(block_step);
    if (!is_known(value, head) || (all & (BYTES - 1)) != 0) [[unlikely]] {
        return false;
    }
    if (!span.is_uniform && (nonzero_places(value ^ sequence<BYTES>()) & LOW_STEP_BITS) != 0) {
        return false;
    }
    constexpr SL most = SL{1} << 20; // of a step; the range is then below 2^29 bytes
    if (span.stride > most || span.stride < -most || span.half > most || span.half < -most ||
        block_step > most || block_step < -most) [[unlikely]] {
        return false;
    }
    const SL warps_reach = span.stride * (SL{block.block_warps} - 1);
    const SL block_reach = block_step * (SL{block.block_count} - 1);
    span.block_jump = block_step - span.stride * SL{block.block_warps};
    const SL above = (warps_reach > 0 ? warps_reach : 0) + (block_reach > 0 ? block_reach : 0) +
                     (span.half > 0 ? span.half : 0);
    reach.below = (warps_reach < 0 ? warps_reach : 0) + (block_reach < 0 ? block_reach : 0) +
                  (span.half < 0 ? span.half : 0);
    reach.low = start + static_cast<UL>(reach.below);
    reach.bytes = static_cast<unsigned>(above - reach.below) + BYTES * (span.is_uniform ? 1 : HALF);
    reach.is_narrow = is_narrow;
    return true;
}

/// Finds the memory of a span whose shape is known. Returns false if it may not exist.
template <Space SPACE, bool IS_WRITE>
[[gnu::always_inline]] inline bool resolve_span(const Lockstep& block, const Reach& reach,
                                                Span& span) {
    constexpr UL limit = UL{1} << 31; // narrow addresses must not wrap
    if (reach.is_narrow && (reach.low > limit || reach.low + reach.bytes > limit)) [[unlikely]] {
        return false;
    }
    std::byte* const place = resolve_block<SPACE, IS_WRITE>(block, reach.low, reach.bytes);
    if (place == nullptr) [[unlikely]] {
        return false;
    }
    span.first = place - reach.below;
    return true;
}

/// Finds where all warps access memory, one element of BYTES per lane. Returns false if the lanes
/// of half a warp are neither adjacent nor at one address, or if the memory may not exist.
template <Space SPACE, unsigned BYTES, bool IS_WRITE>
[[gnu::always_inline]] inline bool find_span(const Lockstep& block, const Instruction* at,
                                             Span& span) {
    Reach reach;
    return find_shape<BYTES>(block, at, span, reach) &&
           resolve_span<SPACE, IS_WRITE>(block, reach, span);
}

/// Returns whether the lanes of all warps access adjacent elements of BYTES.
template <unsigned BYTES>
[[gnu::always_inline]] inline bool is_row(const Lockstep& block, const Span& span) {
    constexpr SL warp_bytes = SL{BYTES} * WARP_SIZE;
    const SL block_bytes = warp_bytes * SL{block.block_warps};
    const SL block_step = span.block_jump + span.stride * SL{block.block_warps};
    return !span.is_uniform && span.half * 2 == warp_bytes &&
           (block.block_warps == 1 || span.stride == warp_bytes) &&
           (block.block_count == 1 || block_step == block_bytes);
}

/// Remembers where a load begins. Returns how far that is from where it began last time.
[[gnu::always_inline]] inline SL step_from_last_time(Lockstep& block, const Instruction* at,
                                                     UL start) {
    UL& last = block.starts[static_cast<UL>(at - block.whole.code) % Lockstep::STARTS];
    const auto step = static_cast<SL>(start - last);
    last = start;
    return step;
}

/// Returns how far a load in a loop steps from round to round. Returns 0 if processors foresee the
/// step, or if the last two steps differ: the load may begin its first round, or not be in a loop.
[[gnu::always_inline]] inline SL unforeseen_step(Lockstep& block, const Instruction* at,
                                                 const Span& span) {
    constexpr SL foreseen = 2048;
    const SL step = step_from_last_time(block, at, reinterpret_cast<UL>(span.first));
    SL& last = block.steps[static_cast<UL>(at - block.whole.code) % Lockstep::STARTS];
    const bool is_steady = step == last;
    last = step;
    return is_steady && (step > foreseen || step < -foreseen) ? step : 0;
}

/// Fetches what the next round of a loop will load, which lies `step` further. An address that does
/// not exist does no harm.
[[gnu::always_inline]] inline void fetch_next_round(const Lockstep& block, const Span& span,
                                                    SL step) {
    UL next = reinterpret_cast<UL>(span.first) + static_cast<UL>(step);
    for (U left = span.stride == 0 ? 1 : block.warp_count; left != 0; --left) {
        __builtin_prefetch(reinterpret_cast<const std::byte*>(next));
        if (span.half != 0) {
            __builtin_prefetch(
                reinterpret_cast<const std::byte*>(next + static_cast<UL>(span.half)));
        }
        next += static_cast<UL>(span.stride);
    }
}

/// Returns how much further to fetch while a team loads: what the next team will load, judged by
/// the last team. Returns 0 for a single block, and if the processor itself fetches ahead.
[[gnu::always_inline]] inline SL next_team(Lockstep& block, const Instruction* at,
                                           const Span& span) {
    if (block.block_count == 1) {
        return 0;
    }
    const SL step = step_from_last_time(block, at, reinterpret_cast<UL>(span.first));
    const SL reach = (span.block_jump + span.stride * SL{block.block_warps}) * block.block_count;
    const bool is_adjacent =
        step == reach && step > 0 && (block.block_warps == 1 || span.block_jump == 0);
    if (!is_adjacent) {
        return step;
    }
    // Adjacent teams need not wait for the whole team: near enough for the nearest cache, and far
    // enough for the memory to answer in time.
    constexpr SL near = 3072;
    return block.fetches_adjacent ? near : 0;
}

/// Fetches what lies this much further than the current warp of a span.
[[gnu::always_inline]] inline void fetch_next(const Span& span, SL step) {
    if (step != 0) {
        for (unsigned half = 0; half < 2; ++half) {
            __builtin_prefetch(reinterpret_cast<const std::byte*>(
                reinterpret_cast<UL>(span.part(half)) + static_cast<UL>(step)));
        }
    }
}

} // namespace whole

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
