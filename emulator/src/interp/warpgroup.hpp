// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Warpgroups: four warps whose numbers begin at a multiple of four.
//
// wgmma.mma_async needs all of them. The first three wait at the instruction, and the last one
// computes the product for all. So the four warps agree, and a factor in shared memory is converted
// once for 64 rows. On a GPU the product runs beside the warps until wgmma.wait_group; here it is
// complete when the instruction ends, which is one of the orders that a GPU may choose.

#pragma once

#include "bytecode/instruction.hpp"
#include "interp/warp.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace cuprum::emulator::warpgroup {

constexpr std::uint32_t WARPS = 4;

/// What the four warps of a complete warpgroup agree on.
struct Meeting {
    std::byte* frames[WARPS]; // the registers (bank 0) of each warp
    std::uint64_t b = 0;      // the descriptor of B
    std::uint64_t a = 0;      // the descriptor of A, if it is in shared memory
    bool adds = false;        // scale-d
};

/// Makes a warp wait at a wgmma.mma_async. Returns true if it is the last of the four, which then
/// computes and calls release(). Returns false if it waits or if a fault was raised.
[[nodiscard]] bool meet(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask,
                        Meeting& meeting);

/// Lets the other three warps continue.
void release(WarpContext& warp);

/// Raises the fault of a descriptor that leaves the block's shared memory. Returns nullptr.
[[nodiscard]] const bytecode::Instruction* raise_outside(WarpContext& warp,
                                                         const bytecode::Instruction* at,
                                                         std::uint64_t descriptor,
                                                         std::uint32_t offset, bool is_b);

/// Returns which warps a warp waits for, for reports: "warps 1 and 2 of its warpgroup".
[[nodiscard]] std::string describe_missing(const WarpContext& warp);

} // namespace cuprum::emulator::warpgroup
