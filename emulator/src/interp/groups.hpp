// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How the groups of a warp split, merge and wait: shared by warp.cpp, control.cpp and barriers.cpp.
//
// The run loop holds the program counter of the running group; every other group keeps its own in
// `Group::pc`. Code that stops the running group stores where it will continue.

#pragma once

#include "interp/warp.hpp"

#include <bit>
#include <cstdint>

namespace cuprum::emulator::groups {

/// How many back edges a group may take before it yields to others of its warp. The number is high
/// enough that lanes that leave an ordinary loop early still wait at its end for the rest.
constexpr std::int32_t PATIENCE = 16384;

[[nodiscard]] inline bool is_runnable(const Group& group) {
    return group.state == Stop::Running || group.state == Stop::Yield;
}

/// Returns the lanes that exist and have not exited.
[[nodiscard]] inline std::uint32_t live(const WarpContext& warp) {
    return warp.present & ~warp.exited;
}

[[nodiscard]] inline std::uint32_t index_of(const WarpContext& warp,
                                            const bytecode::Instruction* at) {
    return static_cast<std::uint32_t>(at - warp.code);
}

/// Returns the address of an operand's bytes for lanes at a call depth. Code that acts for lanes
/// that are not running needs it, because WarpContext::at() is about the frame of those that are.
[[nodiscard]] inline std::byte* at(const WarpContext& warp, bytecode::Operand operand,
                                   std::uint32_t depth) {
    return operand.bank() == bytecode::Bank::Registers ? warp.frame(depth) + operand.offset()
                                                       : warp.at(operand);
}

/// Returns whether `group` runs before a group at `depth` and `pc`.
[[nodiscard]] inline bool goes_before(const Group& group, std::uint32_t depth, std::uint32_t pc) {
    return group.depth > depth || (group.depth == depth && group.pc < pc);
}

/// Sets `warp.limit` for a running group at `at`. Call it after a jump back, and whenever another
/// group may have appeared, moved or become runnable.
void look_ahead(WarpContext& warp, const bytecode::Instruction* at);

/// Adds a group, or merges it into a runnable group at the same instruction.
void add(WarpContext& warp, std::uint32_t mask, std::uint32_t pc, std::uint32_t depth);

/// Adds a group at the call depth of the running group.
inline void add(WarpContext& warp, std::uint32_t mask, std::uint32_t pc) {
    add(warp, mask, pc, warp.groups[warp.current].depth);
}

/// Takes lanes out of the running group and stops them at `pc` in `state`. Returns the new group.
Group& park(WarpContext& warp, std::uint32_t mask, std::uint32_t pc, Stop state);

/// Resumes every rendezvous whose lanes have all arrived. Call it when lanes arrive or exit.
void release_rendezvous(WarpContext& warp);

/// Removes lanes of the running group permanently. Counts them as exited and resumes the lanes that
/// waited for them. Returns whether the running group has lanes left.
bool retire(WarpContext& warp, std::uint32_t mask);

/// Resumes block barriers that wait for all threads if no other threads are left.
void release_barriers_after_exit(BlockContext& block);

/// Resumes the cluster's barrier if no other threads are left.
void release_cluster_after_exit(ClusterContext& cluster);

/// Records that waits for mbarriers of the cluster may now end differently, and resumes the waiting
/// groups. `at` is the instruction of the running group that caused it.
void release_mbarrier_waiters(WarpContext& warp, const bytecode::Instruction* at);

} // namespace cuprum::emulator::groups
