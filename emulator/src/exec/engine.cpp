// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Worker threads and their scheduling.
//
// One mutex protects three queues: tasks (such as copies, which run first), grids with blocks to
// start, and suspended blocks. A worker with a grid takes block after block from it without the
// mutex until other work arrives. Grids then take turns block by block, and suspended blocks take
// part in the turns. A block that has used up its quantum is suspended if there is other work.
// Another block of the same grid counts as other work, because the first block may wait for it.
//
// Idle workers watch a counter for a while before they sleep, because waking a worker takes far
// longer than running a small kernel.

#include "exec/engine.hpp"

#include "exec/block.hpp"
#include "exec/grid.hpp"
#include "exec/watchdog.hpp"
#include "interp/clock.hpp"
#include "usage/publisher.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cuprum::emulator::exec {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds SPIN_TIME{50};
/// How many spare blocks are kept; each may hold shared memory, registers and local memory.
constexpr std::size_t MAX_SPARE_BLOCKS = 64;
/// How long shutdown() waits for running grids before it abandons them.
constexpr std::chrono::seconds SHUTDOWN_GRACE{2};

// On a worker: where the grid goes that it runs next, before it looks for other work. Else nullptr.
thread_local constinit std::shared_ptr<Grid>* next_grid = nullptr;

void relax() noexcept;

[[nodiscard]] bool is_asleep(const std::unique_ptr<Block>& block) {
    return block->wake_at() != 0;
}

} // namespace

struct Engine::State {
    /// The next thing that a worker does.
    struct Work {
        std::function<void()> task;
        std::unique_ptr<Block> block; // a block that was suspended earlier
        std::shared_ptr<Grid> grid;   // a grid to take a block from
        // If there is no work: when the first sleeping block wakes up.
        Clock::time_point wake_at = Clock::time_point::max();
    };

    std::atomic<std::uint32_t> worker_count{1};
    Watchdog watchdog;

    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> tasks;
    std::deque<std::shared_ptr<Grid>> grids;
    std::deque<std::unique_ptr<Block>> suspended;
    std::size_t sleeper_count = 0; // suspended blocks that sleep
    std::vector<std::unique_ptr<Block>> spare;
    std::vector<std::thread> threads;
    bool prefers_suspended = false;
    bool is_stopping = false;
    std::uint32_t parked = 0;
    std::uint32_t busy = 0;
    std::uint64_t grid_count = 0; // submitted so far
    bool is_random = false;
    std::atomic<bool> is_random_now{false}; // as is_random, for readers without the mutex
    std::uint64_t seed = 0;

    std::atomic<std::uint64_t> news{0};   // changes whenever there is new work
    std::atomic<std::uint32_t> rivals{0}; // how much other work waits beside a running grid
    std::atomic<Clock::rep> give_up_at{Clock::time_point::max().time_since_epoch().count()};

    void start_workers();
    [[nodiscard]] bool add(const std::shared_ptr<Grid>& grid, const std::int32_t* priority);
    void publish();
    bool find_work(Work& work);
    void work_loop(std::uint32_t worker);
    void run_grid(std::unique_ptr<Block>& block, const std::shared_ptr<Grid>& grid,
                  std::uint32_t worker);
    bool drive(std::unique_ptr<Block>& block);
    bool is_time_up(Block& block);
    std::string describe_others(const Grid& grid);
    std::unique_ptr<Block> spare_block();
    void put_aside(std::unique_ptr<Block> block);
    void give_back(std::unique_ptr<Block> block);
};

Engine& Engine::instance() {
    static Engine* const ENGINE = new Engine;
    return *ENGINE;
}

Engine::Engine() : state_(std::make_unique<State>()) {
    state_->worker_count = std::max(1u, std::thread::hardware_concurrency());
}

Engine::~Engine() {
    shutdown();
}

std::uint32_t Engine::worker_count() const noexcept {
    return state_->worker_count;
}

void Engine::configure(const EngineSettings& settings) {
    const std::lock_guard lock(state_->mutex);
    if (state_->threads.empty() && settings.worker_count != 0) {
        state_->worker_count = settings.worker_count;
    }
    state_->watchdog.configure({settings.watchdog_seconds, settings.is_watchdog_strict});
    state_->is_random = settings.is_random;
    state_->is_random_now = settings.is_random;
    state_->seed = settings.seed;
    state_->grid_count = 0; // so that the same grids in the same order run the same way again
}

