# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Buffers and resources whose life ends in unusual ways."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import cuprum
import cuprum.utils
from cuprum import Buffer, LegacyPinnedMemoryResource, MemoryResource


class Keeping(MemoryResource):
    """A resource that keeps its buffers like a cache, and forms a reference cycle."""

    def __init__(self, log):
        self.inner = LegacyPinnedMemoryResource()
        self.log = log
        self.kept = {}

    def allocate(self, size, *, stream):
        inner = self.inner.allocate(size)
        buffer = Buffer.from_handle(inner.handle, size, self, stream=stream)
        self.kept[buffer.handle] = (buffer, inner)
        return buffer

    def deallocate(self, ptr, size, *, stream):
        self.log.append((ptr, size, stream))
        self.kept[ptr][1].close()

    @property
    def is_device_accessible(self):
        return True

    @property
    def is_host_accessible(self):
        return True

    @property
    def device_id(self):
        return -1


def test_a_resource_that_keeps_its_buffers_is_collected(stream):
    log = []
    resource = Keeping(log)
    address = resource.allocate(64, stream=stream).handle
    reference = weakref.ref(resource)
    del resource
    assert reference() is not None
    gc.collect()
    assert reference() is None
    assert log == [(address, 64, stream)], "freed once, by a resource that was still whole"


def test_an_owner_that_keeps_its_buffer_is_collected():
    class Owner:
        pass

    owner = Owner()
    owner.buffer = Buffer.from_handle(4096, 16, owner=owner)
    reference = weakref.ref(owner)
    del owner
    gc.collect()
    assert reference() is None


def test_a_buffer_that_others_share_is_not_collected_too_early(stream):
    log = []
    resource = Keeping(log)
    buffer = resource.allocate(64, stream=stream)
    part = buffer[16:32]
    reference = weakref.ref(resource)
    del resource, buffer
    gc.collect()
    assert reference() is not None
    assert log == []
    part.close()
    del part
    gc.collect()
    assert reference() is None
    assert len(log) == 1


def test_a_resource_that_keeps_a_part_alone_is_collected(stream):
    log = []
    resource = Keeping(log)
    whole = resource.allocate(64, stream=stream)
    inner = resource.kept.pop(whole.handle)[1]
    resource.kept = {whole.handle: (whole[16:32][4:8], inner)}
    reference = weakref.ref(resource)
    del resource, whole, inner
    assert reference() is not None
    gc.collect()
    assert reference() is None
    assert len(log) == 1


def test_a_resource_that_keeps_managed_buffers_is_collected(stream):
    log = []
    resource = Keeping(log)
    inner = resource.inner.allocate(64)
    made = cuprum.ManagedBuffer.from_handle(inner.handle, 64, resource, stream=stream)
    resource.kept[made.handle] = (made, inner)
    reference = weakref.ref(resource)
    del resource, made, inner
    gc.collect()
    assert reference() is None
    assert len(log) == 1


def test_a_failing_allocation_of_python_is_what_the_caller_sees(device, stream):
    class Refusing(MemoryResource):
        def allocate(self, size, *, stream):
            raise KeyError("no memory today")

    original = device.memory_resource
    device.memory_resource = Refusing()
    try:
        with pytest.raises(KeyError, match="no memory today"):
            device.allocate(16, stream=stream)
    finally:
        device.memory_resource = original


class Failing(Keeping):
    """A resource whose deallocate frees the memory and then fails."""

    def deallocate(self, ptr, size, *, stream):
        super().deallocate(ptr, size, stream=stream)
        raise KeyError("no freeing today")


def test_a_failing_free_of_python_is_a_warning_and_the_buffer_is_closed(stream):
    log = []
    resource = Failing(log)
    buffer = resource.allocate(64, stream=stream)
    with pytest.warns(RuntimeWarning, match=r"(?s)could not release a buffer: .*no freeing today"):
        buffer.close()
    assert len(log) == 1
    assert repr(buffer) == "<Buffer closed>"
    buffer.close()
    assert len(log) == 1
    with (
        pytest.warns(RuntimeWarning, match="no freeing today"),
        pytest.raises(RuntimeError, match="inside"),
        resource.allocate(32, stream=stream),
    ):
        raise RuntimeError("inside")  # the failing free must not replace this exception
    resource.kept.clear()


