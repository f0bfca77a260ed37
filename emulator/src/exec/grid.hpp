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

/// A running launch: what its blocks share, and how many of them are done.
///
/// Workers take blocks by number, each once. The last block to finish, or to be abandoned after a
/// fault, reports the grid as done.
class Grid {
public:
    using Clock = std::chrono::steady_clock;

    Grid(GridLaunch launch, std::function<void(const Fault*)> done);

    [[nodiscard]] const GridLaunch& launch() const noexcept { return launch_; }

    [[nodiscard]] const bytecode::Kernel& kernel() const noexcept { return *launch_.kernel; }

    [[nodiscard]] std::byte* launch_bank() const noexcept { return launch_bank_.data(); }

    [[nodiscard]] std::uint64_t block_count() const noexcept { return block_count_; }

    [[nodiscard]] std::uint32_t thread_count() const noexcept { return thread_count_; }

    /// Returns what checks know of the grid; nullptr when it is not checked.
    [[nodiscard]] check::GridShadow* shadow() const noexcept { return shadow_.get(); }

    /// Returns what a warp's own special value is in its 32 lanes, behind a LinearHead that says
    /// the same. `slot` counts the kernel's warp specials.
    [[nodiscard]] const std::byte* warp_special(std::uint32_t warp, std::size_t slot) const;

    /// Returns how many blocks are started and finished together: those of a cluster, else 1.
    [[nodiscard]] std::uint32_t cluster_blocks() const noexcept { return cluster_blocks_; }

    /// Makes the order of blocks, and of what runs in them, depend on a seed. Call it before the
    /// first block is taken. `number` makes grids with the same seed differ.
    void shuffle(std::uint64_t seed, std::uint64_t number);

    /// Returns where the random choices of a cluster start; 0 when none are random.
    [[nodiscard]] std::uint64_t random_start(std::uint64_t cluster) const noexcept;

    /// Takes the next cluster that has not started, by number. Returns false when none is left.
    [[nodiscard]] bool take(std::uint64_t& cluster);
    [[nodiscard]] bool has_fresh_blocks() const noexcept;
    /// Returns whether one more block may be started and, with all its memory, suspended.
    [[nodiscard]] bool may_hold_more() const noexcept;

    void add_resident(int change) noexcept { resident_.fetch_add(change); }

    /// Counts a block as done; the last one calls `done`.
    void finish(std::uint64_t blocks);
    /// Records the first fault and abandons the blocks that have not started.
    void fail(Fault fault);

    [[nodiscard]] bool has_failed() const noexcept {
        return has_failed_.load(std::memory_order_relaxed);
    }

    /// Returns when a block last finished, or the grid started.
    [[nodiscard]] Clock::time_point last_progress() const noexcept {
        return Clock::time_point(Clock::duration(last_progress_.load(std::memory_order_relaxed)));
    }

private:
    void fill_launch_bank();
    void fill_warp_specials();
    [[nodiscard]] std::uint64_t launch_value(bytecode::Special special) const;

    GridLaunch launch_;
    std::function<void(const Fault*)> done_;
    std::uint64_t block_count_ = 0;
    std::uint32_t thread_count_ = 0;
    std::uint32_t cluster_blocks_ = 1;
    std::uint64_t cluster_count_ = 0;
    // A random order of blocks: number `i` of it is (i * stride + first) modulo the count.
    std::uint64_t seed_ = 0; // as the user gave it
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
