# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Graphs: definitions, nodes, builders and executable graphs."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex, type_check_only

from cuprum._cuprum.device import Context, Device
from cuprum._cuprum.launch import Kernel, LaunchConfig
from cuprum._cuprum.memory import Buffer
from cuprum._cuprum.stream import Event, Stream
from cuprum._cuprum.words import CaptureModeTypeWord, GraphMemoryTypeWord
from cuprum._graph_adjacency import AdjacencySetProxy
from cuprum._graph_options import GraphCompleteOptions, GraphDebugPrintOptions, GraphUpdateResult
from cuprum.typing import CaptureModeType, GraphConditionalType, GraphMemoryType, GraphNodeType

class GraphCondition:
    """A number that a conditional node of a graph tests.

    ``create_condition`` of a GraphDefinition or GraphBuilder makes it. Kernels that take it as an
    argument, a ``cudaGraphConditionalHandle``, set it with ``cudaGraphSetConditional``.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> condition = definition.create_condition(default_value=1)
    >>> body = definition.if_then(condition).then
    >>> node = body.memset(buffer, 0, 64)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the driver's ``CUgraphConditionalHandle`` as an int."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

@type_check_only
class _GraphAppender:
    """Adds nodes behind a place in a graph."""

    def launch(
        self, config: LaunchConfig | dict[str, Any], kernel: Kernel, *args: object
    ) -> KernelNode:
        """Add a kernel node.

        Parameters
        ----------
        config : LaunchConfig or dict
            Grid, block and the rest, clusters and cooperative launches included.
        kernel : Kernel
            What to run.
        *args : Buffer, array, texture, surface, AllocNode, condition, number, numpy scalar, ctypes or bytes
            One for each parameter, as `cuprum.launch` takes them. Their values are copied now. The graph
            keeps the objects alive as long as it, a clone or an executable may run the kernel.

        Returns
        -------
        KernelNode
            The new node.

        Raises
        ------
        TypeError
            If count, type or size of the arguments is not what the kernel takes.
        """

    def callback(
        self, fn: Callable[[], object], *, user_data: int | bytes | None = None
    ) -> HostCallbackNode:
        """Add a node that calls a function on the host.

        The function runs on a thread of the driver and must not call CUDA. An exception that it raises goes
        to ``sys.unraisablehook``, and the graph goes on. Python's garbage collector does not see the graph's
        reference: a function that refers to its own graph keeps both alive.

        Parameters
        ----------
        fn : callable or ctypes function
            A callable without arguments. Or a C function that returns nothing and takes one pointer:
            ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)``.
        user_data : int or bytes-like, optional
            The argument of a C function: an address, or bytes that are copied.

        Returns
        -------
        HostCallbackNode
            The new node.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        """

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """Add a copy of another graph as one node.

        Parameters
        ----------
        child : GraphDefinition
            The graph to copy. Later changes of it have no effect here.

        Returns
        -------
        ChildGraphNode
            The new node.

        Raises
        ------
        TypeError
            If the child is not a graph.
        """

    def allocate(
        self,
        size: SupportsIndex,
        *,
        device: Device | int | None = None,
        memory_type: GraphMemoryType | GraphMemoryTypeWord | None = "device",
        peer_access: Sequence[Device | int] | None = None,
    ) -> AllocNode:
        """Add a node that allocates memory at every launch.

        The address is known at once and the same for all launches.

        Parameters
        ----------
        size : int
            Bytes, at least 1.
        device : Device or int, optional
            Whose memory. Without it, that of the current device.
        memory_type : GraphMemoryType or str, optional
            ``"device"``, ``"host"`` (pinned) or ``"managed"``.
        peer_access : sequence of Device or int, optional
            Other devices that may read and write it.

        Returns
        -------
        AllocNode
            The new node; its ``dptr`` is the address.

        Raises
        ------
        ValueError
            If the size is negative, or there is no such kind of memory.
        """

    def deallocate(self, dptr: AllocNode | int) -> FreeNode:
        """Add a node that frees the memory of an allocation node.

        Parameters
        ----------
        dptr : AllocNode or int
            The allocation, or its address.

        Returns
        -------
        FreeNode
            The new node.

        Raises
        ------
        GraphError
            If the graph frees it already.
        """

    def memset(
        self,
        dst: Buffer | AllocNode | int,
        value: object,
        width: SupportsIndex,
        height: SupportsIndex = 1,
        pitch: SupportsIndex = 0,
        *,
        dst_owner: object = None,
    ) -> MemsetNode:
        """Add a node that fills memory.

        Parameters
        ----------
        dst : Buffer, AllocNode or int
            Where. The graph keeps the memory of a Buffer alive, whatever happens to the Buffer.
        value : int or bytes-like
            An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
        width : int
            Elements in a row.
        height : int, optional
            Rows.
        pitch : int, optional
            Bytes from row to row; unused for one row.
        dst_owner : object, optional
            An object to keep alive if `dst` is an address.

        Returns
        -------
        MemsetNode
            The new node.

        Raises
        ------
        ValueError
            If the value has another size than 1, 2 or 4 bytes, or the fill does not fit into the
            buffer.
        """

    def memcpy(
        self,
        dst: Buffer | AllocNode | int,
        src: Buffer | AllocNode | int,
        size: SupportsIndex,
        *,
        dst_owner: object = None,
        src_owner: object = None,
    ) -> MemcpyNode:
        """Add a node that copies memory, of devices or of the host.

        Parameters
        ----------
        dst, src : Buffer, AllocNode or int
            To where and from where. The graph keeps the memory of a Buffer alive, whatever happens to the
            Buffer.
        size : int
            Bytes.
        dst_owner, src_owner : object, optional
            Objects to keep alive if `dst` or `src` is an address.

        Returns
        -------
        MemcpyNode
            The new node.

        Raises
        ------
        ValueError
            If the copy does not fit into a buffer.
        """

    def empty(self) -> EmptyNode:
        """Add a node that does nothing, to gather dependencies.

        Returns
        -------
        EmptyNode
            The node.

        Raises
        ------
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Add an empty node that depends on other nodes as well.

        Parameters
        ----------
        *nodes : GraphNode
            Nodes of the same graph.

        Returns
        -------
        EmptyNode
            The new node.

        Raises
        ------
        TypeError
            If an argument is not a node.
        GraphError
            If a node belongs to another graph.
        GraphClosedError
            If the graph is closed, or a node was destroyed.
        """

    def record(self, event: Event) -> EventRecordNode:
        """Add a node that records an event.

        Parameters
        ----------
        event : Event
            The event to record at each launch.

        Returns
        -------
        EventRecordNode
            The node.

        Raises
        ------
        TypeError
            If the argument is not an event.
        """

    def wait(self, event: Event) -> EventWaitNode:
        """Add a node that waits for an event.

        Parameters
        ----------
        event : Event
            The event to wait for at each launch.

        Returns
        -------
        EventWaitNode
            The node.

        Raises
        ------
        TypeError
            If the argument is not an event.
        """

    def if_then(self, condition: GraphCondition) -> IfNode:
        """Add a node that runs its body, ``then``, if a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        IfNode
            The node, whose body is empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Add a node that runs ``then`` if a condition is not 0, and ``else_`` if it is.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        IfElseNode
            The node, whose bodies are empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Add a node that runs its body as long as a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        WhileNode
            The node, whose body is empty.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the graph is closed, or this node was destroyed.
        """

    def switch(self, condition: GraphCondition, count: SupportsIndex) -> SwitchNode:
        """Add a node that runs the body whose index a condition is.

        Parameters
        ----------
        condition : GraphCondition
            If there is no body with this index, none runs.
        count : int
            How many bodies there are: ``branches`` of the node.

        Returns
        -------
        SwitchNode
            The new node.

        Raises
        ------
        ValueError
            If `count` is less than 1.
        """

class GraphNode(_GraphAppender):
    """One piece of work in a graph.

    The methods of a GraphDefinition add nodes that depend on nothing, and the same methods of a node add
    nodes that depend on it. There is one object for each node while somebody refers to it.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> first = definition.memset(buffer, 0, 128)
    >>> second = first.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    >>> second.pred == {first}
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def type(self) -> GraphNodeType | None:
        """Return the kind of work; None once the node is destroyed."""

    @property
    def graph(self) -> GraphDefinition:
        """Return the graph that it belongs to."""

    @property
    def handle(self) -> int | None:
        """Return the driver's ``CUgraphNode`` as an int; None once the node is destroyed.

        Like the handle of its graph, it makes launches of executable graphs that are made later slower.
        """

    @property
    def is_valid(self) -> bool:
        """Return whether the node has not been destroyed."""

    def destroy(self) -> None:
        """Remove the node and its edges from the graph.

        Executable graphs made before are not affected. Calling it again does nothing.

        Raises
        ------
        CUDAError
            If the driver refuses, as in a graph with memory nodes. The node stays then.
        """

    @property
    def pred(self) -> AdjacencySetProxy:
        """Return the nodes that this one waits for: a set whose changes add and remove edges."""

    @pred.setter
    def pred(self, nodes: Iterable[GraphNode], /) -> None: ...
    @property
    def succ(self) -> AdjacencySetProxy:
        """Return the nodes that wait for this one: a set whose changes add and remove edges."""

    @succ.setter
    def succ(self, nodes: Iterable[GraphNode], /) -> None: ...
    def _neighbours(self, is_forward: bool) -> list[GraphNode]:
        """Return the successors or predecessors."""

    def _add_edges(self, nodes: list[GraphNode], is_forward: bool) -> None:
        """Add edges in one driver call."""

    def _remove_edges(self, nodes: list[GraphNode], is_forward: bool) -> None:
        """Remove edges in one driver call."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

def _live_graph_nodes() -> list[GraphNode]:
    """Return all nodes that have objects and are not destroyed."""

class EmptyNode(GraphNode):
    """A node that does nothing but order others.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> first, second = definition.memset(buffer, 0, 8), definition.memset(buffer, 0, 8)
    >>> both = first.join(second)
    >>> both.pred == {first, second}
    True
    """

    def __repr__(self) -> str: ...

class KernelNode(GraphNode):
    """A node that runs a kernel.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    >>> node.block
    (32, 1, 1)
    """

    @property
    def grid(self) -> tuple[int, int, int]:
        """Return the grid's three extents."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Return the block's three extents."""

    @property
    def shmem_size(self) -> int:
        """Return the dynamic shared memory per block, in bytes."""

    @property
    def kernel(self) -> Kernel:
        """Return the kernel."""

    @property
    def config(self) -> LaunchConfig:
        """Return how it is launched, with the attributes that the driver reports."""

    def update(
        self,
        *,
        config: LaunchConfig | dict[str, Any] | None = None,
        kernel: Kernel | None = None,
        args: Sequence[object] | None = None,
    ) -> None:
        """Replace what is given and keep the rest.

        Executable graphs made before are not affected.

        Parameters
        ----------
        config : LaunchConfig or dict, optional
            The new configuration.
        kernel : Kernel, optional
            The new kernel; needs `args`.
        args : sequence, optional
            All new arguments, as `cuprum.launch` takes them.

        Raises
        ------
        ValueError
            If there is a kernel without arguments.
        """

    def argument_bytes(self, index: int) -> bytes:
        """Return the value of an argument.

        Parameters
        ----------
        index : int
            The number of the argument, counted from 0.

        Returns
        -------
        bytes
            As many bytes as the parameter has.

        Raises
        ------
        IndexError
            If the kernel has fewer.
        """

    def attribute(self, id: int) -> bytes:
        """Return a launch attribute by the driver's number, 64 bytes.

        Parameters
        ----------
        id : int
            A ``CUlaunchAttributeID``.

        Returns
        -------
        bytes
            A ``CUlaunchAttributeValue``.

        Raises
        ------
        CUDAError
            If the driver has no such attribute.
        """

    def set_attribute(self, id: int, value: bytes) -> None:
        """Set a launch attribute by the driver's number.

        Parameters
        ----------
        id : int
            A ``CUlaunchAttributeID``.
        value : bytes
            A ``CUlaunchAttributeValue`` of up to 64 bytes.

        Raises
        ------
        ValueError
            If `value` has more than 64 bytes.
        GraphClosedError
            If the node was destroyed.
        CUDAError
            If the driver does not know the attribute, or refuses the value.
        """

    def copy_attributes_from(self, other: KernelNode) -> None:
        """Take over all launch attributes of another kernel node.

        Parameters
        ----------
        other : KernelNode
            The node to copy from.

        Raises
        ------
        TypeError
            If `other` is not a kernel node.
        GraphClosedError
            If one of the nodes was destroyed.
        """

    def __repr__(self) -> str: ...

class HostCallbackNode(GraphNode):
    """A node that calls a function on the host.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.callback(lambda: print("called"))
    >>> definition.instantiate().launch(stream); stream.sync()
    called
    """

    @property
    def callback(self) -> Callable[[], object] | None:  # type: ignore[override]
        """Return the Python callable; None if the node calls a C function."""

    def update(self, fn: Callable[[], object], *, user_data: int | bytes | None = None) -> None:
        """Replace the function; see ``GraphNode.callback``.

        Parameters
        ----------
        fn : Callable[[], object]
            The function to call instead.
        user_data : int or bytes, optional
            For a C function: its argument.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        ValueError
            If there is `user_data` for a Python function.
        GraphClosedError
            If the node was destroyed.
        """

    def __repr__(self) -> str: ...

@type_check_only
class _EventNode:
    """Has an event, which can be replaced."""

    @property
    def event(self) -> Event:
        """Return the event."""

    def update(self, event: Event) -> None:
        """Replace the event.

        Parameters
        ----------
        event : Event
            The event to use instead.

        Raises
        ------
        TypeError
            If the argument is not an event.
        GraphClosedError
            If the event is closed, or the node was destroyed.
        """

class EventRecordNode(GraphNode, _EventNode):
    """A node that records an event.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> event = device.create_event()
    >>> definition.record(event).event == event
    True
    """

    def __repr__(self) -> str: ...

class EventWaitNode(GraphNode, _EventNode):
    """A node that waits for an event.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> event = device.create_event()
    >>> definition.wait(event).event == event
    True
    """

    def __repr__(self) -> str: ...

class MemcpyNode(GraphNode):
    """A node that copies memory.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memcpy(device.allocate(1024, stream=stream), buffer, 1024)
    >>> node.size
    1024
    """

    @property
    def dst(self) -> int:
        """Return the address that it writes to."""

    @property
    def src(self) -> int:
        """Return the address that it reads from."""

    @property
    def size(self) -> int:
        """Return the bytes that it copies, or those of one row."""

    @property
    def extent(self) -> tuple[int, int, int]:
        """Return the bytes in a row, the rows in a slice and the slices."""

    def update(
        self,
        *,
        dst: Buffer | AllocNode | int | None = None,
        src: Buffer | AllocNode | int | None = None,
        size: SupportsIndex | None = None,
        dst_owner: object = None,
        src_owner: object = None,
    ) -> None:
        """Replace what is given and keep the rest; see ``GraphNode.memcpy``.

        Executable graphs made before are not affected.

        Parameters
        ----------
        dst : Buffer, AllocNode or int, optional
            Where to write.
        src : Buffer, AllocNode or int, optional
            Where to read.
        size : int, optional
            The number of bytes.
        dst_owner : object, optional
            An object to keep alive, if `dst` is an address.
        src_owner : object, optional
            An object to keep alive, if `src` is an address.

        Raises
        ------
        NotImplementedError
            If the node copies a rectangle, a box or an array.
        """

    def __repr__(self) -> str: ...

class MemsetNode(GraphNode):
    """A node that fills memory.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 7, 64)
    >>> node.value, node.width
    (7, 64)
    """

    @property
    def dptr(self) -> int:
        """Return the address that it writes to."""

    @property
    def value(self) -> int:
        """Return the value of one element."""

    @property
    def element_size(self) -> int:
        """Return the bytes of one element: 1, 2 or 4."""

    @property
    def width(self) -> int:
        """Return the elements in a row."""

    @property
    def height(self) -> int:
        """Return the number of rows."""

    @property
    def pitch(self) -> int:
        """Return the bytes from row to row."""

    def update(
        self,
        *,
        dst: Buffer | AllocNode | int | None = None,
        value: object = None,
        width: SupportsIndex | None = None,
        height: SupportsIndex | None = None,
        pitch: SupportsIndex | None = None,
        dst_owner: object = None,
    ) -> None:
        """Replace what is given and keep the rest; see ``GraphNode.memset``.

        Executable graphs made before are not affected.

        Parameters
        ----------
        dst : Buffer, AllocNode or int, optional
            Where to write.
        value : object, optional
            An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
        width : int, optional
            Elements in a row.
        height : int, optional
            The number of rows.
        pitch : int, optional
            Bytes from row to row.
        dst_owner : object, optional
            An object to keep alive, if `dst` is an address.

        Raises
        ------
        ValueError
            If the value has another size than 1, 2 or 4 bytes, or the fill does not fit into the
            buffer.
        """

    def __repr__(self) -> str: ...

class AllocNode(GraphNode):
    """A node that allocates memory at each launch.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> memory = definition.allocate(64)
    >>> fill = memory.memset(memory, 0, 64)
    >>> free = fill.deallocate(memory)
    """

    @property
    def dptr(self) -> int:
        """Return the address, which is the same for all launches."""

    @property
    def bytesize(self) -> int:
        """Return the size in bytes."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory it is."""

    @property
    def memory_type(self) -> GraphMemoryType:
        """Return the kind of memory."""

    @property
    def peer_access(self) -> tuple[int, ...]:
        """Return the ordinals of other devices that may access it."""

    def __repr__(self) -> str: ...

