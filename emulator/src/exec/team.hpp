// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Short blocks of a grid that run in lockstep (docs/design/0015_lockstep.md).
//
// A block of a few instructions costs more to start and to end than to run. A team runs up to 256
// warps of adjacent blocks, one instruction at a time for all of them. Such blocks have no loop and
// no shared memory, and most of them finish together.
//
// If the blocks of a team part, they continue one by one, each as a Block. If nothing but registers
// has changed so far, they start again, in lockstep of their own.

#pragma once

#include "exec/aligned_buffer.hpp"
#include "exec/grid.hpp"
#include "interp/lockstep.hpp"
#include "interp/warp.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cuprum::emulator::exec {

/// Several blocks of a grid that run together. The object is reused for the next blocks. It belongs
/// to one worker.
class Team {
public:
    enum class Outcome : std::uint8_t {
        Finished,
        Parted,  // the blocks continue one by one
        Faulted, // see fault()
    };

    Team() = default;
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// Sets up the team for a grid of which about `blocks` will run on this worker, which acts as
    /// SM `sm`. Does nothing if it was the last grid too.
    ///
    /// The blocks may collect reductions in `reductions`, as those of Block::start() do.
    void configure(const Grid& grid, std::uint64_t blocks, std::uint32_t sm,
                   PendingReductions& reductions);

    /// Returns whether it is worthwhile to run blocks of the grid together.
    [[nodiscard]] bool is_useful() const noexcept { return lockstep::can_start(lockstep_); }

    /// Returns how many blocks it can run together, if that is worthwhile.
    [[nodiscard]] std::uint32_t most_blocks() const noexcept { return most_blocks_; }

    /// Runs some of the `most` blocks that begin with block number `first`. block_count() returns
    /// how many they were; no block has run if there are fewer than two.
    [[nodiscard]] Outcome run(std::uint64_t first, std::uint64_t most);

    [[nodiscard]] std::uint32_t block_count() const noexcept { return lockstep_.block_count; }

    [[nodiscard]] Fault& fault() noexcept;

    /// Returns whether blocks that have parted must continue where they are (Block::adopt()). If
    /// not, they may start again.
    [[nodiscard]] bool has_effects() const noexcept;

    /// Returns the index of the instruction at which the blocks have parted.
    [[nodiscard]] std::uint32_t place() const noexcept { return lockstep_.next; }

    /// Returns the registers of a warp of block number `block` of the team.
    [[nodiscard]] const std::byte* frame(std::uint32_t block, std::uint32_t warp) const noexcept;

    /// Forgets the grid.
    void release() noexcept {
        configured_for_ = nullptr;
        lockstep_.is_configured = false;
    }

private:
    [[nodiscard]] std::uint32_t fitting_blocks(const Grid& grid, std::uint64_t blocks) const;
    void shrink();
    void find_values(const Grid& grid);

    const Grid* configured_for_ = nullptr;
    std::uint32_t most_blocks_ = 0; // of a team
    std::uint32_t length_ = 1;      // of the grid along the axis of the team
    std::int32_t patience_ = 0;     // below 0: the blocks of this grid part too often
    Lockstep lockstep_;
    ClusterContext cluster_;
    std::vector<BlockContext> contexts_;
    std::vector<WarpContext> warps_;
    AlignedBuffer frames_;
    AlignedBuffer banks_;
};

} // namespace cuprum::emulator::exec
