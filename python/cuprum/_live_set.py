# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Sets whose members the driver knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import Any, TypeVar

_Set = TypeVar("_Set", bound="LiveSet")


class LiveSet(MutableSet[Any]):
    """A set that asks the driver when it is read, and makes each change with one call.

    A derived class has ``_members`` and ``_replace``. The binary operators give plain sets.
    """

    __slots__ = ()

    def _members(self) -> list[Any]:
        raise NotImplementedError

    def _replace(self, members: list[Any]) -> None:
        """Make these the only members; all are checked first."""
        raise NotImplementedError

    def _resolve(self, member: Any) -> Any:
        """Return what stands for a member, of which there may be several forms; None for none."""
        return member

    def __contains__(self, member: object) -> bool:
        return self._resolve(member) in self._members()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members())

    def __len__(self) -> int:
        return len(self._members())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({set(self)!r})"

    @classmethod
    def _from_iterable(cls, members: Iterable[Any]) -> set[Any]:
        return set(members)

    def add(self, member: Any) -> None:
        """Add a member, unless it is there."""
        self.update((member,))

    def discard(self, member: Any) -> None:
        """Remove a member, if it is there."""
        self.difference_update((member,))

    def clear(self) -> None:
        """Remove all members in one driver call."""
        self._replace([])

    def update(self, *others: Iterable[Any]) -> None:
        """Add members in one driver call."""
        self._replace([*self._members(), *(each for other in others for each in other)])

    def difference_update(self, *others: Iterable[Any]) -> None:
        """Remove members in one driver call; what is not there is skipped."""
        gone = [self._resolve(each) for other in others for each in other]
        self._replace([each for each in self._members() if each not in gone])

    def intersection_update(self, *others: Iterable[Any]) -> None:
        """Remove members that are not in all of the others, in one driver call."""
        kept = [[self._resolve(each) for each in other] for other in others]
        self._replace([each for each in self._members() if all(each in other for other in kept)])

    def symmetric_difference_update(self, other: Iterable[Any]) -> None:
        """Remove the members that the other set has too, and add its others, in one driver call."""
        now = self._members()
        asked = [self._resolve(each) for each in other]
        self._replace(
            [each for each in now if each not in asked]
            + [each for each in asked if each not in now]
        )

    def __ior__(self: _Set, other: Iterable[Any]) -> _Set:  # type: ignore[misc]
        self.update(other)
        return self

    def __iand__(self: _Set, other: Iterable[Any]) -> _Set:
        self.intersection_update(other)
        return self

    def __isub__(self: _Set, other: Iterable[Any]) -> _Set:
        self.difference_update(other)
        return self

    def __ixor__(self: _Set, other: Iterable[Any]) -> _Set:  # type: ignore[misc]
        self.symmetric_difference_update(other)
        return self
