// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The state of one warp, as handlers see it.
//
// Lanes at the same instruction form a group: a program counter and a mask. One group runs at a
// time; the others wait. Groups split at divergent branches and merge when they meet at the same
// instruction and call depth. The group with the deepest call runs first; among equals, the one
// with the lowest program counter. This makes structured code reconverge. A group that jumps back
// too often while others make no progress yields to them. This is independent thread scheduling: a
// lane that spins on another lane's flag must not starve it.
//
// The address of a kernel parameter is a shared-memory address. If a kernel takes one, its
// parameters are copied into shared memory (Kernel::parameter_copy_bytes), so loads need no special
// case.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/memory_map.hpp"
#include "interp/observer.hpp"
#include "interp/reductions.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::emulator {

namespace builtins {
class Heap;
}

namespace jit {
struct Compiled;
struct Site;
} // namespace jit

class Probe;
struct BlockContext;

/// Why a group stopped running.
enum class Stop : std::uint8_t {
    Running,
    Exited,     // every lane of the group is done
    Diverged,   // the group split or reached another group: pick the next group
    Barrier,    // waits at a block barrier
    Cluster,    // waits at the cluster's barrier
    Mbarrier,   // waits until an mbarrier of the cluster completes a phase
    Rendezvous, // waits for the other lanes of a .sync mask
    Warpgroup,  // waits for the other warps of its warpgroup
    Yield,      // its time is up; runnable again
    Sleep,      // asked to sleep, until `Group::wake_at`
    Fault,      // see `WarpContext::block->fault`
};

/// The kinds of faults in a kernel. They decide the driver's result code.
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
    std::string report; // the full report: kernel, block, thread, address, PTX line
};

/// Lanes that share a program counter.
struct Group {
    std::uint32_t pc = 0;
    std::uint32_t mask = 0;
    std::uint32_t depth = 0;     // calls that have not returned
    Stop state = Stop::Running;  // Running and Yield are runnable
    std::uint32_t barrier = 0;   // Barrier: which one
    std::uint32_t wait_mask = 0; // Rendezvous: lanes that must arrive
    std::uint64_t wake_at = 0;   // Sleep: when it ends, in now_ns() time
};

/// One of the sixteen barriers of a block. Threads are counted, not warps.
struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t expected = 0; // 0: all threads of the block that have not exited
    std::uint32_t waiting = 0;  // mask of warps with a group that waits here
    // The result of bar.red so far.
    std::uint32_t true_count = 0;
    bool is_all_true = true;
    bool is_any_true = false;
};

struct WarpContext;

/// The distance between the shared memories of a cluster's blocks in its addresses (cluster.hpp).
constexpr std::uint64_t CLUSTER_WINDOW_BYTES = std::uint64_t{1} << 19;

/// The state that the blocks of a cluster share. A block without a cluster is a cluster by itself.
/// The blocks run on one worker at a time, so their shared memory needs no locks.
struct ClusterContext {
    static constexpr std::uint32_t MAX_SIZE = 16;

    BlockContext* blocks[MAX_SIZE] = {}; // by rank
    std::uint32_t size = 1;
    bool parity = false;       // of the current phase of the cluster's barrier
    std::uint32_t waiting = 0; // groups that wait at the barrier
    // Grows whenever a wait for an mbarrier of the cluster may end differently than before.
    std::uint32_t mbarrier_changes = 0;
    std::uint32_t mbarrier_waiters = 0; // upper bound on the groups in state Stop::Mbarrier

    /// The bytes that the current phase of an mbarrier has announced and received, for reports. The
    /// barrier itself holds only the difference.
    struct Transactions {
        const void* barrier = nullptr; // host address
        std::int64_t announced = 0;
        std::int64_t received = 0;
    };

    static constexpr std::size_t TRANSACTIONS = 64;
    std::array<Transactions, TRANSACTIONS>
        transactions{}; // by address; later barriers replace others
};

/// The state that the warps of one block share.
struct BlockContext {
    static constexpr std::uint32_t BARRIER_COUNT = 16;

    const bytecode::Kernel* kernel = nullptr;
    const bytecode::CodeSlot* code = nullptr;             // what the warps run, unless there is:
    const jit::Compiled* compiled = nullptr;              // compiled code, or null
    const bytecode::Instruction* compiled_code = nullptr; // its instructions
    jit::Site* sites = nullptr;                           // of this code, for the worker
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
    std::uint32_t max_frames = 1;  // most activations of a thread, including the kernel
    std::uint32_t stack_bytes = 0; // the limit behind max_frames; 0: the emulated device's own
    std::uint64_t random = 0;      // random state of the schedule; 0: the schedule is not random
    Fault fault;
    void* owner = nullptr;          // the exec::Block that owns this
    builtins::Heap* heap = nullptr; // what malloc allocates from; nullptr if unused

    WarpContext* warps = nullptr;
    std::uint32_t warp_count = 0;
    std::uint32_t runnable = 0;     // mask of warps with a runnable group
    std::uint32_t live_threads = 0; // threads that have not exited
    std::uint32_t pending = 0;      // mask of barriers where threads have arrived
    std::array<Barrier, BARRIER_COUNT> barriers{};

    ClusterContext* cluster = nullptr; // never null while the block runs
    std::uint32_t cluster_rank = 0;
    Observer* observer = nullptr;            // only of checked blocks
    Probe* probe = nullptr;                  // only of blocks that the watchdog suspects
    PendingReductions* reductions = nullptr; // of the worker; null: nothing may be collected
};

