// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the checks know about one running block: which bytes of its shared and local memory have
// been written, which threads accessed its shared memory, and how its threads are ordered.
//
// All blocks of a cluster share one counter, the time. It advances whenever threads order their
// work. Each access carries the time at which it happens. It is ordered before a later access by
// another thread if
//   - all threads of the block (or cluster) have met since,
//   - both threads are in one warp and have met since, directly or through others (__syncwarp), or
//   - its thread has released its work since, and the other thread has acquired since: through
//     mbarriers, fences with atomics, or barriers of a part of the block. As for device memory
//     (global_races.hpp), an acquire covers everything that was released before.
// Shuffles and votes order nothing, as the programming guide says. Fences alone order nothing.
//
// Bulk and tensor copies access shared memory in the background, through the async proxy. Such an
// access belongs to the thread that started it, but goes on after that:
//   - a write ends when a thread finds the phase of its mbarrier complete;
//   - a read ends when its thread waits for its bulk group.
// Until then it is ordered before nothing. A write that a copy is to read in the background must
// also be followed by a proxy fence: of the thread that wrote, or of one between it and the copy.

#pragma once

#include "check/cells.hpp"
#include "check/global_races.hpp"
#include "check/group_shadow.hpp"
#include "interp/warp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::check {

/// The record of every access and synchronisation of a checked block.
class BlockShadow final : public Observer {
public:
    /// The thread, time and place of an access to shared memory.
    struct Stamp {
        static constexpr std::uint16_t THREADS = 1024; // the most threads that a block can have

        std::uint32_t time = 0;
        std::uint16_t thread = 0; // of the cluster: rank * THREADS + thread in the block
        std::uint16_t ending = 0; // how an access in the background ends: see AT_ONCE and others
        std::uint32_t instruction = 0;

        [[nodiscard]] bool is_same_thread(const Stamp& other) const {
            return thread == other.thread;
        }

        [[nodiscard]] bool is_same_group(const Stamp& other) const {
            return thread / bytecode::WARP_SIZE == other.thread / bytecode::WARP_SIZE;
        }
    };

    // Values of Stamp::ending. From FIRST_BARRIER on: twice the index of an mbarrier in
    // `barriers_`, plus the parity of its phase.
    static constexpr std::uint16_t AT_ONCE = 0;
    static constexpr std::uint16_t WITH_GROUP = 1;
    static constexpr std::uint16_t FIRST_BARRIER = 2;

    /// Starts a new block whose context and cluster are complete. The blocks of lower rank in the
    /// cluster must have started before.
    void start(BlockContext& block, GridShadow& grid);

    void arrived(const WarpContext& warp, std::uint32_t mask) override;
    void passed(const WarpContext& warp, std::uint32_t mask) override;
    void met() override;
    void cluster_met() override;
    void allocated(std::uint64_t address, std::uint64_t bytes) override;
    bool multiplies(WarpContext& warp, const bytecode::Instruction* at, std::uint64_t a,
                    std::uint64_t b) override;

    [[nodiscard]] GroupShadow& products() { return products_; }

    /// Records that lanes of a warp have met; `members` holds the member mask that each lane named.
    void warp_met(const WarpContext& warp, std::uint32_t mask, const std::uint32_t* members);
    void release(const WarpContext& warp, std::uint32_t mask);
    void acquire(const WarpContext& warp, std::uint32_t mask);

    void fence_proxy(const WarpContext& warp, std::uint32_t mask);
    void commit_group(const WarpContext& warp, std::uint32_t mask);
    void wait_group(const WarpContext& warp, std::uint32_t mask, std::uint32_t kept);

    /// Records that a thread has found a phase of an mbarrier of this block complete.
    void waited(std::uint32_t barrier, bool parity);

    /// Returns how a write ends that the current phase of an mbarrier of this block counts.
    [[nodiscard]] std::uint16_t ending_with(std::uint32_t barrier);

    /// Records an access to this block's shared memory by a thread of the cluster.
    [[nodiscard]] std::optional<Conflict<Stamp>>
    access_shared(const WarpContext& who, std::uint32_t lane, std::uint32_t instruction,
                  std::uint32_t offset, std::uint32_t bytes, bool is_write,
                  const std::uint8_t* data, std::uint16_t ending = AT_ONCE);

