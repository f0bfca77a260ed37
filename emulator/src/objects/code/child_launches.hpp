// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that launch kernels (dynamic parallelism).

#pragma once

#include "exec/engine.hpp"
#include "objects/code/launch.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <variant>

namespace cuprum::emulator {

/// The launches of one grid. They run after the grid, one after another in their order, each
/// followed by its own launches. Those of the tail stream come last. The grid's stream waits for
/// all of them.
///
/// CUDA allows this order: kernels cannot wait for what they launch.
class ChildLaunches {
public:
    explicit ChildLaunches(const std::shared_ptr<Module>& module) : module_(module) {}

    /// A kernel, or a copy or fill as a function.
    using Work = std::variant<PreparedLaunch, std::function<void()>>;

    struct Queues {
        std::deque<Work> first;
        std::deque<Work> tail;
    };

    /// Returns a kernel of the module by its address, or nullptr.
    [[nodiscard]] std::shared_ptr<Function> find(std::uint64_t kernel) const;

    /// Checks a launch and adds it. Throws DriverError.
    void add(Function& function, const LaunchRequest& request, const exec::GridLaunch& parent,
             bool is_tail);

    /// Adds a copy or fill that has been checked.
    void add(std::function<void()> transfer, bool is_tail);

    /// Returns how many launches wait, and how many may.
    [[nodiscard]] std::size_t count();
    [[nodiscard]] std::size_t most() const;

    /// Removes and returns all launches.
    [[nodiscard]] Queues take();

    /// Sets the last error of a thread. Returns whether it is the first of the grid.
    bool set_error(std::uint64_t thread, std::uint32_t error);

    /// Returns the last error of a thread; 0 if it has none.
    [[nodiscard]] std::uint32_t error(std::uint64_t thread, bool is_cleared);

    /// How many launches led to this grid; 0 if the host launched it.
    [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }

private:
    // Whoever runs the grid keeps the module. The grid itself may live a moment longer than that.
    std::weak_ptr<Module> module_;
    std::uint32_t depth_ = 0;
    std::mutex mutex_; // guards what follows
    Queues queues_;
    std::unordered_map<std::uint64_t, std::uint32_t> errors_; // by thread of the grid
    bool has_failed_ = false;
};

/// Returns a function for Engine::submit or prepare, which calls `done` once a grid and all that it
/// launches have ended.
[[nodiscard]] std::function<void(const Fault*)>
with_children(const exec::GridLaunch& grid, std::function<void(const Fault*)> done);

/// Lets kernels launch kernels. Calling it again does nothing.
void enable_child_launches() noexcept;

} // namespace cuprum::emulator
