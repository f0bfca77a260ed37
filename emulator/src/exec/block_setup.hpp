// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What single blocks and teams of blocks set up in the same way.

#pragma once

#include "exec/grid.hpp"
#include "interp/warp.hpp"

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator::exec {

/// Returns whether each warp of a block of this size holds two rows of 16 threads.
[[nodiscard]] constexpr bool warps_hold_two_rows(const std::uint32_t (&block)[3]) {
    return block[0] == bytecode::WARP_SIZE / 2 && (block[1] > 1 || block[2] > 1);
}

/// Returns the distance between the frames of a kernel.
[[nodiscard]] std::uint32_t frame_stride(const bytecode::Kernel& kernel);

/// Fills in what a block's context takes from its grid, except its memory and its warps.
void set_up_context(BlockContext& context, const Grid& grid, std::uint32_t sm);

/// Fills in warp number `index` of a block, whose context is set up, with frames at `frames`.
void set_up_warp(WarpContext& warp, const Grid& grid, BlockContext& context, std::byte* frames,
                 std::uint32_t index);

/// Returns a special value of the block at `index`, on a worker that acts as SM `sm`.
[[nodiscard]] std::uint64_t block_value(bytecode::Special special, const std::uint32_t (&index)[3],
                                        std::uint32_t sm, const std::uint32_t (&cluster)[3]);

} // namespace cuprum::emulator::exec
