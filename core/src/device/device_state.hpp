// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "driver/table.hpp"
#include "support/once.hpp"

#include <cuprum/device.hpp>
#include <cuprum/memory_resource.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::detail {

/// The priorities that streams of a device can have; lower runs first.
struct PriorityRange {
    int lowest = 0;  // the largest number
    int highest = 0; // the smallest number
};

/// The cached facts of one device. The process has one per device and never destroys it, because a
/// `Device` is a pointer to it.
struct DeviceState {
    static constexpr int ATTRIBUTE_SLOTS = 192; // CUDA 13.0 has numbers up to 147
    static constexpr std::int64_t UNREAD = std::numeric_limits<std::int64_t>::min();

    CUdevice handle;
    int ordinal;
    Lazy<std::shared_ptr<ContextState>> primary;
    Lazy<std::shared_ptr<MemoryResource>> memory_resource; // see Device::memory_resource
    Lazy<PriorityRange> priorities;
    std::atomic<unsigned> retained = 0; // how often we retained the primary context: once a reset
    Lazy<std::string> name;
    std::array<std::atomic<std::int64_t>, ATTRIBUTE_SLOTS> attributes; // cached, or UNREAD

    DeviceState(CUdevice device, int number);
};

using DeviceList = std::vector<std::unique_ptr<DeviceState>>;

// NOTE: never destroyed at exit: a Device is a pointer into it and owns nothing.
extern std::atomic<const DeviceList*> device_list; // null before the first call of devices()

/// Asks the driver which devices there are.
[[nodiscard, gnu::cold]] const DeviceList& list_devices();

/// Returns all devices in order, initialising the driver on the first call.
[[nodiscard]] inline const DeviceList& devices() {
    const DeviceList* const list = device_list.load(std::memory_order_acquire);
    return list != nullptr ? *list : list_devices();
}

/// Returns whether the machine has exactly one device. Costs one load if it has.
[[nodiscard]] inline bool has_one_device() {
    return driver::detail::process_flags.has_one_device.load(std::memory_order_relaxed) ||
           devices().size() == 1;
}

/// Returns the state of a device by the driver's handle.
[[nodiscard]] DeviceState& device_state(CUdevice handle);

/// Returns the primary context, retained on first use and kept.
[[nodiscard]] const std::shared_ptr<ContextState>& primary_context(DeviceState& device);

/// Returns the primary context if it is current, else null. Callers then need not query the current
/// context again.
[[nodiscard]] inline const std::shared_ptr<ContextState>*
current_primary(const DeviceState& device) {
    const auto* primary = device.primary.peek();
    if (primary == nullptr) [[unlikely]] {
        return nullptr;
    }
    CUcontext current = nullptr;
    driver::call(driver::table().cuCtxGetCurrent, &current);
    return (*primary)->handle == current ? primary : nullptr;
}

/// Returns the context that methods of a device act in: the current one if it belongs to the
/// device, else the primary one.
[[nodiscard]] std::shared_ptr<ContextState> context_for(DeviceState& device);

/// Returns an attribute's value, from the cache unless it can change; nothing if the driver does
/// not know it.
[[nodiscard]] std::optional<int> find_attribute(DeviceState& device, int attribute);

/// Returns an attribute's value.
/// @throws CUDAError if the driver does not know it.
[[nodiscard]] int attribute(DeviceState& device, int attribute);

[[nodiscard]] PriorityRange priority_range(DeviceState& device);

/// Returns the priority of a stream or launch on a device: `wanted`, or the lowest if it is unset.
/// Messages call it `name`.
/// @throws std::invalid_argument if the priority is out of the device's range.
[[nodiscard]] int checked_priority(DeviceState& device, const std::optional<int>& wanted,
                                   const char* name = "priority");

/// Releases the primary contexts and forgets all devices, for tests that replace the driver table.
/// No Device, and no object created from one, may exist.
void reset_devices();

} // namespace cuprum::detail

namespace cuprum::driver {

/// Returns whether code is compiled for an emulated device. Without a driver or a device it returns
/// false, because compiling for another machine needs neither.
[[nodiscard]] bool is_device_emulated();

} // namespace cuprum::driver

namespace cuprum::detail {

/// The driver's description of some resource of a device. Plain data: nothing is released.
struct ResourceState {
    CUdevResource resource{};
    Device device;
    bool is_usable = true; // false after a dry run
};

} // namespace cuprum::detail
