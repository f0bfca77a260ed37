// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the checks know of one running block: which bytes of its shared and local memory have been
// written, who accessed its shared memory, and how its threads order each other.
//
// Time is a counter that all blocks of a cluster share and that moves whenever threads order their
// work. An access has the time at which it happens. It is ordered before a later access of another
// thread when
//   - all threads of the block (or cluster) have met since,
//   - both are of one warp and have met since, directly or through others (__syncwarp), or
//   - its thread has released what it had done since, and the other thread has acquired since:
//     mbarriers, fences and atomics, barriers of a part of the block. As for device memory
//     (global_races.hpp), what is acquired is all that was released.
// Shuffles and votes order nothing, as the programming guide says, and fences alone do not either.

#pragma once

#include "check/cells.hpp"
#include "check/global_races.hpp"
#include "interp/warp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::emulator::check {

/// Records every access and synchronisation of a block that is checked.
class BlockShadow final : public Observer {
public:
    /// Who accessed shared memory, when and where.
    struct Stamp {
        static constexpr std::uint16_t THREADS = 1024; // at most, of a block

        std::uint32_t time = 0;
        std::uint16_t thread = 0; // of the cluster: rank * THREADS + thread in the block
        std::uint32_t instruction = 0;

        [[nodiscard]] bool is_same_thread(const Stamp& other) const {
            return thread == other.thread;
        }

        [[nodiscard]] bool is_same_group(const Stamp& other) const {
            return thread / bytecode::WARP_SIZE == other.thread / bytecode::WARP_SIZE;
        }
    };

    /// Begins the life of a block, whose context and cluster are complete. Those of lower rank in
    /// the cluster have begun.
    void start(BlockContext& block, GridShadow& grid);

    void arrived(const WarpContext& warp, std::uint32_t mask) override;
    void passed(const WarpContext& warp, std::uint32_t mask) override;
    void met() override;
    void cluster_met() override;
    void allocated(std::uint64_t address, std::uint64_t bytes) override;

    /// Lanes of a warp have met; each has named its members in `members`.
    void warp_met(const WarpContext& warp, std::uint32_t mask, const std::uint32_t* members);
    void release(const WarpContext& warp, std::uint32_t mask);
    void acquire(const WarpContext& warp, std::uint32_t mask);

    /// Records an access of a thread of the cluster to this block's shared memory.
    [[nodiscard]] std::optional<Conflict<Stamp>>
    access_shared(const WarpContext& who, std::uint32_t lane, std::uint32_t instruction,
                  std::uint32_t offset, std::uint32_t bytes, bool is_write,
                  const std::uint8_t* data);

    /// Records accesses of `lanes` lanes of this block from `lane` on, `bytes` each, side by side
    /// or (reads) all at one place. Returns false, with nothing recorded, unless all that happened
    /// there before is ordered for every thread of the block.
    [[nodiscard]] bool access_shared_lanes(const WarpContext& who, std::uint32_t lane,
                                           std::uint32_t lanes, std::uint32_t instruction,
                                           std::uint32_t offset, std::uint32_t bytes,
                                           bool is_uniform, bool is_write,
                                           const std::uint8_t* data);

    /// Finds the allocation that holds an address; false when there is none.
    [[nodiscard]] bool find(const MemoryMap& map, std::uint64_t address, MemoryRange& range);

    [[nodiscard]] GridShadow& grid() const { return *grid_; }

    /// Returns one byte per byte of shared memory: whether it has been written.
    [[nodiscard]] std::uint8_t* shared_written() { return shared_written_.data(); }

    /// Returns the same for the local memory of a thread.
    [[nodiscard]] const std::uint8_t* local_written(std::uint32_t thread) const {
        return local_written_.get() + thread * local_stride_;
    }

    /// Marks bytes of a thread's local memory as written; they must lie inside it.
    void mark_local(std::uint32_t thread, std::size_t offset, std::size_t bytes);

    /// Returns how much of each thread's local memory the next block has to clear.
    [[nodiscard]] std::size_t local_used() const { return local_used_; }

private:
    struct Clock {
        std::uint32_t now = 1;
        std::uint32_t met = 0;     // when all threads of the cluster were ordered
        std::uint32_t rewinds = 0; // how often it was wound back
    };

    struct Thread {
        std::uint32_t released = 0; // accesses before this time are
        std::uint32_t acquired = 0;
    };

    void forget_local();
    [[nodiscard]] bool is_ordered(const Stamp& earlier, const BlockShadow& by,
                                  std::uint32_t thread) const;
    [[nodiscard]] bool is_reserved(std::uint32_t offset) const;
    [[nodiscard]] std::uint32_t& known(std::uint32_t thread, std::uint32_t other_lane);
    [[nodiscard]] std::uint32_t known(std::uint32_t thread, std::uint32_t other_lane) const;
    [[nodiscard]] BlockShadow& of_rank(std::uint32_t rank) const;

    BlockContext* block_ = nullptr;
    GridShadow* grid_ = nullptr;
    std::vector<std::uint8_t> shared_written_;

    struct Free {
        void operator()(std::uint8_t* memory) const { std::free(memory); }
    };

    // A byte per byte of local memory, thread after thread. All of it is zero but the first
    // `local_used_` bytes of each thread.
    std::unique_ptr<std::uint8_t[], Free> local_written_;
    std::size_t local_bytes_ = 0;
    std::size_t local_stride_ = 0;
    std::size_t local_used_ = 0;

    Clock own_clock_;        // of the block of rank 0
    Clock* clock_ = nullptr; // of the cluster
    std::uint32_t seen_rewinds_ = 0;
    std::uint32_t met_ = 0;               // when all threads of the block were ordered
    std::uint32_t released_together_ = 0; // what was ordered then has been released
    std::uint32_t acquired_together_ = 0;
    std::uint32_t last_acquired_ = 0;
    std::vector<Thread> threads_;
    std::vector<std::uint32_t> known_; // per thread and lane of its warp: known up to this time
    Cells<Stamp> cells_{0};

    // Allocations found before; valid while the map has not changed.
    std::uint64_t seen_changes_ = 0;
    std::array<MemoryRange, 8> ranges_{};
    std::uint32_t next_range_ = 0;
};

} // namespace cuprum::emulator::check
