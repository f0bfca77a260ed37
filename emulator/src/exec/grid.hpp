// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "check/global_races.hpp"
#include "exec/aligned_buffer.hpp"
#include "exec/engine.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace cuprum::emulator::exec {

/// A running launch: the state that its blocks share, and the count of finished blocks.
///
/// Workers take each block once, by number. The last block that finishes, or that is abandoned
/// after a fault, reports the grid as done.
class Grid {
public:
    using Clock = std::chrono::steady_clock;

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

    /// Derives the order of blocks, warps and lanes from a seed. Call it before the first block is
    /// taken. `number` makes grids with the same seed differ.
    void shuffle(std::uint64_t seed, std::uint64_t number);

    /// Returns the initial random state of a cluster; 0 if the schedule is not random.
    [[nodiscard]] std::uint64_t random_start(std::uint64_t cluster) const noexcept;

    /// Takes the number of the next cluster that has not started. Returns false if none is left.
    [[nodiscard]] bool take(std::uint64_t& cluster);
    [[nodiscard]] bool has_fresh_blocks() const noexcept;
    /// Returns whether one more block may be started and later suspended with all its memory.
    [[nodiscard]] bool may_hold_more() const noexcept;

    void add_resident(int change) noexcept { resident_.fetch_add(change); }

    /// Counts blocks as done. The last one calls `done`.
    void finish(std::uint64_t blocks);
    /// Records the first fault and abandons the blocks that have not started.
    void fail(Fault fault);

    [[nodiscard]] bool has_failed() const noexcept {
        return has_failed_.load(std::memory_order_relaxed);
    }

    /// Returns when a block last finished, or when the grid started.
    [[nodiscard]] Clock::time_point last_progress() const noexcept {
        return Clock::time_point(Clock::duration(last_progress_.load(std::memory_order_relaxed)));
    }

private:
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
    // In a random schedule, position `i` holds block (i * stride + first) modulo the block count.
    std::uint64_t seed_ = 0; // the seed that the user gave
    std::uint64_t random_ = 0;
    std::uint64_t stride_ = 1;
    std::uint64_t first_ = 0;
    AlignedBuffer launch_bank_;
    AlignedBuffer warp_specials_;

    alignas(64) std::atomic<std::uint64_t> next_{0};
    alignas(64) std::atomic<std::uint64_t> finished_{0};
    std::atomic<int> resident_{0};
    std::atomic<bool> has_failed_{false};
    std::atomic<Clock::rep> last_progress_{0};
    std::unique_ptr<check::GridShadow> shadow_;
    std::mutex fault_mutex_;
    Fault fault_;
};

/// Writes a value to every lane.
void broadcast(std::byte* out, bytecode::Width width, std::uint64_t value);

} // namespace cuprum::emulator::exec
