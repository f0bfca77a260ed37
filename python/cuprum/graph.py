# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Graphs: work that is defined once and launched many times.

A graph is built node by node (`GraphDefinition`) or by capturing what is enqueued on a stream
(`GraphBuilder`, `capture`). Both give a `Graph`, which one call launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cuprum._cuprum import (
    AllocNode,
    ChildGraphNode,
    ConditionalNode,
    Device,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    ExecutableChildGraphNode,
    ExecutableEventRecordNode,
    ExecutableEventWaitNode,
    ExecutableGraphNode,
    ExecutableHostCallbackNode,
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
    FreeNode,
    Graph,
    GraphBuilder,
    GraphCondition,
    GraphDefinition,
    GraphNode,
    HostCallbackNode,
    IfElseNode,
    IfNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    Stream,
    SwitchNode,
    WhileNode,
)
from cuprum._graph_options import (
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    GraphUpdateResult,
)
from cuprum._public_names import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuprum._cuprum.words import CaptureModeTypeWord
    from cuprum.typing import CaptureModeType

__all__ = [
    "AllocNode",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "ExecutableChildGraphNode",
    "ExecutableEventRecordNode",
    "ExecutableEventWaitNode",
    "ExecutableGraphNode",
    "ExecutableHostCallbackNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
    "FreeNode",
    "Graph",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphCondition",
    "GraphDebugPrintOptions",
    "GraphDefinition",
    "GraphNode",
    "GraphUpdateResult",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "SwitchNode",
    "WhileNode",
    "capture",
]

__dir__ = public_names(globals())


@contextmanager
def capture(
    stream: Stream | Device, *, mode: CaptureModeType | CaptureModeTypeWord = "relaxed"
) -> Iterator[GraphBuilder]:
    """Capture what the body of a ``with`` statement enqueues on a stream.

    The capture always ends with the body. If the body raises, what was captured is discarded and
    the stream can be used as before.

    Parameters
    ----------
    stream : Stream or Device
        The stream to capture. For a device, a new stream is made.
    mode : str, optional
        Which other calls the driver forbids meanwhile: see `GraphBuilder.begin_building`.

    Yields
    ------
    GraphBuilder
        Stands for the stream in the body. Afterwards, ``complete()`` gives the graph.

    Raises
    ------
    TypeError
        If ``stream`` is neither a Stream nor a Device.

    Examples
    --------
    >>> with cuprum.graph.capture(stream) as builder:
    ...     cuprum.launch(builder, config, kernel, buffer)
    >>> graph = builder.complete()
    >>> graph.launch(stream)
    """
    if not hasattr(stream, "create_graph_builder"):
        raise TypeError(
            f"stream is {stream!r}, expected a cuprum.Stream or a Device; wrap a stream of another "
            "library with Device.create_stream(stream)"
        )
    with stream.create_graph_builder().begin_building(mode) as builder:
        yield builder