    /// Returns a write to this block's shared memory that no proxy fence makes visible to a copy
    /// that a thread of the cluster starts.
    [[nodiscard]] std::optional<Stamp> find_unfenced(const WarpContext& who, std::uint32_t lane,
                                                     std::uint32_t offset,
                                                     std::uint32_t bytes) const;

    /// Records the accesses of `lanes` lanes of this block, starting at `lane`, with `bytes` each.
    /// The lanes access adjacent addresses or, for reads, all the same address. Returns false and
    /// records nothing unless every earlier access there is ordered for every thread of the block.
    [[nodiscard]] bool access_shared_lanes(const WarpContext& who, std::uint32_t lane,
                                           std::uint32_t lanes, std::uint32_t instruction,
                                           std::uint32_t offset, std::uint32_t bytes,
                                           bool is_uniform, bool is_write,
                                           const std::uint8_t* data);

    /// Finds the allocation that contains an address. Returns false if there is none.
    [[nodiscard]] bool find(const MemoryMap& map, std::uint64_t address, MemoryRange& range);

    [[nodiscard]] GridShadow& grid() const { return *grid_; }

    /// Returns one flag byte per byte of shared memory, set once that byte has been written.
    [[nodiscard]] std::uint8_t* shared_written() { return shared_written_.data(); }

    /// Returns the same flags for the local memory of a thread.
    [[nodiscard]] const std::uint8_t* local_written(std::uint32_t thread) const {
        return local_written_.get() + thread * local_stride_;
    }

    /// Marks bytes of a thread's local memory as written; they must lie inside it.
    void mark_local(std::uint32_t thread, std::size_t offset, std::size_t bytes);

    /// Returns how many bytes of each thread's local memory the next block has to clear.
    [[nodiscard]] std::size_t local_used() const { return local_used_; }

private:
    struct Clock {
        std::uint32_t now = 1;
        std::uint32_t met = 0;     // when all threads of the cluster last met
        std::uint32_t rewinds = 0; // how often the clock was reset
    };

    struct Thread {
        std::uint32_t released = 0; // earlier accesses are released
        std::uint32_t acquired = 0;
        std::uint32_t fenced = 0; // earlier accesses are visible to the async proxy
        std::uint32_t ended = 0;  // earlier reads of bulk copies have ended
    };

    /// An mbarrier that copies have used.
    struct Barrier {
        std::uint32_t offset = 0;
        std::array<std::uint32_t, 2> waited{}; // by parity: when a phase was last found complete
    };

    void forget_local();
    [[nodiscard]] bool is_ordered(const Stamp& earlier, const BlockShadow& by,
                                  std::uint32_t thread) const;
    [[nodiscard]] bool has_ended(const Stamp& earlier) const;
    [[nodiscard]] bool is_fenced(const Stamp& write, const BlockShadow& by,
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

    // One flag byte per byte of local memory, thread after thread. Only the first `local_used_`
    // bytes of each thread can be nonzero.
    std::unique_ptr<std::uint8_t[], Free> local_written_;
    std::size_t local_bytes_ = 0;
    std::size_t local_stride_ = 0;
    std::size_t local_used_ = 0;

    Clock own_clock_;        // used by the block of rank 0
    Clock* clock_ = nullptr; // shared by the cluster
    std::uint32_t seen_rewinds_ = 0;
    std::uint32_t met_ = 0;               // when all threads of the block last met
    std::uint32_t released_together_ = 0; // accesses before this time are released for all threads
    std::uint32_t acquired_together_ = 0;
    std::uint32_t last_acquired_ = 0;
    std::vector<Thread> threads_;
    std::vector<std::uint32_t> known_; // per thread and lane of its warp: the time up to which the
                                       // thread knows that lane's work
    Cells<Stamp> cells_{0};
    std::uint32_t started_ = 0; // when the block started
    std::vector<Barrier> barriers_;
    // The times at which threads have ended their groups of bulk copies, newest last.
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> groups_;
    GroupShadow products_; // of wgmma

    // Allocations found before; valid until the map changes.
    std::uint64_t seen_changes_ = 0;
    std::array<MemoryRange, 8> ranges_{};
    std::uint32_t next_range_ = 0;
};

} // namespace cuprum::emulator::check