class FreeNode(GraphNode):
    """A node that frees memory of a graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> memory = definition.allocate(64)
    >>> memory.deallocate(memory).dptr == memory.dptr
    True
    """

    @property
    def dptr(self) -> int:
        """Return the address that it frees."""

    def __repr__(self) -> str: ...

class ChildGraphNode(GraphNode):
    """A node that runs another graph.

    Examples
    --------
    >>> child = cuprum.graph.GraphDefinition()
    >>> node = child.memset(buffer, 0, 64)
    >>> parent = cuprum.graph.GraphDefinition()
    >>> len(parent.embed(child).child_graph.nodes())
    1
    """

    @property
    def child_graph(self) -> GraphDefinition:
        """Return the graph inside, which belongs to this node and can be edited."""

    def update(self, child: GraphDefinition) -> None:
        """Replace the graph inside by a copy of another one.

        Parameters
        ----------
        child : GraphDefinition
            A graph that is no part of this node's own.

        Raises
        ------
        TypeError
            If `child` is not a GraphDefinition.
        GraphError
            If `child` is part of the same graph.
        GraphClosedError
            If the node was destroyed, or `child` is closed.
        """

    def __repr__(self) -> str: ...

class ConditionalNode(GraphNode):
    """A node that runs one of its bodies, or none.

    Drivers before CUDA 13.2 say nothing about conditional nodes that were not made by this package. Such
    nodes have no condition, no type and no branches.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> condition = definition.create_condition(default_value=1)
    >>> node = definition.if_then(condition)
    >>> isinstance(node, cuprum.graph.ConditionalNode), len(node.branches)
    (True, 1)
    """

    @property
    def condition(self) -> GraphCondition | None:
        """Return the condition that it tests."""

    @property
    def cond_type(self) -> GraphConditionalType | None:
        """Return how it chooses."""

    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """Return the bodies, which belong to this node and can be edited."""

    def __repr__(self) -> str: ...

