# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Private helpers of ``cuda.core``'s graphs that programs and its tests reach for."""

from __future__ import annotations

from cuprum import _cuprum
from cuprum._cuprum import WeakHandle
from cuprum._graph_adjacency import AdjacencySetProxy

__all__ = ["AdjacencySetProxy", "WeakHandle", "weak_handle"]


def weak_handle(obj: _cuprum.Buffer | _cuprum.GraphDefinition) -> WeakHandle:
    """Return an object that is true while the memory of a buffer, or a graph, is alive."""
    return WeakHandle(obj)


class _NodeRegistry:
    """The nodes that have objects, as a mapping that is only looked at."""

    def __len__(self) -> int:
        return len(_cuprum._live_graph_nodes())

    def values(self) -> list[_cuprum.GraphNode]:
        """Return the nodes."""
        return _cuprum._live_graph_nodes()


_node_registry = _NodeRegistry()
