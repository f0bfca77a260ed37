# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What graphs keep alive, until when, and on which thread it is released."""

import contextlib
import gc
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import cuprum
from cuprum._cuprum import WeakHandle
from cuprum.graph import GraphDefinition, capture
from cuprum.testing import fail_call

NEVER = 10**9  # the nth call that does not come: such a fault only counts


class Callback:
    """A callback that can be watched, and notes the thread it is released on."""

    def __init__(self, released=None):
        self.calls = 0
        self.released = released

    def __call__(self):
        self.calls += 1

    def __del__(self):
        if self.released is not None:
            self.released.append(threading.get_ident())


def test_a_callback_lives_as_long_as_anything_can_call_it(stream, wait_until):
    graph = GraphDefinition()
    callback = Callback()
    watcher = weakref.ref(callback)
    node = graph.callback(callback)
    assert node.callback is callback
    clone = graph.clone()
    executable = clone.instantiate()
    del callback
    node.destroy()
    del node, graph, clone
    gc.collect()
    assert watcher() is not None
    executable.launch(stream)
    stream.sync()
    assert watcher().calls == 1
    del executable
    wait_until(lambda: watcher() is None)


def test_callbacks_are_released_on_the_main_thread(wait_until):
    released = []
    graphs = [GraphDefinition() for _ in range(64)]
    for graph in graphs:
        graph.callback(Callback(released))
    del graph
    thread = threading.Thread(target=graphs.clear)
    thread.start()
    thread.join()
    wait_until(lambda: len(released) == 64)
    assert set(released) == {threading.main_thread().ident}


def test_arguments_live_as_long_as_the_kernel_may_run(kernels, one, cell, stream, wait_until):
    class Array:
        """An array of another library."""

        def __init__(self, buffer):
            self.buffer = buffer

        def __dlpack_device__(self):
            return self.buffer.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.buffer.__dlpack__(**options)

    array = Array(cell.buffer)
    watcher = weakref.ref(array)
    executable = GraphDefinition().launch(one, kernels("add"), array, 2).graph.instantiate()
    del array
    gc.collect()
    assert watcher() is not None
    executable.launch(stream)
    stream.sync()
    assert cell.value == 2
    executable.close()
    wait_until(lambda: watcher() is None)


def test_memory_outlives_its_buffer(device, stream, wait_until):
    buffer = device.allocate(4, stream=stream)
    memory = WeakHandle(buffer)
    result = cuprum.LegacyPinnedMemoryResource().allocate(4)
    graph = GraphDefinition()
    graph.memset(buffer, 7, 4).memcpy(result, buffer, 4)
    executable = graph.instantiate()
    del graph
    buffer.close()
    assert memory
    executable.launch(stream)
    stream.sync()
    assert np.from_dlpack(result).tolist() == [7] * 4
    executable.close()
    wait_until(lambda: not memory)
    result.close()


def test_an_owner_of_an_address_is_kept(cell, wait_until):
    class Owner:
        pass

    owner = Owner()
    watcher = weakref.ref(owner)
    graph = GraphDefinition()
    node = graph.memset(cell.buffer.handle, 1, 4, dst_owner=owner)
    del owner
    assert watcher() is not None
    node.update(value=2)
    gc.collect()
    assert watcher() is not None
    node.update(dst=cell.buffer)
    wait_until(lambda: watcher() is None)


def test_a_refused_update_keeps_the_old_owner_alone(kernels, one, cell, run, wait_until):
    graph = GraphDefinition()
    old, new = Callback(), Callback()
    node = graph.callback(old)
    with fail_call("cuGraphHostNodeSetParams") as fault, pytest.raises(cuprum.CUDAError):
        node.update(new)
    assert fault.failed_call
    watcher = weakref.ref(new)
    del new
    wait_until(lambda: watcher() is None)
    assert node.callback is old
    run(graph)
    assert old.calls == 1


def test_what_an_update_brought_lives_with_the_executable(stream, wait_until):
    graph = GraphDefinition()
    node = graph.callback(Callback())
    executable = graph.instantiate()
    callback = Callback()
    watcher = weakref.ref(callback)
    executable[node].update(callback)
    del callback, node, graph
    gc.collect()
    executable.launch(stream)
    stream.sync()
    assert watcher().calls == 1
    replacement = GraphDefinition()
    replacement.callback(Callback())
    executable.update(replacement)
    wait_until(lambda: watcher() is None)


