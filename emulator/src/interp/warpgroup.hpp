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
#include "bytecode/matrix_forms.hpp"
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

/// Calls `visit(offset)` for every 16 bytes of shared memory that a product reads of one factor.
template <typename Visit>
void for_each_piece(const bytecode::Instruction& at, std::uint64_t descriptor, bool is_b,
                    Visit visit);

/// Raises the fault of a descriptor that leaves the block's shared memory. Returns nullptr.
[[nodiscard]] const bytecode::Instruction* raise_outside(WarpContext& warp,
                                                         const bytecode::Instruction* at,
                                                         std::uint64_t descriptor,
                                                         std::uint32_t offset, bool is_b);

/// Returns which warps a warp waits for, for reports: "warps 1 and 2 of its warpgroup".
[[nodiscard]] std::string describe_missing(const WarpContext& warp);

// ---- templates ---------------------------------------------------------------------------------

template <typename Visit>
void for_each_piece(const bytecode::Instruction& at, std::uint64_t descriptor, bool is_b,
                    Visit visit) {
    constexpr std::uint32_t WIDTHS[] = {16, 128, 64, 32}; // of the swizzle
    const auto field = [&](unsigned shift) {
        return static_cast<std::uint32_t>(descriptor >> shift & 0x3fff) << 4;
    };
    const std::uint32_t width = WIDTHS[descriptor >> 62];
    const auto phase = static_cast<std::uint32_t>(descriptor >> 49 & 7);
    const auto n = static_cast<std::uint32_t>(at.immediate & 0xffff);
    const std::uint32_t rows = is_b ? n : WARPGROUP_ROWS;
    const std::uint32_t pieces = is_b && (at.tag & WARPGROUP_SPARSE) != 0 ? 4 : 2; // in a row
    const bool is_transposed = (at.tag & (is_b ? WARPGROUP_B_ROW : WARPGROUP_A_COLUMN)) != 0;
    const auto place = [&](std::uint32_t address) {
        visit(address ^ (((address >> 7) - phase) & (width / 16 - 1)) << 4);
    };
    if (!is_transposed) {
        for (std::uint32_t row = 0; row < rows; ++row) {
            for (std::uint32_t piece = 0; piece < pieces; ++piece) {
                place(field(0) + row % 8 * width + row / 8 * field(32) +
                      piece * 16 / width * field(16) + piece * 16 % width);
            }
        }
        return;
    }
    const std::uint32_t along = width == 16 ? field(32) : field(16);
    const std::uint32_t across = width == 16 ? field(16) : field(32);
    for (std::uint32_t k = 0; k < pieces * 8; ++k) { // elements of 16 bits
        for (std::uint32_t row = 0; row < rows / 8; ++row) {
            place(field(0) + k / 8 * across + k % 8 * width + row / (width / 16) * along +
                  row % (width / 16) * 16);
        }
    }
}

} // namespace cuprum::emulator::warpgroup
