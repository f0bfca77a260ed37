# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Written by `make stubs`; do not edit.

"""The compiled part of cuprum. Import cuprum instead."""

from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence
)
import os
from typing import Any, Final, NoReturn
from uuid import UUID

from typing_extensions import CapsuleType

import cuprum
import cuprum._copy
import cuprum._graph_adjacency
import cuprum._graph_options
import cuprum._host
import cuprum._ipc_event
import cuprum._ipc_memory
import cuprum._managed
import cuprum._options
import cuprum._peer_access
import cuprum._tensor_map
import cuprum._texture_options
import cuprum._types
import cuprum.system.typing
import cuprum.typing
import cuprum.utils



VERSION: str = '0.1.0'

def follow_reference(is_on: bool) -> None:
    """
    Choose whether objects behave as those of cuda.core where the two differ.
    """

class SMResource:
    """
    A set of multiprocessors of one device.

    Obtained from ``DeviceResources.sm`` and ``split``. It reserves nothing until a context is made of
    it.

    Examples
    --------
    >>> groups, rest = device.resources.sm.split(cuprum.SMResourceOptions(count=8))
    >>> groups[0].sm_count >= 8
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """
        Return the address of the driver's ``CUdevResource``, which lives with this object.
        """

    @property
    def sm_count(self) -> int:
        """Return the number of multiprocessors."""

    @property
    def min_partition_size(self) -> int:
        """Return the fewest multiprocessors that a part may have."""

    @property
    def coscheduled_alignment(self) -> int:
        """
        Return the granularity of parts: their sizes are rounded up to multiples of it.
        """

    @property
    def flags(self) -> int:
        """Return the driver's flags."""

    @property
    def device(self) -> Device:
        """Return the device they belong to."""

    @property
    def is_usable(self) -> bool:
        """
        Return whether a context can be created from it. False after a dry run.
        """

    def split(self, options: cuprum._options.SMResourceOptions | dict, *, dry_run: bool = False) -> tuple[list[SMResource], SMResource]:
        """
        Split into groups and a remainder. This object does not change.

        Parameters
        ----------
        options : SMResourceOptions or dict
            The groups. Different sizes and co-scheduling need a driver for CUDA 13.1.
        dry_run : bool, optional
            Compute the sizes only; no context can be created from the result.

        Returns
        -------
        tuple of list of SMResource and SMResource
            The groups, and the remainder.

        Raises
        ------
        CUDAError
            With ``CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION`` if the device cannot be split this way.
        NotSupportedError
            If the driver is too old for these options.
        """

    def __repr__(self) -> str: ...

class WorkqueueResource:
    """
    The work queues of a device or context.

    Obtained from ``DeviceResources.workqueue``.

    Examples
    --------
    >>> queues = device.resources.workqueue
    >>> queues.configure(cuprum.WorkqueueResourceOptions(concurrency_limit=2))
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """
        Return the address of the driver's ``CUdevResource``, which lives with this object.
        """

    @property
    def sharing_scope(self) -> cuprum.typing.WorkqueueSharingScopeType:
        """Return which contexts share the queues."""

    @property
    def concurrency_limit(self) -> int:
        """Return how many streams should not wait for each other."""

    @property
    def device(self) -> Device:
        """Return the device they belong to."""

    def configure(self, options: cuprum._options.WorkqueueResourceOptions | dict | None) -> None:
        """
        Change the settings for contexts that are created from it afterwards.

        Parameters
        ----------
        options : WorkqueueResourceOptions or dict
            What to change. None leaves a setting unchanged.

        Raises
        ------
        ValueError
            If the limit is 0.
        """

    def __repr__(self) -> str: ...

class DeviceResources:
    """
    The resources of a device, or of one of its contexts.

    Obtained from ``Device.resources``, ``Context.resources`` or ``Stream.resources``.

    Examples
    --------
    >>> device.resources.sm.sm_count == device.properties.multiprocessor_count
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    def __repr__(self) -> str: ...

    @property
    def sm(self) -> SMResource:
        """
        Return the multiprocessors.

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 12.4.
        """

    @property
    def workqueue(self) -> WorkqueueResource:
        """
        Return the work queues.

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.1.
        """

class Context:
    """
    A context of one device.

    Obtained from ``Device.context``, ``Stream.context`` or ``Event.context``, or made by
    ``Device.create_context`` and ``Context.create``.

    Examples
    --------
    >>> context = device.context
    >>> with context.as_current():
    ...     print(cuprum.Context.current() == context)
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int | None:
        """Return the driver's ``CUcontext`` as an int, or None once closed."""

    @property
    def device(self) -> Device:
        """Return the device it belongs to."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def is_primary(self) -> bool:
        """Return whether this is a device's primary context."""

    @property
    def is_green(self) -> bool:
        """
        Return whether this is a green context, one that has its own part of the device.
        """

    @property
    def id(self) -> int:
        """Return a number that no other context of this process ever has."""

    @property
    def resources(self) -> DeviceResources:
        """
        Return the resources of this context: the whole device, or the part of a green context.
        """

    @staticmethod
    def create(device: Device | int, **flags: object) -> Context:
        """
        Create a context on a device, beside the primary one.

        It does not become current. Most programs need none: ``Device.create_context`` makes green
        contexts, and everything else works in the primary context.

        Parameters
        ----------
        device : Device or int
            Where it is made.
        **flags
            As for ``set_flags``.

        Returns
        -------
        Context
            The context. It is not made current.

        Raises
        ------
        TypeError
            If there is no such flag.
        ValueError
            If there is no such device, or a flag has no such value.
        CUDAError
            If the driver cannot create the context.
        """

    def create_stream(self, options: cuprum._options.StreamOptions | dict | None = None) -> Stream:
        """
        Create a stream in this context.

        Parameters
        ----------
        options : StreamOptions or dict, optional
            How the stream is made; those of a green context must be non-blocking.

        Returns
        -------
        Stream
            The stream.

        Raises
        ------
        ValueError
            If the priority is out of the device's range.
        """

    def record(self, event: Event) -> None:
        """
        Record an event after all work enqueued in this context so far, on all streams.

        Parameters
        ----------
        event : Event
            Must belong to this context.

        Raises
        ------
        ClosedError
            If the context or the event is closed.
        CUDAError
            If the event belongs to another context.
        """

    def wait(self, event: Event) -> None:
        """
        Make later work of all streams of this context wait for an event.

        Returns at once; only the device waits.

        Parameters
        ----------
        event : Event
            May belong to another context or another device.

        Raises
        ------
        ClosedError
            If the context or the event is closed.
        CUDAError
            If the driver refuses the wait, as while a stream of the context is captured.
        """

    def get_limit(self, limit: cuprum.typing.LimitType | str) -> int:
        """
        Return a limit of this context.

        Parameters
        ----------
        limit : LimitType or str
            Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.

        Returns
        -------
        int
            The current value.

        Raises
        ------
        ValueError
            If there is no such limit.
        """

    def set_limit(self, limit: cuprum.typing.LimitType | str, value: int) -> None:
        """
        Change a limit of this context; the driver may round the value up.

        Parameters
        ----------
        limit : LimitType or str
            Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.
        value : int
            The value to ask for, usually in bytes.

        Raises
        ------
        ValueError
            If there is no such limit, or the value is negative.
        """

    @property
    def cache_config(self) -> cuprum.typing.CacheConfigType:
        """Return the preferred split between L1 cache and shared memory."""

    @cache_config.setter
    def cache_config(self, config: cuprum.typing.CacheConfigType | str, /) -> None: ...

    @property
    def flags(self) -> cuprum._types.ContextFlags:
        """Return the flags of the context, as a named tuple."""

    def set_flags(self, **flags: object) -> None:
        """
        Change the flags of the context. Flags that are not named become the default.

        Parameters
        ----------
        wait : HostWaitType or str
            How threads wait for the device: ``"auto"``, ``"spin"``, ``"yield"`` or ``"blocking"``.
        map_host : bool
            Allow mapped pinned memory; always so on today's systems.
        resize_local_memory : bool
            Keep local memory at its largest size so far.
        coredump_on_error : bool
            Write a GPU core dump when a kernel fails.
        user_coredump : bool
            Write one when asked for through a pipe.
        sync_memory_operations : bool
            Make copies that may return early wait.

        Raises
        ------
        TypeError
            If there is no such flag.
        ValueError
            If a flag has no such value.
        ClosedError
            If the context is closed.
        CUDAError
            If the driver refuses the flags.
        """

    def reset_persisting_l2_cache(self) -> None:
        """
        Reset all persisting lines of the L2 cache to normal.

        Raises
        ------
        ClosedError
            If the context is closed.
        CUDAError
            If the driver refuses it.
        """

    def as_current(self) -> CurrentContext:
        """
        Make this context current on the calling thread for a ``with`` block.

        The previous context is restored at the end.

        Returns
        -------
        CurrentContext
            A guard for a ``with`` statement. It restores the context that was current before.

        Raises
        ------
        ClosedError
            When the block begins, if the context is closed.
        """

    @staticmethod
    def current() -> Context | None:
        """
        Return the context that is current on the calling thread, or None.

        Returns
        -------
        Context or None
            The context, or None if the thread has no context.

        Raises
        ------
        LibraryNotFoundError
            If there is no driver. The text shows the places that were searched.
        CUDAError
            If the driver cannot start.
        """

    def push(self) -> None:
        """
        Make this context current on the calling thread, on top of what is current.

        Call ``pop`` for every push, or use ``as_current``.

        Raises
        ------
        ClosedError
            If the context is closed.
        """

    @staticmethod
    def pop() -> Context:
        """
        Remove the current context from the thread's stack and return it.

        Returns
        -------
        Context
            The context that was removed.

        Raises
        ------
        CUDAError
            If no context is current on this thread.
        """

    def sync(self) -> None:
        """
        Block until all work in this context is done.

        Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

        Raises
        ------
        CUDAError
            If any of that work failed; the context is then unusable.
        """

    def close(self) -> None:
        """
        Release this object's share of the context. Calling it again does nothing.

        Streams, events and buffers made in the context have shares too.

        Raises
        ------
        RuntimeError
            If the context is current on the calling thread.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class CurrentContext:
    """
    A context that is current in a ``with`` block, from ``as_current``.

    Examples
    --------
    >>> with device.as_current():
    ...     print(cuprum.Context.current() == device.context)
    True
    """

    def __enter__(self) -> Context: ...

    def __exit__(self, *args: object) -> None: ...

class Stream:
    """
    A queue of work on one device, which runs in order.

    Made by ``Device.create_stream``, ``Context.create_stream`` or ``Stream.from_handle``.
    May be used from several threads at once.

    Examples
    --------
    >>> first, second = device.create_stream(), device.create_stream()
    >>> buffer.fill(0, stream=first)
    >>> second.wait(first)
    >>> second.sync()
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    def __del__(self) -> None: ...

    @staticmethod
    def from_handle(handle: int) -> Stream:
        """
        Wrap a driver stream made elsewhere, without owning it.

        Parameters
        ----------
        handle : int
            The driver's ``CUstream``.

        Returns
        -------
        Stream
            Equal to any other wrapper of the same handle.

        Raises
        ------
        TypeError
            If `handle` is not an int.
        ValueError
            If it does not fit 64 bits.
        """

    @property
    def handle(self) -> int:
        """Return the driver's ``CUstream`` as an int."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """
        Return ``(0, handle)``, the protocol by which libraries exchange streams.
        """

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def is_nonblocking(self) -> bool:
        """Return whether the stream is independent of the legacy default stream."""

    @property
    def priority(self) -> int:
        """Return the priority; lower runs first."""

    @property
    def context(self) -> Context:
        """
        Return the context that its work runs in; for the default streams the current one.
        """

    @property
    def device(self) -> Device:
        """
        Return the device that its work runs on; for the default streams the current one.
        """

    def sync(self) -> None:
        """
        Block until all work enqueued so far is done.

        Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

        Raises
        ------
        CUDAError
            If any of that work failed; the context is then unusable.
        """

    @property
    def is_done(self) -> bool:
        """Return whether all work enqueued so far is done."""

    def record(self, event: Event | None = None, options: cuprum._options.EventOptions | dict | None = None, *, external: bool = False) -> Event:
        """
        Record an event after the work enqueued so far.

        Parameters
        ----------
        event : Event, optional
            The event to record again. If not given, a new event is created.
        options : EventOptions or dict, optional
            Options for a new event.
        external : bool, optional
            In a stream that is being captured, make recording the event a part of the graph.

        Returns
        -------
        Event
            The event that was recorded.

        Raises
        ------
        ValueError
            If both an event and options are given.
        """

    def wait(self, event_or_stream: Event | Stream | cuprum.typing.IsStreamType, *, external: bool = False) -> None:
        """
        Make later work on this stream wait for an event or for another stream.

        Returns at once; only the device waits.

        Parameters
        ----------
        event_or_stream : Event, Stream or object with ``__cuda_stream__``
            For a stream, waits for the work that it holds now.
        external : bool, optional
            In a stream that is being captured, make waiting for the event a part of the graph.

        Raises
        ------
        ValueError
            If the argument is neither an event nor a stream.
        """

    def close(self) -> None:
        """
        Release this object's share of the stream.

        Queued work still completes. Calling it again does nothing; any other use raises ClosedError.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    @property
    def id(self) -> int:
        """Return a number that no other stream of this process ever has."""

    @property
    def resources(self) -> DeviceResources:
        """Return the resources of the stream's context."""

    def create_graph_builder(self) -> GraphBuilder:
        """
        Create a builder of graphs that captures what is enqueued on this stream.

        Returns
        -------
        GraphBuilder
            The builder. Call ``begin_building`` to start the capture.

        Raises
        ------
        ClosedError
            If the stream is closed.
        """

    def launch_host(self, function: Callable[[], object]) -> None:
        """
        Call a function on a thread of the driver, in this stream's order. Returns at once.

        If it raises, the exception goes to ``sys.unraisablehook`` and the stream continues. It is never
        called if earlier work of the context failed. If a ``GraphBuilder`` captures the stream, every launch
        of the graph calls it.

        Parameters
        ----------
        function : callable
            Called without arguments. It must not call CUDA, directly or through this package, nor wait for
            a thread that does.

        Raises
        ------
        CUDAError
            If other code than a ``GraphBuilder`` captures the stream.
        """

    def write_value(self, target: Buffer | int, value: int, *, offset: int = 0, bits: int = 32, memory_barrier: bool = True) -> None:
        """
        Write a number to memory of the device, in this stream's order.

        Parameters
        ----------
        target : Buffer or int
            Where, as a buffer or an address.
        value : int
            What, negative numbers in two's complement.
        offset : int, optional
            Bytes from the start of `target`.
        bits : int, optional
            32 or 64.
        memory_barrier : bool, optional
            Earlier writes of the stream are visible before the number is.

        Raises
        ------
        ValueError
            If the place is not aligned, or outside the buffer, or the number does not fit.
        """

    def wait_value(self, target: Buffer | int, value: int, *, offset: int = 0, bits: int = 32, condition: cuprum.typing.WaitConditionType | str = 'greater_or_equal', flush: bool = False) -> None:
        """
        Make later work on this stream wait until memory holds a number. Returns at once.

        Parameters
        ----------
        target : Buffer or int
            Where, as a buffer or an address.
        value : int
            What to compare with.
        offset : int, optional
            Bytes from the start of `target`.
        bits : int, optional
            32 or 64.
        condition : WaitConditionType or str, optional
            ``"greater_or_equal"`` (counters may wrap round), ``"equal"``, ``"and"`` (some bit of `value` is
            set) or ``"nor"`` (some bit is neither in memory nor in `value`).
        flush : bool, optional
            Also wait for writes of other devices that arrived before the number.

        Raises
        ------
        ValueError
            If the address is not aligned, or there is no such condition.
        """

    def set_priority(self, priority: int) -> None:
        """
        Change the priority of work enqueued from now on; lower runs first.

        Parameters
        ----------
        priority : int
            A number in the device's range.

        Raises
        ------
        ValueError
            If the priority is out of the device's range; the text shows the range.
        """

    @property
    def synchronization_policy(self) -> cuprum.typing.SynchronizationPolicyType:
        """Return how threads wait for this stream."""

    @synchronization_policy.setter
    def synchronization_policy(self, value: cuprum.typing.SynchronizationPolicyType | str, /) -> None: ...

    @property
    def memory_sync_domain(self) -> cuprum.typing.MemorySyncDomainType:
        """
        Return the domain whose writes a fence of this stream's kernels waits for.
        """

    @memory_sync_domain.setter
    def memory_sync_domain(self, value: cuprum.typing.MemorySyncDomainType | str, /) -> None: ...

    @property
    def memory_sync_domain_map(self) -> tuple[int, int]:
        """Return the hardware domains of the default and the remote domain."""

    @memory_sync_domain_map.setter
    def memory_sync_domain_map(self, map: tuple[int, int], /) -> None: ...

    @property
    def access_policy_window(self) -> cuprum._types.AccessPolicyWindow | None:
        """
        Return the range of memory whose accesses are cached in a certain way, or None.

        Set it to an object with ``base``, ``bytes``, ``hit_ratio``, ``hit`` and ``miss``, such as
        ``cuprum.AccessPolicyWindow``.
        """

    @access_policy_window.setter
    def access_policy_window(self, window: cuprum._types.AccessPolicyWindow | None, /) -> None: ...

    def copy_attributes_from(self, other: Stream) -> None:
        """
        Copy all attributes of another stream of the same context.

        Parameters
        ----------
        other : Stream
            The stream to copy from.

        Raises
        ------
        ClosedError
            If a stream is closed.
        """

    @classmethod
    def _init(cls, obj: object | None = None, options: object | None = None, device_id: object | None = None) -> object: ...

    @classmethod
    def _legacy_default(cls) -> object: ...

    @classmethod
    def _per_thread_default(cls) -> object: ...

LEGACY_DEFAULT_STREAM: Stream = ...

PER_THREAD_DEFAULT_STREAM: Stream = ...

class Event:
    """
    A point in the work of one stream.

    Made by ``Stream.record`` or ``Device.create_event``. ``later - earlier`` is the time between two
    events in milliseconds, if both were made with ``timing_enabled=True``.

    Examples
    --------
    >>> event = stream.record()
    >>> event.sync()
    >>> event.is_done
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUevent`` as an int."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def is_timing_enabled(self) -> bool:
        """Return whether the event measures time."""

    @property
    def is_blocking_sync(self) -> bool:
        """Return whether ``sync`` sleeps instead of spinning."""

    @property
    def is_ipc_enabled(self) -> bool:
        """Return whether the event can be shared with other processes."""

    @property
    def ipc_descriptor(self) -> cuprum._ipc_event.IPCEventDescriptor:
        """
        Return what another process needs to open this event.

        Raises
        ------
        RuntimeError
            If it was made without ``ipc_enabled=True``.
        """

    @classmethod
    def from_ipc_descriptor(cls, ipc_descriptor: cuprum._ipc_event.IPCEventDescriptor) -> Event:
        """
        Open an event of another process.

        Parameters
        ----------
        ipc_descriptor : IPCEventDescriptor
            What the other process got from ``Event.ipc_descriptor``.

        Returns
        -------
        Event
            The event of the other process.

        Raises
        ------
        ValueError
            If the descriptor is too short.
        """

    @property
    def context(self) -> Context | None:
        """Return the context of the event, or None for an event made elsewhere."""

    @property
    def device(self) -> Device | None:
        """Return the device of the event, or None for an event made elsewhere."""

    @property
    def is_done(self) -> bool:
        """
        Return whether the recorded work is done.

        Raises
        ------
        CUDAError
            If that work failed.
        """

    def sync(self) -> None:
        """
        Block until the recorded work is done.

        Raises
        ------
        CUDAError
            If the work itself failed; the context is then unusable.
        """

    def close(self) -> None:
        """
        Release this object's share of the event. Calling it again does nothing.
        """

    def __sub__(self, earlier: Event, /) -> float:
        """
        Return the time from another event to this one in milliseconds.

        Raises
        ------
        RuntimeError
            If either has no timing, was not recorded or is not done. The message says which.
        """

    def __isub__(self, other: object, /) -> object: ...

    def __rsub__(self, other: object, /) -> object: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class MemoryResource:
    """
    A source of memory.

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

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        """
        Allocate memory for use on a stream from now on. To be overridden.

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

    def deallocate(self, ptr: int, size: int, *, stream: Stream) -> None:
        """
        Free memory of ``allocate``, ordered on a stream. To be overridden.

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
        """
        Return the ordinal of the device whose memory it is, -1 for host memory. To be overridden.
        """

    @property
    def is_managed(self) -> bool:
        """Return whether the memory moves between host and device by itself."""

    def __repr__(self) -> str: ...

class MemoryPoolAttributes:
    """
    The memory that a pool holds and has held, and its settings. Each read asks the driver.

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
        """
        Return whether memory freed on one stream is reused on another that waits for it.
        """

    @reuse_follow_event_dependencies.setter
    def reuse_follow_event_dependencies(self, value: bool, /) -> None: ...

    @property
    def reuse_allow_opportunistic(self) -> bool:
        """Return whether memory is reused once the free is seen to be done."""

    @reuse_allow_opportunistic.setter
    def reuse_allow_opportunistic(self, value: bool, /) -> None: ...

    @property
    def reuse_allow_internal_dependencies(self) -> bool:
        """
        Return whether the driver may add waits between streams to reuse memory.
        """

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
    """
    A stream-ordered pool of memory: the base class of the three kinds.

    Examples
    --------
    >>> pool = cuprum.DeviceMemoryResource(device)
    >>> buffer = pool.allocate(1024, stream=stream)
    >>> pool.attributes.used_mem_current >= 1024
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    def __del__(self) -> None: ...

    def deallocate(self, ptr: int, size: int, *, stream: Stream) -> None:
        """
        Free memory of this pool that no Buffer holds.

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
        """
        Return the ordinal of the device whose memory this is, -1 for host memory.
        """

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
        """
        Return the UUID of the pool for other processes; None if it is not shared.
        """

    def _set_uuid(self, uuid: UUID) -> None: ...

    def _export(self) -> IPCAllocationHandle: ...

    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """
        Return the handle that other processes import the pool with.

        All handles of a pool share one file descriptor, which is closed with the last of them.

        Raises
        ------
        RuntimeError
            If the pool was not made with ``ipc_enabled``.
        """

    def register(self, uuid: UUID) -> MemoryPool:
        """
        Register an imported pool under the UUID of its exporter.

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
        """
        Return the pool that is registered under a UUID.

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

    def __reduce__(self) -> tuple: ...

    @property
    def attributes(self) -> MemoryPoolAttributes:
        """Return what the pool holds and has held; each read asks the driver."""

    def trim(self, keep_bytes: int = 0) -> None:
        """
        Return memory to the system until at most `keep_bytes` are reserved.

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
        """
        Return memory to the system until at most `keep_bytes` are reserved.

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
        """
        Release this object's share of the pool. Calling it again does nothing.

        Buffers that came from it stay valid and keep the pool alive.
        """

class DeviceMemoryResource(MemoryPool):
    """
    A stream-ordered pool of device memory.

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

    def __init__(self, device_id: Device | int, options: cuprum._options.DeviceMemoryResourceOptions | dict | None = None) -> None: ...

    def __del__(self) -> None: ...

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        """
        Allocate memory for use on a stream from now on.

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
    def from_handle(device_id: Device | int, handle: int, owner: object | None = None) -> DeviceMemoryResource:
        """
        Wrap a pool made elsewhere, without owning it; `owner` is kept alive with it.

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
    def from_allocation_handle(device_id: Device | int, alloc_handle: int | IPCAllocationHandle) -> DeviceMemoryResource:
        """
        Import a pool of another process to map its buffers. An imported pool cannot allocate.

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
    def peer_accessible_by(self) -> cuprum._peer_access.PeerAccessibleBySetProxy:
        """
        Return the other devices that may access the memory: a live set, which can be assigned.
        """

    @peer_accessible_by.setter
    def peer_accessible_by(self, devices: Iterable[Device | int], /) -> None: ...

    def _peers(self) -> list[int]: ...

    def _update_peers(self, give: Iterable[Device | int], take: Iterable[Device | int]) -> None: ...

    def _access_of(self, device: object) -> str: ...

class PinnedMemoryResource(MemoryPool):
    """
    A stream-ordered pool of page-locked host memory, which devices can access.

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

    def __init__(self, options: cuprum._options.PinnedMemoryResourceOptions | dict | None = None) -> None: ...

    def __del__(self) -> None: ...

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        """
        Allocate memory for use on a stream from now on.

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
        """
        Import a pool of another process to map its buffers. An imported pool cannot allocate.

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
    """
    A stream-ordered pool of managed memory, which moves between host and devices by itself.

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

    def __init__(self, options: cuprum._options.ManagedMemoryResourceOptions | dict | None = None) -> None: ...

    def __del__(self) -> None: ...

    def allocate(self, size: int, *, stream: Stream) -> ManagedBuffer:
        """
        Allocate memory for use on a stream from now on.

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

class LegacyPinnedMemoryResource(_NativeResource):
    """
    A memory resource of page-locked host memory, which devices can access.

    Works with every driver, but is slow. A ``PinnedMemoryResource`` reuses memory.

    Examples
    --------
    >>> pinned = cuprum.LegacyPinnedMemoryResource().allocate(1024)
    >>> pinned.is_host_accessible
    True
    """

    def __init__(self) -> None: ...

    def allocate(self, size: int, *, stream: Stream | None = None) -> Buffer:
        """
        Allocate memory, at once.

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

    def deallocate(self, ptr: int, size: int, *, stream: Stream | None = None) -> None:
        """
        Free memory that was allocated here and that no Buffer holds, in the stream's order.

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

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory."""

    @property
    def device_id(self) -> int:
        """Raise RuntimeError: it is the host's memory."""

class SynchronousMemoryResource(_NativeResource):
    """
    A memory resource for devices without pools, which allocates at once.

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

    def allocate(self, size: int, *, stream: Stream | None = None) -> Buffer:
        """
        Allocate memory, at once.

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

    def deallocate(self, ptr: int, size: int, *, stream: Stream | None = None) -> None:
        """
        Free memory that was allocated here and that no Buffer holds, in the stream's order.

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

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Return whether the host can access the memory."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory this is."""

