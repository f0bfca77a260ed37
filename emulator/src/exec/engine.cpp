// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Worker threads and their scheduling.
//
// One mutex protects three queues: tasks (such as copies, which run first), grids with blocks to
// start, and suspended blocks. A worker with a grid takes range after range of its blocks without
// the mutex. Ranges hold as many blocks as run in RANGE_NS, judged by the last range, so that a
// worker writes to memory that others read once per range and not once per block. The only worker
// of a device takes ranges of a fixed size, so that a run can be repeated. If other work
// waits, the worker turns to it after TURN_NS. Suspended blocks take part in the turns.
//
// A block that has used up its quantum is suspended if there is other work. Another block of the
// same grid counts as other work, because the first block may wait for it. A range that takes
// longer than expected goes back to the grid when other workers are idle or other work waits.
//
// Idle workers wait as exec/idle_workers.hpp describes. Whoever adds work calls as many of them as
// the work can use.

#include "exec/engine.hpp"

#include "builtins/status_line.hpp"
#include "exec/block.hpp"
#include "exec/grid.hpp"
#include "exec/idle_workers.hpp"
#include "exec/progress.hpp"
#include "exec/team.hpp"
#include "exec/watchdog.hpp"
#include "interp/clock.hpp"
#include "usage/publisher.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace cuprum::emulator::exec {

namespace {

using Clock = std::chrono::steady_clock;

/// How long a range of blocks should run.
constexpr std::uint64_t RANGE_NS = 25'000;
/// By how much the next range may be longer than the last one.
constexpr std::uint64_t MAX_GROWTH = 8;
/// How many blocks a range of the only worker has. The clock must not decide there: which blocks
/// run as a team, and when collected reductions are applied, would differ from run to run.
constexpr std::uint64_t ONLY_WORKER_RANGE = 256;
/// After how many blocks a worker reads the clock while the rest of its range may be wanted.
constexpr std::uint64_t BLOCKS_PER_CLOCK = 8;
/// How long a worker may keep finished ranges to itself while it collects reductions for all of
/// them. Applying them takes as long as a range if many workers add to the same words.
constexpr std::uint64_t COLLECTING_NS = 500'000;
/// How long a worker stays with a grid while other work waits.
constexpr std::uint64_t TURN_NS = 50'000;
/// How many spare blocks are kept; each may hold shared memory, registers and local memory.
constexpr std::size_t MAX_SPARE_BLOCKS = 64;
/// How long shutdown() waits for running grids before it abandons them.
constexpr std::uint64_t SHUTDOWN_GRACE_NS = 2'000'000'000;
constexpr std::uint64_t NEVER = ~std::uint64_t{0};

/// Names a block, or the first block of a cluster.
[[nodiscard]] std::string name_of(const Grid& grid, std::uint64_t cluster) {
    const GridLaunch& launch = grid.launch();
    std::string text = grid.cluster_blocks() == 1 ? "block (" : "the cluster of block (";
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::uint32_t count = launch.grid[axis] / launch.cluster[axis];
        text += (axis == 0 ? "" : ", ") + std::to_string(cluster % count * launch.cluster[axis]);
        cluster /= count;
    }
    return text + ")";
}

/// Locks a mutex that is held for a moment only. Sleeping on it would take far longer.
[[nodiscard]] std::unique_lock<std::mutex> lock_briefly(std::mutex& mutex) {
    constexpr int tries = 64;
    for (int i = 0; i < tries; ++i) {
        if (mutex.try_lock()) {
            return {mutex, std::adopt_lock};
        }
        relax();
    }
    return std::unique_lock(mutex);
}

[[nodiscard]] bool is_asleep(const std::unique_ptr<Block>& block) {
    return block->wake_at() != 0;
}

} // namespace

/// The blocks of a team that has parted.
struct Parted {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool are_adopted = false; // they continue where they are

    [[nodiscard]] bool has(std::uint64_t block) const noexcept {
        return block >= first && block < end;
    }
};

