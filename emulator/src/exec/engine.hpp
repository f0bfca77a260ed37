// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The interface between objects/ and the execution of kernels.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/memory_map.hpp"
#include "interp/warp.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cuprum::emulator::check {
class NodeAccesses;
}

namespace cuprum::emulator::exec {

/// A kernel launch that is complete and checked against the device's limits.
struct GridLaunch {
    std::shared_ptr<const bytecode::Kernel> kernel;
    /// The kernel's constants in its context; null if the kernel's own bank serves.
    std::shared_ptr<std::byte> constants;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t cluster[3] = {1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    bool is_cooperative = false;
    std::uint64_t grid_id = 0; // of the launch, by its place in the program; 0: none was given
    std::vector<std::byte> parameters; // packed as the kernel declares them
    const MemoryMap* memory = nullptr;
    int device = 0;
    std::uint32_t sm_count = 1; // what %nsmid reports
    std::int32_t priority = 0;  // of the stream: lower numbers start first
    // Device address of 64 zeroed bytes for the use of this grid only (Kernel::uses_grid_sync).
    std::uint64_t grid_workspace = 0;
    std::shared_ptr<builtins::Heap> heap; // for kernels that call malloc (Kernel::uses_heap)
    // Local memory that nested calls of one thread may use (CU_LIMIT_STACK_SIZE); 0 means no limit.
    std::uint32_t stack_bytes = 0;
    // What a waiting thread recognises the grid by; null if no waiting thread may run it.
    const void* awaited_as = nullptr;
    std::shared_ptr<void> children; // the kernels that this one launches, if it can (uses_heap)
    void* graph_work = nullptr;     // of a node of a graph: for kernels that launch graphs
    check::NodeAccesses* accesses = nullptr; // records what a node of a graph accesses
    /// Describes the launch site for reports. Each line starts with a line break; empty if unknown.
    std::function<std::string()> describe_launch;
};

class Grid;
class Watchdog;

/// Returns when this thread last turned to other blocks, or a block that it runs last yielded, in
/// now_ns() time. 0 if the thread runs no blocks. This is a cheap clock for what kernels do.
[[nodiscard]] std::uint64_t turn_begin_ns() noexcept;

/// How long an idle worker, or a thread that waits for one, watches for news before it sleeps, on a
/// machine that has a processor for each. Waking up takes longer than running a small kernel.
constexpr std::chrono::microseconds DEFAULT_SPIN_TIME{50};

/// Returns how long threads should watch before they sleep, given the processors that the process
/// may use and its quota in thousandths of a processor (0: none).
///
/// Watching delays others if there is one processor, and uses up a quota.
[[nodiscard]] std::chrono::nanoseconds spin_time_for(std::uint32_t processors,
                                                     std::uint32_t quota_millis) noexcept;

/// Settings that apply to all grids.
struct EngineSettings {
    std::uint32_t worker_count = 0;     // 0: one per core
    std::uint32_t watchdog_seconds = 0; // stop a grid that hangs for this long; 0: never
    bool is_watchdog_strict = false;    // stop any grid when no block finishes for this long
    // How long threads watch before they sleep.
    std::chrono::nanoseconds spin_time = DEFAULT_SPIN_TIME;
    // After which time a running grid is shown on the terminal; 0: never.
    std::chrono::milliseconds progress_after{0};
    bool is_random = false; // blocks, warps and diverged lanes run in random order
    std::uint64_t seed = 0; // of the random order
};

/// A set of worker threads that run grids and small tasks.
///
/// Grids of different streams take turns on the workers, higher priorities first. A block that
/// waits or runs for long yields to others, so a kernel may wait for another kernel or for the
/// host. The workers start with the first task and stop in shutdown().
class Engine {
public:
    /// Returns the engine of the process. It is never destroyed, so late callers can use it.
    [[nodiscard]] static Engine& instance();

    /// Applies settings. The number of workers has an effect only before the first worker starts;
    /// the rest applies to every grid that starts later.
    void configure(const EngineSettings& settings);

    /// Starts a grid and returns at once. A worker calls `done` exactly once, with the first fault
    /// or nullptr; `done` must not block.
    void submit(GridLaunch launch, std::function<void(const Fault*)> done);

    /// Prepares a grid that runs many times, one run at a time. A worker calls `done` at the end of
    /// every run.
    [[nodiscard]] static std::shared_ptr<Grid> prepare(GridLaunch launch,
                                                       std::function<void(const Fault*)> done);

    /// Starts a prepared grid that does not run now. On a worker, a grid of one block may follow
    /// directly on the work that the worker is doing.
    void start(const std::shared_ptr<Grid>& prepared, std::int32_t priority);

    /// Returns what ends kernels that hang. It also counts what the host does.
    [[nodiscard]] Watchdog& watchdog() const noexcept;

    /// Returns how long a thread that waits for a worker watches before it sleeps.
    [[nodiscard]] std::chrono::nanoseconds spin_time() const noexcept;

    /// Lets a thread that waits for a grid run the grid itself, if no worker has it yet and
    /// `is_awaited` returns true for its GridLaunch::awaited_as. Returns whether it has run a grid;
    /// parts of it may still run. `is_awaited` must be brief. helping.cpp explains how and why.
    [[nodiscard]] bool help(const std::function<bool(const void*)>& is_awaited);

    /// Runs a task (a copy, a fill) on a worker. The task must not block on other tasks. Returns
    /// false after shutdown(), and drops the task.
    [[nodiscard]] bool post(std::function<void()> task);

    /// Stops all workers between two blocks, or where a block yields, until release(). What runs
    /// continues then. Returns false, with nothing stopped, if that takes longer than `longest`.
    /// Not on a worker; one thread at a time.
    [[nodiscard]] bool hold(std::chrono::milliseconds longest);

    /// Lets the workers go on after hold().
    void release() noexcept;

    /// Lets running tasks finish, then stops and joins the workers. Later work is refused. The
    /// process calls this at exit; a second call does nothing.
    void shutdown() noexcept;

    /// Shuts down, then forgets all settings, so that work starts workers again. For tests, which
    /// need other numbers of workers in one process. Only while nothing else uses the engine.
    void reset();

    /// Returns the number of worker threads.
    [[nodiscard]] std::uint32_t worker_count() const noexcept;

    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

private:
    Engine();
    ~Engine();

    struct State;
    std::unique_ptr<State> state_;
};

/// The scope in which a host thread waits for the device. Only then does the watchdog end kernels,
/// and only then is progress shown.
class HostWait {
public:
    [[nodiscard]] HostWait() noexcept;
    ~HostWait();

    HostWait(const HostWait&) = delete;
    HostWait& operator=(const HostWait&) = delete;
};

} // namespace cuprum::emulator::exec
