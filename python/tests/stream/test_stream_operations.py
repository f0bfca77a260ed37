# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Host functions, values in memory, and attributes."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import cuprum


def test_host_functions_are_called_in_order(stream):
    order = []
    for i in range(5):
        stream.launch_host(lambda i=i: order.append(i))
    stream.sync()
    assert order == [0, 1, 2, 3, 4]


def test_a_host_function_runs_elsewhere_and_holds_back_the_stream(stream):
    is_released = threading.Event()
    threads = []

    def function():
        threads.append(threading.get_ident())
        assert is_released.wait(10)

    stream.launch_host(function)
    event = stream.record()
    assert not event.is_done
    assert not stream.is_done
    is_released.set()
    event.sync()
    assert threads
    assert threads[0] != threading.get_ident()


def test_what_a_host_function_raises_is_reported(stream, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)

    def function():
        raise KeyError("lost")

    stream.launch_host(function)
    stream.sync()
    stream.launch_host(lambda: None)
    stream.sync()
    assert [report.exc_type for report in seen] == [KeyError]
    assert seen[0].object is function


def test_a_host_function_is_released_once_it_ran(stream):
    class Captured:
        pass

    captured = Captured()
    alive = weakref.ref(captured)
    stream.launch_host(lambda captured=captured: None)
    del captured
    stream.sync()
    stream.is_done  # noqa: B018 -- what is done is released by the next call
    stream.sync()
    gc.collect()
    assert alive() is None


def test_a_host_function_that_a_builder_captures_runs_with_every_launch(stream):
    calls = []
    builder = stream.create_graph_builder().begin_building()
    stream.launch_host(lambda: calls.append(1))
    graph = builder.end_building().complete()
    assert not calls
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    assert calls == [1, 1, 1]
    assert "GraphBuilder" in cuprum.Stream.launch_host.__doc__


def test_launching_while_a_host_function_waits_for_python_does_not_lock_up(stream, module):
    kernel = module.get_kernel("empty")
    config = cuprum.LaunchConfig(grid=1, block=1)
    done = []
    for _ in range(20):
        stream.launch_host(lambda: done.append(sum(range(1000))))
        for _ in range(100):
            cuprum.launch(stream, config, kernel)
    stream.sync()
    assert len(done) == 20


@pytest.mark.parametrize("wrong", [None, 5, "function"])
def test_only_callables_are_host_functions(stream, wrong):
    name = "None" if wrong is None else type(wrong).__name__
    with pytest.raises(TypeError, match=f"function must be callable without arguments, got {name}"):
        stream.launch_host(wrong)


def test_an_impossible_priority_is_refused(stream):
    with pytest.raises(ValueError, match="priority is 99, expected"):
        stream.set_priority(99)


def test_a_stream_waits_for_the_value_that_another_writes(device, stream):
    words = np.zeros(4, np.uint32)
    other = device.create_stream()
    # Drivers refuse to wait on memory of a pool.
    pinned = cuprum.LegacyPinnedMemoryResource()
    with pinned.allocate(words.nbytes, stream=stream) as buffer:
        buffer.fill(0, stream=stream)
        stream.sync()
        other.wait_value(buffer, 3, condition="equal")
        other.write_value(buffer, -1, offset=8, bits=64)
        assert not other.is_done
        stream.write_value(int(buffer.handle), 3)
        other.sync()
        buffer.copy_to_host(words, stream=stream)
        stream.sync()
    assert words.tolist() == [3, 0, 0xFFFFFFFF, 0xFFFFFFFF]
    other.close()


def test_values_are_checked(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        with pytest.raises(ValueError, match="bits is 16, expected 32 or 64"):
            stream.write_value(buffer, 0, bits=16)
        with pytest.raises(ValueError, match="value is 4294967296, expected a number of 32 bits"):
            stream.write_value(buffer, 2**32)
        with pytest.raises(ValueError, match="expected a number of 64 bits"):
            stream.write_value(buffer, 2**64, bits=64)
        with pytest.raises(ValueError, match="offset is 12, expected 8 bytes"):
            stream.write_value(buffer, 0, offset=12, bits=64)
        with pytest.raises(ValueError, match="multiple of 4"):
            stream.write_value(buffer, 0, offset=2)
        with pytest.raises(ValueError, match="condition is 'less', expected one of"):
            stream.wait_value(buffer, 0, condition="less")
        with pytest.raises(TypeError, match="value must be an integer, got str"):
            stream.write_value(buffer, "0")


def test_ids_and_resources(device, stream):
    other = device.create_stream()
    assert other.id != stream.id
    assert other.id == other.id
    other.close()
    assert type(stream.resources) is cuprum.DeviceResources


def test_attributes_are_read_back(stream, device):
    try:
        stream.synchronization_policy = "blocking"
    except cuprum.CUDAError as error:
        if error.name != "CUDA_ERROR_NOT_SUPPORTED":
            raise
        pytest.skip(str(error))
    assert stream.synchronization_policy is cuprum.typing.SynchronizationPolicyType.BLOCKING
    other = device.create_stream()
    other.copy_attributes_from(stream)
    assert other.synchronization_policy == "blocking"
    other.close()
    with pytest.raises(ValueError, match="synchronization_policy is 'doze', expected one of"):
        stream.synchronization_policy = "doze"


def test_impossible_access_policies_are_refused(stream):
    with pytest.raises(ValueError, match="hit_ratio"):
        stream.access_policy_window = cuprum.AccessPolicyWindow(0, 0, hit_ratio=2.0)
    with pytest.raises(ValueError, match="miss"):
        stream.access_policy_window = cuprum.AccessPolicyWindow(0, 0, miss="persisting")


def test_what_is_no_access_policy_is_refused_by_name(stream):
    with pytest.raises(TypeError, match=r"access_policy_window must be None or have base.*got int"):
        stream.access_policy_window = 5


def test_a_closed_stream_does_none_of_it(device):
    stream = device.create_stream()
    stream.close()
    for use in (
        lambda: stream.launch_host(print),
        lambda: stream.write_value(4096, 1),
        lambda: stream.wait_value(4096, 1),
        lambda: stream.id,
        lambda: stream.resources,
        lambda: stream.set_priority(0),
    ):
        with pytest.raises(cuprum.ClosedError, match="Stream"):
            use()


def test_subclasses_can_be_made(device):
    class Named(cuprum.Stream):
        name = "mine"

    made = Named._init(options={"priority": 0}, device_id=0)
    assert type(made) is Named
    assert made.name == "mine"
    made.sync()
    wrapped = Named._init(obj=made)
    assert wrapped == made
    assert hash(wrapped) == hash(made)
    assert Named._legacy_default() == cuprum.LEGACY_DEFAULT_STREAM
    assert type(Named._per_thread_default()) is Named
    with pytest.raises(ValueError, match="obj and options cannot be both specified"):
        Named._init(obj=made, options={})
    wrapped.close()
    made.close()