/// A worker thread. Only the thread itself uses it, apart from the atomics.
struct alignas(64) Worker {
    std::uint32_t number = 0;
    std::unique_ptr<Block> block; // reused for every grid
    Team team;                    // for short blocks
    std::shared_ptr<Grid> next;   // the grid to run before looking for other work
    PendingReductions reductions; // of the range that runs
    // The block that the worker runs, once it has yielded: reports of others name it.
    std::atomic<const Grid*> slow_grid{nullptr};
    std::atomic<std::uint64_t> slow_cluster{0};
    // Whether the worker will look at the queues soon, so that work it adds now needs one worker
    // less. Work that it adds later may have to wait for the first.
    bool is_expected = false;
};

namespace {

/// The worker that this thread is, or nullptr.
thread_local constinit Worker* this_worker = nullptr;

/// The scope in which a worker runs a block. Notes the block only if it yields, so quick blocks
/// cost nothing.
class SlowBlock {
public:
    [[nodiscard]] explicit SlowBlock(Worker& worker) noexcept : worker_(worker) {}

    SlowBlock(const SlowBlock&) = delete;
    SlowBlock& operator=(const SlowBlock&) = delete;

    ~SlowBlock() {
        if (worker_.slow_grid.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
            worker_.slow_grid.store(nullptr, std::memory_order_relaxed);
        }
    }

    void note(const Block& block) const noexcept {
        worker_.slow_cluster.store(block.cluster(), std::memory_order_relaxed);
        worker_.slow_grid.store(&block.grid(), std::memory_order_release);
    }

private:
    Worker& worker_;
};

} // namespace

struct Engine::State {
    /// The next thing that a worker does.
    struct Work {
        std::function<void()> task;
        std::unique_ptr<Block> block; // a block that was suspended earlier
        std::shared_ptr<Grid> grid;   // a grid to take blocks from
        // If there is no work: when the first sleeping block wakes up.
        std::uint64_t wake_at = IdleWorkers::FOREVER;
    };

    std::atomic<std::uint32_t> worker_count{1};
    Watchdog watchdog;
    Progress progress;
    std::atomic<std::uint64_t> spin_ns{std::chrono::nanoseconds(DEFAULT_SPIN_TIME).count()};
    std::atomic<std::uint64_t> give_up_at{NEVER}; // in now_ns() time
    std::atomic<bool> is_random_now{false};       // as is_random, for readers without the mutex
    std::unique_ptr<Worker[]> workers;

    // How much work the queues hold. Workers read it for every block.
    alignas(64) std::atomic<std::uint32_t> waiting{0};
    IdleWorkers idle;

    alignas(64) std::mutex mutex;
    std::deque<std::function<void()>> tasks;
    std::map<std::int32_t, std::deque<std::shared_ptr<Grid>>> grids; // by priority
    std::size_t queued_grids = 0;
    std::deque<std::unique_ptr<Block>> suspended;
    std::size_t sleeper_count = 0; // suspended blocks that sleep
    std::vector<std::unique_ptr<Block>> spare;
    std::vector<std::thread> threads;
    bool prefers_suspended = false;
    bool is_stopping = false;
    std::uint32_t busy = 0;
    std::uint64_t grid_count = 0; // submitted so far
    bool is_random = false;
    std::uint64_t seed = 0;

    void start_workers();
    [[nodiscard]] bool add(const std::shared_ptr<Grid>& grid, const std::int32_t* priority);
    [[nodiscard]] bool run_next(const std::shared_ptr<Grid>& grid) const;
    void add_again(const std::shared_ptr<Grid>& grid);
    void enqueue(const std::shared_ptr<Grid>& grid);
    void count_waiting();

    /// Returns whether other work waits beside a running grid. Needs no mutex.
    [[nodiscard]] bool has_rivals(const Grid& grid) const noexcept {
        return waiting.load(std::memory_order_relaxed) > (grid.is_queued() ? 1 : 0);
    }

