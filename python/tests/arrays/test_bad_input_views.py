# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Views and layouts with every kind of bad input."""

import types

import numpy as np
import pytest
from bad_input import HUGE, addresses, buffers, check, check_all, integers, numbers, streams

import cuprum
from cuprum.utils import StridedLayout, StridedMemoryView, args_viewable_as_strided_memory

BYTES = 64
SHAPE = (4, 4)


@pytest.fixture
def memory(device, stream):
    made = types.SimpleNamespace(
        buffer=device.allocate(BYTES, stream=stream),
        other=device.allocate(BYTES, stream=stream),
        closed=device.allocate(BYTES, stream=stream),
        stream=stream,
        device=device,
    )
    made.closed.close()
    made.view = StridedMemoryView.from_buffer(made.buffer, SHAPE, dtype=np.float32)
    yield made
    made.view = None
    made.buffer.close()
    made.other.close()


def of_buffer(memory, shape=SHAPE, strides=None, **keywords):
    return StridedMemoryView.from_buffer(memory.buffer, shape, strides, **keywords)


# ---- where views come from ----------------------------------------------------------------------


@pytest.mark.parametrize("thing", ["x", None, 3, [1, 2]], ids=str)
def test_objects_without_a_protocol(thing):
    for make, missing in (
        (lambda x: StridedMemoryView.from_any_interface(x, -1), "any data exchange protocol"),
        (lambda x: StridedMemoryView.from_dlpack(x, -1), "has no __dlpack_device__"),
        (
            lambda x: StridedMemoryView.from_cuda_array_interface(x, -1),
            "has no __cuda_array_interface__",
        ),
        (StridedMemoryView.from_array_interface, "has no __array_interface__"),
    ):
        check("view", make, thing, BufferError, missing)


def test_consumers_streams_that_are_none(memory):
    for make in (StridedMemoryView.from_dlpack, StridedMemoryView.from_any_interface):
        for value, error, text in (
            ("x", TypeError, "stream_ptr must be an integer, got str"),
            (1.5, TypeError, "stream_ptr must be an integer, got float"),
            (-2, ValueError, "or -1 for no ordering, got -2"),
            (HUGE, ValueError, "stream_ptr must be from 0 to 2**64 - 1"),
            (None, BufferError, "stream=None is ambiguous; pass the address of the stream"),
        ):
            check("stream_ptr", lambda x, make=make: make(memory.buffer, x), value, error, text)


class Producer:
    """An array with the CUDA array interface and some entries replaced."""

    def __init__(self, memory, **entries):
        self.__cuda_array_interface__ = {
            "shape": (4,),
            "typestr": "<f4",
            "data": (memory.buffer.handle, False),
            "version": 3,
            **entries,
        }


INTERFACES = {
    "old": ({"version": 2}, BufferError, "has version 2, expected v3 or above"),
    "no version": ({"version": "x"}, BufferError, "has version 'x', expected v3 or above"),
    "mask": ({"mask": 1}, BufferError, "mask is not supported"),
    "shape str": ({"shape": "x"}, TypeError, "shape must be a tuple of integers, got str"),
    "shape float": ({"shape": (1.5,)}, TypeError, "shape must be a tuple of integers"),
    "negative": ({"shape": (-1,)}, ValueError, "shape must not hold negative extents, got (-1,)"),
    "huge": ({"shape": (HUGE,)}, ValueError, f"shape holds {HUGE}"),
    "typestr": ({"typestr": "zz"}, BufferError, "typestr must be little-endian"),
    "no typestr": ({"typestr": None}, TypeError, "typestr must be str or bytes, got None"),
    "no data": ({"data": None}, BufferError, "data must be (address, is_readonly), got None"),
    "half data": ({"data": (1,)}, BufferError, "data must be (address, is_readonly), got tuple"),
    "address": ({"data": ("x", False)}, TypeError, "address in data must be an integer, got str"),
    "strides within": ({"strides": (3,)}, ValueError, "strides must be divisible by itemsize"),
    "too many strides": ({"strides": (4, 4)}, BufferError, "one entry for each extent, got (4, 4)"),
    "huge strides": ({"strides": (HUGE,)}, ValueError, f"strides holds {HUGE}"),
    "stream": ({"stream": "x"}, TypeError, "must be an integer, got str"),
}


@pytest.mark.parametrize("name", INTERFACES)
def test_array_interfaces_that_are_wrong(memory, name):
    entries, error, text = INTERFACES[name]
    make = lambda x: StridedMemoryView.from_cuda_array_interface(x, -1)  # noqa: E731
    check(name, make, Producer(memory, **entries), error, text)


