# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The strings that stand for members of enumerations, for type checkers."""

from typing import Literal, TypeAlias

AffinityScopeWord: TypeAlias = Literal["node", "socket"]
CacheConfigTypeWord: TypeAlias = Literal["none", "prefer_shared", "prefer_l1", "prefer_equal"]
CaptureModeTypeWord: TypeAlias = Literal["global", "thread_local", "relaxed"]
ClockIdWord: TypeAlias = Literal["current", "customer_boost_max"]
ClockTypeWord: TypeAlias = Literal["graphics", "sm", "memory", "video"]
ClocksEventReasonsWord: TypeAlias = Literal[
    "none",
    "gpu_idle",
    "applications_clocks_setting",
    "sw_power_cap",
    "hw_slowdown",
    "sync_boost",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "display_clock_setting",
]
EccCounterTypeWord: TypeAlias = Literal["volatile", "aggregate"]
EventTypeWord: TypeAlias = Literal[
    "none",
    "single_bit_ecc_error",
    "double_bit_ecc_error",
    "pstate",
    "xid_critical_error",
    "clock",
    "power_source_change",
    "mig_config_change",
    "single_bit_ecc_error_storm",
    "dram_retirement_event",
    "dram_retirement_failure",
    "non_fatal_poison_error",
    "fatal_poison_error",
    "gpu_unavailable_error",
    "gpu_recovery_action",
]
GpuP2PCapsIndexWord: TypeAlias = Literal[
    "read", "write", "nvlink", "atomics", "pci", "prop", "unknown"
]
GpuTopologyLevelWord: TypeAlias = Literal[
    "internal", "single", "multiple", "hostbridge", "node", "system"
]
GraphMemoryTypeWord: TypeAlias = Literal["device", "host", "managed"]
InforomObjectWord: TypeAlias = Literal["oem", "ecc", "power", "den"]
LimitTypeWord: TypeAlias = Literal[
    "stack_size",
    "printf_fifo_size",
    "malloc_heap_size",
    "dev_runtime_sync_depth",
    "dev_runtime_pending_launch_count",
    "max_l2_fetch_granularity",
    "persisting_l2_cache_size",
    "shmem_size",
    "cig_enabled",
    "cig_shmem_fallback_enabled",
]
MemoryErrorTypeWord: TypeAlias = Literal["corrected", "uncorrected"]
MemorySyncDomainTypeWord: TypeAlias = Literal["default", "remote"]
ObjectCodeFormatTypeWord: TypeAlias = Literal[
    "ptx", "cubin", "ltoir", "fatbin", "object", "library"
]
P2PAttributeTypeWord: TypeAlias = Literal[
    "performance_rank", "access_supported", "native_atomic_supported", "cuda_array_access_supported"
]
SourceCodeTypeWord: TypeAlias = Literal["c++", "ptx", "nvvm"]
SynchronizationPolicyTypeWord: TypeAlias = Literal["auto", "spin", "yield", "blocking"]
SystemEventTypeWord: TypeAlias = Literal["unbind", "bind"]
TemperatureThresholdsWord: TypeAlias = Literal[
    "shutdown",
    "slowdown",
    "mem_max",
    "gpu_max",
    "acoustic_min",
    "acoustic_curr",
    "acoustic_max",
    "gps_curr",
]
ThermalTargetWord: TypeAlias = Literal[
    "none", "gpu", "memory", "power_supply", "board", "vcd_board", "vcd_inlet", "vcd_outlet", "all"
]
WaitConditionTypeWord: TypeAlias = Literal["greater_or_equal", "equal", "and", "nor"]