    /// Returns whether a range has run for a turn and others wait for a worker or for blocks.
    [[nodiscard]] bool is_late(const Grid& grid, std::uint64_t begin_ns) const noexcept {
        return (has_rivals(grid) || idle.count() != 0) && now_ns() - begin_ns > TURN_NS;
    }

    [[nodiscard]] std::uint32_t call_for(std::uint64_t pieces);
    bool find_work(Work& work);
    bool find_suspended(Work& work);
    bool find_grid(Work& work);
    void work_loop(Worker& self);
    void run_grid(Worker& self, const std::shared_ptr<Grid>& grid);
    std::uint64_t run_range(Worker& self, const std::shared_ptr<Grid>& grid, ClusterRange& range,
                            std::uint64_t begin_ns, std::uint64_t& finished);
    [[nodiscard]] bool run_team(Worker& self, Grid& grid, ClusterRange& range, Parted& parted);
    void report(Worker& self, Grid& grid, std::uint64_t blocks);
    bool drive(std::unique_ptr<Block>& block, bool has_more);
    bool is_time_up(Block& block);
    bool is_giving_up(const Grid& grid, std::uint64_t now, Fault& fault) const;
    std::string describe_others(const Grid& grid);
    std::unique_ptr<Block> spare_block();
    void put_aside(std::unique_ptr<Block> block);
    void give_back(std::unique_ptr<Block> block);
};

std::chrono::nanoseconds spin_time_for(std::uint32_t processors,
                                       std::uint32_t quota_millis) noexcept {
    constexpr std::chrono::microseconds short_time{5};
    constexpr std::uint32_t two_processors = 2000;
    if (processors < 2 || (quota_millis != 0 && quota_millis < two_processors)) {
        return std::chrono::nanoseconds(0);
    }
    return quota_millis != 0 ? short_time : DEFAULT_SPIN_TIME;
}

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
    if (state_->workers == nullptr && settings.worker_count != 0) {
        state_->worker_count = settings.worker_count;
    }
    state_->watchdog.configure({settings.watchdog_seconds, settings.is_watchdog_strict});
    state_->progress.configure(settings.progress_after);
    state_->spin_ns = static_cast<std::uint64_t>(settings.spin_time.count());
    state_->is_random = settings.is_random;
    state_->is_random_now = settings.is_random;
    state_->seed = settings.seed;
    state_->grid_count = 0; // so that the same grids in the same order run the same way again
}

void Engine::submit(GridLaunch launch, std::function<void(const Fault*)> done) {
    const auto grid = std::make_shared<Grid>(std::move(launch), std::move(done));
    if (!state_->run_next(grid) && !state_->add(grid, nullptr)) {
        grid->fail({FaultKind::Timeout, "the emulated device has been shut down"});
    }
}

std::shared_ptr<Grid> Engine::prepare(GridLaunch launch, std::function<void(const Fault*)> done) {
    return std::make_shared<Grid>(std::move(launch), std::move(done), true);
}

void Engine::start(const std::shared_ptr<Grid>& grid, std::int32_t priority) {
    if (state_->run_next(grid)) {
        grid->rearm(priority);
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
    builtins::StatusLine::instance().begin_wait();
}

HostWait::~HostWait() {
    builtins::StatusLine::instance().end_wait();
    Engine::instance().watchdog().add_waiting_host(-1);
}

std::chrono::nanoseconds Engine::spin_time() const noexcept {
    return std::chrono::nanoseconds(state_->spin_ns.load(std::memory_order_relaxed));
}

void Engine::post(std::function<void()> task) {
    auto lock = lock_briefly(state_->mutex);
    if (state_->is_stopping) {
        return;
    }
    state_->start_workers();
    state_->tasks.push_back(std::move(task));
    state_->count_waiting();
    const std::uint32_t sleepers = state_->call_for(1);
    lock.unlock();
    state_->idle.wake(sleepers);
}

void Engine::shutdown() noexcept {
    state_->progress.stop();
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock(state_->mutex);
        state_->is_stopping = true;
        state_->give_up_at = now_ns() + SHUTDOWN_GRACE_NS;
        threads.swap(state_->threads);
        state_->idle.wake(state_->idle.call(threads.size()));
    }
    for (std::thread& thread : threads) {
        if (thread.get_id() == std::this_thread::get_id()) {
            thread.detach(); // a callback exits the process, and a thread cannot join itself
        } else {
            thread.join();
        }
    }
}

