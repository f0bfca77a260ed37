# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Layouts, compared with the same operations in numpy; the core's tests have the corner cases."""

import itertools
import weakref

import numpy as np
import pytest

from cuprum.utils import StridedLayout


def layout_of(array):
    return StridedLayout(array.shape, array.strides, array.itemsize, divide_strides=True)


def offset_in(base, part):
    return part.ctypes.data - base.ctypes.data


SLICES = [
    np.s_[1:],
    np.s_[::-1],
    np.s_[:, ::2],
    np.s_[-2, 1:-1],
    np.s_[:, :, 2],
    np.s_[4:2],
    np.s_[::-1, ::-2, 1:3],
]


@pytest.mark.parametrize("slices", SLICES, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_slicing_follows_numpy(slices, order):
    array = np.zeros((4, 5, 6), np.float32, order=order)
    layout = StridedLayout.dense(array.shape, array.itemsize, order)
    part, expected = layout[slices], array[slices]
    assert part.shape == expected.shape
    assert part == layout.sliced(slices)
    assert part.slice_offset_in_bytes == offset_in(array, expected)
    if expected.size:
        assert part.strides_in_bytes == expected.strides
    assert part.is_contiguous_c == expected.flags.c_contiguous
    assert part.is_contiguous_f == expected.flags.f_contiguous


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))), ids=str)
def test_permuting_and_reshaping_follow_numpy(axes):
    array = np.arange(24, dtype=np.int16).reshape(2, 3, 4).transpose(axes)
    layout = StridedLayout.dense((2, 3, 4), 2).permuted(axes)
    assert layout == layout_of(array)
    assert layout.is_contiguous_any
    assert layout.to_dense() == layout
    for shape in [(24,), (6, 4), (4, 6), (2, 12), (-1, 2, 2)]:
        try:
            expected = array.reshape(shape, copy=False)
        except ValueError:
            with pytest.raises(ValueError, match="incompatible with the new shape"):
                layout.reshaped(shape)
        else:
            assert layout.reshaped(shape) == layout_of(expected)


def test_broadcasting_squeezing_and_unsqueezing_follow_numpy():
    array = np.zeros((3, 1, 2), np.float64)
    layout = layout_of(array)
    assert layout.broadcast_to((4, 3, 5, 2)) == layout_of(np.broadcast_to(array, (4, 3, 5, 2)))
    assert layout.squeezed() == layout_of(array.squeeze())
    assert layout.unsqueezed((0, 2)) == layout_of(np.expand_dims(array, (0, 2)))
    assert layout.unsqueezed(-1).shape == (3, 1, 2, 1)
    assert StridedLayout((2, 1, 4), (4, 20, 1), 8).unsqueezed(0).strides == (8, 4, 20, 1)
    assert not layout.broadcast_to((2, 3, 1, 2)).is_unique


def test_repacking_follows_numpys_view():
    array = np.zeros((5, 6), np.float32)
    assert layout_of(array).repacked(8) == layout_of(array.view(np.complex64))
    assert layout_of(array).repacked(2) == layout_of(array.view(np.int16))
    assert layout_of(array).max_compatible_itemsize() == 8
    assert layout_of(array).max_compatible_itemsize(data_ptr=4) == 4
    with pytest.raises(ValueError, match="max_itemsize is 2, expected at least the element's 4"):
        layout_of(array).max_compatible_itemsize(2)


def test_implicit_strides_stay_implicit():
    layout = StridedLayout((2, 3), None, 4)
    assert layout.strides is None
    assert layout.strides_in_bytes is None
    assert layout.to_dense("C").strides is None
    assert layout[:].strides == (3, 1)
    assert layout == StridedLayout.dense((2, 3), 4)
    assert hash(layout) == hash(StridedLayout.dense((2, 3), 4))


def test_layouts_are_values():
    layout = StridedLayout.dense((2, 3), 4)
    assert layout != StridedLayout.dense((3, 2), 4)
    assert layout != StridedLayout.dense((2, 3), 2)
    assert layout != "layout"
    assert layout.__eq__(3) is NotImplemented
    assert weakref.ref(layout)() is layout
    assert "shape (2, 3), strides (3, 1), 4-byte elements" in repr(layout)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: StridedLayout((2, -1), None, 4), ValueError, "non-negative"),
        (lambda: StridedLayout((2,), (1, 2), 4), ValueError, "strides has 2 entries"),
        (lambda: StridedLayout((2,), (6,), 4, True), ValueError, "divisible by itemsize"),
        (lambda: StridedLayout((2,), None, 0), ValueError, "itemsize must be at least 1"),
        (lambda: StridedLayout((2,), None, -4), ValueError, "itemsize must be at least 0"),
        (lambda: StridedLayout(3, None, 4), TypeError, "shape must be a tuple of integers"),
        (lambda: StridedLayout((2.0,), None, 4), TypeError, "shape must be a tuple of integers"),
        (lambda: StridedLayout((2**70,), None, 4), ValueError, "64 bits"),
        (lambda: StridedLayout.dense((2,), 4, "K"), ValueError, "stride_order must be"),
        (lambda: StridedLayout.dense((2,), 4, (1,)), ValueError, "axis 1 out of range for"),
        (lambda: StridedLayout.dense((2,), 4)["a"], TypeError, "Expected slice instance or int"),
        (lambda: StridedLayout.dense((2,), 4)[2], ValueError, "out of range for axis 0"),
        (lambda: StridedLayout.dense((2,), 4)[0, 0], ValueError, "greater than the number of dim"),
        (lambda: StridedLayout.dense((2,), 4).repacked(3), ValueError, "multiple or a divisor"),
    ],
)
def test_what_is_no_layout_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()
