// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/hooks.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace cuprum::driver {

namespace {

constexpr std::size_t MAX_HOOKS = 4;

// Constant-initialised: hooks are added while static objects are being constructed.
constinit std::array<std::atomic<const Hooks*>, MAX_HOOKS> all_hooks{};
constinit std::atomic<std::size_t> hooks_count{0};

template <typename Visit>
void for_each_hooks(const Visit& visit) {
    for (const auto& place : all_hooks) {
        if (const Hooks* hooks = place.load(std::memory_order_acquire)) {
            visit(*hooks);
        }
    }
}

} // namespace

void add_hooks(const Hooks& hooks) noexcept {
    const std::size_t place = hooks_count.fetch_add(1, std::memory_order_relaxed);
    if (place >= MAX_HOOKS) {
        std::abort(); // a mistake in the library: it shows on every start
    }
    all_hooks[place].store(&hooks, std::memory_order_release);
}

void run_hooks(void (*Hooks::*function)()) {
    for_each_hooks([&](const Hooks& hooks) {
        if (hooks.*function != nullptr) {
            (hooks.*function)();
        }
    });
}

void run_hooks(void (*Hooks::*function)() noexcept) noexcept {
    for_each_hooks([&](const Hooks& hooks) {
        if (hooks.*function != nullptr) {
            (hooks.*function)();
        }
    });
}

std::vector<std::string> work_in_flight() {
    std::vector<std::string> all;
    for_each_hooks([&](const Hooks& hooks) {
        if (hooks.work_in_flight != nullptr) {
            for (std::string& line : hooks.work_in_flight()) {
                all.push_back(std::move(line));
            }
        }
    });
    return all;
}

std::vector<std::string> nodes_of_executable(CUgraphExec graph) {
    std::vector<std::string> all;
    for_each_hooks([&](const Hooks& hooks) {
        if (hooks.nodes_of_executable != nullptr && all.empty()) {
            all = hooks.nodes_of_executable(graph);
        }
    });
    return all;
}

} // namespace cuprum::driver
