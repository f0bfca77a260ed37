# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import copy
import dataclasses
import gc
import pickle
import unittest.mock

import numpy as np
import pytest

import cuprum
from cuprum.texture import (
    OpaqueArrayOptions,
    ResourceDescriptor,
    ResourceView,
    SurfaceObject,
    TextureObject,
    TextureObjectOptions,
)
from cuprum.typing import AddressModeType, FilterModeType, ReadModeType


def array_of(device, shape=(8, 4), format="float32", num_channels=1, **more):
    return device.create_opaque_array(OpaqueArrayOptions(shape, format, num_channels, **more))


def resource_of(device, **more):
    return ResourceDescriptor.from_opaque_array(array_of(device, **more))


def test_a_texture_knows_what_it_was_made_from(device):
    resource = resource_of(device)
    options = TextureObjectOptions(filter_mode="linear", normalized_coords=True)
    with device.create_texture_object(resource=resource, options=options) as texture:
        assert texture.handle != 0
        assert texture.resource is resource
        assert texture.options is options
        assert texture.device is device
        assert repr(texture) == f"TextureObject(handle={texture.handle:#x})"
    assert texture.is_closed
    assert texture.handle == 0
    assert texture.resource is None
    texture.close()
    assert repr(texture) == "<TextureObject closed>"


def test_a_surface_knows_what_it_was_made_from(device):
    resource = resource_of(device, is_surface_load_store=True)
    with device.create_surface_object(resource=resource) as surface:
        assert surface.handle != 0
        assert surface.resource is resource
        assert surface.device is device
        assert repr(surface) == f"SurfaceObject(handle={surface.handle:#x})"
    assert surface.handle == 0
    assert surface.resource is None
    surface.close()
    assert repr(surface) == "<SurfaceObject closed>"


def test_a_texture_without_options_has_the_defaults(device):
    texture = device.create_texture_object(resource=resource_of(device))
    assert texture.options == TextureObjectOptions()
    texture = device.create_texture_object(
        resource=resource_of(device), options={"address_mode": "border"}
    )
    assert texture.options.address_mode == "border"


def test_objects_keep_their_array_alive_and_show_it_to_the_collector(device):
    resource = resource_of(device, is_surface_load_store=True)
    array = resource.source
    texture = device.create_texture_object(resource=resource)
    surface = device.create_surface_object(resource=resource)
    for made in (texture, surface):
        assert any(each is resource for each in gc.get_referents(made))
    assert any(each is array for each in gc.get_referents(resource))
    del resource, array
    gc.collect()
    assert texture.resource.source.shape == (8, 4)


def test_options_convert_strings_and_forget_what_was_cached(device):
    options = TextureObjectOptions(
        filter_mode="linear", read_mode="normalized_float", mipmap_filter_mode="linear"
    )
    assert options.filter_mode is FilterModeType.LINEAR
    assert options.read_mode is ReadModeType.NORMALIZED_FLOAT
    assert options.mipmap_filter_mode is FilterModeType.LINEAR
    bytes_array = ResourceDescriptor.from_opaque_array(array_of(device, format="uint8"))
    device.create_texture_object(resource=bytes_array, options=options)
    assert pickle.loads(pickle.dumps(options)) == options
    assert copy.deepcopy(options) == options
    assert vars(options).keys() == {field.name for field in dataclasses.fields(options)}
    assert dataclasses.replace(options, srgb=True).srgb
    options.read_mode = "element_type"
    with pytest.raises(ValueError, match=r"filter_mode is linear, .* integers of format uint8"):
        device.create_texture_object(resource=bytes_array, options=options)
    colour = [0.0, 0.0, 0.0, 0.0]
    options = TextureObjectOptions(border_color=colour)
    device.create_texture_object(resource=bytes_array, options=options)
    colour.append(1.0)
    with pytest.raises(ValueError, match="border_color must have 4 elements, got 5"):
        device.create_texture_object(resource=bytes_array, options=options)


def test_options_of_a_subclass_are_read_and_cached_too(device):
    class Smooth(TextureObjectOptions):
        name = "smooth"

    options = Smooth(filter_mode="linear")
    floats = ResourceDescriptor.from_opaque_array(array_of(device))
    numbers = ResourceDescriptor.from_opaque_array(array_of(device, format="int32"))
    for _ in range(2):
        device.create_texture_object(resource=floats, options=options)
        with pytest.raises(ValueError, match=r"filter_mode is linear, .* int32"):
            device.create_texture_object(resource=numbers, options=options)
    options.filter_mode = "point"
    device.create_texture_object(resource=numbers, options=options)


