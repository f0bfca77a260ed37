# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Names for annotations, and the strings that Cuprum takes as enumerations.

A member of an enumeration is the string that it stands for: ``SourceCodeType.CXX == "c++"``.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union, runtime_checkable

if TYPE_CHECKING:
    from cuprum import SMResource, WorkqueueResource

__all__ = [
    "AccessPropertyType",
    "AddressModeType",
    "ArrayFormatType",
    "CacheConfigType",
    "CompilerBackendType",
    "DevicePointerType",
    "DeviceResourcesType",
    "FilterModeType",
    "GraphConditionalType",
    "GraphMemoryType",
    "HostWaitType",
    "IsStreamType",
    "LimitType",
    "ManagedMemoryLocationType",
    "MemorySyncDomainType",
    "ObjectCodeFormatType",
    "P2PAttributeType",
    "PCHStatusType",
    "ProcessStateType",
    "ReadModeType",
    "SourceCodeType",
    "SynchronizationPolicyType",
    "VirtualMemoryAccessType",
    "VirtualMemoryAllocationType",
    "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType",
    "VirtualMemoryLocationType",
    "WaitConditionType",
    "WorkqueueSharingScopeType",
]

if sys.version_info >= (3, 11):
    _StrEnum = enum.StrEnum
else:

    class _StrEnum(str, enum.Enum):
        """Stand in for enum.StrEnum."""

        __str__ = str.__str__
        __format__ = str.__format__  # type: ignore[assignment]


class SourceCodeType(_StrEnum):
    """Name a language that programs are written in."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(_StrEnum):
    """Name what an object code holds."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(_StrEnum):
    """Name a compiler."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(_StrEnum):
    """Name what became of a precompiled header."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class GraphConditionalType(_StrEnum):
    """Name a kind of conditional node."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphMemoryType(_StrEnum):
    """Name where an allocation node takes memory."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class ManagedMemoryLocationType(_StrEnum):
    """Name where managed memory prefers to be."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


class VirtualMemoryHandleType(_StrEnum):
    """Name the kind of handle by which virtual memory is shared."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryLocationType(_StrEnum):
    """Name where virtual memory is placed."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class VirtualMemoryGranularityType(_StrEnum):
    """Name which granularity virtual memory is rounded to."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


class VirtualMemoryAccessType(_StrEnum):
    """Name what a device may do with virtual memory."""

    READ_WRITE = "rw"
    READ = "r"


class VirtualMemoryAllocationType(_StrEnum):
    """Name what backs virtual memory."""

    PINNED = "pinned"
    MANAGED = "managed"


class ArrayFormatType(_StrEnum):
    """Name the type of an array's elements."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class AddressModeType(_StrEnum):
    """Name what a texture gives outside its bounds."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(_StrEnum):
    """Name how a texture fills in between its elements."""

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(_StrEnum):
    """Name what a texture makes of its elements."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


class WorkqueueSharingScopeType(_StrEnum):
    """Name among which contexts work queues are shared."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"


class AccessPropertyType(_StrEnum):
    """Name what the L2 cache does with accesses."""

    NORMAL = "normal"
    STREAMING = "streaming"
    PERSISTING = "persisting"


class CacheConfigType(_StrEnum):
    """Name how L1 cache and shared memory divide what they have in common."""

    NONE = "none"
    PREFER_SHARED = "prefer_shared"
    PREFER_L1 = "prefer_l1"
    PREFER_EQUAL = "prefer_equal"


class HostWaitType(_StrEnum):
    """Name how a thread waits for the device."""

    AUTO = "auto"
    SPIN = "spin"
    YIELD = "yield"
    BLOCKING = "blocking"


class LimitType(_StrEnum):
    """Name a limit of a context."""

    STACK_SIZE = "stack_size"
    PRINTF_FIFO_SIZE = "printf_fifo_size"
    MALLOC_HEAP_SIZE = "malloc_heap_size"
    DEV_RUNTIME_SYNC_DEPTH = "dev_runtime_sync_depth"
    DEV_RUNTIME_PENDING_LAUNCH_COUNT = "dev_runtime_pending_launch_count"
    MAX_L2_FETCH_GRANULARITY = "max_l2_fetch_granularity"
    PERSISTING_L2_CACHE_SIZE = "persisting_l2_cache_size"
    SHMEM_SIZE = "shmem_size"
    CIG_ENABLED = "cig_enabled"
    CIG_SHMEM_FALLBACK_ENABLED = "cig_shmem_fallback_enabled"


class MemorySyncDomainType(_StrEnum):
    """Name the domain whose writes a fence waits for."""

    DEFAULT = "default"
    REMOTE = "remote"


class P2PAttributeType(_StrEnum):
    """Name what can be asked of the link between two devices."""

    PERFORMANCE_RANK = "performance_rank"
    ACCESS_SUPPORTED = "access_supported"
    NATIVE_ATOMIC_SUPPORTED = "native_atomic_supported"
    CUDA_ARRAY_ACCESS_SUPPORTED = "cuda_array_access_supported"


class SynchronizationPolicyType(_StrEnum):
    """Name how threads wait for a stream."""

    AUTO = "auto"
    SPIN = "spin"
    YIELD = "yield"
    BLOCKING = "blocking"


class WaitConditionType(_StrEnum):
    """Name when a wait for a value in memory ends."""

    GREATER_OR_EQUAL = "greater_or_equal"
    EQUAL = "equal"
    AND = "and"
    NOR = "nor"


@runtime_checkable
class IsStreamType(Protocol):
    """Match objects of any library that stand for a stream."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the protocol's version, 0, and the stream's address."""
        ...


# An address: an int, or an object that converts to one, or None for no memory.
DevicePointerType = Any

# What a green context is made of.
DeviceResourcesType = Sequence[Union["SMResource", "WorkqueueResource"]]

# What `checkpoint.Process.state` returns.
ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]
