# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What a wrong call raises is what its docstring lists under "Raises"."""

import builtins
import inspect
import re

import pytest

import cuprum
import cuprum.graph
import cuprum.system
import cuprum.testing
import cuprum.texture
import cuprum.trace
import cuprum.utils

np = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def given():
    """Return objects that the calls use: open ones, and closed ones whose names say so."""
    device = cuprum.Device()
    device.set_current()
    stream = device.create_stream()

    class Given:
        pass

    found = Given()
    found.device, found.stream = device, stream
    found.buffer = device.allocate(1024, stream=stream)
    found.closed_stream = device.create_stream()
    found.closed_stream.close()
    found.closed_buffer = device.allocate(16, stream=stream)
    found.closed_buffer.close()
    found.context = cuprum.Context.create(device)
    found.closed_context = cuprum.Context.create(device)
    found.closed_context.close()
    found.event = stream.record()
    found.closed_event = stream.record()
    found.closed_event.close()
    found.pool = cuprum.DeviceMemoryResource(device)
    found.definition = cuprum.graph.GraphDefinition()
    found.other_definition = cuprum.graph.GraphDefinition()
    found.closed_definition = cuprum.graph.GraphDefinition()
    found.closed_definition.close()
    found.node = found.definition.empty()
    found.destroyed = found.definition.empty()
    found.destroyed.destroy()
    found.fill = found.definition.memset(found.buffer, 0, 64)
    found.child = found.definition.embed(found.other_definition)
    found.recording = found.definition.record(found.event)
    found.call = found.definition.callback(lambda: None)
    found.graph = found.definition.instantiate()
    found.closed_graph = found.definition.instantiate()
    found.closed_graph.close()
    found.builder = device.create_graph_builder()
    found.layout = cuprum.utils.StridedLayout.dense((2, 3), itemsize=4)
    found.view = cuprum.utils.StridedMemoryView.from_any_interface(
        np.zeros(4, dtype=np.float32), stream_ptr=-1
    )
    yield found
    found.context.close()


