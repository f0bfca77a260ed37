// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The state of one warp, as handlers see it.
//
// Lanes that agree on where they are form a group: a program counter and a mask. One group runs at
// a time; the others wait. Groups split at divergent branches and merge when they meet at the same
// instruction of the same depth of calls. The deepest group runs first, and of those the one with
// the lowest program counter, which makes structured code reconverge at its join; a group that
// jumps back too often without progress of the others gives way (independent thread scheduling: a
// lane that spins on another lane's flag must not starve it).
//
// The address of a kernel parameter is a shared-memory address: a kernel that asks for one has its
// parameters copied into shared memory (Kernel::parameter_copy_bytes), so that loads need no case
// for it.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/memory_map.hpp"
#include "interp/observer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::emulator {

namespace builtins {
class Heap;
}

struct BlockContext;

/// Why a group stopped running.
enum class Stop : std::uint8_t {
    Running,
    Exited,     // every lane of the group is done
    Diverged,   // the group split or reached a join: pick the next group
    Barrier,    // waits at a block barrier
    Cluster,    // waits at the cluster's barrier
    Mbarrier,   // waits until an mbarrier of the cluster completes a phase
    Rendezvous, // waits for the other lanes of a .sync mask
    Yield,      // its time is up; runnable again
    Sleep,      // asked to sleep, until `Group::wake_at`
    Fault,      // `WarpContext::block->fault` says what
};

/// What can go wrong in a kernel; decides the driver's result code.
enum class FaultKind : std::uint8_t {
    None,
    IllegalAddress,
    MisalignedAddress,
    InvalidAddressSpace,
    IllegalInstruction,
    Trap,
    Assert,
    Deadlock,
    DivergentBarrier,
    Timeout,
    StackOverflow,
    UninitializedRead,
    Race,
};

/// The first fault of a grid.
struct Fault {
    FaultKind kind = FaultKind::None;
    std::string report; // kernel, block, thread, address, PTX line: ready to print
};

/// Lanes that share a program counter.
struct Group {
    std::uint32_t pc = 0;
    std::uint32_t mask = 0;
    std::uint32_t depth = 0;     // calls that have not returned
    Stop state = Stop::Running;  // Running and Yield are runnable
    std::uint32_t barrier = 0;   // Barrier: which one
    std::uint32_t wait_mask = 0; // Rendezvous: lanes that must be here
    std::uint64_t wake_at = 0;   // Sleep: when it is over, as now_ns() counts
};

/// One of the sixteen barriers of a block. Threads are counted, not warps.
struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t expected = 0; // 0: every thread of the block that has not exited
    std::uint32_t waiting = 0;  // warps that have a group waiting here, one bit each
    // What bar.red has gathered so far.
    std::uint32_t true_count = 0;
    bool is_all_true = true;
    bool is_any_true = false;
};

struct WarpContext;

/// How far apart the shared memories of a cluster's blocks are in its addresses (cluster.hpp).
constexpr std::uint64_t CLUSTER_WINDOW_BYTES = std::uint64_t{1} << 19;

/// What the blocks of one cluster share; a block without a cluster is one of its own. They run on
/// one worker at a time, so that their shared memory needs no locks either.
struct ClusterContext {
    static constexpr std::uint32_t MAX_SIZE = 16;

    BlockContext* blocks[MAX_SIZE] = {}; // by rank
    std::uint32_t size = 1;
    bool parity = false;       // of the current phase of the cluster's barrier
    std::uint32_t waiting = 0; // groups that wait at it
    // Grows whenever a wait for an mbarrier of the cluster may end differently than before.
    std::uint32_t mbarrier_changes = 0;
    std::uint32_t mbarrier_waiters = 0; // groups in state Stop::Mbarrier, at most
};

/// What one block shares.
struct BlockContext {
    static constexpr std::uint32_t BARRIER_COUNT = 16;

    const bytecode::Kernel* kernel = nullptr;
    const MemoryMap* memory = nullptr;
    std::byte* shared = nullptr; // static and dynamic shared memory
    std::uint32_t shared_bytes = 0;
    std::byte* local = nullptr; // local memory: thread t has [t * stride, (t + 1) * stride)
    std::uint32_t local_stride_bytes = 0;
    std::byte* launch_bank = nullptr;
    std::byte* block_bank = nullptr;
    const std::byte* parameters = nullptr; // the launch's packed parameters
    std::uint32_t parameter_bytes = 0;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t dimensions[3] = {1, 1, 1}; // block size
    std::uint32_t index[3] = {0, 0, 0};      // blockIdx
    std::uint32_t thread_count = 0;
    std::uint32_t sm = 0;
    std::uint32_t max_frames = 1;  // activations of a thread, the kernel included
    std::uint32_t stack_bytes = 0; // what limits them; 0: the emulated device itself
    std::uint64_t random = 0;      // state of the schedule's random choices; 0: there are none
    Fault fault;
    void* owner = nullptr;          // the exec::Block this belongs to
    builtins::Heap* heap = nullptr; // what malloc hands out; nullptr: there is none

    WarpContext* warps = nullptr;
    std::uint32_t warp_count = 0;
    std::uint32_t runnable = 0;     // warps with a runnable group, one bit each
    std::uint32_t live_threads = 0; // that have not exited
    std::uint32_t pending = 0;      // barriers at which threads have arrived, one bit each
    std::array<Barrier, BARRIER_COUNT> barriers{};