class IfNode(ConditionalNode):
    """A conditional node that runs its body if a condition is not 0.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.if_then(definition.create_condition(default_value=1))
    >>> fill = node.then.memset(buffer, 1, 64)
    """

    def __repr__(self) -> str: ...
    @property
    def then(self) -> GraphDefinition:
        """Return the body."""

class IfElseNode(ConditionalNode):
    """A conditional node that runs one of two bodies.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.if_else(definition.create_condition(default_value=0))
    >>> fill = node.then.memset(buffer, 1, 64)
    >>> fill = node.else_.memset(buffer, 2, 64)
    """

    def __repr__(self) -> str: ...
    @property
    def then(self) -> GraphDefinition:
        """Return the body that runs if the condition is not 0."""

    @property
    def else_(self) -> GraphDefinition:
        """Return the body that runs if the condition is 0."""

class WhileNode(ConditionalNode):
    """A conditional node that repeats its body as long as a condition is not 0.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.while_loop(definition.create_condition(default_value=0))
    >>> fill = node.body.memset(buffer, 1, 64)
    """

    def __repr__(self) -> str: ...
    @property
    def body(self) -> GraphDefinition:
        """Return the body."""

class SwitchNode(ConditionalNode):
    """A conditional node that runs the body whose index a condition is.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.switch(definition.create_condition(default_value=1), 3)
    >>> fill = node.branches[1].memset(buffer, 1, 64)
    """

    def __repr__(self) -> str: ...