# Wrong calls and what each raises, by the name of the callable whose docstring must list it.
CALLS = {
    "Buffer.close": ("ClosedError", lambda o: o.buffer.close(o.closed_stream)),
    "Buffer.set_deallocation_stream": (
        "ClosedError",
        lambda o: o.closed_buffer.set_deallocation_stream(o.stream),
    ),
    "Context.create": ("ValueError", lambda o: cuprum.Context.create(o.device, wait="never")),
    "Context.record": ("ClosedError", lambda o: o.closed_context.record(o.event)),
    "Context.wait": ("ClosedError", lambda o: o.context.wait(o.closed_event)),
    "Context.set_flags": ("TypeError", lambda o: o.context.set_flags(unknown=True)),
    "Context.reset_persisting_l2_cache": (
        "ClosedError",
        lambda o: o.closed_context.reset_persisting_l2_cache(),
    ),
    "Context.as_current": ("ClosedError", lambda o: o.closed_context.as_current().__enter__()),
    "Context.push": ("ClosedError", lambda o: o.closed_context.push()),
    "Device.set_primary_context_flags": (
        "TypeError",
        lambda o: o.device.set_primary_context_flags(unknown=1),
    ),
    "DeviceMemoryResource.from_handle": (
        "ValueError",
        lambda o: cuprum.DeviceMemoryResource.from_handle(o.device, 0),
    ),
    "DeviceMemoryResource.from_allocation_handle": (
        "ValueError",
        lambda o: cuprum.DeviceMemoryResource.from_allocation_handle(o.device, -1),
    ),
    "PinnedMemoryResource.from_allocation_handle": (
        "TypeError",
        lambda o: cuprum.PinnedMemoryResource.from_allocation_handle("file"),
    ),
    "GraphMemoryResource.deallocate": (
        "ValueError",
        lambda o: cuprum.GraphMemoryResource(o.device).deallocate(1, -1, stream=o.stream),
    ),
    "MemoryPool.deallocate": (
        "ClosedError",
        lambda o: o.pool.deallocate(1, 1, stream=o.closed_stream),
    ),
    "MemoryResource.allocate": (
        "TypeError",
        lambda o: cuprum.MemoryResource().allocate(1, stream=o.stream),
    ),
    "MemoryResource.deallocate": (
        "TypeError",
        lambda o: cuprum.MemoryResource().deallocate(1, 1, stream=o.stream),
    ),
    "VirtualMemoryResource.deallocate": (
        "ValueError",
        lambda o: cuprum.VirtualMemoryResource(o.device).deallocate(12345, 16),
    ),
    "Stream.from_handle": ("ValueError", lambda o: cuprum.Stream.from_handle(-1)),
    "Stream.create_graph_builder": (
        "ClosedError",
        lambda o: o.closed_stream.create_graph_builder(),
    ),
    "utils.prefetch_batch": (
        "ValueError",
        lambda o: cuprum.utils.prefetch_batch(o.stream, [o.buffer], o.device),
    ),
    "utils.discard_batch": ("ValueError", lambda o: cuprum.utils.discard_batch(o.stream, [])),
    "utils.discard_prefetch_batch": (
        "TypeError",
        lambda o: cuprum.utils.discard_prefetch_batch(o.stream, 3, o.device),
    ),
    "graph.ChildGraphNode.update": ("GraphError", lambda o: o.child.update(o.definition)),
    "graph.EventRecordNode.update": (
        "GraphClosedError",
        lambda o: o.recording.update(o.closed_event),
    ),
    "graph.HostCallbackNode.update": ("TypeError", lambda o: o.call.update(3)),
    "graph.ExecutableChildGraphNode.update": (
        "CUDAError",
        lambda o: o.graph[o.child].update(o.definition),
    ),
    "graph.ExecutableEventRecordNode.update": (
        "TypeError",
        lambda o: o.graph[o.recording].update(None),
    ),
    "graph.ExecutableHostCallbackNode.update": (
        "ValueError",
        lambda o: o.graph[o.call].update(lambda: None, user_data=3),
    ),
    "graph.ExecutableMemsetNode.update": (
        "OverflowError",
        lambda o: o.graph[o.fill].update(dst=o.buffer, value=300, width=1),
    ),
    "graph.Graph.upload": ("GraphClosedError", lambda o: o.graph.upload(o.closed_stream)),
    "graph.Graph.try_update": (
        "GraphClosedError",
        lambda o: o.closed_graph.try_update(o.definition),
    ),
    "graph.GraphBuilder.debug_dot_print": (
        "RuntimeError",
        lambda o: o.builder.debug_dot_print("graph.dot"),
    ),
    "graph.GraphBuilder.create_condition": ("RuntimeError", lambda o: o.builder.create_condition()),
    "graph.GraphBuilder.if_then": ("RuntimeError", lambda o: o.builder.if_then(None)),
    "graph.GraphBuilder.if_else": ("RuntimeError", lambda o: o.builder.if_else(None)),
    "graph.GraphBuilder.while_loop": ("RuntimeError", lambda o: o.builder.while_loop(None)),
    "graph.GraphBuilder.embed": ("ValueError", lambda o: o.builder.embed(o.definition)),
    "graph.GraphBuilder.callback": ("RuntimeError", lambda o: o.builder.callback(lambda: None)),
    "graph.GraphBuilder.keep_alive": ("RuntimeError", lambda o: o.builder.keep_alive(o.buffer)),
    "graph.GraphDefinition.empty": ("GraphClosedError", lambda o: o.closed_definition.empty()),
    "graph.GraphDefinition.join": ("GraphError", lambda o: o.other_definition.join(o.node)),
    "graph.GraphDefinition.if_then": ("TypeError", lambda o: o.definition.if_then(3)),
    "graph.GraphDefinition.create_condition": (
        "ValueError",
        lambda o: o.definition.create_condition(-1),
    ),
    "graph.GraphDefinition.clone": ("GraphClosedError", lambda o: o.closed_definition.clone()),
    "graph.GraphDefinition.nodes": ("GraphClosedError", lambda o: o.closed_definition.nodes()),
    "graph.GraphDefinition.edges": ("GraphClosedError", lambda o: o.closed_definition.edges()),
    "graph.GraphDefinition.to_dot": ("GraphClosedError", lambda o: o.closed_definition.to_dot()),
    "graph.GraphDefinition.to_text": ("GraphClosedError", lambda o: o.closed_definition.to_text()),
    "graph.GraphDefinition.debug_dot_print": (
        "CUDAError",
        lambda o: o.definition.debug_dot_print("/nonexistent/graph.dot"),
    ),
    "graph.GraphNode.empty": ("GraphClosedError", lambda o: o.destroyed.empty()),
    "graph.GraphNode.join": ("GraphClosedError", lambda o: o.node.join(o.destroyed)),
    "texture.OpaqueArray.from_handle": (
        "ValueError",
        lambda o: cuprum.texture.OpaqueArray.from_handle(0),
    ),
    "texture.ResourceDescriptor.from_opaque_array": (
        "TypeError",
        lambda o: cuprum.texture.ResourceDescriptor.from_opaque_array(None),
    ),
    "texture.ResourceDescriptor.from_mipmapped_array": (
        "TypeError",
        lambda o: cuprum.texture.ResourceDescriptor.from_mipmapped_array(None),
    ),
    "utils.StridedLayout.dense": (
        "ValueError",
        lambda o: cuprum.utils.StridedLayout.dense((-1,), 4),
    ),
    "utils.StridedLayout.dense_like": (
        "ValueError",
        lambda o: cuprum.utils.StridedLayout.dense_like(o.layout, "Q"),
    ),
    "utils.StridedLayout.flattened": ("ValueError", lambda o: o.layout.flattened(9)),
    "utils.StridedLayout.sliced": ("ValueError", lambda o: o.layout.sliced((0, 0, 0))),
    "utils.StridedLayout.max_compatible_itemsize": (
        "ValueError",
        lambda o: o.layout.max_compatible_itemsize(3),
    ),
    "utils.StridedMemoryView.copy_to": ("BufferError", lambda o: o.view.copy_to(3, o.stream)),
    "utils.ProgramCacheResource.get": (
        "TypeError",
        lambda o: cuprum.utils.InMemoryProgramCache().get(3),
    ),
    "utils.ProgramCacheResource.update": (
        "TypeError",
        lambda o: cuprum.utils.InMemoryProgramCache().update({"key": 3}),
    ),
    "DeviceMemoryResource": (
        "ValueError",
        lambda o: cuprum.DeviceMemoryResource(o.device, {"max_size": -1}),
    ),
    "GraphMemoryResource": ("TypeError", lambda o: cuprum.GraphMemoryResource("first")),
    "SynchronousMemoryResource": ("ValueError", lambda o: cuprum.SynchronousMemoryResource(-1)),
    "ManagedMemoryResource": ("TypeError", lambda o: cuprum.ManagedMemoryResource({"unknown": 1})),
    "PinnedMemoryResource": ("ValueError", lambda o: cuprum.PinnedMemoryResource({"numa_id": -3})),
    "graph.GraphDefinition": (
        "ClosedError",
        lambda o: cuprum.graph.GraphDefinition(o.closed_context),
    ),
    "utils.InMemoryProgramCache": (
        "ValueError",
        lambda o: cuprum.utils.InMemoryProgramCache(max_size_bytes=0),
    ),
    "utils.FileStreamProgramCache": (
        "TypeError",
        lambda o: cuprum.utils.FileStreamProgramCache("cache", max_size_bytes="large"),
    ),
    "trace.Timeline.save_svg": (
        "ValueError",
        lambda o: cuprum.trace.Timeline().save_svg("picture.svg", width=3),
    ),
    "testing.fail_call": (
        "ValueError",
        lambda o: cuprum.testing.fail_call("cuNothing").__enter__(),
    ),
}


def documented_exceptions(text):
    """Return the names in the section "Raises" of a docstring."""
    text = inspect.cleandoc(text)
    section = re.search(r"^Raises\n-+\n(.*?)(?=^\w+\n-+$|\Z)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^(\S+)$", section[1], re.MULTILINE) if section else []


def exception_class(name):
    """Return the class of a documented exception."""
    for place in (cuprum, cuprum.system, builtins):
        if hasattr(place, name):
            return getattr(place, name)
    raise AssertionError(f"there is no exception {name}")


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_raises_what_is_documented(name, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = cuprum
    for part in name.split("."):
        function = getattr(function, part)
    expected, call = CALLS[name]
    assert expected in documented_exceptions(function.__doc__)
    with pytest.raises(exception_class(expected)) as raised:
        call(given)
    assert raised.type is exception_class(expected)