def test_a_graph_closed_while_it_runs_completes(stream, wait_until):
    started, go_on = threading.Event(), threading.Event()
    last = Callback()
    watcher = weakref.ref(last)

    def block():
        started.set()
        assert go_on.wait(30)

    graph = GraphDefinition()
    graph.callback(block).empty().callback(last)
    executable = graph.instantiate()
    del graph
    executable.launch(stream)
    assert started.wait(30)
    del last
    closing = threading.Thread(target=executable.close)
    closing.start()
    gc.collect()
    assert watcher() is not None
    go_on.set()
    stream.sync()
    closing.join(30)
    assert not closing.is_alive()
    wait_until(lambda: watcher() is None)


def test_captured_memory_of_python_resources_outlives_them(device, stream, run, wait_until):
    class Resource(cuprum.MemoryResource):
        """A resource that notes what it frees."""

        def __init__(self, freed):
            self.pool = device.memory_resource
            self.freed = freed

        def allocate(self, size, *, stream):
            memory = self.pool.allocate(size, stream=stream)
            self.memory = memory
            return cuprum.Buffer.from_handle(memory.handle, size, mr=self)

        def deallocate(self, ptr, size, *, stream):
            self.freed.append(size)
            self.memory.close(stream)

        is_device_accessible = property(lambda self: True)
        is_host_accessible = property(lambda self: False)
        device_id = property(lambda self: 0)

    freed = []
    buffer = Resource(freed).allocate(16, stream=stream)
    result = cuprum.LegacyPinnedMemoryResource().allocate(16)
    with capture(stream) as builder:
        buffer.fill(3, stream=builder)
        result.copy_from(buffer, stream=builder)
    graph = builder.complete()
    builder.close()
    del buffer, builder
    gc.collect()
    assert freed == []
    run(graph)
    assert np.from_dlpack(result).tolist() == [3] * 16
    graph.close()
    wait_until(lambda: freed == [16])
    result.close()


def test_captured_arguments_are_kept(device, kernels, one, stream, run, wait_until):
    buffer = device.allocate(4, stream=stream)
    memory = WeakHandle(buffer)
    with capture(stream) as builder:
        cuprum.launch(builder, one, kernels("store"), buffer, 1)
    graph = builder.complete()
    builder.close()
    buffer.close()
    del builder
    assert memory
    run(graph)
    del buffer
    graph.close()
    wait_until(lambda: not memory)


def test_an_exception_in_a_callback_is_reported(monkeypatch, run):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(report.exc_type))
    after = Callback()

    def fail():
        raise ZeroDivisionError

    graph = GraphDefinition()
    graph.callback(fail).empty().callback(after)
    run(graph)
    assert reports == [ZeroDivisionError]
    assert after.calls == 1


def test_memory_dropped_in_a_callback_is_freed_later(device, stream, run):
    held = [device.allocate(64, stream=stream)]
    memory = WeakHandle(held[0])
    graph = GraphDefinition()
    graph.callback(held.clear)
    run(graph)
    device.sync()
    assert not memory


CALLS = (
    "cuGraphCreate",
    "cuGraphAddKernelNode",
    "cuGraphAddMemcpyNode",
    "cuGraphAddMemsetNode",
    "cuGraphAddHostNode",
    "cuGraphAddEmptyNode",
    "cuGraphAddEventRecordNode",
    "cuGraphAddChildGraphNode",
    "cuGraphAddNode",
    "cuGraphAddDependencies",
    "cuUserObjectCreate",
    "cuGraphRetainUserObject",
    "cuGraphInstantiateWithParams",
    "cuGraphLaunch",
    "cuGraphExecUpdate",
    "cuGraphClone",
    "cuGraphGetNodes",
    "cuStreamBeginCapture",
    "cuGraphDestroyNode",
    "cuGraphKernelNodeSetParams",
    "cuEventCreate",
    "cuEventRecord",
)