def test_objects_that_claim_to_be_options_are_read_like_others(device):
    class Claim:
        __class__ = property(lambda self: TextureObjectOptions)

        def __getattr__(self, name):
            return getattr(TextureObjectOptions(filter_mode="linear"), name)

    floats = ResourceDescriptor.from_opaque_array(array_of(device))
    for _ in range(2):
        device.create_texture_object(resource=floats, options=Claim())
        mock = unittest.mock.Mock(spec=TextureObjectOptions())
        with pytest.raises(TypeError, match=r"address_mode must be .* got Mock"):
            device.create_texture_object(resource=floats, options=mock)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"filter_mode": 0}, ValueError, "filter_mode must be a FilterModeType"),
        ({"filter_mode": "cubic"}, ValueError, "'point', 'linear'; got 'cubic'"),
        ({"read_mode": 0}, ValueError, "read_mode must be a ReadModeType"),
        ({"mipmap_filter_mode": 0}, ValueError, "mipmap_filter_mode must be a FilterModeType"),
        ({"max_anisotropy": -1}, ValueError, "max_anisotropy"),
        ({"max_anisotropy": 1.5}, TypeError, "max_anisotropy"),
        ({"border_color": (0.0, 0.0)}, ValueError, "border_color must have 4 elements, got 2"),
        ({"border_color": 3}, TypeError, "border_color must be four numbers or None, got int"),
        ({"border_color": "abcd"}, TypeError, "border_color must be a number, got str"),
        ({"address_mode": 42}, TypeError, "address_mode must be .*, got int"),
        ({"address_mode": ()}, ValueError, "address_mode tuple must have 1-3 entries, got 0"),
        ({"address_mode": ("wrap",) * 4}, ValueError, "address_mode tuple must have 1-3"),
        ({"address_mode": ("wrap", "bad")}, ValueError, r"address_mode\[1\] must be"),
        ({"address_mode": "bad"}, ValueError, "address_mode must be .*got 'bad'"),
        ({"mipmap_level_bias": float("nan")}, ValueError, "mipmap_level_bias is nan"),
        ({"mipmap_level_bias": "1"}, TypeError, "mipmap_level_bias must be a number, got str"),
        ({"seamless_cubemap": True}, ValueError, "seamless_cubemap is set"),
        ({"view": {"first_level": 1}}, ValueError, "levels 1 to 0.*1 level"),
        ({"view": {"last_layer": 3}}, ValueError, "layers 0 to 3.*1 layer"),
        ({"view": {"format": "uint9x1"}}, ValueError, "format must be a ResourceViewFormatType"),
        ({"view": {"first_level": -1}}, ValueError, "first_level"),
        ({"view": 3}, TypeError, "an object of type ResourceView"),
        ({"unknown": 1}, TypeError, "unknown"),
    ],
)
def test_bad_options_are_refused(device, options, error, text):
    resource = resource_of(device)
    with pytest.raises(error, match=text):
        device.create_texture_object(resource=resource, options=options)


def test_arguments_of_other_types_are_refused(device):
    with pytest.raises(TypeError, match="resource must be a ResourceDescriptor, got object"):
        device.create_texture_object(resource=object())
    with pytest.raises(TypeError, match="resource must be a ResourceDescriptor, got None"):
        device.create_surface_object(resource=None)
    with pytest.raises(TypeError, match="an object of type TextureObjectOptions"):
        device.create_texture_object(resource=resource_of(device), options="none")
    with pytest.raises(TypeError, match="array must be an OpaqueArray, got int"):
        ResourceDescriptor.from_opaque_array(1)
    with pytest.raises(TypeError, match="mipmapped_array must be a MipmappedArray, got object"):
        ResourceDescriptor.from_mipmapped_array(object())
    with pytest.raises(TypeError, match="buffer must be a Buffer, got object"):
        ResourceDescriptor.from_linear(object(), format="uint8", num_channels=1)


def test_closed_resources_are_refused(device, stream):
    resource = resource_of(device, is_surface_load_store=True)
    resource.source.close()
    with pytest.raises(cuprum.ClosedError, match="OpaqueArray"):
        device.create_texture_object(resource=resource)
    with pytest.raises(cuprum.ClosedError, match="OpaqueArray"):
        device.create_surface_object(resource=resource)
    with pytest.raises(cuprum.ClosedError, match="OpaqueArray"):
        ResourceDescriptor.from_opaque_array(resource.source)
    buffer = device.allocate(256, stream=stream)
    linear = ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1)
    buffer.close()
    with pytest.raises(cuprum.ClosedError, match="Buffer"):
        device.create_texture_object(resource=linear)


def test_surfaces_need_an_array_that_allows_them(device, stream):
    with pytest.raises(ValueError, match="is_surface_load_store=True"):
        device.create_surface_object(resource=resource_of(device))
    buffer = device.allocate(4096, stream=stream)
    linear = ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1)
    with pytest.raises(ValueError, match="array-backed"):
        device.create_surface_object(resource=linear)
    levels = device.create_mipmapped_array(
        {"shape": (8, 8), "format": "uint8", "is_surface_load_store": True}
    )
    with pytest.raises(ValueError, match="array-backed"):
        device.create_surface_object(resource=ResourceDescriptor.from_mipmapped_array(levels))
    level = ResourceDescriptor.from_opaque_array(levels.get_level(1))
    assert device.create_surface_object(resource=level).handle != 0