def register_host_memory(obj: object, *, read_only: bool = False, io_memory: bool = False) -> Buffer:
    """
    Register existing host memory with the devices, until the buffer is freed.

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
    """
    Memory of a device that graphs hold and have held; each read asks the driver.

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
    """
    The memory resource of the graph that is being captured. There is one per device.

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

    def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer:
        """
        Allocate memory in the graph that a stream captures.

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

    def deallocate(self, ptr: int, size: int, *, stream: Stream | GraphBuilder) -> None:
        """
        Free memory of a graph that no Buffer holds.

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
        """
        Return memory to the system that no graph uses now.

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
    """
    A memory resource that reserves addresses and maps physical memory there.

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

    def __init__(self, device_id: Device | int, config: cuprum._options.VirtualMemoryResourceOptions | dict | None = None) -> None: ...

    def allocate(self, size: int, *, stream: Stream | None = None) -> Buffer:
        """
        Allocate at least `size` bytes, at once.

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

    def deallocate(self, ptr: int, size: int, *, stream: Stream | None = None) -> None:
        """
        Free memory that was allocated here and that no Buffer holds, in the stream's order.

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

    def modify_allocation(self, buf: Buffer, new_size: int, config: cuprum._options.VirtualMemoryResourceOptions | dict | None = None) -> Buffer:
        """
        Grow an allocation to at least `new_size` bytes and keep its contents.

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
    def config(self) -> cuprum._options.VirtualMemoryResourceOptions:
        """Return the options of the resource."""

    @property
    def device(self) -> Device | None:
        """
        Return the device whose memory this is, or None for memory of the host.
        """

    @property
    def device_id(self) -> int:
        """
        Return the ordinal of the device whose memory this is, -1 for memory of the host.
        """

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
    """
    A file descriptor that imports a pool of another process.

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
    def _duplicate(handle: int) -> IPCAllocationHandle: ...

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
        """
        Release this object's share of the file descriptor. Calling it again does nothing.
        """

    def __repr__(self) -> str: ...

def has_current_context() -> bool:
    """Return whether a context is current on the calling thread."""

class Buffer:
    """
    A piece of memory that devices can access.

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
    def from_handle(ptr: int, size: int, mr: MemoryResource | None = None, owner: object | None = None, *, stream: Stream | None = None) -> Buffer:
        """
        Wrap memory allocated elsewhere.

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
    def ipc_descriptor(self) -> cuprum._ipc_memory.IPCBufferDescriptor:
        """
        Return the descriptor of this buffer for processes that import its pool.

        Raises
        ------
        RuntimeError
            If it did not come from an IPC-enabled pool.
        """

    @staticmethod
    def from_ipc_descriptor(mr: MemoryPool, ipc_descriptor: cuprum._ipc_memory.IPCBufferDescriptor, *, stream: Stream) -> Buffer:
        """
        Map a buffer of another process into this one.

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

    def __reduce__(self) -> tuple: ...

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

    def copy_to(self, dst: Buffer | None = None, *, stream: Stream | GraphBuilder, options: cuprum._copy.CopyOptions | None = None) -> Buffer:
        """
        Copy all bytes to another buffer of the same size. Returns at once.

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

    def copy_from(self, src: Buffer, *, stream: Stream | GraphBuilder, options: cuprum._copy.CopyOptions | None = None) -> None:
        """
        Copy all bytes from another buffer of the same size. Returns at once.

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
        """
        Copy from host memory, such as a numpy array.

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
        """
        Copy to host memory, such as a numpy array.

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
        """
        Fill with a repeated value. Returns at once.

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
        """
        Release this object's share of the memory; the last one frees it.

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
        """
        Set the stream that the memory will be freed on.

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
        """
        Return memory that the host can reach as an array of bytes.

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
        """
        Return a part of the memory as a buffer that shares it.

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

    def copy_region_from(self, src: Buffer, extent: tuple[int, ...], *, stream: Stream | GraphBuilder, offset: int = 0, pitch: int = 0, rows_per_slice: int = 0, src_offset: int = 0, src_pitch: int = 0, src_rows_per_slice: int = 0) -> None:
        """
        Copy a part, a rectangle or a box of bytes from another buffer. Returns at once.

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

    def fill_region(self, value: object, extent: tuple[int, ...], *, stream: Stream | GraphBuilder, offset: int = 0, pitch: int = 0) -> None:
        """
        Fill a rectangle of bytes with a repeated value. Returns at once.

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

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> CapsuleType:
        """
        Return the memory as a DLPack capsule: one dimension of int8.

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
    """
    A piece of managed memory, which moves between host and devices by itself.

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
    def from_handle(ptr: int, size: int, mr: MemoryResource | None = None, owner: object | None = None, *, stream: Stream | None = None) -> ManagedBuffer:
        """
        Wrap managed memory allocated elsewhere; see ``Buffer.from_handle``.

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
        """
        Return whether the memory is mostly read, so that copies of it may be kept.
        """

    @read_mostly.setter
    def read_mostly(self, value: bool, /) -> None: ...

    @property
    def preferred_location(self) -> Device | cuprum._host.Host | None:
        """Return the preferred location of the memory, or None."""

    @preferred_location.setter
    def preferred_location(self, location: Device | cuprum._host.Host | None, /) -> None: ...

    @property
    def accessed_by(self) -> cuprum._managed.AccessedBySetProxy:
        """
        Return the locations that keep the memory mapped: a live set, which can be assigned.
        """

    @accessed_by.setter
    def accessed_by(self, locations: Iterable[Device | cuprum._host.Host], /) -> None: ...

    def _accessors(self) -> list[Device | cuprum._host.Host]: ...

    def _advise_accessor(self, location: object | None, is_added: bool) -> None: ...

    @property
    def last_prefetch_location(self) -> Device | cuprum._host.Host | None:
        """Return the location of the last prefetch, or None."""

    def prefetch(self, location: Device | cuprum._host.Host, *, stream: Stream) -> None:
        """
        Move the memory to a location, in a stream's order. Returns at once.

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
        """
        Discard the contents of the memory, in a stream's order. Needs a driver for CUDA 13.0.

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

    def discard_prefetch(self, location: Device | cuprum._host.Host, *, stream: Stream) -> None:
        """
        Discard the contents of the memory and move it. Needs a driver for CUDA 13.0.

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

def prefetch_batch(stream: Stream, buffers: Sequence[Buffer], locations: Device | cuprum._host.Host | Sequence[Device | cuprum._host.Host]) -> None:
    """
    Move managed memory, each buffer to its place, in a stream's order.

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
    """
    Discard the contents of managed memory, in a stream's order. Needs CUDA 13.0.

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

def discard_prefetch_batch(stream: Stream, buffers: Sequence[Buffer], locations: Device | cuprum._host.Host | Sequence[Device | cuprum._host.Host]) -> None:
    """
    Discard the contents of managed memory and move it; see ``prefetch_batch``. Needs a driver for CUDA 13.0.

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

def copy_batch(stream: Stream, srcs: Sequence[Buffer], dsts: Sequence[Buffer], *, options: cuprum._copy.CopyOptions | Sequence[cuprum._copy.CopyOptions] | None = None) -> None:
    """
    Copy many buffers at once. The batch is ordered on a stream, but its copies have no order.

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

class OpaqueArray:
    """
    Memory in a layout that textures and surfaces read fast.

    Made by ``Device.create_opaque_array``. It has no address: kernels read it through a
    ``TextureObject`` and read and write it through a ``SurfaceObject``. Copy data in with ``copy_from``
    and out with ``copy_to`` or ``to_numpy``.

    Examples
    --------
    >>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
    >>> array.copy_from(np.ones((8, 8), dtype=np.float32), stream=stream)
    >>> array.shape
    (8, 8)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @staticmethod
    def from_handle(handle: int, *, owner: object | None = None) -> OpaqueArray:
        """
        Wrap an array made elsewhere, without owning it.

        Parameters
        ----------
        handle : int
            The driver's ``CUarray``. It belongs to the current context.
        owner : object, optional
            Kept alive with the array.

        Returns
        -------
        OpaqueArray
            The array, not owned.

        Raises
        ------
        TypeError
            If `handle` is not an int.
        ValueError
            If `handle` is 0.
        CUDAError
            If it is not an array of the current context.
        """

    @property
    def handle(self) -> int:
        """Return the driver's ``CUarray`` as an int, 0 once closed."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def shape(self) -> tuple[int, ...]:
        """
        Return width, height and depth in elements, as many as there are. Layers do not count.
        """

    @property
    def format(self) -> cuprum.typing.ArrayFormatType:
        """Return the format of the elements."""

    @property
    def num_channels(self) -> int:
        """Return the number of channels of an element."""

    @property
    def num_layers(self) -> int:
        """Return the number of layers, 0 if the array has none."""

    @property
    def is_cubemap(self) -> bool:
        """Return whether the array has six faces."""

    @property
    def is_surface_load_store(self) -> bool:
        """Return whether a ``SurfaceObject`` can be made of the array."""

    @property
    def element_bytes(self) -> int:
        """Return the bytes of an element, or of a block of a compressed format."""

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all elements, as copies take them."""

    @property
    def device(self) -> Device:
        """Return the device that the array lies on."""

    @property
    def memory_requirements(self) -> cuprum._texture_options.ArrayMemoryRequirements:
        """
        Return the memory that an array with ``is_deferred_mapping`` needs.

        Raises
        ------
        ValueError
            If the array has its own memory.
        """

    @property
    def sparse_properties(self) -> cuprum._texture_options.ArraySparseProperties:
        """
        Return how the memory of a sparse array is divided.

        Raises
        ------
        ValueError
            If the array is not sparse.
        """

    def get_plane(self, index: int) -> OpaqueArray:
        """
        Return one plane of a video format as an array, which keeps this one alive.

        Parameters
        ----------
        index : int
            Which plane; 0 is the brightness.

        Returns
        -------
        OpaqueArray
            The plane.

        Raises
        ------
        ValueError
            If the format has no such plane.
        """

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        """Raise TypeError: numpy would make an array of one Python object."""

    __array_ufunc__: None = None

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def copy_from(self, src: object, *, stream: Stream | GraphBuilder, offset: tuple[int, ...] | None = None, shape: tuple[int, ...] | None = None, src_offset: tuple[int, ...] | None = None, pitch_bytes: int | None = None, rows_per_slice: int | None = None) -> None:
        """
        Copy all elements, or a region, into this array. Returns at once.

        Parameters
        ----------
        src : Buffer, OpaqueArray or object with the buffer protocol
            Where to copy from. A numpy array has the type of the channels and the shape of the region,
            slowest axis first; its last axis holds the channels. Its rows may have gaps. All numbers may
            also lie in one dimension. A buffer or a row of bytes, such as ``bytes``, has no type: it has at
            least the bytes of the region, rows one after another.
        stream : Stream or GraphBuilder
            The copy is ordered on it. Host memory cannot be captured into a graph.
        offset : tuple of int, optional
            The first element of the region: x, y, and the slice, layer or face.
        shape : tuple of int, optional
            The size of the region: width, height, and slices, layers or faces. None is up to the end.
        src_offset : tuple of int, optional
            The first element in another array.
        pitch_bytes : int, optional
            Bytes from row to row in a buffer. None is without gaps.
        rows_per_slice : int, optional
            Rows from slice to slice in a buffer. None is without gaps.

        Raises
        ------
        ValueError
            If the region does not lie in the array, or `src` is too small for it or has another shape or
            type.
        TypeError
            If `src` has another type.
        """

    def copy_to(self, dst: object, *, stream: Stream | GraphBuilder, offset: tuple[int, ...] | None = None, shape: tuple[int, ...] | None = None, dst_offset: tuple[int, ...] | None = None, pitch_bytes: int | None = None, rows_per_slice: int | None = None) -> object:
        """
        Copy all elements, or a region, out of this array. Returns `dst` at once.

        Parameters
        ----------
        dst : Buffer, OpaqueArray or writable object with the buffer protocol
            Where to copy to; see ``copy_from``. Keep host memory alive, and do not read it before the
            stream gets there.
        stream : Stream or GraphBuilder
            The copy is ordered on it. Host memory cannot be captured into a graph.
        offset : tuple of int, optional
            The first element of the region: x, y, and the slice, layer or face.
        shape : tuple of int, optional
            The size of the region: width, height, and slices, layers or faces. None is up to the end.
        dst_offset : tuple of int, optional
            The first element in another array.
        pitch_bytes : int, optional
            Bytes from row to row in a buffer. None is without gaps.
        rows_per_slice : int, optional
            Rows from slice to slice in a buffer. None is without gaps.

        Returns
        -------
        object
            `dst`.

        Raises
        ------
        ValueError
            If the region does not lie in the array, or `dst` is too small for it or has another shape or
            type.
        TypeError
            If `dst` has another type.
        """

    def to_numpy(self, *, stream: Stream, offset: tuple[int, ...] | None = None, shape: tuple[int, ...] | None = None) -> Any:
        """
        Return all elements, or a region, as a new numpy array. Waits for the stream.

        The axes are slices or layers, rows, columns and channels. An axis that the array does not have is
        left out, and so is that of a single channel. Blocks of a compressed format are bytes, video formats
        of one plane words.

        Parameters
        ----------
        stream : Stream
            The copy is ordered on it.
        offset : tuple of int, optional
            The first element of the region: x, y, and the slice, layer or face.
        shape : tuple of int, optional
            The size of the region: width, height, and slices, layers or faces. None is up to the end.

        Returns
        -------
        numpy.ndarray
            The elements.

        Raises
        ------
        TypeError
            If `stream` is not a stream, or `offset` or `shape` is not a tuple of ints.
        ValueError
            If the region does not lie in the array.
        ClosedError
            If the array or the stream is closed.
        ImportError
            If numpy is not installed.
        """

    def close(self) -> None:
        """
        Release this object's share of the array. Calling it again does nothing.

        Textures, surfaces and graphs that use the array keep their shares.
        """

    def __enter__(self) -> OpaqueArray: ...

    def __exit__(self, exc_type: object, exc: object, tb: object) -> None: ...

class MipmappedArray:
    """
    An array with smaller versions of itself.

    Made by ``Device.create_mipmapped_array``. Each level has half the size of the one before. Levels
    are ``OpaqueArray`` objects that keep the whole alive.

    Examples
    --------
    >>> options = cuprum.texture.MipmappedArrayOptions((64, 64), "float32", num_levels=3)
    >>> array = device.create_mipmapped_array(options)
    >>> array.get_level(1).shape
    (32, 32)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUmipmappedArray`` as an int, 0 once closed."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def shape(self) -> tuple[int, ...]:
        """
        Return width, height and depth of level 0 in elements, as many as there are.
        """

    @property
    def format(self) -> cuprum.typing.ArrayFormatType:
        """Return the format of the elements."""

    @property
    def num_channels(self) -> int:
        """Return the number of channels of an element."""

    @property
    def num_levels(self) -> int:
        """Return the number of levels."""

    @property
    def num_layers(self) -> int:
        """Return the number of layers, 0 if the array has none."""

    @property
    def is_cubemap(self) -> bool:
        """Return whether the array has six faces."""

    @property
    def is_surface_load_store(self) -> bool:
        """Return whether a ``SurfaceObject`` can be made of a level."""

    @property
    def device(self) -> Device:
        """Return the device that the array lies on."""

    @property
    def memory_requirements(self) -> cuprum._texture_options.ArrayMemoryRequirements:
        """
        Return the memory that an array with ``is_deferred_mapping`` needs.

        Raises
        ------
        ValueError
            If the array has its own memory.
        """

    @property
    def sparse_properties(self) -> cuprum._texture_options.ArraySparseProperties:
        """
        Return how the memory of a sparse array is divided.

        Raises
        ------
        ValueError
            If the array is not sparse.
        """

    def get_level(self, level: int) -> OpaqueArray:
        """
        Return a level as an array, which keeps the whole alive.

        Parameters
        ----------
        level : int
            0 is the largest one.

        Returns
        -------
        OpaqueArray
            The level.

        Raises
        ------
        ValueError
            If there is no such level.
        """

    def close(self) -> None:
        """
        Release this object's share of the array. Calling it again does nothing.

        Levels, textures and graphs keep their shares.
        """

    def __enter__(self) -> MipmappedArray: ...

    def __exit__(self, exc_type: object, exc: object, tb: object) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class ResourceDescriptor:
    """
    The memory that a texture or a surface reads.

    Made by the ``from_`` methods, from an array, a mipmapped array or a buffer. Surfaces need an
    ``OpaqueArray``.

    Examples
    --------
    >>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
    >>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
    >>> texture = device.create_texture_object(resource=resource)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @staticmethod
    def from_opaque_array(array: OpaqueArray) -> ResourceDescriptor:
        """
        Describe an array, for textures and surfaces.

        Parameters
        ----------
        array : OpaqueArray
            What kernels read.

        Returns
        -------
        ResourceDescriptor
            The description. It keeps the array alive.

        Raises
        ------
        TypeError
            If `array` is not an OpaqueArray.
        ClosedError
            If the array is closed.
        """

    @staticmethod
    def from_mipmapped_array(mipmapped_array: MipmappedArray) -> ResourceDescriptor:
        """
        Describe an array with levels, for textures.

        Parameters
        ----------
        mipmapped_array : MipmappedArray
            What kernels read.

        Returns
        -------
        ResourceDescriptor
            The description. It keeps the array alive.

        Raises
        ------
        TypeError
            If `mipmapped_array` is not a MipmappedArray.
        ClosedError
            If the array is closed.
        """

    @staticmethod
    def from_linear(buffer: Buffer, *, format: object, num_channels: int, size_bytes: int | None = None) -> ResourceDescriptor:
        """
        Describe elements in a buffer that kernels read by index, for textures.

        There is no filtering, and coordinates are not normalized.

        Parameters
        ----------
        buffer : Buffer
            The memory. Its address is a multiple of the device's ``texture_alignment``.
        format : ArrayFormatType, str or numpy type
            One of the first eight formats.
        num_channels : int
            1, 2 or 4.
        size_bytes : int, optional
            How many bytes are read. None is the whole buffer.

        Returns
        -------
        ResourceDescriptor
            The description. It keeps the buffer alive.

        Raises
        ------
        ValueError
            If the elements do not fill the bytes, or these exceed the buffer.
        """

    @staticmethod
    def from_pitch2d(buffer: Buffer, *, format: object, num_channels: int, width: int, height: int, pitch_bytes: int) -> ResourceDescriptor:
        """
        Describe the rows of an image in a buffer, for textures.

        Parameters
        ----------
        buffer : Buffer
            The memory. Its address is a multiple of the device's ``texture_alignment``.
        format : ArrayFormatType, str or numpy type
            One of the first eight formats.
        num_channels : int
            1, 2 or 4.
        width : int
            Elements in a row.
        height : int
            Rows.
        pitch_bytes : int
            Bytes from row to row, a multiple of the device's ``texture_pitch_alignment``.

        Returns
        -------
        ResourceDescriptor
            The description. It keeps the buffer alive.

        Raises
        ------
        ValueError
            If rows overlap or do not fit the buffer.
        """

    @property
    def kind(self) -> str:
        """Return the kind: 'array', 'mipmapped_array', 'linear' or 'pitch2d'."""

    @property
    def source(self) -> OpaqueArray | MipmappedArray | Buffer:
        """Return the array or the buffer."""

    @property
    def format(self) -> cuprum.typing.ArrayFormatType | None:
        """Return the format of the elements in a buffer, or None for an array."""

    @property
    def num_channels(self) -> int | None:
        """
        Return the number of channels of the elements in a buffer, or None for an array.
        """

    @property
    def size_bytes(self) -> int | None:
        """
        Return the bytes that are read of linear memory, or None for another kind.
        """

    @property
    def _size_bytes(self) -> int | None:
        """
        Return the bytes that are read of linear memory, or None for another kind.
        """

    @property
    def width(self) -> int | None:
        """Return the elements in a row of an image, or None for another kind."""

    @property
    def height(self) -> int | None:
        """Return the rows of an image, or None for another kind."""

    @property
    def pitch_bytes(self) -> int | None:
        """
        Return the bytes from row to row of an image, or None for another kind.
        """

    def __repr__(self) -> str: ...

class _TextureSampling:
    """The settings of a texture, checked and converted."""

class TextureObject:
    """
    A handle by which kernels read an array or a buffer as a texture.

    Made by ``Device.create_texture_object``. It keeps the memory alive. Pass it to ``launch`` for a
    parameter of type ``cudaTextureObject_t``, and keep it until the kernels that read it are done.

    Examples
    --------
    >>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
    >>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
    >>> texture = device.create_texture_object(resource=resource, options={"filter_mode": "linear"})
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the handle that kernels take as an int, 0 once closed."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def resource(self) -> ResourceDescriptor | None:
        """Return the memory that it was made from, or None once closed."""

    @property
    def device(self) -> Device:
        """Return the device that it belongs to."""

    def close(self) -> None:
        """
        Release this object's share. Calling it again does nothing.

        Graphs that use it keep their shares.
        """

    def __enter__(self) -> TextureObject: ...

    def __exit__(self, exc_type: object, exc: object, tb: object) -> None: ...

    def __repr__(self) -> str: ...

    @property
    def options(self) -> cuprum._texture_options.TextureObjectOptions:
        """Return the options that it was made with."""

class SurfaceObject:
    """
    A handle by which kernels read and write an array.

    Made by ``Device.create_surface_object``. It keeps the array alive. Pass it to ``launch`` for a
    parameter of type ``cudaSurfaceObject_t``, and keep it until the kernels that use it are done.

    Examples
    --------
    >>> options = cuprum.texture.OpaqueArrayOptions((8, 8), "float32", is_surface_load_store=True)
    >>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(
    ...     device.create_opaque_array(options))
    >>> surface = device.create_surface_object(resource=resource)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the handle that kernels take as an int, 0 once closed."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def resource(self) -> ResourceDescriptor | None:
        """Return the memory that it was made from, or None once closed."""

    @property
    def device(self) -> Device:
        """Return the device that it belongs to."""

    def close(self) -> None:
        """
        Release this object's share. Calling it again does nothing.

        Graphs that use it keep their shares.
        """

    def __enter__(self) -> SurfaceObject: ...

    def __exit__(self, exc_type: object, exc: object, tb: object) -> None: ...

    def __repr__(self) -> str: ...

