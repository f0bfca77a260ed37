# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The predecessors or successors of a graph node, as a set that can be changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet, Set
from typing import Any

from cuprum import _cuprum


class AdjacencySetProxy(MutableSet):
    """The predecessors or the successors of a node.

    Live: reading asks the driver, changing adds or removes edges, every change in one call. The
    binary operators give plain sets.
    """

    __slots__ = ("_is_forward", "_node")

    def __init__(self, node: _cuprum.GraphNode, is_forward: bool) -> None:
        self._node = node
        self._is_forward = is_forward

    def __contains__(self, node: object) -> bool:
        return isinstance(node, _cuprum.GraphNode) and node in self._members()

    def __iter__(self) -> Iterator[_cuprum.GraphNode]:
        return iter(self._members())

    def __len__(self) -> int:
        return len(self._members())

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self._members())) + "}"

    @classmethod
    def _from_iterable(cls, nodes: Iterable[Any]) -> set[Any]:
        return set(nodes)

    def add(self, node: _cuprum.GraphNode) -> None:
        """Add an edge, unless it is there already.

        Raises
        ------
        TypeError
            If `node` is no GraphNode.
        CUDAError
            If it is this node, a destroyed one or a node of another graph.
        """
        self.update((node,))

    def discard(self, node: object) -> None:
        """Remove an edge if it is there."""
        self.difference_update((node,))

    def clear(self) -> None:
        """Remove all edges in one driver call."""
        self._remove(self._members())

    def update(self, *others: Any) -> None:
        """Add edges in one driver call.

        Parameters
        ----------
        *others : GraphNode or iterable of GraphNode
            The other ends of the edges. Edges that exist already are skipped.
        """
        nodes: list[Any] = []
        for other in others:
            nodes.extend((other,) if isinstance(other, _cuprum.GraphNode) else other)
        self._add(nodes)

    def difference_update(self, *others: Iterable[Any]) -> None:
        """Remove edges in one driver call; what is no neighbour is skipped."""
        gone = [each for other in others for each in list(other)]
        self._remove([node for node in self._members() if node in gone])

    def intersection_update(self, *others: Iterable[Any]) -> None:
        """Remove edges to nodes that are not in all of the others, in one driver call."""
        kept = [set(other) for other in others]
        self._remove([node for node in self._members() if not all(node in each for each in kept)])

    def symmetric_difference_update(self, other: Iterable[Any]) -> None:
        """Add the edges of the other set that are missing and remove those that are there."""
        asked = set(other)
        now = set(self._members())
        self.replace(now ^ asked)

    def replace(self, nodes: Iterable[Any]) -> None:
        """Make these nodes the only neighbours. If the driver refuses an edge, nothing changes."""
        wanted = list(nodes)
        before = self._members()
        self._add(wanted)
        self._remove([node for node in before if node not in wanted])

    def __ior__(self, other: Set[Any]) -> AdjacencySetProxy:  # type: ignore[misc]
        self.update(other)
        return self

    def __iand__(self, other: Set[Any]) -> AdjacencySetProxy:
        self.intersection_update(other)
        return self

    def __isub__(self, other: Set[Any]) -> AdjacencySetProxy:
        self.difference_update(other)
        return self

    def __ixor__(self, other: Set[Any]) -> AdjacencySetProxy:  # type: ignore[misc]
        self.symmetric_difference_update(other)
        return self

    def _members(self) -> list[_cuprum.GraphNode]:
        return self._node._neighbours(self._is_forward)

    def _add(self, nodes: list[Any]) -> None:
        for node in nodes:
            if not isinstance(node, _cuprum.GraphNode):
                raise TypeError(f"expected a GraphNode, got {type(node).__name__}")
        known = set(self._members())
        new = [node for node in dict.fromkeys(nodes) if node not in known]
        if new:
            self._node._add_edges(new, self._is_forward)

    def _remove(self, nodes: list[_cuprum.GraphNode]) -> None:
        if nodes:
            self._node._remove_edges(nodes, self._is_forward)