def test_interfaces_that_are_no_dictionaries():
    class Wrong:
        __cuda_array_interface__ = 5
        __array_interface__ = 5

    with pytest.raises(TypeError, match="'__cuda_array_interface__' must be a dict, got int"):
        StridedMemoryView.from_cuda_array_interface(Wrong(), -1)
    with pytest.raises(TypeError, match="'__array_interface__' must be a dict, got int"):
        StridedMemoryView.from_array_interface(Wrong())


@pytest.mark.parametrize(
    ("device", "capsule", "text"),
    [
        (5, None, "must give (type, ordinal), got 5"),
        ((2, 0), 5, "did not give a DLPack capsule, but 5"),
        ((7, 0), 5, "DLPack's device type 7: device not supported"),
    ],
)
def test_dlpack_that_is_wrong(device, capsule, text):
    class Wrong:
        def __dlpack_device__(self):
            return device

        def __dlpack__(self, **_):
            return capsule

    make = lambda x: StridedMemoryView.from_dlpack(x, -1)  # noqa: E731
    check("from_dlpack", make, Wrong(), BufferError, text)


def test_buffers_that_cannot_be_viewed(memory):
    view = lambda x: StridedMemoryView.from_buffer(x, (4,), dtype=np.float32)  # noqa: E731
    refused = [row for row in buffers("buffer") if type(row[0]) is not cuprum.Buffer]
    check_all("from_buffer", view, refused)
    check("from_buffer", view, memory.closed, cuprum.ClosedError, "this Buffer was closed")
    check_all("shape", lambda x: of_buffer(memory, x, itemsize=4), numbers("shape"))
    refused = [row for row in numbers("strides") if row[0] is not None]  # None is allowed here
    check_all("strides", lambda x: of_buffer(memory, (4,), x, itemsize=4), refused)
    refused = [row for row in integers("itemsize") if row[0] is not None]
    check_all("itemsize", lambda x: of_buffer(memory, (4,), itemsize=x), refused)
    for arguments, keywords, error, text in (
        (((4,),), {}, ValueError, "either itemsize or dtype must be specified"),
        (((4,),), {"itemsize": 8, "dtype": np.float32}, ValueError, "does not match dtype"),
        (((4,),), {"itemsize": 0}, ValueError, "itemsize must be at least 1 byte, got 0"),
        (((4,),), {"dtype": "zz"}, TypeError, "zz"),
        (((-1,),), {"itemsize": 4}, ValueError, "shape is (-1,): Extents must be non-negative"),
        (((17,),), {"itemsize": 4}, ValueError, "Expected at least 68 bytes, got 64 bytes"),
        (((1 << 40,) * 2,), {"itemsize": 4}, ValueError, "than 64 bits can count"),
        (((1,) * 65,), {"itemsize": 4}, ValueError, "65 dimensions, expected at most 64"),
        (((4,), (1, 2)), {"itemsize": 4}, ValueError, "strides has 2 entries, expected one"),
        (((4,), (-1,)), {"itemsize": 4}, ValueError, "it reaches from byte -12 to 4"),
        (((4,),), {"itemsize": 4, "is_readonly": np.zeros(2)}, ValueError, "truth value"),
        (((4,),), {"dtype": object}, ValueError, "Python objects have no meaning"),
    ):
        make = lambda _: of_buffer(memory, *arguments, **keywords)  # noqa: B023, E731
        check(f"{arguments} {keywords}", make, None, error, text)


# ---- what is done with them ---------------------------------------------------------------------


def test_copies_of_views_that_cannot_be(memory):
    view, stream = memory.view, memory.stream
    constant = np.zeros(SHAPE, np.float32)
    constant.flags.writeable = False
    for value, error, text in (
        ("x", BufferError, "str does not support any data exchange protocol"),
        (None, BufferError, "None does not support any data exchange protocol"),
        (np.zeros((2, 8), np.float32), ValueError, "expected the same shape and element size"),
        (np.zeros(SHAPE, np.int32), ValueError, "expected the same: a copy does not convert"),
        (memory.closed, cuprum.ClosedError, "this Buffer was closed"),
        (view, ValueError, "source and destination overlap"),
        (view.view(view.layout), ValueError, "source and destination overlap"),
    ):
        check("copy_to", lambda x: view.copy_to(x, stream), value, error, text)
        check("copy_from", lambda x: view.copy_from(x, stream), value, error, text)
    read_only = "the destination is read-only; copy into memory that may be written"
    check("copy_to", lambda x: view.copy_to(x, stream), constant, ValueError, read_only)
    marked = of_buffer(memory, dtype=np.float32, is_readonly=True)
    with pytest.raises(ValueError, match="the destination is read-only"):
        marked.copy_from(np.zeros(SHAPE, np.float32), stream)
    array = np.zeros(SHAPE, np.float32)
    check_all("copy_to", lambda s: view.copy_to(array, s), streams(memory.device))
    check_all("copy_from", lambda s: view.copy_from(array, s), streams(memory.device))


