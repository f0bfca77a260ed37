# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Methods that Python calls directly must look and fail like all other methods."""

import inspect
import threading
import time

import numpy as np
import pytest

import cuprum
from cuprum.utils import StridedMemoryView


def test_signature_and_documentation_are_read_from_the_method():
    signature = inspect.signature(cuprum.Buffer.copy_to)
    assert str(signature) == "(self, /, dst=None, *, stream, options=None)"
    assert inspect.getdoc(cuprum.Buffer.copy_to).startswith("Copy all bytes to another buffer")
    assert str(inspect.signature(cuprum.Stream.sync)) == "(self, /)"
    assert inspect.getdoc(cuprum.Event.is_done).startswith("Return whether")


def test_a_polled_property_is_like_any_other():
    polled = cuprum.Event.is_done
    assert inspect.isgetsetdescriptor(polled)
    assert (polled.__name__, polled.__objclass__) == ("is_done", cuprum.Event)
    assert polled.__qualname__ == "Event.is_done"
    event = cuprum.Device().create_event()
    assert event.is_done is True
    assert polled.__get__(event) is True
    assert polled.__get__(None, cuprum.Event) is polled
    with pytest.raises(AttributeError, match="is_done"):
        event.is_done = False
    with pytest.raises(TypeError, match="is_done"):
        polled.__get__(cuprum.Device())
    with pytest.raises(TypeError, match="created with __new__ alone"):
        _ = cuprum.Event.__new__(cuprum.Event).is_done
    event.close()
    with pytest.raises(cuprum.ClosedError):
        _ = event.is_done


def test_a_derived_class_inherits_a_polled_property():
    class Derived(cuprum.Stream):
        pass

    stream = Derived._init()
    assert type(stream) is Derived
    assert stream.is_done is True


def test_class_methods_know_the_class_they_are_called_on():
    class Derived(StridedMemoryView):
        @classmethod
        def from_any_interface(cls, obj, stream_ptr=None):
            return super().from_any_interface(obj, stream_ptr)

        @classmethod
        def from_dlpack(cls, obj, stream_ptr=None):
            return StridedMemoryView.from_dlpack(obj, stream_ptr)

    array = np.zeros(4, np.float32)
    assert type(StridedMemoryView.from_any_interface(array, -1)) is StridedMemoryView
    assert type(Derived.from_any_interface(array, -1)) is Derived
    assert type(Derived.from_array_interface(array)) is Derived
    assert type(Derived.from_dlpack(array, -1)) is StridedMemoryView
    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    assert type(view.from_dlpack(array, -1)) is StridedMemoryView
    method = StridedMemoryView.from_any_interface
    assert method.__self__ is StridedMemoryView
    assert method.__qualname__ == "StridedMemoryView.from_any_interface"
    assert str(inspect.signature(method)) == "(obj, stream_ptr=None)"
    assert inspect.getdoc(method).startswith("View an object through DLPack")
    kept = vars(StridedMemoryView)["from_any_interface"]
    assert (kept.__name__, kept.__doc__) == ("from_any_interface", method.__doc__)
    with pytest.raises(TypeError, match="cannot create"):
        type(kept)()


def test_arguments_by_name_and_by_place_mean_the_same(stream):
    event = stream.record()
    assert stream.record(event) is event
    assert stream.record(event=event) is event
    assert stream.record(event, None) is event
    assert stream.record(event, options=None) is event


def test_a_name_that_is_not_interned_is_found_too(stream):
    event = stream.record()
    name = "".join(["ev", "ent"])
    assert stream.record(**{name: event}) is event


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda stream, _: stream.record(evnt=None), "unexpected keyword argument 'evnt'"),
        (lambda stream, _: stream.record(None, event=None), "multiple values for argument 'event'"),
        (lambda stream, _: stream.record(None, None, None), "takes at most 2 positional"),
        (
            lambda _, buffer: buffer.copy_to(buffer),
            "required keyword-only argument: 'stream'; pass a stream of device.create_stream()",
        ),
        (
            lambda stream, buffer: buffer.fill(0, stream),
            "takes at most 1 positional argument, 2 given; pass stream by name",
        ),
        (lambda stream, _: stream.sync(1), "takes no arguments"),
        (
            lambda _, buffer: cuprum.Stream.sync(buffer),
            "objects doesn't apply to a",
        ),
    ],
)
def test_wrong_calls_raise_type_error_and_say_what_is_wrong(device, stream, call, text):
    with device.allocate(16, stream=stream) as buffer, pytest.raises(TypeError) as error:
        call(stream, buffer)
    assert text in str(error.value)


def test_an_object_that_was_never_made_is_refused():
    empty = cuprum.Event.__new__(cuprum.Event)
    with pytest.raises(TypeError, match="created with __new__ alone"):
        empty.sync()
    with pytest.raises(TypeError, match="created with __new__ alone"):
        _ = empty.is_done


def test_errors_keep_their_classes(stream):
    event = stream.record()
    event.close()
    event.close()
    with pytest.raises(cuprum.ClosedError):
        event.sync()
    with pytest.raises(cuprum.ClosedError):
        _ = event.is_done
    with pytest.raises(cuprum.ClosedError):
        stream.record(event)


def test_properties_cannot_be_set(stream):
    event = stream.record()
    with pytest.raises(AttributeError):
        event.is_done = True


def test_recycled_objects_are_new_ones(device):
    # New objects reuse the memory of destroyed ones. Nothing of the old ones may be left.
    events = [device.create_event({"timing_enabled": True}) for _ in range(8)]
    handles = {event.handle for event in events}
    assert len(handles) == len(events)
    del events
    event = device.create_event()
    assert not event.is_timing_enabled
    assert event.is_done


def test_threads_enqueue_and_synchronise_at_once(device):
    errors = []

    def work():
        try:
            device.set_current()
            stream = device.create_stream()
            for value in range(50):
                with device.allocate(256, stream=stream) as buffer:
                    buffer.fill(value, stream=stream)
                    stream.record().sync()
                stream.sync()
            stream.close()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_full_queue_behind_a_python_function_goes_on(module, stream):
    # A queue holds about a thousand launches. The next launch waits for the function, which needs
    # the GIL.
    kernel = module.get_kernel("empty")
    config = cuprum.LaunchConfig(grid=1, block=1)
    done = []
    stream.launch_host(lambda: (time.sleep(0.05), done.append(True)))
    for _ in range(3000):
        cuprum.launch(stream, config, kernel)
    stream.sync()
    assert done == [True]


def test_a_device_is_found_in_every_way_of_calling(device):
    assert cuprum.Device(0) is device
    assert cuprum.Device(device_id=0) is device
    assert cuprum.Device(device) is device
    assert cuprum.Device(None) is cuprum.Device()
    with pytest.raises(TypeError):
        cuprum.Device(0, 1)
    with pytest.raises(TypeError):
        cuprum.Device(id=0)
    with pytest.raises(ValueError, match="1000"):
        cuprum.Device(1000)
