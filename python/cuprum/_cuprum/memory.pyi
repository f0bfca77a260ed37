# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Buffers and memory resources."""

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, type_check_only
from uuid import UUID

from typing_extensions import CapsuleType

from cuprum._copy import CopyOptions
from cuprum._cuprum.device import Device
from cuprum._cuprum.graph import GraphBuilder
from cuprum._cuprum.stream import Stream
from cuprum._host import Host
from cuprum._ipc_memory import IPCBufferDescriptor
from cuprum._managed import AccessedBySetProxy
from cuprum._options import (
    DeviceMemoryResourceOptions,
    ManagedMemoryResourceOptions,
    PinnedMemoryResourceOptions,
    VirtualMemoryResourceOptions,
)
from cuprum._peer_access import PeerAccessibleBySetProxy

class MemoryResource:
    """A source of memory.

    Derive from it to allocate in a way of your own: override ``allocate``, ``deallocate``,
    ``is_device_accessible``, ``is_host_accessible`` and ``device_id``. ``allocate`` usually ends with
    ``return Buffer.from_handle(pointer, size, self, stream=stream)``; the buffer then calls
    ``deallocate`` when it is closed or dropped.

    Examples
    --------
    >>> class Zeroed(cuprum.MemoryResource):
    ...     device_id, is_device_accessible, is_host_accessible = 0, True, False
    ...
    ...     def allocate(self, size, *, stream):
    ...         buffer = device.memory_resource.allocate(size, stream=stream)
    ...         buffer.fill(0, stream=stream)
    ...         return buffer
    >>> Zeroed().allocate(64, stream=stream).size
    64
    """

    def __init__(self) -> None: ...
    def allocate(self, size: SupportsIndex, *, stream: Stream) -> Buffer:
        """Allocate memory for use on a stream from now on. To be overridden.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : Stream
            The memory can be used on this stream at once.

        Returns
        -------
        Buffer
            The memory.

        Raises
        ------
        TypeError
            If the derived class does not override it.
        """

    def deallocate(self, ptr: int, size: SupportsIndex, *, stream: Stream) -> None:
        """Free memory of ``allocate``, ordered on a stream. To be overridden.

        Parameters
        ----------
        ptr : int
            The address of the memory.
        size : int
            The size in bytes.
        stream : Stream
            Work enqueued on it so far finishes before the memory is freed.

        Raises
        ------
        TypeError
            If the derived class does not override it.
        """

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory. To be overridden."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory. To be overridden."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory it is, -1 for host memory. To be overridden."""

    @property
    def is_managed(self) -> bool:
        """Return whether the memory moves between host and device by itself."""

    def __repr__(self) -> str: ...

class MemoryPoolAttributes:
    """The memory that a pool holds and has held, and its settings. Each read asks the driver.

    You can set the reuse flags and the release threshold, and the high-water marks to 0. Keeps the
    pool alive, even if its resource is closed.

    Examples
    --------
    >>> pool = cuprum.DeviceMemoryResource(device)
    >>> pool.attributes.release_threshold = 1 << 20
    >>> pool.attributes.release_threshold
    1048576
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def reuse_follow_event_dependencies(self) -> bool:
        """Return whether memory freed on one stream is reused on another that waits for it."""

    @reuse_follow_event_dependencies.setter
    def reuse_follow_event_dependencies(self, value: bool, /) -> None: ...
    @property
    def reuse_allow_opportunistic(self) -> bool:
        """Return whether memory is reused once the free is seen to be done."""

    @reuse_allow_opportunistic.setter
    def reuse_allow_opportunistic(self, value: bool, /) -> None: ...
    @property
    def reuse_allow_internal_dependencies(self) -> bool:
        """Return whether the driver may add waits between streams to reuse memory."""

    @reuse_allow_internal_dependencies.setter
    def reuse_allow_internal_dependencies(self, value: bool, /) -> None: ...
    @property
    def release_threshold(self) -> int:
        """Return how many reserved bytes are kept at a synchronisation."""

    @release_threshold.setter
    def release_threshold(self, value: int, /) -> None: ...
    @property
    def reserved_mem_current(self) -> int:
        """Return the bytes that the pool holds."""

    @reserved_mem_current.setter
    def reserved_mem_current(self, value: int, /) -> None: ...
    @property
    def reserved_mem_high(self) -> int:
        """Return the most bytes that the pool has held."""

    @reserved_mem_high.setter
    def reserved_mem_high(self, value: int, /) -> None: ...
    @property
    def used_mem_current(self) -> int:
        """Return the bytes in use."""

    @used_mem_current.setter
    def used_mem_current(self, value: int, /) -> None: ...
    @property
    def used_mem_high(self) -> int:
        """Return the most bytes that were in use."""

    @used_mem_high.setter
    def used_mem_high(self, value: int, /) -> None: ...
    def __repr__(self) -> str: ...

