# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The set of other devices that may access a pool's memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from cuprum import _cuprum
from cuprum._live_set import LiveSet


class PeerAccessPlan(NamedTuple):
    """The changes that give access to the wanted devices and to no others."""

    target_ids: tuple[int, ...]
    to_add: tuple[int, ...]
    to_remove: tuple[int, ...]


def plan_peer_access_update(
    owner_device_id: int,
    current_peer_ids: Iterable[int],
    requested_devices: Iterable[object],
    *,
    resolve_device_id: Callable[[Any], int],
    can_access_peer: Callable[[int], bool],
) -> PeerAccessPlan:
    """Work out what is to change.

    Parameters
    ----------
    owner_device_id : int
        Whose memory it is; always has access and is left out.
    current_peer_ids : iterable of int
        Who has access now.
    requested_devices : iterable
        Who shall have it.
    resolve_device_id : callable
        Makes an ordinal of one of those.
    can_access_peer : callable
        Returns whether a device can access the memory.

    Raises
    ------
    ValueError
        If any cannot; all of them are named.
    """
    current = set(current_peer_ids)
    target = {resolve_device_id(device) for device in requested_devices} - {owner_device_id}
    unreachable = sorted(each for each in target - current if not can_access_peer(each))
    if unreachable:
        raise ValueError(
            f"Device {owner_device_id} cannot access peer(s): "
            + ", ".join(map(str, unreachable))
            + "; there is no path between them"
        )
    return PeerAccessPlan(
        tuple(sorted(target)), tuple(sorted(target - current)), tuple(sorted(current - target))
    )


class PeerAccessibleBySetProxy(LiveSet):
    """The set of other devices that may access a pool's memory.

    The set is live: each read and each change is a call of the driver. Members are devices; you
    can pass ordinals instead. The pool's own device is never a member and is ignored when added.
    The binary operators return plain sets.
    """

    __slots__ = ("_pool",)

    def __init__(self, pool: _cuprum.DeviceMemoryResource) -> None:
        self._pool = pool

    def __iter__(self) -> Iterator[_cuprum.Device]:
        return iter([_cuprum.Device(each) for each in self._members()])

    def _members(self) -> list[int]:
        return self._pool._peers()

    def _replace(self, members: list[Any]) -> None:
        replace_peers(self._pool, members)

    def _resolve(self, member: Any) -> int | None:
        """Return a device's ordinal, or None for what is no device."""
        if isinstance(member, _cuprum.Device):
            return member.device_id
        try:
            return operator.index(member)
        except TypeError:
            return None


def replace_peers(pool: _cuprum.DeviceMemoryResource, devices: Iterable[Any]) -> None:
    """Give access to these devices and the pool's own, and to no others."""
    if isinstance(devices, str) or not isinstance(devices, Iterable):
        raise TypeError(
            "peer_accessible_by must be an iterable of Devices or ordinals, got "
            + type(devices).__name__
        )
    plan = plan_peer_access_update(
        pool.device_id,
        pool._peers(),
        list(devices),
        resolve_device_id=_resolve,
        can_access_peer=lambda peer: _cuprum.Device(peer).can_access_peer(pool.device_id),
    )
    if plan.to_add or plan.to_remove:
        _set_pool_access(pool, plan.to_add, plan.to_remove)


def _set_pool_access(
    pool: _cuprum.DeviceMemoryResource, to_add: Iterable[int], to_remove: Iterable[int]
) -> None:
    """Set the access of all devices in one driver call."""
    pool._update_peers(list(to_add), list(to_remove))


def _resolve(device: Any) -> int:
    """Return a device's ordinal; there must be such a device."""
    if device is None:
        raise TypeError("peers must be Devices or ordinals, got None")
    return (device if isinstance(device, _cuprum.Device) else _cuprum.Device(device)).device_id
