// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/executable_state.hpp"

#include "driver/capture.hpp"
#include "graph/executables.hpp"
#include "graph/retired_payloads.hpp"
#include "stream/stream_state.hpp"

#include <exception>
#include <utility>

namespace cuprum::detail {

namespace {

/// What is left of an executable whose last share went.
struct EndedExecutable {
    CUgraphExec handle;
    std::shared_ptr<ContextState> home;
    unsigned made_at;
    OwnersShare owners;
    std::shared_ptr<EventState> mark;
    bool has_user_object;
    bool is_shared;

    void end() noexcept;
};

/// Retires what an executable kept, whose handle others know.
void retire_shared(CUgraphExec handle, const std::shared_ptr<ContextState>& home, unsigned made_at,
                   const PayloadShare& payload) noexcept;

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
        retire(std::move(replaced), executable.mark);
    }
}

void replace_owners(ExecutableState& executable, OwnersShare owners) noexcept {
    const OwnersShare replaced = std::exchange(executable.owners, std::move(owners));
    const bool is_used =
        std::exchange(executable.owned_at, executable.launches) != executable.launches;
    if (executable.has_user_object) {
        return; // the driver keeps it
    }
    if (executable.is_shared) {
        retire_shared(executable.handle, executable.home, executable.made_at, replaced.payload());
    } else if (is_used) {
        retire(replaced.payload(), executable.mark);
    }
}

OwnersShare owners_from(GraphState& definition) {
    return OwnersShare(std::make_shared<ExecutableOwners>(payloads_in(definition)));
}

ExecutableState::~ExecutableState() {
    if (handle == nullptr) {
        return;
    }
    forget_executable(handle);
    EndedExecutable ended{handle,          std::move(home), made_at,  std::move(owners),
                          std::move(mark), has_user_object, is_shared};
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
    if (is_shared && !has_user_object) {
        retire_shared(handle, home, made_at, owners.payload());
    } else if (!has_user_object) {
        retire(owners.payload(), mark);
    }
    owners = OwnersShare();
    {
        const driver::RelaxedCapture relaxed;
        driver::release_now("executable graph", driver::table().cuGraphExecDestroy, handle);
    }
    release_payloads();
}

void retire_shared(CUgraphExec handle, const std::shared_ptr<ContextState>& home, unsigned made_at,
                   const PayloadShare& payload) noexcept {
    if (!is_intact(home, made_at) || driver::is_leaving()) {
        return; // a reset ended the launches
    }
    try {
        // Others may have launched it anywhere. An upload is ordered behind all launches.
        const driver::RelaxedCapture relaxed;
        const Stream queue = Stream::create(Access::make<Context>(home));
        driver::call(driver::table().cuGraphUpload, handle, handle_of(queue));
        retire(payload, Access::state(queue.record()));
    } catch (...) {
        static_cast<void>(PayloadShare(payload).release()); // kept for good: a launch may use it
        driver::report_release_failure("what an executable graph keeps alive");
    }
}

} // namespace

} // namespace cuprum::detail