class GraphDefinition(_GraphAppender):
    """A graph of work that is built node by node.

    Its methods add nodes that depend on nothing; the same methods of a node add nodes that depend on it.
    ``instantiate`` makes an executable graph. One thread at a time may edit a graph, together with the
    graphs inside it.

    Parameters
    ----------
    context : Context or Device, optional
        Where the nodes run. Without it, in the context that is current when they are added.

    Raises
    ------
    TypeError
        If `context` is neither a Context nor a Device.
    ClosedError
        If the context is closed.
    CUDAError
        If the driver cannot create the graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 128)
    >>> node = node.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    >>> graph = definition.instantiate()
    >>> graph.launch(stream)
    """

    def __init__(self, context: Context | Device | None = None) -> None: ...
    @property
    def handle(self) -> int:
        """Return the driver's ``CUgraph`` as an int.

        From then on user objects of the driver keep alive what the graph uses, so that other code may clone
        or instantiate it. This makes launches of executable graphs that are made later several microseconds
        slower.
        """

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """Make a condition for one conditional node of this graph.

        Parameters
        ----------
        default_value : int, optional
            The value at the start of every launch. Without it, the condition keeps its value.

        Returns
        -------
        GraphCondition
            Pass it to the conditional node and to the kernels that set it.

        Raises
        ------
        TypeError
            If the value is not an int.
        ValueError
            If the value does not fit 32 bits.
        GraphClosedError
            If the graph is closed.
        """

    def instantiate(self, options: GraphCompleteOptions | dict[str, Any] | None = None) -> Graph:
        """Make an executable graph. Later changes of this one do not affect it.

        Parameters
        ----------
        options : GraphCompleteOptions or dict, optional
            How to make it.

        Returns
        -------
        Graph
            The executable graph.

        Raises
        ------
        GraphError
            If the graph has a cycle; the text names its nodes.
        GraphInstantiateError
            If the driver refuses it for another reason.
        """

    def clone(self) -> GraphDefinition:
        """Return a copy that changes on its own.

        Returns
        -------
        GraphDefinition
            The copy.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        CUDAError
            If the driver cannot clone the graph: it allocates or frees memory, or has conditional nodes.
        """

    def nodes(self) -> set[GraphNode]:
        """Return all nodes.

        Returns
        -------
        set[GraphNode]
            The nodes.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        """

    def edges(self) -> set[tuple[GraphNode, GraphNode]]:
        """Return all edges, each as the node that is waited for and the one that waits.

        Returns
        -------
        set[tuple[GraphNode, GraphNode]]
            The edges.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        """

    @property
    def _entry(self) -> GraphNode:
        """Return the place before all nodes, as a node that does not exist."""

    def debug_dot_print(
        self,
        path: str | os.PathLike[str],
        options: GraphDebugPrintOptions | dict[str, Any] | None = None,
    ) -> None:
        """Write what the driver knows of the graph to a file, in the language of Graphviz.

        Parameters
        ----------
        path : str or path-like
            The file, which is overwritten.
        options : GraphDebugPrintOptions or dict, optional
            What to say about nodes.

        Raises
        ------
        CUDAError
            If the file cannot be written.
        GraphClosedError
            If the graph is closed.
        """

    def to_dot(self) -> str:
        """Return a picture of the graph in the language of Graphviz.

        Returns
        -------
        str
            Text for Graphviz.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        """

    def to_text(self) -> str:
        """Return the graph as a tree of lines for a terminal.

        Returns
        -------
        str
            One line for each node.

        Raises
        ------
        GraphClosedError
            If the graph is closed.
        """

    def to_svg(self) -> str:
        """Return a picture of the graph as an SVG.

        Returns
        -------
        str
            The picture as text.

        Raises
        ------
        LibraryNotFoundError
            If Graphviz's program ``dot`` is not on the path.
        """

    def _repr_svg_(self) -> str | None:
        """Return the picture of the graph; None without Graphviz."""

    def _repr_html_(self) -> str:
        """Return what notebooks show."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release this object's share of the graph.

        Nodes, other objects of the same graph and executables stay. Calling it again does nothing.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class WeakHandle:
    """An observer of a buffer's memory or of a graph, for tests.

    It is true while somebody shares the memory or the graph, and does not keep it alive.

    Parameters
    ----------
    obj : Buffer or GraphDefinition
        What to watch.
    """

    def __init__(self, obj: Buffer | GraphDefinition) -> None: ...
    def __bool__(self) -> bool: ...
    def expired(self) -> bool:
        """Return whether nobody shares it any more."""

    def use_count(self) -> int:
        """Return how many share it."""

class Graph:
    """An executable graph: many pieces of work that one call launches.

    ``GraphDefinition.instantiate`` and ``GraphBuilder.complete`` make it. It keeps alive what its nodes
    use, also while it runs. Two launches of one graph never overlap.

    Examples
    --------
    >>> with cuprum.graph.capture(stream) as builder:
    ...     buffer.fill(0, stream=builder)
    >>> graph = builder.complete()
    >>> graph.launch(stream)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the driver's ``CUgraphExec`` as an int."""

    def launch(self, stream: Stream | GraphBuilder) -> None:
        """Launch the graph. Returns at once.

        Parameters
        ----------
        stream : Stream or GraphBuilder
            The graph runs in this stream's order.

        Raises
        ------
        ClosedError
            If the graph or the stream is closed.
        """

    def upload(self, stream: Stream) -> None:
        """Prepare the device for the next launch, so that it is faster.

        Parameters
        ----------
        stream : Stream
            The upload is ordered on it.

        Raises
        ------
        TypeError
            If `stream` is None or not a stream.
        GraphClosedError
            If the graph or the stream is closed.
        CUDAError
            If the driver cannot upload the graph.
        """

    def update(self, source: GraphDefinition | GraphBuilder) -> None:
        """Take over the parameters of a graph with the same topology, for later launches.

        Parameters
        ----------
        source : GraphDefinition or GraphBuilder
            A builder must have ended.

        Raises
        ------
        GraphUpdateError
            If they differ in more; the text names the node. This graph stays as it was.
        """

    def try_update(self, source: GraphDefinition | GraphBuilder) -> GraphUpdateResult:
        """Do what ``update`` does, but return a refusal instead of raising it.

        Parameters
        ----------
        source : GraphDefinition or GraphBuilder
            A builder must have ended.

        Returns
        -------
        GraphUpdateResult
            True if the graph was updated. If not, it says what differs.

        Raises
        ------
        TypeError
            If `source` is neither a definition nor a builder.
        ValueError
            If a builder has not ended.
        GraphClosedError
            If this graph or the source is closed.
        """

    def __getitem__(self, node: GraphNode, /) -> ExecutableGraphNode:
        """Return a node of this graph, named by that of its definition, to change it here alone.

        Raises
        ------
        TypeError
            If nodes of this kind cannot be changed.
        ValueError
            If the graph is closed or the node destroyed.
        """

    @property
    def flags(self) -> int:
        """Return the driver's ``CUgraphInstantiate_flags``."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release this object's share of the graph.

        A launch that runs completes. Calling it again does nothing; any other use raises
        GraphClosedError.
        """

    def __repr__(self) -> str: ...