void Engine::submit(GridLaunch launch, std::function<void(const Fault*)> done) {
    const auto grid = std::make_shared<Grid>(std::move(launch), std::move(done));
    if (!state_->add(grid, nullptr)) {
        grid->fail({FaultKind::Timeout, "the emulated device has been shut down"});
    }
}

std::shared_ptr<Grid> Engine::prepare(GridLaunch launch, std::function<void(const Fault*)> done) {
    return std::make_shared<Grid>(std::move(launch), std::move(done), true);
}

void Engine::start(const std::shared_ptr<Grid>& grid, std::int32_t priority) {
    if (next_grid != nullptr && *next_grid == nullptr && grid->block_count() == 1 &&
        state_->rivals.load(std::memory_order_relaxed) == 0 &&
        !state_->is_random_now.load(std::memory_order_relaxed)) {
        grid->rearm(priority);
        *next_grid = grid;
        return;
    }
    if (!state_->add(grid, &priority)) {
        grid->rearm(priority);
        grid->fail({FaultKind::Timeout, "the emulated device has been shut down"});
    }
}

Watchdog& Engine::watchdog() const noexcept {
    return state_->watchdog;
}

HostWait::HostWait() noexcept {
    Engine::instance().watchdog().add_waiting_host(1);
}

HostWait::~HostWait() {
    Engine::instance().watchdog().add_waiting_host(-1);
}

void Engine::post(std::function<void()> task) {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_stopping) {
        return;
    }
    state_->start_workers();
    state_->tasks.push_back(std::move(task));
    state_->publish();
}

void Engine::shutdown() noexcept {
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock(state_->mutex);
        state_->is_stopping = true;
        state_->give_up_at = (Clock::now() + SHUTDOWN_GRACE).time_since_epoch().count();
        threads.swap(state_->threads);
        state_->news.fetch_add(1);
        state_->wake.notify_all();
    }
    for (std::thread& thread : threads) {
        if (thread.get_id() == std::this_thread::get_id()) {
            thread.detach(); // a callback exits the process, and a thread cannot join itself
        } else {
            thread.join();
        }
    }
}

// ---- queues (the mutex is held) ----------------------------------------------------------------

void Engine::State::start_workers() {
    while (threads.size() < worker_count) {
        threads.emplace_back(
            [this, worker = static_cast<std::uint32_t>(threads.size())] { work_loop(worker); });
    }
}

/// Adds a grid to the queue; false once the engine stops. A prepared grid has a `priority` for this
/// run. Takes the mutex itself.
bool Engine::State::add(const std::shared_ptr<Grid>& grid, const std::int32_t* priority) {
    const std::lock_guard lock(mutex);
    if (is_stopping) {
        return false;
    }
    ++grid_count;
    watchdog.count_launch();
    if (is_random) {
        grid->shuffle(seed, grid_count);
    }
    if (priority != nullptr) {
        grid->rearm(*priority);
    }
    start_workers();
    grids.push_back(grid);
    publish();
    return true;
}

/// Notifies the workers that the queues have changed.
void Engine::State::publish() {
    const std::size_t others = grids.size() > 1 ? grids.size() : 0;
    rivals.store(static_cast<std::uint32_t>(tasks.size() + suspended.size() + others),
                 std::memory_order_relaxed);
    if (tasks.empty() && grids.empty() && suspended.empty()) {
        return;
    }
    news.fetch_add(1, std::memory_order_release);
    if (parked != 0) {
        wake.notify_one(); // this worker wakes the next one if there is more to do
    }
}

