// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds out whether a block only waits.
//
// A block only waits if it writes nothing that others can see and returns to states that it has
// been in before. Such a block is a machine without inputs that runs in a circle: it goes on for
// ever unless somebody else changes the memory that it reads. A loop that counts, or that computes
// anything new, reaches new states and does not wait.
//
// The state is what the block's threads can see of themselves: program counters, registers, local
// and shared memory, barriers. Two kinds of states are compared: that of the whole block whenever
// it yields, and the registers of a warp after each instruction that reads memory. The second shows
// a changed value even if the kernel overwrites it at once.
//
// Clocks stand still for a block with a probe. Waits of libcu++ read one to decide how long to
// sleep, and would reach new states for ever. If a clock can end a loop, the block does not only
// wait; the probe finds out by following the clock's value through the instructions of the loop.
//
// Only blocks that the watchdog suspects have a probe. They run in a second run loop
// (warp.cpp), so that others pay nothing.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cuprum::emulator {

struct BlockContext;
struct WarpContext;

/// What an instruction means for a block that may be waiting.
enum class Effect : std::uint8_t {
    None,   // changes only the state of its own block or cluster
    Reads,  // returns what others may have written; a part of a wait
    Writes, // changes memory or output that others can see
    Clock,  // returns the time
};

/// The observations of one block. See the head of this file.
class Probe {
public:
    /// A place where a warp waits, for reports.
    struct Site {
        std::uint32_t warp = 0;
        std::uint32_t pc = 0;
        std::string text; // what an mbarrier lacks; empty for other reads
    };

    Probe();

    /// Records the state of a whole block that yields.
    void observe(const BlockContext& block);

    /// Records what an instruction has done. The lanes in `mask` have executed it; none if its
    /// guard does not hold.
    void observe(const WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask);

    /// Ends the time in which new states are expected. From now on they count as progress.
    void end_learning() noexcept { is_learning_ = false; }

    [[nodiscard]] bool is_learning() const noexcept { return is_learning_; }

    /// Returns whether the block has done more than wait since the probe began, or since learning
    /// ended.
    [[nodiscard]] bool has_moved() const noexcept { return has_moved_; }

    /// Returns how often the state of the whole block has been recorded.
    [[nodiscard]] std::uint32_t look_count() const noexcept { return look_count_; }

    [[nodiscard]] const std::vector<Site>& sites() const noexcept { return sites_; }

    /// Returns the time at which clocks stand still: of %clock, and of %globaltimer.
    [[nodiscard]] std::uint64_t clock() const noexcept { return clock_; }

    [[nodiscard]] std::uint64_t timer() const noexcept { return timer_; }

private:
    [[nodiscard]] bool can_clock_end(const WarpContext& warp) const;
    [[nodiscard]] bool leaves_loop(const WarpContext& warp, std::uint32_t pc) const;
    [[nodiscard]] Effect effect_of(const WarpContext& warp, const bytecode::Instruction* at);
    void remember(std::uint64_t state);

    bool is_learning_ = true;
    bool has_moved_ = false;
    std::uint32_t look_count_ = 0;
    std::unordered_set<std::uint64_t> states_;
    std::unordered_map<std::uint32_t, Effect> effects_; // by program counter
    std::vector<Site> sites_;
    std::uint64_t clock_;
    std::uint64_t timer_;
    bool has_clock_ = false;
    std::size_t followed_ = 0; // how many instructions were known when the clock was last followed
};

/// Returns what an instruction means, by its PTX text, such as "@%p1 ld.volatile.u32 %r1, [%rd1];".
[[nodiscard]] Effect effect_of(const std::string& text);

} // namespace cuprum::emulator