// ---- queues (the mutex is held, except where a comment says that a function takes it) -----------

void Engine::State::start_workers() {
    if (workers != nullptr) {
        return;
    }
    workers = std::make_unique<Worker[]>(worker_count);
    idle.resize(worker_count);
    progress.start(worker_count);
    for (std::uint32_t number = 0; number < worker_count; ++number) {
        workers[number].number = number;
        threads.emplace_back([this, number] { work_loop(workers[number]); });
    }
}

/// Adds a grid to the queue; false once the engine stops. A prepared grid has a `priority` for this
/// run. Takes the mutex.
bool Engine::State::add(const std::shared_ptr<Grid>& grid, const std::int32_t* priority) {
    auto lock = lock_briefly(mutex);
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
    enqueue(grid);
    const std::uint32_t sleepers = call_for(grid->cluster_count());
    lock.unlock();
    idle.wake(sleepers);
    return true;
}

/// Lets the worker that calls this run a grid of one block next, without the queue, if nothing else
/// waits. Takes no mutex.
bool Engine::State::run_next(const std::shared_ptr<Grid>& grid) const {
    if (this_worker == nullptr || this_worker->next != nullptr || grid->cluster_count() != 1 ||
        waiting.load(std::memory_order_relaxed) != 0 ||
        is_random_now.load(std::memory_order_relaxed) ||
        give_up_at.load(std::memory_order_relaxed) != NEVER) {
        return false;
    }
    this_worker->next = grid;
    this_worker->is_expected = false; // not before this grid is done
    return true;
}

/// Lets other workers know that a running grid has blocks to start again. Takes the mutex.
void Engine::State::add_again(const std::shared_ptr<Grid>& grid) {
    auto lock = lock_briefly(mutex);
    enqueue(grid);
    const std::uint32_t sleepers = idle.call(worker_count);
    lock.unlock();
    idle.wake(sleepers);
}

void Engine::State::enqueue(const std::shared_ptr<Grid>& grid) {
    if (grid->is_queued() && grid->queued_priority() != grid->priority()) {
        queued_grids -= std::erase(grids[grid->queued_priority()], grid);
        grid->set_queued(false);
    }
    if (!grid->is_queued()) {
        grid->set_queued(true);
        ++queued_grids;
        grids[grid->priority()].push_back(grid);
    }
    count_waiting();
}

void Engine::State::count_waiting() {
    const auto count = static_cast<std::uint32_t>(tasks.size() + suspended.size() + queued_grids);
    if (waiting.load(std::memory_order_relaxed) != count) { // many workers read it
        waiting.store(count, std::memory_order_relaxed);
    }
}

/// Calls idle workers for new work in so many pieces. Returns what to pass to IdleWorkers::wake().
std::uint32_t Engine::State::call_for(std::uint64_t pieces) {
    if (this_worker != nullptr && this_worker->is_expected) {
        this_worker->is_expected = false; // the first piece is for this worker
        --pieces;
    }
    return idle.call(pieces);
}

/// Picks the next work. If there is none, finds out when the first sleeping block wakes up.
bool Engine::State::find_work(Work& work) {
    bool is_found = !tasks.empty();
    if (is_found) {
        work.task = std::move(tasks.front());
        tasks.pop_front();
    } else {
        prefers_suspended = !prefers_suspended;
        is_found = prefers_suspended ? find_suspended(work) || find_grid(work)
                                     : find_grid(work) || find_suspended(work);
    }
    count_waiting();
    for (std::size_t i = 0; !is_found && i < suspended.size(); ++i) { // all of them sleep
        work.wake_at = std::min(work.wake_at, suspended[i]->wake_at());
    }
    return is_found;
}

