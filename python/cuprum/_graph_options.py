# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Options for completing and printing graphs, and the result of an update."""

from __future__ import annotations

from dataclasses import dataclass

from cuprum import _cuprum
from cuprum._calls import explained

__all__ = ["GraphCompleteOptions", "GraphDebugPrintOptions", "GraphUpdateResult"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuprum.typing import GraphUpdateReasonType

# The bits of the driver's CUgraphDebugDot_flags, by field.
_DEBUG_FLAGS = {
    "verbose": 1 << 0,
    "runtime_types": 1 << 1,
    "kernel_node_params": 1 << 2,
    "memcpy_node_params": 1 << 3,
    "memset_node_params": 1 << 4,
    "host_node_params": 1 << 5,
    "event_node_params": 1 << 6,
    "ext_semas_signal_node_params": 1 << 7,
    "ext_semas_wait_node_params": 1 << 8,
    "kernel_node_attributes": 1 << 9,
    "handles": 1 << 10,
    "mem_alloc_node_params": 1 << 11,
    "mem_free_node_params": 1 << 12,
    "batch_mem_op_node_params": 1 << 13,
    "extra_topo_info": 1 << 14,
    "conditional_node_params": 1 << 15,
}


@explained
@dataclass
class GraphCompleteOptions:
    """Options for making an executable graph.

    Attributes
    ----------
    auto_free_on_launch : bool
        A launch first frees memory that an earlier launch allocated and nobody freed.
    upload_stream : Stream or None
        The graph is uploaded to the device in this stream, so that its first launch is faster.
    device_launch : bool
        Kernels can launch the graph. Excludes `auto_free_on_launch`.
    use_node_priority : bool
        Nodes run with their own priorities, not with that of the stream.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 64)
    >>> graph = definition.instantiate(cuprum.graph.GraphCompleteOptions(use_node_priority=True))
    """

    auto_free_on_launch: bool = False
    upload_stream: _cuprum.Stream | None = None
    device_launch: bool = False
    use_node_priority: bool = False


@explained
@dataclass
class GraphDebugPrintOptions:
    """Options for `debug_dot_print`: what the file says about nodes beside their kind.

    Attributes
    ----------
    verbose : bool
        Everything below.
    runtime_types : bool
        Structures as the CUDA runtime names them.
    kernel_node_params : bool
        Parameters of kernel nodes.
    memcpy_node_params : bool
        Parameters of copies.
    memset_node_params : bool
        Parameters of fills.
    host_node_params : bool
        Parameters of host callbacks.
    event_node_params : bool
        Events that are recorded or waited for.
    ext_semas_signal_node_params : bool
        Parameters of signals to external semaphores.
    ext_semas_wait_node_params : bool
        Parameters of waits for external semaphores.
    kernel_node_attributes : bool
        Attributes of kernel nodes.
    handles : bool
        Handles of nodes and kernels.
    mem_alloc_node_params : bool
        Parameters of allocations.
    mem_free_node_params : bool
        Parameters of frees.
    batch_mem_op_node_params : bool
        Parameters of batched memory operations.
    extra_topo_info : bool
        Numbers of edges.
    conditional_node_params : bool
        Parameters of conditional nodes.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 64)
    >>> options = cuprum.graph.GraphDebugPrintOptions(memset_node_params=True)
    >>> definition.debug_dot_print("graph.dot", options)
    """

    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False

    def _to_flags(self) -> int:
        """Return the driver's flags."""
        return sum(bit for name, bit in _DEBUG_FLAGS.items() if getattr(self, name))


@explained
@dataclass(frozen=True)
class GraphUpdateResult:
    """The answer to an update of an executable graph. It is true if the graph was updated.

    Attributes
    ----------
    is_updated : bool
        The graph took the definition over. If not, it is as it was.
    reason : GraphUpdateReasonType
        Why it was not updated; ``"success"`` if it was.
    text : str
        What differs and what to do; empty if the graph was updated.
    node : GraphNode or None
        The node of the definition at which they differ.
    from_node : GraphNode or None
        The start of the edge that differs.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 64)
    >>> graph = definition.instantiate()
    >>> node.update(value=1)
    >>> bool(graph.try_update(definition))
    True
    """

    is_updated: bool
    reason: GraphUpdateReasonType
    text: str = ""
    node: _cuprum.GraphNode | None = None
    from_node: _cuprum.GraphNode | None = None

    def __bool__(self) -> bool:
        return self.is_updated


for _class in (GraphCompleteOptions, GraphDebugPrintOptions, GraphUpdateResult):
    _class.__module__ = "cuprum.graph"
