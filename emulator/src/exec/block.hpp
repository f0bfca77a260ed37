// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "check/block_shadow.hpp"
#include "exec/aligned_buffer.hpp"
#include "exec/grid.hpp"
#include "interp/warp.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::exec {

/// One running block: its warps, registers, shared and local memory. It is reused for the next
/// block, without allocating as long as the kernel stays the same.
///
/// The blocks of a cluster are one object: the first holds the others and runs them in turn.
///
/// A block belongs to one worker at a time. Whenever run() has returned it can be suspended, and
/// another worker can resume it.
class Block {
public:
    enum class Outcome : std::uint8_t {
        Finished,
        Yielded, // can continue later
        Asleep,  // can continue at wake_at()
        Faulted, // fault() says why
    };

    Block() = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    /// Makes the blocks of cluster number `cluster` of a grid (one block where there are no
    /// clusters) ready to run, on a worker that acts as SM `sm`.
    void start(std::shared_ptr<Grid> grid, std::uint64_t cluster, std::uint32_t sm);

    /// Runs every warp that can run for one quantum, repeatedly, until all have finished, all wait,
    /// or one of them has used up its quanta.
    [[nodiscard]] Outcome run();

    /// Returns when a block that is asleep wakes up, as now_ns() counts; 0 for other blocks.
    [[nodiscard]] std::uint64_t wake_at() const noexcept { return wake_at_; }

    [[nodiscard]] Grid& grid() const noexcept { return *grid_; }

    [[nodiscard]] const std::shared_ptr<Grid>& shared_grid() const noexcept { return grid_; }

    [[nodiscard]] Fault& fault() noexcept { return context_.fault; }

    /// Records that the block has run for too long without any progress of its grid.
    /// `others` says where more blocks stand.
    void fail_with_timeout(std::uint32_t seconds, std::string_view others);

    /// Says where every warp stands, of every block of the cluster.
    [[nodiscard]] std::string describe() const;

    /// Releases the grid, and memory that is too large to keep.
    void release() noexcept;

private:
    /// How far one block of a cluster has come.
    enum class Progress : std::uint8_t {
        Finished,
        Yielded,
        Asleep,
        Stuck, // unless another block of the cluster resumes it
        Faulted,
    };

    void start_one(std::shared_ptr<Grid> grid, const std::uint32_t (&index)[3], std::uint32_t sm);
    [[nodiscard]] Progress run_one();
    [[nodiscard]] Block& of_rank(std::uint32_t rank);
    [[nodiscard]] Outcome fail_with_deadlock();
    void configure();
    void fill_block_bank(std::uint32_t sm);

    std::shared_ptr<Grid> grid_;
    const Grid* configured_for_ = nullptr; // whose sizes and pointers are in place
    BlockContext context_;
    std::unique_ptr<WarpContext[]> warps_;
    std::uint32_t warp_capacity_ = 0;
    AlignedBuffer frames_;
    AlignedBuffer shared_;
    AlignedBuffer local_;
    AlignedBuffer block_bank_;
    ClusterContext cluster_;                         // of the first block of a cluster
    std::vector<std::unique_ptr<Block>> companions_; // the others, by rank
    bool is_finished_ = false;                       // while others of the cluster still run
    std::uint64_t wake_at_ = 0;                      // when the first thread wakes up
    std::unique_ptr<check::BlockShadow> shadow_;     // of blocks that are checked
};

} // namespace cuprum::emulator::exec
