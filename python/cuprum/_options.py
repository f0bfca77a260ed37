# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Options for creating objects. Functions that take one also take a dict of its fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuprum import _cuprum
from cuprum._calls import explained
from cuprum._compile_options import JITOptions, LinkerOptions, ProgramOptions
from cuprum._memory_options import (
    ManagedMemoryResourceOptions,
    PinnedMemoryResourceOptions,
    VirtualMemoryResourceOptions,
)
from cuprum._tensor_map import TensorMapDescriptorOptions

__all__ = [
    "ContextOptions",
    "DeviceMemoryResourceOptions",
    "EventOptions",
    "JITOptions",
    "LinkerOptions",
    "ManagedMemoryResourceOptions",
    "PinnedMemoryResourceOptions",
    "ProgramOptions",
    "SMResourceOptions",
    "StreamOptions",
    "TensorMapDescriptorOptions",
    "VirtualMemoryResourceOptions",
    "WorkqueueResourceOptions",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuprum.typing import WorkqueueSharingScopeType


@explained
@dataclass
class StreamOptions:
    """Options for a stream.

    Attributes
    ----------
    nonblocking : bool
        The stream does not wait for the legacy default stream, nor that for it.
    priority : int or None
        Lower runs first; None is the device's lowest.

    Examples
    --------
    >>> stream = device.create_stream(options=cuprum.StreamOptions(priority=0))
    >>> stream.priority
    0
    """

    nonblocking: bool = True
    priority: int | None = None


@explained
@dataclass
class EventOptions:
    """Options for an event.

    Attributes
    ----------
    timing_enabled : bool
        Elapsed time can be asked for; recording costs a little more.
    blocking_sync : bool
        ``Event.sync`` sleeps instead of spinning.
    ipc_enabled : bool
        Other processes can wait for the event; excludes timing. Only ``Stream.record`` makes such
        events, and they are recorded once.

    Examples
    --------
    >>> timed = cuprum.EventOptions(timing_enabled=True)
    >>> begin = stream.record(options=timed)
    >>> end = stream.record(options=timed)
    >>> end.sync()
    >>> end - begin >= 0
    True
    """

    timing_enabled: bool = False
    blocking_sync: bool = False
    ipc_enabled: bool = False


@explained
@dataclass
class ContextOptions:
    """Options for a green context.

    Attributes
    ----------
    resources : sequence of SMResource and WorkqueueResource
        At least one SMResource.

    Examples
    --------
    >>> groups, _ = device.resources.sm.split(cuprum.SMResourceOptions(count=8))
    >>> context = device.create_context(cuprum.ContextOptions(resources=[groups[0]]))
    >>> stream = context.create_stream()
    """

    resources: Sequence[_cuprum.SMResource | _cuprum.WorkqueueResource] | None


@explained
@dataclass
class SMResourceOptions:
    """Options for splitting multiprocessors. A field is one value, or a sequence, one per group.

    Attributes
    ----------
    count : int or sequence of int or None
        The multiprocessors of each group; the number of values is the number of groups. None lets
        the driver choose.
    coscheduled_sm_count : int or sequence of int or None
        How many of them must be able to run one cluster together.
    preferred_coscheduled_sm_count : int or sequence of int or None
        How many of them should be.
    backfill : bool or sequence of bool
        Fill a group up with multiprocessors that are not co-scheduled.

    Examples
    --------
    >>> options = cuprum.SMResourceOptions(count=8)
    >>> groups, rest = device.resources.sm.split(options, dry_run=True)
    """

    count: int | Sequence[int | None] | None = None
    coscheduled_sm_count: int | Sequence[int | None] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int | None] | None = None
    backfill: bool | Sequence[bool] = False

    def _groups(self) -> list[tuple[int | None, int | None, int | None, bool]]:
        """Return count, co-scheduled count, preferred one and backfill of each group."""
        is_scalar = self.count is None or isinstance(self.count, int)
        if not is_scalar and (isinstance(self.count, str) or not isinstance(self.count, Sequence)):
            raise TypeError(
                f"count must be int, Sequence, or None, got {type(self.count).__name__}"
            )
        counts = [self.count] if is_scalar else list(self.count)  # type: ignore[arg-type]
        if not counts:
            raise ValueError("count sequence must not be empty")
        for count in counts:
            if count is not None and count < 0:  # type: ignore[operator]
                raise ValueError(f"count must be non-negative, got {count}")
        others = ("coscheduled_sm_count", "preferred_coscheduled_sm_count", "backfill")
        columns = [self._column(name, len(counts), is_scalar) for name in others]
        return list(zip(counts, *columns, strict=True))

    def _column(self, name: str, group_count: int, is_scalar: bool) -> list[object]:
        value = getattr(self, name)
        if not isinstance(value, Sequence):
            return [value] * group_count
        if is_scalar:
            raise ValueError(
                f"{name} is a sequence but count is scalar; give count as a sequence too"
            )
        if len(value) != group_count:
            raise ValueError(f"{name} has {len(value)} values, expected {group_count}, as count")
        return list(value)


@explained
@dataclass
class WorkqueueResourceOptions:
    """Options for work queues. None leaves a setting unchanged.

    Attributes
    ----------
    sharing_scope : WorkqueueSharingScopeType or str or None
        ``"device_ctx"``: all contexts share the queues. ``"green_ctx_balanced"``: green contexts
        get queues of their own, as far as they go.
    concurrency_limit : int or None
        How many streams should not wait for each other; at least 1.

    Examples
    --------
    >>> options = cuprum.WorkqueueResourceOptions(concurrency_limit=2)
    >>> device.resources.workqueue.configure(options)
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self) -> None:
        from cuprum.typing import WorkqueueSharingScopeType

        scopes = [str(scope) for scope in WorkqueueSharingScopeType]
        if self.sharing_scope is not None and self.sharing_scope not in scopes:
            raise ValueError(
                f"sharing_scope: {self.sharing_scope!r} is not a valid WorkqueueSharingScopeType. "
                f"Must be one of {', '.join(map(repr, scopes))}"
            )
        if self.concurrency_limit is not None and self.concurrency_limit < 1:
            raise ValueError(f"concurrency_limit must be >= 1, got {self.concurrency_limit}")


@explained
@dataclass
class DeviceMemoryResourceOptions:
    """Options for a pool of device memory.

    Attributes
    ----------
    ipc_enabled : bool
        The pool can be shared with other processes.
    max_size : int
        Bytes that the pool may hold; 0 is the driver's limit.

    Examples
    --------
    >>> options = cuprum.DeviceMemoryResourceOptions(max_size=1 << 20)
    >>> pool = cuprum.DeviceMemoryResource(device, options)
    """

    ipc_enabled: bool = False
    max_size: int = 0


for _class in (
    ContextOptions,
    SMResourceOptions,
    WorkqueueResourceOptions,
    StreamOptions,
    EventOptions,
    DeviceMemoryResourceOptions,
):
    _class.__module__ = "cuprum"