class DeviceProperties:
    """
    The attributes of one device, under the driver's names in lower case.

    If the driver does not know an attribute, reading it raises an error that is an AttributeError and a CUDAError. ``get`` returns a
    default in that case, and ``is_supported`` returns whether the driver knows it.

    Examples
    --------
    >>> device.properties.warp_size
    32
    >>> device.properties.get("multiprocessor_count", 0) > 0
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def max_threads_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_block_dim_x(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_block_dim_y(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_block_dim_z(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_grid_dim_x(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_grid_dim_y(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_grid_dim_z(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_shared_memory_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def total_constant_memory(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def warp_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_pitch(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_registers_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def clock_rate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def texture_alignment(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_overlap(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def multiprocessor_count(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def kernel_exec_timeout(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def integrated(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_map_host_memory(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def compute_mode(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_depth(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_layered_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def surface_alignment(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def concurrent_kernels(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def ecc_enabled(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def pci_bus_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def pci_device_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def tcc_driver(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def memory_clock_rate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def global_memory_bus_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def l2_cache_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_threads_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def async_engine_count(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def unified_addressing(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_tex2d_gather(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_gather_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_gather_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_width_alternate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_height_alternate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_depth_alternate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def pci_domain_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def texture_pitch_alignment(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texturecubemap_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texturecubemap_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texturecubemap_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface1d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface3d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface3d_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface3d_depth(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface1d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface1d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_layered_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surfacecubemap_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surfacecubemap_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surfacecubemap_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_linear_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_linear_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_linear_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_linear_pitch(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_mipmapped_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_mipmapped_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def compute_capability_major(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def compute_capability_minor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_mipmapped_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def stream_priorities_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def global_l1_cache_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def local_l1_cache_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def max_shared_memory_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_registers_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def managed_memory(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def multi_gpu_board(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def multi_gpu_board_group_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def host_native_atomic_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def single_to_double_precision_perf_ratio(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def pageable_memory_access(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def concurrent_managed_access(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def compute_preemption_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_use_host_pointer_for_registered_mem(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_use_stream_mem_ops_v1(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_use_64_bit_stream_mem_ops_v1(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_use_stream_wait_value_nor_v1(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def cooperative_launch(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def cooperative_multi_device_launch(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_shared_memory_per_block_optin(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_flush_remote_writes(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_register_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def pageable_memory_access_uses_host_page_tables(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def direct_managed_mem_access_from_host(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def virtual_memory_management_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_posix_file_descriptor_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_win32_handle_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_win32_kmt_handle_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def max_blocks_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def generic_compression_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def max_persisting_l2_cache_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_access_policy_window_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_with_cuda_vmm_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def reserved_shared_memory_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def sparse_cuda_array_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def read_only_host_register_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def timeline_semaphore_interop_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def memory_pools_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_flush_writes_options(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_writes_ordering(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def mempool_supported_handle_types(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def cluster_launch(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def deferred_mapping_cuda_array_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_use_64_bit_stream_mem_ops(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_use_stream_wait_value_nor(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def dma_buf_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def ipc_event_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def mem_sync_domain_count(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def tensor_map_access_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_fabric_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def unified_function_pointers(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def numa_config(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def numa_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def multicast_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def mps_enabled(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def d3d12_cig_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def mem_decompress_algorithm_mask(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def mem_decompress_maximum_length(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def vulkan_cig_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def gpu_pci_device_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_pci_subsystem_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_virtual_memory_management_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_memory_pools_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_multinode_ipc_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_memory_pools_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_virtual_memory_management_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_alloc_dma_buf_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def only_partial_host_native_atomic_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    def get(self, name: str, default: object = None) -> object:
        """
        Return an attribute by name, or a default if the driver does not know it.

        Parameters
        ----------
        name : str
            The driver's name in lower case, such as ``"multiprocessor_count"``.
        default : object, optional
            Returned if this driver does not know the attribute.

        Returns
        -------
        object
            The value or the default.

        Raises
        ------
        ValueError
            If there is no attribute of that name at all.
        """

    def __repr__(self) -> str: ...

    def is_supported(self, name: str) -> bool:
        """
        Return whether the driver knows an attribute.

        Parameters
        ----------
        name : str
            The name of an attribute.

        Returns
        -------
        bool
            False if the driver is too old for it.

        Raises
        ------
        ValueError
            If there is no attribute of that name at all.
        """

    @staticmethod
    def names() -> list[str]:
        """
        Return the names of all attributes, in the driver's order.

        Returns
        -------
        list[str]
            The names.
        """

class Device:
    """
    One CUDA device.

    There is one object per device: ``Device(0) is Device(0)``. Its methods act on this device even if
    another one is current. Only ``set_current`` changes the current context.

    Parameters
    ----------
    device_id : int or Device, optional
        The device's ordinal. Without it, the device of the current context, or device 0 if there is
        none.

    Raises
    ------
    ValueError
        If there is no such device. The message shows the valid range.

    Examples
    --------
    >>> device = cuprum.Device(0)
    >>> device.set_current()
    >>> device.device_id
    0
    """

    def __init__(self, device_id: object | None = None) -> None: ...

    def __reduce__(self) -> tuple: ...

    @staticmethod
    def get_all_devices() -> tuple[Device, ...]:
        """
        Return all devices, in order.

        Returns
        -------
        tuple[Device, ...]
            The devices, by ordinal.

        Raises
        ------
        LibraryNotFoundError
            If there is no driver. The text shows the places that were searched.
        CUDAError
            If the driver cannot start.
        """

    @property
    def device_id(self) -> int:
        """Return the ordinal."""

    def __int__(self) -> int: ...

    def __index__(self) -> int: ...

    @property
    def name(self) -> str:
        """Return the model's name."""

    @property
    def uuid(self) -> str:
        """
        Return the UUID as 8-4-4-4-12 hexadecimal digits. A restore onto another device changes it.
        """

    @property
    def pci_bus_id(self) -> str:
        """Return the PCI address, such as ``0000:65:00.0``."""

    @property
    def compute_capability(self) -> cuprum._types.ComputeCapability:
        """Return the compute capability as a named tuple ``(major, minor)``."""

    @property
    def arch(self) -> str:
        """Return the compute capability as compilers name it, such as ``90``."""

    @property
    def is_emulated(self) -> bool:
        """Return whether this is the emulated device."""

    @property
    def properties(self) -> DeviceProperties:
        """Return the device's attributes."""

    @property
    def memory_info(self) -> cuprum._types.MemoryInfo:
        """
        Return free and total memory in bytes as a named tuple ``(free, total)``.
        """

    def can_access_peer(self, peer: Device | int) -> bool:
        """
        Return whether kernels on this device may access another device's memory.

        Parameters
        ----------
        peer : Device or int
            The other device, or its ordinal.

        Returns
        -------
        bool
            True if the link between the devices allows it.

        Raises
        ------
        ValueError
            If there is no such device.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str:
        """Return what notebooks show."""

    def set_current(self, ctx: Context | None = None) -> Context | None:
        """
        Make a context of this device current on the calling thread.

        Parameters
        ----------
        ctx : Context, optional
            Replaces the current context. Without it, the device's primary context becomes current.

        Returns
        -------
        Context or None
            The context that was current before, if `ctx` was given and there was one.

        Raises
        ------
        RuntimeError
            If `ctx` belongs to another device.
        """

    @property
    def context(self) -> Context:
        """
        Return the current context if it is this device's, else the primary one.
        """

    def sync(self) -> None:
        """
        Block until all work of this device's context is done.

        Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

        Raises
        ------
        CUDAError
            If any of that work failed; the context is then unusable.
        """

    @property
    def default_stream(self) -> Stream:
        """
        Return the default stream.

        It is ``LEGACY_DEFAULT_STREAM``, or ``PER_THREAD_DEFAULT_STREAM`` if the environment variable
        ``CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`` is set to a number other than 0.
        """

    def create_stream(self, obj: cuprum.typing.IsStreamType | None = None, options: cuprum._options.StreamOptions | dict | None = None) -> Stream:
        """
        Create a stream, or wrap one of another library.

        Parameters
        ----------
        obj : object with ``__cuda_stream__``, optional
            Wrapped, not owned; it is kept alive with the result.
        options : StreamOptions or dict, optional
            How a new stream is made.

        Returns
        -------
        Stream
            The stream.

        Raises
        ------
        ValueError
            If both are given, or the priority is out of the device's range.
        """

    def create_event(self, options: cuprum._options.EventOptions | dict | None = None) -> Event:
        """
        Create an event. It counts as done until it is recorded.

        Parameters
        ----------
        options : EventOptions or dict, optional
            How the event is made.

        Returns
        -------
        Event
            The event.

        Raises
        ------
        TypeError
            If both timing and IPC are asked for.
        """

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        """
        Allocate device memory from ``memory_resource``.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream
            Work on this stream may use the memory from now on. The memory is freed on this stream.

        Returns
        -------
        Buffer
            The memory. It returns to its resource when the last reference is gone.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory. The message shows the requested and the free bytes.
        """

    @property
    def memory_resource(self) -> MemoryResource:
        """
        Return the resource that ``allocate`` uses.

        It is the device's current memory pool until another MemoryResource is set.
        """

    @memory_resource.setter
    def memory_resource(self, resource: MemoryResource, /) -> None: ...

    def __str__(self) -> str: ...

    @property
    def total_memory(self) -> int:
        """Return the size of the device's memory in bytes. Needs no context."""

    @property
    def resources(self) -> DeviceResources:
        """Return the resources of the whole device, which green contexts divide."""

    def create_context(self, options: cuprum._options.ContextOptions | dict | None = None) -> Context:
        """
        Create a green context, which has its own part of the device.

        It does not become current. ``Context.create`` makes one that is not green.

        Parameters
        ----------
        options : ContextOptions or dict
            What it is made of.

        Returns
        -------
        Context
            The context. It is not made current.

        Raises
        ------
        ValueError
            If there are no multiprocessors, or if they belong to another device or a dry run.
        NotSupportedError
            If the driver is older than CUDA 12.4.
        """

    def as_current(self) -> CurrentContext:
        """
        Make this device's primary context current for a ``with`` block.

        The previous context is restored at the end.

        Returns
        -------
        CurrentContext
            A guard for a ``with`` statement. It restores the context that was current before.

        Raises
        ------
        CUDAError
            If the primary context cannot be created.
        """

    @property
    def is_primary_context_active(self) -> bool:
        """Return whether the primary context exists."""

    @property
    def primary_context_flags(self) -> cuprum._types.ContextFlags:
        """Return the flags that the primary context has, or would have."""

    def set_primary_context_flags(self, **flags: object) -> None:
        """
        Change the flags of the primary context; they are those of ``Context.set_flags``.

        Raises
        ------
        TypeError
            If there is no such flag.
        ValueError
            If a flag has no such value.
        CUDAError
            If the driver refuses the flags.
        """

    def reset_primary_context(self) -> None:
        """
        Destroy everything in the primary context, of all libraries in the process.

        The next use creates the context again. Old streams, events and context memory raise
        ``ClosedError``.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

    def get_limit(self, limit: cuprum.typing.LimitType | str) -> int:
        """
        Return a limit of this device's context.

        Parameters
        ----------
        limit : LimitType or str
            Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.

        Returns
        -------
        int
            The current value.

        Raises
        ------
        ValueError
            If there is no such limit.
        """

    def set_limit(self, limit: cuprum.typing.LimitType | str, value: int) -> None:
        """
        Change a limit of this device's context; the driver may round the value up.

        Parameters
        ----------
        limit : LimitType or str
            Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.
        value : int
            The value to ask for, usually in bytes.

        Raises
        ------
        ValueError
            If there is no such limit, or the value is negative.
        """

    def enable_peer_access(self, peer: Device | int) -> None:
        """
        Let kernels on this device access another device's memory, except memory of pools.

        Pools have ``peer_accessible_by``. Harmless if the access is enabled already.

        Parameters
        ----------
        peer : Device or int
            The device whose memory kernels on this one access, or its ordinal.

        Raises
        ------
        ValueError
            If there is no such device, or it is this one.
        """

    def disable_peer_access(self, peer: Device | int) -> None:
        """
        Disable the access. Harmless if it was not enabled.

        Parameters
        ----------
        peer : Device or int
            The device whose memory kernels on this one no longer access, or its ordinal.

        Raises
        ------
        ValueError
            If there is no such device, or it is this one.
        """

    def get_p2p_attribute(self, attribute: cuprum.typing.P2PAttributeType | str, peer: Device | int) -> int:
        """
        Return a property of the link to another device.

        Parameters
        ----------
        attribute : P2PAttributeType or str
            ``"performance_rank"``, ``"access_supported"``, ``"native_atomic_supported"`` or
            ``"cuda_array_access_supported"``.
        peer : Device or int
            The other device.

        Returns
        -------
        int
            The value of the attribute.

        Raises
        ------
        ValueError
            If there is no such attribute or no such device.
        """

    def to_system_device(self) -> SystemDevice:
        """
        Return the same device as the management library (NVML) knows it.

        Returns
        -------
        SystemDevice
            The device of `cuprum.system`.

        Raises
        ------
        cuprum.system.LibraryNotFoundError
            If there is no NVML.
        cuprum.system.NotFoundError
            If NVML does not see the device.
        """

    def create_graph_builder(self) -> GraphBuilder:
        """
        Create a builder of graphs that captures a new stream.

        Returns
        -------
        GraphBuilder
            The builder. Call ``begin_building`` to start the capture.

        Raises
        ------
        CUDAError
            If the driver cannot create the stream.
        """

    def create_opaque_array(self, options: cuprum._texture_options.OpaqueArrayOptions | dict) -> OpaqueArray:
        """
        Create an array for textures and surfaces.

        Parameters
        ----------
        options : OpaqueArrayOptions or dict
            Size, format and use.

        Returns
        -------
        OpaqueArray
            The array.

        Raises
        ------
        ValueError
            If options contradict each other, or a size exceeds a limit of the device. The text names it.
        OutOfMemoryError
            If the device has no memory left.
        """

    def create_mipmapped_array(self, options: cuprum._texture_options.MipmappedArrayOptions | dict) -> MipmappedArray:
        """
        Create an array with levels, each half as large as the one before.

        Parameters
        ----------
        options : MipmappedArrayOptions or dict
            Size, format, levels and use.

        Returns
        -------
        MipmappedArray
            The array.

        Raises
        ------
        ValueError
            If options contradict each other, there cannot be so many levels, or a size exceeds a limit of
            the device.
        OutOfMemoryError
            If the device has no memory left.
        """

    def create_texture_object(self, *, resource: ResourceDescriptor, options: cuprum._texture_options.TextureObjectOptions | dict | None = None) -> TextureObject:
        """
        Create a texture.

        Parameters
        ----------
        resource : ResourceDescriptor
            The memory that kernels read.
        options : TextureObjectOptions or dict, optional
            How they read it.

        Returns
        -------
        TextureObject
            The texture.

        Raises
        ------
        ValueError
            If the options do not fit the resource, or exceed a limit of the device. The text names it.
        ClosedError
            If the array or the buffer is closed.
        """

    def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject:
        """
        Create a surface.

        Parameters
        ----------
        resource : ResourceDescriptor
            An array made with ``is_surface_load_store=True``.

        Returns
        -------
        SurfaceObject
            The surface.

        Raises
        ------
        ValueError
            If the resource is no such array.
        ClosedError
            If the array is closed.
        """

def forget_initialized_devices() -> None:
    """Forget which devices were made current, and resources set on them."""

class Process:
    """
    A process that uses CUDA, often another one than this.

    All methods block until the process has done what they ask for. They need Linux, a driver of CUDA
    12.8 or newer, and the rights of the process's user. A failure leaves the process in the state that
    it was in.

    Parameters
    ----------
    pid : int
        The number of the process. It is not looked for before the first use.

    Raises
    ------
    TypeError
        If the number is not an int.
    ValueError
        If it is not positive.

    Examples
    --------
    >>> import os
    >>> process = cuprum.checkpoint.Process(os.getpid())
    >>> process.state
    'running'
    """

    def __init__(self, pid: int) -> None: ...

    @property
    def pid(self) -> int:
        """Return the number of the process."""

    @property
    def state(self) -> cuprum.typing.ProcessStateType:
        """
        Return the state: ``running``, ``locked``, ``checkpointed`` or ``failed``.

        Raises
        ------
        CUDAError
            If the process does not exist, belongs to another user or has no context.
        """

    @property
    def restore_thread_id(self) -> int:
        """
        Return the number of the thread that carries out ``checkpoint`` and ``restore``.

        A tool that freezes the process must let this thread run.
        """

    def lock(self, timeout_ms: int = 0) -> None:
        """
        Hold back all further CUDA calls of the process and wait for its work.

        Parameters
        ----------
        timeout_ms : int, optional
            How long to wait, in milliseconds; 0 waits forever.

        Raises
        ------
        CUDAError
            ``CUDA_ERROR_NOT_READY`` if the time is over: the process continues. ``CUDA_ERROR_ILLEGAL_STATE``
            if the process is not running.
        """

    def checkpoint(self) -> None:
        """
        Move the device memory of a locked process to host memory and release its devices.

        Raises
        ------
        CUDAError
            ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not locked.
        """

    def restore(self, gpu_mapping: Mapping[Any, Any] | None = None) -> None:
        """
        Bring the device memory of a checkpointed process back; the process is locked then.

        Parameters
        ----------
        gpu_mapping : Mapping, optional
            The device to restore onto for each device of the checkpoint: a ``Device``, a UUID as
            ``Device.uuid`` or NVML writes it, a ``uuid.UUID`` or a ``CUuuid``. It must name every device
            that the driver has, also those that stay; ``CUDA_VISIBLE_DEVICES`` hides none here.

        Raises
        ------
        TypeError
            If it is not a mapping of devices.
        ValueError
            If a text is not a UUID.
        CUDAError
            ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not checkpointed; ``CUDA_ERROR_INVALID_VALUE`` if
            the driver refuses the mapping. The process stays checkpointed.
        """

    def unlock(self) -> None:
        """
        Let a locked process continue.

        Raises
        ------
        CUDAError
            ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not locked.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class ObjectCode:
    """
    Compiled code.

    Made by ``Program.compile`` or one of the ``from_*`` methods. It is loaded into the driver on first
    use and unloaded when the last object and the last kernel from it are gone.

    Examples
    --------
    >>> code = cuprum.Program(source, "c++").compile("ptx")
    >>> code.code_type, code.get_kernel("add_one").num_arguments
    ('ptx', 1)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @staticmethod
    def from_cubin(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None, jit_options: cuprum.JITOptions | dict | None = None) -> ObjectCode:
        """
        Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_ptx(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None, jit_options: cuprum.JITOptions | dict | None = None) -> ObjectCode:
        """
        Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_ltoir(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None, jit_options: cuprum.JITOptions | dict | None = None) -> ObjectCode:
        """
        Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_fatbin(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None, jit_options: cuprum.JITOptions | dict | None = None) -> ObjectCode:
        """
        Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_object(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None, jit_options: cuprum.JITOptions | dict | None = None) -> ObjectCode:
        """
        Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_library(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None, jit_options: cuprum.JITOptions | dict | None = None) -> ObjectCode:
        """
        Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @property
    def code(self) -> bytes | str:
        """Return the code, or the path of the file that holds it."""

    @property
    def code_type(self) -> str:
        """Return its format: ptx, cubin, ltoir, fatbin, object or library."""

    @property
    def name(self) -> str:
        """Return the name."""

    @property
    def symbol_mapping(self) -> dict[str, str]:
        """
        Return a copy of the map from kernel names in the source to names in the code.
        """

    @property
    def handle(self) -> int:
        """
        Return the driver's ``CUlibrary`` as an int. Loads the code on first use.
        """

    def get_kernel(self, name: str | bytes) -> Kernel:
        """
        Return a kernel by name.

        Parameters
        ----------
        name : str or bytes
            As given in ``name_expressions`` when compiling, or as it is in the code.

        Returns
        -------
        Kernel
            The kernel. It keeps the code loaded.

        Raises
        ------
        ValueError
            If there is no such kernel. The message lists the kernels that exist.
        """

    @property
    def kernel_names(self) -> list[str]:
        """
        Return the names in the code of all kernels. Loads the code on first use.
        """

    def get_global(self, name: str | bytes) -> Buffer:
        """
        Return a ``__device__`` or ``__constant__`` variable as a buffer.

        It is the memory that the variable has in the current context (the current device's, if none is
        current). The buffer keeps the code loaded.

        Parameters
        ----------
        name : str or bytes
            The name of the variable.

        Returns
        -------
        Buffer
            The memory of the variable. It keeps the code loaded.

        Raises
        ------
        ValueError
            If there is no such variable.
        """

    def get_managed(self, name: str | bytes) -> Buffer:
        """
        Return a ``__managed__`` variable, which all contexts share, as a buffer.

        Parameters
        ----------
        name : str or bytes
            The name of the variable.

        Returns
        -------
        Buffer
            The memory of the variable. It keeps the code loaded.

        Raises
        ------
        ValueError
            If there is no such variable.
        """

    def get_module(self) -> int:
        """
        Return the code as a ``CUmodule`` of the current context, as an int, for interfaces that take one. It belongs to this object.

        Returns
        -------
        int
            The driver's ``CUmodule``.

        Raises
        ------
        ClosedError
            If the code is closed.
        CUDAError
            If the driver cannot load the code. The text has the driver's log.
        """

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """
        Release this object's share of the code. Calling it again does nothing.
        """

    def __reduce__(self) -> tuple: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str:
        """Return what notebooks show."""

class Kernel:
    """
    A kernel, which keeps its code loaded.

    Obtained from ``ObjectCode.get_kernel``. It knows the number and sizes of its parameters, so that
    ``launch`` can check its arguments.

    Examples
    --------
    >>> kernel = code.get_kernel("add_one")
    >>> kernel.num_arguments
    1
    >>> cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUkernel`` as an int."""

    @property
    def name(self) -> str:
        """Return the name that it has in the code."""

    @property
    def num_arguments(self) -> int:
        """Return how many parameters it takes."""

    @property
    def arguments_info(self) -> list[cuprum._types.ParamInfo]:
        """Return offset and size of each parameter as named tuples."""

    @staticmethod
    def from_handle(handle: int, mod: ObjectCode | None = None) -> Kernel:
        """
        Wrap a kernel that other code loaded.

        Parameters
        ----------
        handle : int
            The driver's ``CUkernel``.
        mod : ObjectCode, optional
            Kept alive with the kernel. Not needed for code that Cuprum loaded. If it is not the kernel's
            own code, a warning says so.

        Returns
        -------
        Kernel
            The kernel.

        Raises
        ------
        TypeError
            If the handle is not an int, or `mod` not an ObjectCode.
        """

    @property
    def attributes(self) -> KernelAttributes:
        """
        Return the kernel's attributes on the current device.

        Index it for another one: ``kernel.attributes[device].num_regs``.
        """

    @property
    def occupancy(self) -> KernelOccupancy:
        """Return an object that answers how many blocks fit on a multiprocessor."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """
        Release this object's share of the kernel. Calling it again does nothing.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    @property
    def _parameter_words(self) -> tuple[str, ...] | None:
        """
        Return what is known of each parameter, for people to read; None if nothing is.
        """

    def _repr_html_(self) -> str:
        """Return what notebooks show."""

class KernelAttributes:
    """
    The attributes of a kernel on one device.

    Setting an attribute affects all later launches on that device.

    Examples
    --------
    >>> kernel.attributes.max_threads_per_block
    1024
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    def __getitem__(self, device: Device | int) -> KernelAttributes:
        """Return the attributes on another device."""

    def __repr__(self) -> str: ...

    @property
    def max_threads_per_block(self) -> int:
        """Return the most threads that a block may have."""

    @property
    def shared_size_bytes(self) -> int:
        """Return the static shared memory that a block takes."""

    @property
    def const_size_bytes(self) -> int:
        """Return the constant memory that it takes."""

    @property
    def local_size_bytes(self) -> int:
        """Return the local memory that a thread takes."""

    @property
    def num_regs(self) -> int:
        """Return the registers that a thread takes."""

    @property
    def ptx_version(self) -> int:
        """Return the PTX version that it was compiled for, 90 for 9.0."""

    @property
    def binary_version(self) -> int:
        """Return the architecture that it was compiled for, 90 for 9.0."""

    @property
    def cache_mode_ca(self) -> bool:
        """Return whether it was compiled to cache global loads in L1."""

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """
        Return or set the most dynamic shared memory that a launch may use, in bytes.

        A launch that needs more raises this limit, up to the limit of the device.
        """

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, value: int, /) -> None: ...

    @property
    def preferred_shared_memory_carveout(self) -> int:
        """
        Return or set the percent of L1 to use as shared memory; -1 is the driver's choice.
        """

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, value: int, /) -> None: ...

    @property
    def cluster_size_must_be_set(self) -> bool:
        """Return whether a launch must give a cluster."""

    @property
    def required_cluster_width(self) -> int:
        """Return or set the x extent that a cluster must have; 0 is any."""

    @required_cluster_width.setter
    def required_cluster_width(self, value: int, /) -> None: ...

    @property
    def required_cluster_height(self) -> int:
        """Return or set the y extent that a cluster must have; 0 is any."""

    @required_cluster_height.setter
    def required_cluster_height(self, value: int, /) -> None: ...

    @property
    def required_cluster_depth(self) -> int:
        """Return or set the z extent that a cluster must have; 0 is any."""

    @required_cluster_depth.setter
    def required_cluster_depth(self, value: int, /) -> None: ...

    @property
    def non_portable_cluster_size_allowed(self) -> bool:
        """Return or set whether a cluster may have more than 8 blocks."""

    @non_portable_cluster_size_allowed.setter
    def non_portable_cluster_size_allowed(self, arg: bool, /) -> None: ...

    @property
    def cluster_scheduling_policy_preference(self) -> int:
        """
        Return or set how clusters are placed: 0 default, 1 spread, 2 load balancing.
        """

    @cluster_scheduling_policy_preference.setter
    def cluster_scheduling_policy_preference(self, value: int, /) -> None: ...

class KernelOccupancy:
    """
    The number of blocks of a kernel that fit on a device.

    The device is that of the current context. ``Kernel.occupancy`` is one object, which remembers its last
    answer until an attribute of a kernel is set. After a change with the driver's own functions, get the
    kernel anew with ``ObjectCode.get_kernel``.

    Examples
    --------
    >>> kernel.occupancy.max_active_blocks_per_multiprocessor(256, dynamic_shared_memory_size=0) > 0
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    def __repr__(self) -> str: ...

    def max_active_blocks_per_multiprocessor(self, block_size: int, dynamic_shared_memory_size: int) -> int:
        """
        Return how many blocks fit on one multiprocessor at once.

        Parameters
        ----------
        block_size : int
            Threads per block.
        dynamic_shared_memory_size : int
            Dynamic shared memory per block, in bytes.

        Returns
        -------
        int
            The number of blocks.

        Raises
        ------
        TypeError
            If an argument is not an int.
        ValueError
            If the block size is less than 1.
        CUDAError
            If the driver refuses it.
        """

    def max_potential_block_size(self, dynamic_shared_memory_needed: int | Callable[[int], int], block_size_limit: int) -> cuprum._types.MaxPotentialBlockSizeOccupancyResult:
        """
        Return the block size with the most resident threads.

        Parameters
        ----------
        dynamic_shared_memory_needed : int or callable
            Dynamic shared memory per block, in bytes, or a function that gives it for a block size; a
            ``CUoccupancyB2DSize`` of the driver's bindings too.
        block_size_limit : int
            The most threads per block; 0 is the kernel's own limit.

        Returns
        -------
        MaxPotentialBlockSizeOccupancyResult
            ``min_grid_size``, the fewest blocks that fill the device, and ``max_block_size``.

        Raises
        ------
        TypeError
            If `dynamic_shared_memory_needed` is neither an int nor a function that returns one.
        ValueError
            If a number is negative.
        CUDAError
            If the driver refuses it.
        """

    def available_dynamic_shared_memory_per_block(self, num_blocks_per_multiprocessor: int, block_size: int) -> int:
        """
        Return the largest dynamic shared memory per block with which this many blocks fit.

        Parameters
        ----------
        num_blocks_per_multiprocessor : int
            Blocks that must be resident at once.
        block_size : int
            Threads per block.

        Returns
        -------
        int
            The size in bytes.

        Raises
        ------
        TypeError
            If an argument is not an int.
        ValueError
            If a number is less than 1.
        CUDAError
            If the block is too large for the kernel.
        """

    def max_potential_cluster_size(self, config: LaunchConfig | dict, *, stream: Stream) -> int:
        """
        Return the most blocks per cluster for a configuration, whose own cluster is ignored.

        Parameters
        ----------
        config : LaunchConfig or dict
            Only block and shared memory matter.
        stream : Stream
            Selects the device.

        Returns
        -------
        int
            The number of blocks.

        Raises
        ------
        TypeError
            If `config` is neither a LaunchConfig nor a dict, or `stream` is not a stream.
        ClosedError
            If the stream is closed.
        CUDAError
            If the configuration exceeds a limit of the device or of the kernel.
        """

    def max_active_clusters(self, config: LaunchConfig | dict, *, stream: Stream) -> int:
        """
        Return how many clusters of a configuration fit on a device at once.

        Parameters
        ----------
        config : LaunchConfig or dict
            With a cluster.
        stream : Stream
            Selects the device.

        Returns
        -------
        int
            The number of clusters.

        Raises
        ------
        TypeError
            If `config` is neither a LaunchConfig nor a dict, or `stream` is not a stream.
        ClosedError
            If the stream is closed.
        CUDAError
            If the configuration exceeds a limit of the device or of the kernel.
        """

class Program:
    """
    Source code and the options to compile it.

    Parameters
    ----------
    code : str, bytes or bytearray
        CUDA C++ source, PTX, or NVVM IR; bytes for NVVM alone.
    code_type : SourceCodeType or str
        ``"c++"`` for NVRTC, ``"ptx"`` for the linker, ``"nvvm"`` for libNVVM.
    options : ProgramOptions or dict, optional
        How it is compiled.

    Raises
    ------
    LibraryNotFoundError
        If the compiler library cannot be found. The message lists every place that was searched.
    UnsupportedOptionError
        For options that the compiler cannot honour.

    Examples
    --------
    >>> program = cuprum.Program('extern "C" __global__ void f() {}', "c++")
    >>> kernel = program.compile("cubin").get_kernel("f")
    >>> kernel.name
    'f'
    """

    def __init__(self, code: str | bytes | bytearray, code_type: cuprum.typing.SourceCodeType | str, options: cuprum.ProgramOptions | dict | None = None) -> None: ...

    def compile(self, target_type: cuprum.typing.ObjectCodeFormatType | str, name_expressions: Iterable[str] = (), logs: object | None = None, *, cache: cuprum.utils.ProgramCacheResource | None = None, extra_digest: bytes | None = None) -> ObjectCode:
        """
        Compile the program. Blocks; may be called again, also with another target.

        Parameters
        ----------
        target_type : ObjectCodeFormatType or str
            From C++ ``"ptx"``, ``"cubin"`` or ``"ltoir"``, from PTX ``"cubin"`` (or ``"ptx"``), from NVVM
            IR ``"ptx"`` or ``"ltoir"``. For an emulated device a cubin is a fat binary that holds the cubin
            and its PTX; a GPU and the emulated device both load it.
        name_expressions : iterable of str, optional
            For C++ only: kernels with mangled names, such as ``"add<float>"``. The result finds them under
            these names.
        logs : object with ``write``, optional
            Receives the compiler's log, unless it is empty.
        cache : ProgramCacheResource, optional
            Searched before compiling, and stores the result. A cached result has no log.
        extra_digest : bytes, optional
            Part of the cache key, for contents that the cache cannot see, such as the files in
            ``include_path``.

        Returns
        -------
        ObjectCode
            The compiled code.

        Raises
        ------
        NVRTCError, NVVMError, LinkerError
            If it does not compile, with log and options.
        ValueError
            If there is a cache and the result depends on contents that its key does not cover. The message
            says which.
        """

    def cancel(self) -> None:
        """
        Cancel the compilations of this program that run in other threads.

        They soon raise ``NVRTCError`` with ``NVRTC_ERROR_CANCELLED``. Later compilations are not affected.

        Raises
        ------
        NotSupportedError
            If NVRTC is older than 12.8.
        """

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release the compiler's state. Calling it again does nothing."""

    def __repr__(self) -> str: ...

    @property
    def backend(self) -> cuprum.typing.CompilerBackendType:
        """Return which compiler is used."""

    @property
    def pch_status(self) -> cuprum.typing.PCHStatusType | None:
        """
        Return the result of the precompiled header in the last compilation. None if no header was requested or nothing was compiled yet. A failure is also a warning, with the reason.
        """

    @property
    def options(self) -> cuprum.ProgramOptions:
        """Return the options that it was made with."""

    @property
    def compiler_options(self) -> list[str]:
        """Return the options as they are passed to the compiler."""

    @property
    def log(self) -> str:
        """Return the log of the last compilation, which may be empty."""

    @property
    def handle(self) -> int:
        """
        Return an ``nvrtcProgram``, ``nvvmProgram`` or the linker's handle, as an int, made of the source and not compiled yet.
        """

def nvrtc_options(options: object) -> list[str]:
    """Return ProgramOptions as NVRTC takes them."""

def nvvm_options(options: object, target_type: object) -> list[str]:
    """Return ProgramOptions as libNVVM takes them."""

def supported_architectures() -> list[int]:
    """
    Return the architectures that NVRTC compiles for, ascending, as in 90 for ``sm_90``.

    Needs no device.

    Returns
    -------
    list[int]
        The architectures.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVRTC. The text shows the places that were searched.
    """

def compiler_version(backend: cuprum.typing.CompilerBackendType | str) -> str:
    """
    Return the version of a compiler, such as ``"13.0"``.

    Parameters
    ----------
    backend : CompilerBackendType or str
        Which compiler, such as ``"NVRTC"``.

    Returns
    -------
    str
        Major and minor number.

    Raises
    ------
    ValueError
        If there is no such compiler.
    """

def default_include_directories() -> list[str]:
    """
    Return the folders of CUDA's and CCCL's headers, which every program can include.

    Returns
    -------
    list[str]
        The folders, in the order in which they are searched.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVRTC, whose folder the search starts from.
    """