class MemoryPool(MemoryResource):
    """A stream-ordered pool of memory: the base class of the three kinds.

    Examples
    --------
    >>> pool = cuprum.DeviceMemoryResource(device)
    >>> buffer = pool.allocate(1024, stream=stream)
    >>> pool.attributes.used_mem_current >= 1024
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def __del__(self) -> None: ...
    def deallocate(self, ptr: int, size: SupportsIndex, *, stream: Stream) -> None:
        """Free memory of this pool that no Buffer holds.

        Parameters
        ----------
        ptr : int
            The address of the memory.
        size : int
            The size in bytes.
        stream : Stream
            Work enqueued on it so far finishes before the memory is freed.

        Raises
        ------
        TypeError
            If an argument has another type.
        ValueError
            If `size` is negative.
        ClosedError
            If the pool or the stream is closed.
        CUDAError
            If `ptr` is not the start of such memory, or was freed before.
        """

    @property
    def handle(self) -> int:
        """Return the driver's ``CUmemoryPool`` as an int."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def is_handle_owned(self) -> bool:
        """Return whether this resource owns the pool."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory this is, -1 for host memory."""

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory."""

    @property
    def is_managed(self) -> bool:
        """Return whether the memory moves between host and devices by itself."""

    @property
    def is_ipc_enabled(self) -> bool:
        """Return whether the pool can be shared with other processes."""

    @property
    def is_mapped(self) -> bool:
        """Return whether the pool was imported from another process."""

    @property
    def uuid(self) -> UUID | None:
        """Return the UUID of the pool for other processes; None if it is not shared."""

    def _set_uuid(self, uuid: UUID) -> None: ...
    def _export(self) -> IPCAllocationHandle: ...
    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """Return the handle that other processes import the pool with.

        All handles of a pool share one file descriptor, which is closed with the last of them.

        Raises
        ------
        RuntimeError
            If the pool was not made with ``ipc_enabled``.
        """

    def register(self, uuid: UUID) -> MemoryPool:
        """Register an imported pool under the UUID of its exporter.

        Buffers that arrive from other processes find it there. Returns the registered pool: this one, or
        one that was registered earlier.

        Parameters
        ----------
        uuid : UUID
            The UUID that the exporting process sent.

        Returns
        -------
        MemoryPool
            The pool that is registered under the UUID: this one, or the one that was there.

        Raises
        ------
        RuntimeError
            If the pool is not IPC-enabled.
        """

    @staticmethod
    def from_registry(uuid: UUID) -> MemoryPool:
        """Return the pool that is registered under a UUID.

        Parameters
        ----------
        uuid : UUID
            The UUID that the exporting process sent.

        Returns
        -------
        MemoryPool
            The registered pool.

        Raises
        ------
        RuntimeError
            If there is none.
        """

    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def attributes(self) -> MemoryPoolAttributes:
        """Return what the pool holds and has held; each read asks the driver."""

    def trim(self, keep_bytes: int = 0) -> None:
        """Return memory to the system until at most `keep_bytes` are reserved.

        Parameters
        ----------
        keep_bytes : int, optional
            The number of bytes to keep reserved.

        Raises
        ------
        ValueError
            If the number is negative.
        """

    def trim_to(self, keep_bytes: int) -> None:
        """Return memory to the system until at most `keep_bytes` are reserved.

        Parameters
        ----------
        keep_bytes : int
            The number of bytes to keep reserved.

        Raises
        ------
        ValueError
            If the number is negative.
        """

    def close(self) -> None:
        """Release this object's share of the pool. Calling it again does nothing.

        Buffers that came from it stay valid and keep the pool alive.
        """

class DeviceMemoryResource(MemoryPool):
    """A stream-ordered pool of device memory.

    Parameters
    ----------
    device_id : Device or int
        The device whose memory it is.
    options : DeviceMemoryResourceOptions or dict, optional
        Create a pool with these options. Without options, the device's current pool is used, which
        the whole process shares.

    Raises
    ------
    TypeError
        If `device_id` is neither a Device nor an int, or an option is unknown.
    ValueError
        If there is no such device, or an option is out of range.
    CUDAError
        If the driver cannot create the pool.

    Examples
    --------
    >>> pool = cuprum.DeviceMemoryResource(device)
    >>> buffer = pool.allocate(1024, stream=stream)
    >>> buffer.size
    1024
    """

    def __init__(
        self,
        device_id: Device | int,
        options: DeviceMemoryResourceOptions | dict[str, Any] | None = None,
    ) -> None: ...
    def __del__(self) -> None: ...
    def allocate(self, size: SupportsIndex, *, stream: Stream) -> Buffer:
        """Allocate memory for use on a stream from now on.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : Stream
            The memory can be used on this stream at once, and elsewhere after it.

        Returns
        -------
        Buffer
            The memory. A ManagedMemoryResource returns a ManagedBuffer.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory. The message shows the requested and the free bytes.
        """

    @staticmethod
    def from_handle(
        device_id: Device | int, handle: int, owner: object | None = None
    ) -> DeviceMemoryResource:
        """Wrap a pool made elsewhere, without owning it; `owner` is kept alive with it.

        Parameters
        ----------
        device_id : Device or int
            The ordinal of the device whose memory the pool hands out.
        handle : int
            The driver's ``CUmemoryPool``.
        owner : object, optional
            An object to keep alive with the pool.

        Returns
        -------
        DeviceMemoryResource
            The pool, not owned.

        Raises
        ------
        TypeError
            If `handle` is not an int.
        ValueError
            If `handle` is 0, or there is no such device.
        """

    @staticmethod
    def from_allocation_handle(
        device_id: Device | int, alloc_handle: int | IPCAllocationHandle
    ) -> DeviceMemoryResource:
        """Import a pool of another process to map its buffers. An imported pool cannot allocate.

        Parameters
        ----------
        device_id : Device or int
            The device whose memory it is.
        alloc_handle : int or IPCAllocationHandle
            A file descriptor, which the caller keeps, or an ``allocation_handle``. If this process already
            knows the pool by its UUID, that pool is returned.

        Returns
        -------
        DeviceMemoryResource
            The imported pool.

        Raises
        ------
        TypeError
            If `alloc_handle` is neither an int nor an IPCAllocationHandle.
        ValueError
            If it is not an open file descriptor.
        CUDAError
            If the descriptor is not that of a pool.
        """

    @staticmethod
    def _import(device: Device | None, handle: IPCAllocationHandle) -> DeviceMemoryResource: ...
    @property
    def device(self) -> Device:
        """Return the device whose memory this is."""

    @property
    def peer_accessible_by(self) -> PeerAccessibleBySetProxy:
        """Return the other devices that may access the memory: a live set, which can be assigned."""

    @peer_accessible_by.setter
    def peer_accessible_by(self, devices: Iterable[Device | int], /) -> None: ...
    def _peers(self) -> list[int]: ...
    def _update_peers(self, give: Iterable[Device | int], take: Iterable[Device | int]) -> None: ...
    def _access_of(self, device: object) -> str: ...

class PinnedMemoryResource(MemoryPool):
    """A stream-ordered pool of page-locked host memory, which devices can access.

    Parameters
    ----------
    options : PinnedMemoryResourceOptions or dict, optional
        Create a pool with these options. Without options, the process's current pool of pinned memory
        is used; that needs a driver for CUDA 13.0.

    Raises
    ------
    TypeError
        If an option is unknown.
    ValueError
        If an option is out of range.
    CUDAError
        If the driver cannot create the pool.

    Examples
    --------
    >>> pinned = cuprum.PinnedMemoryResource().allocate(1024, stream=stream)
    >>> pinned.is_host_accessible
    True
    """

    def __init__(
        self, options: PinnedMemoryResourceOptions | dict[str, Any] | None = None
    ) -> None: ...
    def __del__(self) -> None: ...
    def allocate(self, size: SupportsIndex, *, stream: Stream) -> Buffer:
        """Allocate memory for use on a stream from now on.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : Stream
            The memory can be used on this stream at once, and elsewhere after it.

        Returns
        -------
        Buffer
            The memory. A ManagedMemoryResource returns a ManagedBuffer.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory. The message shows the requested and the free bytes.
        """

    @staticmethod
    def from_allocation_handle(alloc_handle: int | IPCAllocationHandle) -> PinnedMemoryResource:
        """Import a pool of another process to map its buffers. An imported pool cannot allocate.

        Parameters
        ----------
        alloc_handle : int or IPCAllocationHandle
            What the exporting process sent.

        Returns
        -------
        PinnedMemoryResource
            The imported pool.

        Raises
        ------
        TypeError
            If `alloc_handle` is neither an int nor an IPCAllocationHandle.
        ValueError
            If it is not an open file descriptor.
        CUDAError
            If the descriptor is not that of a pool.
        """

    @staticmethod
    def _import(device: Device | None, handle: IPCAllocationHandle) -> PinnedMemoryResource: ...
    @property
    def numa_id(self) -> int:
        """Return the NUMA node of the memory, -1 if the system places it."""

class ManagedMemoryResource(MemoryPool):
    """A stream-ordered pool of managed memory, which moves between host and devices by itself.

    Needs a driver for CUDA 13.0.

    Parameters
    ----------
    options : ManagedMemoryResourceOptions or dict, optional
        Create a pool with these options. Without options, the process's current pool of managed
        memory is used.

    Raises
    ------
    TypeError
        If an option is unknown.
    ValueError
        If an option is out of range, as the ordinal of a device that does not exist.
    CUDAError
        If the driver cannot create the pool.

    Examples
    --------
    >>> managed = cuprum.ManagedMemoryResource().allocate(1024, stream=stream)
    >>> managed.is_host_accessible, managed.is_device_accessible
    (True, True)
    """

    def __init__(
        self, options: ManagedMemoryResourceOptions | dict[str, Any] | None = None
    ) -> None: ...
    def __del__(self) -> None: ...
    def allocate(self, size: SupportsIndex, *, stream: Stream) -> ManagedBuffer:
        """Allocate memory for use on a stream from now on.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : Stream
            The memory can be used on this stream at once, and elsewhere after it.

        Returns
        -------
        Buffer
            The memory. A ManagedMemoryResource returns a ManagedBuffer.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory. The message shows the requested and the free bytes.
        """

    @property
    def preferred_location(self) -> tuple[str, int | None] | None:
        """Return the preferred location, as (kind, number), or None."""

def reset_concurrent_access_warning() -> None:
    """Allow the warning about managed memory again."""

class _NativeResource(MemoryResource):
    pass

@type_check_only
class _WaitingMemoryResource:
    """Frees memory once its stream is done."""

    def allocate(self, size: SupportsIndex, *, stream: Stream | None = None) -> Buffer:
        """Allocate memory, at once.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream, optional
            Freeing waits for it. Without one, the buffer is freed at once unless it is closed on a stream.

        Returns
        -------
        Buffer
            The memory.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory. The message shows the requested and the free bytes.
        """

    def deallocate(self, ptr: int, size: SupportsIndex, *, stream: Stream | None = None) -> None:
        """Free memory that was allocated here and that no Buffer holds, in the stream's order.

        Parameters
        ----------
        ptr : int
            The address of the memory.
        size : int
            The size in bytes.
        stream : Stream, optional
            Work enqueued on it so far finishes first.

        Raises
        ------
        TypeError
            If an argument has another type.
        ValueError
            If `size` is negative.
        ClosedError
            If the stream is closed.
        CUDAError
            If `ptr` is not the start of such memory, or was freed before.
        """

class LegacyPinnedMemoryResource(_WaitingMemoryResource, _NativeResource):
    """A memory resource of page-locked host memory, which devices can access.

    Works with every driver, but is slow. A ``PinnedMemoryResource`` reuses memory.

    Examples
    --------
    >>> pinned = cuprum.LegacyPinnedMemoryResource().allocate(1024)
    >>> pinned.is_host_accessible
    True
    """

    def __init__(self) -> None: ...
    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory."""

    @property
    def device_id(self) -> int:
        """Raise RuntimeError: it is the host's memory."""

