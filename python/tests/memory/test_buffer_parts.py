# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Parts of buffers: slices, regions, and direct access from the host."""

import ctypes
import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import cuprum
from cuprum import Buffer


def upload(device, stream, array):
    array = np.ascontiguousarray(array)
    buffer = device.allocate(array.nbytes, stream=stream)
    buffer.copy_from_host(array, stream=stream)
    return buffer


def download(buffer, stream, dtype=np.uint8):
    out = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
    buffer.copy_to_host(out, stream=stream)
    stream.sync()
    return out


def host_buffer(array):
    return Buffer.from_handle(array.ctypes.data, array.nbytes, owner=array)


def test_slices_are_buffers_of_the_same_memory(device, stream):
    with upload(device, stream, np.arange(16, dtype=np.uint8)) as buffer:
        part = buffer[4:12]
        assert isinstance(part, Buffer)
        assert (part.handle, part.size) == (buffer.handle + 4, 8)
        assert part.memory_resource is buffer.memory_resource
        assert part.device_id == buffer.device_id
        assert download(part[2:4], stream).tolist() == [6, 7]
        assert buffer[-4:] == buffer[12:16]
        assert buffer[:] == buffer
        assert buffer[20:].size == 0
        assert buffer[3:1].size == 0
        part.close()
        buffer[0:4].copy_to(buffer[8:12], stream=stream)
        buffer[12:].fill(b"\xaa\xbb", stream=stream)
        assert download(buffer, stream)[8:].tolist() == [0, 1, 2, 3, 0xAA, 0xBB, 0xAA, 0xBB]


def test_a_slice_keeps_the_memory(device, stream, live_objects):
    before = live_objects()
    buffer = upload(device, stream, np.arange(16, dtype=np.uint8))
    part = buffer[8:]
    buffer.close()
    del buffer
    assert download(part, stream)[0] == 8
    part.close()
    stream.sync()
    assert live_objects() == before


def test_a_slice_keeps_the_owner_of_wrapped_memory():
    memory = np.arange(8, dtype=np.uint8)
    reference = weakref.ref(memory)
    part = host_buffer(memory)[2:4]
    del memory
    gc.collect()
    assert part.owner is reference()
    assert bytes(part) == b"\x02\x03"
    del part
    assert reference() is None


