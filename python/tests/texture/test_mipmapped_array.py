# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import gc
import pickle

import numpy as np
import pytest

import cuprum
from cuprum.texture import MipmappedArrayOptions, OpaqueArray
from cuprum.typing import ArrayFormatType


def make(device, shape=(64, 32), format="uint8", num_channels=1, num_levels=None, **more):
    return device.create_mipmapped_array(
        MipmappedArrayOptions(shape, format, num_channels, num_levels, **more)
    )


def test_an_array_tells_how_it_was_made(device):
    with make(device, num_levels=4, num_channels=4, is_surface_load_store=True) as array:
        assert array.shape == (64, 32)
        assert array.format is ArrayFormatType.UINT8
        assert array.num_channels == 4
        assert array.num_levels == 4
        assert array.num_layers == 0
        assert array.is_cubemap is False
        assert array.is_surface_load_store is True
        assert array.device is device
        assert array.handle != 0
        text = "MipmappedArray(shape=(64, 32), format=UINT8, num_channels=4, num_levels=4)"
        assert repr(array) == text
    assert array.is_closed
    assert array.handle == 0
    array.close()
    assert repr(array) == "<MipmappedArray closed>"
    with pytest.raises(cuprum.ClosedError, match="MipmappedArray"):
        array.get_level(0)


def test_all_levels_end_with_one_element(device):
    array = make(device)
    assert array.num_levels == 7
    shapes = [array.get_level(level).shape for level in range(7)]
    assert shapes == [(64, 32), (32, 16), (16, 8), (8, 4), (4, 2), (2, 1), (1, 1)]


def test_a_level_outlives_the_whole(device, stream):
    array = make(device, format="uint32")
    level = array.get_level(3)
    assert isinstance(level, OpaqueArray)
    assert level == array.get_level(3)
    array.close()
    del array
    gc.collect()
    values = np.arange(32, dtype=np.uint32).reshape(4, 8)
    level.copy_from(values, stream=stream)
    np.testing.assert_array_equal(level.to_numpy(stream=stream), values)


def test_layers_and_cubemaps_have_levels(device):
    layered = make(device, (8, 8), num_layers=3)
    assert (layered.num_layers, layered.num_levels) == (3, 4)
    assert layered.get_level(1).shape == (4, 4)
    assert layered.get_level(1).num_layers == 3
    cube = make(device, (8, 8), is_cubemap=True)
    assert cube.is_cubemap
    assert cube.get_level(2).is_cubemap


@pytest.mark.parametrize(
    ("level", "error", "text"),
    [
        (7, ValueError, "level is 7, expected less than num_levels, which is 7"),
        (-1, ValueError, "level is -1, expected a number >= 0"),
        (1.5, TypeError, "level must be an int, got float"),
        (None, TypeError, "level must be an int, got None"),
        (1 << 70, ValueError, "level is 1180591.*, expected less than num_levels, which is 7"),
    ],
)
def test_levels_that_do_not_exist_are_refused(device, level, error, text):
    with pytest.raises(error, match=text):
        make(device).get_level(level)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"num_levels": 0}, ValueError, "num_levels is 0"),
        ({"num_levels": -2}, ValueError, "num_levels is -2"),
        ({"num_levels": 8}, ValueError, "num_levels is 8, expected at most 7.*64 x 32"),
        ({"num_levels": "3"}, TypeError, "num_levels must be an int or None, got str"),
        ({"num_levels": 1.5}, TypeError, "num_levels must be an int or None, got float"),
        ({"num_levels": True}, TypeError, "num_levels must be an int or None, got bool"),
        ({"format": 0}, ValueError, "format must be an ArrayFormatType"),
        ({"num_channels": 3}, ValueError, "num_channels"),
        ({"shape": (0, 8)}, ValueError, r"shape\[0\] must be >= 1"),
    ],
)
def test_bad_options_are_refused(device, options, error, text):
    given = {"shape": (64, 32), "format": "uint8", "num_channels": 1, "num_levels": 2, **options}
    with pytest.raises(error, match=text):
        device.create_mipmapped_array(given)


def test_no_levels_are_refused_however_they_were_set(device):
    options = MipmappedArrayOptions((64, 32), "uint8")
    options.num_levels = 0
    with pytest.raises(ValueError, match="num_levels is 0, expected at least 1, or None"):
        device.create_mipmapped_array(options)
    options.num_levels = None
    assert device.create_mipmapped_array(options).num_levels == 7


def test_mipmapped_arrays_are_not_pickled(device):
    with pytest.raises(TypeError):
        pickle.dumps(make(device))
