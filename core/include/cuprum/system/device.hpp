// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// GPUs as the management library (NVML) knows them: what they are, how busy, how hot, who uses
// them.
//
// Nothing here starts CUDA. A function throws NVMLError if NVML refuses the call: code() is an
// nvmlReturn_t, NOT_SUPPORTED (3) for what the device does not have. It throws LibraryNotFoundError
// if there is no NVML.

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>
#include <cuprum/device.hpp>
#include <cuprum/system/enums.hpp>
#include <cuprum/system/field_value.hpp>
#include <cuprum/system/values.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::system {

class Clock;
class DeviceEvents;
class Ecc;
class Fan;
class Inforom;
class Mig;
class NvLink;
class PciInfo;
class Power;
class Temperature;

/// One GPU, or a MIG device, as NVML knows it. A plain value that owns nothing.
///
/// Any thread may use it. After a fork the child may use it too.
///
/// @code
/// const cuprum::system::Device gpu(0);
/// const cuprum::system::MemoryInfo memory = gpu.memory_info();
/// std::cout << gpu.name() << ": " << memory.free << " bytes free\n";
/// @endcode
class CUPRUM_API Device {
public:
    /// Selects a device by NVML's index, which may differ from the ordinal of cuprum::Device.
    /// @throws std::invalid_argument if it is negative, NVMLError if there is no such device.
    explicit Device(int index);

    /// Selects a device by its UUID, with or without the prefix "GPU-" or "MIG-".
    [[nodiscard]] static Device from_uuid(std::string_view uuid);
    /// Selects a device by its PCI address: "0000:65:00.0", or with a domain of eight digits.
    [[nodiscard]] static Device from_pci_bus_id(std::string_view pci_bus_id);
    /// Selects a device by the serial number of its board.
    /// @throws NVMLError of the kind NOT_FOUND; std::invalid_argument if several devices are on the
    /// board.
    [[nodiscard]] static Device from_serial(std::string_view serial);

    /// Wraps a handle of NVML.
    [[nodiscard]] static Device from_handle(::nvmlDevice_st* handle) noexcept {
        return Device(handle);
    }

    /// Returns the number of devices that NVML sees.
    [[nodiscard]] static unsigned count();
    /// Returns all devices, in NVML's order.
    [[nodiscard]] static std::vector<Device> all();
    /// Returns the devices that are near a CPU.
    [[nodiscard]] static std::vector<Device> with_cpu_affinity(unsigned cpu);

    /// Returns the handle of NVML.
    [[nodiscard]] ::nvmlDevice_st* handle() const noexcept { return handle_; }

    /// Returns the same device as CUDA knows it. Starts the driver.
    /// @throws std::runtime_error if CUDA does not see it, as with CUDA_VISIBLE_DEVICES or MIG.
    [[nodiscard]] cuprum::Device to_cuda_device() const;

    // ---- identity --------------------------------------------------------------------------

    /// Returns the number that NVML has for the device.
    [[nodiscard]] unsigned index() const;
    /// Returns the UUID with its prefix, "GPU-" or "MIG-".
    [[nodiscard]] std::string uuid() const;
    /// Returns the UUID as CUDA writes it.
    [[nodiscard]] std::string uuid_without_prefix() const;
    /// Returns the address on the bus, such as "00000000:01:00.0".
    [[nodiscard]] std::string pci_bus_id() const;
    /// Returns the name of the device.
    [[nodiscard]] std::string name() const;
    /// Returns the brand, "Unknown" for one that is not known here.
    [[nodiscard]] std::string_view brand() const;
    /// Returns the number on the board.
    [[nodiscard]] std::string serial() const;
    /// Returns the version of the firmware.
    [[nodiscard]] std::string vbios_version() const;
    /// Returns the architecture.
    [[nodiscard]] DeviceArch arch() const;
    /// Returns the compute capability.
    [[nodiscard]] ComputeCapability compute_capability() const;
    /// Returns the number in the name of the device file, /dev/nvidia0.
    [[nodiscard]] unsigned minor_number() const;
    /// Returns the number of the module on the board.
    [[nodiscard]] unsigned module_id() const;
    /// Returns the NUMA node that the device's memory is, on systems that make it one.
    [[nodiscard]] int numa_node_id() const;
    /// Returns what a part of a device has (MIG).
    [[nodiscard]] DeviceAttributes attributes() const;
    /// Returns the place on the bus, and its speed.
    [[nodiscard]] PciInfo pci_info() const;
    /// Returns what the board stores about itself.
    [[nodiscard]] Inforom inforom() const noexcept;
    /// Returns the partition of the device (MIG).
    [[nodiscard]] Mig mig() const noexcept;

    // ---- modes -----------------------------------------------------------------------------

    /// Returns whether the driver stays loaded without programs.
    [[nodiscard]] bool is_persistence_mode_enabled() const;
    /// Keeps the driver loaded while no program uses the device. Needs root.
    void set_persistence_mode_enabled(bool enabled) const;
    /// Returns whether the chip-to-chip link is in use.
    [[nodiscard]] bool is_c2c_enabled() const;
    /// Returns nothing if the device cannot address memory that the system allocated.
    [[nodiscard]] std::optional<AddressingMode> addressing_mode() const;
    /// Returns whether a display is connected.
    [[nodiscard]] bool is_display_connected() const;
    /// Returns whether a display shows something.
    [[nodiscard]] bool is_display_active() const;
    /// Returns which repairs of the memory are pending.
    [[nodiscard]] RepairStatus repair_status() const;
    /// Returns the counters of memory errors.
    [[nodiscard]] Ecc ecc() const noexcept;