def test_views_of_views_that_cannot_be(memory):
    view = memory.view
    for arguments, error, text in (
        (("x",), TypeError, "layout must be a StridedLayout, got str"),
        ((StridedLayout.dense((5, 4), 4),), ValueError, "Expected at least 80 bytes, got 64"),
        ((StridedLayout.dense(SHAPE, 2),), ValueError, "dtype has elements of 4 bytes, expected"),
        ((None, "zz"), TypeError, "zz"),
        ((None, np.int16), ValueError, "dtype has elements of 2 bytes, expected the layout's 4"),
    ):
        check("view", lambda x: view.view(*x), arguments, error, text)


def test_read_only_is_told_or_refused(memory):
    constant = np.arange(4.0)
    constant.flags.writeable = False
    view = StridedMemoryView.from_any_interface(constant, -1)
    assert view.readonly
    assert view.view(view.layout[1:]).readonly
    assert not np.from_dlpack(view).flags.writeable
    with pytest.raises(BufferError, match=r"read-only, which DLPack marks only since version 1\.0"):
        view.__dlpack__()
    with pytest.raises(BufferError, match=r"pass max_version=\(1, 0\)"):
        view.__dlpack__(max_version=(0, 8))
    again = StridedMemoryView.from_dlpack(view, -1)
    assert again.readonly
    marked = of_buffer(memory, dtype=np.float32, is_readonly=True)
    assert marked.readonly
    assert StridedMemoryView.from_dlpack(marked, -1).readonly


def test_what_dlpack_cannot_give(memory):
    for keywords, error, text in (
        ({"dl_device": (2, 1)}, BufferError, "not supported: dl_device"),
        ({"copy": True}, BufferError, "not supported: copy=True"),
        ({"max_version": 3}, BufferError, "max_version"),
        ({"stream": "x"}, TypeError, "stream must be an integer, got str"),
        ({"stream": -3}, ValueError, "or -1 for no ordering, got -3"),
    ):
        check("__dlpack__", lambda x: memory.view.__dlpack__(**x), keywords, error, text)


# ---- layouts ------------------------------------------------------------------------------------

