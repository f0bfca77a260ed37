// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The queues and the workers of the engine. engine.cpp holds what adds work to the queues,
// workers.cpp what runs it, helping.cpp what lets a waiting thread run a grid itself.

#pragma once

#include "exec/block.hpp"
#include "exec/brief_mutex.hpp"
#include "exec/engine.hpp"
#include "exec/grid.hpp"
#include "exec/idle_workers.hpp"
#include "exec/progress.hpp"
#include "exec/team.hpp"
#include "exec/watchdog.hpp"
#include "interp/clock.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cuprum::emulator::exec {

/// How long a worker stays with a grid while other work waits.
constexpr std::uint64_t TURN_NS = 50'000;
/// How many spare blocks are kept; each may hold shared memory, registers and local memory.
constexpr std::size_t MAX_SPARE_BLOCKS = 64;
/// A time of now_ns() that does not come.
constexpr std::uint64_t NEVER = ~std::uint64_t{0};

/// The blocks of a team that has parted.
struct Parted {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool are_adopted = false; // they continue where they are

    [[nodiscard]] bool has(std::uint64_t block) const noexcept {
        return block >= first && block < end;
    }
};

/// A worker thread. Only the thread itself uses it, apart from the atomics and `next`.
struct alignas(64) Worker {
    std::uint32_t number = 0;
    bool is_guest = false;        // a host thread that waits and helps (helping.cpp)
    std::unique_ptr<Block> block; // reused for every grid
    Team team;                    // for short blocks
    // The grid to run before looking for other work. Whoever calls an idle worker may set it.
    std::shared_ptr<Grid> next;
    PendingReductions reductions;    // of the range that runs
    std::uint64_t turn_begin_ns = 0; // see turn_begin_ns()
    // The block that the worker runs, once it has yielded: reports of others name it.
    std::atomic<const Grid*> slow_grid{nullptr};
    std::atomic<std::uint64_t> slow_cluster{0};
    // Whether the worker will look at the queues soon, so that work it adds now needs one worker
    // less. Work that it adds later may have to wait for the first.
    bool is_expected = false;
};

/// The worker that this thread is, or nullptr.
extern thread_local constinit Worker* this_worker;

/// A suspended block, and what decides when it is resumed: hundreds of these are searched at a
/// time.
struct Suspended {
    explicit Suspended(std::unique_ptr<Block>&& suspended)
        : grid(&suspended->grid()), cluster(suspended->cluster()), wake_at(suspended->wake_at()),
          block(std::move(suspended)) {}

    [[nodiscard]] bool is_asleep() const noexcept { return wake_at != 0; }

    const Grid* grid;
    std::uint64_t cluster;
    std::uint64_t wake_at; // in now_ns() time; 0 if it does not sleep
    std::unique_ptr<Block> block;
};

struct Engine::State {
    using Queue = std::list<std::shared_ptr<Grid>>;

    /// The next thing that a worker does.
    struct Work {
        std::function<void()> task;
        std::unique_ptr<Block> block; // a block that was suspended earlier
        std::shared_ptr<Grid> grid;   // a grid to take blocks from
        // Grids that left the queues. They may die with this, so not under the mutex.
        Queue ended;
        // If there is no work: when the first sleeping block wakes up.
        std::uint64_t wake_at = IdleWorkers::FOREVER;
    };

    std::atomic<std::uint32_t> worker_count{1};
    Watchdog watchdog;
    Progress progress;
    std::atomic<std::uint64_t> spin_ns{std::chrono::nanoseconds(DEFAULT_SPIN_TIME).count()};
    std::atomic<std::uint64_t> give_up_at{NEVER}; // in now_ns() time
    std::atomic<bool> is_held{false};             // workers stop where they can, see hold()
    std::atomic<bool> is_random_now{false};       // as is_random, for readers without the mutex
    std::unique_ptr<Worker[]> workers;            // the last one is the guest

    // How much work the queues hold. Workers read it for every block.
    alignas(64) std::atomic<std::uint32_t> waiting{0};
    IdleWorkers idle;

