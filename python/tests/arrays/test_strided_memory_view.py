# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import gc
import weakref

import numpy as np
import pytest

from cuprum import ClosedError
from cuprum.utils import (
    StridedLayout,
    StridedMemoryView,
    args_viewable_as_strided_memory,
)


class OnlyDLPack:
    """An exporter that Cuprum does not recognise as numpy."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldDLPack(OnlyDLPack):
    """An exporter without DLPack versions."""

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
    np.zeros((4, 6), np.int32)[:1, :3],  # contiguous, though its strides are not those of C order
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
    strides = tuple(stride // array.itemsize for stride in array.strides)
    # Like cuda.core 1.2.2, which returns what numpy's DLPack has: no strides without axes.
    assert seen.strides == (strides or None)
    assert seen.layout.strides == seen.strides


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
        with pytest.raises(BufferError, match=r"stream_ptr.*stream=None is ambiguous"):
            make(np.zeros(3))
        with pytest.raises(TypeError, match="stream_ptr must be an integer, got str"):
            make(OnlyDLPack(np.zeros(3)), "stream")
    with pytest.raises(BufferError, match="stream=None is ambiguous"):
        StridedMemoryView.from_any_interface(OnlyDLPack(np.zeros(3)))


def test_other_objects_are_refused():
    for thing in (3, None, object()):
        with pytest.raises(BufferError, match="neither __dlpack__ nor __cuda_array_interface__"):
            StridedMemoryView.from_any_interface(thing, -1)
    for make, protocol in (
        (StridedMemoryView.from_array_interface, "__array_interface__"),
        (lambda thing: StridedMemoryView.from_cuda_array_interface(thing, -1), "__cuda_array"),
        (lambda thing: StridedMemoryView.from_dlpack(thing, -1), "__dlpack_device__"),
    ):
        with pytest.raises(BufferError, match=f"int has no {protocol}.*, expected an array"):
            make(3)


def test_strides_within_an_element_are_refused():
    inner = np.zeros(3, [("a", "i4"), ("b", "f8")])["b"]
    for make in (
        StridedMemoryView.from_array_interface,
        lambda array: StridedMemoryView.from_any_interface(array, -1),
    ):
        with pytest.raises(ValueError, match="strides must be divisible by itemsize"):
            make(inner)


def test_arrays_of_python_objects_are_refused():
    with pytest.raises(BufferError, match="holds Python objects"):
        StridedMemoryView.from_any_interface(np.array([object()]), -1)


def test_many_dimensions():
    array = np.zeros((2, 1, 3, 1, 2, 1, 2))[:, :, ::2]
    view = StridedMemoryView.from_any_interface(array, -1)
    assert view.shape == array.shape
    assert view.strides == tuple(stride // 8 for stride in array.strides)
    assert view.layout.volume == array.size


def test_subclasses_of_arrays_and_of_views():
    class Mine(StridedMemoryView):
        pass

    array = np.zeros((2, 3)).view(np.matrix)
    view = Mine.from_any_interface(array, -1)
    assert type(view) is Mine
    assert type(view.view(dtype="i8")) is Mine
    assert view.exporting_obj is array
    assert view.shape == (2, 3)


def test_an_array_that_holds_its_own_view_is_collected():
    class Holder(np.ndarray):
        pass

    array = np.zeros(3).view(Holder)
    array.seen = StridedMemoryView.from_any_interface(array, -1)
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is None


def test_the_constructor_is_deprecated(device, stream):
    with pytest.warns(DeprecationWarning, match="from_any_interface"):
        assert StridedMemoryView(np.zeros(3), -1).shape == (3,)
    with (
        device.allocate(32, stream=stream) as buffer,
        pytest.warns(DeprecationWarning, match="CUDA-array-interface-supporting object"),
    ):
        assert StridedMemoryView(OnlyCudaArrayInterface(buffer), -1).shape == (2, 4)
    with pytest.warns(DeprecationWarning, match="use"), pytest.raises(BufferError):
        StridedMemoryView(object(), -1)


def test_an_empty_view_says_so():
    with pytest.warns(DeprecationWarning, match="empty"):
        view = StridedMemoryView()
    assert (view.ptr, view.exporting_obj) == (0, None)
    assert "empty" in repr(view)
    for use in (
        lambda: view.shape,
        lambda: view.strides,
        lambda: view.size,
        lambda: view.layout,
        view.__dlpack__,
    ):
        with pytest.raises(ValueError, match="Cannot infer layout"):
            use()


@pytest.mark.parametrize("order", ["C", "F"])
def test_buffers_as_arrays(device, stream, order):
    layout = StridedLayout.dense((5, 7), 2, order)
    with device.allocate(70, stream=stream) as buffer:
        view = StridedMemoryView.from_buffer(
            buffer, (5, 7), layout.strides, dtype=np.int16, is_readonly=True
        )
        assert view.exporting_obj is buffer
        assert view.layout == layout
        assert (view.ptr, view.dtype, view.device_id) == (buffer.handle, np.int16, 0)
        assert (view.is_device_accessible, view.readonly) == (True, True)
        part = view.view(layout[1:, ::2])
        assert part.ptr == buffer.handle + layout[1:, ::2].slice_offset_in_bytes
        assert part.shape == (4, 4)
        assert part.readonly
        whole = part.view(layout)
        assert whole.ptr == buffer.handle
        assert view.view() is view
        del view, part, whole


def test_buffers_too_small_are_refused(device, stream):
    with device.allocate(20, stream=stream) as buffer:
        with pytest.raises(ValueError, match="Expected at least 40 bytes, got 20 bytes"):
            StridedMemoryView.from_buffer(buffer, (5, 4), dtype="i2")
        with pytest.raises(ValueError, match="from byte -16 to 4"):
            StridedMemoryView.from_buffer(buffer, (5, 4), (-4, 1), dtype="u1")
        with pytest.raises(ValueError, match="itemsize 1 does not match"):
            StridedMemoryView.from_buffer(buffer, (5,), itemsize=1, dtype="i2")
        with pytest.raises(ValueError, match="itemsize or dtype must be specified"):
            StridedMemoryView.from_buffer(buffer, (5,))
        with pytest.raises(TypeError, match="buffer must be a Buffer, got bytes"):
            StridedMemoryView.from_buffer(b"", (5,), itemsize=1)
        view = StridedMemoryView.from_buffer(buffer, (5,), itemsize=4)
        assert view.dtype is None
        with pytest.raises(ValueError, match="Expected at least 24 bytes, got 20"):
            view.view(StridedLayout((6,), None, 4))
        with pytest.raises(ValueError, match="dtype has elements of 8 bytes"):
            view.view(dtype="f8")
        with pytest.raises(TypeError, match="layout must be a StridedLayout, got tuple"):
            view.view((5,))
        del view
    with pytest.raises(ClosedError):
        StridedMemoryView.from_buffer(buffer, (5,), itemsize=1)


def test_views_of_arrays_do_not_reach_beyond_them():
    array = np.arange(10, dtype=np.int32)[2:8][::-1]
    view = StridedMemoryView.from_any_interface(array, -1)
    part = view.view(view.layout[3:])
    assert part.ptr == array[3:].ctypes.data
    assert np.array_equal(np.from_dlpack(part), array[3:])
    assert part.view(view.layout).ptr == view.ptr
    with pytest.raises(ValueError, match="from byte -20 to 8, the memory from -20 to 4"):
        view.view(StridedLayout((2, 6), (1, -1), 4))
    packed = StridedMemoryView.from_any_interface(np.zeros((5, 6), np.float32), -1)
    assert packed.view(packed.layout.repacked(8), np.complex64).shape == (5, 3)


def test_functions_can_take_arrays_of_any_library(device, stream):
    @args_viewable_as_strided_memory((1, -1))
    def double(factor, array, *others, order=-1):
        """Say what it is."""
        assert isinstance(others[-1].view(order), StridedMemoryView)
        return array.view(order).shape, factor

    assert double(2, np.zeros(3), 5, np.zeros(1)) == ((3,), 2)
    assert double.__doc__ == "Say what it is."
    with pytest.raises(TypeError, match="takes an array as positional argument 1"):
        double(2)
    with pytest.raises(BufferError, match="does not support any data exchange protocol"):
        double(2, "no array", np.zeros(1))


@pytest.mark.parametrize("name", ["__dlpack__", "__dlpack_device__", "__cuda_array_interface__"])
def test_why_an_array_gives_nothing_comes_through(name):
    class Unwilling:
        pass

    def refuse(self):
        raise RuntimeError("detach it first")

    if name.startswith("__dlpack"):
        Unwilling.__dlpack__ = Unwilling.__dlpack_device__ = lambda self: None
    setattr(Unwilling, name, property(refuse))
    with pytest.raises(RuntimeError, match="detach it first"):
        StridedMemoryView.from_any_interface(Unwilling(), stream_ptr=-1)


@pytest.mark.parametrize("convert", [np.array, np.asarray])
def test_numpy_reads_views_of_the_host_and_no_others(device, stream, convert):
    source = np.arange(6, dtype=np.int16).reshape(2, 3)
    seen = convert(StridedMemoryView.from_any_interface(source, -1))
    assert (seen.dtype, seen.tolist()) == (np.int16, source.tolist())
    with device.allocate(16, stream=stream) as buffer:
        view = StridedMemoryView.from_buffer(buffer, (4,), dtype=np.dtype(np.float32))
        with pytest.raises(TypeError, match=r"memory of device 0.*view\.copy_to\(array, stream\)"):
            convert(view)
        del view
