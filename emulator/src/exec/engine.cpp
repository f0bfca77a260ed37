// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The interface of the engine, and its queues.

#include "exec/engine.hpp"

#include "builtins/status_line.hpp"
#include "exec/engine_state.hpp"

#include <algorithm>
#include <utility>

namespace cuprum::emulator::exec {

namespace {

/// How long shutdown() waits for running grids before it abandons them.
constexpr std::uint64_t SHUTDOWN_GRACE_NS = 2'000'000'000;

} // namespace

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

Engine::Engine() {
    reset();
}

Engine::~Engine() {
    shutdown();
}

void Engine::reset() {
    if (state_ != nullptr) {
        shutdown();
    }
    state_ = std::make_unique<State>();
    state_->worker_count = std::max(1u, std::thread::hardware_concurrency());
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
    state_->mutex.set_watched(settings.spin_time.count() != 0);
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

void Engine::start(const std::shared_ptr<Grid>& prepared, std::int32_t priority) {
    // Once it is ready, the grid may run and end on a worker that still holds it from before.
    const std::shared_ptr<Grid> grid = prepared;
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

bool Engine::post(std::function<void()> task) {
    std::unique_lock lock(state_->mutex);
    if (state_->is_stopping) {
        return false;
    }
    state_->start_workers();
    state_->tasks.push_back(std::move(task)); // may fail, so before a noted grid loses its note
    const std::uint32_t noted = state_->enqueue_noted();
    state_->count_waiting();
    const std::uint32_t sleepers = state_->call_for(1 + noted, nullptr);
    lock.unlock();
    state_->idle.wake(sleepers);
    return true;
}

bool Engine::hold(std::chrono::milliseconds longest) {
    constexpr std::chrono::microseconds nap{20};
    const auto deadline = std::chrono::steady_clock::now() + longest;
    state_->is_held.store(true);
    for (;;) {
        {
            // Workers that find work after this see that they must stop.
            const std::lock_guard lock(state_->mutex);
            if (state_->busy == state_->held) {
                return true;
            }
        }
        if (std::chrono::steady_clock::now() > deadline) {
            release();
            return false;
        }
        std::this_thread::sleep_for(nap);
    }
}

void Engine::release() noexcept {
    state_->is_held.store(false);
    state_->is_held.notify_all();
}

void Engine::shutdown() noexcept {
    state_->progress.stop();
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock(state_->mutex);
        state_->is_stopping = true;
        state_->give_up_at = now_ns() + SHUTDOWN_GRACE_NS;
        if (this_worker != nullptr) {
            --state_->busy; // a callback exits the process and does not come back
        }
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
    spare.reserve(MAX_SPARE_BLOCKS); // workers give blocks back without allocating
    workers = std::make_unique<Worker[]>(worker_count + 1);
    workers[worker_count].number = worker_count;
    workers[worker_count].is_guest = true;
    idle.resize(worker_count);
    progress.start(worker_count + 1);
    for (std::uint32_t number = 0; number < worker_count; ++number) {
        workers[number].number = number;
    }
    for (std::uint32_t number = 0; number < worker_count; ++number) {
        try {
            threads.emplace_back([this, number] { work_loop(workers[number]); });
        } catch (const std::exception&) { // no thread, or no memory
            if (threads.empty()) {
                workers.reset(); // the next call tries again
                throw;
            }
            return; // the others do the work
        }
    }
}

/// Adds a grid to the queue; false once the engine stops. A prepared grid has a `priority` for this
/// run. Takes the mutex.
bool Engine::State::add(const std::shared_ptr<Grid>& grid, const std::int32_t* priority) {
    std::unique_lock lock(mutex);
    if (is_stopping) {
        return false;
    }
    ++grid_count;
    watchdog.count_launch();
    if (is_random) {
        // Not the order in which grids become ready, if possible: the clock has a say in it.
        const std::uint64_t id = grid->launch().grid_id;
        grid->shuffle(seed, id != 0 ? id : grid_count);
    }
    if (priority != nullptr) {
        grid->rearm(*priority);
    }
    start_workers();
    if (leave_to_waiting_thread(grid)) {
        return true;
    }
    const std::uint32_t noted_grids = enqueue_noted();
    enqueue(grid);
    std::uint32_t sleepers = idle.call(noted_grids);
    sleepers |= call_for(grid->cluster_count(), grid);
    lock.unlock();
    idle.wake(sleepers);
    return true;
}

/// Lets the worker that calls this run a grid of one block next, without the queue, if nothing else
/// waits. Takes no mutex.
bool Engine::State::run_next(const std::shared_ptr<Grid>& grid) const {
    if (this_worker == nullptr || this_worker->is_guest || this_worker->next != nullptr ||
        grid->cluster_count() != 1 || waiting.load(std::memory_order_relaxed) != 0 ||
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
    std::unique_lock lock(mutex);
    (void)enqueue_noted();
    enqueue(grid);
    const std::uint32_t sleepers = idle.call(worker_count);
    lock.unlock();
    idle.wake(sleepers);
}

void Engine::State::enqueue(const std::shared_ptr<Grid>& grid) {
    if (grid->is_queued() && grid->queued_priority() != grid->priority()) {
        queued_grids -= grids[grid->queued_priority()].remove(grid);
        grid->set_queued(false);
    }
    if (!grid->is_queued()) {
        Queue& queue = grids[grid->priority()];
        if (places.empty()) {
            places.emplace_back();
        }
        places.front() = grid; // from here on nothing can fail
        queue.splice(queue.end(), places, places.begin());
        grid->set_queued(true);
        ++queued_grids;
    }
    count_waiting();
}

void Engine::State::count_waiting() {
    const auto count = static_cast<std::uint32_t>(tasks.size() + suspended.size() + queued_grids);
    if (waiting.load(std::memory_order_relaxed) != count) { // many workers read it
        waiting.store(count, std::memory_order_relaxed);
    }
}

/// Calls idle workers for new work in so many pieces: for blocks of `grid`, if there is one.
/// Returns what to pass to IdleWorkers::wake().
std::uint32_t Engine::State::call_for(std::uint64_t pieces, const std::shared_ptr<Grid>& grid) {
    if (this_worker != nullptr && this_worker->is_expected) {
        this_worker->is_expected = false; // the first piece is for this worker
        --pieces;
    }
    if (grid == nullptr || grid->cluster_count() == 1 || is_random || is_only_worker()) {
        return idle.call(pieces);
    }
    // The workers need not look for the grid. Sixteen of them would wait for the mutex in a row.
    return idle.call(pieces, [&](std::uint32_t number) {
        workers[number].next = grid;
        ++busy;
    });
}

/// Picks the next work. If there is none, finds out when the first sleeping block wakes up.
bool Engine::State::find_work(Work& work) {
    bool is_found = !tasks.empty();
    if (is_found) {
        work.task = std::move(tasks.front());
        tasks.pop_front();
    } else {
        is_found = prefers_suspended ? find_suspended(work) || find_grid(work)
                                     : find_grid(work) || find_suspended(work);
        if (is_found) { // only then: how often an idle worker looks must not decide about the order
            prefers_suspended = work.grid != nullptr;
        }
    }
    count_waiting();
    for (std::size_t i = 0; !is_found && i < suspended.size(); ++i) { // all of them sleep
        work.wake_at = std::min(work.wake_at, suspended[i].wake_at);
    }
    return is_found;
}

/// Finds a suspended block that does not sleep. Every second time it is the one that has waited
/// longest. In between it is the earliest block of the same grid: if blocks wait for those before
/// them, as in a scan over all blocks, only the earliest can go on.
bool Engine::State::find_suspended(Work& work) {
    const std::uint64_t now = sleeper_count != 0 ? now_ns() : 0;
    const auto is_awake = [now](const Suspended& each) { return each.wake_at <= now; };
    auto found = std::find_if(suspended.begin(), suspended.end(), is_awake);
    if (found == suspended.end()) {
        return false;
    }
    prefers_earliest = !prefers_earliest;
    if (prefers_earliest && !found->grid->is_random()) {
        for (auto each = found + 1; each != suspended.end(); ++each) {
            if (each->cluster < found->cluster && each->grid == found->grid && is_awake(*each)) {
                found = each;
            }
        }
    }
    sleeper_count -= found->is_asleep() ? 1 : 0;
    work.block = std::move(found->block);
    suspended.erase(found);
    work.block->grid().add_suspended(-1);
    return true;
}

/// Finds a grid of the highest priority that has blocks to start. Grids of equal priority take
/// turns. A grid that holds too many suspended blocks is passed over.
bool Engine::State::find_grid(Work& work) {
    for (auto& [priority, queue] : grids) {
        for (std::size_t left = queue.size(); left != 0 && work.grid == nullptr; --left) {
            const std::shared_ptr<Grid>& grid = queue.front();
            const bool has_blocks = grid->has_fresh_blocks();
            const bool is_taken = has_blocks && grid->may_start_more();
            if (is_taken) {
                work.grid = grid;
            }
            if (!has_blocks || (is_taken && grid->cluster_count() == 1)) { // nothing is left
                drop_front(queue, work);
            } else {
                queue.splice(queue.end(), queue, queue.begin());
            }
        }
        if (work.grid != nullptr) {
            drop_exhausted(queue, work);
        }
    }
    return work.grid != nullptr;
}

/// Removes grids without blocks to start from the head of a queue. They would count as waiting work
/// and end the turns of the grid that was found, as long as nobody looks behind that one.
void Engine::State::drop_exhausted(Queue& queue, Work& work) {
    while (!queue.empty() && !queue.front()->has_fresh_blocks()) {
        drop_front(queue, work);
    }
}

/// Removes the first grid of a queue.
void Engine::State::drop_front(Queue& queue, Work& work) {
    queue.front()->set_queued(false);
    --queued_grids;
    work.ended.splice(work.ended.end(), queue, queue.begin());
}

} // namespace cuprum::emulator::exec
