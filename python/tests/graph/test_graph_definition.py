# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Definitions: nodes, edges, what nodes say about themselves, and what running them does."""

import ctypes

import numpy as np
import pytest

import cuprum
from cuprum import graph as graphs
from cuprum.graph import GraphDefinition


def test_work_runs_in_the_order_of_the_edges(kernels, one, cell, run):
    graph = GraphDefinition()
    first = graph.launch(one, kernels("affine"), cell.buffer, 3, 1)
    first.launch(one, kernels("affine"), cell.buffer, 5, 2)
    cell.value = 1
    run(graph)
    assert cell.value == (1 * 3 + 1) * 5 + 2


def test_a_join_waits_for_all(kernels, one, cells, run):
    left, right, both = cells(), cells(), cells()
    graph = GraphDefinition()
    a = graph.launch(one, kernels("store"), left.buffer, 3)
    b = graph.launch(one, kernels("store"), right.buffer, 4)
    joined = a.join(b)
    c = joined.memcpy(both.buffer, left.buffer, 4)
    c.launch(one, kernels("add"), both.buffer, 10)
    run(graph)
    assert (left.value, right.value, both.value) == (3, 4, 13)
    assert set(joined.pred) == {a, b}
    assert isinstance(joined, graphs.EmptyNode)


@pytest.mark.parametrize(
    ("value", "size", "pattern"),
    [(0xAB, 1, b"\xab"), (b"\x01\x02", 2, b"\x01\x02"), (np.uint32(7), 4, b"\7\0\0\0")],
)
def test_a_fill_writes_its_pattern(cells, run, value, size, pattern):
    cell = cells(4)
    graph = GraphDefinition()
    node = graph.memset(cell.buffer, value, 16 // size)
    run(graph)
    assert cell.values.tobytes() == pattern * (16 // size)
    assert (node.element_size, node.width, node.height) == (size, 16 // size, 1)
    assert node.value == int.from_bytes(pattern, "little")
    assert node.dptr == cell.buffer.handle


def test_rows_of_a_fill_leave_gaps(cells, run):
    cell = cells(4)
    graph = GraphDefinition()
    node = graph.memset(cell.buffer, 1, 4, height=2, pitch=8)
    run(graph)
    assert cell.values.tolist() == [0x01010101, 0, 0x01010101, 0]
    assert (node.height, node.pitch) == (2, 8)


def test_memory_of_a_graph_has_one_address(kernels, one, cell, run):
    graph = GraphDefinition()
    memory = graph.allocate(4)
    filled = memory.memset(memory, 0, 4)
    added = filled.launch(one, kernels("add"), memory, 5)
    copied = added.memcpy(cell.buffer, memory, 4)
    freed = copied.deallocate(memory)
    run(graph, times=3)
    assert cell.value == 5
    assert freed.dptr == memory.dptr != 0
    assert (memory.bytesize, memory.device_id, memory.peer_access) == (4, 0, ())
    assert memory.memory_type == "device"


def test_a_child_graph_is_a_copy(kernels, one, cell, run):
    child = GraphDefinition()
    child.launch(one, kernels("add"), cell.buffer, 1)
    graph = GraphDefinition()
    node = graph.embed(child)
    child.launch(one, kernels("add"), cell.buffer, 100)
    assert len(node.child_graph.nodes()) == 1
    assert node.child_graph == node.child_graph
    run(graph)
    assert cell.value == 1


def test_an_event_is_recorded_and_awaited(device, run):
    event = device.create_event()
    graph = GraphDefinition()
    recorded = graph.record(event)
    awaited = recorded.wait(event)
    assert recorded.event == awaited.event == event
    run(graph)
    assert event.is_done


def test_callbacks_run_in_order_at_every_launch(run):
    calls = []
    graph = GraphDefinition()
    first = graph.callback(lambda: calls.append("first"))
    first.empty().callback(lambda: calls.append("second"))
    run(graph, times=2)
    assert calls == ["first", "second"] * 2


def test_a_c_function_gets_its_data(run):
    seen = []
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    @prototype
    def read(data):
        seen.append(ctypes.string_at(data, 3) if data else None)

    kept = ctypes.create_string_buffer(b"own")
    graph = GraphDefinition()
    node = graph.callback(read, user_data=b"abc")
    node = node.empty().callback(read, user_data=ctypes.addressof(kept))
    node = node.empty().callback(read)
    assert node.callback is None
    run(graph)
    assert seen == [b"abc", b"own", None]


def test_nodes_are_the_same_objects_wherever_they_come_from():
    graph = GraphDefinition()
    a = graph.empty()
    b = a.empty()
    assert graph.nodes() == {a, b}
    assert all(any(found is node for found in graph.nodes()) for node in (a, b))
    ((before, after),) = graph.edges()
    assert before is a
    assert after is b
    assert next(iter(a.succ)) is b
    assert next(iter(b.pred)) is a
    assert a.graph == graph
    assert hash(a.graph) == hash(graph)
    assert a != b
    assert a != 1


def test_a_node_keeps_its_graph(kernels, one, cell, run):
    node = GraphDefinition().launch(one, kernels("store"), cell.buffer, 7)
    run(node.graph)
    assert cell.value == 7


def test_edges_are_a_live_set():
    graph = GraphDefinition()
    hub, a, b, c = (graph.empty() for _ in range(4))
    succ = hub.succ
    succ |= {a, b}
    assert succ == {a, b}
    assert hub in a.pred
    succ.discard(a)
    succ.discard(c)
    assert succ == {b}
    succ ^= {b, c}
    assert set(hub.succ) == {c}
    hub.pred = [a, b]
    assert graph.edges() == {(a, hub), (b, hub), (hub, c)}
    hub.pred = {b}
    assert hub.pred == {b}
    succ.clear()
    assert len(succ) == 0
    assert "EmptyNode" in repr(hub.pred)


def test_a_refused_edge_changes_nothing():
    graph, other = GraphDefinition(), GraphDefinition()
    node, before = graph.empty(), graph.empty()
    node.pred = {before}
    with pytest.raises(cuprum.CUDAError):
        node.pred = {other.empty()}
    assert node.pred == {before}


def test_many_edges_and_nodes():
    graph = GraphDefinition()
    nodes = [graph.empty() for _ in range(150)]
    nodes[0].succ.update(nodes[1:])
    assert graph.nodes() == set(nodes)
    assert graph.edges() == {(nodes[0], node) for node in nodes[1:]}


def test_a_destroyed_node_is_known_as_such(cell):
    graph = GraphDefinition()
    first = graph.memset(cell.buffer, 0, 4)
    node = first.memset(cell.buffer, 42, 4)
    node.destroy()
    node.destroy()
    assert not node.is_valid
    assert node.handle is None
    assert node.type is None
    assert graph.nodes() == {first}
    assert node.pred == node.succ == set()
    assert (node.dptr, node.value, node.width) == (cell.buffer.handle, 42, 4)
    assert repr(node) == "<MemsetNode destroyed>"
    with pytest.raises(cuprum.GraphClosedError, match="destroyed"):
        node.update(value=1)
    with pytest.raises(cuprum.CUDAError, match="destroyed"):
        node.empty()
    with pytest.raises(cuprum.CUDAError, match="destroyed"):
        first.succ.add(node)


def test_destroying_a_node_invalidates_what_is_inside():
    inner = GraphDefinition()
    inner.callback(lambda: None)
    graph = GraphDefinition()
    owner = graph.embed(inner)
    child = owner.child_graph
    (node,) = child.nodes()
    kept = hash(child)
    owner.destroy()
    assert not node.is_valid
    assert hash(child) == kept
    assert "destroyed" in repr(child)
    with pytest.raises(cuprum.ClosedError):
        child.nodes()


def test_a_clone_changes_on_its_own(kernels, one, cell, run):
    graph = GraphDefinition()
    graph.launch(one, kernels("add"), cell.buffer, 1)
    clone = graph.clone()
    clone.launch(one, kernels("add"), cell.buffer, 10)
    assert clone != graph
    assert (len(graph.nodes()), len(clone.nodes())) == (1, 2)
    run(graph)
    assert cell.value == 1
    run(clone)
    assert cell.value == 12


def test_a_kernel_node_says_what_it_does(kernels, cell):
    config = cuprum.LaunchConfig(grid=(2, 3), block=(32, 2), shmem_size=64)
    kernel = kernels("affine")
    node = GraphDefinition().launch(config, kernel, cell.buffer, -2, 7)
    assert (node.grid, node.block, node.shmem_size) == ((2, 3, 1), (32, 2, 1), 64)
    assert node.kernel == kernel
    assert node.config == config
    assert node.argument_bytes(1) == (-2).to_bytes(4, "little", signed=True)
    with pytest.raises(IndexError):
        node.argument_bytes(3)
    assert node.type == "kernel"
    assert repr(node).startswith("<KernelNode handle=0x")


def test_a_kernel_node_is_updated_in_parts(kernels, one, cell, run):
    graph = GraphDefinition()
    node = graph.launch(one, kernels("store"), cell.buffer, 1)
    old = graph.instantiate()
    node.update(args=(cell.buffer, 2))
    run(graph)
    assert cell.value == 2
    node.update(kernel=kernels("extents"), args=[cell.buffer])
    node.update(config={"grid": 4, "block": 8})
    run(graph)
    assert cell.value == 4008
    run(old)
    assert cell.value == 1


def test_copies_and_fills_are_updated_in_parts(cells, run):
    a, b, c = cells(), cells(), cells()
    graph = GraphDefinition()
    fill = graph.memset(a.buffer, 1, 4)
    copy = fill.memcpy(b.buffer, a.buffer, 4)
    fill.update(value=b"\x02\x00\x00\x00", width=1)
    copy.update(dst=c.buffer)
    run(graph)
    assert (a.value, b.value, c.value) == (2, 0, 2)
    assert (copy.dst, copy.src, copy.size) == (c.buffer.handle, a.buffer.handle, 4)
    assert copy.extent == (4, 1, 1)


def test_clusters_and_cooperative_launches_are_nodes(device, kernels, cell, run):
    if device.compute_capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    config = cuprum.LaunchConfig(grid=2, cluster=2, block=1)
    graph = GraphDefinition()
    node = graph.launch(config, kernels("cluster_size"), cell.buffer)
    assert node.config.cluster == (2, 1, 1)
    cooperative = node.launch({"grid": 1, "block": 1, "is_cooperative": True}, kernels("empty"))
    assert cooperative.config.is_cooperative
    run(graph)
    assert cell.value == 2


def test_attributes_of_kernel_nodes(kernels, one):
    priority = 8  # CU_LAUNCH_ATTRIBUTE_PRIORITY
    graph = GraphDefinition()
    node = graph.launch(one, kernels("empty"))
    node.set_attribute(priority, (-1).to_bytes(4, "little", signed=True))
    assert node.attribute(priority)[:4] == b"\xff" * 4
    other = graph.launch(one, kernels("empty"))
    other.copy_attributes_from(node)
    assert other.attribute(priority)[:4] == b"\xff" * 4
    with pytest.raises(ValueError, match="65 bytes, expected at most 64"):
        node.set_attribute(priority, bytes(65))


def test_nodes_run_on_the_named_device(run):
    device = cuprum.Device.get_all_devices()[-1]
    memory = device.allocate(4, stream=(stream := device.create_stream()))
    graph = GraphDefinition(device)
    graph.memset(memory, 3, 4)
    graph.instantiate().launch(stream)
    result = np.zeros(1, np.int32)
    memory.copy_to_host(result, stream=stream)
    stream.sync()
    assert result[0] == 0x03030303


def test_a_closed_definition_leaves_its_nodes(cell, run):
    graph = GraphDefinition()
    node = graph.memset(cell.buffer, 1, 4)
    graph.close()
    graph.close()
    assert graph.is_closed
    assert repr(graph) == "<GraphDefinition closed>"
    with pytest.raises(cuprum.ClosedError):
        graph.nodes()
    run(node.graph)
    assert cell.value == 0x01010101


def test_a_type_is_a_string():
    assert graphs.GraphDefinition().empty().type == "empty"
    assert cuprum.typing.GraphNodeType.MEM_ALLOC == "mem_alloc"