/// Picks the next work. A grid with fresh blocks goes to the back of the queue. A grid is skipped
/// while a grid of higher priority has fresh blocks.
bool Engine::State::find_work(Work& work) {
    if (!tasks.empty()) {
        work.task = std::move(tasks.front());
        tasks.pop_front();
        publish();
        return true;
    }
    const auto take_suspended = [&] {
        auto awake = suspended.begin();
        if (sleeper_count != 0) {
            const std::uint64_t now = now_ns();
            awake = std::find_if(awake, suspended.end(),
                                 [&](const auto& block) { return block->wake_at() <= now; });
        }
        if (awake == suspended.end()) {
            return false;
        }
        sleeper_count -= is_asleep(*awake) ? 1 : 0;
        work.block = std::move(*awake);
        suspended.erase(awake);
        return true;
    };
    const auto take_grid = [&] {
        std::erase_if(grids, [](const auto& grid) { return !grid->has_fresh_blocks(); });
        // Take the first grid of the highest priority; grids of equal priority take turns.
        auto best = grids.end();
        for (auto each = grids.begin(); each != grids.end(); ++each) {
            if ((*each)->may_hold_more() &&
                (best == grids.end() || (*each)->priority() < (*best)->priority())) {
                best = each;
            }
        }
        if (best == grids.end()) {
            return false;
        }
        work.grid = *best;
        std::rotate(best, std::next(best), grids.end());
        return true;
    };
    prefers_suspended = !prefers_suspended;
    const bool is_found =
        prefers_suspended ? take_suspended() || take_grid() : take_grid() || take_suspended();
    if (is_found) {
        publish();
    }
    for (std::size_t i = 0; !is_found && i < suspended.size(); ++i) { // all of them sleep
        const Clock::time_point wake_at{std::chrono::nanoseconds(suspended[i]->wake_at())};
        work.wake_at = std::min(work.wake_at, wake_at);
    }
    return is_found;
}

// ---- workers -----------------------------------------------------------------------------------

void Engine::State::work_loop(std::uint32_t worker) {
    std::unique_ptr<Block> block; // reused for every grid
    std::shared_ptr<Grid> next;
    next_grid = &next;
    bool is_found = false;
    for (;;) {
        while (next != nullptr) {
            const auto grid = std::move(next);
            run_grid(block, grid, worker);
        }
        const std::uint64_t seen = news.load(std::memory_order_acquire);
        Work work;
        {
            const std::lock_guard lock(mutex);
            busy -= is_found ? 1 : 0;
            is_found = find_work(work);
            busy += is_found ? 1 : 0;
            if (!is_found && is_stopping && busy == 0 && suspended.empty()) {
                news.fetch_add(1); // so that the other workers can stop too
                wake.notify_all();
                return;
            }
        }
        if (!is_found) {
            const Clock::time_point until = std::min(Clock::now() + SPIN_TIME, work.wake_at);
            bool has_news = false;
            while (!has_news && Clock::now() < until) {
                for (int i = 0; i < 32 && !has_news; ++i) {
                    relax();
                    has_news = news.load(std::memory_order_acquire) != seen;
                }
            }
            if (!has_news && until != work.wake_at) {
                std::unique_lock lock(mutex);
                const auto is_news = [&] { return news.load(std::memory_order_relaxed) != seen; };
                ++parked;
                if (work.wake_at == Clock::time_point::max()) {
                    wake.wait(lock, is_news);
                } else {
                    (void)wake.wait_until(lock, work.wake_at, is_news);
                }
                --parked;
            }
            continue;
        }
        if (work.task) {
            work.task();
            watchdog.count(worker);
        } else if (work.block) {
            const usage::KernelTime time(work.block->grid().launch().device, worker);
            if (!drive(work.block)) {
                watchdog.count(worker);
                give_back(std::move(work.block));
            }
        } else {
            run_grid(block, work.grid, worker);
        }
    }
}

void Engine::State::run_grid(std::unique_ptr<Block>& block, const std::shared_ptr<Grid>& grid,
                             std::uint32_t worker) {
    std::uint64_t index = 0;
    std::optional<usage::KernelTime> time; // not for workers that find no block left
    while (grid->take(index)) {
        if (!time) {
            time.emplace(grid->launch().device, worker);
        }
        if (!block) {
            block = spare_block();
        }
        grid->add_resident(1);
        try {
            block->start(grid, index, worker);
        } catch (const std::bad_alloc&) {
            grid->fail({FaultKind::StackOverflow,
                        "out of host memory for the local and shared memory of a block of kernel " +
                            grid->kernel().name});
            grid->add_resident(-1);
            grid->finish(grid->cluster_blocks());
            break;
        }
        if (!drive(block)) {
            watchdog.count(worker);
        }
        if (rivals.load(std::memory_order_relaxed) != 0 || !grid->may_hold_more()) {
            break;
        }
    }
    if (block) {
        block->release();
    }
}

