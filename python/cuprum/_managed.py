# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The set of locations that keep managed memory mapped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuprum import Device, Host, ManagedBuffer


class AccessedBySetProxy(MutableSet):
    """The set of locations that are advised to keep a buffer mapped.

    Live: reading asks the driver, changing advises it. Members are devices and ``Host()``; a single
    NUMA node cannot be one. The binary operators give plain sets.
    """

    __slots__ = ("_buffer",)

    def __init__(self, buffer: ManagedBuffer) -> None:
        self._buffer = buffer

    def __contains__(self, location: object) -> bool:
        return location in self._buffer._accessors()

    def __iter__(self) -> Iterator[Device | Host]:
        return iter(self._buffer._accessors())

    def __len__(self) -> int:
        return len(self._buffer._accessors())

    def __repr__(self) -> str:
        return f"AccessedBySetProxy({set(self)!r})"

    @classmethod
    def _from_iterable(cls, locations: Iterable[Any]) -> set[Any]:
        return set(locations)

    def add(self, location: Device | Host) -> None:
        """Advise a place to keep the buffer mapped.

        Raises
        ------
        ValueError
            For a NUMA node.
        TypeError
            For what is no place.
        """
        self._buffer._advise_accessor(location, True)

    def discard(self, location: object) -> None:
        """Take the advice back, if it was given."""
        if location in self:
            self._buffer._advise_accessor(location, False)

    def update(self, *others: Iterable[Device | Host]) -> None:
        """Advise places to keep the buffer mapped; all are checked first."""
        self._buffer.accessed_by = {*self, *(each for other in others for each in other)}

    def __ior__(  # type: ignore[misc, override]
        self, others: Iterable[Device | Host]
    ) -> AccessedBySetProxy:
        """Advise places to keep the buffer mapped; all are checked first."""
        self.update(others)
        return self