    ClusterContext* cluster = nullptr; // never null while the block runs
    std::uint32_t cluster_rank = 0;
    Observer* observer = nullptr; // of blocks that are checked
};

/// One warp.
struct WarpContext {
    /// Bases of the four banks, indexed by Bank.
    std::array<std::byte*, 4> banks{};
    const bytecode::Instruction* code = nullptr; // of the kernel
    std::uint32_t active = 0;                    // lanes of the running group
    std::uint32_t present = 0;                   // lanes that exist (a last warp may be partial)
    std::uint32_t exited = 0;                    // lanes that are done
    std::uint32_t index = 0;                     // of the warp in its block
    std::uint32_t budget = 0;                    // back edges left before the warp must yield
    Stop stop = Stop::Running;                   // set before a handler returns nullptr
    BlockContext* block = nullptr;
    std::uint32_t current = 0; // index of the running group
    std::uint32_t group_count = 0;
    std::int32_t patience = 0; // back edges left before the running group must let others pass
    // Where the running group has to look around: the nearest instruction ahead at which another
    // group stands. Past the end of all code when there is no other.
    const bytecode::Instruction* limit = nullptr;
    std::array<Group, bytecode::WARP_SIZE> groups{};
    // Frames, one per depth of calls; bank 0 is that of the running group.
    std::byte* frames = nullptr;
    std::uint32_t frame_stride_bytes = 0;
    std::uint32_t ready_frames = 1; // whose special values are in place
    // The barrier of the cluster: lanes that have arrived in the current phase, and in phases of
    // which parity they did so last.
    std::uint32_t cluster_arrived = 0;
    std::uint32_t cluster_parity = 0;
    // ClusterContext::mbarrier_changes when each lane last tested an mbarrier.
    std::array<std::uint32_t, bytecode::WARP_SIZE> tested_at{};

    /// Returns the frame of the lanes at a depth of calls.
    [[nodiscard]] std::byte* frame(std::uint32_t depth) const {
        return frames + std::size_t{frame_stride_bytes} * depth;
    }

    /// Returns the bytes an operand names.
    [[nodiscard]] std::byte* at(bytecode::Operand operand) const {
        return banks[operand.bits >> bytecode::Operand::OFFSET_BITS] + operand.offset();
    }

    /// Returns a predicate's mask.
    [[nodiscard]] std::uint32_t predicate(bytecode::Operand operand) const {
        return *reinterpret_cast<const std::uint32_t*>(at(operand));
    }

    /// Returns the thread index in the block of a lane.
    [[nodiscard]] std::uint32_t thread(std::uint32_t lane) const {
        return index * bytecode::WARP_SIZE + lane;
    }
};

/// Stops the running group for now; it continues with `next` when the others have had their turn.
/// Returns nullptr, so that handlers can `return` it.
///
/// A handler that cannot finish yet (a try_wait that may suspend) gives way like this.
[[nodiscard]] inline const bytecode::Instruction* yield_group(WarpContext& warp,
                                                              const bytecode::Instruction* next) {
    Group& group = warp.groups[warp.current];
    group.pc = static_cast<std::uint32_t>(next - warp.code);
    group.state = Stop::Yield;
    warp.stop = Stop::Yield;
    return nullptr;
}

/// Records a fault of one lane and stops the warp. Returns nullptr, so that handlers can `return`
/// it.
///
/// `detail` is what happened in a few words, e.g. "read of 4 bytes at 0x7f00... is outside device
/// memory"; kernel, block, thread and line are added here.
[[nodiscard]] const bytecode::Instruction* raise_fault(WarpContext& warp,
                                                       const bytecode::Instruction* at,
                                                       FaultKind kind, std::uint32_t lane,
                                                       std::string detail);

/// Words a finding as raise_fault does, without raising it.
[[nodiscard]] std::string describe_finding(const WarpContext& warp, const bytecode::Instruction* at,
                                           FaultKind kind, std::uint32_t lane,
                                           std::string_view detail);

/// Returns where an instruction came from: PTX line and text, and the line of the source where
/// known, each on a line of its own.
[[nodiscard]] std::string describe_place(const bytecode::Kernel& kernel,
                                         const bytecode::Instruction& at);

/// Makes a warp ready to run `present` lanes from the first instruction.
void start_warp(WarpContext& warp, std::uint32_t present);

/// Runs the warp's groups until none of them is runnable or `WarpContext::budget` is used up.
///
/// The caller refills the budget, and only after a Yield. A loop with a barrier in it stops at the
/// barrier in every round; with a fresh budget for each round it would never give way.
///
/// Returns Exited when all lanes are done, Barrier, Cluster, Mbarrier or Rendezvous when every
/// group waits (for others in the block or cluster), Sleep when none can run before one wakes up,
/// Yield when it can continue later, Fault after a fault.
[[nodiscard]] Stop run_warp(WarpContext& warp);

/// Returns when the first sleeping group of a warp wakes up, as now_ns() counts.
[[nodiscard]] std::uint64_t next_wake(const WarpContext& warp);

/// Returns where every group of a block stands, one line each: for deadlock and timeout reports.
[[nodiscard]] std::string describe_warps(const BlockContext& block);

/// Returns which block it is and where its groups stand: for faults that concern a whole block.
[[nodiscard]] std::string describe_block(const BlockContext& block);

} // namespace cuprum::emulator
