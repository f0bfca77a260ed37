// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Handlers of control flow and barriers, and of the few plain copies that the passes themselves
// need. The comment beside each says what it reads from its instruction.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator::control {

/// What a jump back costs of the warp's budget. A loop that looks like waiting for another thread
/// costs more, so that it gives way sooner.
constexpr std::uint16_t LOOP_COST = 1;
constexpr std::uint16_t SPIN_COST = 256;

/// The longest sleep of one instruction, as PTX promises.
constexpr std::uint32_t MAX_SLEEP_NS = 1'000'000;

/// Completes a branch once its place and its target are known (both instruction indices).
void finish_branch(bytecode::Instruction& branch, std::uint32_t at, std::uint32_t target,
                   std::uint16_t back_edge_cost);

/// Returns the handler that copies src[0] to dst[0]: predicates for 0, else 4, 8 or 16 bytes a
/// lane.
[[nodiscard]] bytecode::Handler copy_handler(std::uint32_t lane_bytes);

using Function = std::remove_pointer_t<bytecode::Handler>;

Function branch;         // without a guard; made complete by finish_branch()
Function branch_guarded; // the same, reads its guard itself
// The same, at the end of a loop that only tests mbarriers: blocks until one of them changes.
Function branch_to_wait;
Function branch_indexed; // src[0]: index; targets: [extra, extra + tag) of Kernel::branch_targets
Function exit_lanes;
Function trap;

/// What a bar.red makes of the threads' predicates.
enum class Reduction : std::int64_t { Popc, And, Or };

/// Bits of the `tag` of block barriers.
constexpr std::uint16_t NEGATES = 1; // barrier_reduce: its predicate
constexpr std::uint16_t ALIGNED = 2; // all lanes of a warp must come to this very instruction

Function barrier_sync;   // src[0]: which; src[1]: how many threads, or none for all
Function barrier_arrive; // src[0]: which; src[1]: how many threads
Function barrier_reduce; // as sync; src[2]: predicate; dst[0]: result;
                         // immediate: a Reduction

/// The `tag` of a rendezvous that lanes may come to from several instructions: bar.warp.sync.
constexpr std::uint16_t MEETS_OTHERS = 1;

Function rendezvous; // src[0]: the member mask of each lane
Function sleep;      // src[0]: nanoseconds; gives way once for 0

// Calls that are not inlined (calls.cpp). Offsets are into the local memory of an activation.
Function call;          // immediate: number of the function in Kernel::functions
Function call_indirect; // src[0]: the address of a function, 64 bits
Function return_lanes;  // src[0]: where to
Function pass_bytes;    // immediate: how many; from `target` here to `extra` in the callee to be
Function fetch_bytes;   // immediate: how many; from `target` in the last callee to `extra` here
Function local_address; // dst[0] = src[0], 64 bits, + immediate; dst[0] has 32 bits when tag is 1
Function read_local;    // dst[0]: tag bytes a lane from offset `target`
Function write_local;   // src[0]: tag bytes a lane to offset `target`

/// What one activation may take with alloca.
constexpr std::uint32_t STACK_AREA_BYTES = 8192;

// alloca. dst[0]: the place in local memory; dst[1] = src[1] + src[2], aligned: what is taken.
// src[0]: where the activation's local memory begins; src[1]: what was taken before; src[2]: how
// many bytes. All 64 bits wide. immediate: where the area begins; target: the alignment.
Function allocate_stack;

Function read_clock32; // dst[0]; immediate: how far the count is shifted down
Function read_clock64;
Function read_timer32; // dst[0]; immediate: how far the nanoseconds are shifted down
Function read_timer64;

} // namespace cuprum::emulator::control