bool Engine::State::find_suspended(Work& work) {
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
    work.block->grid().add_suspended(-1);
    return true;
}

/// Finds a grid of the highest priority that has blocks to start. Grids of equal priority take
/// turns. A grid that holds too many suspended blocks is passed over.
bool Engine::State::find_grid(Work& work) {
    for (auto& [priority, queue] : grids) {
        for (std::size_t left = queue.size(); left != 0; --left) {
            std::shared_ptr<Grid> grid = std::move(queue.front());
            queue.pop_front();
            const bool has_blocks = grid->has_fresh_blocks();
            const bool is_taken = has_blocks && grid->may_hold_more();
            if (is_taken) {
                work.grid = grid;
            }
            if (!has_blocks || (is_taken && grid->cluster_count() == 1)) { // nothing is left
                grid->set_queued(false);
                --queued_grids;
            } else {
                queue.push_back(std::move(grid));
            }
            if (is_taken) {
                return true;
            }
        }
    }
    return false;
}

// ---- workers -----------------------------------------------------------------------------------

void Engine::State::work_loop(Worker& self) {
    this_worker = &self;
    bool is_found = false;
    for (;;) {
        while (self.next != nullptr) {
            const auto grid = std::move(self.next);
            run_grid(self, grid);
        }
        Work work;
        {
            const auto lock = lock_briefly(mutex);
            busy -= is_found ? 1 : 0;
            is_found = find_work(work);
            busy += is_found ? 1 : 0;
            if (!is_found && is_stopping && busy == 0 && suspended.empty()) {
                idle.wake(idle.call(worker_count)); // so that the other workers can stop too
                return;
            }
            if (!is_found) {
                idle.enter(self.number);
            }
        }
        if (!is_found) {
            if (!idle.wait(self.number, spin_ns.load(std::memory_order_relaxed), work.wake_at)) {
                const auto lock = lock_briefly(mutex);
                idle.leave(self.number);
            }
            continue;
        }
        if (work.task) {
            self.is_expected = true;
            work.task();
            self.is_expected = false;
            watchdog.count(self.number);
        } else if (work.block) {
            Grid& grid = work.block->grid();
            const usage::KernelTime time(grid.launch().device, self.number);
            // The block may go to another worker, which may then release the grid.
            const auto kept = progress.is_on() ? work.block->shared_grid() : nullptr;
            const Progress::Turn turn(progress, self.number, grid);
            if (!drive(work.block, false)) {
                watchdog.count(self.number);
                // The block keeps the grid alive until it is given back.
                report(self, grid, grid.cluster_blocks());
                give_back(std::move(work.block));
            }
        } else {
            run_grid(self, work.grid);
        }
    }
}

