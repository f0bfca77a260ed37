// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The enumerations of cuprum::system. Values are those of NVML. A newer NVML may return values that
// have no enumerator here; they are kept, and to_string() calls them "unknown".

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace cuprum::system {

using cuprum::operator<<;

/// How a device addresses memory that the system allocated (`malloc`, `mmap`).
enum class AddressingMode {
    HMM = 1, // the driver mirrors the page tables of the CPU
    ATS = 2, // CPU and GPU share one set of page tables
};

/// How near CPUs and memory must be to a device.
enum class AffinityScope {
    Node = 0,
    Socket = 1,
};

/// Which value of a clock is meant.
enum class ClockId {
    Current = 0,
    CustomerBoostMax = 3, // the maximum that the manufacturer set
};

/// A clock of a device.
enum class ClockType {
    Graphics = 0,
    SM = 1, // multiprocessors
    Memory = 2,
    Video = 3, // encoders and decoders
};

/// Why clocks are lower than they could be; explain() says it in words. Each is one bit.
enum class ClockEventReason : unsigned long long {
    None = 0,
    GpuIdle = 1,
    ApplicationsClocksSetting = 2,
    SwPowerCap = 4,
    HwSlowdown = 8,
    SyncBoost = 16,
    SwThermalSlowdown = 32,
    HwThermalSlowdown = 64,
    HwPowerBrakeSlowdown = 128,
    DisplayClockSetting = 256,
};

/// How a cooler is controlled.
enum class CoolerControl {
    Toggle = 1,   // on or off
    Variable = 2, // at any level between two limits
};

/// What a cooler cools. Each is one bit.
enum class CoolerTarget {
    None = 1,
    Gpu = 2,
    Memory = 4,
    PowerSupply = 8,
};

/// The architecture of a device. Newer ones have larger numbers.
enum class DeviceArch : unsigned {
    Kepler = 2,
    Maxwell = 3,
    Pascal = 4,
    Volta = 5,
    Turing = 6,
    Ampere = 7,
    Ada = 8,
    Hopper = 9,
    Blackwell = 10,
    Unknown = 0xffffffff,
};

/// Since when errors of memory are counted.
enum class EccCounter {
    Volatile = 0,  // since the driver was loaded
    Aggregate = 1, // since the device was made
};

/// An event of one device. Each is one bit.
enum class EventType : unsigned long long {
    None = 0,
    SingleBitEccError = 1,
    DoubleBitEccError = 2,
    PState = 4, // the performance state changed
    XidCriticalError = 8,
    Clock = 16,
    PowerSourceChange = 128,
    MigConfigChange = 256,
    SingleBitEccErrorStorm = 512,
    DramRetirementEvent = 1024,
    DramRetirementFailure = 2048,
    NonFatalPoisonError = 4096,
    FatalPoisonError = 8192,
    GpuUnavailableError = 16384,
    GpuRecoveryAction = 32768,
};

/// Who sets the speed of a fan.
enum class FanControlPolicy {
    TemperatureControlled = 0, // the driver
    Manual = 1,                // the user
};

/// A way for two devices to reach each other.
enum class GpuP2PCapsIndex {
    Read = 0,
    Write = 1,
    NvLink = 2,
    Atomics = 3,
    Pci = 4, // over PCIe
    Unknown = 5,
};

/// Whether two devices can reach each other.
enum class GpuP2PStatus {
    Ok = 0,
    ChipsetNotSupported = 1,
    GpuNotSupported = 2,
    IohTopologyNotSupported = 3,
    DisabledByRegkey = 4,
    NotSupported = 5,
    Unknown = 6,
};

/// The nearest place where the paths of two devices meet.
enum class GpuTopologyLevel {
    Internal = 0,  // on one board
    Single = 10,   // one PCIe switch
    Multiple = 20, // several PCIe switches
    HostBridge = 30,
    Node = 40,   // one NUMA node
    System = 50, // the interconnect of the sockets
};

/// A part of the memory that identifies a board.
enum class InforomObject {
    Oem = 0,
    Ecc = 1,
    Power = 2,
    Den = 3, // encryption of the device's memory
};

/// Whether ECC could repair an error of memory.
enum class MemoryErrorType {
    Corrected = 0,
    Uncorrected = 1,
};

/// An event of the whole system. Each is one bit.
enum class SystemEventType : unsigned long long {
    Unbind = 1, // a device left the driver
    Bind = 2,   // a device joined the driver
};

/// A temperature at which something happens.
enum class TemperatureThreshold {
    Shutdown = 0,
    Slowdown = 1,
    MemMax = 2,
    GpuMax = 3,
    AcousticMin = 4,
    AcousticCurr = 5,
    AcousticMax = 6,
    GpsCurr = 7,
};

/// A chip that measures temperatures.
enum class ThermalController {
    GpuInternal = 1,
    ADM1032 = 2,
    ADT7461 = 3,
    MAX6649 = 4,
    MAX1617 = 5,
    LM99 = 6,
    LM89 = 7,
    LM64 = 8,
    G781 = 9,
    ADT7473 = 10,
    SBMAX6649 = 11,
    VBIOSEvent = 12,
    OS = 13,
    NVSysConCanoas = 14,
    NVSysConE551 = 15,
    MAX6649R = 16,
    ADT7473S = 17,
    Unknown = -1,
};

/// What a temperature is measured of.
enum class ThermalTarget {
    None = 0,
    Gpu = 1,
    Memory = 2,
    PowerSupply = 4,
    Board = 8,
    VcdBoard = 9, // of a visual computing device
    VcdInlet = 10,
    VcdOutlet = 11,
    All = 15,
};

namespace detail {

/// An enumerator and its name, which Python uses too.
template <typename Enum>
struct Named {
    Enum value;
    std::string_view name;
};

/// The names of an enumeration, null for any other type.
template <typename Enum>
inline constexpr auto ENUM_NAMES = nullptr;

template <>
inline constexpr auto ENUM_NAMES<AddressingMode> = std::to_array<Named<AddressingMode>>({
    {AddressingMode::HMM, "hmm"},
    {AddressingMode::ATS, "ats"},
});

template <>
inline constexpr auto ENUM_NAMES<AffinityScope> = std::to_array<Named<AffinityScope>>({
    {AffinityScope::Node, "node"},
    {AffinityScope::Socket, "socket"},
});

template <>
inline constexpr auto ENUM_NAMES<ClockId> = std::to_array<Named<ClockId>>({
    {ClockId::Current, "current"},
    {ClockId::CustomerBoostMax, "customer_boost_max"},
});

template <>
inline constexpr auto ENUM_NAMES<ClockType> = std::to_array<Named<ClockType>>({
    {ClockType::Graphics, "graphics"},
    {ClockType::SM, "sm"},
    {ClockType::Memory, "memory"},
    {ClockType::Video, "video"},
});

template <>
inline constexpr auto ENUM_NAMES<ClockEventReason> = std::to_array<Named<ClockEventReason>>({
    {ClockEventReason::None, "none"},
    {ClockEventReason::GpuIdle, "gpu_idle"},
    {ClockEventReason::ApplicationsClocksSetting, "applications_clocks_setting"},
    {ClockEventReason::SwPowerCap, "sw_power_cap"},
    {ClockEventReason::HwSlowdown, "hw_slowdown"},
    {ClockEventReason::SyncBoost, "sync_boost"},
    {ClockEventReason::SwThermalSlowdown, "sw_thermal_slowdown"},
    {ClockEventReason::HwThermalSlowdown, "hw_thermal_slowdown"},
    {ClockEventReason::HwPowerBrakeSlowdown, "hw_power_brake_slowdown"},
    {ClockEventReason::DisplayClockSetting, "display_clock_setting"},
});

template <>
inline constexpr auto ENUM_NAMES<CoolerControl> = std::to_array<Named<CoolerControl>>({
    {CoolerControl::Toggle, "toggle"},
    {CoolerControl::Variable, "variable"},
});

template <>
inline constexpr auto ENUM_NAMES<CoolerTarget> = std::to_array<Named<CoolerTarget>>({
    {CoolerTarget::None, "none"},
    {CoolerTarget::Gpu, "gpu"},
    {CoolerTarget::Memory, "memory"},
    {CoolerTarget::PowerSupply, "power_supply"},
});

template <>
inline constexpr auto ENUM_NAMES<DeviceArch> = std::to_array<Named<DeviceArch>>({
    {DeviceArch::Kepler, "kepler"},
    {DeviceArch::Maxwell, "maxwell"},
    {DeviceArch::Pascal, "pascal"},
    {DeviceArch::Volta, "volta"},
    {DeviceArch::Turing, "turing"},
    {DeviceArch::Ampere, "ampere"},
    {DeviceArch::Ada, "ada"},
    {DeviceArch::Hopper, "hopper"},
    {DeviceArch::Blackwell, "blackwell"},
    {DeviceArch::Unknown, "unknown"},
});

template <>
inline constexpr auto ENUM_NAMES<EccCounter> = std::to_array<Named<EccCounter>>({
    {EccCounter::Volatile, "volatile"},
    {EccCounter::Aggregate, "aggregate"},
});

template <>
inline constexpr auto ENUM_NAMES<EventType> = std::to_array<Named<EventType>>({
    {EventType::None, "none"},
    {EventType::SingleBitEccError, "single_bit_ecc_error"},
    {EventType::DoubleBitEccError, "double_bit_ecc_error"},
    {EventType::PState, "pstate"},
    {EventType::XidCriticalError, "xid_critical_error"},
    {EventType::Clock, "clock"},
    {EventType::PowerSourceChange, "power_source_change"},
    {EventType::MigConfigChange, "mig_config_change"},
    {EventType::SingleBitEccErrorStorm, "single_bit_ecc_error_storm"},
    {EventType::DramRetirementEvent, "dram_retirement_event"},
    {EventType::DramRetirementFailure, "dram_retirement_failure"},
    {EventType::NonFatalPoisonError, "non_fatal_poison_error"},
    {EventType::FatalPoisonError, "fatal_poison_error"},
    {EventType::GpuUnavailableError, "gpu_unavailable_error"},
    {EventType::GpuRecoveryAction, "gpu_recovery_action"},
});

template <>
inline constexpr auto ENUM_NAMES<FanControlPolicy> = std::to_array<Named<FanControlPolicy>>({
    {FanControlPolicy::TemperatureControlled, "temperature_controlled"},
    {FanControlPolicy::Manual, "manual"},
});

template <>
inline constexpr auto ENUM_NAMES<GpuP2PCapsIndex> = std::to_array<Named<GpuP2PCapsIndex>>({
    {GpuP2PCapsIndex::Read, "read"},
    {GpuP2PCapsIndex::Write, "write"},
    {GpuP2PCapsIndex::NvLink, "nvlink"},
    {GpuP2PCapsIndex::Atomics, "atomics"},
    {GpuP2PCapsIndex::Pci, "pci"},
    {GpuP2PCapsIndex::Pci, "prop"}, // an older name
    {GpuP2PCapsIndex::Unknown, "unknown"},
});

template <>
inline constexpr auto ENUM_NAMES<GpuP2PStatus> = std::to_array<Named<GpuP2PStatus>>({
    {GpuP2PStatus::Ok, "ok"},
    {GpuP2PStatus::ChipsetNotSupported, "chipset not supported"},
    {GpuP2PStatus::GpuNotSupported, "GPU not supported"},
    {GpuP2PStatus::IohTopologyNotSupported, "IOH topology not supported"},
    {GpuP2PStatus::DisabledByRegkey, "disabled by regkey"},
    {GpuP2PStatus::NotSupported, "not supported"},
    {GpuP2PStatus::Unknown, "unknown"},
});

template <>
inline constexpr auto ENUM_NAMES<GpuTopologyLevel> = std::to_array<Named<GpuTopologyLevel>>({
    {GpuTopologyLevel::Internal, "internal"},
    {GpuTopologyLevel::Single, "single"},
    {GpuTopologyLevel::Multiple, "multiple"},
    {GpuTopologyLevel::HostBridge, "hostbridge"},
    {GpuTopologyLevel::Node, "node"},
    {GpuTopologyLevel::System, "system"},
});

template <>
inline constexpr auto ENUM_NAMES<InforomObject> = std::to_array<Named<InforomObject>>({
    {InforomObject::Oem, "oem"},
    {InforomObject::Ecc, "ecc"},
    {InforomObject::Power, "power"},
    {InforomObject::Den, "den"},
});

template <>
inline constexpr auto ENUM_NAMES<MemoryErrorType> = std::to_array<Named<MemoryErrorType>>({
    {MemoryErrorType::Corrected, "corrected"},
    {MemoryErrorType::Uncorrected, "uncorrected"},
});

template <>
inline constexpr auto ENUM_NAMES<SystemEventType> = std::to_array<Named<SystemEventType>>({
    {SystemEventType::Unbind, "unbind"},
    {SystemEventType::Bind, "bind"},
});

template <>
inline constexpr auto ENUM_NAMES<TemperatureThreshold> =
    std::to_array<Named<TemperatureThreshold>>({
        {TemperatureThreshold::Shutdown, "shutdown"},
        {TemperatureThreshold::Slowdown, "slowdown"},
        {TemperatureThreshold::MemMax, "mem_max"},
        {TemperatureThreshold::GpuMax, "gpu_max"},
        {TemperatureThreshold::AcousticMin, "acoustic_min"},
        {TemperatureThreshold::AcousticCurr, "acoustic_curr"},
        {TemperatureThreshold::AcousticMax, "acoustic_max"},
        {TemperatureThreshold::GpsCurr, "gps_curr"},
    });

template <>
inline constexpr auto ENUM_NAMES<ThermalController> = std::to_array<Named<ThermalController>>({
    {ThermalController::GpuInternal, "gpu_internal"},
    {ThermalController::ADM1032, "adm1032"},
    {ThermalController::ADT7461, "adt7461"},
    {ThermalController::MAX6649, "max6649"},
    {ThermalController::MAX1617, "max1617"},
    {ThermalController::LM99, "lm99"},
    {ThermalController::LM89, "lm89"},
    {ThermalController::LM64, "lm64"},
    {ThermalController::G781, "g781"},
    {ThermalController::ADT7473, "adt7473"},
    {ThermalController::SBMAX6649, "sbmax6649"},
    {ThermalController::VBIOSEvent, "vbiosevt"},
    {ThermalController::OS, "os"},
    {ThermalController::NVSysConCanoas, "nvsyscon_canoas"},
    {ThermalController::NVSysConE551, "nvsyscon_e551"},
    {ThermalController::MAX6649R, "max6649r"},
    {ThermalController::ADT7473S, "adt7473s"},
    {ThermalController::Unknown, "unknown"},
});

template <>
inline constexpr auto ENUM_NAMES<ThermalTarget> = std::to_array<Named<ThermalTarget>>({
    {ThermalTarget::None, "none"},
    {ThermalTarget::Gpu, "gpu"},
    {ThermalTarget::Memory, "memory"},
    {ThermalTarget::PowerSupply, "power_supply"},
    {ThermalTarget::Board, "board"},
    {ThermalTarget::VcdBoard, "vcd_board"},
    {ThermalTarget::VcdInlet, "vcd_inlet"},
    {ThermalTarget::VcdOutlet, "vcd_outlet"},
    {ThermalTarget::All, "all"},
});

} // namespace detail

/// An enumeration of this namespace.
template <typename Enum>
concept NamedEnum =
    std::is_enum_v<Enum> &&
    !std::is_same_v<std::remove_cv_t<decltype(detail::ENUM_NAMES<Enum>)>, std::nullptr_t>;

/// Returns the name of an enumerator, "unknown" for a value that has none.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view to_string(Enum value) noexcept {
    for (const auto& known : detail::ENUM_NAMES<Enum>) {
        if (known.value == value) {
            return known.name;
        }
    }
    return "unknown";
}

/// Returns what a reason for lower clocks means, in one sentence without a final stop.
[[nodiscard]] CUPRUM_API std::string_view explain(ClockEventReason reason) noexcept;

} // namespace cuprum::system