class SynchronousMemoryResource(_WaitingMemoryResource, _NativeResource):
    """A memory resource for devices without pools, which allocates at once.

    Parameters
    ----------
    device_id : Device or int
        The device whose memory it is.

    Raises
    ------
    TypeError
        If `device_id` is neither a Device nor an int.
    ValueError
        If there is no such device.

    Examples
    --------
    >>> resource = cuprum.SynchronousMemoryResource(device)
    >>> resource.allocate(1024, stream=stream).size
    1024
    """

    def __init__(self, device_id: Device | int) -> None: ...
    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory this is."""

def register_host_memory(
    obj: object, *, read_only: bool = False, io_memory: bool = False
) -> Buffer:
    """Register existing host memory with the devices, until the buffer is freed.

    Parameters
    ----------
    obj : object with the buffer protocol
        Contiguous, and writable unless `read_only`. Kept alive with the buffer.
    read_only : bool
        Devices may only read it. Copies and fills into the buffer raise.
    io_memory : bool
        It is the memory of another device on the bus.

    Returns
    -------
    Buffer
        A buffer over the memory.

    Raises
    ------
    CUDAError
        If it is registered already, or the device does not support these options.
    """

class GraphMemoryResourceAttributes:
    """Memory of a device that graphs hold and have held; each read asks the driver.

    Examples
    --------
    >>> attributes = cuprum.GraphMemoryResource(device).attributes
    >>> attributes.used_mem_current <= attributes.used_mem_high
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def reserved_mem_current(self) -> int:
        """Return the bytes that are held for graphs."""

    @reserved_mem_current.setter
    def reserved_mem_current(self, value: int, /) -> None: ...
    @property
    def reserved_mem_high(self) -> int:
        """Return the most bytes that were held; may be set to 0."""

    @reserved_mem_high.setter
    def reserved_mem_high(self, value: int, /) -> None: ...
    @property
    def used_mem_current(self) -> int:
        """Return the bytes in use."""

    @used_mem_current.setter
    def used_mem_current(self, value: int, /) -> None: ...
    @property
    def used_mem_high(self) -> int:
        """Return the most bytes that were in use; may be set to 0."""

    @used_mem_high.setter
    def used_mem_high(self, value: int, /) -> None: ...
    def __repr__(self) -> str: ...