def test_slices_refuse_what_they_are_not(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        with pytest.raises(TypeError, match="cut by slices"):
            buffer[3]
        with pytest.raises(ValueError, match="step of a Buffer's slice must be 1, got 2"):
            buffer[::2]
        with pytest.raises(ValueError, match="overlap: 8 bytes each, 4 bytes apart"):
            buffer[0:8].copy_to(buffer[4:12], stream=stream)
        with pytest.raises(ValueError, match="multiple of the value's 4 bytes"):
            buffer[1:9].fill(np.float32(1), stream=stream)
    with pytest.raises(cuprum.ClosedError):
        buffer[0:1]


def test_regions_are_copied(device, stream):
    matrix = np.arange(60, dtype=np.uint8).reshape(6, 10)
    with (
        upload(device, stream, matrix) as source,
        device.allocate(60, stream=stream) as target,
    ):
        target.fill(0, stream=stream)
        target.copy_region_from(source, (3,), stream=stream, offset=57, src_offset=20)
        target.copy_region_from(
            source, (4, 3), stream=stream, offset=1, pitch=5, src_offset=12, src_pitch=10
        )
        out = download(target, stream)
        assert out[57:].tolist() == [20, 21, 22]
        assert np.array_equal(out[:15].reshape(3, 5)[:, 1:], matrix[1:4, 2:6])
        box = matrix.reshape(3, 4, 5)
        target.copy_region_from(source, (2, 3, 2), stream=stream, src_pitch=5, src_rows_per_slice=4)
        assert np.array_equal(download(target, stream)[:12].reshape(2, 3, 2), box[:2, :3, :2])


def test_regions_go_between_host_and_device(device, stream):
    memory = np.arange(40, dtype=np.uint8).reshape(4, 10)
    expected = memory[:, 2:5].copy()
    with device.allocate(12, stream=stream) as buffer:
        buffer.copy_region_from(
            host_buffer(memory), (3, 4), stream=stream, src_offset=2, src_pitch=10
        )
        assert np.array_equal(download(buffer, stream).reshape(4, 3), expected)


def test_regions_are_filled(device, stream):
    with device.allocate(32, stream=stream) as buffer:
        buffer.fill(0, stream=stream)
        buffer.fill_region(7, (2, 3), stream=stream, offset=1, pitch=8)
        buffer.fill_region(np.uint16(0x0201), (4, 2), stream=stream, offset=4, pitch=8)
        out = download(buffer, stream).reshape(4, 8)
        assert out[:3, 1:3].tolist() == [[7, 7]] * 3
        assert out[:2, 4:].tolist() == [[1, 2, 1, 2]] * 2
        assert out.sum() == 6 * 7 + 4 * 3


def test_regions_refuse_what_does_not_fit(device, stream):
    with device.allocate(32, stream=stream) as a, device.allocate(32, stream=stream) as b:
        for arguments, text in [
            (((33,),), "takes 33 bytes from offset 0, but the buffer has 32"),
            (((4, 2), {"pitch": 3}), "a pitch of 3 bytes, expected at least the width of 4"),
            (((),), "extent must have 1 to 3 numbers, got 0"),
            (((1, 2, 3, 4),), "extent must have 1 to 3 numbers, got 4"),
            (((-1,),), "extent must not be negative"),
            (((1,), {"offset": -1}), "offset must be at least 0"),
        ]:
            extent, options = arguments[0], arguments[1] if len(arguments) > 1 else {}
            with pytest.raises(ValueError, match=text):
                a.copy_region_from(b, extent, stream=stream, **options)
        with pytest.raises(ValueError, match="overlap"):
            a.copy_region_from(a, (8,), stream=stream, offset=4)
        with pytest.raises(TypeError, match="src must be a Buffer, got bytes"):
            a.copy_region_from(b"", (8,), stream=stream)
        with pytest.raises(TypeError, match="extent must be a tuple of integers, got int"):
            a.copy_region_from(b, 8, stream=stream)
        with pytest.raises(TypeError, match=r"device\.default_stream"):
            a.copy_region_from(b, (8,), stream=None)
        with pytest.raises(ValueError, match="width is 6, expected a multiple"):
            a.fill_region(b"abcd", (6, 2), stream=stream)
        with pytest.raises(ValueError, match="1, 2 or 4 bytes, got 3"):
            a.fill_region(b"abc", (6, 2), stream=stream)
        with pytest.raises(OverflowError, match="0 to 255"):
            a.fill_region(256, (6, 2), stream=stream)
        with pytest.raises(TypeError, match="value must be an int or have the buffer protocol"):
            a.fill_region("a", (6, 2), stream=stream)


def test_host_memory_is_seen_without_a_copy():
    memory = np.arange(8, dtype=np.float32)
    buffer = host_buffer(memory)
    seen = np.frombuffer(buffer, np.float32)
    assert seen.ctypes.data == memory.ctypes.data
    assert seen.flags.writeable
    seen[3] = -1
    assert memory[3] == -1
    with memoryview(buffer) as view:
        assert (view.format, view.nbytes, view.readonly) == ("B", 32, False)
    assert bytes(buffer[0:4]) == memory[:1].tobytes()


def test_what_looks_at_the_memory_keeps_it(live_objects):
    memory = (ctypes.c_byte * 4)(1, 2, 3, 4)
    reference = weakref.ref(memory)
    buffer = Buffer.from_handle(ctypes.addressof(memory), 4, owner=memory)
    view = memoryview(buffer)
    buffer.close()
    del memory, buffer
    gc.collect()
    assert bytes(view) == b"\x01\x02\x03\x04"
    view.release()
    del view
    gc.collect()
    assert reference() is None


def test_an_empty_buffer_is_an_empty_memory():
    assert bytes(Buffer.from_handle(0, 0)) == b""


def test_an_address_of_nothing_is_no_memory():
    with pytest.raises(BufferError, match="the buffer's address is null"):
        memoryview(Buffer.from_handle(0, 16))


def test_device_memory_is_refused_with_the_reason(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        for look in (memoryview, lambda memory: np.frombuffer(memory, np.uint8)):
            with pytest.raises(BufferError, match=r"memory of device 0.*copy_to_host"):
                look(buffer)
    with pytest.raises(cuprum.ClosedError):
        memoryview(buffer)


BETWEEN_DEVICES = """
import numpy as np
import cuprum
from cuprum.utils import CopyOptions, copy_batch

if len(cuprum.Device.get_all_devices()) < 2:
    raise SystemExit("needs two devices")
here, there = cuprum.Device(0), cuprum.Device(1)
there.set_current()
stream = there.create_stream()
here.set_current()
first = here.create_stream()
matrix = np.arange(64, dtype=np.uint8).reshape(8, 8)
source = here.allocate(64, stream=first)
source.copy_from_host(matrix, stream=first)
first.sync()
target = there.allocate(64, stream=stream)
assert (source.device_id, target.device_id) == (0, 1)
out = np.empty(64, np.uint8)
for peers in ([], [there]):  # a copy names both devices and needs no access to the pool
    here.memory_resource.peer_accessible_by = peers
    for fill in (  # the stream's device must be able to access the memory
        lambda: source.fill(7, stream=stream),
        lambda: source.fill_region(7, (1, 2), pitch=4, stream=stream),
    ):
        try:
            fill()
        except cuprum.CUDAError as error:
            assert not peers
            assert "the memory is on device 0 and the stream on device 1" in str(error), str(error)
        else:
            assert peers
    stream.sync()
    source.copy_from_host(matrix, stream=first)
    first.sync()
    target.fill(0, stream=stream)
    source.copy_to(target, stream=stream)
    target.copy_to_host(out, stream=stream)
    stream.sync()
    assert np.array_equal(out, matrix.ravel())
    target.copy_region_from(source, (4, 4), stream=stream, src_offset=18, src_pitch=8)
    target[:16].copy_to_host(out[:16], stream=stream)
    stream.sync()
    assert np.array_equal(out[:16].reshape(4, 4), matrix[2:6, 2:6])
    # The same in a batch: pairs between devices are copied separately if necessary.
    near = there.allocate(32, stream=stream)
    near.fill(7, stream=stream)
    target.fill(0, stream=stream)
    batch = [source[:16], near, source[16:32]], [target[:16], target[32:], target[16:32]]
    options = [CopyOptions(src_access_order="any"), CopyOptions(), CopyOptions()]
    copy_batch(stream, *batch, options=options)
    target.copy_to_host(out, stream=stream)
    stream.sync()
    assert np.array_equal(out[:32], matrix.ravel()[:32]) and set(out[32:]) == {7}
    source.copy_to(target, stream=stream, options=CopyOptions())
    target.copy_to_host(out, stream=stream)
    stream.sync()
    assert np.array_equal(out, matrix.ravel())
    if cuprum.driver_version() >= 13000:
        hinted = [CopyOptions(), CopyOptions(), CopyOptions(src_location_hint=here)]
        try:
            copy_batch(stream, *batch, options=hinted)
            text = ""
        except cuprum.CUDAError as error:
            text = str(error)
        assert (text != "") == (peers == []), text
        for word in ("2 goes from device 0 to device 1", "peer_accessible_by", "src_location_hint"):
            assert word in text or not text, text
    stream.sync()
"""


def test_copies_between_devices_are_the_same_call():
    environment = {
        **os.environ,
        "CUPRUM_EMULATOR_DEVICES": "2",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    result = subprocess.run(
        [sys.executable, "-c", BETWEEN_DEVICES],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "needs two devices" in result.stderr:
        pytest.skip("needs two devices")
    assert result.returncode == 0, result.stderr
