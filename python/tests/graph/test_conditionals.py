# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Conditional nodes: which body runs, how often, and what they say about themselves."""

import pytest

import cuprum
from cuprum import graph as graphs
from cuprum.graph import GraphDefinition, capture


@pytest.fixture(autouse=True)
def _has_conditionals(device):
    if device.compute_capability < (9, 0):
        pytest.skip("conditional nodes need compute capability 9.0")


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (1, 5), (7, 5)])
def test_if_then(kernels, one, cell, run, value, expected):
    graph = GraphDefinition()
    condition = graph.create_condition()
    node = graph.launch(one, kernels("set_condition"), condition, value).if_then(condition)
    node.then.launch(one, kernels("add"), cell.buffer, 5)
    run(graph)
    assert cell.value == expected
    assert isinstance(node, graphs.IfNode)
    assert node.condition == condition
    assert node.cond_type == "if"
    assert node.branches == (node.then,)


@pytest.mark.parametrize(("value", "expected"), [(0, 7), (1, 5)])
def test_if_else(kernels, one, cell, run, value, expected):
    graph = GraphDefinition()
    condition = graph.create_condition(default_value=value)
    node = graph.if_else(condition)
    node.then.launch(one, kernels("add"), cell.buffer, 5)
    node.else_.launch(one, kernels("add"), cell.buffer, 7)
    run(graph)
    assert cell.value == expected


@pytest.mark.parametrize(("value", "expected"), [(0, 1), (2, 3), (3, 0), (99, 0)])
def test_switch(kernels, one, cell, run, value, expected):
    graph = GraphDefinition()
    node = graph.switch(graph.create_condition(value), 3)
    assert node.cond_type == "switch"
    for number, branch in enumerate(node.branches, start=1):
        branch.launch(one, kernels("add"), cell.buffer, number)
    run(graph)
    assert cell.value == expected


def test_a_loop_runs_until_its_condition_is_0(kernels, one, cells, run):
    left, rounds = cells(), cells()
    graph = GraphDefinition()
    again = graph.create_condition(default_value=1)
    loop = graph.while_loop(again)
    added = loop.body.launch(one, kernels("add"), rounds.buffer, 1)
    added.launch(one, kernels("count_down"), again, left.buffer)
    left.value = 6
    run(graph)
    assert (left.value, rounds.value) == (0, 6)
    assert loop.body.nodes() >= {added}
    assert "WhileNode" in repr(loop)


def test_a_condition_without_rounds(kernels, one, cell, run):
    graph = GraphDefinition()
    loop = graph.while_loop(graph.create_condition(0))
    loop.body.launch(one, kernels("add"), cell.buffer, 1)
    run(graph)
    assert cell.value == 0


def test_loops_in_loops(kernels, one, cells, run):
    outer_left, inner_left, total = cells(), cells(), cells()
    graph = GraphDefinition()
    outer = graph.create_condition(1)
    body = graph.while_loop(outer).body
    inner = body.create_condition()
    start = body.launch(one, kernels("store"), inner_left.buffer, 3)
    # The default value of a condition holds for the start of a launch, not of a round.
    loop = start.launch(one, kernels("set_condition"), inner, 1).while_loop(inner)
    added = loop.body.launch(one, kernels("add"), total.buffer, 1)
    added.launch(one, kernels("count_down"), inner, inner_left.buffer)
    loop.launch(one, kernels("count_down"), outer, outer_left.buffer)
    outer_left.value = 4
    run(graph)
    assert total.value == 12


def test_captured_bodies(kernels, one, cells, stream, run):
    a, b, left = cells(), cells(), cells()
    left.value = 5
    with capture(stream) as builder:
        condition = builder.create_condition(default_value=0)
        cuprum.launch(builder, one, kernels("set_condition"), condition, 1)
        then, other = builder.if_else(condition)
        with then:
            cuprum.launch(then, one, kernels("add"), a.buffer, 10)
        with other:
            cuprum.launch(other, one, kernels("add"), a.buffer, 1000)
        again = builder.create_condition(default_value=1)
        with builder.while_loop(again) as body:
            cuprum.launch(body, one, kernels("add"), b.buffer, 1)
            cuprum.launch(body, one, kernels("count_down"), again, left.buffer)
        chosen = builder.switch(builder.create_condition(1), 2)
        chosen[1].graph_definition.launch(one, kernels("add"), a.buffer, 3)
    run(builder.complete())
    assert (a.value, b.value) == (13, 5)


def test_an_exception_in_a_body_ends_both_captures(kernels, one, cell, stream):
    def build():
        with capture(stream) as builder, builder.if_then(builder.create_condition(1)) as body:
            cuprum.launch(body, one, kernels("add"), cell.buffer, 10)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build()
    stream.sync()
    assert cell.value == 0


def test_bodies_outlive_the_objects_of_their_graph(kernels, one, cell, run):
    graph = GraphDefinition()
    body = graph.if_then(graph.create_condition(1)).then
    del graph
    body.launch(one, kernels("add"), cell.buffer, 1)
    assert len(body.nodes()) == 1


def test_conditions_are_values():
    graph = GraphDefinition()
    condition = graph.create_condition()
    assert condition == condition
    assert condition != graph.create_condition()
    assert condition != 1
    assert hash(condition) == hash(condition.handle)
    assert repr(condition) == f"<GraphCondition handle={condition.handle:#x}>"


def test_wrong_conditions():
    graph = GraphDefinition()
    for add in (graph.if_then, graph.if_else, graph.while_loop):
        with pytest.raises(TypeError, match=r"condition must be a GraphCondition.*got int"):
            add(1)
    with pytest.raises(cuprum.CUDAError):
        graph.if_then(GraphDefinition().create_condition())
    with pytest.raises(cuprum.CUDAError):
        graph.switch(graph.create_condition(), 0)
    with pytest.raises(OverflowError, match="default_value must be from 0"):
        graph.create_condition(1 << 32)
    with pytest.raises(OverflowError, match="count must be from 0"):
        graph.switch(graph.create_condition(), (1 << 32) + 1)
    with pytest.raises(ValueError, match="default_value must be at least 0"):
        graph.create_condition(-1)
    assert graph.nodes() == set()