def test_a_cycle_whose_free_fails_is_collected(stream):
    log = []
    resource = Failing(log)
    resource.allocate(64, stream=stream)
    reference = weakref.ref(resource)
    del resource
    with pytest.warns(RuntimeWarning, match="no freeing today"):
        gc.collect()
    assert reference() is None
    assert len(log) == 1


def test_a_resource_of_python_may_leave_everything_out(stream):
    class Bare(MemoryResource):
        pass

    bare = Bare()
    for use in (
        lambda: bare.allocate(16, stream=stream),
        lambda: bare.deallocate(0, 0, stream=stream),
        lambda: bare.is_device_accessible,
        lambda: bare.is_host_accessible,
        lambda: bare.device_id,
    ):
        with pytest.raises(TypeError, match=r"Bare must override MemoryResource\."):
            use()
    assert not bare.is_managed


def test_a_resource_of_python_must_give_a_buffer(device, stream):
    class Wrong(MemoryResource):
        def allocate(self, size, *, stream):
            return bytearray(size)

    original = device.memory_resource
    device.memory_resource = Wrong()
    try:
        with pytest.raises(TypeError, match=r"Wrong\.allocate must give a Buffer, got bytearray"):
            device.allocate(16, stream=stream)
    finally:
        device.memory_resource = original


def test_closing_gives_up_resource_and_owner(device, stream):
    owner = bytearray(16)
    before = sys.getrefcount(owner)
    buffer = Buffer.from_handle(4096, 16, owner=owner)
    assert sys.getrefcount(owner) > before
    buffer.close()
    assert sys.getrefcount(owner) == before
    assert buffer.owner is None
    other = device.allocate(16, stream=stream)
    other.close()
    assert other.memory_resource is None


class Closing:
    """An object that closes a buffer when it is destroyed."""

    def __init__(self, log):
        self.log = log
        self.buffer = None

    def __del__(self):
        self.log.append(self.buffer.owner)
        self.buffer.close()
        self.buffer.close()


class ClosingResource(Closing, Keeping):
    def __init__(self, log):
        Keeping.__init__(self, log)
        self.buffer = None


def test_an_owner_that_closes_its_buffer_goes_once():
    log = []
    owner = Closing(log)
    buffer = owner.buffer = Buffer.from_handle(4096, 16, owner=owner)
    del owner
    buffer.close()
    assert log == [None]
    gone = Closing(log)
    gone.buffer = Buffer.from_handle(4096, 16, owner=gone)
    del gone
    gc.collect()
    assert len(log) == 2


def test_a_resource_that_closes_its_buffer_goes_once(stream):
    log = []
    resource = ClosingResource(log)
    buffer = resource.buffer = resource.allocate(16, stream=stream)
    address = buffer.handle
    resource.kept[address] = (None, resource.kept[address][1])
    del resource
    buffer.close()
    assert log == [(address, 16, stream), None]


def test_a_resource_of_a_device_is_given_up_once(device, stream):
    log = []
    default = device.memory_resource

    class Restoring(Keeping):
        def __del__(self):
            log.append("gone")
            device.memory_resource = default

    device.memory_resource = Restoring(log)
    device.memory_resource = default
    assert log == ["gone"]


def resources_of_each_kind(device):
    yield cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})
    yield cuprum.LegacyPinnedMemoryResource()
    yield cuprum.SynchronousMemoryResource(device)
    if device.properties.virtual_memory_management_supported:
        yield cuprum.VirtualMemoryResource(device)


def test_buffers_that_go_in_a_host_function_are_freed_when_it_is_done(device, stream, recwarn):
    log = []
    kept = [each.allocate(64, stream=stream) for each in resources_of_each_kind(device)]
    kept.append(kept[0][8:16])
    kept.append(cuprum.utils.register_host_memory(bytearray(64)))
    python = Keeping(log)
    kept.append(python.allocate(64, stream=stream))
    python.kept = {address: (None, inner) for address, (_, inner) in python.kept.items()}
    reference = weakref.ref(python)
    del python
    seen = []

    def give_up():
        kept.pop().close()  # the buffer of the Python resource
        kept.clear()
        gc.collect()
        seen.append((len(log), reference() is not None))

    stream.launch_host(give_up)
    stream.sync()
    assert seen == [(0, True)], "the resource waits for a thread that may call the driver"
    stream.sync()
    assert len(log) == 1
    assert reference() is None
    assert [str(each.message) for each in recwarn] == []


