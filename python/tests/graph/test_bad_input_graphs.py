# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Wrong arguments: the error names the argument and its value, and the graph stays as it was."""

import ctypes
import re

import pytest
from bad_input import addresses, integers

import cuprum
from cuprum.graph import GraphDefinition


@pytest.fixture
def graph():
    graph = GraphDefinition()
    yield graph
    assert graph.nodes() == set()
    graph.close()


SIZES = [
    ("allocate size", lambda graph, value: graph.allocate(value), "size"),
    ("memcpy size", lambda graph, value: graph.memcpy(64, 64, value), "size"),
    ("memset width", lambda graph, value: graph.memset(64, 0, value), "width"),
    ("memset height", lambda graph, value: graph.memset(64, 0, 4, value), "height"),
    ("memset pitch", lambda graph, value: graph.memset(64, 0, 4, 2, value), "pitch"),
]


@pytest.mark.parametrize(
    ("call", "value", "error", "text"),
    [
        pytest.param(call, value, error, text, id=f"{label} {type(value).__name__} {i}")
        for label, call, name in SIZES
        for i, (value, error, text) in enumerate(integers(name))
    ],
)
def test_sizes(graph, call, value, error, text):
    with pytest.raises(error, match=re.escape(text) or None):
        call(graph, value)


ADDRESSES = [
    ("memset dst", lambda graph, value: graph.memset(value, 0, 4), "dst"),
    ("memcpy dst", lambda graph, value: graph.memcpy(value, 64, 4), "dst"),
    ("memcpy src", lambda graph, value: graph.memcpy(64, value, 4), "src"),
    ("deallocate dptr", lambda graph, value: graph.deallocate(value), "dptr"),
]


@pytest.mark.parametrize(
    ("call", "value", "error", "text"),
    [
        pytest.param(call, value, error, text, id=f"{label} {type(value).__name__} {i}")
        for label, call, name in ADDRESSES
        for i, (value, error, text) in enumerate(addresses(name))
    ],
)
def test_addresses(graph, call, value, error, text):
    with pytest.raises(error, match=re.escape(text) or None):
        call(graph, value)


def test_memory_and_owners(graph, device, stream):
    buffer = device.allocate(16, stream=stream)
    with pytest.raises(ValueError, match="dst_owner cannot be used when dst is a Buffer"):
        graph.memset(buffer, 0, 4, dst_owner=1)
    with pytest.raises(ValueError, match="src_owner cannot be used when src is a Buffer"):
        graph.memcpy(buffer, buffer, 4, src_owner=1)
    with pytest.raises(cuprum.GraphError, match="17"):
        graph.memset(buffer, 0, 17)
    with pytest.raises(cuprum.GraphError, match="17"):
        graph.memcpy(buffer, 64, 17)
    buffer.close()
    with pytest.raises(ValueError, match="dst Buffer has no active allocation"):
        graph.memset(buffer, 0, 4)
    with pytest.raises(ValueError, match="dst_owner Buffer has no active allocation"):
        graph.memset(64, 0, 4, dst_owner=buffer)


@pytest.mark.parametrize("value", [256, -1])
def test_values_of_fills(graph, cell, value):
    with pytest.raises((OverflowError, ValueError), match=str(value)):
        graph.memset(cell.buffer, value, 4)
    with pytest.raises(ValueError, match="3"):
        graph.memset(cell.buffer, b"abc", 1)


def test_kinds_and_devices_of_memory(graph):
    with pytest.raises(ValueError, match=r"'wild' is not a valid GraphMemoryType\. Must be one of"):
        graph.allocate(16, memory_type="wild")
    with pytest.raises(TypeError, match="device must be an integer, got str"):
        graph.allocate(16, device="0")
    with pytest.raises(ValueError, match="99"):
        graph.allocate(16, device=99)
    with pytest.raises(TypeError, match="peer_access must be an integer, got str"):
        graph.allocate(16, peer_access=["0"])


