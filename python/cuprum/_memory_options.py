# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Options for creating memory resources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cuprum import _cuprum
from cuprum._calls import explained


@explained
@dataclass
class PinnedMemoryResourceOptions:
    """Options for a pool of pinned host memory.

    Attributes
    ----------
    ipc_enabled : bool
        The pool can be shared with other processes.
    max_size : int
        Bytes that the pool may hold; 0 is the driver's limit.
    numa_id : int or None
        The NUMA node that the memory lies on. None leaves it to the system, or, for a pool that is
        shared, takes the current device's.

    Examples
    --------
    >>> options = cuprum.PinnedMemoryResourceOptions(max_size=1 << 20)
    >>> pool = cuprum.PinnedMemoryResource(options)
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None


@explained
@dataclass
class ManagedMemoryResourceOptions:
    """Options for a pool of managed memory.

    Attributes
    ----------
    preferred_location : int or None
        Where memory rests: a device's ordinal or, with that type, a NUMA node. Without a type, -1
        is the host and None no place in particular.
    preferred_location_type : ManagedMemoryLocationType or str or None
        ``"device"``, ``"host"`` (takes no number) or ``"host_numa"`` (None takes the current
        device's node).

    Examples
    --------
    >>> options = cuprum.ManagedMemoryResourceOptions(preferred_location=device.device_id)
    >>> pool = cuprum.ManagedMemoryResource(options)
    """

    preferred_location: int | None = None
    preferred_location_type: str | None = None


@explained
@dataclass
class VirtualMemoryResourceOptions:
    """Options for virtual memory.

    Attributes
    ----------
    allocation_type : VirtualMemoryAllocationType or str
        ``"pinned"`` or, with a driver for CUDA 13.0, ``"managed"``.
    location_type : VirtualMemoryLocationType or str
        ``"device"``, ``"host"``, ``"host_numa"`` (the node nearest to the device) or
        ``"host_numa_current"`` (the calling thread's).
    handle_type : VirtualMemoryHandleType or str or None
        How the memory could be handed to other processes: ``"posix_fd"``, ``"win32_kmt"``,
        ``"fabric"``, or None.
    granularity : VirtualMemoryGranularityType or str
        Which of the driver's granularities sizes are rounded up to: ``"minimum"`` or
        ``"recommended"``.
    gpu_direct_rdma : bool
        Other devices on the bus can reach the memory.
    addr_hint : int or None
        Where to reserve addresses if they are free; 0 leaves it to the driver.
    addr_align : int or None
        Alignment of the addresses; None is the granularity.
    peers : iterable of Device or int
        Further devices that may access the memory.
    self_access, peer_access : VirtualMemoryAccessType or str or None
        What the memory's own device or host, and the peers, may do: ``"rw"``, ``"r"`` or None.

    Examples
    --------
    >>> options = cuprum.VirtualMemoryResourceOptions(granularity="minimum")
    >>> resource = cuprum.VirtualMemoryResource(device, options)
    """

    allocation_type: str = "pinned"
    location_type: str = "device"
    handle_type: str | None = "posix_fd"
    granularity: str = "recommended"
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Iterable[_cuprum.Device | int] = field(default_factory=tuple)
    self_access: str | None = "rw"
    peer_access: str | None = "rw"


def resolve_preferred_location(
    options: ManagedMemoryResourceOptions,
) -> tuple[str, int | None] | None:
    """Return (kind, number) of the place that options mean, or None for no place.

    Raises
    ------
    ValueError
        If location and type do not go together.
    RuntimeError
        If the current device is near no NUMA node, and none is given.
    """
    place, kind = options.preferred_location, options.preferred_location_type
    if place is not None and (isinstance(place, bool) or not hasattr(place, "__index__")):
        raise TypeError(
            f"preferred_location must be an integer or None, got {type(place).__name__}"
        )
    if kind is None:
        if place is None:
            return None
        if place == -1:
            return "host", None
        if place < 0:
            raise ValueError(
                f"preferred_location must be a device ordinal, -1 for the host or None, got {place}"
            )
        return "device", place
    if kind not in ("device", "host", "host_numa"):
        raise ValueError(
            f"{kind!r} is not a valid ManagedMemoryLocationType. Must be 'device', 'host' or "
            "'host_numa'"
        )
    if kind == "device":
        if place is None or place < 0:
            raise ValueError(
                "preferred_location must be a device ordinal with preferred_location_type "
                f"'device', got {place}"
            )
        return "device", place
    if kind == "host":
        if place is not None:
            raise ValueError(
                f"preferred_location must be None with preferred_location_type 'host', got {place}"
            )
        return "host", None
    if place is None:
        place = _cuprum.Device().properties.host_numa_id
        if place < 0:
            raise RuntimeError(
                "Cannot determine host NUMA ID of the current device; pass preferred_location"
            )
    if place < 0:
        raise ValueError(
            "preferred_location must be a NUMA node ID with preferred_location_type 'host_numa', "
            f"got {place}"
        )
    return "host_numa", place


for _class in (
    PinnedMemoryResourceOptions,
    ManagedMemoryResourceOptions,
    VirtualMemoryResourceOptions,
):
    _class.__module__ = "cuprum"
