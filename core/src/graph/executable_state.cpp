// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/executable_state.hpp"

#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "graph/executables.hpp"
#include "graph/retired_payloads.hpp"
#include "stream/stream_state.hpp"
#include "support/warn.hpp"

#include <exception>
#include <string>
#include <utility>

namespace cuprum::detail {

namespace {

/// What says when the launches of an executable end.
struct LaunchMarks {
    CUgraphExec handle;
    std::shared_ptr<ContextState> home;
    unsigned made_at;
    bool is_shared;
    std::shared_ptr<EventState> mark;
    std::shared_ptr<StreamState> unmarked;

    /// Releases a Payload when all launches so far have ended.
    void retire_behind(const PayloadShare& payload) noexcept;

private:
    void make_mark_behind_all();
};

/// What is left of an executable whose last share went.
struct EndedExecutable {
    LaunchMarks marks;
    OwnersShare owners;
    bool has_user_object;

    void end() noexcept;
};

/// Retires what a launch of an executable may use. The lock is held.
void retire_from(ExecutableState& executable, const PayloadShare& payload) noexcept;

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

void keep_update(ExecutableState& executable, CUgraphNode node, PayloadShare payload) noexcept {
    auto [replaced, is_used] =
        executable.owners->keep(node, std::move(payload), executable.launches);
    if (executable.has_user_object || executable.is_shared) {
        executable.owners->keep_replaced(std::move(replaced)); // others may launch it
    } else if (is_used) {
        retire_from(executable, replaced);
    }
}

void replace_owners(ExecutableState& executable, OwnersShare owners) noexcept {
    const OwnersShare replaced = std::exchange(executable.owners, std::move(owners));
    const bool is_used =
        std::exchange(executable.owned_at, executable.launches) != executable.launches;
    if (executable.has_user_object) {
        return; // the driver keeps it
    }
    if (executable.is_shared || is_used) {
        retire_from(executable, replaced.payload());
    }
}

std::shared_ptr<EventState> make_mark(const StreamState& queue) {
    const auto context = context_state_of(queue);
    const driver::Current current(context->handle);
    return Access::state(make_event(context, CU_EVENT_DISABLE_TIMING));
}

OwnersShare owners_from(GraphState& definition) {
    return OwnersShare(std::make_shared<ExecutableOwners>(payloads_in(definition)));
}

ExecutableState::~ExecutableState() {
    if (handle == nullptr) {
        return;
    }
    forget_executable(handle);
    EndedExecutable ended{
        {handle, std::move(home), made_at, is_shared, std::move(mark), std::move(unmarked)},
        std::move(owners),
        has_user_object};
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
    if (!has_user_object) {
        marks.retire_behind(owners.payload());
    }
    owners = OwnersShare();
    {
        const driver::RelaxedCapture relaxed;
        driver::release_now("executable graph", driver::table().cuGraphExecDestroy, marks.handle);
    }
    marks.unmarked = nullptr; // the last share destroys the stream
    release_payloads();
}

void retire_from(ExecutableState& executable, const PayloadShare& payload) noexcept {
    LaunchMarks marks{executable.handle,          executable.home,
                      executable.made_at,         executable.is_shared,
                      std::move(executable.mark), std::move(executable.unmarked)};
    marks.retire_behind(payload);
    executable.mark = std::move(marks.mark);
    executable.unmarked = std::move(marks.unmarked);
}

void LaunchMarks::retire_behind(const PayloadShare& payload) noexcept {
    if (payload == nullptr || driver::is_leaving()) {
        return;
    }
    if (unmarked != nullptr && unmarked->is_lost()) {
        unmarked = nullptr; // a reset ended the launches
        mark = nullptr;
    }
    const driver::RelaxedCapture relaxed;
    bool may_wait = false;
    try {
        if (is_shared || (unmarked != nullptr && is_capturing(*unmarked))) {
            make_mark_behind_all();
        } else if (unmarked != nullptr) {
            may_wait = true;
            auto made = make_mark(*unmarked);
            driver::call(driver::table().cuEventRecord, made->handle, unmarked->handle);
            mark = std::move(made);
        }
        unmarked = nullptr;
        retire(payload, mark);
    } catch (const std::exception& error) {
        warn(WarningKind::Release,
             std::string("the end of a graph launch could not be marked: ") + error.what());
        if (!may_wait) {
            static_cast<void>(PayloadShare(payload).release()); // kept for good
            return;
        }
        // If waiting fails as well, the context has failed and the launch with it.
        driver::release_now("launch of a graph", driver::table().cuStreamSynchronize,
                            unmarked->handle);
        unmarked = nullptr;
        mark = nullptr;
    }
}

void LaunchMarks::make_mark_behind_all() {
    if (!is_intact(home, made_at)) {
        mark = nullptr; // a reset ended the launches
        return;
    }
    // Others may have launched it anywhere, and nothing may be recorded into a capture. An upload
    // is ordered behind all launches.
    const Stream queue = Stream::create(Access::make<Context>(home));
    driver::call(driver::table().cuGraphUpload, handle, handle_of(queue));
    mark = Access::state(queue.record());
}

} // namespace

} // namespace cuprum::detail
