// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Decides when a kernel hangs.
//
// A block is ended only if all of this has held for the watchdog's time:
//
//   - A host thread waits for the device. If none does, the host may still do what the kernel waits
//     for, and nobody is kept waiting. If there is memory that other host threads can write without
//     a driver call (pinned, managed, registered), the time is HOST_MEMORY_FACTOR times as long.
//   - No block of any kernel has finished, no kernel was launched, no task has run, and no host
//     function of a stream is running.
//   - Every block that had its turn only waits, as probes show (interp/probe.hpp).
//
// The watchdog looks only when a block yields. In the first half of its time it compares two
// numbers. In the second half the blocks run with probes.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace cuprum::emulator::exec {

class Block;

/// The settings of the watchdog.
struct WatchdogSettings {
    std::uint32_t seconds = 0; // 0: off
    bool is_strict = false;    // ends every kernel when no block has finished for this long
};

/// See the head of this file. Functions may be called from any thread.
class Watchdog {
public:
    static constexpr int HOST_MEMORY_FACTOR = 5;

    using Clock = std::chrono::steady_clock;

    void configure(const WatchdogSettings& settings) noexcept;

    [[nodiscard]] WatchdogSettings settings() const noexcept;

    /// Counts finished blocks or tasks of a worker. Each worker has a cache line of its own.
    void count(std::uint32_t worker, std::uint64_t finished = 1) noexcept {
        std::atomic<std::uint64_t>& tally = tallies_[worker % WORKERS].count;
        tally.store(tally.load(std::memory_order_relaxed) + finished, std::memory_order_relaxed);
    }

    /// Counts a launch.
    void count_launch() noexcept { launches_.fetch_add(1, std::memory_order_relaxed); }

    /// Records that a host thread begins or ends to wait for the device.
    void add_waiting_host(int change) noexcept {
        waiting_hosts_.fetch_add(change, std::memory_order_relaxed);
    }

    /// Records that a host thread has asked whether work is done, and it was not.
    void note_poll() noexcept;

    /// Records that a function of the program begins or ends to run in a stream.
    void add_host_function(int change) noexcept {
        host_functions_.fetch_add(change, std::memory_order_relaxed);
    }

    /// Records that memory begins or ceases to exist that the host can write without a call.
    void add_host_memory(int change) noexcept {
        host_memories_.fetch_add(change, std::memory_order_relaxed);
    }

    /// Looks at a block that has yielded. Returns the time for which nothing has moved if the block
    /// must be ended because it hangs, else zero.
    [[nodiscard]] std::chrono::seconds hung_for(Block& block, Clock::time_point now);

private:
    static constexpr std::size_t WORKERS = 64;

    struct alignas(64) Tally {
        std::atomic<std::uint64_t> count{0};
    };

    [[nodiscard]] bool has_anything_moved() noexcept;
    [[nodiscard]] bool may_host_act(Clock::time_point now) const noexcept;
    void restart(Clock::time_point now) noexcept;

    std::atomic<std::uint32_t> seconds_{0};
    std::atomic<bool> is_strict_{false};
    std::atomic<std::uint64_t> launches_{0};
    std::atomic<int> waiting_hosts_{0};
    std::atomic<int> host_functions_{0};
    std::atomic<int> host_memories_{0};
    std::atomic<Clock::rep> polled_at_{0};
    std::atomic<Clock::rep> moved_at_{0}; // when something last moved
    std::atomic<std::uint64_t> seen_{0};  // the sum of all counts at that time
    std::array<Tally, WORKERS> tallies_;
};

} // namespace cuprum::emulator::exec
