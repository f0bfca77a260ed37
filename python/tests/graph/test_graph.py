# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Executable graphs: launches, updates, switched nodes, options."""

import time

import pytest

import cuprum
from cuprum.graph import GraphCompleteOptions, GraphDefinition


@pytest.fixture
def adding(kernels, one):
    """A function that defines a graph which adds numbers, one node for each."""

    def adding(cell, *numbers):
        graph = GraphDefinition()
        node = graph
        for number in numbers:
            node = node.launch(one, kernels("add"), cell.buffer, number)
        return graph, node

    return adding


def test_launches_repeat_the_work(adding, cell, stream):
    graph = adding(cell, 1, 2)[0].instantiate()
    graph.upload(stream)
    for _ in range(5):
        graph.launch(stream)
    stream.sync()
    assert cell.value == 15
    assert graph.handle != 0
    assert repr(graph).startswith("<Graph handle=0x")


@pytest.mark.parametrize(
    "options",
    [
        None,
        {"auto_free_on_launch": True},
        GraphCompleteOptions(use_node_priority=True),
        {"device_launch": True},
    ],
)
def test_options(adding, cell, run, options):
    graph = adding(cell, 1)[0].instantiate(options)
    run(graph)
    assert cell.value == 1


def test_upload_at_instantiation(adding, cell, run, stream):
    graph = adding(cell, 4)[0].instantiate(GraphCompleteOptions(upload_stream=stream))
    run(graph)
    assert cell.value == 4


def test_a_graph_is_updated_as_a_whole(adding, cells, run):
    a, b = cells(), cells()
    graph = adding(a, 1, 1)[0].instantiate()
    graph.update(adding(b, 5, 6)[0])
    run(graph)
    assert (a.value, b.value) == (0, 11)


def test_another_topology_is_refused_and_explained(adding, cell, run):
    graph = adding(cell, 1)[0].instantiate()
    other = adding(cell, 1, 1)[0]
    result = graph.try_update(other)
    assert not result
    assert not result.is_updated
    assert result.reason == "topology_changed"
    assert result.text
    with pytest.raises(
        cuprum.GraphUpdateError, match=r"Graph update failed: .*TOPOLOGY_CHANGED"
    ) as error:
        graph.update(other)
    assert error.value.result.reason == "topology_changed"
    assert graph.try_update(adding(cell, 7)[0])
    run(graph)
    assert cell.value == 7


def test_another_kind_of_node_is_refused_and_named(adding, cell):
    graph = adding(cell, 1)[0].instantiate()
    other = GraphDefinition()
    node = other.memset(cell.buffer, 0, 4)
    result = graph.try_update(other)
    assert result.reason in ("node_type_changed", "topology_changed")
    assert result.node in (None, node)


def test_one_node_is_updated(adding, cell, kernels, one, run):
    definition, node = adding(cell, 1, 2)
    graph = definition.instantiate()
    view = graph[node]
    assert isinstance(view, cuprum.graph.ExecutableKernelNode)
    assert view.node is node
    view.update(config=one, kernel=kernels("store"), args=(cell.buffer, 40))
    run(graph)
    assert cell.value == 40
    run(definition)
    assert cell.value == 43


def test_nodes_are_switched_off_and_on(adding, cell, run):
    definition, node = adding(cell, 1, 10)
    graph = definition.instantiate()
    view = graph[node]
    assert view.is_enabled
    view.disable()
    assert not graph[node].is_enabled
    run(graph)
    assert cell.value == 1
    view.enable()
    run(graph)
    assert cell.value == 12


def test_every_kind_of_node_is_updated(device, cells, run, kernels, one):
    a, b = cells(), cells()
    calls = []
    first, second = device.create_event(), device.create_event()
    child, replacement = GraphDefinition(), GraphDefinition()
    child.memset(a.buffer, 1, 1)
    replacement.memset(a.buffer, 9, 1)
    definition = GraphDefinition()
    fill = definition.memset(a.buffer, 0, 4)
    inside = fill.embed(child)
    copy = inside.memcpy(b.buffer, a.buffer, 4)
    call = copy.callback(lambda: calls.append("old"))
    record = call.record(first)
    wait = record.wait(first)
    graph = definition.instantiate()
    graph[fill].update(dst=a.buffer, value=b"\x00\x02", width=2)
    graph[inside].update(replacement)
    graph[copy].update(dst=b.buffer, src=a.buffer, size=2)
    graph[call].update(lambda: calls.append("new"))
    graph[record].update(second)
    graph[wait].update(second)
    run(graph)
    assert a.values.tobytes() == b"\x09\x02\x00\x02"
    assert b.values.tobytes() == b"\x09\x02\x00\x00"
    assert calls == ["new"]


def test_a_closed_graph_says_so(adding, cell, stream):
    definition, node = adding(cell, 1)
    graph = definition.instantiate()
    graph.close()
    graph.close()
    assert graph.is_closed
    assert repr(graph) == "<Graph closed>"
    for use in (graph.launch, graph.upload):
        with pytest.raises(cuprum.ClosedError, match="Graph"):
            use(stream)
    with pytest.raises(cuprum.ClosedError):
        graph.update(definition)
    with pytest.raises(ValueError, match="closed"):
        graph[node]


def test_a_closed_stream_is_refused(device, adding, cell):
    graph = adding(cell, 1)[0].instantiate()
    stream = device.create_stream()
    stream.close()
    with pytest.raises(cuprum.ClosedError):
        graph.launch(stream)
    with pytest.raises(TypeError, match="stream is required"):
        graph.launch(None)


def test_nodes_that_cannot_be_named(adding, cell):
    definition, node = adding(cell, 1)
    graph = definition.instantiate()
    with pytest.raises(TypeError, match="node must be a GraphNode, got int"):
        graph[1]
    with pytest.raises(TypeError, match="EmptyNode does not support executable updates"):
        graph[definition.empty()]
    node.destroy()
    with pytest.raises(ValueError, match="no longer valid"):
        graph[node]


def test_a_node_of_another_graph_is_refused(adding, cell, kernels, one, run):
    graph = adding(cell, 1)[0].instantiate()
    _, foreign = adding(cell, 2)
    with pytest.raises(cuprum.CUDAError):
        graph[foreign].update(config=one, kernel=kernels("store"), args=(cell.buffer, 5))
    run(graph)
    assert cell.value == 1


def test_objects_are_made_by_their_factories_alone():
    with pytest.raises(RuntimeError, match=r"GraphDefinition.instantiate\(\)"):
        cuprum.graph.Graph()
    with pytest.raises(RuntimeError, match=r"graph\[node\]"):
        cuprum.graph.ExecutableKernelNode()
    with pytest.raises(TypeError, match="expected GraphBuilder or GraphDefinition for source"):
        GraphDefinition().instantiate().update("no graph")


def test_a_cycle_is_refused():
    graph = GraphDefinition()
    a = graph.empty()
    b = a.empty()

    def close_the_cycle():
        b.succ.add(a)
        graph.instantiate()

    with pytest.raises(cuprum.CUDAError, match=r"(?i)cycle|CUDA_ERROR"):
        close_the_cycle()


def test_two_launches_of_one_executable_do_not_overlap(device, stream):
    active, most = [], []

    def work():
        active.append(None)
        most.append(len(active))
        time.sleep(0.01)
        active.pop()

    definition = GraphDefinition()
    definition.callback(work)
    executable = definition.instantiate()
    other = device.create_stream()
    for _ in range(3):
        executable.launch(stream)
        executable.launch(other)
    stream.sync()
    other.sync()
    other.close()
    assert most == [1] * 6
