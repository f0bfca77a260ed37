# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Streams and events."""

from collections.abc import Callable
from typing import Any, SupportsIndex

from cuprum._cuprum.device import Context, Device, DeviceResources
from cuprum._cuprum.graph import GraphBuilder
from cuprum._cuprum.memory import Buffer
from cuprum._cuprum.words import (
    MemorySyncDomainTypeWord,
    SynchronizationPolicyTypeWord,
    WaitConditionTypeWord,
)
from cuprum._ipc_event import IPCEventDescriptor
from cuprum._options import EventOptions
from cuprum._types import AccessPolicyWindow
from cuprum.typing import (
    IsStreamType,
    MemorySyncDomainType,
    SynchronizationPolicyType,
    WaitConditionType,
)

class Stream:
    """A queue of work on one device, which runs in order.

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
        """Wrap a driver stream made elsewhere, without owning it.

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
        """Return ``(0, handle)``, the protocol by which libraries exchange streams."""

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
        """Return the context that its work runs in; for the default streams the current one."""

    @property
    def device(self) -> Device:
        """Return the device that its work runs on; for the default streams the current one."""

    def sync(self) -> None:
        """Block until all work enqueued so far is done.

        Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

        Raises
        ------
        CUDAError
            If any of that work failed; the context is then unusable.
        """

    @property
    def is_done(self) -> bool:
        """Return whether all work enqueued so far is done."""

    def record(
        self,
        event: Event | None = None,
        options: EventOptions | dict[str, Any] | None = None,
        *,
        external: bool = False,
    ) -> Event:
        """Record an event after the work enqueued so far.

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

    def wait(
        self, event_or_stream: Event | Stream | IsStreamType, *, external: bool = False
    ) -> None:
        """Make later work on this stream wait for an event or for another stream.

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
        """Release this object's share of the stream.

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
        """Create a builder of graphs that captures what is enqueued on this stream.

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
        """Call a function on a thread of the driver, in this stream's order. Returns at once.

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

    def write_value(
        self,
        target: Buffer | int,
        value: int,
        *,
        offset: SupportsIndex = 0,
        bits: SupportsIndex = 32,
        memory_barrier: bool = True,
    ) -> None:
        """Write a number to memory of the device, in this stream's order.

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

    def wait_value(
        self,
        target: Buffer | int,
        value: int,
        *,
        offset: SupportsIndex = 0,
        bits: SupportsIndex = 32,
        condition: WaitConditionType | WaitConditionTypeWord = "greater_or_equal",
        flush: bool = False,
    ) -> None:
        """Make later work on this stream wait until memory holds a number. Returns at once.

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
        """Change the priority of work enqueued from now on; lower runs first.

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
    def synchronization_policy(self) -> SynchronizationPolicyType:
        """Return how threads wait for this stream."""

    @synchronization_policy.setter
    def synchronization_policy(
        self, value: SynchronizationPolicyType | SynchronizationPolicyTypeWord, /
    ) -> None: ...
    @property
    def memory_sync_domain(self) -> MemorySyncDomainType:
        """Return the domain whose writes a fence of this stream's kernels waits for."""

    @memory_sync_domain.setter
    def memory_sync_domain(
        self, value: MemorySyncDomainType | MemorySyncDomainTypeWord, /
    ) -> None: ...
    @property
    def memory_sync_domain_map(self) -> tuple[int, int]:
        """Return the hardware domains of the default and the remote domain."""

    @memory_sync_domain_map.setter
    def memory_sync_domain_map(self, map: tuple[int, int], /) -> None: ...
    @property
    def access_policy_window(self) -> AccessPolicyWindow | None:
        """Return the range of memory whose accesses are cached in a certain way, or None.

        Set it to an object with ``base``, ``bytes``, ``hit_ratio``, ``hit`` and ``miss``, such as
        ``cuprum.AccessPolicyWindow``.
        """

    @access_policy_window.setter
    def access_policy_window(self, window: AccessPolicyWindow | None, /) -> None: ...
    def copy_attributes_from(self, other: Stream) -> None:
        """Copy all attributes of another stream of the same context.

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
    def _init(
        cls,
        obj: object | None = None,
        options: object | None = None,
        device_id: object | None = None,
    ) -> object: ...
    @classmethod
    def _legacy_default(cls) -> object: ...
    @classmethod
    def _per_thread_default(cls) -> object: ...

LEGACY_DEFAULT_STREAM: Stream

PER_THREAD_DEFAULT_STREAM: Stream

class Event:
    """A point in the work of one stream.

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
    def ipc_descriptor(self) -> IPCEventDescriptor:
        """Return what another process needs to open this event.

        Raises
        ------
        RuntimeError
            If it was made without ``ipc_enabled=True``.
        """

    @classmethod
    def from_ipc_descriptor(cls, ipc_descriptor: IPCEventDescriptor) -> Event:
        """Open an event of another process.

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
        """Return whether the recorded work is done.

        Raises
        ------
        CUDAError
            If that work failed.
        """

    def sync(self) -> None:
        """Block until the recorded work is done.

        Raises
        ------
        CUDAError
            If the work itself failed; the context is then unusable.
        """

    def close(self) -> None:
        """Release this object's share of the event. Calling it again does nothing."""

    def __sub__(self, earlier: Event, /) -> float:
        """Return the time from another event to this one in milliseconds.

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