/// Runs a block until it is finished, abandoned or suspended. Returns whether it was suspended;
/// `block` is empty then.
bool Engine::State::drive(std::unique_ptr<Block>& block) {
    // NOTE: finishing the last block may destroy what the grid's owner holds. The grid itself stays
    // alive because the block refers to it.
    Grid& grid = block->grid();
    for (;;) {
        Block::Outcome outcome = grid.has_failed() ? Block::Outcome::Finished : block->run();
        const bool is_asleep = outcome == Block::Outcome::Asleep;
        if ((outcome == Block::Outcome::Yielded || is_asleep) && is_time_up(*block)) {
            outcome = Block::Outcome::Faulted;
        } else if (is_asleep) {
            put_aside(std::move(block));
            return true;
        }
        if (outcome == Block::Outcome::Yielded) {
            const bool is_wanted = rivals.load(std::memory_order_relaxed) != 0 ||
                                   (grid.has_fresh_blocks() && grid.may_hold_more());
            if (is_wanted) {
                put_aside(std::move(block));
                return true;
            }
            continue;
        }
        if (outcome == Block::Outcome::Faulted) {
            grid.fail(std::move(block->fault()));
            block->fault() = Fault{};
        }
        grid.add_resident(-1);
        grid.finish(grid.cluster_blocks());
        return false;
    }
}

/// Returns whether a runnable block must stop because the watchdog has expired or the process
/// exits.
bool Engine::State::is_time_up(Block& block) {
    const Clock::time_point now = Clock::now();
    if (now.time_since_epoch().count() > give_up_at.load(std::memory_order_relaxed)) {
        block.fault() = Fault{FaultKind::Timeout, "the process exits while kernel " +
                                                      block.grid().kernel().name + " still runs"};
        return true;
    }
    const std::chrono::seconds time = watchdog.hung_for(block, now);
    if (time.count() != 0) {
        const std::string seconds = std::to_string(time.count()) + " seconds";
        block.fail_with_timeout(
            watchdog.settings().is_strict
                ? "timeout: no block has finished for " + seconds + " (CUPRUM_EMULATOR_WATCHDOG)"
                : "deadlock: for " + seconds +
                      " the kernel has only repeated reads that return the same values, and a host "
                      "thread waits for it (CUPRUM_EMULATOR_WATCHDOG)",
            describe_others(block.grid()));
        return true;
    }
    return false;
}

/// Describes where the suspended blocks of a grid stand. Returns an empty string if there are none.
std::string Engine::State::describe_others(const Grid& grid) {
    constexpr std::size_t most = 16; // a report of thousands of blocks would be unreadable
    std::string text;
    std::size_t count = 0;
    const std::lock_guard lock(mutex);
    for (const std::unique_ptr<Block>& block : suspended) {
        if (&block->grid() == &grid && ++count <= most) {
            text += "\n" + block->describe();
        }
    }
    if (count > most) {
        text += "\n  and " + std::to_string(count - most) + " more blocks";
    }
    return text;
}

std::unique_ptr<Block> Engine::State::spare_block() {
    {
        const std::lock_guard lock(mutex);
        if (!spare.empty()) {
            std::unique_ptr<Block> block = std::move(spare.back());
            spare.pop_back();
            return block;
        }
    }
    return std::make_unique<Block>();
}

void Engine::State::put_aside(std::unique_ptr<Block> block) {
    const std::lock_guard lock(mutex);
    sleeper_count += is_asleep(block) ? 1 : 0;
    suspended.push_back(std::move(block));
    publish();
}

void Engine::State::give_back(std::unique_ptr<Block> block) {
    block->release();
    const std::lock_guard lock(mutex);
    if (spare.size() < MAX_SPARE_BLOCKS) {
        spare.push_back(std::move(block));
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void relax() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

} // namespace

} // namespace cuprum::emulator::exec