/// One warp.
struct WarpContext {
    /// Bases of the four banks, indexed by Bank.
    std::array<std::byte*, 4> banks{};
    const bytecode::Instruction* code = nullptr; // what run_warp() has found in BlockContext::code
    std::uint32_t active = 0;                    // lanes of the running group
    std::uint32_t present = 0;                   // lanes that exist (the last warp may be partial)
    std::uint32_t exited = 0;                    // lanes that are done
    std::uint32_t index = 0;                     // of the warp in its block
    std::uint32_t budget = 0;                    // back edges left before the warp must yield
    Stop stop = Stop::Running;                   // set before a handler returns nullptr
    BlockContext* block = nullptr;
    std::uint32_t current = 0; // index of the running group
    std::uint32_t group_count = 0;
    std::int32_t patience = 0; // back edges left before the running group must yield to others
    // The mask with which all lanes may be adjacent in memory. 0 if the warp holds two rows of 16
    // threads, which rarely are: handlers then look at its halves at once.
    std::uint32_t row_mask = bytecode::FULL_MASK;
    // Where the running group must check for others: the nearest instruction ahead where another
    // group stands. Beyond the end of all code if there is no other group.
    const bytecode::Instruction* limit = nullptr;
    std::array<Group, bytecode::WARP_SIZE> groups{};
    // Frames, one per call depth. Bank 0 is the frame of the running group.
    std::byte* frames = nullptr;
    std::uint32_t frame_stride_bytes = 0;
    std::uint32_t ready_frames = 1; // frames whose special values are filled in
    // For the cluster's barrier: lanes that have arrived in the current phase, and for each lane
    // the parity of the phase in which it last arrived.
    std::uint32_t cluster_arrived = 0;
    std::uint32_t cluster_parity = 0;
    // The value of ClusterContext::mbarrier_changes when each lane last tested an mbarrier.
    std::array<std::uint32_t, bytecode::WARP_SIZE> tested_at{};

    /// Returns the frame of the lanes at a call depth.
    [[nodiscard]] std::byte* frame(std::uint32_t depth) const {
        return frames + std::size_t{frame_stride_bytes} * depth;
    }

    /// Returns the address of an operand's bytes.
    [[nodiscard]] std::byte* at(bytecode::Operand operand) const {
        return banks[operand.bits >> bytecode::Operand::OFFSET_BITS] + operand.offset();
    }

    /// Returns a predicate's mask.
    [[nodiscard]] std::uint32_t predicate(bytecode::Operand operand) const {
        return *reinterpret_cast<const std::uint32_t*>(at(operand));
    }

    /// Returns a lane's thread index in the block.
    [[nodiscard]] std::uint32_t thread(std::uint32_t lane) const {
        return index * bytecode::WARP_SIZE + lane;
    }
};

/// Stops the running group for now. It continues with `next` after the others have had their turn.
/// Returns nullptr, so that handlers can `return` it.
///
/// Handlers that cannot finish yet, such as a try_wait that may suspend, use this to yield.
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
/// `detail` describes what happened, such as "read of 4 bytes at 0x7f00... is outside device
/// memory". The report adds kernel, block, thread and line.
[[nodiscard]] const bytecode::Instruction* raise_fault(WarpContext& warp,
                                                       const bytecode::Instruction* at,
                                                       FaultKind kind, std::uint32_t lane,
                                                       std::string detail);

/// Describes a finding in the words of raise_fault() without raising it.
[[nodiscard]] std::string describe_finding(const WarpContext& warp, const bytecode::Instruction* at,
                                           FaultKind kind, std::uint32_t lane,
                                           std::string_view detail);

/// Returns where an instruction came from: PTX line and text and, if known, the source line, each
/// on a line of its own.
[[nodiscard]] std::string describe_place(const bytecode::Kernel& kernel,
                                         const bytecode::Instruction& at);

/// Returns the PTX text of an instruction on one line. Empty if it is unknown.
[[nodiscard]] std::string text_of(const bytecode::Kernel& kernel, const bytecode::Instruction& at);

/// Makes a warp ready to run `present` lanes from the first instruction.
void start_warp(WarpContext& warp, std::uint32_t present);

/// Runs the warp's groups until none of them is runnable or `WarpContext::budget` is used up.
///
/// The caller refills the budget only after a Yield. A loop with a barrier stops at the barrier in
/// every round; with a fresh budget for each round it would never yield.
///
/// Runs the code that BlockContext::code holds at the time of the call.
///
/// Returns Exited if all lanes are done; Barrier, Cluster, Mbarrier, Warpgroup or Rendezvous if
/// every group waits for others in the block or cluster; Sleep if no group can run before one wakes
/// up; Yield if the warp can continue later; Fault after a fault.
[[nodiscard]] Stop run_warp(WarpContext& warp);

/// Returns when the first sleeping group of a warp wakes up, in now_ns() time.
[[nodiscard]] std::uint64_t next_wake(const WarpContext& warp);

/// Returns where every group of a block stands, one line each, for deadlock and timeout reports.
[[nodiscard]] std::string describe_warps(const BlockContext& block);

/// Returns which block it is and where its groups stand, for faults that concern a whole block.
[[nodiscard]] std::string describe_block(const BlockContext& block);

} // namespace cuprum::emulator