class GraphMemoryResource(_NativeResource):
    """The memory resource of the graph that is being captured. There is one per device.

    Only streams that are capturing can allocate from it. Memory that the graph does not free itself may
    be freed, once the graph has run, by closing the buffer on any stream.

    Parameters
    ----------
    device_id : Device or int
        The device whose memory it is.

    Raises
    ------
    TypeError
        If `device_id` is neither a Device nor an int.
    ValueError
        If there is no such device.

    Examples
    --------
    >>> resource = cuprum.GraphMemoryResource(device)
    >>> with cuprum.graph.capture(stream) as builder:
    ...     scratch = resource.allocate(1024, stream=builder)
    ...     scratch.fill(0, stream=builder)
    ...     scratch.close()
    >>> builder.complete().launch(stream)
    """

    def __init__(self, device_id: object | None) -> None: ...
    def allocate(self, size: SupportsIndex, *, stream: Stream | GraphBuilder) -> Buffer:
        """Allocate memory in the graph that a stream captures.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : Stream or GraphBuilder
            A stream that is being captured, or its builder.

        Returns
        -------
        Buffer
            Memory that exists while the graph runs.

        Raises
        ------
        RuntimeError
            If the stream is not capturing.
        ValueError
            If it is another device's.
        """

    def deallocate(self, ptr: int, size: SupportsIndex, *, stream: Stream | GraphBuilder) -> None:
        """Free memory of a graph that no Buffer holds.

        Parameters
        ----------
        ptr : int
            The address of the memory.
        size : int
            The size in bytes.
        stream : Stream or GraphBuilder
            A stream that is being captured, or its builder.

        Raises
        ------
        TypeError
            If an argument has another type.
        ValueError
            If `size` is negative.
        CUDAError
            If `ptr` is not the start of such memory, or was freed before.
        """

    @property
    def attributes(self) -> GraphMemoryResourceAttributes:
        """Return what graphs hold and have held; each read asks the driver."""

    def trim(self) -> None:
        """Return memory to the system that no graph uses now.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

    def close(self) -> None:
        """Do nothing: the memory is the device's."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory this is."""

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory."""

class VirtualMemoryResource(_NativeResource):
    """A memory resource that reserves addresses and maps physical memory there.

    An allocation can grow without a copy: in place if the addresses behind it are free, or at new
    addresses. Sizes are rounded up to the granularity.

    Parameters
    ----------
    device_id : Device or int
        The device whose memory it is. For host memory, the nearest device.
    config : VirtualMemoryResourceOptions or dict, optional
        How memory is made.

    Raises
    ------
    RuntimeError
        If the device does not support virtual memory, or not with GPUDirect RDMA if requested.

    Examples
    --------
    >>> resource = cuprum.VirtualMemoryResource(device)
    >>> buffer = resource.allocate(1000)
    >>> buffer.size >= 1000
    True
    """

    def __init__(
        self,
        device_id: Device | int,
        config: VirtualMemoryResourceOptions | dict[str, Any] | None = None,
    ) -> None: ...
    def allocate(self, size: SupportsIndex, *, stream: Stream | None = None) -> Buffer:
        """Allocate at least `size` bytes, at once.

        Parameters
        ----------
        size : int
            In bytes; the buffer's size is rounded up to the granularity.
        stream : Stream, optional
            Freeing waits for it; without one, for all work of the device's context.

        Returns
        -------
        Buffer
            The memory.

        Raises
        ------
        ValueError
            If the size is negative.
        """

    def deallocate(self, ptr: int, size: SupportsIndex, *, stream: Stream | None = None) -> None:
        """Free memory that was allocated here and that no Buffer holds, in the stream's order.

        Parameters
        ----------
        ptr : int
            The address of the memory.
        size : int
            The size in bytes.
        stream : Stream, optional
            Work enqueued on it so far finishes first.

        Raises
        ------
        TypeError
            If an argument has another type.
        ValueError
            If `ptr` is not the start of an allocation of this resource, or was freed before.
        ClosedError
            If the stream is closed.
        """

    def modify_allocation(
        self,
        buf: Buffer,
        new_size: SupportsIndex,
        config: VirtualMemoryResourceOptions | dict[str, Any] | None = None,
    ) -> Buffer:
        """Grow an allocation to at least `new_size` bytes and keep its contents.

        Parameters
        ----------
        buf : Buffer
            A whole allocation of this resource.
        new_size : int
            In bytes. If it is not larger, only the access rights change.
        config : VirtualMemoryResourceOptions or dict, optional
            How the added memory is made and who may access all of it. Replaces the resource's options.

        Returns
        -------
        Buffer
            The same buffer if it grew in place. If not, another buffer over the same memory and more;
            the old one stays usable at its address until it is closed.

        Raises
        ------
        ValueError
            If it is not a whole allocation of this resource.
        """

    @property
    def config(self) -> VirtualMemoryResourceOptions:
        """Return the options of the resource."""

    @property
    def device(self) -> Device | None:
        """Return the device whose memory this is, or None for memory of the host."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory this is, -1 for memory of the host."""

    @property
    def granularity(self) -> int:
        """Return the granularity of sizes, in bytes."""

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory."""

class IPCAllocationHandle:
    """A file descriptor that imports a pool of another process.

    Obtained from ``MemoryPool.allocation_handle``. Send it with ``multiprocessing``, or send the file
    descriptor itself in another way.

    Examples
    --------
    >>> pool = cuprum.DeviceMemoryResource(device, {"ipc_enabled": True, "max_size": 1 << 20})
    >>> pool.allocation_handle.handle >= 0
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @staticmethod
    def _init(handle: int, uuid: UUID | None) -> IPCAllocationHandle: ...
    @staticmethod
    def _duplicate(alloc_handle: int) -> IPCAllocationHandle: ...
    def __int__(self) -> int: ...
    @property
    def handle(self) -> int:
        """Return the file descriptor, which this object still owns."""

    @property
    def uuid(self) -> UUID | None:
        """Return the UUID of the pool."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release this object's share of the file descriptor. Calling it again does nothing."""

    def __repr__(self) -> str: ...