class Linker:
    """
    A linker, which turns several pieces of code into one image.

    For an emulated device, which cannot run machine code, the result is a fat binary that holds the
    cubin and PTX: from nvJitLink if all input is LTO-IR, from the one input if there is one, else from
    the emulated device's own linker.

    Parameters
    ----------
    *object_codes : ObjectCode
        What is linked.
    options : LinkerOptions or dict, optional
        How it is linked.

    Raises
    ------
    LinkerError
        If the linker refuses an input or an option.

    Examples
    --------
    >>> first = cuprum.Program("__device__ int one() { return 1; }", "c++",
    ...                        {"relocatable_device_code": True}).compile("ptx")
    >>> second = cuprum.Program("extern __device__ int one();"
    ...                         'extern "C" __global__ void f(int* x) { *x = one(); }', "c++",
    ...                         {"relocatable_device_code": True}).compile("ptx")
    >>> linked = cuprum.Linker(first, second).link("cubin")
    >>> linked.get_kernel("f").num_arguments
    1
    """

    def __init__(self, *object_codes: ObjectCode, options: cuprum.LinkerOptions | dict | None = None) -> None: ...

    def link(self, target_type: cuprum.typing.ObjectCodeFormatType | str) -> ObjectCode:
        """
        Link. Blocks; may be called again.

        Parameters
        ----------
        target_type : ObjectCodeFormatType or str
            ``"cubin"``, or ``"ptx"`` if all input is LTO-IR.

        Returns
        -------
        ObjectCode
            The linked code.

        Raises
        ------
        LinkerError
            If it does not link, with log and options.
        """

    def get_error_log(self) -> str:
        """
        Return the errors of the last ``link``, or so far.

        Returns
        -------
        str
            The messages, one on each line.

        Raises
        ------
        ClosedError
            If the linker is closed.
        LinkerError
            If nvJitLink cannot return its log.
        """

    def get_info_log(self) -> str:
        """
        Return the other messages of the last ``link``.

        Returns
        -------
        str
            The messages, one on each line.

        Raises
        ------
        ClosedError
            If the linker is closed.
        LinkerError
            If nvJitLink cannot return its log.
        """

    @property
    def backend(self) -> cuprum.typing.CompilerBackendType:
        """Return the backend: nvJitLink or the driver."""

    @property
    def options(self) -> cuprum.LinkerOptions:
        """Return the options that it was made with."""

    @property
    def linker_options(self) -> list[str]:
        """Return the options as they are passed to nvJitLink."""

    @property
    def handle(self) -> int:
        """Return the ``nvJitLinkHandle`` or ``CUlinkState`` as an int."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release the linker's state. Calling it again does nothing."""

    def __repr__(self) -> str: ...

    @classmethod
    def which_backend(cls) -> cuprum.typing.CompilerBackendType:
        """
        Return the default backend.

        It is nvJitLink. If nvJitLink 12.3 or later is missing, it is the driver, with a warning.

        Returns
        -------
        CompilerBackendType
            The backend of a linker whose options name none.

        Raises
        ------
        LibraryNotFoundError
            If there is neither nvJitLink nor a driver.
        """

def nvjitlink_options(options: object) -> list[str]:
    """Return LinkerOptions as nvJitLink takes them."""

class ProgramCache:
    """A cache that the compiled library implements."""

class InMemoryCache(ProgramCache):
    """A cache in memory."""

    def __init__(self, max_size_bytes: int | None) -> None: ...

    def get(self, key: bytes) -> bytes | None:
        """Return the code under a key, or None."""

    def put(self, key: bytes, code: object) -> None:
        """Keep code under a key."""

    def remove(self, key: bytes) -> bool:
        """Remove the code under a key. Return whether there was any."""

    def count(self) -> int:
        """Return how many pieces of code there are."""

    def clear(self) -> None:
        """Remove everything."""

    def size_bytes(self) -> int:
        """Return the size of everything."""

class FileStreamCache(ProgramCache):
    """A cache in files."""

    def __init__(self, path: str | os.PathLike[str] | None, max_size_bytes: int | None) -> None: ...

    def get(self, key: bytes) -> bytes | None:
        """Return the code under a key, or None."""

    def put(self, key: bytes, code: object) -> None:
        """Keep code under a key."""

    def remove(self, key: bytes) -> bool:
        """Remove the code under a key. Return whether there was any."""

    def count(self) -> int:
        """Return how many pieces of code there are."""

    def clear(self) -> None:
        """Remove everything."""

    def size_bytes(self) -> int:
        """Return the size of everything."""

    @property
    def path(self) -> str:
        """Return the folder."""

    def file_of(self, key: bytes) -> str:
        """Return the file of a key."""

def set_default_cache(cache: object | None) -> None:
    """Make all programs use a cache."""

def ptx_options(options: object) -> list[str]:
    """Return ProgramOptions for PTX as nvJitLink takes them."""

def check_cache_options(options: object, has_extra_digest: bool) -> None:
    """
    Refuse options that cuda.core refuses for a cache key, if it is to be followed.
    """

def program_cache_key(code: object, code_type: object, target_type: object, options: object, flags: Sequence[str], names: Sequence[str], extra_digest: object | None) -> bytes:
    """Return the key of a compilation; see make_program_cache_key."""

class LaunchConfig:
    """
    The shape and the attributes of a launch.

    It is immutable: share it between threads, reuse it for many launches, use it as a key.

    Parameters
    ----------
    grid : int or tuple of int
        Blocks in up to three dimensions, or clusters if `cluster` is given.
    cluster : int or tuple of int, optional
        Blocks per cluster. Needs compute capability 9.0 or later.
    block : int or tuple of int
        Threads per block.
    shmem_size : int, optional
        Dynamic shared memory per block, in bytes. More than 48 KiB needs no preparation.
    is_cooperative : bool, optional
        All blocks are resident at once, so that the grid can synchronise.
    programmatic_stream_serialization : bool, optional
        The kernel may start before the previous one on the stream has ended.
    priority : int, optional
        Lower numbers run first. Without it, the stream's priority.
    preferred_cluster : int or tuple of int, optional
        A multiple of `cluster`, used where it fits.
    cluster_scheduling_policy : str, optional
        ``"default"``, ``"spread"`` or ``"load_balancing"``.
    shared_memory_carveout : int, optional
        Percent of the L1 cache to use as shared memory; a hint.
    access_policy_window : AccessPolicyWindow or dict, optional
        A range of memory and how the L2 cache treats the kernel's accesses to it.
    memory_sync_domain : str, optional
        ``"default"`` or ``"remote"``: which memory barriers order the kernel's writes.
    memory_sync_domain_map : tuple of int, optional
        The numbers of these two domains.
    programmatic_event : Event or (Event, bool), optional
        An event without timing. Every block triggers it by an instruction or, with True, when it starts.
    launch_completion_event : Event, optional
        An event without timing, recorded when all blocks have begun.
    nvlink_centric_scheduling : bool, optional
        A hint that NVLink limits the kernel's speed.
    portable_cluster_mode, shared_memory_mode : str, optional
        ``"default"``, ``"require_portable"`` or ``"allow_non_portable"``. Drivers from 13.1 on.
    raw_attributes : dict of int to bytes, optional
        Further launch attributes by the driver's numbers, with up to 64 bytes of value.

    Raises
    ------
    ValueError
        If an extent is missing or not at least 1, or a value is out of its range.

    Examples
    --------
    >>> config = cuprum.LaunchConfig(grid=(4, 2), block=64)
    >>> config.grid
    (4, 2, 1)
    >>> cuprum.LaunchConfig.from_size(1000, block=256).grid
    (4, 1, 1)
    """

    def __init__(self, grid: int | tuple[int, ...] | None = None, cluster: int | tuple[int, ...] | None = None, block: int | tuple[int, ...] | None = None, shmem_size: int | None = None, is_cooperative: bool = False, programmatic_stream_serialization: bool = False, *, priority: int | None = None, preferred_cluster: int | tuple[int, ...] | None = None, cluster_scheduling_policy: str | None = None, shared_memory_carveout: int | None = None, access_policy_window: cuprum._types.AccessPolicyWindow | dict | None = None, memory_sync_domain: str | None = None, memory_sync_domain_map: tuple[int, int] | None = None, programmatic_event: Event | tuple[Event, bool] | None = None, launch_completion_event: Event | None = None, nvlink_centric_scheduling: bool = False, portable_cluster_mode: str | None = None, shared_memory_mode: str | None = None, raw_attributes: dict[int, bytes] | None = None) -> None: ...

    @property
    def grid(self) -> tuple[int, int, int]:
        """Return the grid's three extents."""

    @property
    def cluster(self) -> tuple[int, int, int] | None:
        """Return the cluster's three extents, or None."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Return the block's three extents."""

    @property
    def shmem_size(self) -> int:
        """Return the dynamic shared memory per block, in bytes."""

    @property
    def is_cooperative(self) -> bool:
        """Return whether all blocks are resident at once."""

    @property
    def programmatic_stream_serialization(self) -> bool:
        """Return whether the kernel may start before the previous one has ended."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    @property
    def priority(self) -> int | None:
        """Return the priority, or None for the stream's."""

    @property
    def preferred_cluster(self) -> tuple[int, int, int] | None:
        """Return the preferred cluster, or None."""

    @property
    def cluster_scheduling_policy(self) -> str | None:
        """Return how the blocks of a cluster are placed, or None."""

    @property
    def shared_memory_carveout(self) -> int | None:
        """Return the percent of L1 used as shared memory, or None."""

    @property
    def access_policy_window(self) -> cuprum._types.AccessPolicyWindow | None:
        """Return how the L2 cache treats a range of memory, or None."""

    @property
    def memory_sync_domain(self) -> str | None:
        """Return the memory synchronisation domain, or None."""

    @property
    def memory_sync_domain_map(self) -> tuple[int, int] | None:
        """Return the numbers of the domains, or None."""

    @property
    def programmatic_event(self) -> Event | tuple[Event, bool] | None:
        """Return the event that blocks trigger, or None."""

    @property
    def launch_completion_event(self) -> Event | None:
        """Return the event for the blocks' start, or None."""

    @property
    def nvlink_centric_scheduling(self) -> bool:
        """Return whether NVLink limits the kernel's speed."""

    @property
    def portable_cluster_mode(self) -> str | None:
        """Return whether more than 8 blocks per cluster are allowed."""

    @property
    def shared_memory_mode(self) -> str | None:
        """Return whether more than 48 KiB per block are allowed."""

    @property
    def raw_attributes(self) -> dict[int, bytes] | None:
        """Return attributes given by number, or None."""

    @staticmethod
    def from_size(elements: int, block: int = 256) -> LaunchConfig:
        """
        Return a one-dimensional configuration with at least one thread per element.

        Parameters
        ----------
        elements : int
            How many threads are needed.
        block : int
            Threads per block.

        Returns
        -------
        LaunchConfig
            The configuration.

        Raises
        ------
        ValueError
            If there is no element, or too many for one grid.
        """

    @staticmethod
    def from_occupancy(kernel: Kernel, elements: int | None = None, shmem_size: int = 0, block_size_limit: int = 0) -> LaunchConfig:
        """
        Return a one-dimensional configuration with the block size that suits the device best.

        Parameters
        ----------
        kernel : Kernel
            What is to be launched.
        elements : int, optional
            How many threads are needed. Without it, as many blocks as fill the device.
        shmem_size : int
            Dynamic shared memory per block, in bytes.
        block_size_limit : int
            The most threads per block; 0 is the kernel's own limit.

        Returns
        -------
        LaunchConfig
            The configuration.

        Raises
        ------
        ValueError
            If `elements` is less than 1.
        """

def launch(stream: Stream | cuprum.typing.IsStreamType, config: LaunchConfig | dict, kernel: Kernel, *kernel_args: object) -> None:
    """
    Launch a kernel. Returns at once; the arguments are copied.

    Parameters
    ----------
    stream : Stream or GraphBuilder
        The kernel runs in this stream's order. In a builder's capture it becomes a node.
    config : LaunchConfig or dict
        Grid, block and the rest.
    kernel : Kernel
        What to run.
    *kernel_args : Buffer, array, texture, surface, condition, number, numpy scalar, ctypes or bytes
        One for each parameter. A Buffer passes its address. So does an object with DLPack or
        ``__cuda_array_interface__``; the stream waits for its producer. Python's numbers convert to the
        parameter's size. Everything else, such as ctypes and numpy structures, must have that size.

        PTX and the mangled names of C++ kernels declare whether a parameter is a floating-point number.
        An int is then converted to it, and a float for an integer is refused. A cubin does not declare
        the types of ``extern "C"`` kernels. There an int for a ``float`` passes the integer's bits, so
        pass ``2.0`` instead of ``2``.

    Raises
    ------
    TypeError
        If count, type or size of the arguments is not what the kernel takes.
    OverflowError
        If a number does not fit its parameter.
    ValueError
        If the configuration exceeds a limit of the device. The message shows the numbers.
    """

class GraphCondition:
    """
    A number that a conditional node of a graph tests.

    ``create_condition`` of a GraphDefinition or GraphBuilder makes it. Kernels that take it as an
    argument, a ``cudaGraphConditionalHandle``, set it with ``cudaGraphSetConditional``.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> condition = definition.create_condition(default_value=1)
    >>> body = definition.if_then(condition).then
    >>> node = body.memset(buffer, 0, 64)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUgraphConditionalHandle`` as an int."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class GraphNode:
    """
    One piece of work in a graph.

    The methods of a GraphDefinition add nodes that depend on nothing, and the same methods of a node add
    nodes that depend on it. There is one object for each node while somebody refers to it.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> first = definition.memset(buffer, 0, 128)
    >>> second = first.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    >>> second.pred == {first}
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def type(self) -> cuprum.typing.GraphNodeType | None:
        """Return the kind of work; None once the node is destroyed."""

    @property
    def graph(self) -> GraphDefinition:
        """Return the graph that it belongs to."""

    @property
    def handle(self) -> int | None:
        """
        Return the driver's ``CUgraphNode`` as an int; None once the node is destroyed.

        Like the handle of its graph, it makes launches of executable graphs that are made later slower.
        """

    @property
    def is_valid(self) -> bool:
        """Return whether the node has not been destroyed."""

    def destroy(self) -> None:
        """
        Remove the node and its edges from the graph.

        Executable graphs made before are not affected. Calling it again does nothing.

        Raises
        ------
        CUDAError
            If the driver refuses, as in a graph with memory nodes. The node stays then.
        """

    @property
    def pred(self) -> cuprum._graph_adjacency.AdjacencySetProxy:
        """
        Return the nodes that this one waits for: a set whose changes add and remove edges.
        """

    @pred.setter
    def pred(self, nodes: Iterable[GraphNode], /) -> None: ...

    @property
    def succ(self) -> cuprum._graph_adjacency.AdjacencySetProxy:
        """
        Return the nodes that wait for this one: a set whose changes add and remove edges.
        """

    @succ.setter
    def succ(self, nodes: Iterable[GraphNode], /) -> None: ...

    def _neighbours(self, is_forward: bool) -> list[GraphNode]:
        """Return the successors or predecessors."""

    def _add_edges(self, nodes: list[GraphNode], is_forward: bool) -> None:
        """Add edges in one driver call."""

    def _remove_edges(self, nodes: list[GraphNode], is_forward: bool) -> None:
        """Remove edges in one driver call."""

    def launch(self, config: LaunchConfig | dict, kernel: Kernel, *args: object) -> KernelNode:
        """
        Add a kernel node.

        Parameters
        ----------
        config : LaunchConfig or dict
            Grid, block and the rest, clusters and cooperative launches included.
        kernel : Kernel
            What to run.
        *args : Buffer, array, texture, surface, AllocNode, condition, number, numpy scalar, ctypes or bytes
            One for each parameter, as `cuprum.launch` takes them. Their values are copied now. The graph
            keeps the objects alive as long as it, a clone or an executable may run the kernel.

        Returns
        -------
        KernelNode
            The new node.

        Raises
        ------
        TypeError
            If count, type or size of the arguments is not what the kernel takes.
        """

    def callback(self, fn: Callable[[], object], *, user_data: int | bytes | None = None) -> HostCallbackNode:
        """
        Add a node that calls a function on the host.

        The function runs on a thread of the driver and must not call CUDA. An exception that it raises goes
        to ``sys.unraisablehook``, and the graph goes on. Python's garbage collector does not see the graph's
        reference: a function that refers to its own graph keeps both alive.

        Parameters
        ----------
        fn : callable or ctypes function
            A callable without arguments. Or a C function that returns nothing and takes one pointer:
            ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)``.
        user_data : int or bytes-like, optional
            The argument of a C function: an address, or bytes that are copied.

        Returns
        -------
        HostCallbackNode
            The new node.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        """

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """
        Add a copy of another graph as one node.

        Parameters
        ----------
        child : GraphDefinition
            The graph to copy. Later changes of it have no effect here.

        Returns
        -------
        ChildGraphNode
            The new node.

        Raises
        ------
        TypeError
            If the child is not a graph.
        """

    def allocate(self, size: int, *, device: Device | int | None = None, memory_type: cuprum.typing.GraphMemoryType | str | None = 'device', peer_access: Sequence[Device | int] | None = None) -> AllocNode:
        """
        Add a node that allocates memory at every launch.

        The address is known at once and the same for all launches.

        Parameters
        ----------
        size : int
            Bytes, at least 1.
        device : Device or int, optional
            Whose memory. Without it, that of the current device.
        memory_type : GraphMemoryType or str, optional
            ``"device"``, ``"host"`` (pinned) or ``"managed"``.
        peer_access : sequence of Device or int, optional
            Other devices that may read and write it.

        Returns
        -------
        AllocNode
            The new node; its ``dptr`` is the address.

        Raises
        ------
        ValueError
            If the size is negative, or there is no such kind of memory.
        """

    def deallocate(self, dptr: AllocNode | int) -> FreeNode:
        """
        Add a node that frees the memory of an allocation node.

        Parameters
        ----------
        dptr : AllocNode or int
            The allocation, or its address.

        Returns
        -------
        FreeNode
            The new node.

        Raises
        ------
        GraphError
            If the graph frees it already.
        """

    def memset(self, dst: Buffer | AllocNode | int, value: object, width: int, height: int = 1, pitch: int = 0, *, dst_owner: object = None) -> MemsetNode:
        """
        Add a node that fills memory.

        Parameters
        ----------
        dst : Buffer, AllocNode or int
            Where. The graph keeps the memory of a Buffer alive, whatever happens to the Buffer.
        value : int or bytes-like
            An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
        width : int
            Elements in a row.
        height : int, optional
            Rows.
        pitch : int, optional
            Bytes from row to row; unused for one row.
        dst_owner : object, optional
            An object to keep alive if `dst` is an address.

        Returns
        -------
        MemsetNode
            The new node.

        Raises
        ------
        ValueError
            If the value has another size than 1, 2 or 4 bytes, or the fill does not fit into the
            buffer.
        """

    def memcpy(self, dst: Buffer | AllocNode | int, src: Buffer | AllocNode | int, size: int, *, dst_owner: object = None, src_owner: object = None) -> MemcpyNode:
        """
        Add a node that copies memory, of devices or of the host.

        Parameters
        ----------
        dst, src : Buffer, AllocNode or int
            To where and from where. The graph keeps the memory of a Buffer alive, whatever happens to the
            Buffer.
        size : int
            Bytes.
        dst_owner, src_owner : object, optional
            Objects to keep alive if `dst` or `src` is an address.

        Returns
        -------
        MemcpyNode
            The new node.

        Raises
        ------
        ValueError
            If the copy does not fit into a buffer.
        """

    def empty(self) -> EmptyNode:
        """
        Add a node that does nothing, to gather dependencies.

        Returns
        -------
        EmptyNode
            The node.

        Raises
        ------
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """
        Add an empty node that depends on other nodes as well.

        Parameters
        ----------
        *nodes : GraphNode
            Nodes of the same graph.

        Returns
        -------
        EmptyNode
            The new node.

        Raises
        ------
        TypeError
            If an argument is not a node.
        GraphError
            If a node belongs to another graph.
        GraphClosedError
            If the graph is closed, or a node was destroyed.
        """

    def record(self, event: Event) -> EventRecordNode:
        """
        Add a node that records an event.

        Parameters
        ----------
        event : Event
            The event to record at each launch.

        Returns
        -------
        EventRecordNode
            The node.

        Raises
        ------
        TypeError
            If the argument is not an event.
        """

    def wait(self, event: Event) -> EventWaitNode:
        """
        Add a node that waits for an event.

        Parameters
        ----------
        event : Event
            The event to wait for at each launch.

        Returns
        -------
        EventWaitNode
            The node.

        Raises
        ------
        TypeError
            If the argument is not an event.
        """

    def if_then(self, condition: GraphCondition) -> IfNode:
        """
        Add a node that runs its body, ``then``, if a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        IfNode
            The node, whose body is empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """
        Add a node that runs ``then`` if a condition is not 0, and ``else_`` if it is.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        IfElseNode
            The node, whose bodies are empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """
        Add a node that runs its body as long as a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        WhileNode
            The node, whose body is empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """
        Add a node that runs the body whose index a condition is.

        Parameters
        ----------
        condition : GraphCondition
            If there is no body with this index, none runs.
        count : int
            How many bodies there are: ``branches`` of the node.

        Returns
        -------
        SwitchNode
            The new node.

        Raises
        ------
        ValueError
            If `count` is less than 1.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

def _live_graph_nodes() -> list[GraphNode]:
    """Return all nodes that have objects and are not destroyed."""

class EmptyNode(GraphNode):
    """
    A node that does nothing but order others.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> first, second = definition.memset(buffer, 0, 8), definition.memset(buffer, 0, 8)
    >>> both = first.join(second)
    >>> both.pred == {first, second}
    True
    """

    def __repr__(self) -> str: ...

class KernelNode(GraphNode):
    """
    A node that runs a kernel.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    >>> node.block
    (32, 1, 1)
    """

    @property
    def grid(self) -> tuple[int, int, int]:
        """Return the grid's three extents."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Return the block's three extents."""

    @property
    def shmem_size(self) -> int:
        """Return the dynamic shared memory per block, in bytes."""

    @property
    def kernel(self) -> Kernel:
        """Return the kernel."""

    @property
    def config(self) -> LaunchConfig:
        """
        Return how it is launched, with the attributes that the driver reports.
        """

    def update(self, *, config: LaunchConfig | dict | None = None, kernel: Kernel | None = None, args: Sequence[object] | None = None) -> None:
        """
        Replace what is given and keep the rest.

        Executable graphs made before are not affected.

        Parameters
        ----------
        config : LaunchConfig or dict, optional
            The new configuration.
        kernel : Kernel, optional
            The new kernel; needs `args`.
        args : sequence, optional
            All new arguments, as `cuprum.launch` takes them.

        Raises
        ------
        ValueError
            If there is a kernel without arguments.
        """

    def argument_bytes(self, index: int) -> bytes:
        """
        Return the value of an argument.

        Parameters
        ----------
        index : int
            The number of the argument, counted from 0.

        Returns
        -------
        bytes
            As many bytes as the parameter has.

        Raises
        ------
        IndexError
            If the kernel has fewer.
        """

    def attribute(self, id: int) -> bytes:
        """
        Return a launch attribute by the driver's number, 64 bytes.

        Parameters
        ----------
        id : int
            A ``CUlaunchAttributeID``.

        Returns
        -------
        bytes
            A ``CUlaunchAttributeValue``.

        Raises
        ------
        CUDAError
            If the driver has no such attribute.
        """

    def set_attribute(self, id: int, value: bytes) -> None:
        """
        Set a launch attribute by the driver's number.

        Parameters
        ----------
        id : int
            A ``CUlaunchAttributeID``.
        value : bytes
            A ``CUlaunchAttributeValue`` of up to 64 bytes.

        Raises
        ------
        ValueError
            If `value` has more than 64 bytes.
        GraphClosedError
            If the node was destroyed.
        CUDAError
            If the driver does not know the attribute, or refuses the value.
        """

    def copy_attributes_from(self, other: KernelNode) -> None:
        """
        Take over all launch attributes of another kernel node.

        Parameters
        ----------
        other : KernelNode
            The node to copy from.

        Raises
        ------
        TypeError
            If `other` is not a kernel node.
        GraphClosedError
            If one of the nodes was destroyed.
        """

    def __repr__(self) -> str: ...

class HostCallbackNode(GraphNode):
    """
    A node that calls a function on the host.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.callback(lambda: print("called"))
    >>> definition.instantiate().launch(stream); stream.sync()
    called
    """

    @property
    def callback(self) -> Callable[[], object] | None:  # type: ignore[override]
        """Return the Python callable; None if the node calls a C function."""

    def update(self, fn: Callable[[], object], *, user_data: int | bytes | None = None) -> None:
        """
        Replace the function; see ``GraphNode.callback``.

        Parameters
        ----------
        fn : Callable[[], object]
            The function to call instead.
        user_data : int or bytes, optional
            For a C function: its argument.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        ValueError
            If there is `user_data` for a Python function.
        GraphClosedError
            If the node was destroyed.
        """

    def __repr__(self) -> str: ...

class EventRecordNode(GraphNode):
    """
    A node that records an event.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> event = device.create_event()
    >>> definition.record(event).event == event
    True
    """

    @property
    def event(self) -> Event:
        """Return the event."""

    def update(self, event: Event) -> None:
        """
        Replace the event.

        Parameters
        ----------
        event : Event
            The event to use instead.

        Raises
        ------
        TypeError
            If the argument is not an event.
        GraphClosedError
            If the event is closed, or the node was destroyed.
        """

    def __repr__(self) -> str: ...

class EventWaitNode(GraphNode):
    """
    A node that waits for an event.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> event = device.create_event()
    >>> definition.wait(event).event == event
    True
    """

    @property
    def event(self) -> Event:
        """Return the event."""

    def update(self, event: Event) -> None:
        """
        Replace the event.

        Parameters
        ----------
        event : Event
            The event to use instead.

        Raises
        ------
        TypeError
            If the argument is not an event.
        GraphClosedError
            If the event is closed, or the node was destroyed.
        """

    def __repr__(self) -> str: ...

class MemcpyNode(GraphNode):
    """
    A node that copies memory.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memcpy(device.allocate(1024, stream=stream), buffer, 1024)
    >>> node.size
    1024
    """

    @property
    def dst(self) -> int:
        """Return the address that it writes to."""

    @property
    def src(self) -> int:
        """Return the address that it reads from."""

    @property
    def size(self) -> int:
        """Return the bytes that it copies, or those of one row."""

    @property
    def extent(self) -> tuple[int, int, int]:
        """Return the bytes in a row, the rows in a slice and the slices."""

    def update(self, *, dst: Buffer | AllocNode | int | None = None, src: Buffer | AllocNode | int | None = None, size: int | None = None, dst_owner: object = None, src_owner: object = None) -> None:
        """
        Replace what is given and keep the rest; see ``GraphNode.memcpy``.

        Executable graphs made before are not affected.

        Parameters
        ----------
        dst : Buffer, AllocNode or int, optional
            Where to write.
        src : Buffer, AllocNode or int, optional
            Where to read.
        size : int, optional
            The number of bytes.
        dst_owner : object, optional
            An object to keep alive, if `dst` is an address.
        src_owner : object, optional
            An object to keep alive, if `src` is an address.

        Raises
        ------
        NotImplementedError
            If the node copies a rectangle, a box or an array.
        """

    def __repr__(self) -> str: ...

class MemsetNode(GraphNode):
    """
    A node that fills memory.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 7, 64)
    >>> node.value, node.width
    (7, 64)
    """

    @property
    def dptr(self) -> int:
        """Return the address that it writes to."""

    @property
    def value(self) -> int:
        """Return the value of one element."""

    @property
    def element_size(self) -> int:
        """Return the bytes of one element: 1, 2 or 4."""

    @property
    def width(self) -> int:
        """Return the elements in a row."""

    @property
    def height(self) -> int:
        """Return the number of rows."""

    @property
    def pitch(self) -> int:
        """Return the bytes from row to row."""

    def update(self, *, dst: Buffer | AllocNode | int | None = None, value: object = None, width: int | None = None, height: int | None = None, pitch: int | None = None, dst_owner: object = None) -> None:
        """
        Replace what is given and keep the rest; see ``GraphNode.memset``.

        Executable graphs made before are not affected.

        Parameters
        ----------
        dst : Buffer, AllocNode or int, optional
            Where to write.
        value : object, optional
            An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
        width : int, optional
            Elements in a row.
        height : int, optional
            The number of rows.
        pitch : int, optional
            Bytes from row to row.
        dst_owner : object, optional
            An object to keep alive, if `dst` is an address.

        Raises
        ------
        ValueError
            If the value has another size than 1, 2 or 4 bytes, or the fill does not fit into the
            buffer.
        """

    def __repr__(self) -> str: ...

class AllocNode(GraphNode):
    """
    A node that allocates memory at each launch.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> memory = definition.allocate(64)
    >>> fill = memory.memset(memory, 0, 64)
    >>> free = fill.deallocate(memory)
    """

    @property
    def dptr(self) -> int:
        """Return the address, which is the same for all launches."""

    @property
    def bytesize(self) -> int:
        """Return the size in bytes."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory it is."""

    @property
    def memory_type(self) -> cuprum.typing.GraphMemoryType:
        """Return the kind of memory."""

    @property
    def peer_access(self) -> tuple[int, ...]:
        """Return the ordinals of other devices that may access it."""

    def __repr__(self) -> str: ...

