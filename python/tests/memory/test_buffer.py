# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import gc
import json
import weakref

import numpy as np
import pytest

import cuprum
from cuprum import Buffer


def read(buffer, stream, dtype=np.uint8):
    host = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
    buffer.copy_to_host(host, stream=stream)
    stream.sync()
    return host


def test_buffers_are_not_made_directly():
    with pytest.raises(RuntimeError, match="allocate"):
        Buffer()


def test_facts_of_a_buffer(device, stream):
    with device.allocate(256, stream=stream) as buffer:
        assert isinstance(buffer.handle, int)
        assert buffer.size == 256
        assert buffer.device_id == 0
        assert buffer.is_device_accessible
        assert not buffer.is_host_accessible
        assert not buffer.is_mapped
        assert buffer.memory_resource is device.memory_resource
        assert buffer.owner is None
        assert repr(buffer) == (
            f"<Buffer ptr={buffer.handle:#x} size=256 kind=device device=0 "
            "resource=DeviceMemoryResource>"
        )
        assert weakref.ref(buffer)() is buffer


def test_equality_is_address_and_size(device, stream):
    with device.allocate(64, stream=stream) as buffer:
        same = Buffer.from_handle(buffer.handle, 64)
        shorter = Buffer.from_handle(buffer.handle, 32)
        assert buffer == same
        assert hash(buffer) == hash(same)
        assert buffer != shorter
        assert buffer != buffer.handle


def test_zero_bytes(device, stream):
    with device.allocate(0, stream=stream) as buffer:
        assert buffer.size == 0
        buffer.fill(0, stream=stream)


def test_host_copies_go_round(device, stream):
    source = np.arange(1000, dtype=np.float64)
    with device.allocate(source.nbytes, stream=stream) as buffer:
        buffer.copy_from_host(source, stream=stream)
        np.testing.assert_array_equal(read(buffer, stream, np.float64), source)


def test_host_copies_take_anything_with_the_buffer_protocol(device, stream):
    with device.allocate(4, stream=stream) as buffer:
        buffer.copy_from_host(b"abcd", stream=stream)
        out = bytearray(4)
        buffer.copy_to_host(out, stream=stream)
        stream.sync()
        assert out == b"abcd"


def test_host_copies_check_size_type_and_writability(device, stream):
    with device.allocate(8, stream=stream) as buffer:
        with pytest.raises(ValueError, match="8"):
            buffer.copy_from_host(b"abc", stream=stream)
        with pytest.raises(TypeError, match="source must have the buffer protocol"):
            buffer.copy_from_host(3, stream=stream)
        with pytest.raises((BufferError, TypeError)):
            buffer.copy_to_host(b"readonly", stream=stream)
        with pytest.raises((BufferError, ValueError)):
            buffer.copy_from_host(np.zeros((2, 2), np.float32)[:, ::2], stream=stream)


def test_copies_between_buffers(device, stream):
    with device.allocate(16, stream=stream) as source, device.allocate(16, stream=stream) as target:
        source.fill(7, stream=stream)
        assert source.copy_to(target, stream=stream) is target
        assert (read(target, stream) == 7).all()
        source.fill(9, stream=stream)
        target.copy_from(source, stream=stream)
        assert (read(target, stream) == 9).all()


def test_copy_to_allocates_when_no_destination_is_given(device, stream):
    with device.allocate(16, stream=stream) as source:
        source.fill(5, stream=stream)
        with source.copy_to(stream=stream) as copy:
            assert copy.memory_resource is source.memory_resource
            assert (read(copy, stream) == 5).all()


def test_copy_to_without_a_resource_is_a_value_error(device, stream):
    with (
        device.allocate(16, stream=stream) as source,
        pytest.raises(ValueError, match="memory resource"),
    ):
        Buffer.from_handle(source.handle, 16).copy_to(stream=stream)


def test_copies_of_different_sizes_are_refused(device, stream):
    with device.allocate(16, stream=stream) as large, device.allocate(8, stream=stream) as small:
        for copy in (large.copy_to, large.copy_from):
            with pytest.raises(ValueError, match=r"16.*8|8.*16"):
                copy(small, stream=stream)
        large.fill(1, stream=stream)


