# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import gc
import threading
import weakref

import pytest

import cuprum
from cuprum import Stream, StreamOptions


class ForeignStream:
    """A stream of another library."""

    def __init__(self, address, version=0):
        self.answer = (version, address)

    def __cuda_stream__(self):
        return self.answer


def test_streams_are_not_made_directly():
    with pytest.raises(RuntimeError, match="create_stream"):
        Stream()


def test_facts_of_a_stream(device, stream):
    assert stream.device is device
    assert stream.context == device.context
    assert stream.is_nonblocking
    assert isinstance(stream.priority, int)
    assert stream.__cuda_stream__() == (0, stream.handle)
    assert repr(stream) == (
        f"<Stream handle={stream.handle:#x} context={stream.context.handle:#x}>"
    )


def test_blocking_stream(device):
    stream = device.create_stream(options=StreamOptions(nonblocking=False))
    assert not stream.is_nonblocking
    stream.close()


def test_priority_out_of_range_is_a_value_error(device):
    with pytest.raises(ValueError, match="-1000"):
        device.create_stream(options=StreamOptions(priority=-1000))


def test_equality_follows_the_handle(device, stream):
    same = Stream.from_handle(stream.handle)
    other = device.create_stream()
    assert same == stream
    assert hash(same) == hash(stream)
    assert other != stream
    assert stream != stream.handle
    assert weakref.ref(stream)() is stream
    other.close()


def test_wrapping_a_foreign_stream_keeps_it_alive(device, stream):
    foreign = ForeignStream(stream.handle)
    reference = weakref.ref(foreign)
    wrapped = device.create_stream(foreign)
    assert wrapped == stream
    del foreign
    gc.collect()
    assert reference() is not None
    wrapped.close()
    assert reference() is None


def test_wrapping_with_options_is_a_value_error(device, stream):
    with pytest.raises(ValueError, match="obj and options"):
        device.create_stream(ForeignStream(stream.handle), StreamOptions())


@pytest.mark.parametrize("answer", [7, (0,), (0, 1, 2), (1, 0)])
def test_a_wrong_answer_of_the_protocol_is_an_error(device, answer):
    foreign = ForeignStream(0)
    foreign.answer = answer
    with pytest.raises(RuntimeError, match="__cuda_stream__"):
        device.create_stream(foreign)


def test_an_object_without_the_protocol_is_a_type_error(device):
    with pytest.raises(TypeError, match="__cuda_stream__"):
        device.create_stream(object())


def test_sync_and_is_done(stream):
    stream.sync()
    assert stream.is_done


@pytest.mark.parametrize("way", ["event", "stream", "foreign stream"])
def test_wait_for_an_event_and_for_a_stream(device, stream, way):
    other = device.create_stream()
    gate = threading.Event()
    other.launch_host(gate.wait)
    event = other.record()
    stream.wait(
        event if way == "event" else other if way == "stream" else ForeignStream(other.handle)
    )
    assert not stream.is_done
    gate.set()
    stream.sync()
    assert event.is_done
    event.close()
    other.close()


def test_waiting_for_a_stream_is_never_external(device, stream):
    other = device.create_stream()
    for wrong in (other, ForeignStream(other.handle)):
        with pytest.raises(ValueError, match="external says how an event is waited for"):
            stream.wait(wrong, external=True)
    stream.wait(other, external=False)
    other.close()


def test_wait_refuses_other_objects(stream):
    with pytest.raises(ValueError, match="event_or_stream"):
        stream.wait(3)


def test_a_closed_stream_says_so(device):
    stream = device.create_stream()
    stream.close()
    stream.close()
    assert repr(stream) == "<Stream closed>"
    for use in (
        stream.sync,
        stream.record,
        lambda: stream.handle,
        lambda: stream.is_done,
        lambda: device.allocate(16, stream=stream),
    ):
        with pytest.raises(cuprum.ClosedError, match="Stream"):
            use()
    assert issubclass(cuprum.ClosedError, RuntimeError)


def test_default_streams(device):
    assert cuprum.LEGACY_DEFAULT_STREAM.handle == 1
    assert cuprum.PER_THREAD_DEFAULT_STREAM.handle == 2
    assert cuprum.LEGACY_DEFAULT_STREAM.device is device
    cuprum.LEGACY_DEFAULT_STREAM.sync()
    cuprum.PER_THREAD_DEFAULT_STREAM.sync()


def test_closing_twice_and_dropping_frees_once(device, live_objects):
    before = live_objects()
    stream = device.create_stream()
    stream.close()
    stream.close()
    del stream
    device.create_stream()
    assert live_objects() == before