/// Runs ranges of a grid's blocks until none is left to start, or other work has waited for a turn.
void Engine::State::run_grid(Worker& self, const std::shared_ptr<Grid>& grid) {
    const bool is_random = is_random_now.load(std::memory_order_relaxed);
    const std::uint32_t workers_in_all = worker_count.load(std::memory_order_relaxed);
    const bool is_only_worker = workers_in_all == 1;
    std::optional<usage::KernelTime> time; // not for workers that find no block left
    std::optional<Progress::Turn> turn;
    std::uint64_t size = is_only_worker && !is_random ? ONLY_WORKER_RANGE : 1;
    std::uint64_t turn_end = 0;
    std::uint64_t now = 0;
    std::uint64_t finished = 0; // clusters that are not reported yet
    std::uint64_t reported_ns = 0;
    const auto report_finished = [&] {
        apply_reductions(self.reductions);
        if (finished != 0) {
            report(self, *grid, std::exchange(finished, 0) * grid->cluster_blocks());
        }
        reported_ns = now;
    };
    for (;;) {
        ClusterRange range = grid->take(size, workers_in_all);
        if (range.is_empty()) {
            break;
        }
        if (!time) {
            time.emplace(grid->launch().device, self.number);
            now = time->begin_ns();
            turn.emplace(progress, self.number, *grid);
            turn_end = is_random ? 0 : now + TURN_NS;
            reported_ns = now;
        }
        if (range.next == 0) { // each position of the order starts once
            grid->set_begin(now);
        }
        const std::uint64_t begin = now;
        if (Fault fault; is_giving_up(*grid, now, fault)) [[unlikely]] {
            grid->fail(std::move(fault)); // this range counts as unfinished until it is reported
        }
        const std::uint64_t clusters = run_range(self, grid, range, begin, finished);
        if (is_only_worker || self.reductions.apply == nullptr ||
            begin - reported_ns > COLLECTING_NS) {
            report_finished();
            // From here on the grid may be done and may run again on other workers.
        }
        now = now_ns();
        if (!range.is_empty() || !grid->may_hold_more() || (now >= turn_end && has_rivals(*grid))) {
            break;
        }
        if (is_only_worker) {
            continue;
        }
        const std::uint64_t took = std::max<std::uint64_t>(1, now - begin);
        const std::uint64_t fitting = std::max<std::uint64_t>(1, clusters * RANGE_NS / took);
        size = is_random ? 1 : std::min(fitting, clusters * MAX_GROWTH);
    }
    report_finished();
    if (self.block) {
        self.block->release();
    }
    self.team.release();
}

/// Runs a range of clusters and adds those that finished to `finished`. Returns how many it has
/// started. Gives the rest back if it is wanted elsewhere; `range` is not empty then.
std::uint64_t Engine::State::run_range(Worker& self, const std::shared_ptr<Grid>& grid,
                                       ClusterRange& range, std::uint64_t begin_ns,
                                       std::uint64_t& finished) {
    std::uint64_t started = 0;
    std::uint64_t rounds = 0;
    Parted parted;
    while (!range.is_empty()) {
        if (grid->has_failed()) [[unlikely]] {
            finished += range.size();
            range.next = range.end;
            break;
        }
        ++rounds;
        if (const std::uint64_t first = range.next;
            range.size() > 1 && !parted.has(first) && run_team(self, *grid, range, parted)) {
            started += range.next - first;
            finished += range.next - first;
            if (rounds % BLOCKS_PER_CLOCK != 0 || !is_late(*grid, begin_ns) || range.is_empty() ||
                !grid->give_back(range)) {
                continue;
            }
            add_again(grid);
            break;
        }
        const std::uint64_t cluster = grid->cluster_at(range.next++);
        ++started;
        if (!self.block) {
            self.block = spare_block();
        }
        try {
            self.block->start(grid, cluster, self.number, self.reductions);
            if (parted.are_adopted && parted.has(cluster)) {
                self.block->adopt(self.team, static_cast<std::uint32_t>(cluster - parted.first));
            }
        } catch (const std::bad_alloc&) {
            grid->fail({FaultKind::StackOverflow,
                        "out of host memory for the local and shared memory of a block of kernel " +
                            grid->kernel().name});
            ++finished;
            continue;
        }
        const bool is_suspended = drive(self.block, !range.is_empty());
        if (!is_suspended) {
            ++finished;
            watchdog.count(self.number);
        }
        if (range.is_empty()) {
            break;
        }
        if (parted.are_adopted && parted.has(range.next)) {
            continue; // only this worker has their registers
        }
        // A block that runs for long is suspended, so the others cannot take much time unnoticed.
        const bool may_be_late = is_suspended || rounds % BLOCKS_PER_CLOCK == 0;
        if (((may_be_late && is_late(*grid, begin_ns)) || !grid->may_hold_more()) &&
            grid->give_back(range)) {
            add_again(grid);
            break;
        }
    }
    return started;
}

