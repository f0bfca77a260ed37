// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/executables.hpp"

#include "driver/hooks.hpp"
#include "driver/table.hpp"
#include "graph/node_text.hpp"
#include "support/fork.hpp"
#include "support/never_destroyed.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace cuprum::detail {

namespace {

constexpr std::size_t MAX_LINES = 10000;

struct KnownExecutable {
    std::weak_ptr<GraphState> source;
    std::vector<std::string> lines; // once they are known
};

struct KnownExecutables {
    std::mutex mutex;
    std::unordered_map<CUgraphExec, KnownExecutable> all;
};

KnownExecutables& known_executables() {
    static NeverDestroyed<KnownExecutables> executables;
    [[maybe_unused]] static const bool is_kept =
        keep_unlocked_in_children<[]() -> std::mutex& { return known_executables().mutex; }>();
    return *executables;
}

bool is_observed() noexcept {
    return &driver::table() != &driver::unobserved_table();
}

std::vector<std::string> describe(const GraphState& source) {
    return source.handle != nullptr
               ? describe_nodes(source.handle, MAX_LINES, driver::unobserved_table())
               : std::vector<std::string>();
}

constexpr driver::Hooks GRAPH_HOOKS{.nodes_of_executable = &nodes_of_executable};
[[gnu::init_priority(driver::HOOKS_PRIORITY)]] const driver::AddedHooks graph_hooks(GRAPH_HOOKS);

} // namespace

void note_executable(CUgraphExec executable, const GraphShare& source) noexcept {
    try {
        KnownExecutable known{source, {}};
        if (is_observed()) {
            known.lines = describe(*source);
        }
        KnownExecutables& executables = known_executables();
        const std::lock_guard lock(executables.mutex);
        executables.all.insert_or_assign(executable, std::move(known));
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): only traces suffer
    }
}

void forget_executable(CUgraphExec executable) noexcept {
    KnownExecutables& executables = known_executables();
    const std::lock_guard lock(executables.mutex);
    executables.all.erase(executable);
}

std::vector<std::string> nodes_of_executable(CUgraphExec executable) {
    KnownExecutables& executables = known_executables();
    GraphShare source;
    {
        const std::lock_guard lock(executables.mutex);
        const auto known = executables.all.find(executable);
        if (known == executables.all.end()) {
            return {};
        }
        source = known->second.source.lock();
        if (!known->second.lines.empty() || source == nullptr) {
            return known->second.lines;
        }
    }
    std::vector<std::string> lines = describe(*source);
    const std::lock_guard lock(executables.mutex);
    if (const auto known = executables.all.find(executable); known != executables.all.end()) {
        known->second.lines = lines;
    }
    return lines;
}

} // namespace cuprum::detail
