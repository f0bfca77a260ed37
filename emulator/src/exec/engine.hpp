// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Runs grids: what objects/ needs to know of how kernels execute.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/memory_map.hpp"
#include "interp/warp.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cuprum::emulator::exec {

/// One kernel launch, complete and checked against the device's limits.
struct GridLaunch {
    std::shared_ptr<const bytecode::Kernel> kernel;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t cluster[3] = {1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    bool is_cooperative = false;
    std::uint64_t grid_id = 0;
    std::vector<std::byte> parameters; // packed as the kernel declares them
    const MemoryMap* memory = nullptr;
    std::uint32_t sm_count = 1; // what %nsmid reports
    std::int32_t priority = 0;  // of its stream: blocks of grids with lower numbers start first
    // Device address of 64 zeroed bytes that this grid alone uses (Kernel::uses_grid_sync).
    std::uint64_t grid_workspace = 0;
    std::shared_ptr<builtins::Heap> heap; // for kernels that call malloc (Kernel::uses_heap)
    // Local memory that nested calls of one thread may take (CU_LIMIT_STACK_SIZE); 0: as much as
    // there is.
    std::uint32_t stack_bytes = 0;
    /// Says who launched it, for reports: lines that each start with a line break. Empty: unknown.
    std::function<std::string()> describe_launch;
};

/// How grids are run; the same for all of them.
struct EngineSettings {
    std::uint32_t worker_count = 0;     // 0: one per core
    std::uint32_t watchdog_seconds = 0; // a grid of which no block ends for so long is stopped
    bool is_random = false;             // blocks, warps and diverged lanes run in random order
    std::uint64_t seed = 0;             // of that order
};

/// Runs grids and small tasks on worker threads.
///
/// Grids of different streams share the workers block by block, those of higher priority first; a
/// block that waits or has run long gives way to others, so a kernel may wait for another one or
/// for the host. The workers start with the first task and stop in shutdown().
class Engine {
public:
    /// Returns the process's engine; never destroyed, so that late callers find it.
    [[nodiscard]] static Engine& instance();

    /// Takes over settings. The number of workers counts before the first of them has started, the
    /// rest for every grid that starts from now on.
    void configure(const EngineSettings& settings);

    /// Starts a grid and returns at once. `done` is called exactly once, on a worker, with the
    /// first fault or nullptr; it must not block.
    void submit(GridLaunch launch, std::function<void(const Fault*)> done);

    /// Runs a task (a copy, a fill) on a worker. It must not block on other tasks.
    void post(std::function<void()> task);

    /// Lets running tasks finish, stops the workers and joins them. Further work is refused. Safe
    /// to call twice; called when the process is leaving.
    void shutdown() noexcept;

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

} // namespace cuprum::emulator::exec