def test_descriptors_of_buffers(device, stream):
    buffer = device.allocate(4096, stream=stream)
    linear = ResourceDescriptor.from_linear(
        buffer, format=np.uint16, num_channels=2, size_bytes=2048
    )
    assert (linear.kind, linear.format, linear.num_channels) == ("linear", "uint16", 2)
    assert (linear.size_bytes, linear.width, linear.height) == (2048, None, None)
    assert linear.source is buffer
    text = "ResourceDescriptor(kind='linear', format=UINT16, num_channels=2, size_bytes=2048)"
    assert repr(linear) == text
    rows = ResourceDescriptor.from_pitch2d(
        buffer, format="uint8", num_channels=4, width=30, height=16, pitch_bytes=128
    )
    assert (rows.kind, rows.width, rows.height, rows.pitch_bytes) == ("pitch2d", 30, 16, 128)
    assert rows.size_bytes is None
    assert "width=30, height=16, pitch_bytes=128" in repr(rows)
    array = resource_of(device)
    assert (array.kind, array.format, array.num_channels) == ("array", None, None)
    assert repr(array) == "ResourceDescriptor(kind='array')"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"size_bytes": 5000}, "size_bytes is 5000, which exceeds buffer.size, 4096"),
        ({"size_bytes": 0}, "at least one element of 4 bytes"),
        ({"size_bytes": 10}, "multiple of element size"),
        ({"num_channels": 3}, "num_channels"),
        ({"format": 0}, "format must be an ArrayFormatType"),
        ({"format": "bc1_unorm"}, "only arrays have other formats"),
    ],
)
def test_bad_linear_memory_is_refused(device, stream, arguments, text):
    buffer = device.allocate(4096, stream=stream)
    with pytest.raises(ValueError, match=text):
        ResourceDescriptor.from_linear(
            buffer, **{"format": "uint32", "num_channels": 1, **arguments}
        )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"width": 0}, "width is 0"),
        ({"height": -1}, "height is -1"),
        ({"pitch_bytes": 32}, "pitch_bytes is 32, .* 16 elements of 4 bytes"),
        ({"height": 100}, "64 times 100, exceeds buffer.size, 4096"),
    ],
)
def test_bad_pitched_memory_is_refused(device, stream, arguments, text):
    buffer = device.allocate(4096, stream=stream)
    given = {"format": "uint32", "num_channels": 1, "width": 16, "height": 8, "pitch_bytes": 64}
    with pytest.raises(ValueError, match=text):
        ResourceDescriptor.from_pitch2d(buffer, **{**given, **arguments})


def test_misaligned_memory_names_the_alignment(device, stream):
    alignment = device.properties.texture_alignment
    buffer = device.allocate(8192, stream=stream)
    linear = ResourceDescriptor.from_linear(buffer[4:4100], format="uint32", num_channels=1)
    with pytest.raises(ValueError, match=f"multiple of {alignment}: the texture_alignment"):
        device.create_texture_object(resource=linear)
    step = device.properties.texture_pitch_alignment
    rows = ResourceDescriptor.from_pitch2d(
        buffer, format="uint8", num_channels=1, width=8, height=8, pitch_bytes=step + 1
    )
    with pytest.raises(ValueError, match=f"pitch_bytes is {step + 1}, expected a multiple of"):
        device.create_texture_object(resource=rows)


def test_mipmapped_textures_need_normalized_coordinates(device):
    levels = device.create_mipmapped_array({"shape": (8, 8), "format": "float32"})
    resource = ResourceDescriptor.from_mipmapped_array(levels)
    with pytest.raises(ValueError, match="normalized_coords is not set"):
        device.create_texture_object(resource=resource)
    options = TextureObjectOptions(
        normalized_coords=True, view=ResourceView(first_level=1, last_level=2)
    )
    assert device.create_texture_object(resource=resource, options=options).handle != 0


def test_objects_are_not_made_directly_or_pickled(device):
    for made in (TextureObject, SurfaceObject, ResourceDescriptor):
        with pytest.raises(RuntimeError, match=f"^{made.__name__} cannot be instantiated directly"):
            made()
    resource = resource_of(device, is_surface_load_store=True)
    texture = device.create_texture_object(resource=resource)
    surface = device.create_surface_object(resource=resource)
    for each in (resource, texture, surface):
        with pytest.raises(TypeError):
            pickle.dumps(each)


def test_every_address_mode_is_taken(device):
    for mode in AddressModeType:
        texture = device.create_texture_object(
            resource=resource_of(device), options={"address_mode": (mode, "clamp")}
        )
        assert texture.handle != 0
