// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/events.hpp>

#include "system/query.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace cuprum::system {

using namespace nvml_abi;
using Milliseconds = std::chrono::milliseconds;

namespace {

nvmlEventSet_t native_set(::nvmlEventSet_st* set) noexcept {
    return reinterpret_cast<nvmlEventSet_t>(set);
}

nvmlSystemEventSet_t native_set(::nvmlSystemEventSet_st* set) noexcept {
    return reinterpret_cast<nvmlSystemEventSet_t>(set);
}

/// Frees a set. NVML may be gone, or the device: nobody can do anything about it.
struct FreeSet {
    void operator()(::nvmlEventSet_st* set) const noexcept {
        static_cast<void>(nvml::table().nvmlEventSetFree(native_set(set)));
    }

    void operator()(::nvmlSystemEventSet_st* set) const noexcept {
        nvmlSystemEventSetFreeRequest_t request{};
        request.version = nvmlSystemEventSetFreeRequest_v1;
        request.set = native_set(set);
        static_cast<void>(nvml::table().nvmlSystemEventSetFree(&request));
    }
};

template <typename Type>
unsigned long long mask_of(std::span<const Type> types) {
    unsigned long long mask = 0;
    for (const Type type : types) {
        mask |= static_cast<unsigned long long>(type);
    }
    return mask;
}

/// Waits in steps that NVML can count. `wait(ms)` returns NVML's code for one step.
template <typename Wait>
nvmlReturn_t wait_for(std::optional<Milliseconds> timeout, const Wait& wait) {
    using Clock = std::chrono::steady_clock;
    constexpr Milliseconds max_step = std::chrono::hours(1);
    if (timeout && timeout->count() < 0) {
        throw std::invalid_argument("timeout is " + std::to_string(timeout->count()) +
                                    " ms, expected at least 0");
    }
    // A longer time does not fit into the clock: milliseconds::max() is one.
    constexpr Milliseconds max_wait = std::chrono::hours(24 * 365 * 100);
    const auto end = Clock::now() + std::min(timeout.value_or(Milliseconds()), max_wait);
    for (;;) {
        Milliseconds left = max_step;
        if (timeout) {
            left = std::clamp(std::chrono::ceil<Milliseconds>(end - Clock::now()), Milliseconds(),
                              max_step);
        }
        const nvmlReturn_t status = wait(static_cast<unsigned>(left.count()));
        if (status != NVML_ERROR_TIMEOUT || (timeout && Clock::now() >= end)) {
            return status;
        }
    }
}

template <typename Set>
void check_open(const std::shared_ptr<Set>& set, const char* what) {
    if (set == nullptr) {
        throw ClosedError(what);
    }
}

} // namespace

DeviceEvents::DeviceEvents(::nvmlDevice_st* device, std::span<const EventType> types) {
    nvmlEventSet_t set{};
    nvml::call(nvml::table().nvmlEventSetCreate, &set);
    set_.reset(reinterpret_cast<::nvmlEventSet_st*>(set), FreeSet());
    const auto& entry = nvml::table().nvmlDeviceRegisterEvents;
    const nvmlReturn_t status = nvml::try_call(entry, native(device), mask_of(types), set);
    if (status != NVML_SUCCESS) {
        nvml::raise(status, entry.name,
                    status == NVML_ERROR_NOT_SUPPORTED
                        ? "this device does not have one of the events; "
                          "Device::supported_event_types() lists those that it has"
                        : "");
    }
}

EventData DeviceEvents::wait(std::optional<Milliseconds> timeout) const {
    check_open(set_, "DeviceEvents");
    const std::shared_ptr<::nvmlEventSet_st> set = set_; // closing this object does not free it now
    const auto& entry = nvml::table().nvmlEventSetWait_v2;
    nvmlEventData_t data{};
    const nvmlReturn_t status = wait_for(timeout, [&](unsigned milliseconds) {
        return nvml::try_call(entry, native_set(set.get()), &data, milliseconds);
    });
    if (status != NVML_SUCCESS) {
        nvml::raise(status, entry.name);
    }
    EventData event{Device::from_handle(handle_of(data.device)),
                    static_cast<EventType>(data.eventType), std::nullopt, std::nullopt,
                    std::nullopt};
    if (event.type == EventType::XidCriticalError) {
        constexpr unsigned no_instance = std::numeric_limits<unsigned>::max();
        event.xid = data.eventData;
        if (data.gpuInstanceId != no_instance) {
            event.gpu_instance_id = data.gpuInstanceId;
        }
        if (data.computeInstanceId != no_instance) {
            event.compute_instance_id = data.computeInstanceId;
        }
    }
    return event;
}

Device SystemEvent::device() const {
    // The driver packs domain, bus and device into one number.
    std::array<char, 32> address{};
    std::snprintf(address.data(), address.size(), "%08x:%02x:%02x.0", gpu_id >> 16U,
                  gpu_id >> 8U & 0xffU, gpu_id & 0xffU);
    return Device::from_pci_bus_id(address.data());
}

SystemEvents::SystemEvents(std::span<const SystemEventType> types) {
    nvmlSystemEventSetCreateRequest_t created{};
    created.version = nvmlSystemEventSetCreateRequest_v1;
    nvml::call(nvml::table().nvmlSystemEventSetCreate, &created);
    set_.reset(reinterpret_cast<::nvmlSystemEventSet_st*>(created.set), FreeSet());
    nvmlSystemRegisterEventRequest_t request{};
    request.version = nvmlSystemRegisterEventRequest_v1;
    request.eventTypes = mask_of(types);
    request.set = created.set;
    nvml::call(nvml::table().nvmlSystemRegisterEvents, &request);
}

std::vector<SystemEvent> SystemEvents::wait(std::optional<Milliseconds> timeout,
                                            unsigned max_count) const {
    check_open(set_, "SystemEvents");
    if (max_count == 0) {
        throw std::invalid_argument("the count of events is 0, expected at least 1");
    }
    const std::shared_ptr<::nvmlSystemEventSet_st> set = set_;
    const auto& entry = nvml::table().nvmlSystemEventSetWait;
    std::vector<nvmlSystemEventData_v1_t> data(max_count);
    nvmlSystemEventSetWaitRequest_t request{};
    const nvmlReturn_t status = wait_for(timeout, [&](unsigned milliseconds) {
        request = {};
        request.version = nvmlSystemEventSetWaitRequest_v1;
        request.timeoutms = milliseconds;
        request.set = native_set(set.get());
        request.data = data.data();
        request.dataSize = max_count;
        return nvml::try_call(entry, &request);
    });
    if (status != NVML_SUCCESS) {
        nvml::raise(status, entry.name);
    }
    std::vector<SystemEvent> events;
    for (unsigned i = 0; i < std::min(request.numEvent, max_count); ++i) {
        events.push_back({static_cast<SystemEventType>(data[i].eventType), data[i].gpuId});
    }
    return events;
}

SystemEvents register_events(std::span<const SystemEventType> types) {
    return SystemEvents(types);
}

} // namespace cuprum::system
