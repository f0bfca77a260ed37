# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import gc
import weakref

import numpy as np
import pytest

from cuprum.utils import StridedMemoryView


class OnlyDLPack:
    """An exporter that is not known to be numpy."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldDLPack(OnlyDLPack):
    """An exporter from before versions."""

    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__(stream=stream)


class OnlyCudaArrayInterface:
    def __init__(self, buffer, **changes):
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (2, 4),
            "typestr": "<f4",
            "data": (buffer.handle, False),
            "strides": None,
            **changes,
        }


ARRAYS = [
    np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    np.arange(24, dtype=np.int16).reshape(4, 6)[::2, 1:],
    np.asfortranarray(np.zeros((3, 5), np.complex128)),
    np.zeros((), np.float64),
    np.zeros((0, 3), np.uint8),
    np.ones(4, bool),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
@pytest.mark.parametrize(
    "view",
    [
        lambda array: StridedMemoryView.from_any_interface(array, stream_ptr=-1),
        lambda array: StridedMemoryView.from_dlpack(array, stream_ptr=-1),
        lambda array: StridedMemoryView.from_dlpack(OnlyDLPack(array), stream_ptr=-1),
        lambda array: StridedMemoryView.from_dlpack(OldDLPack(array), -1),
        StridedMemoryView.from_array_interface,
    ],
    ids=["any", "dlpack", "exporter", "old exporter", "array interface"],
)
def test_views_of_host_arrays(view, array):
    seen = view(array)
    assert seen.shape == array.shape
    assert seen.size == array.size
    assert seen.dtype == array.dtype
    assert seen.device_id == -1
    assert not seen.is_device_accessible
    assert not seen.readonly
    if array.size:
        assert seen.ptr == array.ctypes.data
    if array.flags.c_contiguous:
        assert seen.strides is None
    else:
        assert seen.strides == tuple(stride // array.itemsize for stride in array.strides)


def test_the_array_is_kept_alive():
    array = np.zeros(4)
    reference = weakref.ref(array)
    view = StridedMemoryView.from_any_interface(array, -1)
    assert view.exporting_obj is array
    del array
    gc.collect()
    assert reference() is not None
    del view
    assert reference() is None


def test_read_only_arrays():
    array = np.zeros(4)
    array.flags.writeable = False
    assert StridedMemoryView.from_any_interface(array, -1).readonly
    assert StridedMemoryView.from_array_interface(array).readonly


def test_records_through_the_array_interface():
    array = np.zeros(3, [("a", "i4"), ("b", "f4")])
    assert StridedMemoryView.from_array_interface(array).dtype == array.dtype


def test_the_cuda_array_interface(device, stream):
    with device.allocate(32, stream=stream) as buffer:
        exporter = OnlyCudaArrayInterface(buffer, stream=stream.handle)
        for order in (-1, stream.handle, device.default_stream.handle):
            view = StridedMemoryView.from_any_interface(exporter, order)
            assert view.ptr == buffer.handle
            assert view.shape == (2, 4)
            assert view.strides is None
            assert view.dtype == np.float32
            assert view.device_id == 0
            assert view.is_device_accessible
        view = StridedMemoryView.from_cuda_array_interface(
            OnlyCudaArrayInterface(buffer, strides=(4, 8)), -1
        )
        assert view.strides == (1, 2)


def test_a_buffer_through_dlpack(device, stream):
    with device.allocate(32, stream=stream) as buffer:
        view = StridedMemoryView.from_dlpack(buffer, -1)
        assert (view.ptr, view.shape, view.dtype) == (buffer.handle, (32,), np.int8)
        assert view.device_id == 0
        assert view.is_device_accessible
        assert "shape=(32,)" in repr(view)
        del view


@pytest.mark.parametrize("changes", [{"version": 2}, {"mask": object()}, {"typestr": ">f4"}])
def test_what_the_interface_may_not_say(device, stream, changes):
    with device.allocate(32, stream=stream) as buffer, pytest.raises(BufferError):
        StridedMemoryView.from_any_interface(OnlyCudaArrayInterface(buffer, **changes), -1)


def test_a_stream_must_be_given():
    for make in (StridedMemoryView.from_any_interface, StridedMemoryView.from_dlpack):
        with pytest.raises(BufferError, match="stream_ptr"):
            make(np.zeros(3))


def test_other_objects_are_refused():
    with pytest.raises(BufferError, match="neither __dlpack__ nor __cuda_array_interface__"):
        StridedMemoryView.from_any_interface(3, -1)


def test_the_constructor_is_deprecated():
    with pytest.warns(DeprecationWarning, match="from_any_interface"):
        assert StridedMemoryView(np.zeros(3), -1).shape == (3,)
