// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Events: kernels that failed in any process, as XIDs.
//
// Processes append them to the file that the devices share (usage/board.hpp). A set remembers which
// events it has seen, and a waiting thread looks for new ones every few milliseconds.

#include "library.hpp"
#include "row.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

namespace nvml_abi {

/// One device of a set, and the newest event when it was added.
struct EventRegistration {
    unsigned int index;
    unsigned long long types;
    std::uint64_t since;
};

struct nvmlEventSet_st {
    std::mutex mutex;
    std::vector<EventRegistration> registrations;
    std::uint64_t seen = 0;
};

} // namespace nvml_abi

using namespace cuprum::nvml;
using cuprum::emulator::usage::FailureEvent;

namespace {

constexpr unsigned long long SUPPORTED_EVENTS = nvmlEventTypeXidCriticalError;
constexpr std::chrono::milliseconds LOOK_INTERVAL{5};
constexpr unsigned int NOT_A_MIG_DEVICE = 0xffffffff;

std::mutex event_sets_mutex;
[[maybe_unused]] const bool are_event_sets_ready = keep_unlocked_in_children<event_sets_mutex>();

/// The sets that exist. A waiting thread keeps its set alive.
std::map<nvmlEventSet_t, std::shared_ptr<nvmlEventSet_st>>& event_sets() {
    static auto* const sets = new std::map<nvmlEventSet_t, std::shared_ptr<nvmlEventSet_st>>;
    return *sets;
}

std::shared_ptr<nvmlEventSet_st> event_set_of(nvmlEventSet_t set) {
    const std::lock_guard lock(event_sets_mutex);
    const auto found = event_sets().find(set);
    require(found != event_sets().end());
    return found->second;
}

/// Takes the next event that somebody registered for.
bool take_event(const State& state, nvmlEventSet_st& set, nvmlEventData_t& data) {
    const std::lock_guard lock(set.mutex);
    for (const FailureEvent& event : state.board().events_after(set.seen)) {
        set.seen = event.number;
        const bool is_wanted = std::ranges::any_of(set.registrations, [&](const auto& each) {
            return each.index == event.device && event.number > each.since &&
                   (each.types & nvmlEventTypeXidCriticalError) != 0;
        });
        if (is_wanted && event.device < state.settings.device_count) {
            data = {.device = handle_of(event.device),
                    .eventType = nvmlEventTypeXidCriticalError,
                    .eventData = event.xid,
                    .gpuInstanceId = NOT_A_MIG_DEVICE,
                    .computeInstanceId = NOT_A_MIG_DEVICE};
            return true;
        }
    }
    return false;
}

} // namespace

ROW(nvmlEventSetCreate, const State& state, nvmlEventSet_t& set) {
    const auto made = std::make_shared<nvmlEventSet_st>();
    made->seen = state.board().newest_event();
    const std::lock_guard lock(event_sets_mutex);
    event_sets().emplace(made.get(), made);
    set = made.get();
}

ROW(nvmlEventSetFree, nvmlEventSet_t set) {
    const std::lock_guard lock(event_sets_mutex);
    require(event_sets().erase(set) != 0);
}

ALIAS(nvmlDeviceGetSupportedEventTypes, constant<SUPPORTED_EVENTS>);

ROW(nvmlDeviceRegisterEvents, const State& state, Index index, unsigned long long event_types,
    nvmlEventSet_t set) {
    const auto events = event_set_of(set);
    require((event_types & ~nvmlEventTypeAll) == 0);
    if ((event_types & ~SUPPORTED_EVENTS) != 0) {
        fail(NVML_ERROR_NOT_SUPPORTED);
    }
    const std::lock_guard lock(events->mutex);
    events->registrations.push_back({index, event_types, state.board().newest_event()});
}

ROW(nvmlEventSetWait_v2, const State& state, nvmlEventSet_t set, nvmlEventData_t& data,
    unsigned int timeout_ms) {
    const auto events = event_set_of(set);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!take_event(state, *events, data)) {
        const auto left = deadline - std::chrono::steady_clock::now();
        if (left <= std::chrono::nanoseconds(0)) {
            fail(NVML_ERROR_TIMEOUT);
        }
        std::this_thread::sleep_for(
            std::min<std::chrono::steady_clock::duration>(left, LOOK_INTERVAL));
    }
}

ALIAS(nvmlEventSetWait, nvmlEventSetWait_v2);