class ExecutableGraphNode:
    """A node of an executable graph. Changes apply to later launches.

    ``graph[node]`` makes it, where `node` is one of the graph's definition.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 64)
    >>> graph = definition.instantiate()
    >>> graph[node].node == node
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

@type_check_only
class _SwitchableNode:
    """Can be switched off in an executable graph."""

    @property
    def is_enabled(self) -> bool:
        """Return whether the node runs."""

    def enable(self) -> None:
        """Let the node run in later launches.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

    def disable(self) -> None:
        """Skip the node in later launches.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

class ExecutableKernelNode(ExecutableGraphNode, _SwitchableNode):
    """A kernel node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
    >>> graph = definition.instantiate()
    >>> graph[node].disable()
    >>> graph[node].is_enabled
    False
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...
    def update(
        self, *, config: LaunchConfig | dict[str, Any], kernel: Kernel, args: Sequence[object]
    ) -> None:
        """Replace configuration, kernel and arguments for later launches.

        Parameters
        ----------
        config : LaunchConfig or dict
            The new grid, block and shared memory. The driver keeps the other attributes of the definition.
        kernel : Kernel
            The new kernel.
        args : sequence
            All new arguments, as `cuprum.launch` takes them. The executable keeps them alive, also earlier
            ones, until it is updated as a whole or destroyed.

        Raises
        ------
        TypeError
            If `kernel` is not a Kernel, or the number or the types of the arguments are wrong.
        ValueError
            If the configuration is wrong.
        CUDAError
            If the driver refuses the change, as for a kernel of another context.
        """

