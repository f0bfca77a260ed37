// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Warps of a block, or of several blocks, that run together.
//
// A short kernel spends most of its time on the same few computations in every warp: which element
// does this thread own, is there one, where is it in memory. The warps of a block differ only in
// one number there. So a block starts in lockstep: each instruction runs once for all its warps.
//
// A linear register (docs/design/0006_linear.md) holds base + steps in a warp. In lockstep, one
// head serves the whole block: it also has a step from warp to warp, in the place of `has_lanes`.
//
//   value(lane, warp) = base + Σ step[b] · bit b of lane + warp_step · warp
//
// Short blocks run in teams (exec/team.hpp): several blocks of a grid in lockstep. Then a head also
// has a step from block to block, in the place of `is_varied`, and %ctaid is such a value.
//
//   - Arithmetic on such registers is one operation for the block.
//   - Loads and stores check one range for the block, and then copy.
//   - Everything else runs warp by warp, in the warps' own frames.
//
// Lockstep ends, and the warps continue alone at the same instruction, as soon as something is
// unusual: lanes or warps would take different branches, an instruction has no handler for
// lockstep, a value is not linear, or the watchdog wants to see every instruction. Before that,
// every warp gets its own heads. So a warp is always in a state that it could have reached alone,
// and only the order in which the warps of a block take turns is different.
//
// Checks and random schedules do without lockstep.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/warp.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuprum::emulator {

/// The most warps of a block.
constexpr std::uint32_t MAX_BLOCK_WARPS = 32;
/// The most warps of a team of blocks.
constexpr std::uint32_t MAX_TEAM_WARPS = 256;
/// The index of the warp step in a head.
constexpr std::uint32_t WARP_STEP = 6;
/// The index of the step from block to block, which is 0 in a single block.
constexpr std::uint32_t BLOCK_STEP = 7;
/// What stands in the place of the block step if a head is invalid. A step that happens to be this
/// number ends lockstep.
constexpr std::uint64_t INVALID_HEAD = std::uint64_t{1} << 63;

/// A value that differs between blocks, such as %ctaid, in a team of blocks.
struct BlockValue {
    std::uint32_t offset = 0; // in bank Block
    bytecode::Width width = bytecode::Width::B32;
    std::uint64_t base = 0; // in the first block
    std::uint64_t step = 0; // from block to block
};

/// The warps of a block, or of a team of blocks, in lockstep.
struct Lockstep {
    /// Why lockstep ends.
    enum class End : std::uint8_t {
        Alone,    // the warps continue one by one
        Yielded,  // the time of the block is up; call run() again
        Finished, // all threads have exited
        Faulted,  // see BlockContext::fault
    };

    /// Stands for all warps: bank 0 holds the heads of the block.
    WarpContext whole;
    WarpContext* warps = nullptr;
    std::uint32_t warp_count = 0;      // of all blocks
    std::uint32_t block_warps = 0;     // of one block
    std::uint32_t block_count = 1;     // more than one: a team
    std::byte* frames = nullptr;       // of the first warp
    std::size_t warp_stride_bytes = 0; // between the frames of two warps
    std::uint32_t next = 0;            // index of the instruction to continue with
    std::uint32_t budget = 0;          // back edges left
    bool is_configured = false;        // the warps are alike enough to run together
    bool are_warps_ready = false;      // they can run single instructions
    bool are_blocks_ready = false;     // of a team: every block knows its own values
    bool fetches_adjacent = false;     // loads of a team fetch what lies ahead of them
    End end = End::Alone;              // valid after a handler has returned nullptr
    // Where the last loads began and how far they stepped, by instruction: to fetch what a loop
    // loads next.
    static constexpr std::size_t STARTS = 16;
    std::uint64_t starts[STARTS] = {};
    std::int64_t steps[STARTS] = {};
    std::vector<std::uint64_t> written; // a bit for each head that was written, by place in frames
    std::uint64_t* written_words = nullptr; // its contents: handlers must not call std::vector
    // Of a team. Bank Block of `whole` holds base and step of its values instead of lanes.
    BlockContext* contexts = nullptr;
    std::uint32_t most_blocks = 1; // how many contexts there are
    std::uint32_t axis = 0;        // along which the blocks lie in the grid
    std::vector<BlockValue> values;

    /// Returns where a register of a warp is.
    [[nodiscard]] std::byte* at(std::uint32_t warp, bytecode::Operand operand) const {
        return operand.bits >> bytecode::Operand::OFFSET_BITS == 0
                   ? frames + warp * warp_stride_bytes + operand.bits
                   : whole.at(operand);
    }

    /// Ends lockstep before the current instruction.
    [[nodiscard]] const bytecode::Instruction* leave() {
        end = End::Alone;
        return nullptr;
    }
};

namespace lockstep {

/// Returns the handler in lockstep of an instruction that belongs to no instruction-set level, or
/// that runs warp by warp. Returns nullptr if lockstep ends before it.
[[nodiscard]] bytecode::LockstepHandler common_handler(const bytecode::Instruction& at);

/// Returns how many warps fit into the nearest cache with the registers of a kernel.
[[nodiscard]] std::uint32_t fitting_warps(const bytecode::Kernel& kernel);

/// Prepares lockstep for the blocks of a grid, whose warps are set up. `heads` is a frame for the
/// heads of the block. Leaves `is_configured` false if the warps cannot run together.
///
/// A team has `blocks` contexts in a row, the first of which is `context`. Their warps are in a row
/// too. The caller then sets `axis`, `values`, and bank Block of `whole`.
void configure(Lockstep& block, BlockContext& context, std::byte* heads, std::uint32_t blocks = 1);

/// Returns whether the next block can run in lockstep: it is configured, and the current code of
/// its slot has handlers for lockstep.
[[nodiscard]] inline bool can_start(const Lockstep& block) {
    return block.is_configured && !block.whole.block->code->current().lockstep.empty();
}

/// Puts a block, or the first `blocks` of a team, at the first instruction. The caller sets the
/// `base` of all `values` before, and the index of the first context.
void start(Lockstep& block, std::uint32_t blocks = 1);

/// Runs a block until lockstep ends, or until it has used up `budget` back edges.
///
/// Runs the code that BlockContext::code holds at the time of the call.
///
/// After End::Alone, every warp is ready for run_warp(). The caller sets its budget.
[[nodiscard]] Lockstep::End run(Lockstep& block, std::uint32_t budget);

/// Ends lockstep where the block stands, as End::Alone does.
void leave(Lockstep& block);

/// Runs a guarded branch whose guard is the same in all threads.
[[nodiscard]] const bytecode::Instruction*
run_branch(Lockstep& block, const bytecode::Instruction* at, bool guard_holds);

/// Makes the warps ready to run an instruction on their own.
void prepare_warps(Lockstep& block);

/// Runs the instructions from `at` to before `end`, which do not branch, in each warp. Returns
/// `end`.
[[nodiscard]] const bytecode::Instruction*
run_in_each(Lockstep& block, const bytecode::Instruction* at, const bytecode::Instruction* end);

} // namespace lockstep

} // namespace cuprum::emulator
