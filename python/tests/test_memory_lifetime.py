# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Buffers and resources that end in unusual ways."""

import gc
import subprocess
import sys
import threading
import weakref

import pytest

import cuprum
from cuprum import Buffer, LegacyPinnedMemoryResource, MemoryResource


class Keeping(MemoryResource):
    """Keeps its buffers, as a cache would: a cycle."""

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
]
print("leaving")
"""


def test_an_interpreter_may_leave_with_buffers_alive():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SHUTDOWN], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "leaving\n"
    assert "Error" not in done.stderr
