// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The constants of NVML that are macros in NVIDIA's header. Field identifiers are in field_ids.hpp.

#pragma once

namespace nvml_abi {

// ---- Sizes of buffers and arrays ----

inline constexpr unsigned int MAX_CLK_DOMAINS = 32;
inline constexpr unsigned int NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE = 16;
inline constexpr unsigned int NVML_DEVICE_NAME_BUFFER_SIZE = 64;
inline constexpr unsigned int NVML_DEVICE_NAME_V2_BUFFER_SIZE = 96;
inline constexpr unsigned int NVML_DEVICE_PART_NUMBER_BUFFER_SIZE = 80;
inline constexpr unsigned int NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE = 32;
inline constexpr unsigned int NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE = 16;
inline constexpr unsigned int NVML_DEVICE_SERIAL_BUFFER_SIZE = 30;
inline constexpr unsigned int NVML_DEVICE_UUID_ASCII_LEN = 41;
inline constexpr unsigned int NVML_DEVICE_UUID_BINARY_LEN = 16;
inline constexpr unsigned int NVML_DEVICE_UUID_BUFFER_SIZE = 80;
inline constexpr unsigned int NVML_DEVICE_UUID_V2_BUFFER_SIZE = 96;
inline constexpr unsigned int NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE = 32;
inline constexpr unsigned int NVML_GPU_FABRIC_UUID_LEN = 16;
inline constexpr unsigned int NVML_GRID_LICENSE_BUFFER_SIZE = 128;
inline constexpr unsigned int NVML_GRID_LICENSE_FEATURE_MAX_COUNT = 3;
inline constexpr unsigned int NVML_GSP_FIRMWARE_VERSION_BUF_SIZE = 64;
inline constexpr unsigned int NVML_MAX_GPU_PERF_PSTATES = 16;
inline constexpr unsigned int NVML_MAX_GPU_UTILIZATIONS = 8;
inline constexpr unsigned int NVML_MAX_PHYSICAL_BRIDGE = 128;
inline constexpr unsigned int NVML_MAX_THERMAL_SENSORS_PER_GPU = 3;
inline constexpr unsigned int NVML_NVLINK_FIRMWARE_VERSION_LENGTH = 100;
inline constexpr unsigned int NVML_NVLINK_MAX_LINKS = 36;
inline constexpr unsigned int NVML_NVLINK_TOTAL_SUPPORTED_BW_MODES = 23;
inline constexpr unsigned int NVML_PCIE_ATOMICS_OPS_MAX = 7;
inline constexpr unsigned int NVML_PERF_MODES_BUFFER_SIZE = 2048;
inline constexpr unsigned int NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = 80;
inline constexpr unsigned int NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE = 80;

// ---- Events of one device ----

inline constexpr unsigned long long nvmlEventTypeNone = 0x0;
inline constexpr unsigned long long nvmlEventTypeSingleBitEccError = 0x1;
inline constexpr unsigned long long nvmlEventTypeDoubleBitEccError = 0x2;
inline constexpr unsigned long long nvmlEventTypePState = 0x4;
inline constexpr unsigned long long nvmlEventTypeXidCriticalError = 0x8;
inline constexpr unsigned long long nvmlEventTypeClock = 0x10;
inline constexpr unsigned long long nvmlEventTypePowerSourceChange = 0x80;
inline constexpr unsigned long long nvmlEventMigConfigChange = 0x100;
inline constexpr unsigned long long nvmlEventTypeSingleBitEccErrorStorm = 0x200;
inline constexpr unsigned long long nvmlEventTypeDramRetirementEvent = 0x400;
inline constexpr unsigned long long nvmlEventTypeDramRetirementFailure = 0x800;
inline constexpr unsigned long long nvmlEventTypeNonFatalPoisonError = 0x1000;
inline constexpr unsigned long long nvmlEventTypeFatalPoisonError = 0x2000;
inline constexpr unsigned long long nvmlEventTypeGpuUnavailableError = 0x4000;
inline constexpr unsigned long long nvmlEventTypeGpuRecoveryAction = 0x8000;
inline constexpr unsigned long long nvmlEventTypeAll = 0xff9f;

// ---- Events of the system ----

inline constexpr unsigned long long nvmlSystemEventTypeGpuDriverUnbind = 0x1;
inline constexpr unsigned long long nvmlSystemEventTypeCount = 0x2;
inline constexpr unsigned long long nvmlSystemEventTypeGpuDriverBind = 0x2;

// ---- Why clocks are lower than they could be ----

inline constexpr unsigned long long nvmlClocksEventReasonNone = 0x0;
inline constexpr unsigned long long nvmlClocksEventReasonGpuIdle = 0x1;
inline constexpr unsigned long long nvmlClocksEventReasonApplicationsClocksSetting = 0x2;
inline constexpr unsigned long long nvmlClocksEventReasonSwPowerCap = 0x4;
inline constexpr unsigned long long nvmlClocksEventReasonSyncBoost = 0x10;
inline constexpr unsigned long long nvmlClocksEventReasonSwThermalSlowdown = 0x20;
inline constexpr unsigned long long nvmlClocksEventReasonDisplayClockSetting = 0x100;
inline constexpr unsigned long long nvmlClocksEventReasonBoardLimit = 0x200;
inline constexpr unsigned long long nvmlClocksEventReasonReliability = 0x400;
inline constexpr unsigned long long nvmlClocksEventReasonAll = 0x7ff;

// ---- The same under the names of older libraries, and the hardware reasons ----

inline constexpr unsigned long long nvmlClocksThrottleReasonNone = 0x0;
inline constexpr unsigned long long nvmlClocksThrottleReasonGpuIdle = 0x1;
inline constexpr unsigned long long nvmlClocksThrottleReasonApplicationsClocksSetting = 0x2;
inline constexpr unsigned long long nvmlClocksThrottleReasonUserDefinedClocks = 0x2;
inline constexpr unsigned long long nvmlClocksThrottleReasonSwPowerCap = 0x4;
inline constexpr unsigned long long nvmlClocksThrottleReasonHwSlowdown = 0x8;
inline constexpr unsigned long long nvmlClocksThrottleReasonSyncBoost = 0x10;
inline constexpr unsigned long long nvmlClocksThrottleReasonSwThermalSlowdown = 0x20;
inline constexpr unsigned long long nvmlClocksThrottleReasonHwThermalSlowdown = 0x40;
inline constexpr unsigned long long nvmlClocksThrottleReasonHwPowerBrakeSlowdown = 0x80;
inline constexpr unsigned long long nvmlClocksThrottleReasonDisplayClockSetting = 0x100;
inline constexpr unsigned long long nvmlClocksThrottleReasonAll = 0x7ff;

// ---- Architectures ----

inline constexpr unsigned int NVML_DEVICE_ARCH_KEPLER = 2;
inline constexpr unsigned int NVML_DEVICE_ARCH_MAXWELL = 3;
inline constexpr unsigned int NVML_DEVICE_ARCH_PASCAL = 4;
inline constexpr unsigned int NVML_DEVICE_ARCH_VOLTA = 5;
inline constexpr unsigned int NVML_DEVICE_ARCH_TURING = 6;
inline constexpr unsigned int NVML_DEVICE_ARCH_AMPERE = 7;
inline constexpr unsigned int NVML_DEVICE_ARCH_ADA = 8;
inline constexpr unsigned int NVML_DEVICE_ARCH_HOPPER = 9;
inline constexpr unsigned int NVML_DEVICE_ARCH_BLACKWELL = 10;
inline constexpr unsigned int NVML_DEVICE_ARCH_DLA = 11;
inline constexpr unsigned int NVML_DEVICE_ARCH_DLA2 = 12;
inline constexpr unsigned int NVML_DEVICE_ARCH_RUBIN = 13;
inline constexpr unsigned int NVML_DEVICE_ARCH_NPU3 = 15;
inline constexpr unsigned int NVML_DEVICE_ARCH_UNKNOWN = 0xffffffff;

// ---- NVLink ----

inline constexpr unsigned int NVML_NVLINK_BER_EXP_SHIFT = 0;
inline constexpr unsigned int NVML_NVLINK_BER_EXP_WIDTH = 255;
inline constexpr unsigned int NVML_NVLINK_BER_MANTISSA_SHIFT = 8;
inline constexpr unsigned int NVML_NVLINK_BER_MANTISSA_WIDTH = 15;
inline constexpr unsigned int NVML_NVLINK_FIRMWARE_UCODE_TYPE_MSE = 1;
inline constexpr unsigned int NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR = 2;
inline constexpr unsigned int NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_CLN = 4;
inline constexpr unsigned int NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_DLN = 5;
inline constexpr unsigned int NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_UPHY = 3;
inline constexpr unsigned int NVML_NVLINK_LOW_POWER_THRESHOLD_DEFAULT = 0xffffffff;
inline constexpr unsigned int NVML_NVLINK_LOW_POWER_THRESHOLD_MAX = 8191;
inline constexpr unsigned int NVML_NVLINK_LOW_POWER_THRESHOLD_MIN = 1;
inline constexpr unsigned int NVML_NVLINK_LOW_POWER_THRESHOLD_RESET = 0xffffffff;
inline constexpr unsigned int NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_100US = 0;
inline constexpr unsigned int NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_50US = 1;
inline constexpr unsigned int NVML_NVLINK_POWER_STATE_HIGH_SPEED = 0;
inline constexpr unsigned int NVML_NVLINK_POWER_STATE_LOW = 1;
inline constexpr unsigned int NVML_NVLINK_STATE_ACTIVE = 1;
inline constexpr unsigned int NVML_NVLINK_STATE_ACTIVE_TRAFFIC_DISABLED = 3;
inline constexpr unsigned int NVML_NVLINK_STATE_INACTIVE = 0;
inline constexpr unsigned int NVML_NVLINK_STATE_SLEEP = 2;

// ---- PCIe ----

inline constexpr unsigned int NVML_BUS_TYPE_AGP = 4;
inline constexpr unsigned int NVML_BUS_TYPE_FPCI = 3;
inline constexpr unsigned int NVML_BUS_TYPE_PCI = 1;
inline constexpr unsigned int NVML_BUS_TYPE_PCIE = 2;
inline constexpr unsigned int NVML_BUS_TYPE_UNKNOWN = 0;
inline constexpr unsigned int NVML_PCIE_ATOMICS_CAP_CAS128 = 64;
inline constexpr unsigned int NVML_PCIE_ATOMICS_CAP_CAS32 = 16;
inline constexpr unsigned int NVML_PCIE_ATOMICS_CAP_CAS64 = 32;
inline constexpr unsigned int NVML_PCIE_ATOMICS_CAP_FETCHADD32 = 1;
inline constexpr unsigned int NVML_PCIE_ATOMICS_CAP_FETCHADD64 = 2;
inline constexpr unsigned int NVML_PCIE_ATOMICS_CAP_SWAP32 = 4;
inline constexpr unsigned int NVML_PCIE_ATOMICS_CAP_SWAP64 = 8;
inline constexpr unsigned int NVML_PCIE_LINK_MAX_SPEED_16000MBPS = 4;
inline constexpr unsigned int NVML_PCIE_LINK_MAX_SPEED_2500MBPS = 1;
inline constexpr unsigned int NVML_PCIE_LINK_MAX_SPEED_32000MBPS = 5;
inline constexpr unsigned int NVML_PCIE_LINK_MAX_SPEED_5000MBPS = 2;
inline constexpr unsigned int NVML_PCIE_LINK_MAX_SPEED_64000MBPS = 6;
inline constexpr unsigned int NVML_PCIE_LINK_MAX_SPEED_8000MBPS = 3;
inline constexpr unsigned int NVML_PCIE_LINK_MAX_SPEED_INVALID = 0;

// ---- GPU fabric ----

inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_FALSE = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_NOT_SUPPORTED = 0;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_TRUE = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_FALSE = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_NOT_SUPPORTED = 0;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_CONNECTED = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_DISCONNECTED = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_NOT_SUPPORTED = 0;
inline constexpr unsigned int
    NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_GPU_STATE_INVALID = 8;
inline constexpr unsigned int
    NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCOMPATIBLE_GPU_FW = 6;
inline constexpr unsigned int
    NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_CHASSIS_SN = 3;
inline constexpr unsigned int
    NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_SYSGUID = 2;
inline constexpr unsigned int
    NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INSUFFICIENT_NVLINKS = 5;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INVALID_LOCATION =
    7;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NONE = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NOT_SUPPORTED = 0;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NO_PARTITION = 4;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_FALSE = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_NOT_SUPPORTED = 0;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_TRUE = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_FALSE = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_NOT_SUPPORTED = 0;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_TRUE = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_FALSE = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_NOT_SUPPORTED = 0;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_TRUE = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY = 6;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW = 0;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_GFM_STATE = 14;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_INCORRECT_CONFIGURATION = 8;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_PARTITION_ASSIGNED = 12;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY = 4;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ACCESS_TIMEOUT_RECOVERY = 3;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_DEGRADED_BW = 3;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_GFM_STATE = 3;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_INCORRECT_CONFIGURATION = 15;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_PARTITION_ASSIGNED = 3;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_RECOVERY = 3;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_UNHEALTHY = 3;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY = 3;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED = 0;
inline constexpr unsigned int NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_STATE_COMPLETED = 3;
inline constexpr unsigned int NVML_GPU_FABRIC_STATE_IN_PROGRESS = 2;
inline constexpr unsigned int NVML_GPU_FABRIC_STATE_NOT_STARTED = 1;
inline constexpr unsigned int NVML_GPU_FABRIC_STATE_NOT_SUPPORTED = 0;

// ---- Everything else ----

inline constexpr unsigned int NVML_ADAPTIVE_CLOCKING_INFO_STATUS_DISABLED = 0;
inline constexpr unsigned int NVML_ADAPTIVE_CLOCKING_INFO_STATUS_ENABLED = 1;
inline constexpr unsigned int NVML_AFFINITY_SCOPE_NODE = 0;
inline constexpr unsigned int NVML_AFFINITY_SCOPE_SOCKET = 1;
inline constexpr unsigned int NVML_API_VERSION = 13;
inline constexpr unsigned int NVML_C2C_POWER_STATE_FULL_POWER = 0;
inline constexpr unsigned int NVML_C2C_POWER_STATE_LOW_POWER = 1;
inline constexpr unsigned int NVML_COMPUTE_INSTANCE_ID_ANY = 0xffffffff;
inline constexpr unsigned int NVML_DEVICE_MIG_DISABLE = 0;
inline constexpr unsigned int NVML_DEVICE_MIG_ENABLE = 1;
inline constexpr unsigned int NVML_DEV_CAP_EGM = 1;
inline constexpr unsigned int NVML_FAN_POLICY_MANUAL = 1;
inline constexpr unsigned int NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW = 0;
inline constexpr unsigned int NVML_GPU_INSTANCE_ID_ANY = 0xffffffff;
inline constexpr unsigned int NVML_INIT_FLAG_FORCE_INIT = 4;
inline constexpr unsigned int NVML_INIT_FLAG_NO_ATTACH = 2;
inline constexpr unsigned int NVML_INIT_FLAG_NO_GPUS = 1;
inline constexpr unsigned int NVML_MCLK_SWITCH_TYPE_DEFERRED = 1;
inline constexpr unsigned int NVML_MCLK_SWITCH_TYPE_NOT_SUPPORTED = 0;
inline constexpr unsigned int NVML_MCLK_SWITCH_TYPE_RUNTIME = 2;
inline constexpr unsigned int NVML_POWER_SCOPE_COUNT = 4;
inline constexpr unsigned int NVML_POWER_SCOPE_GPU = 0;
inline constexpr unsigned int NVML_POWER_SCOPE_GPU_BASE = 3;
inline constexpr unsigned int NVML_POWER_SCOPE_MEMORY = 2;
inline constexpr unsigned int NVML_POWER_SCOPE_MODULE = 1;
inline constexpr unsigned int NVML_POWER_SOURCE_AC = 0;
inline constexpr unsigned int NVML_POWER_SOURCE_BATTERY = 1;
inline constexpr unsigned int NVML_POWER_SOURCE_UNDERSIZED = 2;
inline constexpr int NVML_VALUE_NOT_AVAILABLE = -1;
inline constexpr unsigned int nvmlFlagDefault = 0;
inline constexpr unsigned int nvmlFlagForce = 1;

} // namespace nvml_abi