def test_streams_events_and_pools_may_go_in_a_host_function(device, stream, recwarn):
    kept = [
        device.create_stream(),
        device.create_event(),
        cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20}),
    ]
    stream.launch_host(kept.clear)
    stream.sync()
    stream.sync()
    assert kept == []
    assert [str(each.message) for each in recwarn] == []


def test_what_a_resource_says_of_itself_may_raise(stream):
    class Failing(Keeping):
        is_host_accessible = property(lambda self: self.fail())

        def fail(self):
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        Buffer.from_handle(4096, 16, Failing([]), stream=stream)

    class Odd:
        def __bool__(self):
            raise ZeroDivisionError

    class Wrong(Keeping):
        def __init__(self, **values):
            super().__init__([])
            self.values = values

        is_host_accessible = property(lambda self: self.values.get("host", True))
        device_id = property(lambda self: self.values.get("device", -1))

    with pytest.raises(ZeroDivisionError):
        Buffer.from_handle(4096, 16, Wrong(host=Odd()), stream=stream)
    with pytest.raises(TypeError, match=r"Wrong\.device_id must be an integer, got str"):
        Buffer.from_handle(4096, 16, Wrong(device="0"), stream=stream)
    with pytest.raises(ValueError, match=r"Wrong\.device_id is out of range: 1099511627776"):
        Buffer.from_handle(4096, 16, Wrong(device=1 << 40), stream=stream)
    quiet = Wrong(device=np.int64(0))
    quiet.deallocate = lambda *_, **__: None
    with Buffer.from_handle(4096, 16, quiet, stream=stream) as buffer:
        assert buffer.device_id == 0


def test_a_resource_is_made_by_the_constructor_of_its_own_class(device, stream):
    class Half(cuprum.DeviceMemoryResource):
        def __init__(self):
            MemoryResource.__init__(self)

    with pytest.raises(TypeError, match=r"MemoryResource\.__init__ cannot make a Half"):
        Half()
    unmade = cuprum.LegacyPinnedMemoryResource.__new__(cuprum.LegacyPinnedMemoryResource)
    with pytest.raises(TypeError, match="call the __init__ of the class"):
        MemoryResource.__init__(unmade)
    unmade = Half.__new__(Half)
    with pytest.raises(TypeError, match="mr is not made yet: call its __init__"):
        Buffer.from_handle(4096, 16, unmade, stream=stream)
    for abstract in (cuprum.MemoryPool, cuprum.ManagedBuffer):
        with pytest.raises(RuntimeError, match=f"a {abstract.__name__} is not made directly; use"):
            abstract()


def test_buffers_are_freed_on_any_thread_with_no_context(device, stream):
    buffers = [device.allocate(64, stream=stream), LegacyPinnedMemoryResource().allocate(64)]
    failures = []

    def free():
        try:
            while buffers:
                buffers.pop().close()
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=free)
    thread.start()
    thread.join()
    assert failures == []


def test_a_stream_must_be_named_and_open(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        with pytest.raises(TypeError, match="stream"):
            buffer.set_deallocation_stream(None)
        other = device.create_stream()
        other.close()
        with pytest.raises(cuprum.ClosedError):
            buffer.set_deallocation_stream(other)
    with pytest.raises(cuprum.ClosedError, match="closed Buffer"):
        buffer.set_deallocation_stream(stream)


SHUTDOWN = """
import cuprum
import cuprum.utils
device = cuprum.Device(0)
device.set_current()
stream = device.create_stream()
pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})
class Cycle:
    pass
keep = Cycle()
keep.me = keep
keep.buffers = [
    device.allocate(64, stream=stream),
    pool.allocate(64, stream=stream),
    cuprum.LegacyPinnedMemoryResource().allocate(64),
    cuprum.VirtualMemoryResource(device).allocate(64),
    cuprum.SynchronousMemoryResource(device).allocate(64, stream=stream),
]
class Python(cuprum.MemoryResource):
    def __init__(self):
        self.kept = []
    def allocate(self, size, *, stream):
        inner = pool.allocate(size, stream=stream)
        buffer = cuprum.Buffer.from_handle(inner.handle, size, self, stream=stream)
        self.kept.append((inner, buffer))
        return buffer
    def deallocate(self, ptr, size, *, stream):
        pass
    is_device_accessible, is_host_accessible, device_id = True, False, 0
resource = Python()
keep.buffers.append(resource.allocate(64, stream=stream))
keep.part = keep.buffers[-1][8:16]
keep.view = cuprum.utils.StridedMemoryView.from_buffer(keep.buffers[0], (64,), itemsize=1)
keep.capsule = keep.buffers[1].__dlpack__()
print("leaving")
"""


def test_an_interpreter_may_leave_with_buffers_alive():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SHUTDOWN], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "leaving\n"
    assert "Error" not in done.stderr