class FreeNode(GraphNode):
    """
    A node that frees memory of a graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> memory = definition.allocate(64)
    >>> memory.deallocate(memory).dptr == memory.dptr
    True
    """

    @property
    def dptr(self) -> int:
        """Return the address that it frees."""

    def __repr__(self) -> str: ...

class ChildGraphNode(GraphNode):
    """
    A node that runs another graph.

    Examples
    --------
    >>> child = cuprum.graph.GraphDefinition()
    >>> node = child.memset(buffer, 0, 64)
    >>> parent = cuprum.graph.GraphDefinition()
    >>> len(parent.embed(child).child_graph.nodes())
    1
    """

    @property
    def child_graph(self) -> GraphDefinition:
        """Return the graph inside, which belongs to this node and can be edited."""

    def update(self, child: GraphDefinition) -> None:
        """
        Replace the graph inside by a copy of another one.

        Parameters
        ----------
        child : GraphDefinition
            A graph that is no part of this node's own.

        Raises
        ------
        TypeError
            If `child` is not a GraphDefinition.
        GraphError
            If `child` is part of the same graph.
        GraphClosedError
            If the node was destroyed, or `child` is closed.
        """

    def __repr__(self) -> str: ...

class ConditionalNode(GraphNode):
    """
    A node that runs one of its bodies, or none.

    Drivers before CUDA 13.2 say nothing about conditional nodes that were not made by this package. Such
    nodes have no condition, no type and no branches.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> condition = definition.create_condition(default_value=1)
    >>> node = definition.if_then(condition)
    >>> isinstance(node, cuprum.graph.ConditionalNode), len(node.branches)
    (True, 1)
    """

    @property
    def condition(self) -> GraphCondition | None:
        """Return the condition that it tests."""

    @property
    def cond_type(self) -> cuprum.typing.GraphConditionalType | None:
        """Return how it chooses."""

    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """Return the bodies, which belong to this node and can be edited."""

    def __repr__(self) -> str: ...

class IfNode(ConditionalNode):
    """
    A conditional node that runs its body if a condition is not 0.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.if_then(definition.create_condition(default_value=1))
    >>> fill = node.then.memset(buffer, 1, 64)
    """

    def __repr__(self) -> str: ...

    @property
    def then(self) -> GraphDefinition:
        """Return the body."""

class IfElseNode(ConditionalNode):
    """
    A conditional node that runs one of two bodies.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.if_else(definition.create_condition(default_value=0))
    >>> fill = node.then.memset(buffer, 1, 64)
    >>> fill = node.else_.memset(buffer, 2, 64)
    """

    def __repr__(self) -> str: ...

    @property
    def then(self) -> GraphDefinition:
        """Return the body that runs if the condition is not 0."""

    @property
    def else_(self) -> GraphDefinition:
        """Return the body that runs if the condition is 0."""

class WhileNode(ConditionalNode):
    """
    A conditional node that repeats its body as long as a condition is not 0.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.while_loop(definition.create_condition(default_value=0))
    >>> fill = node.body.memset(buffer, 1, 64)
    """

    def __repr__(self) -> str: ...

    @property
    def body(self) -> GraphDefinition:
        """Return the body."""

class SwitchNode(ConditionalNode):
    """
    A conditional node that runs the body whose index a condition is.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.switch(definition.create_condition(default_value=1), 3)
    >>> fill = node.branches[1].memset(buffer, 1, 64)
    """

    def __repr__(self) -> str: ...

class GraphDefinition:
    """
    A graph of work that is built node by node.

    Its methods add nodes that depend on nothing; the same methods of a node add nodes that depend on it.
    ``instantiate`` makes an executable graph. One thread at a time may edit a graph, together with the
    graphs inside it.

    Parameters
    ----------
    context : Context or Device, optional
        Where the nodes run. Without it, in the context that is current when they are added.

    Raises
    ------
    TypeError
        If `context` is neither a Context nor a Device.
    ClosedError
        If the context is closed.
    CUDAError
        If the driver cannot create the graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 128)
    >>> node = node.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    >>> graph = definition.instantiate()
    >>> graph.launch(stream)
    """

    def __init__(self, context: Context | Device | None = None) -> None: ...

    @property
    def handle(self) -> int:
        """
        Return the driver's ``CUgraph`` as an int.

        From then on user objects of the driver keep alive what the graph uses, so that other code may clone
        or instantiate it. This makes launches of executable graphs that are made later several microseconds
        slower.
        """

    def launch(self, config: LaunchConfig | dict, kernel: Kernel, *args: object) -> KernelNode:
        """
        Add a kernel node.

        Parameters
        ----------
        config : LaunchConfig or dict
            Grid, block and the rest, clusters and cooperative launches included.
        kernel : Kernel
            What to run.
        *args : Buffer, array, texture, surface, AllocNode, condition, number, numpy scalar, ctypes or bytes
            One for each parameter, as `cuprum.launch` takes them. Their values are copied now. The graph
            keeps the objects alive as long as it, a clone or an executable may run the kernel.

        Returns
        -------
        KernelNode
            The new node.

        Raises
        ------
        TypeError
            If count, type or size of the arguments is not what the kernel takes.
        """

    def callback(self, fn: Callable[[], object], *, user_data: int | bytes | None = None) -> HostCallbackNode:
        """
        Add a node that calls a function on the host.

        The function runs on a thread of the driver and must not call CUDA. An exception that it raises goes
        to ``sys.unraisablehook``, and the graph goes on. Python's garbage collector does not see the graph's
        reference: a function that refers to its own graph keeps both alive.

        Parameters
        ----------
        fn : callable or ctypes function
            A callable without arguments. Or a C function that returns nothing and takes one pointer:
            ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)``.
        user_data : int or bytes-like, optional
            The argument of a C function: an address, or bytes that are copied.

        Returns
        -------
        HostCallbackNode
            The new node.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        """

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """
        Add a copy of another graph as one node.

        Parameters
        ----------
        child : GraphDefinition
            The graph to copy. Later changes of it have no effect here.

        Returns
        -------
        ChildGraphNode
            The new node.

        Raises
        ------
        TypeError
            If the child is not a graph.
        """

    def allocate(self, size: int, *, device: Device | int | None = None, memory_type: cuprum.typing.GraphMemoryType | str | None = 'device', peer_access: Sequence[Device | int] | None = None) -> AllocNode:
        """
        Add a node that allocates memory at every launch.

        The address is known at once and the same for all launches.

        Parameters
        ----------
        size : int
            Bytes, at least 1.
        device : Device or int, optional
            Whose memory. Without it, that of the current device.
        memory_type : GraphMemoryType or str, optional
            ``"device"``, ``"host"`` (pinned) or ``"managed"``.
        peer_access : sequence of Device or int, optional
            Other devices that may read and write it.

        Returns
        -------
        AllocNode
            The new node; its ``dptr`` is the address.

        Raises
        ------
        ValueError
            If the size is negative, or there is no such kind of memory.
        """

    def deallocate(self, dptr: AllocNode | int) -> FreeNode:
        """
        Add a node that frees the memory of an allocation node.

        Parameters
        ----------
        dptr : AllocNode or int
            The allocation, or its address.

        Returns
        -------
        FreeNode
            The new node.

        Raises
        ------
        GraphError
            If the graph frees it already.
        """

    def memset(self, dst: Buffer | AllocNode | int, value: object, width: int, height: int = 1, pitch: int = 0, *, dst_owner: object = None) -> MemsetNode:
        """
        Add a node that fills memory.

        Parameters
        ----------
        dst : Buffer, AllocNode or int
            Where. The graph keeps the memory of a Buffer alive, whatever happens to the Buffer.
        value : int or bytes-like
            An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
        width : int
            Elements in a row.
        height : int, optional
            Rows.
        pitch : int, optional
            Bytes from row to row; unused for one row.
        dst_owner : object, optional
            An object to keep alive if `dst` is an address.

        Returns
        -------
        MemsetNode
            The new node.

        Raises
        ------
        ValueError
            If the value has another size than 1, 2 or 4 bytes, or the fill does not fit into the
            buffer.
        """

    def memcpy(self, dst: Buffer | AllocNode | int, src: Buffer | AllocNode | int, size: int, *, dst_owner: object = None, src_owner: object = None) -> MemcpyNode:
        """
        Add a node that copies memory, of devices or of the host.

        Parameters
        ----------
        dst, src : Buffer, AllocNode or int
            To where and from where. The graph keeps the memory of a Buffer alive, whatever happens to the
            Buffer.
        size : int
            Bytes.
        dst_owner, src_owner : object, optional
            Objects to keep alive if `dst` or `src` is an address.

        Returns
        -------
        MemcpyNode
            The new node.

        Raises
        ------
        ValueError
            If the copy does not fit into a buffer.
        """

    def empty(self) -> EmptyNode:
        """
        Add a node that does nothing, to gather dependencies.

        Returns
        -------
        EmptyNode
            The node.

        Raises
        ------
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """
        Add an empty node that depends on other nodes as well.

        Parameters
        ----------
        *nodes : GraphNode
            Nodes of the same graph.

        Returns
        -------
        EmptyNode
            The new node.

        Raises
        ------
        TypeError
            If an argument is not a node.
        GraphError
            If a node belongs to another graph.
        GraphClosedError
            If the graph is closed, or a node was destroyed.
        """

    def record(self, event: Event) -> EventRecordNode:
        """
        Add a node that records an event.

        Parameters
        ----------
        event : Event
            The event to record at each launch.

        Returns
        -------
        EventRecordNode
            The node.

        Raises
        ------
        TypeError
            If the argument is not an event.
        """

    def wait(self, event: Event) -> EventWaitNode:
        """
        Add a node that waits for an event.

        Parameters
        ----------
        event : Event
            The event to wait for at each launch.

        Returns
        -------
        EventWaitNode
            The node.

        Raises
        ------
        TypeError
            If the argument is not an event.
        """

    def if_then(self, condition: GraphCondition) -> IfNode:
        """
        Add a node that runs its body, ``then``, if a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        IfNode
            The node, whose body is empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """
        Add a node that runs ``then`` if a condition is not 0, and ``else_`` if it is.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        IfElseNode
            The node, whose bodies are empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """
        Add a node that runs its body as long as a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        WhileNode
            The node, whose body is empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """
        Add a node that runs the body whose index a condition is.

        Parameters
        ----------
        condition : GraphCondition
            If there is no body with this index, none runs.
        count : int
            How many bodies there are: ``branches`` of the node.

        Returns
        -------
        SwitchNode
            The new node.

        Raises
        ------
        ValueError
            If `count` is less than 1.
        """

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """
        Make a condition for one conditional node of this graph.

        Parameters
        ----------
        default_value : int, optional
            The value at the start of every launch. Without it, the condition keeps its value.

        Returns
        -------
        GraphCondition
            Pass it to the conditional node and to the kernels that set it.

        Raises
        ------
        TypeError
            If the value is not an int.
        ValueError
            If the value does not fit 32 bits.
        GraphClosedError
            If the graph is closed.
        """

    def instantiate(self, options: cuprum._graph_options.GraphCompleteOptions | dict | None = None) -> Graph:
        """
        Make an executable graph. Later changes of this one do not affect it.

        Parameters
        ----------
        options : GraphCompleteOptions or dict, optional
            How to make it.

        Returns
        -------
        Graph
            The executable graph.

        Raises
        ------
        GraphError
            If the graph has a cycle; the text names its nodes.
        GraphInstantiateError
            If the driver refuses it for another reason.
        """

    def clone(self) -> GraphDefinition:
        """
        Return a copy that changes on its own.

        Returns
        -------
        GraphDefinition
            The copy.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        CUDAError
            If the driver cannot clone the graph: it allocates or frees memory, or has conditional nodes.
        """

    def nodes(self) -> set[GraphNode]:
        """
        Return all nodes.

        Returns
        -------
        set[GraphNode]
            The nodes.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        """

    def edges(self) -> set[tuple[GraphNode, GraphNode]]:
        """
        Return all edges, each as the node that is waited for and the one that waits.

        Returns
        -------
        set[tuple[GraphNode, GraphNode]]
            The edges.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        """

    @property
    def _entry(self) -> GraphNode:
        """Return the place before all nodes, as a node that does not exist."""

    def debug_dot_print(self, path: str | os.PathLike[str], options: cuprum._graph_options.GraphDebugPrintOptions | dict | None = None) -> None:
        """
        Write what the driver knows of the graph to a file, in the language of Graphviz.

        Parameters
        ----------
        path : str or path-like
            The file, which is overwritten.
        options : GraphDebugPrintOptions or dict, optional
            What to say about nodes.

        Raises
        ------
        CUDAError
            If the file cannot be written.
        GraphClosedError
            If the graph is closed.
        """

    def to_dot(self) -> str:
        """
        Return a picture of the graph in the language of Graphviz.

        Returns
        -------
        str
            Text for Graphviz.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        """

    def to_text(self) -> str:
        """
        Return the graph as a tree of lines for a terminal.

        Returns
        -------
        str
            One line for each node.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        """

    def to_svg(self) -> str:
        """
        Return a picture of the graph as an SVG.

        Returns
        -------
        str
            The picture as text.

        Raises
        ------
        LibraryNotFoundError
            If Graphviz's program ``dot`` is not on the path.
        """

    def _repr_svg_(self) -> str | None:
        """Return the picture of the graph; None without Graphviz."""

    def _repr_html_(self) -> str:
        """Return what notebooks show."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """
        Release this object's share of the graph.

        Nodes, other objects of the same graph and executables stay. Calling it again does nothing.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class WeakHandle:
    """
    An observer of a buffer's memory or of a graph, for tests.

    It is true while somebody shares the memory or the graph, and does not keep it alive.

    Parameters
    ----------
    obj : Buffer or GraphDefinition
        What to watch.
    """

    def __init__(self, obj: Buffer | GraphDefinition) -> None: ...

    def __bool__(self) -> bool: ...

    def expired(self) -> bool:
        """Return whether nobody shares it any more."""

    def use_count(self) -> int:
        """Return how many share it."""

class Graph:
    """
    An executable graph: many pieces of work that one call launches.

    ``GraphDefinition.instantiate`` and ``GraphBuilder.complete`` make it. It keeps alive what its nodes
    use, also while it runs. Two launches of one graph never overlap.

    Examples
    --------
    >>> with cuprum.graph.capture(stream) as builder:
    ...     buffer.fill(0, stream=builder)
    >>> graph = builder.complete()
    >>> graph.launch(stream)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUgraphExec`` as an int."""

    def launch(self, stream: Stream | GraphBuilder) -> None:
        """
        Launch the graph. Returns at once.

        Parameters
        ----------
        stream : Stream or GraphBuilder
            The graph runs in this stream's order.

        Raises
        ------
        ClosedError
            If the graph or the stream is closed.
        """

    def upload(self, stream: Stream) -> None:
        """
        Prepare the device for the next launch, so that it is faster.

        Parameters
        ----------
        stream : Stream
            The upload is ordered on it.

        Raises
        ------
        TypeError
            If `stream` is None or not a stream.
        GraphClosedError
            If the graph or the stream is closed.
        CUDAError
            If the driver cannot upload the graph.
        """

    def update(self, source: GraphDefinition | GraphBuilder) -> None:
        """
        Take over the parameters of a graph with the same topology, for later launches.

        Parameters
        ----------
        source : GraphDefinition or GraphBuilder
            A builder must have ended.

        Raises
        ------
        GraphUpdateError
            If they differ in more; the text names the node. This graph stays as it was.
        """

    def try_update(self, source: GraphDefinition | GraphBuilder) -> cuprum._graph_options.GraphUpdateResult:
        """
        Do what ``update`` does, but return a refusal instead of raising it.

        Parameters
        ----------
        source : GraphDefinition or GraphBuilder
            A builder must have ended.

        Returns
        -------
        GraphUpdateResult
            True if the graph was updated. If not, it says what differs.

        Raises
        ------
        TypeError
            If `source` is neither a definition nor a builder.
        ValueError
            If a builder has not ended.
        GraphClosedError
            If this graph or the source is closed.
        """

    def __getitem__(self, node: GraphNode, /) -> ExecutableGraphNode:
        """
        Return a node of this graph, named by that of its definition, to change it here alone.

        Raises
        ------
        TypeError
            If nodes of this kind cannot be changed.
        ValueError
            If the graph is closed or the node destroyed.
        """

    @property
    def flags(self) -> int:
        """Return the driver's ``CUgraphInstantiate_flags``."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """
        Release this object's share of the graph.

        A launch that runs completes. Calling it again does nothing; any other use raises
        GraphClosedError.
        """

    def __repr__(self) -> str: ...

class ExecutableGraphNode:
    """
    A node of an executable graph. Changes apply to later launches.

    ``graph[node]`` makes it, where `node` is one of the graph's definition.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 64)
    >>> graph = definition.instantiate()
    >>> graph[node].node == node
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

class ExecutableKernelNode(ExecutableGraphNode):
    """
    A kernel node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    >>> graph = definition.instantiate()
    >>> graph[node].disable()
    >>> graph[node].is_enabled
    False
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

    def update(self, *, config: LaunchConfig | dict, kernel: Kernel, args: Sequence[object]) -> None:
        """
        Replace configuration, kernel and arguments for later launches.

        Parameters
        ----------
        config : LaunchConfig or dict
            The new grid, block and shared memory. The driver keeps the other attributes of the definition.
        kernel : Kernel
            The new kernel.
        args : sequence
            All new arguments, as `cuprum.launch` takes them. The executable keeps them alive, also earlier
            ones, until it is updated as a whole or destroyed.

        Raises
        ------
        TypeError
            If `kernel` is not a Kernel, or the number or the types of the arguments are wrong.
        ValueError
            If the configuration is wrong.
        CUDAError
            If the driver refuses the change, as for a kernel of another context.
        """

    @property
    def is_enabled(self) -> bool:
        """Return whether the node runs."""

    def enable(self) -> None:
        """
        Let the node run in later launches.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

    def disable(self) -> None:
        """
        Skip the node in later launches.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

class ExecutableMemcpyNode(ExecutableGraphNode):
    """
    A copy node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> other = device.allocate(1024, stream=stream)
    >>> node = definition.memcpy(other, buffer, 1024)
    >>> graph = definition.instantiate()
    >>> graph[node].update(dst=other, src=buffer, size=512)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

    def update(self, *, dst: Buffer | AllocNode | int, src: Buffer | AllocNode | int, size: int) -> None:
        """
        Replace the copy for later launches; see ``GraphNode.memcpy``.

        Parameters
        ----------
        dst : Buffer, AllocNode or int
            Where to write.
        src : Buffer, AllocNode or int
            Where to read.
        size : int
            The number of bytes.

        Raises
        ------
        TypeError
            If an argument has another type.
        GraphError
            If the copy does not fit into a buffer.
        GraphClosedError
            If a buffer is closed.
        CUDAError
            If the driver refuses the change, as for memory of another kind or device.
        """

    @property
    def is_enabled(self) -> bool:
        """Return whether the node runs."""

    def enable(self) -> None:
        """
        Let the node run in later launches.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

    def disable(self) -> None:
        """
        Skip the node in later launches.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

class ExecutableMemsetNode(ExecutableGraphNode):
    """
    A fill node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 64)
    >>> graph = definition.instantiate()
    >>> graph[node].update(dst=buffer, value=1, width=64)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

    def update(self, *, dst: Buffer | AllocNode | int, value: object, width: int, height: int = 1, pitch: int = 0) -> None:
        """
        Replace the fill for later launches; see ``GraphNode.memset``.

        Parameters
        ----------
        dst : Buffer, AllocNode or int
            Where to write.
        value : object
            An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
        width : int
            Elements in a row.
        height : int, optional
            The number of rows.
        pitch : int, optional
            Bytes from row to row; 0 means without gaps.

        Raises
        ------
        TypeError
            If an argument has another type.
        OverflowError
            If `value` is an int that does not fit a byte.
        ValueError
            If `value` is of 3, or of more than 4 bytes.
        GraphError
            If the fill does not fit into the buffer.
        GraphClosedError
            If the buffer is closed.
        CUDAError
            If the driver refuses the change, as for another number of dimensions.
        """

    @property
    def is_enabled(self) -> bool:
        """Return whether the node runs."""

    def enable(self) -> None:
        """
        Let the node run in later launches.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

    def disable(self) -> None:
        """
        Skip the node in later launches.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

class ExecutableChildGraphNode(ExecutableGraphNode):
    """
    A child graph node of an executable graph.

    Examples
    --------
    >>> child, parent = cuprum.graph.GraphDefinition(), cuprum.graph.GraphDefinition()
    >>> fill = child.memset(buffer, 0, 64)
    >>> node = parent.embed(child)
    >>> graph = parent.instantiate()
    >>> graph[node].update(child)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

    def update(self, child: GraphDefinition) -> None:
        """
        Take over the parameters of a graph with the child's topology, for later launches.

        Parameters
        ----------
        child : GraphDefinition
            A graph with the same nodes and edges.

        Raises
        ------
        TypeError
            If `child` is not a GraphDefinition.
        GraphClosedError
            If `child` is closed.
        CUDAError
            If its nodes or edges differ. The graph stays as it was.
        """

class ExecutableEventRecordNode(ExecutableGraphNode):
    """
    An event record node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.record(device.create_event())
    >>> graph = definition.instantiate()
    >>> graph[node].update(device.create_event())
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

    def update(self, event: Event) -> None:
        """
        Replace the event for later launches.

        Parameters
        ----------
        event : Event
            The event to use instead.

        Raises
        ------
        TypeError
            If the argument is not an event.
        GraphClosedError
            If the event is closed.
        """

class ExecutableEventWaitNode(ExecutableGraphNode):
    """
    An event wait node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.wait(device.create_event())
    >>> graph = definition.instantiate()
    >>> graph[node].update(device.create_event())
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

    def update(self, event: Event) -> None:
        """
        Replace the event for later launches.

        Parameters
        ----------
        event : Event
            The event to use instead.

        Raises
        ------
        TypeError
            If the argument is not an event.
        GraphClosedError
            If the event is closed.
        """

