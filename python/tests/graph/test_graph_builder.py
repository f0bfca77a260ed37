# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Capture: builders, branches, bodies, and streams that are never left capturing."""

import threading

import numpy as np
import pytest

import cuprum
from cuprum.graph import GraphBuilder, GraphDefinition, capture


def is_capturing(stream):
    """Return whether the driver captures the stream: a query would then end the capture."""
    builder = stream.create_graph_builder()
    return builder.is_building


def test_captured_work_runs_at_launch_only(kernels, one, cell, stream, run):
    builder = stream.create_graph_builder()
    assert not builder.is_building
    assert builder.begin_building() is builder
    assert builder.is_building
    cuprum.launch(builder, one, kernels("add"), cell.buffer, 2)
    cuprum.launch(stream, one, kernels("affine"), cell.buffer, 10, 1)
    assert builder.end_building() is builder
    stream.sync()
    assert cell.value == 0
    run(builder.complete(), times=2)
    assert cell.value == ((2 * 10 + 1) + 2) * 10 + 1
    assert len(builder.graph_definition.nodes()) == 2


def test_a_builder_stands_for_a_stream_everywhere(device, stream, run):
    source = device.allocate(16, stream=stream)
    target = device.allocate(16, stream=stream)
    memory = cuprum.GraphMemoryResource(device)
    with stream.create_graph_builder() as builder:
        assert builder.stream is stream
        assert builder.__cuda_stream__() == (0, stream.handle)
        source.fill(5, stream=builder)
        temporary = memory.allocate(16, stream=builder)
        temporary.copy_from(source, stream=builder)
        target.copy_from(temporary, stream=builder)
        temporary.close(builder)
    run(builder.complete(), times=2)
    result = np.zeros(16, np.uint8)
    target.copy_to_host(result, stream=stream)
    stream.sync()
    assert (result == 5).all()


def test_a_builder_that_does_not_build_is_no_stream(kernels, one, cell, stream):
    builder = stream.create_graph_builder()
    with pytest.raises(RuntimeError):
        cuprum.launch(builder, one, kernels("add"), cell.buffer, 2)
    builder.begin_building().end_building()
    with pytest.raises(RuntimeError):
        cuprum.launch(builder, one, kernels("add"), cell.buffer, 2)
    stream.sync()
    assert cell.value == 0


def test_capture_ends_with_its_body(kernels, one, cell, stream, run):
    with capture(stream, mode="thread_local") as builder:
        cuprum.launch(builder, one, kernels("add"), cell.buffer, 2)
    assert not is_capturing(stream)
    run(builder.complete())
    assert cell.value == 2


