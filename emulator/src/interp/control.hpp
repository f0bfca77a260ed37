// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Handlers of control flow and barriers, and of the few plain copies that the passes need. The
// comment of each lists what it reads from its instruction.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator::control {

/// What a jump back costs of the warp's budget. A loop that may be waiting for another thread costs
/// more, so that it yields sooner.
constexpr std::uint16_t LOOP_COST = 1;
constexpr std::uint16_t SPIN_COST = 256;

/// The longest sleep of one instruction, as PTX promises.
constexpr std::uint32_t MAX_SLEEP_NS = 1'000'000;

/// Completes a branch once its own index and its target are known.
void finish_branch(bytecode::Instruction& branch, std::uint32_t at, std::uint32_t target,
                   std::uint16_t back_edge_cost);

using Function = std::remove_pointer_t<bytecode::Handler>;

Function branch;         // without a guard; completed by finish_branch()
Function branch_guarded; // reads its guard itself
// Ends a loop that only tests mbarriers. Blocks until one of them changes.
Function branch_to_wait;
Function branch_indexed; // src[0]: index; targets: [extra, extra + tag) of Kernel::branch_targets
Function exit_lanes;
Function trap;

/// How a bar.red combines the threads' predicates.
enum class Reduction : std::int64_t { Popc, And, Or };

/// Bits of the `tag` of block barriers.
constexpr std::uint16_t NEGATES = 1; // barrier_reduce: the predicate is negated
constexpr std::uint16_t ALIGNED = 2; // all lanes of a warp must arrive at this same instruction

Function barrier_sync;   // src[0]: barrier number; src[1]: number of threads, or none for all
Function barrier_arrive; // src[0]: barrier number; src[1]: number of threads
Function barrier_reduce; // as sync; src[2]: predicate; dst[0]: result;
                         // immediate: a Reduction

/// The `tag` of a rendezvous that lanes may reach from several instructions: bar.warp.sync.
constexpr std::uint16_t MEETS_OTHERS = 1;

Function rendezvous; // src[0]: the member mask of each lane
Function sleep;      // src[0]: nanoseconds; 0 yields once

// Calls that are not inlined (calls.cpp). Offsets are into the local memory of an activation.
Function call;          // immediate: number of the function in Kernel::functions
Function call_indirect; // src[0]: the address of a function, 64 bits
Function return_lanes;  // src[0]: return address
Function pass_bytes;    // immediate: byte count; from `target` here to `extra` in the next callee
Function fetch_bytes;   // immediate: byte count; from `target` in the last callee to `extra` here
Function local_address; // dst[0] = src[0], 64 bits, + immediate; tag 1: dst[0] has 32 bits
Function read_local;    // dst[0]: tag bytes per lane from offset `target`
Function write_local;   // src[0]: tag bytes per lane to offset `target`

/// The most bytes that one activation may take with alloca.
constexpr std::uint32_t STACK_AREA_BYTES = 8192;

// alloca. dst[0]: the address in local memory; dst[1]: src[1] + src[2], aligned, the bytes now in
// use. src[0]: base of the activation's local memory; src[1]: the bytes in use before; src[2]:
// number of bytes. All are 64 bits wide. immediate: offset of the area; target: the alignment.
Function allocate_stack;

/// Returns what %clock64 reads: a count at the rate that the device reports, 1 GHz, so that kernels
/// that wait by the clock wait as long as intended. It stands still for a block with a probe.
[[nodiscard]] std::uint64_t clock_count(const WarpContext& warp);

/// Returns what %globaltimer reads, in nanoseconds. It stands still for a block with a probe.
[[nodiscard]] std::uint64_t timer_count(const WarpContext& warp);

Function read_clock32; // dst[0]; immediate: right shift of the count
Function read_clock64;
Function read_timer32; // dst[0]; immediate: right shift of the nanoseconds
Function read_timer64;

} // namespace cuprum::emulator::control
