# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The predecessors or successors of a graph node, as a set that can be changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cuprum import _cuprum
from cuprum._live_set import LiveSet


class AdjacencySetProxy(LiveSet):
    """The predecessors or the successors of a node.

    Live: reading asks the driver, changing adds or removes edges, every change in one call. The
    binary operators give plain sets.
    """

    __slots__ = ("_is_forward", "_node")

    def __init__(self, node: _cuprum.GraphNode, is_forward: bool) -> None:
        self._node = node
        self._is_forward = is_forward

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self._members())) + "}"

    def update(self, *others: Any) -> None:
        """Add edges in one driver call.

        Parameters
        ----------
        *others : GraphNode or iterable of GraphNode
            The other ends of the edges. Edges that exist already are skipped.
        """
        nodes = [[each] if isinstance(each, _cuprum.GraphNode) else each for each in others]
        self._add([each for other in nodes for each in other], self._members())

    def replace(self, nodes: Iterable[Any]) -> None:
        """Make these nodes the only neighbours. If the driver refuses an edge, nothing changes."""
        self._replace(list(nodes))

    def _members(self) -> list[_cuprum.GraphNode]:
        return self._node._neighbours(self._is_forward)

    def _replace(self, members: list[Any]) -> None:
        before = self._members()
        self._add(members, before)
        if gone := [node for node in before if node not in members]:
            self._node._remove_edges(gone, self._is_forward)

    def _add(self, nodes: list[Any], known: list[_cuprum.GraphNode]) -> None:
        for node in nodes:
            if not isinstance(node, _cuprum.GraphNode):
                raise TypeError(f"expected a GraphNode, got {type(node).__name__}")
        if new := [node for node in dict.fromkeys(nodes) if node not in known]:
            self._node._add_edges(new, self._is_forward)
