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

from cuprum._public_names import public_names

__all__ = [
    "AccessPropertyType",
    "AddressModeType",
    "ArrayFormatType",
    "CacheConfigType",
    "CaptureModeType",
    "CompilerBackendType",
    "DevicePointerType",
    "DeviceResourcesType",
    "ExternalMemoryHandleType",
    "ExternalSemaphoreHandleType",
    "FilterModeType",
    "GLDeviceListType",
    "GraphConditionalType",
    "GraphMemoryType",
    "GraphNodeType",
    "GraphUpdateReasonType",
    "GraphicsMapUseType",
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
    "ResourceViewFormatType",
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

__dir__ = public_names(globals())

if sys.version_info >= (3, 11):
    _StrEnum = enum.StrEnum
else:

    class _StrEnum(str, enum.Enum):
        """A replacement for enum.StrEnum."""

        __str__ = str.__str__
        __format__ = str.__format__  # type: ignore[assignment]


class SourceCodeType(_StrEnum):
    """The language of a program."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(_StrEnum):
    """The format of object code."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(_StrEnum):
    """A compiler."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(_StrEnum):
    """The outcome of a precompiled header."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class GraphConditionalType(_StrEnum):
    """A kind of conditional node."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphMemoryType(_StrEnum):
    """The kind of memory that an allocation node takes."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class GraphNodeType(_StrEnum):
    """The kind of work of a graph node."""

    KERNEL = "kernel"
    MEMCPY = "memcpy"
    MEMSET = "memset"
    HOST = "host"
    GRAPH = "graph"
    EMPTY = "empty"
    WAIT_EVENT = "wait_event"
    EVENT_RECORD = "event_record"
    EXT_SEMAS_SIGNAL = "ext_semas_signal"
    EXT_SEMAS_WAIT = "ext_semas_wait"
    MEM_ALLOC = "mem_alloc"
    MEM_FREE = "mem_free"
    BATCH_MEM_OP = "batch_mem_op"
    CONDITIONAL = "conditional"


class GraphUpdateReasonType(_StrEnum):
    """The reason why an executable graph could not take a definition over."""

    SUCCESS = "success"
    ERROR = "error"
    TOPOLOGY_CHANGED = "topology_changed"
    NODE_TYPE_CHANGED = "node_type_changed"
    FUNCTION_CHANGED = "function_changed"
    PARAMETERS_CHANGED = "parameters_changed"
    NOT_SUPPORTED = "not_supported"
    UNSUPPORTED_FUNCTION_CHANGE = "unsupported_function_change"
    ATTRIBUTES_CHANGED = "attributes_changed"


class CaptureModeType(_StrEnum):
    """The calls that the driver forbids while a stream is captured."""

    GLOBAL = "global"
    THREAD_LOCAL = "thread_local"
    RELAXED = "relaxed"


class ManagedMemoryLocationType(_StrEnum):
    """The kind of location that managed memory prefers."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


class VirtualMemoryHandleType(_StrEnum):
    """The kind of handle that shares virtual memory."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryLocationType(_StrEnum):
    """The kind of location of virtual memory."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class VirtualMemoryGranularityType(_StrEnum):
    """The granularity to which virtual memory is rounded."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


class VirtualMemoryAccessType(_StrEnum):
    """The access of a device to virtual memory."""

    READ_WRITE = "rw"
    READ = "r"


class VirtualMemoryAllocationType(_StrEnum):
    """The kind of memory that backs virtual memory."""

    PINNED = "pinned"
    MANAGED = "managed"


class ArrayFormatType(_StrEnum):
    """The type of an array's elements.

    The first eight have 1, 2 or 4 channels; all others fix the number of theirs.
    """

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"
    UNORM_INT8X1 = "unorm_int8x1"
    UNORM_INT8X2 = "unorm_int8x2"
    UNORM_INT8X4 = "unorm_int8x4"
    UNORM_INT16X1 = "unorm_int16x1"
    UNORM_INT16X2 = "unorm_int16x2"
    UNORM_INT16X4 = "unorm_int16x4"
    SNORM_INT8X1 = "snorm_int8x1"
    SNORM_INT8X2 = "snorm_int8x2"
    SNORM_INT8X4 = "snorm_int8x4"
    SNORM_INT16X1 = "snorm_int16x1"
    SNORM_INT16X2 = "snorm_int16x2"
    SNORM_INT16X4 = "snorm_int16x4"
    UNORM_INT_101010_2 = "unorm_int_101010_2"
    BC1_UNORM = "bc1_unorm"
    BC1_UNORM_SRGB = "bc1_unorm_srgb"
    BC2_UNORM = "bc2_unorm"
    BC2_UNORM_SRGB = "bc2_unorm_srgb"
    BC3_UNORM = "bc3_unorm"
    BC3_UNORM_SRGB = "bc3_unorm_srgb"
    BC4_UNORM = "bc4_unorm"
    BC4_SNORM = "bc4_snorm"
    BC5_UNORM = "bc5_unorm"
    BC5_SNORM = "bc5_snorm"
    BC6H_UF16 = "bc6h_uf16"
    BC6H_SF16 = "bc6h_sf16"
    BC7_UNORM = "bc7_unorm"
    BC7_UNORM_SRGB = "bc7_unorm_srgb"
    NV12 = "nv12"
    P010 = "p010"
    P016 = "p016"
    NV16 = "nv16"
    P210 = "p210"
    P216 = "p216"
    YUY2 = "yuy2"
    Y210 = "y210"
    Y216 = "y216"
    AYUV = "ayuv"
    Y410 = "y410"
    Y416 = "y416"
    Y444_PLANAR8 = "y444_planar8"
    Y444_PLANAR10 = "y444_planar10"
    YUV444_8BIT_SEMIPLANAR = "yuv444_8bit_semiplanar"
    YUV444_16BIT_SEMIPLANAR = "yuv444_16bit_semiplanar"


class AddressModeType(_StrEnum):
    """The value of a texture outside its bounds."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(_StrEnum):
    """The way a texture interpolates between its elements."""

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(_StrEnum):
    """The conversion that a texture applies to its elements."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


class ResourceViewFormatType(_StrEnum):
    """The format in which a texture reads an array, if it is another one."""

    UINT8X1 = "uint8x1"
    UINT8X2 = "uint8x2"
    UINT8X4 = "uint8x4"
    INT8X1 = "int8x1"
    INT8X2 = "int8x2"
    INT8X4 = "int8x4"
    UINT16X1 = "uint16x1"
    UINT16X2 = "uint16x2"
    UINT16X4 = "uint16x4"
    INT16X1 = "int16x1"
    INT16X2 = "int16x2"
    INT16X4 = "int16x4"
    UINT32X1 = "uint32x1"
    UINT32X2 = "uint32x2"
    UINT32X4 = "uint32x4"
    INT32X1 = "int32x1"
    INT32X2 = "int32x2"
    INT32X4 = "int32x4"
    FLOAT16X1 = "float16x1"
    FLOAT16X2 = "float16x2"
    FLOAT16X4 = "float16x4"
    FLOAT32X1 = "float32x1"
    FLOAT32X2 = "float32x2"
    FLOAT32X4 = "float32x4"
    UNSIGNED_BC1 = "unsigned_bc1"
    UNSIGNED_BC2 = "unsigned_bc2"
    UNSIGNED_BC3 = "unsigned_bc3"
    UNSIGNED_BC4 = "unsigned_bc4"
    SIGNED_BC4 = "signed_bc4"
    UNSIGNED_BC5 = "unsigned_bc5"
    SIGNED_BC5 = "signed_bc5"
    UNSIGNED_BC6H = "unsigned_bc6h"
    SIGNED_BC6H = "signed_bc6h"
    UNSIGNED_BC7 = "unsigned_bc7"


class ExternalMemoryHandleType(_StrEnum):
    """What a file descriptor of external memory stands for."""

    OPAQUE_FD = "opaque_fd"
    DMA_BUF_FD = "dma_buf_fd"


class ExternalSemaphoreHandleType(_StrEnum):
    """What a file descriptor of an external semaphore stands for."""

    OPAQUE_FD = "opaque_fd"
    TIMELINE_FD = "timeline_fd"


class GLDeviceListType(_StrEnum):
    """The devices of a context of OpenGL."""

    ALL = "all"
    CURRENT_FRAME = "current_frame"
    NEXT_FRAME = "next_frame"


class GraphicsMapUseType(_StrEnum):
    """What kernels do with a graphics resource."""

    READ_WRITE = "read_write"
    READ_ONLY = "read_only"
    WRITE_DISCARD = "write_discard"


class WorkqueueSharingScopeType(_StrEnum):
    """The contexts that share work queues."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"


class AccessPropertyType(_StrEnum):
    """The treatment of accesses by the L2 cache."""

    NORMAL = "normal"
    STREAMING = "streaming"
    PERSISTING = "persisting"


class CacheConfigType(_StrEnum):
    """The split between L1 cache and shared memory."""

    NONE = "none"
    PREFER_SHARED = "prefer_shared"
    PREFER_L1 = "prefer_l1"
    PREFER_EQUAL = "prefer_equal"


class HostWaitType(_StrEnum):
    """The way a thread waits for the device."""

    AUTO = "auto"
    SPIN = "spin"
    YIELD = "yield"
    BLOCKING = "blocking"


class LimitType(_StrEnum):
    """A limit of a context."""

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
    """The domain whose writes a fence waits for."""

    DEFAULT = "default"
    REMOTE = "remote"


class P2PAttributeType(_StrEnum):
    """A property of the link between two devices."""

    PERFORMANCE_RANK = "performance_rank"
    ACCESS_SUPPORTED = "access_supported"
    NATIVE_ATOMIC_SUPPORTED = "native_atomic_supported"
    CUDA_ARRAY_ACCESS_SUPPORTED = "cuda_array_access_supported"


class SynchronizationPolicyType(_StrEnum):
    """The way threads wait for a stream."""

    AUTO = "auto"
    SPIN = "spin"
    YIELD = "yield"
    BLOCKING = "blocking"


class WaitConditionType(_StrEnum):
    """The condition that ends a wait for a value in memory."""

    GREATER_OR_EQUAL = "greater_or_equal"
    EQUAL = "equal"
    AND = "and"
    NOR = "nor"


@runtime_checkable
class IsStreamType(Protocol):
    """Any object that is a stream, of any library."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the protocol's version, 0, and the stream's address."""
        ...


# An address: an int, or an object that converts to one, or None for no memory.
DevicePointerType = Any

# The resources of a green context.
DeviceResourcesType = Sequence[Union["SMResource", "WorkqueueResource"]]

# The values of `checkpoint.Process.state`.
ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]
