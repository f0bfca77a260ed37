# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import weakref

import pytest

import cuprum
from cuprum import EventOptions, LaunchConfig, launch


def test_events_are_not_made_directly():
    with pytest.raises(RuntimeError, match="record"):
        cuprum.Event()


def test_facts_of_an_event(device):
    event = device.create_event()
    assert event.is_done
    assert not event.is_timing_enabled
    assert not event.is_blocking_sync
    assert not event.is_ipc_enabled
    assert event.device is device
    assert event.context == device.context
    assert repr(event) == f"<Event handle={event.handle:#x} device=0 timing=off>"
    assert event == event
    assert event != event.handle
    assert hash(event) == hash(event)
    assert weakref.ref(event)() is event


def test_options_as_an_object_and_as_a_dict(device):
    for options in (EventOptions(timing_enabled=True, blocking_sync=True), {"timing_enabled": 1}):
        event = device.create_event(options)
        assert event.is_timing_enabled


def test_record_makes_an_event_or_uses_one(device, stream):
    made = stream.record(options={"timing_enabled": True})
    assert made.is_timing_enabled
    event = device.create_event()
    assert stream.record(event) is event
    event.sync()
    assert event.is_done


def test_record_refuses_options_for_an_existing_event(device, stream):
    with pytest.raises(ValueError, match="options"):
        stream.record(device.create_event(), EventOptions())


def test_record_refuses_other_objects(stream):
    with pytest.raises(TypeError, match="event must be an Event"):
        stream.record(3)


def test_elapsed_time(module, stream):
    options = EventOptions(timing_enabled=True)
    start = stream.record(options=options)
    launch(stream, LaunchConfig(grid=1, block=1), module.get_kernel("empty"))
    end = stream.record(options=options)
    end.sync()
    assert end - start >= 0
    assert isinstance(end - start, float)


def test_elapsed_time_without_timing_says_so(stream):
    start, end = stream.record(), stream.record()
    stream.sync()
    with pytest.raises(RuntimeError, match="tim") as caught:
        _ = end - start
    assert isinstance(caught.value, cuprum.CUDAError)
    assert caught.value.name == "CUDA_ERROR_INVALID_HANDLE"


def test_subtracting_something_else_is_a_type_error(stream):
    event = stream.record()
    with pytest.raises(TypeError):
        _ = event - 1.0
    with pytest.raises(TypeError):
        _ = 1.0 - event


def test_a_closed_event_says_so(device, stream):
    event = device.create_event()
    event.close()
    event.close()
    assert repr(event) == "<Event closed>"
    for use in (event.sync, lambda: event.is_done, lambda: stream.record(event)):
        with pytest.raises(cuprum.ClosedError, match="Event"):
            use()