# ---- a device that is reset ---------------------------------------------------------------------

RESET = """
import gc
import threading

import cuprum
from cuprum.utils import StridedMemoryView, register_host_memory

device = cuprum.Device(0)
device.set_current()
stream = device.create_stream()
event = stream.record()
pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})
memory = bytearray(4096)
buffers = [
    device.allocate(64, stream=stream),
    pool.allocate(64, stream=stream),
    cuprum.LegacyPinnedMemoryResource().allocate(64),
    cuprum.LegacyPinnedMemoryResource().allocate(64, stream=stream),
    cuprum.SynchronousMemoryResource(device).allocate(64, stream=stream),
    cuprum.VirtualMemoryResource(device).allocate(64, stream=stream),
    register_host_memory(memory),
]
part = buffers[0][8:16]
view = StridedMemoryView.from_buffer(buffers[1], (64,), itemsize=1)
stream.sync()
device.reset_primary_context()
other = device.create_stream()
# Destroyed objects raise, without any driver call.
for use in (
    stream.sync,
    stream.record,
    lambda: stream.handle,
    lambda: stream.is_done,
    lambda: other.wait(stream),
    lambda: other.wait(event),
    lambda: other.record(event),
    lambda: event.is_done,
    event.sync,
    lambda: buffers[0].fill(1, stream=stream),
    lambda: buffers[2].fill(1, stream=other),
    lambda: buffers[4].copy_to(buffers[0], stream=other),
    lambda: device.allocate(64, stream=stream),
):
    try:
        use()
    except cuprum.ClosedError as error:
        assert "was destroyed by a reset of its device; create a new one" in str(error), error
    else:
        raise AssertionError
assert repr(stream) == "<Stream lost in a reset>", repr(stream)
assert repr(event) == "<Event lost in a reset>", repr(event)
# The driver may return the old addresses again. Freeing the destroyed buffers would free these.
again = [cuprum.SynchronousMemoryResource(device).allocate(64) for _ in range(4)]
thread = threading.Thread(target=lambda: [buffers.pop().close() for _ in range(3)])
thread.start()
thread.join()
for buffer in buffers:
    buffer.close()
del part, view, buffers
pool.close()
stream.close()
event.close()
gc.collect()
for number, buffer in enumerate(again):
    buffer.fill(number, stream=other)
    back = bytearray(64)
    buffer.copy_to_host(back, stream=other)
    other.sync()
    assert back == bytes([number]) * 64
    buffer.close()
with device.allocate(64, stream=other) as buffer:
    buffer.fill(1, stream=other)
    other.sync()
del buffer
other.close()
print("works")
"""


def run(program, **environment):
    """Run a program in a new interpreter, with warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
    )


def test_everything_may_outlive_a_reset_and_the_device_works_on():
    done = run(RESET, CUPRUM_EMULATOR_LEAKS="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "works\n"
    assert "not given back" not in done.stderr
    assert "Error" not in done.stderr


# ---- a device without pools ---------------------------------------------------------------------

WITHOUT_POOLS = """
import cuprum
from cuprum.testing import fail_call

device = cuprum.Device(0)
device.set_current()
stream = device.create_stream()
with fail_call("cuDeviceGetAttribute", code=1):  # a driver without pools
    resource = device.memory_resource
assert type(resource) is cuprum.SynchronousMemoryResource, resource
assert resource.device_id == 0
with device.allocate(64, stream=stream) as buffer:
    assert buffer.memory_resource is resource
    buffer.fill(3, stream=stream)
    with buffer.copy_to(stream=stream) as other:
        back = bytearray(64)
        other.copy_to_host(back, stream=stream)
        stream.sync()
        assert back == b"\\3" * 64
try:
    device.allocate(1 << 45, stream=stream)
except cuprum.OutOfMemoryError as error:
    assert error.requested_bytes == 1 << 45
else:
    raise AssertionError
print("works")
"""


def test_a_device_without_pools_allocates_at_once():
    done = run(WITHOUT_POOLS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "works\n"
