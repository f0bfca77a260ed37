// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/executable_state.hpp"

#include "driver/capture.hpp"
#include "driver/hooks.hpp"
#include "driver/table.hpp"
#include "graph/payload.hpp"
#include "graph/pictures.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"
#include "support/text.hpp"

#include <cuprum/error.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace cuprum::detail {

namespace {

/// What is left of an executable whose last share went.
struct EndedExecutable : ExecutableHandle {
    OwnersShare owners;
    RetiredShare retired;

    void end() noexcept;
};

/// Retires what launches on a stream of our own may use.
void retire_behind(const RetiredShare& retired) noexcept {
    const EndOfWork end = end_of_work(*retired.last.stream);
    if (end.answer == EndOfWork::Answer::Event) {
        retire(retired.payload, end.event);
    } else if (end.answer == EndOfWork::Answer::Later) {
        retire(retired.payload, nullptr, retired.last.stream);
        if (end.failure != nullptr) {
            warn_unmarked(end.failure);
        }
    }
}

/// Returns an event behind all launches of an executable; null if a reset ended them. `mutex` is
/// null if nobody else can use it.
std::shared_ptr<EventState> mark_behind_all(const ExecutableHandle& executable, std::mutex* mutex) {
    if (executable.is_lost()) {
        return nullptr;
    }
    // An upload is ordered behind all launches, whoever made them.
    const driver::RelaxedCapture relaxed;
    const Stream queue = Stream::create(Access::make<Context>(executable.context));
    {
        std::optional<QuietLock> lock;
        if (mutex != nullptr) {
            lock.emplace(*mutex);
        }
        driver::call(driver::table().cuGraphUpload, executable.handle, handle_of(queue));
    }
    return Access::state(queue.record());
}

/// Retires what launches of an executable may use. The lock is not held. Returns it, with a
/// warning, if the driver does not say when they end; null else.
PayloadShare try_retire(const ExecutableHandle& executable, std::mutex* mutex,
                        RetiredShare retired) noexcept {
    if (retired.payload == nullptr || driver::is_leaving()) {
        return nullptr;
    }
    if (!retired.last.is_unmarked) {
        retired.last.stream != nullptr ? retire_behind(retired)
                                       : retire(std::move(retired.payload), retired.last.mark);
        return nullptr;
    }
    try {
        retire(retired.payload, mark_behind_all(executable, mutex));
        return nullptr;
    } catch (const CUDAError& error) {
        if (is_over(error.code())) {
            return nullptr;
        }
        driver::report_release_failure("what an executable graph keeps alive");
    } catch (...) {
        driver::report_release_failure("what an executable graph keeps alive");
    }
    return std::move(retired.payload);
}

void EndedExecutable::end() noexcept {
    const PayloadScope scope;
    // What cannot be retired is kept for good: a launch may use it.
    static_cast<void>(try_retire(*this, nullptr, std::move(retired)).release());
    owners = OwnersShare();
    // NOTE: a reset of the device destroyed it, and the driver crashes on it then.
    if (!is_lost()) {
        const driver::RelaxedCapture relaxed;
        driver::release_now("executable graph", driver::table().cuGraphExecDestroy, handle);
    }
}

RetiredShare retired_by(const ExecutableState& executable, PayloadShare payload) noexcept {
    RetiredShare retired{std::move(payload), executable.last};
    retired.last.is_unmarked |= executable.is_shared.load(std::memory_order_relaxed);
    return retired;
}

} // namespace

Payload* ExecutableOwners::find(CUgraphNode node) const noexcept {
    const auto place = updates_.find(node);
    return place == updates_.end() ? nullptr : place->second.payload.get();
}

void ExecutableOwners::reserve(CUgraphNode node) {
    updates_.try_emplace(node);
    reserve_replaced();
}

void ExecutableOwners::reserve_replaced() {
    make_room_for_one(replaced_);
}

ExecutableOwners::Replaced ExecutableOwners::keep(CUgraphNode node, PayloadShare payload,
                                                  std::uint64_t now) noexcept {
    Update& update = updates_.find(node)->second;
    Replaced replaced{std::move(update.payload), update.kept_at != now};
    update.payload = std::move(payload);
    update.kept_at = now;
    return replaced;
}

RetiredShare keep_update(ExecutableState& executable, CUgraphNode node,
                         PayloadShare payload) noexcept {
    auto [replaced, is_used] =
        executable.owners->keep(node, std::move(payload), executable.launches);
    if (executable.has_user_object || executable.is_shared.load(std::memory_order_relaxed)) {
        executable.owners->keep_replaced(std::move(replaced)); // others may launch it
        return {};
    }
    return is_used ? retired_by(executable, std::move(replaced))
                   : RetiredShare{std::move(replaced), {}};
}

RetiredShare replace_owners(ExecutableState& executable, OwnersShare owners) noexcept {
    const OwnersShare replaced = std::exchange(executable.owners, std::move(owners));
    const bool is_used =
        std::exchange(executable.owned_at, executable.launches) != executable.launches ||
        executable.is_shared.load(std::memory_order_relaxed);
    return is_used && !executable.has_user_object // else the driver keeps it
               ? retired_by(executable, replaced.payload())
               : RetiredShare{replaced.payload(), {}};
}

void retire_from(ExecutableState& executable, RetiredShare retired) noexcept {
    PayloadShare unretired = try_retire(executable, &executable.mutex, std::move(retired));
    if (unretired) [[unlikely]] { // the executable keeps it, and tries again in the end
        try {
            const std::lock_guard lock(executable.mutex);
            executable.owners->reserve_replaced();
            executable.owners->keep_replaced(std::move(unretired));
        } catch (...) { // without memory it is kept for good: a launch may use it
            static_cast<void>(unretired.release());
        }
    }
    release_payloads();
}

OwnersShare owners_from(GraphState& definition) {
    return OwnersShare(std::make_shared<ExecutableOwners>(payloads_in(definition)));
}

ExecutableState::~ExecutableState() {
    if (handle == nullptr) {
        return;
    }
    forget_executable(handle);
    RetiredShare retired = has_user_object ? RetiredShare() : retired_by(*this, owners.payload());
    EndedExecutable ended{static_cast<const ExecutableHandle&>(*this), std::move(owners),
                          std::move(retired)};
    if (!runs_host_function()) {
        ended.end();
        return;
    }
    try {
        defer_release(std::shared_ptr<void>(
            nullptr, [ended = std::move(ended)](void*) mutable noexcept { ended.end(); }));
    } catch (...) {
        driver::report_release_failure("executable graph");
    }
}

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