def test_copies_refuse_wrong_types(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        with pytest.raises(TypeError, match="dst must be a Buffer, got int"):
            buffer.copy_to(3, stream=stream)
        with pytest.raises(TypeError, match="src must be a Buffer, got bytes"):
            buffer.copy_from(b"", stream=stream)
        with pytest.raises(TypeError, match=r"device\.default_stream"):
            buffer.copy_to(buffer, stream=None)
        with pytest.raises(TypeError, match="options"):
            buffer.copy_to(buffer, stream=stream, options={})


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        (0, b"\x00"),
        (255, b"\xff"),
        (b"\x01", b"\x01"),
        (b"\x01\x02", b"\x01\x02"),
        (np.float32(1.5), np.float32(1.5).tobytes()),
        (np.uint16(0x1234), b"\x34\x12"),
        (ctypes.c_uint32(0xDEADBEEF), b"\xef\xbe\xad\xde"),
    ],
)
def test_fill(device, stream, value, pattern):
    with device.allocate(16, stream=stream) as buffer:
        buffer.fill(value, stream=stream)
        assert read(buffer, stream).tobytes() == pattern * (16 // len(pattern))


@pytest.mark.parametrize("value", [-1, 256, 2**80])
def test_fill_with_an_int_that_is_no_byte_is_an_overflow(device, stream, value):
    with (
        device.allocate(16, stream=stream) as buffer,
        pytest.raises(OverflowError, match="0 to 255"),
    ):
        buffer.fill(value, stream=stream)


def test_fill_refuses_other_widths_and_types(device, stream):
    with device.allocate(6, stream=stream) as buffer:
        with pytest.raises(ValueError, match="1, 2 or 4 bytes, got 3"):
            buffer.fill(b"abc", stream=stream)
        with pytest.raises(ValueError, match="6"):
            buffer.fill(b"abcd", stream=stream)
        with pytest.raises(TypeError, match="value must be an int"):
            buffer.fill("a", stream=stream)


def test_a_closed_buffer_says_so(device, stream):
    buffer = device.allocate(16, stream=stream)
    buffer.close(stream)
    buffer.close()
    buffer.close(stream)
    assert repr(buffer) == "<Buffer closed>"
    for use in (
        lambda: buffer.handle,
        lambda: buffer.size,
        lambda: buffer.fill(0, stream=stream),
        lambda: buffer.copy_to(buffer, stream=stream),
        lambda: buffer.__dlpack__(),
        lambda: buffer.set_deallocation_stream(stream),
    ):
        with pytest.raises(cuprum.ClosedError, match="Buffer"):
            use()


def test_dropping_a_buffer_frees_it(device, stream, live_objects):
    before = live_objects()
    for _ in range(3):
        device.allocate(1024, stream=stream)
    stream.sync()
    assert live_objects() == before


@pytest.mark.parametrize("way", ["recorded", "named", "closed"])
def test_memory_is_freed_on_the_stream_that_was_named(device, stream, way, tmp_path):
    other = device.create_stream()
    buffer = device.allocate(16, stream=stream)
    address = int(buffer.handle)
    with cuprum.trace.record(tmp_path / "trace.json", device_work=False):
        if way == "named":
            buffer.set_deallocation_stream(other)
        buffer.close(other if way == "closed" else None)
    calls = json.loads((tmp_path / "trace.json").read_text())
    (free,) = (call["args"] for call in calls if call["name"] == "cuMemFreeAsync")
    assert int(free["dptr"], 16) == address
    assert int(free["hStream"], 16) == int((stream if way == "recorded" else other).handle)
    other.close()


def test_a_wrapped_buffer_keeps_its_owner(device, stream):
    class Owner:
        pass

    owner = Owner()
    reference = weakref.ref(owner)
    with device.allocate(16, stream=stream) as memory:
        wrapped = Buffer.from_handle(memory.handle, memory.size, owner=owner)
        assert wrapped.owner is owner
        assert wrapped.memory_resource is None
        del owner
        gc.collect()
        assert reference() is not None
        del wrapped
        assert reference() is None


def test_from_handle_refuses_contradictions(device, stream):
    with pytest.raises(ValueError, match="mr and owner"):
        Buffer.from_handle(0, 0, device.memory_resource, object())
    with pytest.raises(ValueError, match="stream requires a memory resource"):
        Buffer.from_handle(0, 0, stream=stream)
    with pytest.raises(TypeError, match="mr must be a MemoryResource"):
        Buffer.from_handle(0, 0, 3)
    with pytest.raises(TypeError, match="ptr must be an integer"):
        Buffer.from_handle("0", 0)
    with pytest.raises(ValueError, match="size must be at least 0"):
        Buffer.from_handle(0, -1)


def test_dlpack_device_and_capsules(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        assert buffer.__dlpack_device__() == (2, 0)
        assert '"dltensor"' in repr(buffer.__dlpack__())
        assert '"dltensor_versioned"' in repr(buffer.__dlpack__(max_version=(1, 0)))
        assert '"dltensor"' in repr(buffer.__dlpack__(max_version=(0, 8)))
        for refused in ({"copy": True}, {"dl_device": (1, 0)}, {"max_version": 1}):
            with pytest.raises(BufferError):
                buffer.__dlpack__(**refused)


def test_a_dlpack_capsule_shares_the_memory(device, stream, live_objects):
    before = live_objects()
    buffer = device.allocate(16, stream=stream)
    capsule = buffer.__dlpack__()
    buffer.close()
    if before:
        assert live_objects()["pool_allocations"] == before["pool_allocations"] + 1
    del capsule
    stream.sync()
    assert live_objects() == before


@pytest.mark.parametrize("convert", [np.array, np.asarray, np.asanyarray])
def test_numpy_makes_no_array_of_memory_of_a_device(device, stream, convert):
    with device.allocate(16, stream=stream) as buffer:
        with pytest.raises(TypeError, match=r"memory of device 0.*buffer\.copy_to_host\(array"):
            convert(buffer)
        with pytest.raises(TypeError, match=r"StridedMemoryView\.from_buffer\(\)"):
            convert([buffer, buffer])
    with pytest.raises(cuprum.ClosedError):
        convert(buffer)


def test_numpy_sees_the_bytes_of_host_memory(device):
    with cuprum.LegacyPinnedMemoryResource().allocate(4) as buffer:
        memoryview(buffer)[:] = bytes([1, 2, 3, 4])
        for seen in (np.array(buffer), np.asarray(buffer), buffer.__array__()):
            assert (seen.dtype, seen.tolist()) == (np.uint8, [1, 2, 3, 4])
        assert np.array(buffer, np.float32).tolist() == [1, 2, 3, 4]
        assert buffer.__array__(np.int64).dtype == np.int64
        copied = buffer.__array__(copy=True)
        memoryview(buffer)[0] = 9
        assert copied[0] == 1
        del seen, copied


def test_numbers_of_numpy_are_compared_with_a_buffer(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        assert (np.int64(3) == buffer) is False
        assert (np.float32(3) != buffer) is True
        with pytest.raises(TypeError, match="Buffer"):
            np.int64(3) + buffer
