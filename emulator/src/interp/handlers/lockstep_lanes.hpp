// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Visits the plain registers of all warps of a block, or of a team of blocks.

#pragma once

#include "interp/handlers/lockstep_block.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace whole {

/// A 32-bit source operand of all warps.
class WarpSource {
public:
    [[gnu::always_inline]] WarpSource(const Lockstep& block, Operand operand)
        : at_(block.at(0, operand)),
          step_(is_linear_operand(operand) ? block.warp_stride_bytes : 0),
          is_of_blocks_(is_of_blocks(block, operand)) {
        if (is_of_blocks_) { // bank Block holds the value of the first block, and a step
            const auto* const words = lanes_of<U>(block.whole, operand);
            value_ = words[0];
            value_step_ = words[1];
        }
    }

    /// Returns the distance from warp to warp.
    [[gnu::always_inline]] std::size_t step() const { return step_; }

    /// Returns where the first warp of a block reads. Call it for one block after the other.
    [[gnu::always_inline]] const std::byte* enter_block(U block_warps) {
        const std::byte* const from = at_;
        at_ += step_ * block_warps;
        if (!is_of_blocks_) [[likely]] {
            return from;
        }
        auto* const lanes = reinterpret_cast<std::byte*>(lanes_);
        for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
            store<U>(lanes, chunk, broadcast<U>(value_));
        }
        value_ += value_step_;
        return lanes;
    }

private:
    const std::byte* at_;
    std::size_t step_;
    bool is_of_blocks_;
    U value_ = 0;
    U value_step_ = 0;
    alignas(VECTOR_BYTES) U lanes_[WARP_SIZE];
};

/// Calls `body(to, from...)` for each warp, where `to` is its destination and `from` its sources.
template <typename Body, typename... Sources>
[[gnu::always_inline]] inline void for_each_warp_of(const Lockstep& block, Operand destination,
                                                    Body body, Sources&... sources) {
    // Copies: the compiler must assume that a store to a register changes `block`.
    const U block_count = block.block_count;
    const U block_warps = block.block_warps;
    const std::size_t stride = block.warp_stride_bytes;
    std::byte* to = block.frames + destination.bits;
    for (U number = 0; number < block_count; ++number) {
        const auto run_block = [&](auto... from) __attribute__((always_inline)) {
            for (U w = 0; w < block_warps; ++w) {
                body(to, from...);
                to += stride;
                ((from += sources.step()), ...);
            }
        };
        run_block(sources.enter_block(block_warps)...);
    }
}

} // namespace whole

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
