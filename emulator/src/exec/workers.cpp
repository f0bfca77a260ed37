// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Worker threads and their scheduling.
//
// One mutex protects three queues: tasks (such as copies, which run first), grids with blocks to
// start, and suspended blocks. A worker with a grid takes range after range of its blocks without
// the mutex. Ranges hold as many blocks as run in RANGE_NS, judged by the last range, so that a
// worker writes to memory that others read once per range and not once per block. The only worker
// of a device takes ranges of a fixed size, so that a run can be repeated. If other work waits, the
// worker turns to it after TURN_NS, the only one after each range. Suspended blocks take part in
// the turns.
//
// A block that has used up its quantum is suspended if there is other work. Another block of the
// same grid counts as other work, because the first block may wait for it. A range that takes
// longer than expected goes back to the grid when other workers are idle or other work waits. What
// went back starts before all later blocks, and the earliest suspended block gets every second
// turn: blocks may wait for those before them, as on a GPU.
//
// Idle workers wait as exec/idle_workers.hpp describes. Whoever adds work calls as many of them as
// the work can use.

#include "bytecode/readable_name.hpp"
#include "exec/default_floating_point.hpp"
#include "exec/engine_state.hpp"
#include "jit/tiers.hpp"
#include "usage/publisher.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>

namespace cuprum::emulator::exec {

thread_local constinit Worker* this_worker = nullptr;

std::uint64_t turn_begin_ns() noexcept {
    return this_worker == nullptr ? 0 : this_worker->turn_begin_ns;
}

namespace {

using Clock = std::chrono::steady_clock;

/// How long a range of blocks should run.
constexpr std::uint64_t RANGE_NS = 25'000;
/// The same for blocks that run in teams. They access memory in long rows, and a new range begins
/// with cache misses. Blocks that may wait for each other have short ranges: scans took a fifth
/// longer with long ones.
constexpr std::uint64_t TEAM_RANGE_NS = 250'000;
/// By how much the next range may be longer than the last one.
constexpr std::uint64_t MAX_GROWTH = 8;
/// How many blocks a range of the only worker has. The clock must not decide there: which blocks
/// run as a team, when collected reductions are applied, and the order of blocks that wait would
/// differ from run to run.
constexpr std::uint64_t ONLY_WORKER_RANGE = 256;
/// The same for blocks that run in teams, which are short.
constexpr std::uint64_t ONLY_WORKER_TEAM_RANGE = 4096;
/// After how many blocks a worker reads the clock while the rest of its range may be wanted. It
/// reads the clock after every team. The only worker reads no clock: its turns end with a range, or
/// when a block yields.
constexpr std::uint64_t BLOCKS_PER_CLOCK = 8;
/// How long a worker may keep finished ranges to itself while it collects reductions for all of
/// them. Applying them takes as long as a range if many workers add to the same words.
constexpr std::uint64_t COLLECTING_NS = 500'000;

/// How many clusters the next range of a worker holds, while it stays with one grid.
class RangeSize {
public:
    RangeSize(bool is_random, bool is_alone) noexcept
        : is_random_(is_random), is_alone_(is_alone) {}

    [[nodiscard]] std::uint64_t next(const Team& team) const noexcept {
        if (is_random_) {
            return 1;
        }
        if (is_alone_) {
            return team.is_useful() ? ONLY_WORKER_TEAM_RANGE : ONLY_WORKER_RANGE;
        }
        return team.is_useful() ? std::max<std::uint64_t>(fitting_, team.most_blocks()) : fitting_;
    }