def test_an_exception_discards_what_was_captured(kernels, one, cell, stream):
    builders = []

    def build():
        with capture(stream) as builder:
            builders.append(builder)
            cuprum.launch(builder, one, kernels("add"), cell.buffer, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build()
    assert builders.pop().is_closed
    assert not is_capturing(stream)
    cuprum.launch(stream, one, kernels("add"), cell.buffer, 3)
    stream.sync()
    assert cell.value == 3


def test_an_exception_in_a_branch_discards_all(kernels, one, cell, stream):
    def build():
        with capture(stream) as builder:
            _, fork = builder.split(2)
            cuprum.launch(fork, one, kernels("add"), cell.buffer, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build()
    assert not is_capturing(stream)
    stream.sync()


def test_a_fork_left_open_does_not_leave_the_stream_capturing(stream):
    def build():
        with capture(stream) as builder:
            _, fork = builder.split(2)
            fork.callback(lambda: None)

    with pytest.raises((RuntimeError, cuprum.CUDAError)):
        build()
    assert not is_capturing(stream)
    stream.sync()


def test_a_dropped_builder_ends_its_capture(kernels, one, cell, stream):
    builder = stream.create_graph_builder().begin_building()
    cuprum.launch(builder, one, kernels("add"), cell.buffer, 2)
    del builder
    assert not is_capturing(stream)
    stream.sync()


def test_branches_run_in_parallel_and_are_joined(kernels, one, cells, stream, run):
    left, right, after = cells(), cells(), cells()
    with capture(stream) as builder:
        branches = builder.split(3)
        assert branches[0] is builder
        assert [each.is_join_required for each in branches] == [False, True, True]
        cuprum.launch(branches[0], one, kernels("add"), left.buffer, 1)
        cuprum.launch(branches[1], one, kernels("add"), right.buffer, 2)
        joined = GraphBuilder.join(*reversed(branches))
        assert joined is builder
        assert branches[1].is_closed
        cuprum.launch(builder, one, kernels("add"), after.buffer, 4)
    run(builder.complete())
    assert (left.value, right.value, after.value) == (1, 2, 4)
    (last,) = (node for node in builder.graph_definition.nodes() if not node.succ)
    assert len(last.pred) >= 2


def test_a_captured_graph_is_embedded(kernels, one, cell, stream, device, run):
    with capture(device) as child:
        cuprum.launch(child, one, kernels("add"), cell.buffer, 1)
    explicit = GraphDefinition()
    explicit.launch(one, kernels("add"), cell.buffer, 10)
    with capture(stream) as builder:
        builder.embed(child)
        builder.embed(explicit)
    run(builder.complete())
    assert cell.value == 11


def test_captured_callbacks_are_kept(stream, run):
    calls = []
    with capture(stream) as builder:
        builder.callback(lambda: calls.append(1))
    graph = builder.complete()
    builder.close()
    run(graph, times=2)
    assert calls == [1, 1]


def test_the_graph_of_a_builder_is_edited(kernels, one, cell, stream, run):
    with capture(stream) as builder:
        cuprum.launch(builder, one, kernels("add"), cell.buffer, 1)
    definition = builder.graph_definition
    (node,) = definition.nodes()
    node.launch(one, kernels("affine"), cell.buffer, 10, 0)
    graph = builder.complete()
    builder.close()
    assert len(definition.nodes()) == 2
    run(graph)
    assert cell.value == 10


def test_a_graph_is_updated_from_a_builder(kernels, one, cell, stream, run):
    def build(number):
        with capture(stream) as builder:
            cuprum.launch(builder, one, kernels("add"), cell.buffer, number)
        return builder

    graph = build(1).complete()
    graph.update(build(5))
    run(graph)
    assert cell.value == 5


def test_kept_objects_live_as_long_as_the_graph(stream, wait_until):
    import weakref

    class Kept:
        pass

    kept = Kept()
    watcher = weakref.ref(kept)
    with capture(stream) as builder:
        builder.callback(lambda: None)
        builder.keep_alive(kept)
    graph = builder.complete()
    del kept
    builder.close()
    del builder
    assert watcher() is not None
    graph.close()
    wait_until(lambda: watcher() is None)


def test_the_states_of_a_builder(stream):
    builder = stream.create_graph_builder()
    with pytest.raises(RuntimeError, match=r"^Graph has not finished building"):
        builder.complete()
    with pytest.raises(RuntimeError, match="before begin_building"):
        _ = builder.graph_definition
    with pytest.raises(RuntimeError, match="is not building"):
        builder.end_building()
    with pytest.raises(RuntimeError, match="must be building before it can be split"):
        builder.split(2)
    with pytest.raises(RuntimeError, match="needs an active capture"):
        builder.callback(lambda: None)
    builder.begin_building()
    with pytest.raises(RuntimeError, match="already building"):
        builder.begin_building()
    with pytest.raises(RuntimeError, match="capture is in progress"):
        _ = builder.graph_definition
    builder.end_building()
    with pytest.raises(RuntimeError, match="is not building"):
        builder.end_building()
    with pytest.raises(RuntimeError, match=r"^Cannot resume building"):
        builder.begin_building()
    assert "GraphBuilder" in repr(builder)
    builder.close()
    builder.close()
    for use in (
        lambda: builder.is_building,
        lambda: builder.stream,
        lambda: builder.graph_definition,
        builder.begin_building,
        builder.complete,
        builder.__enter__,
    ):
        with pytest.raises(RuntimeError, match=r"^Graph builder has been closed"):
            use()


def test_wrong_arguments_name_themselves(stream, device):
    with pytest.raises(NotImplementedError, match=r"Device.create_graph_builder\(\)"):
        GraphBuilder()
    for mode in ("wild", None, 1):
        with pytest.raises(
            ValueError, match=rf"^Unsupported build mode: {mode!r}, expected 'global'"
        ):
            stream.create_graph_builder().begin_building(mode)
    with capture(stream) as builder:
        with pytest.raises(ValueError, match=r"^Invalid split count: expecting >= 2, got 1"):
            builder.split(1)
        with pytest.raises(ValueError, match="at least two graph builders, got 1"):
            GraphBuilder.join(builder)
        with pytest.raises(TypeError, match="must all be GraphBuilder, got Stream"):
            GraphBuilder.join(builder, stream)
        with pytest.raises(TypeError, match="child must be a GraphBuilder or a GraphDefinition"):
            builder.embed(1)
        with pytest.raises(ValueError, match="Child graph has not finished building"):
            builder.embed(device.create_graph_builder())
        with pytest.raises(TypeError, match=r"condition must be a GraphCondition.*got int"):
            builder.if_then(1)
    with pytest.raises(ValueError, match="Parent graph is not being built"):
        builder.embed(GraphDefinition())


def test_builders_of_other_captures_are_not_joined(stream, device):
    with capture(stream) as builder, capture(device) as foreign:
        with pytest.raises(ValueError, match="builder"):
            GraphBuilder.join(builder, foreign)
        with pytest.raises(ValueError, match="builder"):
            GraphBuilder.join(builder, builder)
        assert builder.is_building
        assert foreign.is_building


def test_a_forbidden_call_invalidates_the_capture(stream, device):
    builder = stream.create_graph_builder().begin_building("global")
    with pytest.raises(cuprum.CUDAError):
        stream.sync()
    with pytest.raises(cuprum.CUDAError):
        _ = builder.is_building
    with pytest.raises(cuprum.CUDAError):
        builder.end_building()
    builder.close()
    stream.sync()
    assert not is_capturing(stream)


@pytest.mark.parametrize(
    ("mode", "is_same_thread", "is_allowed"),
    [
        ("relaxed", True, True),
        ("thread_local", True, False),
        ("thread_local", False, True),
        ("global", True, False),
        ("global", False, False),
    ],
)
def test_modes_say_on_which_threads_calls_are_forbidden(
    device, stream, mode, is_same_thread, is_allowed
):
    resource = cuprum.SynchronousMemoryResource(device)
    failures = []

    def allocate():
        try:
            resource.allocate(64).close()
        except cuprum.CUDAError as error:
            failures.append(error)

    builder = stream.create_graph_builder().begin_building(mode)
    if is_same_thread:
        allocate()
    else:
        thread = threading.Thread(target=allocate)
        thread.start()
        thread.join()
    assert len(failures) == (0 if is_allowed else 1)
    if is_allowed:
        builder.end_building()
    else:
        with pytest.raises(cuprum.CUDAError, match="cuMemAlloc"):
            builder.end_building()
    builder.close()
    stream.sync()


def test_capture_on_another_thread(kernels, one, cell, stream, run):
    made = []

    def build():
        cuprum.Device(0).set_current()
        with capture(stream) as builder:
            cuprum.launch(builder, one, kernels("add"), cell.buffer, 2)
        made.append(builder.complete())

    thread = threading.Thread(target=build)
    thread.start()
    thread.join()
    run(made.pop())
    assert cell.value == 2


def test_host_memory_is_not_captured(device, stream):
    buffer = device.allocate(16, stream=stream)
    with pytest.raises(RuntimeError, match="stream is capturing"), capture(stream) as builder:
        buffer.copy_from_host(np.zeros(16, np.uint8), stream=builder)
    assert not is_capturing(stream)


@pytest.mark.parametrize("wrong", ["x", 0, None])
def test_capture_names_what_is_no_stream(wrong):
    message = r"stream is .*, expected a cuprum.Stream or a Device"
    with pytest.raises(TypeError, match=message), capture(wrong):
        pass
