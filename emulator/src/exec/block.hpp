// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "check/block_shadow.hpp"
#include "exec/aligned_buffer.hpp"
#include "exec/grid.hpp"
#include "interp/lockstep.hpp"
#include "interp/probe.hpp"
#include "interp/warp.hpp"
#include "jit/compiled.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::exec {

class Team;

/// A running block: its warps, registers, shared and local memory. The object is reused for the
/// next block. What the blocks of a grid have in common is set up once, with the first of them.
///
/// The blocks of a cluster are one object: the first block holds the others and runs them in turn.
///
/// A block belongs to one worker at a time. After run() returns, the block can be suspended and
/// another worker can resume it.
class Block {
public:
    enum class Outcome : std::uint8_t {
        Finished,
        Yielded, // can continue later
        Asleep,  // can continue at wake_at()
        Faulted, // see fault()
    };

    Block() = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    /// Prepares the blocks of cluster number `cluster` of a grid, on a worker that acts as SM `sm`.
    /// Without clusters, this is one block.
    ///
    /// The block may collect reductions in `reductions`. The caller applies them whenever run() has
    /// returned Yielded, Asleep or Faulted, and before it reports the block as finished.
    void start(const std::shared_ptr<Grid>& grid, std::uint64_t cluster, std::uint32_t sm,
               PendingReductions& reductions);

    /// Continues where a team has left its block number `number`, after start().
    void adopt(const Team& team, std::uint32_t number);

    /// Gives every runnable warp one quantum after another. Stops when all warps have finished, all
    /// wait, or one warp has used up its quanta.
    [[nodiscard]] Outcome run();

    /// Returns when a sleeping block wakes up, in now_ns() time; 0 for other blocks.
    [[nodiscard]] std::uint64_t wake_at() const noexcept { return wake_at_; }

    [[nodiscard]] Grid& grid() const noexcept { return *grid_; }

    [[nodiscard]] const std::shared_ptr<Grid>& shared_grid() const noexcept { return grid_; }

    /// Returns the number of the cluster that runs; without clusters, of the block.
    [[nodiscard]] std::uint64_t cluster() const noexcept { return cluster_number_; }

    [[nodiscard]] Fault& fault() noexcept { return context_.fault; }

    /// Records that the watchdog ends the block, and why. `others` describes where the other blocks
    /// stand.
    void fail_with_timeout(std::string_view reason, std::string_view others);

    /// Runs the block with a probe from now on, which shows whether it only waits. Returns the
    /// probe of the cluster.
    Probe& begin_probe();
    void end_probe() noexcept;

    /// Shows the state of the cluster to its probe.
    void observe();

    /// Describes where every warp of every block of the cluster stands.
    [[nodiscard]] std::string describe() const;

    /// Applies collected reductions, and collects no more: another worker may continue the block.
    void stop_collecting();

    /// Releases the grid, and any memory that is too large to keep.
    void release() noexcept;

private:
    /// The state of one block of a cluster.
    enum class Progress : std::uint8_t {
        Finished,
        Yielded,
        Asleep,
        Stuck, // until another block of the cluster resumes it
        Faulted,
    };

    void start_one();
    [[nodiscard]] Outcome run_cluster();
    [[nodiscard]] Progress run_one();
    [[nodiscard]] Block& of_rank(std::uint32_t rank);
    [[nodiscard]] Outcome fail_with_deadlock();
    void configure_cluster(const std::shared_ptr<Grid>& grid, std::uint32_t sm,
                           PendingReductions& reductions);
    void configure(const std::shared_ptr<Grid>& grid, std::uint32_t sm,
                   PendingReductions& reductions);
    void configure_warps();
    void start_warps();
    [[nodiscard]] bool run_lockstep(Progress& progress);
    void find_compiled();
    [[nodiscard]] bool run_compiled(Progress& progress);
    void leave_lockstep();
    void move_to(std::uint64_t cluster);
    void fill_block_bank();

    std::shared_ptr<Grid> grid_;
    const Grid* configured_for_ = nullptr;    // the grid whose sizes and pointers are set up
    std::uint64_t cluster_number_ = 0;        // of the cluster that runs
    std::uint32_t first_[3] = {0, 0, 0};      // index of its block with rank 0
    std::vector<std::uint64_t> block_values_; // what the block bank holds, by special value
    PendingReductions* collected_ = nullptr;  // null: this grid collects no reductions
    BlockContext context_;
    Lockstep lockstep_;
    bool is_in_lockstep_ = false;        // the warps run together
    jit::CodeCache* compiled_ = nullptr; // of the kernel; null: this grid is interpreted
    std::size_t shape_ = 0;              // of the compiled code
    std::vector<jit::Site> sites_;       // of the compiled code
    std::uint64_t sites_of_ = 0;         // Compiled::number that they belong to
    std::uint64_t sites_since_ = 0;      // MemoryMap::permission_changes
    bool is_compiled_together_ = false;  // the block starts with jit::run_block()
    std::unique_ptr<WarpContext[]> warps_;
    std::uint32_t warp_capacity_ = 0;
    AlignedBuffer frames_;
    AlignedBuffer shared_;
    AlignedBuffer local_;
    AlignedBuffer block_bank_;
    ClusterContext cluster_;                         // used by the first block of a cluster
    std::vector<std::unique_ptr<Block>> companions_; // the others, by rank
    bool is_finished_ = false;                       // other blocks of the cluster may still run
    std::uint64_t wake_at_ = 0;                      // when the first thread wakes up
    std::unique_ptr<check::BlockShadow> shadow_;     // only for blocks that are checked
    std::unique_ptr<Probe> probe_;                   // of the first block of a cluster
};

} // namespace cuprum::emulator::exec