class ExecutableHostCallbackNode(ExecutableGraphNode):
    """
    A host callback node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.callback(lambda: None)
    >>> graph = definition.instantiate()
    >>> graph[node].update(lambda: print("called"))
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

    def update(self, fn: Callable[[], object], *, user_data: int | bytes | None = None) -> None:
        """
        Replace the function for later launches; see ``GraphNode.callback``.

        Parameters
        ----------
        fn : Callable[[], object]
            The function to call instead.
        user_data : int or bytes, optional
            For a C function: its argument.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        ValueError
            If there is `user_data` for a Python function.
        CUDAError
            If the driver refuses the change.
        """

class GraphBuilder:
    """
    A graph that is built by capturing a stream.

    ``Stream.create_graph_builder`` and ``Device.create_graph_builder`` make it. From ``begin_building``
    to ``end_building``, work that is enqueued on the builder, or on its stream, becomes a part of the
    graph instead of running. As a context manager it begins, and ends whatever happens in the body; if
    the body raises, what was captured is discarded.

    The graph keeps kernels, buffers, argument objects, events and callbacks alive. Pass to ``keep_alive``
    what it cannot know, such as memory whose address is given as a number.

    Examples
    --------
    >>> builder = stream.create_graph_builder().begin_building()
    >>> buffer.fill(0, stream=builder)
    >>> graph = builder.end_building().complete()
    >>> graph.launch(stream)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    def begin_building(self, mode: cuprum.typing.CaptureModeType | str = 'relaxed') -> GraphBuilder:
        """
        Begin to capture the stream.

        Parameters
        ----------
        mode : CaptureModeType or str, optional
            Who may make calls that a graph cannot contain, such as synchronising: with ``"global"`` no
            thread of the process, with ``"thread_local"`` no call of this thread is allowed, with
            ``"relaxed"`` all are. A forbidden call fails and invalidates the capture.

        Returns
        -------
        GraphBuilder
            This one.

        Raises
        ------
        RuntimeError
            If it has begun before.
        """

    @property
    def is_building(self) -> bool:
        """
        Return whether the capture is active.

        Raises
        ------
        CUDAError
            If a forbidden call invalidated it. ``end_building`` or ``close`` ends it then.
        """

    def end_building(self) -> GraphBuilder:
        """
        End the capture and keep its graph. It cannot be resumed.

        Returns
        -------
        GraphBuilder
            This one.

        Raises
        ------
        RuntimeError
            If it is not building, or has forks that were not joined.
        CUDAError
            If the capture was invalidated.
        """

    @property
    def stream(self) -> Stream:
        """Return the stream that is captured."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """
        Return ``(0, handle)`` of the stream, the protocol by which libraries exchange streams.
        """

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """
        Close the builder. A capture that is active ends, and what was captured is discarded.

        Definitions and executable graphs made before stay. Calling it again does nothing.

        Raises
        ------
        CUDAError
            If the capture cannot be ended, as on another thread than it began on.
        """

    def __enter__(self) -> GraphBuilder:
        """Begin building, unless it has begun."""

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        """End building. After an exception, discard what was captured."""

    def complete(self, options: cuprum._graph_options.GraphCompleteOptions | dict | None = None) -> Graph:
        """
        Make an executable graph of what was captured. May be called several times.

        Parameters
        ----------
        options : GraphCompleteOptions or dict, optional
            How to make it.

        Returns
        -------
        Graph
            The executable graph.

        Raises
        ------
        RuntimeError
            If ``end_building`` was not called.
        """

    def debug_dot_print(self, path: str | os.PathLike[str], options: cuprum._graph_options.GraphDebugPrintOptions | dict | None = None) -> None:
        """
        Write what was captured to a file; see ``GraphDefinition.debug_dot_print``.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        options : GraphDebugPrintOptions or dict, optional
            What to show beside nodes and edges.

        Raises
        ------
        RuntimeError
            If ``end_building`` was not called.
        CUDAError
            If the file cannot be written.
        GraphClosedError
            If the builder is closed.
        """

    @property
    def graph_definition(self) -> GraphDefinition:
        """
        Return what was captured, to look at it or to edit it.

        It stays valid when the builder is closed. The body of a conditional node has one also before
        ``begin_building``.

        Raises
        ------
        RuntimeError
            While the builder builds, before it has begun, and for forks.
        """

    def split(self, count: int) -> tuple[GraphBuilder, ...]:
        """
        Split the capture into builders that go on from here independently.

        Parameters
        ----------
        count : int
            How many, at least 2.

        Returns
        -------
        tuple of GraphBuilder
            The first is this one. ``join`` the others before the end.

        Raises
        ------
        ValueError
            If `count` is less than 2.
        """

    @staticmethod
    def join(*graph_builders: GraphBuilder) -> GraphBuilder:
        """
        Join builders of one capture: one of them goes on after the work of all.

        Parameters
        ----------
        *graph_builders : GraphBuilder
            At least two.

        Returns
        -------
        GraphBuilder
            The first that is no fork, or else the first of all. The others are closed.

        Raises
        ------
        ValueError
            If there are fewer than two, one is given twice, or they belong to different captures.
        """

    @property
    def is_join_required(self) -> bool:
        """
        Return whether the builder is a fork, which must be joined before the capture ends.
        """

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """
        Make a condition for one conditional node; see ``GraphDefinition.create_condition``.

        Parameters
        ----------
        default_value : int, optional
            The value at the start of each launch. Without it the value stays.

        Returns
        -------
        GraphCondition
            The condition.

        Raises
        ------
        RuntimeError
            If the builder is not building.
        ValueError
            If the value does not fit 32 bits.
        GraphClosedError
            If the builder is closed.
        """

    def if_then(self, condition: GraphCondition) -> GraphBuilder:
        """
        Add a node that runs its body if a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            As ``create_condition`` makes it.

        Returns
        -------
        GraphBuilder
            Builds the body: capture it between ``begin_building`` and ``end_building``, or edit its
            ``graph_definition``. This builder goes on after the node.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        RuntimeError
            If the builder is not building.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the builder is closed.
        """

    def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, GraphBuilder]:
        """
        Add a node with two bodies, for a condition that is not 0 and one that is.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        tuple[GraphBuilder, GraphBuilder]
            Builders of the two bodies.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        RuntimeError
            If the builder is not building.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the builder is closed.
        """

    def while_loop(self, condition: GraphCondition) -> GraphBuilder:
        """
        Add a node that runs its body as long as a condition is not 0; returns the body.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        GraphBuilder
            The builder of the body.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        RuntimeError
            If the builder is not building.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the builder is closed.
        """

    def switch(self, condition: GraphCondition, count: int) -> tuple[GraphBuilder, ...]:
        """
        Add a node that runs the body whose index a condition is; returns the bodies.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.
        count : int
            The number of bodies.

        Returns
        -------
        tuple[GraphBuilder, ...]
            Builders of the bodies.

        Raises
        ------
        ValueError
            If `count` is less than 1.
        """

    def embed(self, child: GraphBuilder | GraphDefinition) -> None:
        """
        Capture a copy of another graph as one node.

        Parameters
        ----------
        child : GraphBuilder or GraphDefinition
            A builder must have ended.

        Raises
        ------
        TypeError
            If `child` is neither a builder nor a definition.
        ValueError
            If this builder is not building, or the child's has not ended.
        GraphClosedError
            If the builder or the child is closed.
        """

    def callback(self, fn: Callable[[], object], *, user_data: int | bytes | None = None) -> None:
        """
        Capture a call of a function on the host; see ``GraphNode.callback``.

        Parameters
        ----------
        fn : Callable[[], object]
            The function to call at each launch.
        user_data : int or bytes, optional
            For a C function: its argument.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        ValueError
            If there is `user_data` for a Python function.
        RuntimeError
            If the builder is not building.
        GraphClosedError
            If the builder is closed.
        """

    def keep_alive(self, obj: object) -> None:
        """
        Keep an object alive as long as the graph, its copies and executables exist.

        Parameters
        ----------
        obj : object
            Such as a Buffer whose address was captured.

        Raises
        ------
        RuntimeError
            If the builder has no graph: nothing was captured.
        GraphClosedError
            If the builder is closed.
        """

    def __repr__(self) -> str: ...

class StridedLayout:
    """
    The layout of the elements of an array in memory.

    Extents, strides, the size of an element and the offset of the first one. It does not change: every
    operation returns a new layout, and none touches memory. ``layout[1:, ::2]`` slices it.

    Parameters
    ----------
    shape : tuple of int
        The extents.
    strides : tuple of int or None
        In elements; None is contiguous in C order.
    itemsize : int
        Bytes per element.
    divide_strides : bool, optional
        The strides are given in bytes.

    Raises
    ------
    ValueError
        If an extent is negative, there are more than 64, strides and shape differ in length, or strides
        in bytes are no multiples of the element.

    Examples
    --------
    >>> layout = cuprum.utils.StridedLayout.dense((2, 3), itemsize=4)
    >>> layout.permuted((1, 0)).strides
    (1, 3)
    """

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int, divide_strides: bool = False) -> None: ...

    @staticmethod
    def dense(shape: tuple[int, ...], itemsize: int, stride_order: str | tuple[int, ...] = 'C') -> StridedLayout:
        """
        Make a layout without gaps.

        Parameters
        ----------
        shape : tuple of int
            The extents.
        itemsize : int
            Bytes per element.
        stride_order : str or tuple of int, optional
            "C", "F", or the axes from the outermost to the one that is contiguous.

        Returns
        -------
        StridedLayout
            The layout; its strides are explicit.

        Raises
        ------
        TypeError
            If the shape is not a tuple of ints.
        ValueError
            If an extent is negative, there are more than 64, the element has no bytes, the order does not
            name each axis once, or the size does not fit 64 bits.
        """

    @staticmethod
    def dense_like(other: StridedLayout, stride_order: str | tuple[int, ...] = 'K') -> StridedLayout:
        """
        Make a layout without gaps with the shape of another. See ``to_dense``.

        Parameters
        ----------
        other : StridedLayout
            The layout whose shape is used.
        stride_order : str | tuple[int, ...], optional
            ``"C"``, ``"F"``, ``"K"`` for the order of `other`, or the axes from the outermost on.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        TypeError
            If `other` is not a StridedLayout.
        ValueError
            If the order does not name each axis once.
        """

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Return the strides in elements, or None if they were left implicit."""

    @property
    def strides_in_bytes(self) -> tuple[int, ...] | None:
        """Return the strides in bytes, or None if they were left implicit."""

    @property
    def itemsize(self) -> int:
        """Return the bytes per element."""

    @property
    def volume(self) -> int:
        """Return the number of elements."""

    @property
    def slice_offset(self) -> int:
        """Return the offset of the first element, in elements."""

    @property
    def slice_offset_in_bytes(self) -> int:
        """Return the offset of the first element, in bytes."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    @property
    def stride_order(self) -> tuple[int, ...]:
        """
        Return the axes from the one with the largest stride to the one with the smallest.
        """

    @property
    def is_unique(self) -> bool:
        """
        Return whether no two elements share memory; strides that interleave are not analysed and count as shared.
        """

    @property
    def is_contiguous_c(self) -> bool:
        """Return whether it is contiguous with the last axis fastest."""

    @property
    def is_contiguous_f(self) -> bool:
        """Return whether it is contiguous with the first axis fastest."""

    @property
    def is_contiguous_any(self) -> bool:
        """Return whether it is contiguous in some order of its axes."""

    @property
    def is_dense(self) -> bool:
        """Return whether it is contiguous in some order and begins at offset 0."""

    @property
    def offset_bounds(self) -> tuple[int, int]:
        """
        Return the smallest and the largest offset of an element; (0, -1) if there is none.
        """

    @property
    def min_offset(self) -> int:
        """Return the smallest offset of an element, in elements."""

    @property
    def max_offset(self) -> int:
        """Return the largest offset of an element, in elements."""

    def required_size_in_bytes(self) -> int:
        """
        Return the bytes that memory needs for all elements to lie in it.

        Returns
        -------
        int
            The size, counted from the first byte of the memory.

        Raises
        ------
        ValueError
            If some element lies before the start.
        """

    def to_dense(self, stride_order: str | tuple[int, ...] = 'K') -> StridedLayout:
        """
        Return a layout without gaps that has the same shape.

        Parameters
        ----------
        stride_order : str or tuple of int, optional
            "K" keeps the order of the axes in memory; else as in ``dense``.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If there is no such order.
        """

    def reshaped(self, shape: tuple[int, ...]) -> StridedLayout:
        """
        Return a layout of the same elements in another shape.

        Parameters
        ----------
        shape : tuple of int
            One extent may be -1: it is computed.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If the number of elements differs, or no strides describe the new shape.
        """

    def permuted(self, axis_order: tuple[int, ...]) -> StridedLayout:
        """
        Return a layout whose axis i is axis ``axis_order[i]`` of this one.

        Parameters
        ----------
        axis_order : tuple[int, ...]
            Each axis once.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If an axis is missing or there twice.
        """

    def flattened(self, start_axis: int = 0, end_axis: int = -1, mask: int | None = None) -> StridedLayout:
        """
        Merge neighbouring axes that one stride can cover.

        Parameters
        ----------
        start_axis, end_axis : int, optional
            Only axes in this range, both included, are merged.
        mask : int, optional
            Only axes whose bit is set are merged into the axis before; see ``flattened_axis_mask``.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        TypeError
            If an axis is not an int.
        ValueError
            If there is no such axis.
        """

    def flattened_axis_mask(self) -> int:
        """
        Return the axes, one bit each, that can be merged into the axis before.

        Returns
        -------
        int
            A mask. Combine masks of several layouts with ``&``.
        """

    def squeezed(self) -> StridedLayout:
        """
        Remove the axes of extent 1; a layout without elements becomes one empty axis.

        Returns
        -------
        StridedLayout
            The new layout.
        """

    def unsqueezed(self, axis: int | tuple[int, ...]) -> StridedLayout:
        """
        Add axes of extent 1, numbered as in the result.

        Parameters
        ----------
        axis : int | tuple[int, ...]
            One axis or several.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If an axis is out of range or there twice.
        """

    def broadcast_to(self, shape: tuple[int, ...]) -> StridedLayout:
        """
        Repeat axes of extent 1, and add axes in front, by strides of 0.

        Parameters
        ----------
        shape : tuple[int, ...]
            The shape of the result.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If an axis of another extent than 1 would change.
        """

    def sliced(self, slices: int | slice | tuple[int | slice, ...]) -> StridedLayout:
        """
        Return the layout of a part.

        Parameters
        ----------
        slices : int, slice or tuple of them
            One for each of the leading axes; an int removes its axis.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        TypeError
            If an item is neither an int nor a slice.
        ValueError
            If there are more items than axes, an index is out of range, or a step is 0.
        """

    def __getitem__(self, slices: int | slice | tuple[int | slice, ...], /) -> StridedLayout: ...

    def repacked(self, itemsize: int, data_ptr: int = 0, axis: int = -1, keep_dim: bool = True) -> StridedLayout:
        """
        Combine neighbouring elements into larger ones, or divide each into smaller ones.

        Parameters
        ----------
        itemsize : int
            Bytes of the new elements, a multiple or a divisor of the present ones.
        data_ptr : int, optional
            Where the layout is to be used; its alignment is checked.
        axis : int, optional
            The contiguous axis along which elements are taken together.
        keep_dim : bool, optional
            An axis that shrinks to extent 1 stays.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If extent, strides, offset or address do not allow it. The message says which.
        """

    def max_compatible_itemsize(self, max_itemsize: int = 16, data_ptr: int = 0, axis: int = -1) -> int:
        """
        Return the largest element size that ``repacked`` can widen to.

        Parameters
        ----------
        max_itemsize : int, optional
            A multiple of the size sought; not less than the present one.
        data_ptr : int, optional
            Where the layout is to be used, which it has to be aligned for.
        axis : int, optional
            The contiguous axis along which elements are taken together.

        Returns
        -------
        int
            The size in bytes.

        Raises
        ------
        TypeError
            If an argument is not an int.
        ValueError
            If `max_itemsize` is less than the element, or there is no such axis.
        """

class StridedMemoryView:
    """
    A view of another library's array, without a copy.

    Made by one of the ``from_*`` methods from arrays of numpy, CuPy, PyTorch and others, or from a
    Buffer. Keeps the array alive.

    Examples
    --------
    >>> view = cuprum.utils.StridedMemoryView.from_any_interface(np.ones((2, 3)), stream_ptr=-1)
    >>> view.shape, view.dtype
    ((2, 3), dtype('float64'))
    """

    def __init__(self, obj: object | None = None, stream_ptr: int | None = None) -> None: ...

    def __del__(self) -> None: ...

    @classmethod
    def from_any_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """
        View an object through DLPack, or through the CUDA array interface if it has no DLPack.

        Parameters
        ----------
        obj : object
            An array.
        stream_ptr : int
            The stream that will use the memory. It waits for the work that the array's stream holds now.
            -1 means no ordering.

        Returns
        -------
        StridedMemoryView
            The view.

        Raises
        ------
        BufferError
            If the object has neither protocol or `stream_ptr` is not given.
        """

    @classmethod
    def from_dlpack(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """
        View an object through DLPack. See ``from_any_interface``.

        Parameters
        ----------
        obj : object
            An object with ``__dlpack__``.
        stream_ptr : int, optional
            The ``CUstream`` that you use the view on; -1 orders nothing.

        Returns
        -------
        StridedMemoryView
            The view. It keeps the object alive.

        Raises
        ------
        BufferError
            If the object does not have the protocol.
        """

    @classmethod
    def from_cuda_array_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """
        View an object through ``__cuda_array_interface__``. See ``from_any_interface``.

        Parameters
        ----------
        obj : object
            An object with ``__cuda_array_interface__``.
        stream_ptr : int, optional
            The ``CUstream`` that you use the view on; -1 orders nothing.

        Returns
        -------
        StridedMemoryView
            The view. It keeps the object alive.

        Raises
        ------
        BufferError
            If the object does not have the protocol.
        """

    @classmethod
    def from_array_interface(cls, obj: object) -> StridedMemoryView:
        """
        View an object in host memory through ``__array_interface__``.

        Parameters
        ----------
        obj : object
            An object with ``__array_interface__``, such as a numpy array.

        Returns
        -------
        StridedMemoryView
            The view. It keeps the object alive.

        Raises
        ------
        BufferError
            If the object does not have the protocol.
        """

    @classmethod
    def from_buffer(cls, buffer: Buffer, shape: tuple[int, ...], strides: tuple[int, ...] | None = None, *, itemsize: int | None = None, dtype: object | None = None, is_readonly: bool = False) -> StridedMemoryView:
        """
        View a buffer as an array.

        No stream waits: order the use of the view after the work that fills the buffer yourself.

        Parameters
        ----------
        buffer : Buffer
            The memory; the view keeps it.
        shape : tuple of int
            The extents.
        strides : tuple of int, optional
            In elements; contiguous in C order if not given.
        itemsize : int, optional
            Bytes per element; the dtype's if not given.
        dtype : numpy.dtype, optional
            What the elements are, as ``numpy.dtype()`` takes it.
        is_readonly : bool, optional
            Mark the view as read-only.

        Returns
        -------
        StridedMemoryView
            The view.

        Raises
        ------
        ValueError
            If neither `itemsize` nor `dtype` is given, they contradict each other, or the buffer is too small.
        """

    @property
    def ptr(self) -> int:
        """Return the address of the first element."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device it lies on, -1 for host memory."""

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def readonly(self) -> bool:
        """Return whether the memory must not be written."""

    @property
    def exporting_obj(self) -> object:
        """Return the array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""

    @property
    def strides(self) -> tuple[int, ...] | None:
        """
        Return the strides in elements, or None if the array gives none and is contiguous in C order.
        """

    @property
    def size(self) -> int:
        """Return the number of elements."""

    @property
    def dtype(self) -> object:
        """
        Return the elements' numpy dtype (its string if there is no numpy), or None if it is not known.
        """

    @property
    def layout(self) -> StridedLayout:
        """Return the layout of the elements."""

    @property
    def _layout(self) -> StridedLayout: ...

    def __repr__(self) -> str: ...

    def view(self, layout: StridedLayout | None = None, dtype: object | None = None) -> StridedMemoryView:
        """
        View the same memory with another layout or element type.

        Parameters
        ----------
        layout : StridedLayout, optional
            Offsets count from where the array, or the buffer, begins.
        dtype : numpy.dtype, optional
            As ``numpy.dtype()`` takes it; of the layout's element size.

        Returns
        -------
        StridedMemoryView
            This view if nothing is given.

        Raises
        ------
        ValueError
            If the layout reaches beyond the memory, or the element sizes differ.
        """

    def as_tensor_map(self, box_dim: tuple[int, ...] | None = None, *, options: cuprum._tensor_map.TensorMapDescriptorOptions | dict | None = None, element_strides: tuple[int, ...] | None = None, data_type: object | None = None, interleave: object | None = None, swizzle: object | None = None, l2_promotion: object | None = None, oob_fill: object | None = None) -> TensorMapDescriptor:
        """
        Create a tensor map, with which kernels copy boxes of the array to shared memory.

        Numbers follow the axes of the view. If `data_type` has another size than the view's elements, the
        innermost axis is seen as elements of that size.

        Parameters
        ----------
        box_dim : tuple of int
            The size of one copy, 1 to 256 elements on each axis.
        options : TensorMapDescriptorOptions or dict, optional
            All arguments in one object, instead of the single ones.
        element_strides : tuple of int, optional
            Copy every n-th element of an axis, 1 to 8.
        data_type : numpy.dtype or TensorMapDataType, optional
            The type of the elements, if it is not that of the view.
        interleave : TensorMapInterleave, optional
            Whether channels are interleaved.
        swizzle : TensorMapSwizzle, optional
            How pieces are permuted in shared memory.
        l2_promotion : TensorMapL2Promotion, optional
            How much the L2 cache fetches at once.
        oob_fill : TensorMapOOBFill, optional
            What loads write for elements outside the array.

        Returns
        -------
        TensorMapDescriptor
            It keeps the view alive. Pass it to a kernel.

        Raises
        ------
        TypeError
            If `box_dim` is missing, or `options` is given together with other arguments.
        ValueError
            If a rule does not hold; the text says which.
        """

    def copy_from(self, other: object, stream: Stream, allocator: None = None, blocking: bool | None = None) -> None:
        """
        Copy all elements from another array of the same shape and element type.

        Both may be on the host or on devices, contiguous or not. Nothing is converted. Contiguous arrays
        and arrays with regular gaps are one copy; axes in different orders need several.

        Parameters
        ----------
        other : StridedMemoryView, Buffer or array
            A buffer counts as contiguous and must have the same number of bytes; an array of another library
            is viewed first, ordered on `stream`.
        stream : Stream
            The copy is ordered on it.
        allocator : None
            No temporary memory is needed.
        blocking : bool, optional
            Whether to wait until the copy is done. If not given, the call waits only if it uses host
            memory that devices cannot reach. Pinned and managed memory is copied like device memory.

        Raises
        ------
        ValueError
            If shapes or element types differ, this view is read-only, its elements share memory, or the two
            overlap.
        """

    def copy_to(self, other: object, stream: Stream, allocator: None = None, blocking: bool | None = None) -> None:
        """
        Copy all elements to another array of the same shape and element type. See ``copy_from``.

        Parameters
        ----------
        other : object
            A view or an array to write to.
        stream : Stream
            The copy runs in the order of this stream.
        allocator : None, optional
            Reserved; pass None.
        blocking : bool, optional
            Whether to wait for the copy; see ``copy_from``.

        Raises
        ------
        TypeError
            If `stream` is not a stream.
        BufferError
            If `other` is not an array.
        ValueError
            If shapes or element types differ, `other` is read-only, its elements share memory, or the two
            overlap.
        """

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> CapsuleType:
        """
        Return the memory as a DLPack capsule, which keeps the view alive.

        Parameters
        ----------
        stream : int, optional
            The stream that will use the memory. It is made to wait for the one that the view was made for,
            or, if it views a ``Buffer``, for the one that the buffer will be freed on; None and -1 leave
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
            If another device or a copy is asked for, or the elements have no DLPack type.
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and the ordinal."""

    __dlpack_c_exchange_api__: CapsuleType

    __c_dlpack_exchange_api__: CapsuleType

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        """
        Return the elements in host memory as a numpy array.

        Parameters
        ----------
        dtype : object, optional
            The type that numpy asks for.
        copy : bool, optional
            Whether numpy needs a copy.

        Returns
        -------
        numpy.ndarray
            The elements.

        Raises
        ------
        TypeError
            If the elements lie in the memory of a device.
        """

    __array_ufunc__: None = None

class TensorMapDescriptor:
    """
    A tensor map: describes to the tensor memory accelerator where a tensor lies.

    Made by ``StridedMemoryView.as_tensor_map``. Pass it to a kernel whose parameter is a
    ``const __grid_constant__ CUtensorMap``. Keeps the view alive. Needs compute capability 9.0.

    Examples
    --------
    >>> view = cuprum.utils.StridedMemoryView.from_buffer(buffer, (16, 16), dtype=np.float32)
    >>> tensor_map = view.as_tensor_map(box_dim=(8, 8))
    >>> tensor_map.rank
    2
    """

    def __init__(self) -> None: ...

    @classmethod
    def _from_tiled(cls, view: StridedMemoryView, box_dim: tuple[int, ...] | None = None, *, options: object = None, element_strides: tuple[int, ...] | None = None, data_type: object = None, interleave: object = None, swizzle: object = None, l2_promotion: object = None, oob_fill: object = None) -> TensorMapDescriptor:
        """Make a tiled map. See ``StridedMemoryView.as_tensor_map``."""

    @classmethod
    def _from_im2col(cls, view: StridedMemoryView, pixel_box_lower_corner: tuple[int, ...], pixel_box_upper_corner: tuple[int, ...], channels_per_pixel: int, pixels_per_column: int, *, element_strides: tuple[int, ...] | None = None, data_type: object = None, interleave: object = None, swizzle: object = None, l2_promotion: object = None, oob_fill: object = None) -> TensorMapDescriptor:
        """
        Make an im2col map, for convolutions.

        Parameters
        ----------
        view : StridedMemoryView
            A tensor NWC, NHWC or NDHWC.
        pixel_box_lower_corner, pixel_box_upper_corner : tuple of int
            Offsets of the box from the first and from the last pixel, one for each axis between the
            first and the last.
        channels_per_pixel : int
            1 to 256.
        pixels_per_column : int
            1 to 1024.
        element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill
            As for ``StridedMemoryView.as_tensor_map``.

        Raises
        ------
        ValueError
            If a rule does not hold; the text says which.
        """

    @classmethod
    def _from_im2col_wide(cls, view: StridedMemoryView, pixel_box_lower_corner_width: int, pixel_box_upper_corner_width: int, channels_per_pixel: int, pixels_per_column: int, *, element_strides: tuple[int, ...] | None = None, data_type: object = None, interleave: object = None, mode: object = None, swizzle: object = None, l2_promotion: object = None, oob_fill: object = None) -> TensorMapDescriptor:
        """
        Make a wide im2col map, whose box has a size along W only; kernels need compute capability 10.0. See ``_from_im2col``.
        """

    def replace_address(self, tensor: object) -> None:
        """
        Describe other memory from now on, with the same extents and strides.

        Launches that were enqueued before keep the old address. The map keeps the new memory alive instead
        of the old one, so wait for those launches before the old memory goes.

        Parameters
        ----------
        tensor : object
            A StridedMemoryView, or an array with DLPack or ``__cuda_array_interface__``.

        Raises
        ------
        ValueError
            If the memory is not accessible to the device, not aligned, too small, or on another device.
        RuntimeError
            If the map belongs to another device than the current one.
        """

    @property
    def device(self) -> Device | None:
        """Return the device it was made for."""

    @property
    def mode(self) -> str:
        """Return "tiled", "im2col" or "im2col_wide"."""

    @property
    def rank(self) -> int:
        """Return the number of axes."""

    @property
    def data_type(self) -> cuprum._tensor_map.TensorMapDataType:
        """Return the type of the elements."""

    @property
    def interleave(self) -> cuprum._tensor_map.TensorMapInterleave:
        """Return whether channels are interleaved."""

    @property
    def swizzle(self) -> cuprum._tensor_map.TensorMapSwizzle:
        """Return how pieces are permuted in shared memory."""

    @property
    def l2_promotion(self) -> cuprum._tensor_map.TensorMapL2Promotion:
        """Return how much the L2 cache fetches at once."""

    @property
    def oob_fill(self) -> cuprum._tensor_map.TensorMapOOBFill:
        """Return what loads write for elements outside the tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents in elements."""

    @property
    def strides_in_bytes(self) -> tuple[int, ...]:
        """Return the strides in bytes."""

    @property
    def box_dim(self) -> tuple[int, ...]:
        """Return the size of one copy; empty unless the map is tiled."""

    @property
    def element_strides(self) -> tuple[int, ...]:
        """Return the steps between copied elements."""

    @property
    def pixel_box_lower_corner(self) -> tuple[int, ...]:
        """Return the lower corner of an im2col map; empty for a tiled one."""

    @property
    def pixel_box_upper_corner(self) -> tuple[int, ...]:
        """Return the upper corner of an im2col map; empty for a tiled one."""

    @property
    def copy_bytes(self) -> int:
        """
        Return how many bytes of shared memory one copy writes: what a barrier must expect.
        """

    @property
    def address(self) -> int:
        """Return the address of the tensor."""

    def __bytes__(self) -> bytes:
        """Return the 128 bytes that a kernel takes."""

    def __repr__(self) -> str: ...

    def __str__(self) -> str: ...

    def __reduce__(self) -> str | tuple: ...

class GraphicsResource:
    """
    A buffer or an image of OpenGL or EGL that CUDA can use.

    The graphics API owns the contents. Map the resource before CUDA work uses it, and unmap it before
    the graphics API does. OpenGL's context must be current on the calling thread whenever a resource
    is registered, mapped, unmapped or closed.

    Made by ``from_gl_buffer``, ``from_gl_image`` or ``from_egl_image``. In a ``with`` statement the
    resource is closed at the end. If it was made with a stream, it is also mapped at the beginning,
    and the statement gives the mapped buffer.

    Examples
    --------
    >>> resource = cuprum.GraphicsResource.from_gl_buffer(vbo)  # doctest: +SKIP
    >>> with resource.map(stream=stream) as vertices:  # doctest: +SKIP
    ...     cuprum.launch(stream, config, kernel, vertices)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @classmethod
    def from_gl_buffer(cls, gl_buffer: int, *, flags: str | Sequence[str] | None = None, stream: Stream | None = None) -> GraphicsResource:
        """
        Register a buffer of OpenGL in the current context.

        Parameters
        ----------
        gl_buffer : int
            The name that ``glGenBuffers`` returned. The buffer must have storage.
        flags : str or sequence of str, optional
            What kernels do with it: ``"read_only"``, or ``"write_discard"`` if they write all of it and
            read none of it. ``"none"`` is the default.
        stream : Stream, optional
            Lets ``with`` map the resource on this stream and give the mapped buffer.

        Returns
        -------
        GraphicsResource
            The registered resource.

        Raises
        ------
        ValueError
            If a flag is unknown or does not suit a buffer.
        CUDAError
            If no context of OpenGL is current on this thread, or it has no such buffer.
        """

    @classmethod
    def from_gl_image(cls, image: int, target: int, *, flags: str | Sequence[str] | None = None) -> GraphicsResource:
        """
        Register a texture or a renderbuffer of OpenGL in the current context.

        Parameters
        ----------
        image : int
            The name that ``glGenTextures`` or ``glGenRenderbuffers`` returned.
        target : int
            What it is bound to, such as ``GL_TEXTURE_2D``.
        flags : str or sequence of str, optional
            What kernels do with it: ``"read_only"``, ``"write_discard"``, ``"surface_load_store"``,
            ``"texture_gather"``. ``"none"`` is the default.

        Returns
        -------
        GraphicsResource
            The registered resource.

        Raises
        ------
        ValueError
            If a flag is unknown, or CUDA cannot use images of this target.
        CUDAError
            If no context of OpenGL is current on this thread, or it has no such image.
        """

    @classmethod
    def from_egl_image(cls, image: int, *, flags: str | Sequence[str] | None = None) -> GraphicsResource:
        """
        Register an image of EGL in the current context.

        Parameters
        ----------
        image : int
            The address of the ``EGLImageKHR``.
        flags : str or sequence of str, optional
            As for ``from_gl_image``.

        Returns
        -------
        GraphicsResource
            The registered resource.

        Raises
        ------
        CUDAError
            If the driver refuses the image.
        """

    def map(self, *, stream: Stream) -> Buffer:
        """
        Map the resource for the work of a stream and return its memory.

        The buffer is the mapping: ``unmap``, or closing the buffer, ends it. The resource keeps the
        buffer until then.

        Parameters
        ----------
        stream : Stream
            The work that uses the memory; pass ``device.default_stream`` for the default stream.

        Returns
        -------
        Buffer
            The memory, until ``unmap``.

        Raises
        ------
        RuntimeError
            If the resource is mapped already, is closed, or is an image, which has no linear memory.
        CUDAError
            If the driver refuses it. Nothing is mapped then.
        """

    def map_array(self, index: int = 0, level: int = 0, *, stream: Stream) -> OpaqueArray:
        """
        Map an image for the work of a stream and return one of its arrays.

        The array is the mapping: ``unmap``, or closing all arrays of it, ends it. The resource keeps this
        array until then.

        Parameters
        ----------
        index : int
            The layer of a layered image, or the face of a cube map.
        level : int
            The mipmap level.
        stream : Stream
            The work that uses the array.

        Returns
        -------
        OpaqueArray
            The array, until ``unmap``.

        Raises
        ------
        RuntimeError
            If the resource is mapped already, is closed, or is a buffer, which has no arrays.
        CUDAError
            If the image has no such array. Nothing is mapped then.
        """

    def mapped_array(self, index: int = 0, level: int = 0) -> OpaqueArray:
        """
        Return another array of an image that is mapped. It shares the mapping.

        Parameters
        ----------
        index : int
            The layer of a layered image, or the face of a cube map.
        level : int
            The mipmap level.

        Returns
        -------
        OpaqueArray
            The array, until ``unmap``.

        Raises
        ------
        RuntimeError
            If the resource is not mapped, or is a buffer.
        CUDAError
            If the image has no such array.
        """

    def unmap(self, *, stream: Stream | None = None) -> None:
        """
        Give the resource back to the graphics API and close the mapped buffer.

        Parts of the buffer that are still alive must not be used any more. The arrays of an image raise
        ``ClosedError``, and so do their levels and planes and the textures and surfaces made of them.

        Parameters
        ----------
        stream : Stream, optional
            Later work of the graphics API waits for the work of this stream. Without one, for the work of
            the stream that the resource was mapped on.

        Raises
        ------
        RuntimeError
            If the resource is not mapped, or is closed.
        CUDAError
            If the driver refuses it. The resource stays mapped then.
        """

    def close(self, stream: Stream | None = None) -> None:
        """
        Unmap the resource if it is mapped, and unregister it.

        Calling it again does nothing.

        Parameters
        ----------
        stream : Stream, optional
            The stream that the mapped buffer is closed on.

        Raises
        ------
        TypeError
            If `stream` is not a stream.
        ClosedError
            If the stream is closed.
        CUDAError
            If the driver cannot unmap the resource.
        """

    def set_map_use(self, use: str) -> None:
        """
        Set what kernels do with the resource when it is mapped next.

        Parameters
        ----------
        use : str
            ``"read_write"``, ``"read_only"`` or ``"write_discard"``.

        Raises
        ------
        RuntimeError
            If the resource is mapped.
        """

    def __enter__(self) -> GraphicsResource | Buffer: ...

    def __exit__(self, *exception: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUgraphicsResource`` as an int."""

    @property
    def resource_handle(self) -> int:
        """Return the driver's ``CUgraphicsResource`` as an int."""

    @property
    def is_mapped(self) -> bool:
        """Return whether CUDA may use the resource now."""

    @property
    def is_image(self) -> bool:
        """Return whether it was registered as an image."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def context(self) -> Context:
        """Return the context that it was registered in."""

    @property
    def device(self) -> Device:
        """Return the device that it was registered on."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

def gl_devices(devices: str = "all") -> list[Device]:
    """
    Return the devices that the current context of OpenGL uses.

    Parameters
    ----------
    devices : str
        ``"all"``, or those that render the ``"current_frame"`` or the ``"next_frame"``.

    Returns
    -------
    list[Device]
        The devices.

    Raises
    ------
    CUDAError
        If no context of OpenGL is current on this thread.
    """

class ExternalMemory:
    """
    Memory of another API, such as Vulkan, that CUDA can map.

    Made by ``from_fd``. The import ends when the object and all buffers mapped from it are closed or
    dropped. The APIs see each other's writes once an ``ExternalSemaphore`` orders them.

    Examples
    --------
    >>> memory = cuprum.ExternalMemory.from_fd(fd, size)  # doctest: +SKIP
    >>> buffer = memory.map()  # doctest: +SKIP
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUexternalMemory`` as an int."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def context(self) -> Context:
        """Return the context that it was imported into."""

    @property
    def device(self) -> Device:
        """Return the device that it was imported into."""

    def __enter__(self) -> ExternalMemory: ...

    def __exit__(self, *exception: object) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    @classmethod
    def from_fd(cls, fd: int | object, size: int, *, handle_type: str = "opaque_fd", dedicated: bool = False) -> ExternalMemory:
        """
        Import memory into the current context.

        Parameters
        ----------
        fd : int or object with fileno()
            A file descriptor of the memory. The caller keeps it; the driver gets a duplicate.
        size : int
            In bytes: the size of the whole allocation.
        handle_type : str
            ``"opaque_fd"`` for memory that Vulkan exported as ``OPAQUE_FD`` or that CUDA exported;
            ``"dma_buf_fd"`` for a DMA-BUF, which few drivers import.
        dedicated : bool
            Whether Vulkan made it as a dedicated allocation of one image or buffer.

        Returns
        -------
        ExternalMemory
            The imported memory.

        Raises
        ------
        ValueError
            If the descriptor is not open, the size is 0 or the type is unknown.
        CUDAError
            If the driver does not take this memory.
        """

    def map(self, offset: int = 0, size: int | None = None) -> Buffer:
        """
        Map a part of the memory, or all of it.

        Parameters
        ----------
        offset : int
            In bytes.
        size : int, optional
            In bytes; all from `offset` on if not given.

        Returns
        -------
        Buffer
            The mapped part.

        Raises
        ------
        ValueError
            If the part is empty or does not lie in the memory.
        """

    def map_mipmapped_array(self, options: cuprum._texture_options.MipmappedArrayOptions | dict, offset: int = 0) -> MipmappedArray:
        """
        Map an image in the memory as a mipmapped array.

        Parameters
        ----------
        options : MipmappedArrayOptions or dict
            What the image is: size, format, channels and levels.
        offset : int
            In bytes: where the image begins.

        Returns
        -------
        MipmappedArray
            The mapped image.

        Raises
        ------
        ValueError
            If the options describe no array, or the image does not begin in the memory.
        CUDAError
            If the image does not fit into the memory, or the driver cannot map it.
        """

    @property
    def size(self) -> int:
        """Return the size in bytes."""

    @property
    def handle_type(self) -> cuprum.typing.ExternalMemoryHandleType:
        """Return what the file descriptor stood for."""

    def close(self) -> None:
        """
        Release this object's share of the memory. Calling it again does nothing.
        """

class ExternalSemaphore:
    """
    A semaphore of another API, such as Vulkan, that streams signal and wait for.

    Made by ``from_fd``. The import ends with the object, but not before the signals and waits that it
    enqueued are done. A graph that captured them keeps it alive as well. If other code uses
    ``handle``, keep the object until that work is done.

    Examples
    --------
    >>> semaphore = cuprum.ExternalSemaphore.from_fd(fd)  # doctest: +SKIP
    >>> semaphore.wait(stream=stream)  # doctest: +SKIP
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUexternalSemaphore`` as an int."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def context(self) -> Context:
        """Return the context that it was imported into."""

    @property
    def device(self) -> Device:
        """Return the device that it was imported into."""

    def __enter__(self) -> ExternalSemaphore: ...

    def __exit__(self, *exception: object) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    @classmethod
    def from_fd(cls, fd: int | object, *, handle_type: str = "opaque_fd") -> ExternalSemaphore:
        """
        Import a semaphore into the current context.

        Parameters
        ----------
        fd : int or object with fileno()
            A file descriptor of the semaphore. The caller keeps it; the driver gets a duplicate.
        handle_type : str
            ``"opaque_fd"`` for a binary semaphore, ``"timeline_fd"`` for a timeline semaphore.

        Returns
        -------
        ExternalSemaphore
            The imported semaphore.

        Raises
        ------
        ValueError
            If the descriptor is not open or the type is unknown.
        CUDAError
            If the driver does not take this semaphore.
        """

    def signal(self, value: int | None = None, *, stream: Stream) -> None:
        """
        Signal the semaphore after the work that a stream holds now. Return at once.

        Parameters
        ----------
        value : int, optional
            What a timeline semaphore is raised to. A binary semaphore has none.
        stream : Stream
            The stream that signals.

        Raises
        ------
        ValueError
            If a timeline semaphore gets no value, or a binary one gets one.
        """

    def wait(self, value: int | None = None, *, stream: Stream) -> None:
        """
        Hold back later work of a stream until the semaphore is signalled.

        Parameters
        ----------
        value : int, optional
            What a timeline semaphore must have reached. A binary semaphore has none; the wait takes it.
        stream : Stream
            The stream that waits.

        Raises
        ------
        ValueError
            If a timeline semaphore gets no value, or a binary one gets one.
        """

    @property
    def handle_type(self) -> cuprum.typing.ExternalSemaphoreHandleType:
        """Return what the file descriptor stood for."""

    def close(self) -> None:
        """
        Release this object's share of the semaphore. Calling it again does nothing.

        Does not wait. If signals or waits are still enqueued, a later synchronisation ends the import.
        """

class MemoryInfo:
    """
    Memory of a device, in bytes.

    Examples
    --------
    >>> memory = cuprum.system.Device(index=0).memory_info
    >>> memory.used + memory.free <= memory.total
    True
    """

    @property
    def total(self) -> int:
        """Return the whole."""

    @property
    def free(self) -> int:
        """Return what is free."""

    @property
    def used(self) -> int:
        """Return what programs allocated."""

    @property
    def reserved(self) -> int:
        """Return what the driver and the firmware keep."""

    def __repr__(self) -> str: ...

class BAR1MemoryInfo(MemoryInfo):
    """
    Memory of a device that the CPU and other devices can map over PCIe, in bytes.

    Examples
    --------
    >>> memory = cuprum.system.Device(index=0).bar1_memory_info
    >>> memory.used <= memory.total
    True
    """

class Utilization:
    """
    How busy a device was over the last sampling period.

    Examples
    --------
    >>> load = cuprum.system.Device(index=0).utilization
    >>> 0 <= load.gpu <= 100
    True
    """

    @property
    def gpu(self) -> int:
        """Return the percent of time some kernel ran."""

    @property
    def memory(self) -> int:
        """Return the percent of time memory was read or written."""

    def __repr__(self) -> str: ...

class EngineUtilization:
    """
    How busy an encoder or decoder was.

    Examples
    --------
    >>> cuprum.system.Device(index=0).encoder_utilization.percent
    0
    """

    @property
    def percent(self) -> int:
        """Return the percent of time."""

    @property
    def sampling_period_us(self) -> int:
        """Return the period that was measured, in microseconds."""

class ProcessUtilization:
    """
    How busy one process kept a device, in percent.

    Examples
    --------
    >>> for item in cuprum.system.Device(index=0).get_process_utilization():
    ...     print(item.pid, item.sm)  # doctest: +SKIP
    """

    @property
    def pid(self) -> int:
        """Return the number of the process."""

    @property
    def timestamp(self) -> int:
        """Return when it was measured, in microseconds since 1970."""

    @property
    def sm(self) -> int:
        """Return the share of the multiprocessors."""

    @property
    def memory(self) -> int:
        """Return the share of the memory."""

    @property
    def encoder(self) -> int:
        """Return the share of encoders."""

    @property
    def decoder(self) -> int:
        """Return the share of decoders."""

    def __repr__(self) -> str: ...

class ProcessInfo:
    """
    A process that uses a device.

    Examples
    --------
    >>> import os
    >>> os.getpid() in [item.pid for item in cuprum.system.Device(index=0).compute_running_processes]
    True
    """

    @property
    def pid(self) -> int:
        """Return the number of the process."""

    @property
    def used_gpu_memory(self) -> int | None:
        """
        Return the device memory it uses, in bytes; None if the driver does not tell.
        """

    @property
    def name(self) -> str:
        """
        Return the name of the program.

        Raises
        ------
        NotFoundError
            If the process is gone.
        """

    @property
    def gpu_instance_id(self) -> int:
        """
        Return the MIG instance of the device that the process uses.

        Raises
        ------
        NotSupportedError
            If the device is not a MIG device.
        """

    @property
    def compute_instance_id(self) -> int:
        """
        Return the MIG compute instance that the process uses.

        Raises
        ------
        NotSupportedError
            If the device is not a MIG device.
        """

    def __repr__(self) -> str: ...

class DeviceAttributes:
    """
    Engines and slices of a device.

    Examples
    --------
    >>> attributes = cuprum.system.Device(index=0).attributes
    >>> attributes.multiprocessor_count > 0
    True
    """

    @property
    def multiprocessor_count(self) -> int:
        """Return the multiprocessors."""

    @property
    def shared_copy_engine_count(self) -> int:
        """Return the copy engines."""

    @property
    def shared_decoder_count(self) -> int:
        """Return the video decoders."""

    @property
    def shared_encoder_count(self) -> int:
        """Return the video encoders."""

    @property
    def shared_jpeg_count(self) -> int:
        """Return the JPEG engines."""

    @property
    def shared_ofa_count(self) -> int:
        """Return the optical flow engines."""

    @property
    def gpu_instance_slice_count(self) -> int:
        """Return the slices of its GPU instance."""

    @property
    def compute_instance_slice_count(self) -> int:
        """Return the slices of its compute instance."""

    @property
    def memory_size_mb(self) -> int:
        """Return the memory in MiB."""

class RepairStatus:
    """
    Repairs that the next reset makes.

    Examples
    --------
    >>> cuprum.system.Device(index=0).repair_status.is_channel_repair_pending  # doctest: +SKIP
    False
    """

    @property
    def channel_repair_pending(self) -> bool:
        """Return whether a channel of memory will be repaired."""

    @property
    def tpc_repair_pending(self) -> bool:
        """Return whether a group of multiprocessors will be repaired."""

class RemappedRows:
    """
    Rows of memory that were replaced by spare ones.

    Examples
    --------
    >>> cuprum.system.Device(index=0).ecc.remapped_rows  # doctest: +SKIP
    """

    @property
    def corrected(self) -> int:
        """Return the rows replaced after errors that ECC corrected."""

    @property
    def uncorrected(self) -> int:
        """Return the rows replaced after errors that ECC did not correct."""

    @property
    def is_pending(self) -> bool:
        """Return whether the next reset replaces more."""

    @property
    def has_failed(self) -> bool:
        """Return whether a row could not be replaced."""

class ClockOffsets:
    """
    The offset of a clock, in MHz.

    Examples
    --------
    >>> offsets = cuprum.system.Device(index=0).get_clock("sm").get_offsets(0)
    >>> offsets.clock_offset_mhz
    0
    """

    @property
    def clock_offset_mhz(self) -> int:
        """Return the offset."""

    @property
    def max_offset_mhz(self) -> int:
        """Return its maximum."""

    @property
    def min_offset_mhz(self) -> int:
        """Return its minimum."""

class CoolerInfo:
    """
    A cooler.

    Examples
    --------
    >>> cooler = cuprum.system.Device(index=0).cooler
    >>> targets = cooler.target
    """

    @property
    def signal_type(self) -> cuprum.system.typing.CoolerControl | None:
        """Return how it is controlled; None if it is not."""

    @property
    def target(self) -> list[cuprum.system.typing.CoolerTarget]:
        """Return what it cools."""

class GpuDynamicPstatesUtilization:
    """
    How one part of a device influences its performance state.

    Examples
    --------
    >>> gpu = cuprum.system.Device(index=0).dynamic_pstates_info[0]
    >>> 0 <= gpu.percentage <= 100
    True
    """

    @property
    def is_present(self) -> bool:
        """Return whether the device has this part."""

    @property
    def percentage(self) -> int:
        """Return how busy it was in the last second."""

    @property
    def inc_threshold(self) -> int:
        """Return the percentage that raises the speed."""

    @property
    def dec_threshold(self) -> int:
        """Return the percentage that lowers the speed."""

class GpuDynamicPstatesInfo:
    """
    The parts of a device: GPU, frame buffer, video engine and bus, then reserved ones.

    Examples
    --------
    >>> info = cuprum.system.Device(index=0).dynamic_pstates_info
    >>> len(info)
    8
    """

    def __len__(self) -> int: ...

    def __getitem__(self, idx: int, /) -> GpuDynamicPstatesUtilization: ...

class ThermalSensor:
    """
    A sensor, in degrees Celsius.

    Examples
    --------
    >>> temperature = cuprum.system.Device(index=0).temperature
    >>> temperature.get_thermal_settings("all")[0].current_temp
    40
    """

    @property
    def controller(self) -> cuprum.system.typing.ThermalController:
        """Return the chip that measures."""

    @property
    def default_min_temp(self) -> int:
        """Return the least it measures."""

    @property
    def default_max_temp(self) -> int:
        """Return the most it measures."""

    @property
    def current_temp(self) -> int:
        """Return the temperature."""

    @property
    def target(self) -> cuprum.system.typing.ThermalTarget:
        """Return what it measures."""

class ThermalSettings:
    """
    The sensors of a device.

    Examples
    --------
    >>> settings = cuprum.system.Device(index=0).temperature.get_thermal_settings("all")
    >>> [sensor.current_temp for sensor in settings]
    [40]
    """

    def __len__(self) -> int: ...

    def __getitem__(self, idx: int, /) -> ThermalSensor: ...

class Sample:
    """
    What a device did at one moment. What it does not report is None.

    Examples
    --------
    >>> sample = cuprum.system.Device(index=0).read_sample()
    >>> sample.memory_used <= sample.memory_total
    True
    """

    @property
    def time(self) -> float:
        """Return when it was read, in seconds since 1970."""

    @property
    def gpu_utilization(self) -> int | None:
        """Return the percent of time it was busy."""

    @property
    def memory_utilization(self) -> int | None:
        """Return the percent of time its memory was busy."""

    @property
    def memory_used(self) -> int | None:
        """Return the memory in use, in bytes."""

    @property
    def memory_total(self) -> int | None:
        """Return all its memory, in bytes."""

    @property
    def temperature(self) -> int | None:
        """Return the temperature in degrees Celsius."""

    @property
    def power_mw(self) -> int | None:
        """Return the power in milliwatts."""

    @property
    def energy_mj(self) -> int | None:
        """Return the energy used since the driver was loaded, in millijoules."""

    @property
    def sm_clock_mhz(self) -> int | None:
        """Return the clock of the multiprocessors."""

    @property
    def memory_clock_mhz(self) -> int | None:
        """Return the clock of the memory."""

    @property
    def clock_event_reasons(self) -> list[cuprum.system.typing.ClocksEventReasons] | None:
        """Return why clocks were lower than they could be."""

class ClockInfo:
    """
    One clock of a device.

    Examples
    --------
    >>> clock = cuprum.system.Device(index=0).get_clock("sm")
    >>> clock.get_max_mhz() > 0
    True
    """

    def get_current_mhz(self, clock_id: cuprum.system.typing.ClockId | str | None = None) -> int:
        """
        Return the frequency in MHz.

        Parameters
        ----------
        clock_id : ClockId or str, optional
            ``"current"``, which is the default, or ``"customer_boost_max"``.

        Returns
        -------
        int
            The frequency.

        Raises
        ------
        ValueError
            If there is no such clock ID.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_max_mhz(self) -> int:
        """
        Return the highest frequency in MHz.

        Returns
        -------
        int
            The frequency.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_max_customer_boost_mhz(self) -> int:
        """
        Return the highest frequency that the manufacturer allows, in MHz.

        Returns
        -------
        int
            The frequency.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """
        Return the lowest and the highest frequency of a performance state, in MHz.

        Parameters
        ----------
        pstate : int
            0 (the fastest) to 15.

        Returns
        -------
        tuple[int, int]
            The lowest and the highest frequency.

        Raises
        ------
        TypeError
            If `pstate` is not an int.
        ValueError
            If there is no such performance state.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """
        Return the offset that a user set, and its limits.

        Parameters
        ----------
        pstate : int
            0 (the fastest) to 15.

        Returns
        -------
        ClockOffsets
            The offsets in MHz.

        Raises
        ------
        TypeError
            If `pstate` is not an int.
        ValueError
            If there is no such performance state.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

class FanInfo:
    """
    One fan of a device. Speeds are in percent of the maximum.

    Examples
    --------
    >>> fan = cuprum.system.Device(index=0).get_fan(0)
    >>> 0 <= fan.speed <= 100
    True
    """

    @property
    def speed(self) -> int:
        """
        Return or set the intended speed, which may exceed 100.

        Setting it takes the fan from the driver's control and needs root; see ``set_default_speed``.
        """

    @speed.setter
    def speed(self, speed: int, /) -> None: ...

    @property
    def speed_rpm(self) -> int:
        """Return the intended speed in rotations per minute."""

    @property
    def target_speed(self) -> int:
        """Return the speed that the fan is set to."""

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """Return the lowest and the highest speed."""

    @property
    def control_policy(self) -> cuprum.system.typing.FanControlPolicy:
        """Return who controls the fan."""

    def set_default_speed(self) -> None:
        """
        Let the driver control the fan again. Needs root.

        Raises
        ------
        NoPermissionError
            If the caller is not root.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

class Temperature:
    """
    The temperatures of a device, in degrees Celsius.

    Examples
    --------
    >>> cuprum.system.Device(index=0).temperature.get_sensor()
    40
    """

    def get_sensor(self) -> int:
        """
        Return the temperature of the GPU.

        Returns
        -------
        int
            Degrees Celsius.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_threshold(self, threshold_type: cuprum.system.typing.TemperatureThresholds | str) -> int:
        """
        Return a temperature at which something happens.

        Ada and later architectures have fields for four of them, which replace this method. Then it gives a
        DeprecationWarning.

        Parameters
        ----------
        threshold_type : TemperatureThresholds or str
            Such as ``"shutdown"``, ``"slowdown"`` or ``"gpu_max"``.

        Returns
        -------
        int
            Degrees Celsius.

        Raises
        ------
        ValueError
            If there is no such threshold.
        """

    @property
    def margin(self) -> int:
        """Return how far the nearest slowdown is."""

    def get_thermal_settings(self, sensor_index: cuprum.system.typing.ThermalTarget | str) -> ThermalSettings:
        """
        Return the sensors of a part of the device.

        Parameters
        ----------
        sensor_index : ThermalTarget or str
            The part, or ``"all"``.

        Returns
        -------
        ThermalSettings
            One entry for each sensor.

        Raises
        ------
        ValueError
            If there is no such part.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

class PowerInfo:
    """
    The power of a device, in milliwatts and millijoules.

    Examples
    --------
    >>> power = cuprum.system.Device(index=0).power
    >>> power.usage_mw <= power.limit_mw
    True
    """

    @property
    def usage_mw(self) -> int:
        """
        Return what the device draws; most devices average over the last second.
        """

    @property
    def total_energy_mj(self) -> int:
        """Return the energy used since the driver was loaded."""

    @property
    def limit_mw(self) -> int:
        """Return or set the limit of the user. Setting it needs root."""

    @limit_mw.setter
    def limit_mw(self, limit: int, /) -> None: ...

    @property
    def default_limit_mw(self) -> int:
        """Return the limit that applies unless a user sets one."""

    @property
    def enforced_limit_mw(self) -> int:
        """Return the limit in force, the least of all."""

    @property
    def limit_constraints_mw(self) -> tuple[int, int]:
        """Return the lowest and the highest limit that can be set."""

class EccInfo:
    """
    The error correction of a device's memory.

    Examples
    --------
    >>> cuprum.system.Device(index=0).ecc.is_enabled  # doctest: +SKIP
    True
    """

    @property
    def is_enabled(self) -> bool:
        """
        Return whether it is on, or set whether it is on after the next reset. Setting it needs root.
        """

    @is_enabled.setter
    def is_enabled(self, enabled: bool, /) -> None: ...

    @property
    def is_pending(self) -> bool:
        """Return whether it is on after the next reset."""

    def get_total_errors(self, error_type: cuprum.system.typing.MemoryErrorType | str, counter: cuprum.system.typing.EccCounterType | str | None = None) -> int:
        """
        Return how many errors were counted.

        Parameters
        ----------
        error_type : MemoryErrorType or str
            ``"corrected"`` or ``"uncorrected"``.
        counter : EccCounterType or str, optional
            ``"volatile"``, since the driver was loaded, or ``"aggregate"``, since the device was made.

        Returns
        -------
        int
            The number of errors.

        Raises
        ------
        ValueError
            If there is no such kind of error or counter.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def clear_errors(self, counter: cuprum.system.typing.EccCounterType | str) -> None:
        """
        Set the counts of errors to 0. Needs root.

        Parameters
        ----------
        counter : EccCounterType or str
            ``"volatile"`` or ``"aggregate"``.

        Raises
        ------
        ValueError
            If there is no such counter.
        """

    @property
    def remapped_rows(self) -> RemappedRows:
        """Return the rows of memory that were replaced by spare ones."""

class InforomInfo:
    """
    The memory that identifies a board.

    Examples
    --------
    >>> cuprum.system.Device(index=0).inforom.image_version  # doctest: +SKIP
    'G525.0220.00.03'
    """

    def get_version(self, inforom: cuprum.system.typing.InforomObject | str) -> str:
        """
        Return the version of a part.

        Parameters
        ----------
        inforom : InforomObject or str
            ``"oem"``, ``"ecc"``, ``"power"`` or ``"den"``.

        Returns
        -------
        str
            The version.

        Raises
        ------
        ValueError
            If there is no such part.
        """

    @property
    def image_version(self) -> str:
        """Return the version of the whole."""

    @property
    def configuration_checksum(self) -> int:
        """Return a checksum; boards with the same one are configured alike."""

    def validate(self) -> None:
        """
        Read the memory and check it.

        Raises
        ------
        CorruptedInforomError
            If it is damaged.
        """

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """
        Return when the log of the board was last written, and how long that took, in microseconds.
        """

    @property
    def board_part_number(self) -> str:
        """Return the part number, empty for boards without one."""

class PciInfo:
    """
    A device on the PCI bus. The address is read once, the rest each time.

    Examples
    --------
    >>> cuprum.system.Device(index=0).pci_info.bus_id
    '00000000:01:00.0'
    """

    @property
    def bus_id(self) -> str:
        """
        Return the address, such as ``00000000:65:00.0``. CUDA writes four digits of the domain.
        """

    @property
    def bus(self) -> int:
        """Return the number of the bus."""

    @property
    def device(self) -> int:
        """Return the number on the bus."""

    @property
    def domain(self) -> int:
        """Return the domain of the bus."""

    @property
    def vendor_id(self) -> int:
        """Return the maker, 0x10de for NVIDIA."""

    @property
    def device_id(self) -> int:
        """Return the number of the model."""

    @property
    def subsystem_id(self) -> int:
        """Return the number of the board."""

    @property
    def base_class(self) -> int:
        """Return the class, 3 for displays."""

    @property
    def sub_class(self) -> int:
        """Return the class within that."""

    def __repr__(self) -> str: ...

    @property
    def link_generation(self) -> int:
        """Return the newest PCIe that device and slot share."""

    @property
    def max_link_generation(self) -> int:
        """Return the newest PCIe that the device supports."""

    @property
    def max_link_width(self) -> int:
        """Return the lanes that device and slot share."""

    @property
    def current_link_generation(self) -> int:
        """Return the generation in use."""

    @property
    def current_link_width(self) -> int:
        """Return the lanes in use."""

    @property
    def rx_throughput(self) -> int:
        """Return what the device received, in KB/s. Measures for 20 ms."""

    @property
    def tx_throughput(self) -> int:
        """Return what the device sent, in KB/s. Measures for 20 ms."""

    @property
    def replay_counter(self) -> int:
        """Return how often data had to be sent again."""

class NvlinkInfo:
    """
    One NVLink of a device.

    Examples
    --------
    >>> for link in cuprum.system.Device(index=0).get_nvlinks():  # doctest: +SKIP
    ...     print(link.version, link.state)
    """

    @property
    def version(self) -> tuple[int, int]:
        """Return the version as ``(major, minor)``."""

    @property
    def state(self) -> bool:
        """Return whether the link is active."""

    max_links: Final[int] = ...
    """Return the number of links that a device may have at most; deprecated."""

class MigInfo:
    """
    The division of a device into smaller ones.

    Examples
    --------
    >>> cuprum.system.Device(index=0).mig.is_mig_device
    False
    """

    @property
    def is_mig_device(self) -> bool:
        """Return whether the device is itself a part of another."""

    @property
    def mode(self) -> bool:
        """
        Return or set whether the device is divided. Setting it needs root, and on some devices a reset.
        """

    @mode.setter
    def mode(self, mode: bool, /) -> None: ...

    @property
    def pending_mode(self) -> bool:
        """Return whether the device is divided after the next reset."""

    @property
    def device_count(self) -> int:
        """Return how many parts there can be at most, 0 if none."""

    @property
    def parent(self) -> SystemDevice:
        """Return the device that this one is a part of."""

    def get_device_by_index(self, index: int) -> SystemDevice:
        """
        Return a part by its index.

        Parameters
        ----------
        index : int
            Less than ``device_count``.

        Returns
        -------
        SystemDevice
            The part, as a device.

        Raises
        ------
        NotFoundError
            If there is none with this index.
        """

    def get_all_devices(self) -> Iterator[SystemDevice]:
        """
        Return an iterator over the parts that exist.

        Returns
        -------
        Iterator[SystemDevice]
            The parts, as devices.

        Raises
        ------
        NvmlError
            If NVML cannot answer.
        """

class SystemDevice:
    """
    One device as the management library (NVML) knows it.

    Nothing here starts CUDA, except ``to_cuda_device``. Properties ask NVML each time. What the device
    does not have raises NotSupportedError.

    Parameters
    ----------
    index : int, optional
        NVML's index, from 0.
    uuid : str or bytes, optional
        With or without the prefix ``GPU-`` or ``MIG-``.
    pci_bus_id : str or bytes, optional
        Such as ``0000:65:00.0``.
    serial : str or bytes, optional
        The serial number of the board.

    Raises
    ------
    ValueError
        Unless exactly one of them is given.
    NotFoundError, InvalidArgumentError
        If there is no such device; the text lists those that there are.

    Examples
    --------
    >>> device = cuprum.system.Device(index=0)
    >>> device.memory_info.total > 0
    True
    """

    def __init__(self, *, index: int | None = None, uuid: str | bytes | None = None, pci_bus_id: str | bytes | None = None, serial: str | bytes | None = None) -> None: ...

    @staticmethod
    def get_device_count() -> int:
        """
        Return the number of devices that NVML sees.

        Returns
        -------
        int
            The number.

        Raises
        ------
        LibraryNotFoundError
            If there is no NVML. The text shows the places that were searched.
        NvmlError
            If NVML cannot answer.
        """

    @staticmethod
    def get_all_devices() -> Iterator[SystemDevice]:
        """
        Return an iterator over all devices, in NVML's order.

        Returns
        -------
        Iterator[SystemDevice]
            The devices.

        Raises
        ------
        LibraryNotFoundError
            If there is no NVML. The text shows the places that were searched.
        NvmlError
            If NVML cannot answer.
        """

    @staticmethod
    def get_all_devices_with_cpu_affinity(cpu_index: int) -> Iterator[SystemDevice]:
        """
        Return an iterator over the devices near a CPU.

        Parameters
        ----------
        cpu_index : int
            The number of the CPU.

        Returns
        -------
        Iterator[SystemDevice]
            The devices.

        Raises
        ------
        ValueError
            If the number is negative.
        InvalidArgumentError
            If there is no such CPU.
        LibraryNotFoundError
            If there is no NVML. The text shows the places that were searched.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    @property
    def handle(self) -> int:
        """Return NVML's handle as an int."""

    @property
    def index(self) -> int:
        """Return NVML's index, which may differ from CUDA's ordinal."""

    @property
    def uuid(self) -> str:
        """Return the UUID with its prefix, ``GPU-`` or ``MIG-``."""

    @property
    def uuid_without_prefix(self) -> str:
        """Return the UUID as CUDA writes it."""

    @property
    def pci_bus_id(self) -> str:
        """Return the PCI address, such as ``00000000:65:00.0``."""

    @property
    def name(self) -> str:
        """Return the model's name."""

    @property
    def brand(self) -> str:
        """Return the brand, ``Unknown`` for one that is not known here."""

    @property
    def serial(self) -> str:
        """Return the serial number of the board."""

    @property
    def vbios_version(self) -> str:
        """Return the version of the device's BIOS."""

    @property
    def arch(self) -> cuprum.system.typing.DeviceArch:
        """Return the architecture."""

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """Return the compute capability as ``(major, minor)``."""

    @property
    def minor_number(self) -> int:
        """Return the number in the device file, ``/dev/nvidia0``."""

    @property
    def module_id(self) -> int:
        """Return the number of the module on its baseboard."""

    @property
    def numa_node_id(self) -> int:
        """Return the NUMA node that the device's memory is, where it is one."""

    @property
    def attributes(self) -> DeviceAttributes:
        """Return engines and slices."""

    @property
    def pci_info(self) -> PciInfo:
        """
        Return the device's place on the PCI bus.

        Raises
        ------
        RuntimeError
            If it has none, as a MIG device.
        """

    @property
    def inforom(self) -> InforomInfo:
        """Return the memory that identifies the board."""

    @property
    def mig(self) -> MigInfo:
        """Return the division of the device into smaller ones."""

    def to_cuda_device(self) -> Device:
        """
        Return the same device as CUDA knows it. Starts the driver.

        Returns
        -------
        Device
            The device of `cuprum`.

        Raises
        ------
        RuntimeError
            If CUDA does not see it, as with ``CUDA_VISIBLE_DEVICES`` or MIG.
        """

    @property
    def is_persistence_mode_enabled(self) -> bool:
        """
        Return or set whether the driver stays loaded while no program uses the device. Setting it needs root.
        """

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool, /) -> None: ...

    @property
    def is_c2c_enabled(self) -> bool:
        """Return whether CPU and GPU are linked chip to chip."""

    @property
    def addressing_mode(self) -> cuprum.system.typing.AddressingMode | None:
        """
        Return how the device addresses memory that the system allocated; None if it cannot.
        """

    @property
    def is_display_connected(self) -> bool:
        """Return whether a display is connected."""

    @property
    def is_display_active(self) -> bool:
        """Return whether a display is in use."""

    @property
    def repair_status(self) -> RepairStatus:
        """Return the repairs that the next reset makes."""

    @property
    def ecc(self) -> EccInfo:
        """Return the error correction of the device's memory."""

    @property
    def memory_info(self) -> MemoryInfo:
        """Return total, free, used and reserved memory in bytes."""

    @property
    def bar1_memory_info(self) -> BAR1MemoryInfo:
        """Return the memory that can be mapped over PCIe, in bytes."""

    @property
    def utilization(self) -> Utilization:
        """Return how busy the device and its memory were."""

    @property
    def encoder_utilization(self) -> EngineUtilization:
        """Return how busy the video encoders were."""

    @property
    def decoder_utilization(self) -> EngineUtilization:
        """Return how busy the video decoders were."""

    @property
    def compute_running_processes(self) -> list[ProcessInfo]:
        """Return the processes that compute on the device."""

    @property
    def graphics_running_processes(self) -> list[ProcessInfo]:
        """Return the processes that draw with the device."""

    @property
    def mps_compute_running_processes(self) -> list[ProcessInfo]:
        """Return the processes that compute through the Multi-Process Service."""

    def get_process_utilization(self, since: int | None = None) -> list[ProcessUtilization]:
        """
        Return how busy each process kept the device, an empty list if nothing is known.

        Parameters
        ----------
        since : int, optional
            Return samples that are newer than this time, in microseconds since 1970. Without it, return all
            that the driver keeps.

        Returns
        -------
        list[ProcessUtilization]
            One entry for each process.

        Raises
        ------
        ValueError
            If the time is negative.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_clock(self, clock_type: cuprum.system.typing.ClockType | str) -> ClockInfo:
        """
        Return one of the device's clocks.

        Parameters
        ----------
        clock_type : ClockType or str
            ``"graphics"``, ``"sm"``, ``"memory"`` or ``"video"``.

        Returns
        -------
        ClockInfo
            The clock.

        Raises
        ------
        ValueError
            If there is no such clock.
        """

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """Return whether clocks may rise on their own, now and by default."""

    @property
    def current_clock_event_reasons(self) -> list[cuprum.system.typing.ClocksEventReasons]:
        """Return why clocks are lower than they could be."""

    @property
    def supported_clock_event_reasons(self) -> list[cuprum.system.typing.ClocksEventReasons]:
        """Return the reasons that the device can report."""

    @property
    def throttle_reasons(self) -> list[str]:
        """Return why clocks are lower than they could be, each in a sentence."""

    @property
    def performance_state(self) -> int | None:
        """
        Return the performance state, 0 (the fastest) to 15; None if it is not known.
        """

    @property
    def supported_pstates(self) -> list[int]:
        """Return the performance states that the device has."""

    @property
    def dynamic_pstates_info(self) -> GpuDynamicPstatesInfo:
        """Return how parts of the device influence its performance state."""

    @property
    def power(self) -> PowerInfo:
        """Return power, its limits and the energy used."""

    @property
    def temperature(self) -> Temperature:
        """Return the temperatures."""

    @property
    def cooler(self) -> CoolerInfo:
        """Return the cooler."""

    @property
    def num_fans(self) -> int:
        """Return the number of fans, 0 if it has none of its own."""

    def get_fan(self, fan: int = 0) -> FanInfo:
        """
        Return one of the device's fans.

        Parameters
        ----------
        fan : int, optional
            Its index, from 0.

        Returns
        -------
        FanInfo
            The fan.

        Raises
        ------
        ValueError
            If there is no such fan; the text shows the range.
        """

    def get_nvlink_count(self) -> int:
        """
        Return the number of NVLinks.

        Returns
        -------
        int
            The number.

        Raises
        ------
        NvmlError
            If NVML cannot answer.
        """

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """
        Return one NVLink.

        Parameters
        ----------
        link : int
            Its index, from 0.

        Returns
        -------
        NvlinkInfo
            The link.

        Raises
        ------
        ValueError
            If there is no such link; the text shows the range.
        """

    def get_nvlinks(self) -> Iterator[NvlinkInfo]:
        """
        Return an iterator over all NVLinks.

        Returns
        -------
        Iterator[NvlinkInfo]
            The links.

        Raises
        ------
        NvmlError
            If NVML cannot answer.
        """

    def get_cpu_affinity(self, scope: cuprum.system.typing.AffinityScope | str | None = None) -> list[int]:
        """
        Return the CPUs near the device.

        Parameters
        ----------
        scope : AffinityScope or str, optional
            ``"node"``, which is the default, or ``"socket"``.

        Returns
        -------
        list[int]
            The numbers of the CPUs.

        Raises
        ------
        ValueError
            If there is no such scope.
        """

    def get_memory_affinity(self, scope: cuprum.system.typing.AffinityScope | str | None = None) -> list[int]:
        """
        Return the NUMA nodes near the device.

        Parameters
        ----------
        scope : AffinityScope or str, optional
            ``"node"``, which is the default, or ``"socket"``.

        Returns
        -------
        list[int]
            The numbers of the nodes.

        Raises
        ------
        ValueError
            If there is no such scope.
        """

    def set_cpu_affinity(self) -> None:
        """
        Bind the calling thread to the CPUs near the device.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def clear_cpu_affinity(self) -> None:
        """
        Let the calling thread run on any CPU again.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_topology_nearest_gpus(self, level: cuprum.system.typing.GpuTopologyLevel | str) -> Iterator[SystemDevice]:
        """
        Return an iterator over the devices that share a level of the topology.

        Parameters
        ----------
        level : GpuTopologyLevel or str
            Such as ``"single"``: one PCIe switch.

        Returns
        -------
        Iterator[SystemDevice]
            The devices.

        Raises
        ------
        ValueError
            If there is no such level.
        """

    def get_field_values(self, field_ids: Sequence[int | tuple[int, int]]) -> FieldValues:
        """
        Read several fields at once.

        Each may fail on its own. Its error is raised when its value is read, or by ``validate``.

        Parameters
        ----------
        field_ids : list of int or (int, int)
            Members of `FieldId`, each alone or with the part of the device that it is about.

        Returns
        -------
        FieldValues
            The values, in the order of the fields.

        Raises
        ------
        TypeError
            If a field is neither an int nor a pair of ints.
        NvmlError
            If NVML cannot answer.
        """

    def clear_field_values(self, field_ids: Sequence[int | tuple[int, int]]) -> None:
        """
        Set counters to 0, where the device allows that.

        Parameters
        ----------
        field_ids : list of int or (int, int)
            As in ``get_field_values``.

        Raises
        ------
        TypeError
            If a field is neither an int nor a pair of ints.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def register_events(self, events: cuprum.system.typing.EventType | str | list[cuprum.system.typing.EventType | str]) -> DeviceEvents:
        """
        Start to record events. Earlier ones are not seen.

        Parameters
        ----------
        events : EventType, str or list of them
            Such as ``"xid_critical_error"``.

        Returns
        -------
        DeviceEvents
            What waits for the events.

        Raises
        ------
        NotSupportedError
            If the device does not have one of them; see ``get_supported_event_types``.
        """

    def get_supported_event_types(self) -> list[cuprum.system.typing.EventType]:
        """
        Return the events that the device has.

        Returns
        -------
        list[EventType]
            The kinds of events.

        Raises
        ------
        NvmlError
            If NVML cannot answer.
        """

    def read_sample(self) -> Sample:
        """
        Read load, memory, temperature, power and clocks at once; None for what is unknown.

        Returns
        -------
        Sample
            The values at this moment.

        Raises
        ------
        GpuIsLostError
            If the device is gone.
        """

    def sample(self, interval: float = 1.0, count: int | None = None) -> Iterator[Sample]:
        """
        Return an iterator that reads a sample at an interval. The first comes at once.

        A late reader skips what it missed, so that samples never come faster than the interval.

        Parameters
        ----------
        interval : float, optional
            In seconds.
        count : int, optional
            How many samples. Without it, there is no end.

        Returns
        -------
        Iterator[Sample]
            Samples, until `count` or without end.

        Raises
        ------
        ValueError
            If the interval is not positive.
        """

