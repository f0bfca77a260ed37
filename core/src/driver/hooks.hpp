// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Folders above driver/ take part in the life of the driver through hooks: driver/ calls them and
// includes none of those folders.

#pragma once

#include <cuda.h>

#include <string>
#include <vector>

namespace cuprum::driver {

/// Functions that run at fixed points of the driver's life. Null members are skipped.
struct Hooks {
    /// Runs once, before the first cuInit. May replace the table.
    void (*before_first_use)() = nullptr;
    /// Runs after each successful cuInit, once the driver's own exit handlers are registered.
    void (*after_init)() = nullptr;
    /// Runs when a binding announces the end of the process, while the driver still works.
    void (*before_exit)() noexcept = nullptr;
    void (*before_fork)() noexcept = nullptr;
    void (*after_fork_in_parent)() noexcept = nullptr;
    void (*after_fork_in_child)() noexcept = nullptr;
    /// Describes the work that may be running on the devices, one line each, for error messages.
    std::vector<std::string> (*work_in_flight)() = nullptr;
    /// Describes the nodes of an executable graph, one line each, as far as they are known.
    std::vector<std::string> (*nodes_of_executable)(CUgraphExec graph) = nullptr;
};

/// Adds hooks, which must live as long as the process. At most four folders can add some.
void add_hooks(const Hooks& hooks) noexcept;

/// Adds hooks in its constructor. Define it with `[[gnu::init_priority(HOOKS_PRIORITY)]]`, so that
/// the hooks are there before the constructors of other static objects, which may use the driver.
struct AddedHooks {
    explicit AddedHooks(const Hooks& hooks) noexcept { add_hooks(hooks); }
};

constexpr int HOOKS_PRIORITY = 200; // below 101 is the compiler's, the default is 65535

/// Calls one of the functions of all hooks, in the order in which they were added.
void run_hooks(void (*Hooks::*function)());
void run_hooks(void (*Hooks::*function)() noexcept) noexcept;

/// Returns what all hooks say about the work in flight.
[[nodiscard]] std::vector<std::string> work_in_flight();

/// Returns what all hooks say about the nodes of an executable graph.
[[nodiscard]] std::vector<std::string> nodes_of_executable(CUgraphExec graph);

} // namespace cuprum::driver
