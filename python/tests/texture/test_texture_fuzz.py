# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Random arrays, regions and descriptors, with a fixed seed."""

import random

import numpy as np
import pytest

import cuprum
from cuprum.texture import ResourceDescriptor
from cuprum.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

PLAIN = ("uint8", "uint16", "uint32", "int8", "int16", "int32", "float16", "float32")
REFUSALS = (ValueError, TypeError, OverflowError, cuprum.CUDAError)
CASES = 60


def random_array(device, random_source):
    """Make a random array and a numpy array of zeros with its shape."""
    kind = random_source.choice(("1d", "2d", "3d", "1d layers", "2d layers", "cube"))
    sizes = [random_source.randint(1, 12) for _ in range(3)]
    options = {
        "format": random_source.choice(PLAIN),
        "num_channels": random_source.choice((1, 2, 4)),
        "shape": tuple(sizes[: int(kind[0])]) if kind != "cube" else (sizes[0], sizes[0]),
    }
    axes = list(options["shape"])
    if "layers" in kind:
        options["num_layers"] = random_source.randint(1, 4)
        axes = [*axes, *([1] if kind[0] == "1" else []), options["num_layers"]]
    if kind == "cube":
        options["is_cubemap"] = True
        axes.append(6)
    array = device.create_opaque_array(options)
    model = np.zeros((*axes[::-1], options["num_channels"]), options["format"])
    return array, axes, model


@pytest.mark.parametrize("seed", range(4))
def test_random_regions_agree_with_numpy(device, stream, seed):
    random_source = random.Random(seed)
    numbers = np.random.default_rng(seed)
    for _ in range(CASES // 4):
        array, axes, model = random_array(device, random_source)
        array.copy_from(model, stream=stream)
        for _ in range(4):
            offset = tuple(random_source.randrange(size) for size in axes)
            shape = tuple(
                random_source.randint(1, size - first)
                for size, first in zip(axes, offset, strict=True)
            )
            place = tuple(slice(o, o + s) for o, s in zip(offset, shape, strict=True))[::-1]
            part = numbers.integers(0, 100, model[place].shape).astype(model.dtype)
            array.copy_from(part, stream=stream, offset=offset, shape=shape)
            model[place] = part
            seen = array.to_numpy(stream=stream, offset=offset, shape=shape)
            np.testing.assert_array_equal(seen.reshape(part.shape), part)
        whole = array.to_numpy(stream=stream)
        np.testing.assert_array_equal(whole.reshape(model.shape), model)
        other = device.create_opaque_array(
            {
                "shape": array.shape,
                "format": array.format,
                "num_channels": array.num_channels,
                "num_layers": array.num_layers,
                "is_cubemap": array.is_cubemap,
            }
        )
        other.copy_from(array, stream=stream)
        np.testing.assert_array_equal(other.to_numpy(stream=stream), whole)


SIZES = (1, 2, 4, 5, 16, 1 << 20, 1 << 33, 0, -1)


def is_large(shape):
    """Return whether an array could fill the memory."""
    return isinstance(shape, tuple) and np.prod(np.abs(np.array(shape, float))) > 1 << 22


JUNK = (None, -1, 0, 3, 1 << 40, 1 << 70, 1.5, "", "linear", (), (1, 2, 3, 4), b"\0", object())


@pytest.mark.parametrize("seed", range(4))
def test_random_options_of_arrays_are_taken_or_refused(device, seed):
    random_source = random.Random(seed)
    made = refused = 0
    for _ in range(CASES * 4):
        options = {
            "shape": tuple(random_source.choices(SIZES, k=random_source.randint(0, 4))),
            "format": random_source.choice([*ArrayFormatType, "float32", np.int8]),
            "num_channels": random_source.choice((None, 1, 2, 3, 4)),
            "num_layers": random_source.choice((0, 0, 0, 1, 6, 4096)),
        }
        for flag in ("is_cubemap", "is_surface_load_store", "is_texture_gather", "is_sparse"):
            options[flag] = random_source.random() < 0.15
        if random_source.random() < 0.2:
            options[random_source.choice(list(options))] = random_source.choice(JUNK)
        if is_large(options["shape"]):
            options["shape"] = (1 << 33, 4)  # over a limit, not a question of memory
        try:
            device.create_opaque_array(options).close()
            made += 1
        except REFUSALS as error:
            refused += str(error) != ""
    assert made
    assert refused


@pytest.mark.parametrize("seed", range(4))
def test_random_descriptors_of_textures_are_taken_or_refused(device, stream, seed):
    random_source = random.Random(seed)
    buffer = device.allocate(1 << 16, stream=stream)
    arrays = [
        device.create_opaque_array({"shape": (8, 8), "format": name, "num_channels": 4})
        for name in PLAIN
    ]
    cube = device.create_opaque_array({"shape": (8, 8), "format": "uint8", "is_cubemap": True})
    levels = device.create_mipmapped_array({"shape": (8, 8), "format": "float32"})
    resources = [ResourceDescriptor.from_opaque_array(array) for array in (*arrays, cube)]
    resources.append(ResourceDescriptor.from_mipmapped_array(levels))
    resources.append(ResourceDescriptor.from_linear(buffer, format="int16", num_channels=2))
    made = refused = 0
    for _ in range(CASES * 4):
        options = {
            "address_mode": tuple(random_source.choices(list(AddressModeType), k=3)),
            "filter_mode": random_source.choice(list(FilterModeType)),
            "read_mode": random_source.choice(list(ReadModeType)),
            "mipmap_filter_mode": random_source.choice(list(FilterModeType)),
            "normalized_coords": random_source.random() < 0.5,
            "srgb": random_source.random() < 0.2,
            "seamless_cubemap": random_source.random() < 0.2,
            "max_anisotropy": random_source.choice((0, 1, 16, 99)),
            "mipmap_level_bias": random_source.choice((0.0, -1.5, 3.0)),
            "max_mipmap_level_clamp": random_source.choice((0.0, 2.0, 99.0)),
            "border_color": random_source.choice((None, (1.0, 0.0, 0.5, 2.0))),
        }
        if random_source.random() < 0.3:
            options["view"] = {
                "first_level": random_source.randint(0, 4),
                "last_layer": random_source.choice((None, 0, 5, 9)),
            }
        if random_source.random() < 0.3:
            options[random_source.choice(list(options))] = random_source.choice(JUNK)
        resource = random_source.choice(resources)
        try:
            device.create_texture_object(resource=resource, options=options).close()
            made += 1
        except REFUSALS as error:
            refused += str(error) != ""
    assert made
    assert refused