class ExecutableMemcpyNode(ExecutableGraphNode, _SwitchableNode):
    """A copy node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> other = device.allocate(1024, stream=stream)
    >>> node = definition.memcpy(other, buffer, 1024)
    >>> graph = definition.instantiate()
    >>> graph[node].update(dst=other, src=buffer, size=512)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...
    def update(
        self, *, dst: Buffer | AllocNode | int, src: Buffer | AllocNode | int, size: SupportsIndex
    ) -> None:
        """Replace the copy for later launches; see ``GraphNode.memcpy``.

        Parameters
        ----------
        dst : Buffer, AllocNode or int
            Where to write.
        src : Buffer, AllocNode or int
            Where to read.
        size : int
            The number of bytes.

        Raises
        ------
        TypeError
            If an argument has another type.
        GraphError
            If the copy does not fit into a buffer.
        GraphClosedError
            If a buffer is closed.
        CUDAError
            If the driver refuses the change, as for memory of another kind or device.
        """

class ExecutableMemsetNode(ExecutableGraphNode, _SwitchableNode):
    """A fill node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.memset(buffer, 0, 64)
    >>> graph = definition.instantiate()
    >>> graph[node].update(dst=buffer, value=1, width=64)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...
    def update(
        self,
        *,
        dst: Buffer | AllocNode | int,
        value: object,
        width: SupportsIndex,
        height: SupportsIndex = 1,
        pitch: SupportsIndex = 0,
    ) -> None:
        """Replace the fill for later launches; see ``GraphNode.memset``.

        Parameters
        ----------
        dst : Buffer, AllocNode or int
            Where to write.
        value : object
            An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
        width : int
            Elements in a row.
        height : int, optional
            The number of rows.
        pitch : int, optional
            Bytes from row to row; 0 means without gaps.

        Raises
        ------
        TypeError
            If an argument has another type.
        OverflowError
            If `value` is an int that does not fit a byte.
        ValueError
            If `value` is of 3, or of more than 4 bytes.
        GraphError
            If the fill does not fit into the buffer.
        GraphClosedError
            If the buffer is closed.
        CUDAError
            If the driver refuses the change, as for another number of dimensions.
        """