class Buffer:
    """A piece of memory that devices can access.

    Made by ``Device.allocate``, ``MemoryResource.allocate`` or ``Buffer.from_handle``. The memory is
    freed, in the order of the stream it was allocated on, when the object is closed or dropped; in a
    ``with`` statement, at its end.

    Examples
    --------
    >>> with device.allocate(16, stream=stream) as buffer:
    ...     buffer.copy_from_host(np.arange(4, dtype=np.int32), stream=stream)
    ...     result = np.empty(4, dtype=np.int32)
    ...     buffer.copy_to_host(result, stream=stream)
    ...     stream.sync()
    >>> print(result)
    [0 1 2 3]
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def __del__(self) -> None: ...
    @staticmethod
    def from_handle(
        ptr: int,
        size: SupportsIndex,
        mr: MemoryResource | None = None,
        owner: object | None = None,
        *,
        stream: Stream | None = None,
    ) -> Buffer:
        """Wrap memory allocated elsewhere.

        Parameters
        ----------
        ptr : int
            The address.
        size : int
            In bytes.
        mr : MemoryResource, optional
            Frees the memory: its ``deallocate`` is called when the buffer is closed or dropped.
        owner : object, optional
            Kept alive with the buffer; nothing is freed.
        stream : Stream, optional
            With `mr`, the stream that the free is ordered on; the default stream if not given.

        Returns
        -------
        Buffer
            The buffer.

        Raises
        ------
        ValueError
            If both `mr` and `owner` are given, or a stream without `mr`.
        """

    @property
    def handle(self) -> int:
        """Return the address as an int."""

    @property
    def size(self) -> int:
        """Return the size in bytes."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device it lies on, -1 for host memory."""

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory."""

    @property
    def is_managed(self) -> bool:
        """Return whether the memory moves between host and devices by itself."""

    @property
    def is_mapped(self) -> bool:
        """Return whether the memory belongs to another process."""

    @property
    def _whole(self) -> Buffer: ...
    @property
    def ipc_descriptor(self) -> IPCBufferDescriptor:
        """Return the descriptor of this buffer for processes that import its pool.

        Raises
        ------
        RuntimeError
            If it did not come from an IPC-enabled pool.
        """

    @staticmethod
    def from_ipc_descriptor(
        mr: MemoryPool, ipc_descriptor: IPCBufferDescriptor, *, stream: Stream
    ) -> Buffer:
        """Map a buffer of another process into this one.

        Parameters
        ----------
        mr : MemoryPool
            The exporter's pool, imported.
        ipc_descriptor : IPCBufferDescriptor
            The descriptor of the buffer. Importing it again returns the same memory, mapped once.
        stream : Stream
            The unmapping is ordered on it.

        Returns
        -------
        Buffer
            A buffer that maps the same memory.

        Raises
        ------
        RuntimeError
            If the pool is not IPC-enabled.
        ValueError
            If the descriptor is cut short, or claims more than is mapped.
        CUDAError
            If the buffer does not belong to this pool.
        """

    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def memory_resource(self) -> MemoryResource | None:
        """Return the resource that it came from, or None for wrapped memory."""

    @property
    def owner(self) -> object | None:
        """Return the owner of wrapped memory."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def _repr_html_(self) -> str:
        """Return what notebooks show."""

    def copy_to(
        self,
        dst: Buffer | None = None,
        *,
        stream: Stream | GraphBuilder,
        options: CopyOptions | None = None,
    ) -> Buffer:
        """Copy all bytes to another buffer of the same size. Returns at once.

        Parameters
        ----------
        dst : Buffer, optional
            Allocated from this buffer's memory resource if it is not given.
        stream : Stream
            The copy is ordered on it.
        options : CopyOptions, optional
            How to copy. Not on the legacy default stream, nor while a stream is capturing.

        Returns
        -------
        Buffer
            The destination.

        Raises
        ------
        ValueError
            If the sizes differ, the buffers overlap in part, `dst` is read-only, or it cannot be allocated
            for want of a memory resource.
        """

    def copy_from(
        self, src: Buffer, *, stream: Stream | GraphBuilder, options: CopyOptions | None = None
    ) -> None:
        """Copy all bytes from another buffer of the same size. Returns at once.

        Parameters
        ----------
        src : Buffer
            Where to copy from.
        stream : Stream
            The copy is ordered on it.
        options : CopyOptions, optional
            How to copy. Not on the legacy default stream, nor while a stream is capturing.

        Raises
        ------
        ValueError
            If the sizes differ, the buffers overlap in part, or this one is read-only.
        """

    def copy_from_host(self, source: object, *, stream: Stream) -> None:
        """Copy from host memory, such as a numpy array.

        Parameters
        ----------
        source : object with the buffer protocol
            Contiguous and of this buffer's size; its bytes are copied as they lie in memory, also those of
            an array in Fortran order. You may change pageable memory when this returns. Do not
            change pinned memory before the copy is done.
        stream : Stream
            The copy is ordered on it.

        Raises
        ------
        ValueError
            If the sizes differ, `source` is not contiguous, or the buffer is read-only.
        RuntimeError
            If the stream is capturing: a graph would use the memory whenever it runs.
        """

    def copy_to_host(self, destination: object, *, stream: Stream) -> None:
        """Copy to host memory, such as a numpy array.

        Parameters
        ----------
        destination : object with the buffer protocol
            Contiguous, writable and of this buffer's size. Keep it alive and do not read it until the copy
            is done: call ``stream.sync()``.
        stream : Stream
            The copy is ordered on it.

        Raises
        ------
        BufferError
            If `destination` is read-only.
        ValueError
            If the sizes differ, or `destination` is not contiguous.
        RuntimeError
            If the stream is capturing: a graph would use the memory whenever it runs.
        """

    def fill(self, value: object, *, stream: Stream | GraphBuilder) -> None:
        """Fill with a repeated value. Returns at once.

        Parameters
        ----------
        value : int or object with the buffer protocol
            A byte from 0 to 255, or 1, 2 or 4 bytes.
        stream : Stream
            The filling is ordered on it.

        Raises
        ------
        OverflowError
            If an int does not fit a byte.
        ValueError
            If the value has another width, the size is not a multiple of it, or the buffer is read-only.
        """

    def close(self, stream: Stream | GraphBuilder | None = None) -> None:
        """Release this object's share of the memory; the last one frees it.

        Calling it again does nothing.

        Parameters
        ----------
        stream : Stream, optional
            Free the memory on this stream instead. If other shares are left, their free waits for it.

        Raises
        ------
        TypeError
            If `stream` is not a stream.
        ClosedError
            If `stream` is closed. The buffer stays open then.
        """

    def set_deallocation_stream(self, stream: Stream) -> None:
        """Set the stream that the memory will be freed on.

        Parameters
        ----------
        stream : Stream
            Work enqueued on it so far finishes before the memory is freed.

        Raises
        ------
        TypeError
            If `stream` is None or not a stream.
        ClosedError
            If the buffer or the stream is closed.
        """

    def __enter__(self) -> Buffer: ...
    def __exit__(self, *exception: object) -> None: ...
    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        """Return memory that the host can reach as an array of bytes.

        Parameters
        ----------
        dtype : object, optional
            The type that numpy asks for.
        copy : bool, optional
            Whether numpy needs a copy.

        Returns
        -------
        numpy.ndarray
            The bytes.

        Raises
        ------
        TypeError
            If the host cannot reach the memory.
        """

    __array_ufunc__: None = None

    def __getitem__(self, key: slice, /) -> Buffer:
        """Return a part of the memory as a buffer that shares it.

        ``buffer[a:b]`` counts bytes. The memory is freed when the buffer and all its parts are gone. A part
        of a ``ManagedBuffer`` is a ``ManagedBuffer``.

        Parameters
        ----------
        key : slice
            Without a step. Bounds beyond the end mean the end, as everywhere in Python.

        Raises
        ------
        TypeError
            If `key` is not a slice.
        ValueError
            If the slice has a step.
        """

    def copy_region_from(
        self,
        src: Buffer,
        extent: tuple[int, ...],
        *,
        stream: Stream | GraphBuilder,
        offset: SupportsIndex = 0,
        pitch: SupportsIndex = 0,
        rows_per_slice: int = 0,
        src_offset: int = 0,
        src_pitch: SupportsIndex = 0,
        src_rows_per_slice: int = 0,
    ) -> None:
        """Copy a part, a rectangle or a box of bytes from another buffer. Returns at once.

        Parameters
        ----------
        src : Buffer
            Where to copy from; may be on another device, or the host's.
        extent : tuple of int
            The bytes of a row; then the number of rows; then the number of slices.
        stream : Stream
            The copy is ordered on it.
        offset, src_offset : int, optional
            Where the region begins, in bytes.
        pitch, src_pitch : int, optional
            The bytes from row to row; rows follow each other if it is not given.
        rows_per_slice, src_rows_per_slice : int, optional
            The rows from slice to slice; slices follow each other if it is not given.

        Raises
        ------
        ValueError
            If a region does not lie in its buffer, the two overlap, or this buffer is read-only.
        """

    def fill_region(
        self,
        value: object,
        extent: tuple[int, ...],
        *,
        stream: Stream | GraphBuilder,
        offset: SupportsIndex = 0,
        pitch: SupportsIndex = 0,
    ) -> None:
        """Fill a rectangle of bytes with a repeated value. Returns at once.

        Parameters
        ----------
        value : int or object with the buffer protocol
            A byte from 0 to 255, or 1, 2 or 4 bytes.
        extent : tuple of int
            The bytes of a row, then the number of rows.
        stream : Stream
            The filling is ordered on it.
        offset : int, optional
            Where the rectangle begins, in bytes.
        pitch : int, optional
            The bytes from row to row; rows follow each other if it is not given.

        Raises
        ------
        OverflowError
            If an int does not fit a byte.
        ValueError
            If the rectangle does not lie in the buffer, address, pitch or width are no multiples of the
            value's width, or the buffer is read-only.
        """

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """Return the memory as a DLPack capsule: one dimension of int8.

        Parameters
        ----------
        stream : int, optional
            The stream that will use the memory. It is made to wait for the one that the buffer will be
            freed on, which is the one it was allocated on unless another was named; None and -1 leave
            ordering to the caller.
        max_version : tuple of int, optional
            The newest version that the caller knows; a versioned capsule is returned from (1, 0) on.
        dl_device : tuple of int, optional
            Only None, the device it lies on, or the CPU for memory that the host can reach.
        copy : bool, optional
            True is refused.

        Raises
        ------
        BufferError
            If another device or a copy is asked for.
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and the ordinal."""

    __dlpack_c_exchange_api__: CapsuleType