LAYOUT = StridedLayout.dense((4, 6), 4)
LAYOUTS = {
    "axis twice": (lambda: LAYOUT.permuted((0, 0)), ValueError, "axis 0 appears multiple times"),
    "few axes": (lambda: LAYOUT.permuted((0,)), ValueError, "same length as the number of dim"),
    "no axes": (lambda: LAYOUT.permuted("x"), TypeError, "axis_order must be a tuple of integers"),
    "axis 5": (lambda: LAYOUT.permuted((0, 5)), ValueError, "axis 5 out of range for a layout"),
    "volume": (lambda: LAYOUT.reshaped((5, 5)), ValueError, "volume 24 and the new volume 25"),
    "two -1": (lambda: LAYOUT.reshaped((-1, -1)), ValueError, "at most one -1 extent"),
    "gaps": (
        lambda: LAYOUT.permuted((1, 0)).reshaped((24,)),
        ValueError,
        "strides are incompatible with the new shape",
    ),
    "broadcast": (lambda: LAYOUT.broadcast_to((3, 6)), ValueError, "axis 0 has extent 4, expected"),
    "unsqueezed": (lambda: LAYOUT.unsqueezed(9), ValueError, "axis 9 out of range"),
    "repacked": (lambda: LAYOUT.repacked(5), ValueError, "multiple or a divisor of 4, got 5"),
    "index": (lambda: LAYOUT[9], ValueError, "index 9 is out of range for axis 0 with extent 4"),
    "huge index": (lambda: LAYOUT[HUGE], ValueError, f"index {HUGE} is out of range for any axis"),
    "indices": (lambda: LAYOUT[0, 0, 0], ValueError, "number of slices, 3, is greater than"),
    "key": (lambda: LAYOUT["x"], TypeError, "Expected slice instance or integer, got str"),
    "step": (lambda: LAYOUT[::0], ValueError, "slice step cannot be zero (axis 0)"),
    "order": (lambda: StridedLayout.dense((4,), 4, "x"), ValueError, '"C", "F" or a tuple of axes'),
    "order of dense": (lambda: LAYOUT.to_dense("x"), ValueError, '"C", "F", "K" or a tuple'),
    "no order": (lambda: LAYOUT.to_dense(None), TypeError, "stride_order must be a tuple of int"),
    "large mask": (lambda: LAYOUT.flattened(mask=HUGE), ValueError, "mask must be from 0 to 2**64"),
    "no mask": (lambda: LAYOUT.flattened(mask="x"), TypeError, "mask must be an integer, got str"),
    "keep_dim": (lambda: LAYOUT.repacked(8, keep_dim=1), TypeError, "keep_dim must be a bool"),
    "divide": (lambda: StridedLayout((4,), (4,), 4, 1), TypeError, "divide_strides must be a bool"),
    "like": (lambda: StridedLayout.dense_like("x"), TypeError, "other must be a StridedLayout"),
    "no bytes": (lambda: StridedLayout.dense((4,), 0), ValueError, "at least 1, got 0"),
    "negative": (lambda: StridedLayout.dense((-4,), 4), ValueError, "Extents must be non-negative"),
    "beyond": (lambda: StridedLayout.dense((1 << 40,) * 2, 4), ValueError, "than 64 bits can"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_that_cannot_be(name):
    action, error, text = LAYOUTS[name]
    check(name, lambda _: action(), None, error, text)


def test_numbers_of_layouts():
    check_all("dense", lambda x: StridedLayout.dense(x, 4), numbers("shape"))
    check_all("StridedLayout", lambda x: StridedLayout(x, None, 4), numbers("shape"))
    refused = [row for row in numbers("strides") if row[0] is not None]
    check_all("StridedLayout", lambda x: StridedLayout((4,), x, 4), refused)
    check_all("dense", lambda x: StridedLayout.dense((4,), x), integers("itemsize"))
    check_all("repacked", LAYOUT.repacked, integers("itemsize"))
    check_all("max_compatible_itemsize", LAYOUT.max_compatible_itemsize, integers("max_itemsize"))
    check_all("repacked", lambda x: LAYOUT.repacked(8, x), addresses("data_ptr"))
    for name, take in (
        ("start_axis", lambda x: LAYOUT.flattened(x)),
        ("end_axis", lambda x: LAYOUT.flattened(0, x)),
        ("axis", lambda x: LAYOUT.repacked(8, axis=x)),
        ("axis", lambda x: LAYOUT.max_compatible_itemsize(axis=x)),
    ):
        for value, error, text in (
            ("x", TypeError, f"{name} must be an integer, got str"),
            (None, TypeError, f"{name} must be an integer, got None"),
            (0.0, TypeError, f"{name} must be an integer, got float"),
            (2, ValueError, f"{name}: axis 2 out of range for a layout with 2 dimensions"),
            (1 << 40, ValueError, f"{name}: axis {1 << 40} out of range for any layout"),
            (HUGE, ValueError, f"{name} holds {HUGE}, expected a number of at most 64 bits"),
        ):
            check(name, take, value, error, text)
    check_all("reshaped", LAYOUT.reshaped, numbers("shape"))
    check_all("broadcast_to", LAYOUT.broadcast_to, numbers("shape"))


def test_arguments_that_are_no_arrays():
    function = args_viewable_as_strided_memory((0,))(lambda array: array.view(-1))
    for value in ("x", None, 3):
        check("argument", function, value, BufferError, "any data exchange protocol")
    for indices in ("x", (1.5,), (None,)):
        check("indices", args_viewable_as_strided_memory, indices, TypeError, "arg_indices must be")
    with pytest.raises(TypeError, match="takes an array as positional argument 5"):
        args_viewable_as_strided_memory((5,))(lambda array: array)(np.zeros(1))


# ---- lifetime -----------------------------------------------------------------------------------


def test_a_view_keeps_the_memory_of_a_buffer_that_is_closed(device, stream):
    pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})
    buffer = pool.allocate(BYTES, stream=stream)
    buffer.fill(7, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, (BYTES,), dtype=np.uint8)
    part = view.view(view.layout[8:])
    buffer.close()
    del view
    stream.sync()
    assert pool.attributes.used_mem_current > 0
    back = np.zeros(BYTES - 8, np.uint8)
    part.copy_to(back, stream)
    assert (back == 7).all()
    del part
    stream.sync()
    assert pool.attributes.used_mem_current == 0
    pool.close()