def use_everything(device, stream, kernels, one, cell):
    event = device.create_event()
    graph = GraphDefinition()
    kernel = graph.launch(one, kernels("add"), cell.buffer, 1)
    copy = kernel.memset(cell.buffer, 0, 4).memcpy(cell.buffer.handle, cell.buffer.handle, 4)
    called = copy.callback(lambda: None)
    called.record(event).empty().succ.add(graph.empty())
    kernel.update(args=(cell.buffer, 2))
    graph.embed(graph.clone())
    assert graph.handle  # which makes user objects
    if device.compute_capability >= (9, 0):
        graph.if_then(graph.create_condition(1)).then.empty()
    graph.nodes()
    called.destroy()
    executable = graph.instantiate()
    executable.launch(stream)
    executable.update(graph)
    with capture(stream) as builder:
        cuprum.launch(builder, one, kernels("add"), cell.buffer, 1)
        builder.callback(lambda: None)
    builder.complete().launch(stream)
    stream.sync()


@pytest.mark.filterwarnings("ignore:.*could not be (released|marked):RuntimeWarning")
@pytest.mark.parametrize("call", CALLS)
def test_a_failed_call_leaks_nothing(device, stream, kernels, one, cell, call):
    use_everything(device, stream, kernels, one, cell)
    for nth in (1, 2):
        with fail_call(call, nth=nth) as fault:
            with contextlib.suppress(cuprum.CUDAError):
                use_everything(device, stream, kernels, one, cell)
            if nth == 1:
                assert fault.failed_call
        gc.collect()
        stream.sync()
    use_everything(device, stream, kernels, one, cell)


def test_leaving_with_graphs_alive_is_quiet():
    code = """
        import cuprum
        device = cuprum.Device(0)
        device.set_current()
        class Callback:
            def __call__(self): pass
            def __del__(self): print("released")
        graph = cuprum.graph.GraphDefinition()
        node = graph.callback(Callback())
        executable = graph.instantiate()
        stream = device.create_stream()
        executable.launch(stream)
        builder = stream.create_graph_builder().begin_building()
        builder.callback(Callback())
        """
    prefix = f"import sys; sys.path[:0] = {[*sys.path]!r}\n"
    result = subprocess.run(
        [sys.executable, "-c", prefix + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


def test_threads_launch_graphs_of_their_own(device, kernels, one, cells):
    results = [cells() for _ in range(4)]
    kernel = kernels("add")

    def work(cell):
        device.set_current()
        stream = device.create_stream()
        calls = Callback()
        graph = GraphDefinition()
        graph.launch(one, kernel, cell.buffer, 1).callback(calls)
        executable = graph.instantiate()
        for _ in range(25):
            executable.launch(stream)
        stream.sync()
        assert calls.calls == 25
        stream.close()

    threads = [threading.Thread(target=work, args=(cell,)) for cell in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [cell.value for cell in results] == [25] * 4


def test_threads_launch_one_graph(device, kernels, one, cell):
    graph = GraphDefinition()
    graph.launch(one, kernels("add"), cell.buffer, 1)
    executable = graph.instantiate()

    def work():
        device.set_current()
        stream = device.create_stream()
        for _ in range(50):
            executable.launch(stream)
        stream.sync()
        stream.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cell.value == 200


def test_only_a_handle_makes_user_objects(kernels, one, cell, stream):
    with fail_call("cuUserObjectCreate", nth=NEVER) as made:
        inner = GraphDefinition()
        inner.memset(cell.buffer, 0, 4)
        graph = GraphDefinition()
        node = graph.launch(one, kernels("add"), cell.buffer, 1)
        child = graph.embed(inner)
        executable = graph.instantiate()
        executable.launch(stream)
        executable[node].update(config=one, kernel=kernels("add"), args=(cell.buffer, 2))
        executable.update(graph)
        stream.sync()
        for each in (graph, node, child, child.child_graph, executable, executable[node]):
            assert "0x" in repr(each)
        assert node in graph.nodes()
        assert hash(graph) != hash(inner)
        assert made.call_count == 0
        assert node.handle != 0
        assert made.call_count == 2, "one for each node that uses something"
        assert graph.handle != 0
        assert made.call_count == 2


def test_a_launch_into_a_capture_is_refused_and_leaves_it_alone(stream):
    graph = GraphDefinition()
    graph.callback(Callback())
    executable = graph.instantiate()
    with capture(stream) as builder:
        with pytest.raises(cuprum.CUDAError, match="embed the definition"):
            executable.launch(builder)
        builder.embed(graph)
    assert len(builder.graph_definition.nodes()) == 1