/// Runs the first blocks of a range together, and removes them from it. Returns false, with
/// `parted` set, if they must continue one by one; and if blocks of this grid do not run together.
bool Engine::State::run_team(Worker& self, Grid& grid, ClusterRange& range, Parted& parted) {
    try {
        self.team.configure(grid, range.size(), self.number, self.reductions);
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (!self.team.is_useful()) {
        return false;
    }
    const Team::Outcome outcome = self.team.run(range.next, range.size());
    const std::uint32_t blocks = self.team.block_count();
    if (blocks < 2) {
        return false;
    }
    if (outcome == Team::Outcome::Parted) {
        parted = {range.next, range.next + blocks, self.team.has_effects()};
        return false;
    }
    range.next += blocks;
    if (outcome == Team::Outcome::Faulted) {
        apply_reductions(self.reductions);
        grid.fail(std::move(self.team.fault()));
        self.team.fault() = Fault{};
    }
    watchdog.count(self.number, blocks);
    return true;
}

/// Reports blocks as finished. If that ends the grid, the worker looks for other work next.
void Engine::State::report(Worker& self, Grid& grid, std::uint64_t blocks) {
    self.is_expected = true;
    grid.finish(blocks);
    self.is_expected = false;
}

/// Runs a block until it is finished, abandoned or suspended. Returns whether it was suspended;
/// `block` is empty then. `has_more` says that the worker has other blocks of the grid to start.
bool Engine::State::drive(std::unique_ptr<Block>& block, bool has_more) {
    Grid& grid = block->grid();
    const SlowBlock slow(*this_worker);
    for (;;) {
        if (grid.has_failed()) [[unlikely]] {
            return false;
        }
        const Block::Outcome outcome = block->run();
        if (outcome == Block::Outcome::Finished) [[likely]] {
            return false;
        }
        slow.note(*block);
        block->stop_collecting();
        const bool is_asleep = outcome == Block::Outcome::Asleep;
        if (outcome == Block::Outcome::Faulted || is_time_up(*block)) {
            grid.fail(std::move(block->fault()));
            block->fault() = Fault{};
            return false;
        }
        const bool is_wanted =
            has_more || has_rivals(grid) || (grid.has_fresh_blocks() && grid.may_hold_more());
        if (is_asleep || is_wanted) {
            put_aside(std::move(block));
            return true;
        }
    }
}

/// Returns whether a runnable block must stop because the watchdog has expired or the process
/// exits.
bool Engine::State::is_time_up(Block& block) {
    Grid& grid = block.grid();
    const Clock::time_point now = Clock::now();
    if (is_giving_up(grid, now_ns(), block.fault())) {
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
            describe_others(grid));
        return true;
    }
    return false;
}

/// Returns whether a grid must stop because the process exits. Sets the fault then.
bool Engine::State::is_giving_up(const Grid& grid, std::uint64_t now, Fault& fault) const {
    if (now <= give_up_at.load(std::memory_order_relaxed)) [[likely]] {
        return false;
    }
    fault = Fault{FaultKind::Timeout,
                  "the process exits while kernel " + grid.kernel().name + " still runs"};
    return true;
}

/// Describes where the suspended blocks of a grid stand, and names those that other workers run.
/// Returns an empty string if there are none.
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
    for (std::uint32_t i = 0; i < worker_count.load(std::memory_order_relaxed); ++i) {
        const Worker& worker = workers[i];
        if (&worker != this_worker && worker.slow_grid.load(std::memory_order_acquire) == &grid) {
            text += "\n  " + name_of(grid, worker.slow_cluster.load(std::memory_order_relaxed)) +
                    " runs on another worker";
        }
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
    auto lock = lock_briefly(mutex);
    block->grid().add_suspended(1);
    sleeper_count += is_asleep(block) ? 1 : 0;
    suspended.push_back(std::move(block));
    count_waiting();
    const std::uint32_t sleepers = idle.call(1);
    lock.unlock();
    idle.wake(sleepers);
}

void Engine::State::give_back(std::unique_ptr<Block> block) {
    block->release();
    const auto lock = lock_briefly(mutex);
    if (spare.size() < MAX_SPARE_BLOCKS) {
        spare.push_back(std::move(block));
    }
}

} // namespace cuprum::emulator::exec