class FieldValue:
    """
    One field of a device and when it was read.

    Examples
    --------
    >>> from cuprum.system.typing import FieldId
    >>> values = cuprum.system.Device(index=0).get_field_values([FieldId.DEV_TOTAL_ENERGY_CONSUMPTION])
    >>> values[0].value >= 0
    True
    """

    @property
    def field_id(self) -> cuprum.system.typing.FieldId:
        """Return the field."""

    @property
    def scope_id(self) -> int:
        """Return the part of the device, such as a link."""

    @property
    def timestamp(self) -> int:
        """Return when it was sampled, in microseconds since 1970."""

    @property
    def latency_usec(self) -> int:
        """Return how long the driver took to read it, in microseconds."""

    @property
    def value(self) -> int | float:
        """
        Return the value.

        Raises
        ------
        NvmlError
            If the field could not be read; NotSupportedError if the device does not have it.
        """

class FieldValues:
    """
    Fields that were read together.

    Examples
    --------
    >>> from cuprum.system.typing import FieldId
    >>> values = cuprum.system.Device(index=0).get_field_values([FieldId.DEV_TOTAL_ENERGY_CONSUMPTION])
    >>> len(values)
    1
    """

    def __len__(self) -> int: ...

    def __getitem__(self, idx: int, /) -> FieldValue: ...

    def validate(self) -> None:
        """
        Check that every field was read.

        Raises
        ------
        NvmlError
            The error of the first that was not.
        """

    def get_all_values(self) -> list[int | float]:
        """
        Return all values.

        Returns
        -------
        list[int or float]
            The values, in the order of the fields.

        Raises
        ------
        NvmlError
            The error of the first field that was not read.
        """