    // ---- load ------------------------------------------------------------------------------

    /// Returns how much memory there is, and how much of it is free.
    [[nodiscard]] MemoryInfo memory_info() const;
    /// Returns how much memory the host can map, and how much of it is free.
    [[nodiscard]] BAR1MemoryInfo bar1_memory_info() const;
    /// Returns how busy the processors and the memory are.
    [[nodiscard]] Utilization utilization() const;
    /// Returns how busy the video encoder is.
    [[nodiscard]] EngineUtilization encoder_utilization() const;
    /// Returns how busy the video decoder is.
    [[nodiscard]] EngineUtilization decoder_utilization() const;
    /// Returns the processes that compute on the device. It may change at any time.
    [[nodiscard]] std::vector<ProcessInfo> compute_running_processes() const;
    /// Returns the processes that draw.
    [[nodiscard]] std::vector<ProcessInfo> graphics_running_processes() const;
    /// Returns the processes that compute through the Multi-Process Service.
    [[nodiscard]] std::vector<ProcessInfo> mps_compute_running_processes() const;
    /// Returns how busy each process kept the device: samples that are newer than `since_us`,
    /// microseconds since 1970. 0 means all that the driver keeps. Empty if there are none.
    [[nodiscard]] std::vector<ProcessUtilization>
    process_utilization(std::uint64_t since_us = 0) const;

    // ---- clocks, power, temperature --------------------------------------------------------

    /// Returns one of the clocks.
    [[nodiscard]] Clock clock(ClockType type) const noexcept;
    /// Returns whether the clocks rise by themselves.
    [[nodiscard]] AutoBoost auto_boosted_clocks() const;
    /// Returns why clocks are lower than they could be now; see explain().
    [[nodiscard]] std::vector<ClockEventReason> clock_event_reasons() const;
    /// Returns the reasons for slow clocks that the device can report.
    [[nodiscard]] std::vector<ClockEventReason> supported_clock_event_reasons() const;
    /// Returns the performance state, 0 (fastest) to 15; nothing if it is not known.
    [[nodiscard]] std::optional<int> performance_state() const;
    /// Returns the performance states that the device has.
    [[nodiscard]] std::vector<int> supported_pstates() const;
    /// Returns how busy each part is in the current performance state.
    [[nodiscard]] DynamicPStates dynamic_pstates() const;
    /// Returns the power that the device draws, and its limits.
    [[nodiscard]] Power power() const noexcept;
    /// Returns the temperatures of the device.
    [[nodiscard]] Temperature temperature() const noexcept;
    /// Returns what cools the device.
    [[nodiscard]] CoolerInfo cooler() const;
    /// Returns how many fans the device has, 0 if it has none of its own.
    [[nodiscard]] unsigned num_fans() const;
    /// @throws std::invalid_argument if there is no such fan; the text shows the range.
    [[nodiscard]] Fan fan(unsigned index = 0) const;

    // ---- links and neighbours --------------------------------------------------------------

    /// Returns how many NVLink connections the device can have.
    [[nodiscard]] unsigned nvlink_count() const;
    /// @throws std::invalid_argument if there is no such link; the text shows the range.
    [[nodiscard]] NvLink nvlink(unsigned link) const;
    /// Returns the NVLink connections.
    [[nodiscard]] std::vector<NvLink> nvlinks() const;
    /// Returns the CPUs near the device.
    [[nodiscard]] std::vector<unsigned>
    cpu_affinity(AffinityScope scope = AffinityScope::Node) const;
    /// Returns the NUMA nodes near the device.
    [[nodiscard]] std::vector<unsigned>
    memory_affinity(AffinityScope scope = AffinityScope::Node) const;
    /// Binds the calling thread to the CPUs near the device.
    void set_cpu_affinity() const;
    /// Lets the calling thread run on any CPU again.
    void clear_cpu_affinity() const;
    /// Returns the devices that share a level of the topology with this one.
    [[nodiscard]] std::vector<Device> topology_nearest_gpus(GpuTopologyLevel level) const;

    // ---- fields and events -----------------------------------------------------------------

    /// Reads several fields at once. Each may fail on its own: see FieldValue::validate().
    [[nodiscard]] std::vector<FieldValue> field_values(std::span<const FieldQuery> fields) const;
    /// Sets counters to 0, where the device allows that.
    void clear_field_values(std::span<const FieldQuery> fields) const;
    /// Starts to record events. Earlier ones are not seen. Include <cuprum/system/events.hpp>.
    [[nodiscard]] DeviceEvents register_events(std::span<const EventType> types) const;
    /// Returns the events that the device can report.
    [[nodiscard]] std::vector<EventType> supported_event_types() const;

    friend bool operator==(const Device&, const Device&) = default;

private:
    explicit Device(::nvmlDevice_st* handle) noexcept : handle_(handle) {}

    ::nvmlDevice_st* handle_;
};

/// Returns where the paths of two devices meet.
[[nodiscard]] CUPRUM_API GpuTopologyLevel topology_common_ancestor(const Device& first,
                                                                   const Device& second);

/// Returns whether one device can reach the other in a given way.
[[nodiscard]] CUPRUM_API GpuP2PStatus p2p_status(const Device& first, const Device& second,
                                                 GpuP2PCapsIndex index);

/// Returns the handle for messages and logs. Makes no call of NVML.
[[nodiscard]] CUPRUM_API std::string to_string(const Device& device);

} // namespace cuprum::system

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::system::Device> {
    [[nodiscard]] std::size_t operator()(const cuprum::system::Device& device) const noexcept {
        return std::hash<const void*>()(device.handle());
    }
};
