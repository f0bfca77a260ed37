# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""One rule: whatever of a graph is closed or destroyed raises GraphClosedError."""

import pytest

import cuprum
from cuprum.graph import GraphDefinition


def expect_closed(use, *words):
    with pytest.raises(cuprum.GraphClosedError) as caught:
        use()
    assert isinstance(caught.value, cuprum.ClosedError)
    assert isinstance(caught.value, cuprum.CUDAError)
    # What programs for cuda.core catch.
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value)


def test_closed_definitions():
    graph = GraphDefinition()
    graph.close()
    for use in (graph.nodes, graph.edges, graph.empty, graph.instantiate, graph.clone):
        expect_closed(use, "GraphDefinition", "closed")
    expect_closed(lambda: GraphDefinition().embed(graph), "closed")


def test_closed_executables(device, one, kernels):
    definition = GraphDefinition()
    node = definition.launch(one, kernels("empty"))
    graph = definition.instantiate()
    stream = device.create_stream()
    graph.close()
    expect_closed(lambda: graph.launch(stream), "Graph", "closed")
    expect_closed(lambda: graph.upload(stream), "Graph", "closed")
    expect_closed(lambda: graph.update(definition), "Graph", "closed")
    expect_closed(lambda: graph.flags, "Graph", "closed")
    expect_closed(lambda: graph[node], "executable graph", "closed")


def test_closed_builders(device):
    builder = device.create_graph_builder()
    graph = GraphDefinition().instantiate()
    builder.close()
    for use in (builder.begin_building, builder.end_building, builder.complete):
        expect_closed(use, "Graph builder has been closed")
    expect_closed(lambda: graph.update(builder), "Source graph builder has been closed")


def test_destroyed_nodes(one, kernels):
    definition = GraphDefinition()
    node = definition.launch(one, kernels("empty"))
    graph = definition.instantiate()
    node.destroy()
    expect_closed(node.empty, "destroyed")
    expect_closed(lambda: definition.join(node), "destroyed")
    expect_closed(lambda: graph[node], "destroyed")


def test_closed_buffers(device):
    graph = GraphDefinition()
    buffer = device.allocate(64, stream=device.create_stream())
    buffer.close()
    expect_closed(lambda: graph.memset(buffer, 0, 4), "Buffer", "closed")
    expect_closed(lambda: graph.memcpy(64, buffer, 4), "Buffer", "closed")
    assert graph.nodes() == set()
