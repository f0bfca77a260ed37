// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "check/global_races.hpp"
#include "exec/aligned_buffer.hpp"
#include "exec/engine.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::emulator::exec {

/// A range of positions in the order in which a grid's clusters start.
struct ClusterRange {
    std::uint64_t next = 0;
    std::uint64_t end = 0;

    [[nodiscard]] std::uint64_t size() const noexcept { return end - next; }

    [[nodiscard]] bool is_empty() const noexcept { return next == end; }
};

/// A running launch: the state that its blocks share, and the count of finished blocks.
///
/// Workers take ranges of blocks, and each block once. They count the blocks of a range themselves
/// and report them together. The report that completes the count, of finished or abandoned blocks,
/// ends the grid.
class Grid {
public:
    Grid(GridLaunch launch, std::function<void(const Fault*)> done, bool is_reusable = false);

    /// Makes a reusable grid ready to run again. Only while it does not run.
    void rearm(std::int32_t priority);

    /// Returns how urgent the grid is: lower numbers start first.
    [[nodiscard]] std::int32_t priority() const noexcept {
        return priority_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] const GridLaunch& launch() const noexcept { return launch_; }

    [[nodiscard]] const bytecode::Kernel& kernel() const noexcept { return *launch_.kernel; }

    [[nodiscard]] std::byte* launch_bank() const noexcept { return launch_bank_.data(); }

    [[nodiscard]] std::uint64_t block_count() const noexcept { return block_count_; }

    [[nodiscard]] std::uint32_t thread_count() const noexcept { return thread_count_; }

    /// Returns what the checks know about the grid, or nullptr if it is not checked.
    [[nodiscard]] check::GridShadow* shadow() const noexcept { return shadow_.get(); }

    /// Returns the 32 lane values of a special register that differs between warps. A LinearHead
    /// with the same contents stands before them. `slot` counts the kernel's warp specials.
    [[nodiscard]] const std::byte* warp_special(std::uint32_t warp, std::size_t slot) const;

    /// Returns how many blocks start and finish together: the cluster size, or 1 without clusters.
    [[nodiscard]] std::uint32_t cluster_blocks() const noexcept { return cluster_blocks_; }

    /// Derives the order of blocks, warps and lanes from a seed. Call it before the first block of
    /// a run is taken. `number` makes grids with the same seed differ; the runs of a grid differ
    /// too.
    void shuffle(std::uint64_t seed, std::uint64_t number);

    /// Returns whether the order of execution is random.
    [[nodiscard]] bool is_random() const noexcept { return random_ != 0; }

    /// Returns the initial random state of a cluster; 0 if the schedule is not random.
    [[nodiscard]] std::uint64_t random_start(std::uint64_t cluster) const noexcept;

    /// Takes up to `most` clusters that have not started, the earliest that were given back first;
    /// fewer if the rest is to be shared by `workers`. The range is empty if none is left.
    [[nodiscard]] ClusterRange take(std::uint64_t most, std::uint32_t workers);

    /// Returns clusters that were taken but did not start. Returns false if the grid has failed:
    /// the caller counts them as finished.
    [[nodiscard]] bool give_back(ClusterRange range);

    /// Returns the number of the cluster at a position of the order.
    [[nodiscard]] std::uint64_t cluster_at(std::uint64_t position) const noexcept;

    [[nodiscard]] std::uint64_t cluster_count() const noexcept { return cluster_count_; }

    [[nodiscard]] bool has_fresh_blocks() const noexcept;

    /// Returns whether one more block may be started. As on a GPU, blocks start in their order: a
    /// block that was given back may always start, because the blocks behind it may wait for it.
    /// Others need room.
    [[nodiscard]] bool may_start_more() const noexcept;

    /// Counts a block as suspended or resumed.
    void add_suspended(int change) noexcept {
        suspended_.fetch_add(change, std::memory_order_relaxed);
    }

    /// Notes when the first block started, in now_ns() time.
    void set_begin(std::uint64_t begin_ns) noexcept {
        begin_ns_.store(begin_ns, std::memory_order_relaxed);
    }

    /// Returns when the first block started; 0 if none has.
    [[nodiscard]] std::uint64_t begin_ns() const noexcept {
        return begin_ns_.load(std::memory_order_relaxed);
    }

    /// Returns how many blocks were reported as done.
    [[nodiscard]] std::uint64_t finished_count() const noexcept {
        return finished_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] bool is_done() const noexcept { return finished_count() == block_count_; }

    /// Counts blocks as done. The last one calls `done`.
    void finish(std::uint64_t blocks);
    /// Records the first fault and abandons the blocks that have not started.
    void fail(Fault fault);

    [[nodiscard]] bool has_failed() const noexcept {
        return has_failed_.load(std::memory_order_relaxed);
    }

    /// Returns whether the engine's queue holds the grid.
    [[nodiscard]] bool is_queued() const noexcept {
        return is_queued_.load(std::memory_order_relaxed);
    }

    /// Returns the priority under which the queue holds the grid.
    [[nodiscard]] std::int32_t queued_priority() const noexcept { return queued_priority_; }

    /// Notes that the engine's queue holds the grid, or not. Only under the engine's mutex.
    void set_queued(bool is_queued) noexcept {
        is_queued_.store(is_queued, std::memory_order_relaxed);
        queued_priority_ = priority();
    }

private:
    /// Returns whether one more block may be suspended with all its memory. All blocks that the
    /// device holds at a time, by its own account, may wait for each other.
    [[nodiscard]] bool has_room() const noexcept;
    void add_circumstances();
    void start_shadow();
    void fill_launch_bank();
    void fill_warp_specials();
    [[nodiscard]] std::uint64_t launch_value(bytecode::Special special) const;

    GridLaunch launch_;
    std::function<void(const Fault*)> done_;
    bool is_reusable_ = false;
    std::atomic<std::int32_t> priority_{0};
    std::uint64_t block_count_ = 0;
    std::uint32_t thread_count_ = 0;
    std::uint32_t cluster_blocks_ = 1;
    std::uint64_t cluster_count_ = 0;
    std::uint64_t seed_ = 0;      // of a random schedule, as the user gave it
    std::uint64_t random_ = 0;    // what the order follows from; 0 if it is not random
    std::uint64_t run_count_ = 0; // in random schedules
    int most_suspended_ = 0;      // clusters
    AlignedBuffer launch_bank_;
    AlignedBuffer warp_specials_;

    // Written once per range, except begin_ns_: whoever takes the first block writes it.
    alignas(64) std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint64_t> begin_ns_{0};
    alignas(64) std::atomic<std::uint64_t> finished_{0};
    // Read for every block, but hardly ever written.
    alignas(64) std::atomic<bool> has_failed_{false};
    std::atomic<bool> has_returned_{false}; // whether returned_ is not empty
    std::atomic<bool> is_queued_{false};
    std::int32_t queued_priority_ = 0;
    // Written whenever a block waits or goes on.
    alignas(64) std::atomic<int> suspended_{0};
    std::mutex returned_mutex_;
    std::vector<ClusterRange> returned_; // ranges that workers gave back
    std::unique_ptr<check::GridShadow> shadow_;
    std::mutex fault_mutex_;
    Fault fault_;
};

} // namespace cuprum::emulator::exec
