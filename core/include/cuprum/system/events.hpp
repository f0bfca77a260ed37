// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Waiting for events: of one device (Device::register_events) or of the system (register_events).

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>
#include <cuprum/system/device.hpp>
#include <cuprum/system/enums.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuprum::system {

/// An event of a device.
struct EventData {
    Device device;                    // where it happened
    EventType type = EventType::None; // what happened
    /// What is known about an Xid error; empty for other events.
    std::optional<std::uint64_t> xid;
    std::optional<unsigned> gpu_instance_id;     // with MIG
    std::optional<unsigned> compute_instance_id; // with MIG
};

/// Events of one device that are recorded, from Device::register_events().
///
/// Copies share them. Recording ends with the last copy. Any thread may wait.
///
/// @code
/// const std::vector<cuprum::system::EventType> types{cuprum::system::EventType::XidCriticalError};
/// cuprum::system::DeviceEvents events = cuprum::system::Device(0).register_events(types);
/// events.close(); // or wait for one: events.wait(std::chrono::seconds(10))
/// @endcode
class CUPRUM_API DeviceEvents {
public:
    /// Blocks until an event happens and returns it. Nothing means that there is no limit.
    /// @throws NVMLError of the kind TIMEOUT if none does, GPU_IS_LOST if the device is gone.
    [[nodiscard]] EventData
    wait(std::optional<std::chrono::milliseconds> timeout = std::nullopt) const;

    /// Gives up this copy's share. Calling it again does nothing.
    void close() noexcept { set_.reset(); }

private:
    friend class Device;

    DeviceEvents(::nvmlDevice_st* device, std::span<const EventType> types);

    std::shared_ptr<::nvmlEventSet_st> set_;
};

/// An event of the system.
struct SystemEvent {
    SystemEventType type; // what happened
    unsigned gpu_id = 0;  // as the driver numbers the device, by its PCI address

    /// Returns the device. One that left the driver is not found.
    [[nodiscard]] CUPRUM_API Device device() const;
};

/// Events of the system that are recorded, from register_events().
///
/// @code
/// const std::vector<cuprum::system::SystemEventType> types{cuprum::system::SystemEventType::Bind};
/// const cuprum::system::SystemEvents events = cuprum::system::register_events(types);
/// for (const cuprum::system::SystemEvent& event : events.wait(std::chrono::seconds(10))) {
///     std::puts(event.device().name().c_str());
/// }
/// @endcode
class CUPRUM_API SystemEvents {
public:
    /// Blocks until events happen and returns them, `max_count` at most.
    /// @throws NVMLError of the kind TIMEOUT if none does; std::invalid_argument if `max_count` is
    /// 0.
    [[nodiscard]] std::vector<SystemEvent>
    wait(std::optional<std::chrono::milliseconds> timeout = std::nullopt,
         unsigned max_count = 1) const;

    /// Gives up this copy's share. Calling it again does nothing.
    void close() noexcept { set_.reset(); }

private:
    friend SystemEvents CUPRUM_API register_events(std::span<const SystemEventType> types);

    explicit SystemEvents(std::span<const SystemEventType> types);

    std::shared_ptr<::nvmlSystemEventSet_st> set_;
};

/// Starts to record events of the system. Earlier ones are not seen.
[[nodiscard]] CUPRUM_API SystemEvents register_events(std::span<const SystemEventType> types);

} // namespace cuprum::system