class ExecutableChildGraphNode(ExecutableGraphNode):
    """A child graph node of an executable graph.

    Examples
    --------
    >>> child, parent = cuprum.graph.GraphDefinition(), cuprum.graph.GraphDefinition()
    >>> fill = child.memset(buffer, 0, 64)
    >>> node = parent.embed(child)
    >>> graph = parent.instantiate()
    >>> graph[node].update(child)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...
    def update(self, child: GraphDefinition) -> None:
        """Take over the parameters of a graph with the child's topology, for later launches.

        Parameters
        ----------
        child : GraphDefinition
            A graph with the same nodes and edges.

        Raises
        ------
        TypeError
            If `child` is not a GraphDefinition.
        GraphClosedError
            If `child` is closed.
        CUDAError
            If its nodes or edges differ. The graph stays as it was.
        """

@type_check_only
class _ExecutableEventNode:
    """Has an event that can be replaced."""

    def update(self, event: Event) -> None:
        """Replace the event for later launches.

        Parameters
        ----------
        event : Event
            The event to use instead.

        Raises
        ------
        TypeError
            If the argument is not an event.
        GraphClosedError
            If the event is closed.
        """

class ExecutableEventRecordNode(ExecutableGraphNode, _ExecutableEventNode):
    """An event record node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.record(device.create_event())
    >>> graph = definition.instantiate()
    >>> graph[node].update(device.create_event())
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

class ExecutableEventWaitNode(ExecutableGraphNode, _ExecutableEventNode):
    """An event wait node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.wait(device.create_event())
    >>> graph = definition.instantiate()
    >>> graph[node].update(device.create_event())
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...

class ExecutableHostCallbackNode(ExecutableGraphNode):
    """A host callback node of an executable graph.

    Examples
    --------
    >>> definition = cuprum.graph.GraphDefinition()
    >>> node = definition.callback(lambda: None)
    >>> graph = definition.instantiate()
    >>> graph[node].update(lambda: print("called"))
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def node(self) -> GraphNode:
        """Return the node of the definition."""

    def __repr__(self) -> str: ...
    def update(self, fn: Callable[[], object], *, user_data: int | bytes | None = None) -> None:
        """Replace the function for later launches; see ``GraphNode.callback``.

        Parameters
        ----------
        fn : Callable[[], object]
            The function to call instead.
        user_data : int or bytes, optional
            For a C function: its argument.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        ValueError
            If there is `user_data` for a Python function.
        CUDAError
            If the driver refuses the change.
        """

