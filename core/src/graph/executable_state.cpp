// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/executable_state.hpp"

#include "driver/capture.hpp"
#include "graph/executables.hpp"
#include "graph/retired_payloads.hpp"
#include "stream/stream_state.hpp"

#include <utility>

namespace cuprum::detail {

namespace {

/// What is left of an executable whose last share went.
struct EndedExecutable {
    CUgraphExec handle;
    std::shared_ptr<ContextState> home;
    unsigned made_at;
    bool has_user_object;
    OwnersShare owners;
    RetiredShare retired; // without a mark if there is a tail

    void end() noexcept;
};

/// Returns an event behind all launches of an executable; null if a reset ended them.
std::shared_ptr<EventState>
mark_behind_all(CUgraphExec handle, const std::shared_ptr<ContextState>& home, unsigned made_at);
/// Retires what launches of an executable may use.
void retire_from(CUgraphExec handle, const std::shared_ptr<ContextState>& home, unsigned made_at,
                 RetiredShare retired) noexcept;
/// Gives up something that launches may use, with a mark behind them.
RetiredShare retired_by(ExecutableState& executable, PayloadShare payload) noexcept;
/// Gives up something together with the tail and without a mark, if there is a tail.
RetiredShare given_up_by(ExecutableState& executable, PayloadShare payload) noexcept;
/// Gives up something that no launch uses.
RetiredShare unused(PayloadShare payload) noexcept;
/// Records the mark of what was given up with a tail.
void mark(RetiredShare& retired) noexcept;

} // namespace

Payload* ExecutableOwners::find(CUgraphNode node) const noexcept {
    const auto place = updates_.find(node);
    return place == updates_.end() ? nullptr : place->second.payload.get();
}

void ExecutableOwners::reserve(CUgraphNode node) {
    updates_.try_emplace(node);
    if (replaced_.size() == replaced_.capacity()) {
        replaced_.reserve(2 * replaced_.size() + 1);
    }
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
    return is_used ? retired_by(executable, std::move(replaced)) : unused(std::move(replaced));
}

RetiredShare replace_owners(ExecutableState& executable, OwnersShare owners) noexcept {
    const OwnersShare replaced = std::exchange(executable.owners, std::move(owners));
    const bool is_used =
        std::exchange(executable.owned_at, executable.launches) != executable.launches ||
        executable.is_shared.load(std::memory_order_relaxed);
    return is_used && !executable.has_user_object // else the driver keeps it
               ? retired_by(executable, replaced.payload())
               : unused(replaced.payload());
}

void retire_from(const ExecutableState& executable, RetiredShare retired) noexcept {
    retire_from(executable.handle, executable.home, executable.made_at, std::move(retired));
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
    RetiredShare retired = has_user_object ? RetiredShare() : given_up_by(*this, owners.payload());
    EndedExecutable ended{handle,          std::move(home),   made_at,
                          has_user_object, std::move(owners), std::move(retired)};
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

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void EndedExecutable::end() noexcept {
    mark(retired);
    retire_from(handle, home, made_at, std::move(retired));
    owners = OwnersShare();
    // NOTE: a reset of the device destroyed it, and the driver crashes on it then.
    if (is_intact(home, made_at)) {
        const driver::RelaxedCapture relaxed;
        driver::release_now("executable graph", driver::table().cuGraphExecDestroy, handle);
    }
    release_payloads();
}

RetiredShare retired_by(ExecutableState& executable, PayloadShare payload) noexcept {
    RetiredShare retired = given_up_by(executable, std::move(payload));
    if (retired.tail != nullptr) {
        mark(retired);
        executable.mark = retired.mark;
        executable.is_unmarked = retired.mark == nullptr;
    }
    return retired;
}

RetiredShare given_up_by(ExecutableState& executable, PayloadShare payload) noexcept {
    return {.payload = std::move(payload),
            .mark = executable.mark,
            .is_unmarked =
                executable.is_unmarked || executable.is_shared.load(std::memory_order_relaxed),
            .tail = std::exchange(executable.tail, nullptr),
            .failure = nullptr};
}

RetiredShare unused(PayloadShare payload) noexcept {
    RetiredShare retired;
    retired.payload = std::move(payload);
    return retired;
}

void mark(RetiredShare& retired) noexcept {
    if (retired.tail == nullptr) {
        return;
    }
    try {
        retired.mark = retired.tail->mark();
    } catch (...) {
        retired.failure = std::current_exception();
    }
    retired.is_unmarked = retired.is_unmarked || retired.mark == nullptr;
}

void retire_from(CUgraphExec handle, const std::shared_ptr<ContextState>& home, unsigned made_at,
                 RetiredShare retired) noexcept {
    if (retired.payload == nullptr || driver::is_leaving()) {
        return;
    }
    if (retired.failure != nullptr) {
        warn_unmarked(retired.failure);
    }
    if (!retired.is_unmarked) {
        retire(std::move(retired.payload), retired.mark);
        return;
    }
    try {
        retire(retired.payload, mark_behind_all(handle, home, made_at));
    } catch (...) {
        static_cast<void>(retired.payload.release()); // kept for good: a launch may use it
        driver::report_release_failure("what an executable graph keeps alive");
    }
}

std::shared_ptr<EventState>
mark_behind_all(CUgraphExec handle, const std::shared_ptr<ContextState>& home, unsigned made_at) {
    if (!is_intact(home, made_at)) {
        return nullptr;
    }
    // An upload is ordered behind all launches, whoever made them.
    const driver::RelaxedCapture relaxed;
    const Stream queue = Stream::create(Access::make<Context>(home));
    driver::call(driver::table().cuGraphUpload, handle, handle_of(queue));
    return Access::state(queue.record());
}

} // namespace

} // namespace cuprum::detail