    /// Notes how many clusters of the last range have started, and how long they took.
    void note(const Team& team, std::uint64_t clusters, std::uint64_t ns) noexcept {
        const std::uint64_t wanted_ns = team.is_useful() ? TEAM_RANGE_NS : RANGE_NS;
        const std::uint64_t in_time = clusters * wanted_ns / std::max<std::uint64_t>(1, ns);
        fitting_ = std::min(std::max<std::uint64_t>(1, in_time), clusters * MAX_GROWTH);
    }

private:
    bool is_random_;
    bool is_alone_;             // the only worker
    std::uint64_t fitting_ = 1; // into the wanted time
};

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

/// Ends a grid because running it has thrown. `purpose` says what memory was needed for. If there
/// is no memory for a report either, the grid ends without one.
void fail_with(Grid& grid, const std::exception& error, const char* purpose = "to run") noexcept {
    const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    const FaultKind kind = is_memory ? FaultKind::StackOverflow : FaultKind::IllegalInstruction;
    try {
        const std::string kernel = "kernel " + bytecode::readable_name(grid.kernel().name);
        grid.fail({kind, is_memory ? std::string("out of host memory ") + purpose + " " + kernel
                                   : kernel + " failed, please report this: " + error.what()});
    } catch (const std::bad_alloc&) {
        grid.fail({kind, {}});
    }
}

/// Tells the kernel of a launch how long its blocks have worked, so that it is compiled some time.
void note_work(const Grid& grid, std::uint64_t ns) {
    const GridLaunch& launch = grid.launch();
    jit::CodeCache* const code = launch.kernel->code_source->compiled_code();
    if (code != nullptr && launch.memory->checks == 0 && !grid.is_random()) {
        code->note_work(code->shape_for(launch.grid, launch.block), std::chrono::nanoseconds(ns),
                        launch.kernel);
    }
}

/// Returns whether the blocks of a launch run by compiled code.
bool is_compiled(const GridLaunch& launch) {
    jit::CodeCache* const code = launch.kernel->code_source->compiled_code();
    return code != nullptr && code->find(code->shape_for(launch.grid, launch.block)) != nullptr;
}

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

void Engine::State::work_loop(Worker& self) {
    this_worker = &self;
    const DefaultFloatingPoint numbers; // the thread that started this one may have changed it
    bool is_found = false;
    Queue left; // places of grids that left the queues
    for (;;) {
        while (self.next != nullptr) {
            const auto grid = std::move(self.next);
            run_grid(self, grid);
        }
        Work work;
        {
            const std::lock_guard lock(mutex);
            busy -= is_found ? 1 : 0;
            places.splice(places.end(), left);
            const std::uint32_t noted_grids = enqueue_noted();
            is_found = find_work(work);
            if (noted_grids != 0 && waiting.load(std::memory_order_relaxed) != 0) {
                idle.wake(idle.call(1)); // it has found other work
            }
            busy += is_found ? 1 : 0;
            if (!is_found && is_stopping && busy == 0 && suspended.empty()) {
                idle.wake(idle.call(worker_count)); // so that the other workers can stop too
                return;
            }
            if (!is_found) {
                idle.enter(self.number);
            }
        }
        for (std::shared_ptr<Grid>& grid : work.ended) { // before the worker waits
            grid.reset();
        }
        left.swap(work.ended);
        if (is_found && is_held.load(std::memory_order_relaxed)) [[unlikely]] {
            stay_while_held();
        }
        if (!is_found) {
            if (!idle.wait(self.number, spin_ns.load(std::memory_order_relaxed), work.wake_at)) {
                const std::lock_guard lock(mutex);
                idle.leave(self.number);
            }
            is_found = self.next != nullptr; // the caller has counted this worker as busy
            if (is_found && has_rivals(*self.next)) {
                self.next = nullptr; // the queues hold it too, and decide what comes first
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
            self.turn_begin_ns = time.begin_ns();
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

/// Stops a busy worker until the engine is released.
void Engine::State::stay_while_held() {
    std::unique_lock lock(mutex);
    ++held;
    do {
        lock.unlock();
        is_held.wait(true);
        lock.lock();
    } while (is_held.load()); // another hold() counts this worker as long as it has not left
    --held;
}

/// Runs ranges of a grid's blocks until none is left to start, or other work has waited for a turn.
void Engine::State::run_grid(Worker& self, const std::shared_ptr<Grid>& grid) {
    const bool is_random = is_random_now.load(std::memory_order_relaxed);
    const std::uint32_t workers_in_all = worker_count.load(std::memory_order_relaxed);
    const bool is_alone = is_only_worker();
    RangeSize size(is_random, is_alone);
    std::optional<usage::KernelTime> time; // not for workers that find no block left
    std::optional<Progress::Turn> turn;
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
        // The first range is one block. The grid may end as long as the worker holds none, and then
        // the memory that the launch refers to, which a team looks at, may be gone.
        const bool is_first = !time;
        ClusterRange range = grid->take(is_first ? 1 : size.next(self.team), workers_in_all);
        if (range.is_empty()) {
            break;
        }
        if (is_first) {
            // The size of the grid decides about teams, and not the clock: a run can be repeated.
            prepare_team(self, *grid, grid->block_count() / workers_in_all);
            time.emplace(grid->launch().device, self.number);
            now = time->begin_ns();
            turn.emplace(progress, self.number, *grid);
            turn_end = is_random || is_alone ? 0 : now + TURN_NS;
            reported_ns = now;
        }
        if (range.next == 0) { // each position of the order starts once
            grid->set_begin(now);
        }
        const std::uint64_t begin = now;
        const std::uint64_t clusters = run_range(self, grid, range, begin, finished);
        // The turn of the only worker ends with a range, but not with a first block that has
        // finished: preparing a team for every block would take longer than the blocks.
        const bool is_turn_young = is_first && is_alone && !is_random && finished == clusters;
        if (is_alone || self.reductions.apply == nullptr || begin - reported_ns > COLLECTING_NS) {
            report_finished();
            // From here on the grid may be done and may run again on other workers.
        }
        now = now_ns();
        note_work(*grid, now - begin);
        // A grid that has ended may run again at once. What followed on its end comes first then.
        if (!range.is_empty() || !grid->may_start_more() || self.next != nullptr ||
            (now >= turn_end && !is_turn_young && has_rivals(*grid))) {
            break;
        }
        size.note(self.team, clusters, now - begin);
    }
    report_finished();
    if (self.block) {
        self.block->release();
    }
    self.team.release();
}

/// Prepares the worker's block to run a cluster. Fails the grid, and returns false, if there is not
/// enough memory.
[[gnu::always_inline]] inline bool Engine::State::start_block(Worker& self,
                                                              const std::shared_ptr<Grid>& grid,
                                                              std::uint64_t cluster,
                                                              const Parted& parted) {
    try {
        if (!self.block) {
            self.block = spare_block();
        }
        self.block->start(grid, cluster, self.number, self.reductions);
    } catch (const std::bad_alloc& error) {
        fail_with(*grid, error, "for the local and shared memory of a block of");
        return false;
    }
    if (parted.are_adopted && parted.has(cluster)) {
        self.block->adopt(self.team, static_cast<std::uint32_t>(cluster - parted.first));
    }
    return true;
}

/// Runs a range of clusters and adds those that finished to `finished`. Returns how many it has
/// started. Gives the rest back if it is wanted elsewhere; `range` is not empty then.
std::uint64_t Engine::State::run_range(Worker& self, const std::shared_ptr<Grid>& grid,
                                       ClusterRange& range, std::uint64_t begin_ns,
                                       std::uint64_t& finished) {
    const std::uint64_t rounds_per_clock = is_only_worker() ? NEVER : BLOCKS_PER_CLOCK;
    std::uint64_t started = 0;
    std::uint64_t rounds = 0;
    Parted parted;
    self.turn_begin_ns = begin_ns;
    while (!range.is_empty()) {
        if (is_held.load(std::memory_order_relaxed)) [[unlikely]] {
            stay_while_held();
        }
        if (give_up_at.load(std::memory_order_relaxed) != NEVER) [[unlikely]] {
            if (Fault fault; is_giving_up(*grid, now_ns(), fault)) {
                grid->fail(std::move(fault)); // the range is unfinished until it is reported
            }
        }
        if (grid->has_failed()) [[unlikely]] {
            finished += range.size();
            range.next = range.end;
            break;
        }
        ++rounds;
        if (const std::uint64_t first = range.next; range.size() > 1 && !parted.has(first) &&
                                                    !is_compiled(grid->launch()) &&
                                                    run_team(self, *grid, range, parted)) {
            started += range.next - first;
            finished += range.next - first;
            if (!is_only_worker() && !range.is_empty() && is_late(*grid, begin_ns) &&
                hand_over(grid, range)) {
                break;
            }
            continue;
        }
        ++started;
        if (!start_block(self, grid, grid->cluster_at(range.next++), parted)) {
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
        const bool may_be_late = is_suspended || rounds % rounds_per_clock == 0;
        if (((may_be_late && is_late(*grid, begin_ns)) ||
             (is_suspended && !grid->may_start_more())) &&
            hand_over(grid, range)) {
            break;
        }
    }
    return started;
}

/// Gives the rest of a range back to its grid and lets other workers know. Returns false if the
/// grid has failed.
bool Engine::State::hand_over(const std::shared_ptr<Grid>& grid, ClusterRange range) {
    try {
        if (!grid->give_back(range)) {
            return false;
        }
    } catch (const std::bad_alloc&) {
        return false; // the worker runs the blocks itself
    }
    try {
        add_again(grid);
    } catch (const std::bad_alloc& error) {
        fail_with(*grid, error); // nobody would find the blocks
    }
    return true;
}

/// Sets up the worker's team for a grid of which the worker will run about so many blocks.
void Engine::State::prepare_team(Worker& self, const Grid& grid, std::uint64_t blocks) {
    try {
        self.team.configure(grid, blocks, self.number, self.reductions);
    } catch (const std::bad_alloc&) {
        self.team.release(); // the blocks run one by one
    }
}

/// Runs the first blocks of a range together, and removes them from it. Returns false, with
/// `parted` set, if they must continue one by one; and if blocks of this grid do not run together.
bool Engine::State::run_team(Worker& self, Grid& grid, ClusterRange& range, Parted& parted) {
    if (!self.team.is_useful()) {
        return false;
    }
    Team::Outcome outcome{};
    try {
        outcome = self.team.run(range.next, range.size());
    } catch (const std::exception& error) {
        fail_with(grid, error); // the range counts as finished from now on
        return true;
    }
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

/// Reports blocks as finished. If that ends the grid, the worker looks for other work next; a guest
/// does not.
void Engine::State::report(Worker& self, Grid& grid, std::uint64_t blocks) {
    self.is_expected = !self.is_guest;
    grid.finish(blocks);
    self.is_expected = false;
}

/// Runs a block until it is finished, abandoned or suspended. Returns whether it was suspended;
/// `block` is empty then. `has_more` says that the worker has other blocks of the grid to start.
bool Engine::State::drive(std::unique_ptr<Block>& block, bool has_more) {
    Grid& grid = block->grid();
    try {
        return drive(grid, block, has_more);
    } catch (const std::exception& error) {
        fail_with(grid, error);
        return block == nullptr; // it was suspended before
    }
}

bool Engine::State::drive(Grid& grid, std::unique_ptr<Block>& block, bool has_more) {
    const SlowBlock slow(*this_worker);
    std::optional<HostWait> waiting_host; // the watchdog may end a block that a guest runs
    for (;;) {
        if (grid.has_failed()) [[unlikely]] {
            return false;
        }
        const Block::Outcome outcome = block->run();
        if (outcome == Block::Outcome::Finished) [[likely]] {
            return false;
        }
        const std::uint64_t now = now_ns();
        note_work(grid, now - this_worker->turn_begin_ns);
        this_worker->turn_begin_ns = now;
        slow.note(*block);
        if (this_worker->is_guest && !waiting_host) {
            waiting_host.emplace();
        }
        block->stop_collecting();
        const bool is_asleep = outcome == Block::Outcome::Asleep;
        if (outcome == Block::Outcome::Faulted || is_time_up(*block)) {
            grid.fail(std::move(block->fault()));
            block->fault() = Fault{};
            return false;
        }
        const bool is_wanted =
            has_more || has_rivals(grid) || (grid.has_fresh_blocks() && grid.may_start_more());
        if (is_asleep || is_wanted) {
            put_aside(block);
            return true;
        }
        if (is_held.load(std::memory_order_relaxed)) [[unlikely]] {
            stay_while_held();
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
    fault =
        Fault{FaultKind::Timeout, "the process exits while kernel " +
                                      bytecode::readable_name(grid.kernel().name) + " still runs"};
    return true;
}

/// Describes where the suspended blocks of a grid stand, and names those that other workers run.
/// Returns an empty string if there are none.
std::string Engine::State::describe_others(const Grid& grid) {
    constexpr std::size_t most = 16; // a report of thousands of blocks would be unreadable
    std::string text;
    std::size_t count = 0;
    const std::lock_guard lock(mutex);
    for (const Suspended& each : suspended) {
        if (each.grid == &grid && ++count <= most) {
            text += "\n" + each.block->describe();
        }
    }
    if (count > most) {
        text += "\n  and " + std::to_string(count - most) + " more blocks";
    }
    for (std::uint32_t i = 0; i <= worker_count.load(std::memory_order_relaxed); ++i) {
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

/// Suspends a block. Leaves it to the caller if there is no memory for that.
void Engine::State::put_aside(std::unique_ptr<Block>& block) {
    std::unique_lock lock(mutex);
    suspended.emplace_back(std::move(block)); // takes the block only when nothing can fail any more
    suspended.back().block->grid().add_suspended(1);
    sleeper_count += suspended.back().is_asleep() ? 1 : 0;
    count_waiting();
    const std::uint32_t sleepers = idle.call(1 + enqueue_noted());
    lock.unlock();
    idle.wake(sleepers);
}

void Engine::State::give_back(std::unique_ptr<Block> block) {
    block->release();
    const std::lock_guard lock(mutex);
    if (spare.size() < MAX_SPARE_BLOCKS) {
        spare.push_back(std::move(block));
    }
}

} // namespace cuprum::emulator::exec
