# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Copies between views, buffers and arrays."""

import exchange_producer
import numpy as np
import pytest

from cuprum.utils import StridedLayout, StridedMemoryView

ARRAYS = {
    "contiguous": np.arange(24, dtype=np.int32).reshape(2, 3, 4),
    "Fortran": np.asfortranarray(np.arange(24, dtype=np.int32).reshape(2, 3, 4)),
    "sliced": np.arange(240, dtype=np.int32).reshape(4, 6, 10)[::2, 1:4, 3:7],
    "every other": np.arange(192, dtype=np.int32).reshape(4, 6, 8)[::2, ::2, ::2],
    "reversed": np.arange(24, dtype=np.int32).reshape(2, 3, 4)[:, ::-1, ::-1],
    "broadcast": np.broadcast_to(np.arange(4, dtype=np.int32), (2, 3, 4)),
    "permuted": np.arange(24, dtype=np.int32).reshape(4, 2, 3).transpose(1, 2, 0),
}
LAYOUTS = {
    "contiguous": StridedLayout.dense((2, 3, 4), 4),
    "Fortran": StridedLayout.dense((2, 3, 4), 4, "F"),
    "sliced": StridedLayout.dense((4, 6, 10), 4)[::2, 1:4, 3:7],
    "reversed": StridedLayout.dense((2, 3, 4), 4)[::-1, :, ::-1],
}


def host(array):
    return StridedMemoryView.from_any_interface(array, -1)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays_go_to_a_device_and_back(device, stream, array, layout):
    with device.allocate(4 * 6 * 10 * 4, stream=stream) as buffer:
        whole = StridedMemoryView.from_buffer(buffer, (240,), dtype=np.int32)
        there = whole.view(layout)
        there.copy_from(host(array), stream)
        out = np.zeros_like(array, subok=False)
        there.copy_to(host(out), stream)
        assert np.array_equal(out, array)
        back = np.zeros((3, 2, 8), np.int32).transpose(1, 0, 2)[:, :, ::-2]
        host(back).copy_from(there, stream=stream)
        assert np.array_equal(back, array)
        del whole, there


def test_between_devices_views_nothing_waits_and_other_elements_stay(device, stream):
    with device.allocate(64, stream=stream) as a, device.allocate(64, stream=stream) as b:
        a.fill(1, stream=stream)
        b.fill(2, stream=stream)
        to = StridedMemoryView.from_buffer(a, (4, 2), (8, 1), dtype="u2")
        source = StridedMemoryView.from_buffer(b, (4, 2), (4, 1), dtype="u2")
        to.copy_from(source, stream, blocking=False)
        out = np.zeros((4, 16), np.uint8)
        a.copy_to_host(out, stream=stream)
        stream.sync()
        assert (out[:, :4] == 2).all()
        assert (out[:, 4:] == 1).all()
        del to, source


def test_buffers_and_arrays_take_part_as_they_are(device, stream):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    with device.allocate(48, stream=stream) as buffer:
        host(array.T).copy_to(buffer, stream)
        out = np.zeros((4, 3), np.float32)
        host(out).copy_from(buffer, stream)
        assert np.array_equal(out, array.T)
        view = StridedMemoryView.from_buffer(buffer, (3, 4), dtype=np.float32)
        view.copy_from(array, stream)
        back = np.zeros((3, 4), np.float32)
        view.copy_to(back, stream)
        assert np.array_equal(back, array)
        with pytest.raises(ValueError, match="the buffer has 48 bytes, expected the view's 24"):
            host(np.zeros(6, np.float32)).copy_from(buffer, stream)
        del view


def test_a_view_made_for_another_stream_is_waited_for(device, stream):
    other = device.create_stream()
    producer = exchange_producer.make_producer("torch")
    with device.allocate(32, stream=stream) as buffer:
        buffer.fill(5, stream=stream)
        source = producer(np.empty(32, np.uint8), device=(2, 0), data=buffer.handle)
        producer.work_stream = int(stream.handle)
        view = StridedMemoryView.from_any_interface(source, other.handle)
        out = np.zeros(32, np.uint8)
        third = device.create_stream()
        host(out).copy_from(view, third)
        assert (out == 5).all()
        third.close()
        del view
    other.close()


def test_parts_of_one_array_are_copied_unless_they_overlap(device, stream):
    array = np.arange(48, dtype=np.int16).reshape(6, 8)
    with device.allocate(array.nbytes, stream=stream) as buffer:
        view = StridedMemoryView.from_buffer(buffer, array.shape, dtype=array.dtype)
        view.copy_from(array, stream)
        left, right = view.view(view.layout[:, :4]), view.view(view.layout[:, 4:])
        left.copy_from(right, stream)
        back = np.zeros_like(array)
        view.copy_to(back, stream)
        assert (back[:, :4] == array[:, 4:]).all()
        assert (back[:, 4:] == array[:, 4:]).all()
        with pytest.raises(ValueError, match="source and destination overlap: bytes"):
            left.copy_from(view.view(view.layout[:, 3:7]), stream)
        with pytest.raises(ValueError, match="interleave so that they might"):
            left.copy_from(view.view(view.layout[::-1, 4:]), stream)
        del view, left, right


def test_copies_say_what_does_not_fit(device, stream):
    view = host(np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match="expected the same shape"):
        view.copy_from(np.zeros((3, 2), np.float32), stream)
    with pytest.raises(ValueError, match=r"int32.*float32.*does not convert"):
        view.copy_from(np.zeros((2, 3), np.int32), stream)
    with pytest.raises(ValueError, match="overlap"):
        view.copy_from(view, stream)
    with pytest.raises(TypeError, match=r"device\.default_stream"):
        view.copy_from(view, None)
    with pytest.raises(TypeError, match="copies need no temporary memory"):
        view.copy_from(view, stream, allocator=device.memory_resource)
    with pytest.raises(BufferError, match="does not support any data exchange protocol"):
        view.copy_from(3, stream)
    with pytest.raises(ValueError, match="truth value"):
        view.copy_from(np.zeros((2, 3), np.float32), stream, blocking=np.zeros(2))
    fixed = np.zeros((2, 3), np.float32)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        host(fixed).copy_from(view, stream)
    with pytest.raises(ValueError, match="read-only"):
        view.copy_to(fixed, stream)
    repeated = view.view(StridedLayout((2, 3), (0, 1), 4))
    with pytest.raises(ValueError, match="share memory"):
        repeated.copy_from(np.zeros((2, 3), np.float32), stream)