    alignas(64) BriefMutex mutex;
    std::shared_ptr<Grid> noted;       // a grid that no worker was called for (helping.cpp)
    std::atomic<bool> is_noted{false}; // whether there is one, for readers without the mutex
    bool is_guest_busy = false;
    std::deque<std::function<void()>> tasks;
    std::map<std::int32_t, Queue> grids; // by priority
    Queue places;                        // empty ones, so that queues need no allocation
    std::size_t queued_grids = 0;
    std::vector<Suspended> suspended; // the one that has waited longest comes first
    std::size_t sleeper_count = 0;    // suspended blocks that sleep
    std::vector<std::unique_ptr<Block>> spare;
    std::vector<std::thread> threads;
    bool prefers_suspended = false; // a grid had the last turn
    bool prefers_earliest = false;  // the block that had waited longest was resumed last
    bool is_stopping = false;
    std::uint32_t busy = 0;
    std::uint32_t held = 0;       // busy workers that have stopped for hold()
    std::uint64_t grid_count = 0; // submitted so far
    bool is_random = false;
    std::uint64_t seed = 0;

    void start_workers();
    [[nodiscard]] bool add(const std::shared_ptr<Grid>& grid, const std::int32_t* priority);
    [[nodiscard]] bool run_next(const std::shared_ptr<Grid>& grid) const;
    void add_again(const std::shared_ptr<Grid>& grid);
    void enqueue(const std::shared_ptr<Grid>& grid);
    [[nodiscard]] bool leave_to_waiting_thread(const std::shared_ptr<Grid>& grid);
    [[nodiscard]] std::shared_ptr<Grid> take_noted();
    [[nodiscard]] std::uint32_t enqueue_noted() noexcept;
    [[nodiscard]] bool help(const std::function<bool(const void*)>& is_awaited);
    void count_waiting();

    [[nodiscard]] bool is_only_worker() const noexcept {
        return worker_count.load(std::memory_order_relaxed) == 1;
    }

    /// Returns whether other work waits beside a running grid. Needs no mutex.
    [[nodiscard]] bool has_rivals(const Grid& grid) const noexcept {
        return waiting.load(std::memory_order_relaxed) > (grid.is_queued() ? 1 : 0);
    }

    /// Returns whether a range has run for a turn and others wait for a worker or for blocks. With
    /// one worker, the clock does not decide.
    [[nodiscard]] bool is_late(const Grid& grid, std::uint64_t begin_ns) const noexcept {
        return (has_rivals(grid) || idle.count() != 0) &&
               (is_only_worker() || now_ns() - begin_ns > TURN_NS);
    }

    [[nodiscard]] std::uint32_t call_for(std::uint64_t pieces, const std::shared_ptr<Grid>& grid);
    bool find_work(Work& work);
    bool find_suspended(Work& work);
    bool find_grid(Work& work);
    void drop_front(Queue& queue, Work& work);
    void drop_exhausted(Queue& queue, Work& work);
    void work_loop(Worker& self);
    void stay_while_held();
    void run_grid(Worker& self, const std::shared_ptr<Grid>& grid);
    std::uint64_t run_range(Worker& self, const std::shared_ptr<Grid>& grid, ClusterRange& range,
                            std::uint64_t begin_ns, std::uint64_t& finished);
    [[nodiscard]] bool start_block(Worker& self, const std::shared_ptr<Grid>& grid,
                                   std::uint64_t cluster, const Parted& parted);
    [[nodiscard]] bool hand_over(const std::shared_ptr<Grid>& grid, ClusterRange range);
    static void prepare_team(Worker& self, const Grid& grid, std::uint64_t blocks);
    [[nodiscard]] bool run_team(Worker& self, Grid& grid, ClusterRange& range, Parted& parted);
    void report(Worker& self, Grid& grid, std::uint64_t blocks);
    bool drive(std::unique_ptr<Block>& block, bool has_more);
    bool drive(Grid& grid, std::unique_ptr<Block>& block, bool has_more);
    bool is_time_up(Block& block);
    bool is_giving_up(const Grid& grid, std::uint64_t now, Fault& fault) const;
    std::string describe_others(const Grid& grid);
    std::unique_ptr<Block> spare_block();
    void put_aside(std::unique_ptr<Block>& block);
    void give_back(std::unique_ptr<Block> block);
};

} // namespace cuprum::emulator::exec
