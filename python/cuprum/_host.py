# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The host as a place for memory."""

from __future__ import annotations

__all__ = ["Host"]


class Host:
    """The host, as a location of memory.

    There is one object per place: ``Host(1) is Host(1)``.

    Parameters
    ----------
    numa_id : int, optional
        One NUMA node. Without it, the host as a whole.
    is_numa_current : bool, optional
        The NUMA node that the calling thread runs on when the object is used.

    Raises
    ------
    ValueError
        If both are given, or the node is not a number from 0.

    Examples
    --------
    >>> managed = cuprum.ManagedMemoryResource().allocate(1024, stream=stream)
    >>> managed.prefetch(cuprum.Host(), stream=stream)
    """

    __slots__ = ("__weakref__", "_is_numa_current", "_numa_id")

    _numa_id: int | None
    _is_numa_current: bool

    def __new__(cls, numa_id: int | None = None, *, is_numa_current: bool = False) -> Host:
        """Return the one object of a place."""
        if numa_id is not None and is_numa_current:
            raise ValueError("numa_id and is_numa_current are mutually exclusive; give one of them")
        if numa_id is not None and (
            isinstance(numa_id, bool) or not isinstance(numa_id, int) or numa_id < 0
        ):
            raise ValueError(f"numa_id must be a non-negative int, got {numa_id!r}")
        key = (numa_id, bool(is_numa_current))
        found = _PLACES.get(key)
        if found is None:
            made = super().__new__(cls)
            object.__setattr__(made, "_numa_id", numa_id)
            object.__setattr__(made, "_is_numa_current", bool(is_numa_current))
            found = _PLACES.setdefault(key, made)
        return found

    @classmethod
    def numa_current(cls) -> Host:
        """Return the NUMA node that the calling thread runs on when the object is used.

        Returns
        -------
        Host
            The place.
        """
        return cls(is_numa_current=True)

    @property
    def numa_id(self) -> int | None:
        """Return the NUMA node, or None if no single one is named."""
        return self._numa_id

    @property
    def is_numa_current(self) -> bool:
        """Return whether the calling thread's node is meant."""
        return self._is_numa_current

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Host cannot be changed: {name} is fixed; make another one")

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self._numa_id, self._is_numa_current)

    def __copy__(self) -> Host:
        return self

    def __deepcopy__(self, memo: object) -> Host:
        return self

    def __hash__(self) -> int:
        return hash(("cuprum.Host", self._numa_id, self._is_numa_current))

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Host) else NotImplemented

    def __repr__(self) -> str:
        if self._is_numa_current:
            return "Host.numa_current()"
        return "Host()" if self._numa_id is None else f"Host(numa_id={self._numa_id})"


def _restore(numa_id: int | None, is_numa_current: bool) -> Host:
    return Host(numa_id, is_numa_current=is_numa_current)


_PLACES: dict[tuple[int | None, bool], Host] = {}

Host.__module__ = "cuprum"