class EventData:
    """
    An event of a device.

    Examples
    --------
    >>> device = cuprum.system.Device(index=0)
    >>> with device.register_events("xid_critical_error") as events:  # doctest: +SKIP
    ...     print(events.wait().event_data)
    """

    @property
    def device(self) -> SystemDevice:
        """Return the device."""

    @property
    def event_type(self) -> cuprum.system.typing.EventType:
        """Return what happened."""

    @property
    def event_data(self) -> int:
        """
        Return the number of the Xid error.

        Raises
        ------
        ValueError
            For other events.
        """

    @property
    def gpu_instance_id(self) -> int | None:
        """
        Return the MIG instance that an Xid error belongs to; None if there is none.

        Raises
        ------
        ValueError
            For other events.
        """

    @property
    def compute_instance_id(self) -> int | None:
        """
        Return the MIG compute instance that an Xid error belongs to; None if there is none.

        Raises
        ------
        ValueError
            For other events.
        """

class DeviceEvents:
    """
    Events of one device that are recorded, until it is closed.

    Examples
    --------
    >>> device = cuprum.system.Device(index=0)
    >>> kinds = device.get_supported_event_types()
    >>> events = device.register_events(kinds)
    """

    def wait(self, timeout_ms: int | None = 0) -> EventData:
        """
        Block until an event happens and return it. Ctrl-C ends the wait.

        Parameters
        ----------
        timeout_ms : int, optional
            How long to wait. 0 and None mean without limit.

        Returns
        -------
        EventData
            What happened, and where.

        Raises
        ------
        TimeoutError
            If no event happened in that time. It is a built-in TimeoutError too.
        GpuIsLostError
            If the device is gone.
        """

    def close(self) -> None:
        """Stop recording. Closing twice is harmless."""

    def __enter__(self) -> DeviceEvents: ...

    def __exit__(self, *exception: object) -> None: ...

class SystemEvent:
    """
    An event of the system.

    Examples
    --------
    >>> with cuprum.system.register_events("unbind") as events:  # doctest: +SKIP
    ...     print(events.wait()[0].event_type)
    """

    @property
    def event_type(self) -> cuprum.system.typing.SystemEventType:
        """Return what happened."""

    @property
    def gpu_id(self) -> int:
        """Return the driver's number of the device."""

    @property
    def device(self) -> SystemDevice:
        """
        Return the device.

        Raises
        ------
        NotFoundError
            If it left the driver.
        """

class SystemEvents:
    """
    Events that happened.

    Examples
    --------
    >>> with cuprum.system.register_events("unbind") as events:  # doctest: +SKIP
    ...     print(len(events.wait()))
    """

    def __len__(self) -> int: ...

    def __getitem__(self, idx: int, /) -> SystemEvent: ...

class RegisteredSystemEvents:
    """
    Events of the system that are recorded, until it is closed.

    Examples
    --------
    >>> events = cuprum.system.register_events("unbind")
    """

    def wait(self, timeout_ms: int | None = 0, buffer_size: int = 1) -> SystemEvents:
        """
        Block until events happen and return them. Ctrl-C ends the wait.

        Parameters
        ----------
        timeout_ms : int, optional
            How long to wait. 0 and None mean without limit.
        buffer_size : int, optional
            How many events to return at most.

        Returns
        -------
        SystemEvents
            What happened.

        Raises
        ------
        TimeoutError
            If no event happened in that time. It is a built-in TimeoutError too.
        """

    def close(self) -> None:
        """Stop recording. Closing twice is harmless."""

    def __enter__(self) -> RegisteredSystemEvents: ...

    def __exit__(self, *exception: object) -> None: ...

def register_events(events: cuprum.system.typing.SystemEventType | str | list[cuprum.system.typing.SystemEventType | str]) -> RegisteredSystemEvents:
    """
    Start to record events of the system. Earlier ones are not seen.

    Parameters
    ----------
    events : SystemEventType, str or list of them
        ``"unbind"`` or ``"bind"``.

    Returns
    -------
    RegisteredSystemEvents
        What waits for the events.

    Raises
    ------
    NotSupportedError
        If the driver has none of these events.
    """

def get_user_mode_driver_version() -> tuple[int, ...]:
    """
    Return the newest CUDA that the driver supports, as ``(major, minor)``.

    Without NVML, the driver itself is asked.

    Returns
    -------
    tuple[int, ...]
        The version.

    Raises
    ------
    LibraryNotFoundError
        If there is neither NVML nor a driver.
    """

def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """
    Return the version of the kernel's driver, such as ``(580, 65, 6)``.

    Returns
    -------
    tuple[int, ...]
        The version.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVML. The text shows the places that were searched.
    NvmlError
        If NVML cannot answer.
    """

def get_nvml_version() -> tuple[int, ...]:
    """
    Return the version of NVML, such as ``(13, 580, 65, 6)``.

    Returns
    -------
    tuple[int, ...]
        The version.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVML. The text shows the places that were searched.
    NvmlError
        If NVML cannot answer.
    """

def get_driver_branch() -> str:
    """
    Return the branch that the driver is from, such as ``r580_00``.

    Returns
    -------
    str
        The name of the branch.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVML. The text shows the places that were searched.
    NvmlError
        If NVML cannot answer.
    """

def get_num_devices() -> int:
    """
    Return the number of devices that NVML sees.

    Returns
    -------
    int
        The number.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVML. The text shows the places that were searched.
    NvmlError
        If NVML cannot answer.
    """

def get_nvml_path() -> str:
    """
    Return the file that NVML was loaded from. Loads it.

    Returns
    -------
    str
        The path.

    Raises
    ------
    LibraryNotFoundError
        With the places that were searched, and what to install.
    """

def get_process_name(pid: int) -> str:
    """
    Return the name of a process that uses a device.

    Parameters
    ----------
    pid : int
        The number of the process.

    Returns
    -------
    str
        The name.

    Raises
    ------
    NotFoundError
        If the process is gone, or uses no device.
    """

def get_topology_common_ancestor(device1: SystemDevice, device2: SystemDevice) -> cuprum.system.typing.GpuTopologyLevel:
    """
    Return where the paths of two devices meet.

    Parameters
    ----------
    device1 : SystemDevice
        A device.
    device2 : SystemDevice
        Another device.

    Returns
    -------
    GpuTopologyLevel
        The place, from the same board to different nodes.

    Raises
    ------
    TypeError
        If one of them is not a device.
    NvmlError
        If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
    """

def get_p2p_status(device1: SystemDevice, device2: SystemDevice, index: cuprum.system.typing.GpuP2PCapsIndex | str) -> cuprum.system.typing.GpuP2PStatus:
    """
    Return whether one device can reach another.

    Parameters
    ----------
    device1, device2 : Device
        The devices.
    index : GpuP2PCapsIndex or str
        In which way: ``"read"``, ``"write"``, ``"nvlink"``, ``"atomics"`` or ``"pci"``.

    Returns
    -------
    GpuP2PStatus
        The state of the link.

    Raises
    ------
    TypeError
        If one of them is not a device.
    ValueError
        If there is no such way.
    NvmlError
        If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
    """

def explain_clock_event_reason(reason: cuprum.system.typing.ClocksEventReasons | str) -> str:
    """Return what a reason for low clocks means, in one sentence."""

def is_nvml_initialized() -> bool:
    """Return whether this process has initialised NVML."""

def initialize_nvml() -> None:
    """Load and initialise NVML, as every query does on its own."""

def start_trace(path: str | os.PathLike[str], has_device_work: bool) -> None:
    """Start a trace; see ``cuprum.trace``."""

def stop_trace() -> None:
    """Stop the trace; see ``cuprum.trace``."""

def is_tracing() -> bool:
    """
    Return whether a trace is being recorded.

    Returns
    -------
    bool
        True between ``start`` and ``stop``.
    """

def begin_range(name: str) -> None:
    """Begin a range; see ``cuprum.trace``."""

def end_range() -> None:
    """End a range; see ``cuprum.trace``."""

class FaultInjection:
    """
    A driver call that fails inside a ``with`` block.

    See ``cuprum.testing.fail_call``.

    Examples
    --------
    >>> with cuprum.testing.fail_call("cuEventCreate", code=2):
    ...     try:
    ...         device.create_event()
    ...     except cuprum.CUDAError as error:
    ...         print(error.name)
    CUDA_ERROR_OUT_OF_MEMORY
    """

    def __init__(self, function: str, nth: int, code: int) -> None: ...

    def __enter__(self) -> object: ...

    def __exit__(self, *args: object) -> None: ...

    def __repr__(self) -> str: ...

    @property
    def call_count(self) -> int:
        """Return how often the function was called."""

    @property
    def failed_call(self) -> str:
        """Return the function that was made to fail, or an empty string."""

def driver_version() -> int:
    """
    Return the CUDA version that the driver supports, 13000 for 13.0.

    Returns
    -------
    int
        1000 times the major plus 10 times the minor number.

    Raises
    ------
    LibraryNotFoundError
        If there is no driver. The text shows the places that were searched.
    """

def driver_description() -> str:
    """
    Return which driver is in use and where it came from.

    Returns
    -------
    str
        One line for messages and reports.

    Raises
    ------
    LibraryNotFoundError
        If there is no driver. The text shows the places that were searched.
    """

class LibraryInfo:
    """A compiler library and where it was found."""

    @property
    def name(self) -> str:
        """Return the name."""

    @property
    def path(self) -> str:
        """Return the file, empty if it was not found."""

    @property
    def version(self) -> str:
        """Return the version."""

    @property
    def problem(self) -> str:
        """Return why it was not found."""

def compiler_libraries() -> list[LibraryInfo]:
    """Look for CUDA's compiler libraries and return what was found."""

def fast_paths() -> dict[str, str]:
    """Return the state of each fast path: on, disabled, off or not used yet."""