def test_kernels_and_arguments(graph, kernels, one, cell):
    with pytest.raises(TypeError, match="kernel must be a Kernel, got str"):
        graph.launch(one, "add")
    with pytest.raises(TypeError, match="config must be a LaunchConfig or a dict, got int"):
        graph.launch(1, kernels("empty"))
    with pytest.raises(TypeError, match="takes 2 arguments, 1 given"):
        graph.launch(one, kernels("add"), cell.buffer)
    with pytest.raises(TypeError, match="index 0 is of unsupported type object"):
        graph.launch(one, kernels("add"), object(), 1)
    with pytest.raises(OverflowError, match="index 1"):
        graph.launch(one, kernels("add"), cell.buffer, 1 << 40)
    with pytest.raises(TypeError, match="'kernel'"):
        graph.launch(one)
    with pytest.raises(TypeError, match="'wrong'"):
        graph.launch(one, kernel=kernels("empty"), wrong=1)


def test_updates_of_kernels(kernels, one, cell, run):
    graph = GraphDefinition()
    node = graph.launch(one, kernels("store"), cell.buffer, 3)
    with pytest.raises(ValueError, match="changing kernel requires args"):
        node.update(kernel=kernels("empty"))
    with pytest.raises(TypeError, match="args must be a sequence of kernel arguments, got int"):
        node.update(args=1)
    with pytest.raises(TypeError, match="positional"):
        node.update(one)
    node.update()
    view = graph.instantiate()[node]
    with pytest.raises(TypeError, match="'kernel'"):
        view.update(config=one, args=())
    run(graph)
    assert cell.value == 3


def test_functions(graph):
    with pytest.raises(TypeError, match="callback must be callable without arguments, got int"):
        graph.callback(1)
    with pytest.raises(ValueError, match="user_data is only supported with ctypes"):
        graph.callback(print, user_data=b"text")
    for prototype in (
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p),
        ctypes.CFUNCTYPE(None, ctypes.c_int),
        ctypes.CFUNCTYPE(None),
    ):
        with pytest.raises(TypeError, match="the driver calls a CUhostFn"):
            graph.callback(prototype(lambda *_: 0))
    good = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    with pytest.raises(ValueError, match="null pointer"):
        graph.callback(good(0))
    with pytest.raises(TypeError, match="user_data must be an integer, got str"):
        graph.callback(good(lambda _: None), user_data="text")


def test_events_and_children(graph, device):
    for add in (graph.record, graph.wait):
        with pytest.raises(TypeError, match="event must be an Event, got int"):
            add(1)
        event = device.create_event()
        event.close()
        with pytest.raises(cuprum.ClosedError):
            add(event)
    with pytest.raises(TypeError, match="child must be a GraphDefinition, got int"):
        graph.embed(1)
    with pytest.raises(TypeError, match="nodes must be a GraphNode, got int"):
        graph.join(1)


def test_nodes_of_other_graphs():
    graph, other = GraphDefinition(), GraphDefinition()
    node, foreign = graph.empty(), other.empty()
    for use in (
        lambda: node.join(foreign),
        lambda: node.succ.add(foreign),
        lambda: node.pred.add(foreign),
        lambda: node.succ.add(node),
    ):
        with pytest.raises(cuprum.CUDAError):
            use()
    with pytest.raises(TypeError, match="expected a GraphNode, got str"):
        node.succ.add("node")
    assert graph.nodes() == {node}
    assert graph.edges() == set()


def test_memory_is_freed_once():
    graph = GraphDefinition()
    memory = graph.allocate(16)
    freed = memory.deallocate(memory)
    with pytest.raises(cuprum.CUDAError):
        freed.deallocate(memory.dptr)
    assert graph.nodes() == {memory, freed}


def test_a_context_is_a_context_or_a_device():
    with pytest.raises(TypeError, match="context must be an integer, got str"):
        GraphDefinition("0")
    with pytest.raises(ValueError, match="99"):
        GraphDefinition(99)