class GraphBuilder:
    """A graph that is built by capturing a stream.

    ``Stream.create_graph_builder`` and ``Device.create_graph_builder`` make it. From ``begin_building``
    to ``end_building``, work that is enqueued on the builder, or on its stream, becomes a part of the
    graph instead of running. As a context manager it begins, and ends whatever happens in the body; if
    the body raises, what was captured is discarded.

    The graph keeps kernels, buffers, argument objects, events and callbacks alive. Pass to ``keep_alive``
    what it cannot know, such as memory whose address is given as a number.

    Examples
    --------
    >>> builder = stream.create_graph_builder().begin_building()
    >>> buffer.fill(0, stream=builder)
    >>> graph = builder.end_building().complete()
    >>> graph.launch(stream)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def begin_building(
        self, mode: CaptureModeType | CaptureModeTypeWord = "relaxed"
    ) -> GraphBuilder:
        """Begin to capture the stream.

        Parameters
        ----------
        mode : CaptureModeType or str, optional
            Who may make calls that a graph cannot contain, such as synchronising: with ``"global"`` no
            thread of the process, with ``"thread_local"`` no call of this thread is allowed, with
            ``"relaxed"`` all are. A forbidden call fails and invalidates the capture.

        Returns
        -------
        GraphBuilder
            This one.

        Raises
        ------
        RuntimeError
            If it has begun before.
        """

    @property
    def is_building(self) -> bool:
        """Return whether the capture is active.

        Raises
        ------
        CUDAError
            If a forbidden call invalidated it. ``end_building`` or ``close`` ends it then.
        """

    def end_building(self) -> GraphBuilder:
        """End the capture and keep its graph. It cannot be resumed.

        Returns
        -------
        GraphBuilder
            This one.

        Raises
        ------
        RuntimeError
            If it is not building, or has forks that were not joined.
        CUDAError
            If the capture was invalidated.
        """

    @property
    def stream(self) -> Stream:
        """Return the stream that is captured."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, handle)`` of the stream, the protocol by which libraries exchange streams."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Close the builder. A capture that is active ends, and what was captured is discarded.

        Definitions and executable graphs made before stay. Calling it again does nothing.

        Raises
        ------
        CUDAError
            If the capture cannot be ended, as on another thread than it began on.
        """

    def __enter__(self) -> GraphBuilder:
        """Begin building, unless it has begun."""

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        """End building. After an exception, discard what was captured."""

    def complete(self, options: GraphCompleteOptions | dict[str, Any] | None = None) -> Graph:
        """Make an executable graph of what was captured. May be called several times.

        Parameters
        ----------
        options : GraphCompleteOptions or dict, optional
            How to make it.

        Returns
        -------
        Graph
            The executable graph.

        Raises
        ------
        RuntimeError
            If ``end_building`` was not called.
        """

    def debug_dot_print(
        self,
        path: str | os.PathLike[str],
        options: GraphDebugPrintOptions | dict[str, Any] | None = None,
    ) -> None:
        """Write what was captured to a file; see ``GraphDefinition.debug_dot_print``.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        options : GraphDebugPrintOptions or dict, optional
            What to show beside nodes and edges.

        Raises
        ------
        RuntimeError
            If ``end_building`` was not called.
        CUDAError
            If the file cannot be written.
        GraphClosedError
            If the builder is closed.
        """

    @property
    def graph_definition(self) -> GraphDefinition:
        """Return what was captured, to look at it or to edit it.

        It stays valid when the builder is closed. The body of a conditional node has one also before
        ``begin_building``.

        Raises
        ------
        RuntimeError
            While the builder builds, before it has begun, and for forks.
        """

    def split(self, count: SupportsIndex) -> tuple[GraphBuilder, ...]:
        """Split the capture into builders that go on from here independently.

        Parameters
        ----------
        count : int
            How many, at least 2.

        Returns
        -------
        tuple of GraphBuilder
            The first is this one. ``join`` the others before the end.

        Raises
        ------
        ValueError
            If `count` is less than 2.
        """

    @staticmethod
    def join(*graph_builders: GraphBuilder) -> GraphBuilder:
        """Join builders of one capture: one of them goes on after the work of all.

        Parameters
        ----------
        *graph_builders : GraphBuilder
            At least two.

        Returns
        -------
        GraphBuilder
            The first that is no fork, or else the first of all. The others are closed.

        Raises
        ------
        ValueError
            If there are fewer than two, one is given twice, or they belong to different captures.
        """

    @property
    def is_join_required(self) -> bool:
        """Return whether the builder is a fork, which must be joined before the capture ends."""

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """Make a condition for one conditional node; see ``GraphDefinition.create_condition``.

        Parameters
        ----------
        default_value : int, optional
            The value at the start of each launch. Without it the value stays.

        Returns
        -------
        GraphCondition
            The condition.

        Raises
        ------
        RuntimeError
            If the builder is not building.
        ValueError
            If the value does not fit 32 bits.
        GraphClosedError
            If the builder is closed.
        """

    def if_then(self, condition: GraphCondition) -> GraphBuilder:
        """Add a node that runs its body if a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            As ``create_condition`` makes it.

        Returns
        -------
        GraphBuilder
            Builds the body: capture it between ``begin_building`` and ``end_building``, or edit its
            ``graph_definition``. This builder goes on after the node.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        RuntimeError
            If the builder is not building.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the builder is closed.
        """

    def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, GraphBuilder]:
        """Add a node with two bodies, for a condition that is not 0 and one that is.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        tuple[GraphBuilder, GraphBuilder]
            Builders of the two bodies.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        RuntimeError
            If the builder is not building.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the builder is closed.
        """

    def while_loop(self, condition: GraphCondition) -> GraphBuilder:
        """Add a node that runs its body as long as a condition is not 0; returns the body.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.

        Returns
        -------
        GraphBuilder
            The builder of the body.

        Raises
        ------
        TypeError
            If `condition` is not a GraphCondition.
        RuntimeError
            If the builder is not building.
        CUDAError
            If the condition is used already, or belongs to another graph.
        GraphClosedError
            If the builder is closed.
        """

    def switch(self, condition: GraphCondition, count: SupportsIndex) -> tuple[GraphBuilder, ...]:
        """Add a node that runs the body whose index a condition is; returns the bodies.

        Parameters
        ----------
        condition : GraphCondition
            A condition of this graph.
        count : int
            The number of bodies.

        Returns
        -------
        tuple[GraphBuilder, ...]
            Builders of the bodies.

        Raises
        ------
        ValueError
            If `count` is less than 1.
        """

    def embed(self, child: GraphBuilder | GraphDefinition) -> None:
        """Capture a copy of another graph as one node.

        Parameters
        ----------
        child : GraphBuilder or GraphDefinition
            A builder must have ended.

        Raises
        ------
        TypeError
            If `child` is neither a builder nor a definition.
        ValueError
            If this builder is not building, or the child's has not ended.
        GraphClosedError
            If the builder or the child is closed.
        """

    def callback(self, fn: Callable[[], object], *, user_data: int | bytes | None = None) -> None:
        """Capture a call of a function on the host; see ``GraphNode.callback``.

        Parameters
        ----------
        fn : Callable[[], object]
            The function to call at each launch.
        user_data : int or bytes, optional
            For a C function: its argument.

        Raises
        ------
        TypeError
            If `fn` cannot be called.
        ValueError
            If there is `user_data` for a Python function.
        RuntimeError
            If the builder is not building.
        GraphClosedError
            If the builder is closed.
        """

    def keep_alive(self, obj: object) -> None:
        """Keep an object alive as long as the graph, its copies and executables exist.

        Parameters
        ----------
        obj : object
            Such as a Buffer whose address was captured.

        Raises
        ------
        RuntimeError
            If the builder has no graph: nothing was captured.
        GraphClosedError
            If the builder is closed.
        """

    def __repr__(self) -> str: ...
