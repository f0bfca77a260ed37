# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Events that processes share."""

import multiprocessing
import pickle
import warnings
from multiprocessing.reduction import ForkingPickler
from unittest.mock import patch

import pytest

import cuprum
from cuprum._ipc_event import IPCEventDescriptor, reduce_event
from cuprum._processes import check_multiprocessing_start_method, reset_fork_warning


@pytest.fixture
def shared(stream):
    if not stream.device.properties.get("ipc_event_supported", False):
        pytest.skip("the device has no events between processes")
    event = stream.record(options={"ipc_enabled": True, "blocking_sync": True})
    yield event
    event.close()


def test_a_shared_event_has_no_timing_and_is_recorded_once(device, stream, shared):
    assert shared.is_ipc_enabled
    assert shared.is_blocking_sync
    assert not shared.is_timing_enabled
    with pytest.raises(TypeError, match="should not be re-recorded"):
        stream.record(shared)


def test_what_cannot_be_shared_is_refused(device, stream):
    with pytest.raises(TypeError, match=r"must be bound; use Stream\.record"):
        device.create_event({"ipc_enabled": True})
    with pytest.raises(TypeError, match="cannot use timing"):
        stream.record(options={"ipc_enabled": True, "timing_enabled": True})
    event = stream.record()
    with pytest.raises(RuntimeError, match="not IPC-enabled"):
        _ = event.ipc_descriptor
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(event)


def test_graphs_of_the_emulated_device_refuse_shared_events(device, stream, shared):
    if not device.is_emulated:
        pytest.skip("a GPU has them in graphs")
    graph = cuprum.graph.GraphDefinition()
    for add in (graph.record, graph.wait):
        with pytest.raises(cuprum.CUDAError, match="events that processes share cannot be used"):
            add(shared)
    assert not graph.nodes()


def test_descriptors_are_bytes():
    first = IPCEventDescriptor._init(b"\x01" * 64, True)
    assert first == IPCEventDescriptor._init(b"\x01" * 64, False)
    assert first != IPCEventDescriptor._init(b"\x02" * 64, True)
    assert first != 3
    assert pickle.loads(pickle.dumps(first)) == first
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)
    with pytest.raises(RuntimeError, match=r"Event\.ipc_descriptor"):
        IPCEventDescriptor()


def test_wrong_descriptors_are_refused():
    with pytest.raises(ValueError, match="reserved field is 8 bytes; expected at least 64"):
        cuprum.Event.from_ipc_descriptor(IPCEventDescriptor._init(b"\x00" * 8, True))
    with pytest.raises(TypeError, match="must be an IPCEventDescriptor, got bytes"):
        cuprum.Event.from_ipc_descriptor(b"\x00" * 64)


def test_another_process_waits_for_an_event(shared):
    context = multiprocessing.get_context("spawn")
    there, here = context.Pipe()
    process = context.Process(target=_wait_for_event, args=(there,))
    process.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning that the default start method is fork
        here.send(shared)
    descriptor, *properties = here.recv()
    process.join(60)
    assert process.exitcode == 0
    assert descriptor == shared.ipc_descriptor
    assert properties == [True, False, True, None, None, True]


def _wait_for_event(pipe):
    device = cuprum.Device(0)
    device.set_current()
    event = pipe.recv()
    event.sync()
    stream = device.create_stream()
    stream.wait(event)
    stream.sync()
    pipe.send(
        (
            event.ipc_descriptor,
            event.is_ipc_enabled,
            event.is_timing_enabled,
            event.is_blocking_sync,
            event.device,
            event.context,
            event.is_done,
        )
    )


def test_sending_to_a_forked_process_warns_once(shared):
    with (
        patch("multiprocessing.get_start_method", return_value="fork"),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        reset_fork_warning()
        ForkingPickler.dumps(shared)
        reduce_event(shared)
    assert len(told) == 1
    assert told[0].filename == __file__, "it shows the line that sends, not the pickler's"
    assert "'spawn'" in str(told[0].message)
    assert "undefined behavior" in str(told[0].message)


# Linux starts processes by fork until Python 3.13, and by a server from 3.14 on.
FORKS = multiprocessing.get_all_start_methods()[0] == "fork"


@pytest.mark.parametrize(("system", "count"), [("Linux", int(FORKS)), ("Windows", 0)])
def test_no_start_method_means_the_default_of_linux(system, count):
    with (
        patch("multiprocessing.get_start_method", side_effect=RuntimeError),
        patch("platform.system", return_value=system),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        reset_fork_warning()
        check_multiprocessing_start_method()
    assert len(told) == count
    reset_fork_warning()