class ManagedBuffer(Buffer):
    """A piece of managed memory, which moves between host and devices by itself.

    Made by ``ManagedMemoryResource.allocate``, or ``ManagedBuffer.from_handle`` for managed memory
    allocated elsewhere. Its own methods raise ValueError if the memory is not managed after all.

    Examples
    --------
    >>> managed = cuprum.ManagedMemoryResource().allocate(1024, stream=stream)
    >>> managed.prefetch(device, stream=stream)
    >>> stream.sync()
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def __del__(self) -> None: ...
    @staticmethod
    def from_handle(
        ptr: int,
        size: SupportsIndex,
        mr: MemoryResource | None = None,
        owner: object | None = None,
        *,
        stream: Stream | None = None,
    ) -> ManagedBuffer:
        """Wrap managed memory allocated elsewhere; see ``Buffer.from_handle``.

        Parameters
        ----------
        ptr : int
            The address of the memory.
        size : int
            The size in bytes.
        mr : MemoryResource, optional
            The resource that frees the memory. None leaves it to its owner.
        owner : object, optional
            An object to keep alive with the buffer. Excludes `mr`.
        stream : Stream, optional
            The stream that the memory is freed on.

        Returns
        -------
        ManagedBuffer
            The buffer.

        Raises
        ------
        ValueError
            If both `mr` and `owner` are given, or a stream without `mr`.
        """

    @property
    def read_mostly(self) -> bool:
        """Return whether the memory is mostly read, so that copies of it may be kept."""

    @read_mostly.setter
    def read_mostly(self, value: bool, /) -> None: ...
    @property
    def preferred_location(self) -> Device | Host | None:
        """Return the preferred location of the memory, or None."""

    @preferred_location.setter
    def preferred_location(self, location: Device | Host | None, /) -> None: ...
    @property
    def accessed_by(self) -> AccessedBySetProxy:
        """Return the locations that keep the memory mapped: a live set, which can be assigned."""

    @accessed_by.setter
    def accessed_by(self, locations: Iterable[Device | Host], /) -> None: ...
    def _accessors(self) -> list[Device | Host]: ...
    def _advise_accessor(self, location: object | None, is_added: bool) -> None: ...
    @property
    def last_prefetch_location(self) -> Device | Host | None:
        """Return the location of the last prefetch, or None."""

    def prefetch(self, location: Device | Host, *, stream: Stream) -> None:
        """Move the memory to a location, in a stream's order. Returns at once.

        Parameters
        ----------
        location : Device or Host
            Where the memory should be.
        stream : Stream
            The move runs in the order of this stream.

        Raises
        ------
        TypeError
            If the location is neither a device nor a Host.
        """

    def discard(self, *, stream: Stream) -> None:
        """Discard the contents of the memory, in a stream's order. Needs a driver for CUDA 13.0.

        Parameters
        ----------
        stream : Stream
            The memory loses its contents in the order of this stream.

        Raises
        ------
        TypeError
            If `stream` is None or not a stream.
        ClosedError
            If the buffer or the stream is closed.
        NotSupportedError
            If the driver is older than CUDA 13.0.
        """

    def discard_prefetch(self, location: Device | Host, *, stream: Stream) -> None:
        """Discard the contents of the memory and move it. Needs a driver for CUDA 13.0.

        Parameters
        ----------
        location : Device or Host
            Where the memory should be.
        stream : Stream
            The move runs in the order of this stream.

        Raises
        ------
        TypeError
            If the location is neither a device nor a Host.
        """

def prefetch_batch(
    stream: Stream, buffers: Sequence[Buffer], locations: Device | Host | Sequence[Device | Host]
) -> None:
    """Move managed memory, each buffer to its place, in a stream's order.

    Parameters
    ----------
    stream : Stream
        The moves are ordered on it.
    buffers : sequence of Buffer
        Managed memory, else ValueError.
    locations : Device or Host, or a sequence of them
        One for all, or one for each.

    Raises
    ------
    TypeError
        If `buffers` is not a sequence of Buffers, a location is not a device or a Host, or `stream` is
        not a stream.
    ValueError
        If there is no buffer, one is not managed memory, or the locations are neither one nor as many
        as the buffers.
    CUDAError
        If there is no such place, as a NUMA node that the machine lacks.
    """

def discard_batch(stream: Stream, buffers: Sequence[Buffer]) -> None:
    """Discard the contents of managed memory, in a stream's order. Needs CUDA 13.0.

    Parameters
    ----------
    stream : Stream
        The buffers lose their contents in the order of this stream.
    buffers : Sequence[Buffer]
        Buffers of managed memory.

    Raises
    ------
    TypeError
        If `buffers` is not a sequence of Buffers, or `stream` is not a stream.
    ValueError
        If there is no buffer, or one is not managed memory.
    NotSupportedError
        If the driver is older than CUDA 13.0.
    """

def discard_prefetch_batch(
    stream: Stream, buffers: Sequence[Buffer], locations: Device | Host | Sequence[Device | Host]
) -> None:
    """Discard the contents of managed memory and move it; see ``prefetch_batch``. Needs a driver for CUDA 13.0.

    Parameters
    ----------
    stream : Stream
        The moves run in the order of this stream.
    buffers : Sequence[Buffer]
        Buffers of managed memory.
    locations : Device | Host | Sequence[Device | Host]
        One for all, or one for each buffer.

    Raises
    ------
    TypeError
        If `buffers` is not a sequence of Buffers, a location is not a device or a Host, or `stream` is
        not a stream.
    ValueError
        If there is no buffer, one is not managed memory, or the locations are neither one nor as many
        as the buffers.
    NotSupportedError
        If the driver is older than CUDA 13.0.
    """

def copy_batch(
    stream: Stream,
    srcs: Sequence[Buffer],
    dsts: Sequence[Buffer],
    *,
    options: CopyOptions | Sequence[CopyOptions] | None = None,
) -> None:
    """Copy many buffers at once. The batch is ordered on a stream, but its copies have no order.

    Parameters
    ----------
    stream : Stream
        Not the legacy default stream, nor one that is capturing.
    srcs, dsts : sequence of Buffer
        Where to copy from and to, paired by index, of equal sizes.
    options : CopyOptions or sequence of CopyOptions, optional
        One for all, or one for each.

    Raises
    ------
    ValueError
        If there is nothing to copy, lengths or sizes do not match, a pair overlaps, or a destination is
        read-only.
    NotSupportedError
        If an option needs a newer driver; it is named.
    """
