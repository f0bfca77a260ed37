# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import array as array_module
import ctypes
import gc
import pickle
import weakref

import numpy as np
import pytest

import cuprum
from cuprum.texture import (
    MipmappedArrayOptions,
    OpaqueArray,
    OpaqueArrayOptions,
    ResourceDescriptor,
)
from cuprum.typing import ArrayFormatType


def make(device, shape, format="float32", num_channels=None, **more):
    return device.create_opaque_array(
        OpaqueArrayOptions(shape=shape, format=format, num_channels=num_channels, **more)
    )


def test_an_array_tells_how_it_was_made(device):
    with make(device, (32, 16), "uint8", 4, is_surface_load_store=True) as array:
        assert array.shape == (32, 16)
        assert array.format is ArrayFormatType.UINT8
        assert array.num_channels == 4
        assert array.element_bytes == 4
        assert array.size_bytes == 32 * 16 * 4
        assert array.is_surface_load_store is True
        assert array.num_layers == 0
        assert array.is_cubemap is False
        assert array.device is device
        assert array.handle != 0
        assert repr(array) == "OpaqueArray(shape=(32, 16), format=UINT8, num_channels=4)"
    assert array.is_closed
    assert array.handle == 0
    assert repr(array) == "<OpaqueArray closed>"
    array.close()
    with pytest.raises(cuprum.ClosedError, match="OpaqueArray"):
        array.shape  # noqa: B018


def test_options_may_be_a_dict(device):
    array = device.create_opaque_array({"shape": [8], "format": np.int16, "num_channels": 2})
    assert (array.shape, array.format, array.element_bytes) == ((8,), "int16", 4)


@pytest.mark.parametrize(
    ("shape", "more", "numpy_shape"),
    [
        ((5,), {}, (5,)),
        ((5, 3), {}, (3, 5)),
        ((5, 3, 2), {}, (2, 3, 5)),
        ((5,), {"num_layers": 4}, (4, 5)),
        ((5, 3), {"num_layers": 4}, (4, 3, 5)),
        ((4, 4), {"is_cubemap": True}, (6, 4, 4)),
        ((4, 4), {"is_cubemap": True, "num_layers": 2}, (12, 4, 4)),
        ((5, 3), {"num_channels": 2}, (3, 5, 2)),
        ((5, 3), {"format": "uint8", "num_channels": 4}, (3, 5, 4)),
        ((5, 3), {"format": "float16"}, (3, 5)),
        ((5, 3), {"format": "unorm_int8x4"}, (3, 5, 4)),
        ((5, 3), {"format": "snorm_int16x2"}, (3, 5, 2)),
        ((5, 3), {"format": "unorm_int_101010_2"}, (3, 5)),
        ((8, 5), {"format": "bc1_unorm"}, (2, 2, 8)),
        ((8, 8), {"format": "bc6h_sf16"}, (2, 2, 16)),
    ],
)
def test_numpy_goes_in_and_out_in_one_call(device, stream, shape, more, numpy_shape):
    array = make(device, shape, **{"format": "float32", **more})
    fresh = array.to_numpy(stream=stream)
    assert fresh.shape == numpy_shape
    assert fresh.nbytes == array.size_bytes
    values = np.arange(fresh.size).reshape(numpy_shape).astype(fresh.dtype)
    array.copy_from(values, stream=stream)
    result = array.to_numpy(stream=stream)
    assert result.dtype == values.dtype
    np.testing.assert_array_equal(result, values)


def test_every_plain_format_and_number_of_channels_is_copied(device, stream):
    for name in ("uint8", "uint16", "uint32", "int8", "int16", "int32", "float16", "float32"):
        for channels in (1, 2, 4):
            array = make(device, (6, 2), name, channels)
            values = np.arange(12 * channels).reshape(2, 6, -1).astype(name)
            array.copy_from(values, stream=stream)
            result = array.to_numpy(stream=stream)
            assert result.dtype == np.dtype(name)
            np.testing.assert_array_equal(result.reshape(values.shape), values)


def test_rows_with_gaps_are_copied(device, stream):
    array = make(device, (4, 3), "uint8", 4)
    picture = np.arange(3 * 9 * 4, dtype=np.uint8).reshape(3, 9, 4)
    array.copy_from(picture[:, 2:6], stream=stream)
    np.testing.assert_array_equal(array.to_numpy(stream=stream), picture[:, 2:6])
    target = np.zeros((3, 9, 4), np.uint8)
    assert array.copy_to(target[:, 1:5], stream=stream) is not None
    stream.sync()
    np.testing.assert_array_equal(target[:, 1:5], picture[:, 2:6])
    assert not target[:, 5:].any()
    assert not target[:, 0].any()


def test_regions_are_copied(device, stream):
    array = make(device, (6, 4), "int32")
    array.copy_from(np.zeros((4, 6), np.int32), stream=stream)
    part = np.array([[1, 2], [3, 4]], np.int32)
    array.copy_from(part, stream=stream, offset=(3, 1), shape=(2, 2))
    expected = np.zeros((4, 6), np.int32)
    expected[1:3, 3:5] = part
    np.testing.assert_array_equal(array.to_numpy(stream=stream), expected)
    np.testing.assert_array_equal(
        array.to_numpy(stream=stream, offset=(2, 1), shape=(3, 2)), expected[1:3, 2:5]
    )
    np.testing.assert_array_equal(array.to_numpy(stream=stream, offset=(4, 2)), expected[2:, 4:])
    buffer = device.allocate(64, stream=stream)
    buffer.fill(0, stream=stream)
    array.copy_to(buffer, stream=stream, offset=(3, 1), shape=(2, 2), pitch_bytes=16)
    seen = np.empty(16, np.int32)
    buffer.copy_to_host(seen, stream=stream)
    stream.sync()
    assert seen[:6].tolist() == [1, 2, 0, 0, 3, 4]
    other = make(device, (6, 4), "int32")
    other.copy_from(array, stream=stream)
    np.testing.assert_array_equal(other.to_numpy(stream=stream), expected)
    array.copy_to(other, stream=stream, offset=(3, 1), shape=(2, 2), dst_offset=(0, 0))
    assert other.to_numpy(stream=stream)[0, :2].tolist() == [1, 2]
    other.copy_from(array, stream=stream, offset=(4, 2), shape=(2, 2), src_offset=(3, 1))
    assert other.to_numpy(stream=stream)[2:, 4:].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("values", "given"),
    [
        (np.zeros((3, 3), np.float32), r"shape \(3, 3\) of float32"),
        (np.zeros((2, 5), np.float32), r"shape \(2, 5\) of float32"),
        (np.zeros((2, 5), np.float32)[:, :4][:, ::-1], "strides above 0"),
        (np.zeros(100, np.float32), r"shape \(100,\) of float32"),
        (np.zeros((2, 4), np.float32).T, r"shape \(4, 2\) of float32"),
        (np.zeros((2, 2, 2), np.float32), r"shape \(2, 2, 2\) of float32"),
        (np.zeros((2, 4), np.int32), r"shape \(2, 4\) of int32"),
        (np.zeros((2, 4), np.uint32), r"shape \(2, 4\) of uint32"),
        (np.zeros((2, 4), np.float64), r"shape \(2, 4\) of float64"),
        (np.zeros((2, 2), np.complex64), r"shape \(2, 2\) of complex64"),
        (np.zeros((2, 4, 4), np.uint8), r"shape \(2, 4, 4\) of uint8"),
        (np.zeros(33, np.uint8), r"shape \(33,\) of uint8"),
        (np.zeros((2, 4), ">f4"), r"ndarray\) has elements of dtype\('>f4'\).*byte order"),
        (np.zeros((2, 4), "f4,i4")["f0"], "next to each other"),
        (np.zeros((2, 2), "f4,i4"), r"ndarray\) has elements of dtype\(\[.*'<i4'\)\]\)"),
        (np.zeros((2, 4), "M8[s]"), r"dtype\('<M8\[s\]'\), expected numbers"),
        (array_module.array("d", [0] * 8), r"shape \(8,\) of float64"),
        (array_module.array("f", [0] * 9), r"shape \(9,\) of float32"),
        ((ctypes.c_int32 * 8)(), r"shape \(8,\) of int32"),
        (memoryview(np.zeros((4, 2), np.float32)), r"shape \(4, 2\) of float32"),
    ],
)
def test_arrays_of_another_shape_or_type_are_refused(device, stream, values, given):
    array = make(device, (4, 2), "float32")
    array.copy_from(np.ones((2, 4), np.float32), stream=stream)
    for name, copy in {"src": array.copy_from, "dst": array.copy_to}.items():
        with pytest.raises(ValueError, match=f"{name} .*{given}"):
            copy(values, stream=stream)
    assert (array.to_numpy(stream=stream) == 1).all()


def test_the_message_about_a_shape_names_what_is_expected(device, stream):
    array = make(device, (4, 2), "float32")
    with pytest.raises(ValueError, match="src has shape") as error:
        array.copy_from(np.zeros((3, 3), np.float32), stream=stream)
    assert str(error.value) == (
        "src has shape (3, 3) of float32, expected shape (2, 4) of float32, slowest axis first, or "
        "these numbers in one dimension; convert or reshape it, or pass its bytes to copy them as "
        "they are"
    )
    with pytest.raises(ValueError, match="dst has 24 bytes") as error:
        array.copy_to(np.zeros((2, 3), np.float32), stream=stream)
    assert str(error.value).startswith(
        "dst has 24 bytes, smaller than the array extent of 32 bytes: it has shape (2, 3) of "
        "float32, expected shape (2, 4) of float32"
    )


@pytest.mark.parametrize(
    "values",
    [
        np.arange(8, dtype=np.float32),
        np.arange(8, dtype=np.float32).reshape(2, 4, 1),
        np.arange(8, dtype=np.float32).reshape(1, 2, 4),
        np.arange(8, dtype=np.float32).view(np.uint8),
        np.arange(8, dtype=np.float32).view([("value", "f4")]),
        array_module.array("f", range(8)),
        (ctypes.c_float * 8)(*range(8)),
        np.arange(8, dtype=np.float32).tobytes(),
        bytearray(np.arange(8, dtype=np.float32)) + b"more",
        memoryview(np.arange(10, dtype=np.float32).tobytes()),
        memoryview(np.arange(8, dtype=np.float32).reshape(2, 4)),
    ],
)
def test_the_same_numbers_in_another_form_are_copied(device, stream, values):
    array = make(device, (4, 2), "float32")
    array.copy_from(values, stream=stream)
    assert array.to_numpy(stream=stream).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    "values",
    [
        np.arange(4, dtype=np.uint8).reshape(1, 1, 4),
        np.arange(4, dtype=np.uint8).view(np.uint32).reshape(1, 1),
        np.arange(4, dtype=np.uint8).view([(name, "u1") for name in "rgba"]),
        np.arange(4, dtype=np.uint8).view([("color", "u1", (2, 2))]),
        np.arange(4, dtype=np.uint8).view("S4"),
    ],
)
def test_channels_are_an_axis_or_the_parts_of_an_element(device, stream, values):
    array = make(device, (1, 1), "uint8", 4)
    array.copy_from(values, stream=stream)
    assert array.to_numpy(stream=stream).tolist() == [[[0, 1, 2, 3]]]


def test_complex_numbers_are_two_channels(device, stream):
    array = make(device, (2, 2), "float32", 2)
    values = np.array([[1 + 2j, 3 + 4j], [5 + 6j, 7 + 8j]], np.complex64)
    array.copy_from(values, stream=stream)
    assert array.to_numpy(stream=stream).tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]


def test_booleans_are_bytes_of_0_and_1(device, stream):
    array = make(device, (3, 1), "uint8")
    array.copy_from(np.array([[True, False, True]]), stream=stream)
    assert array.to_numpy(stream=stream).tolist() == [[1, 0, 1]]


@pytest.mark.parametrize("shape", [(32, 10), (30, 8), (2, 1), (3, 3)])
def test_arrays_with_a_part_of_a_block_at_the_end_are_copied(device, stream, shape):
    source, target = (make(device, shape, "bc1_unorm") for _ in range(2))
    values = source.to_numpy(stream=stream)
    values[:] = np.arange(values.size).reshape(values.shape)
    source.copy_from(values, stream=stream)
    target.copy_from(source, stream=stream)
    np.testing.assert_array_equal(target.to_numpy(stream=stream), values)
    target.copy_from(np.zeros_like(values), stream=stream)
    source.copy_to(target, stream=stream)
    np.testing.assert_array_equal(target.to_numpy(stream=stream), values)


def test_every_level_of_a_compressed_mipmap_is_copied(device, stream):
    one, other = (
        device.create_mipmapped_array({"shape": (16, 16), "format": "bc1_unorm"}) for _ in range(2)
    )
    assert one.num_levels == 5
    for number in range(one.num_levels):
        source, target = one.get_level(number), other.get_level(number)
        values = source.to_numpy(stream=stream)
        values[:] = number + 1
        source.copy_from(values, stream=stream)
        target.copy_from(source, stream=stream)
        np.testing.assert_array_equal(target.to_numpy(stream=stream), values)


def test_a_region_ends_with_a_part_of_a_block_in_one_of_two_arrays(device, stream):
    whole, cut = make(device, (8, 8), "bc1_unorm"), make(device, (6, 6), "bc1_unorm")
    values = np.arange(32, dtype=np.uint8).reshape(2, 2, 8)
    whole.copy_from(values, stream=stream)
    cut.copy_from(np.zeros_like(values), stream=stream)
    cut.copy_from(whole, stream=stream, offset=(4, 4), shape=(4, 4), src_offset=(0, 0))
    np.testing.assert_array_equal(cut.to_numpy(stream=stream)[1, 1], values[0, 0])
    assert not cut.to_numpy(stream=stream)[0].any()


def test_numpy_makes_no_array_of_it(device):
    array = make(device, (4, 2))
    for convert in (np.array, np.asarray):
        with pytest.raises(TypeError, match=r"copy it with to_numpy\(stream=...\)"):
            convert(array)
    assert (np.int64(3) == array) is False


def test_one_layer_is_copied(device, stream):
    array = make(device, (3, 2), "int32", num_layers=4)
    array.copy_from(np.zeros((4, 2, 3), np.int32), stream=stream)
    layer = np.arange(6, dtype=np.int32).reshape(2, 3)
    array.copy_from(layer, stream=stream, offset=(0, 0, 2), shape=(3, 2, 1))
    result = array.to_numpy(stream=stream)
    np.testing.assert_array_equal(result[2], layer)
    assert not result[[0, 1, 3]].any()
    np.testing.assert_array_equal(
        array.to_numpy(stream=stream, offset=(0, 0, 2), shape=(3, 2, 1))[0], layer
    )


@pytest.mark.parametrize("shape", [(3, 2, 8), (3, 1, 8), (1, 2, 8)])
def test_arrays_that_repeat_their_elements_are_refused(device, stream, shape):
    layers, height, width = shape
    array = make(device, (width, height), "int32", num_layers=layers)
    row = np.arange(width, dtype=np.int32)
    with pytest.raises(ValueError, match="strides above 0; copy it to a contiguous array first"):
        array.copy_from(np.broadcast_to(row, shape), stream=stream)
    overlapping = np.lib.stride_tricks.as_strided(row, shape, (0, 0, 4), writeable=True)
    with pytest.raises(ValueError, match="strides above 0"):
        array.copy_to(overlapping, stream=stream)
    with pytest.raises(ValueError, match="strides above 0"):
        array.copy_from(np.zeros(shape, np.int32)[::-1, ::-1], stream=stream)
    array.copy_from(np.ascontiguousarray(np.broadcast_to(row, shape)), stream=stream)
    np.testing.assert_array_equal(array.to_numpy(stream=stream)[0, 0], row)


def test_arrays_of_objects_are_refused(device, stream):
    array = make(device, (8, 4), "uint32", 2)
    structures = np.zeros((4, 8), np.dtype([("number", "i4"), ("object", "O")], align=True))
    for objects in (np.full((4, 8), "text", object), structures):
        with pytest.raises(TypeError, match=r"dst \(.*ndarray\) holds Python objects"):
            array.copy_to(objects, stream=stream)
        with pytest.raises(TypeError, match=r"src \(.*ndarray\) holds Python objects"):
            array.copy_from(objects, stream=stream)


def test_a_graph_keeps_arrays_of_captured_copies_alive(device, stream):
    buffer_in = device.allocate(64, stream=stream)
    buffer_out = device.allocate(64, stream=stream)
    buffer_in.copy_from_host(np.arange(16, dtype=np.int32), stream=stream)
    array = make(device, (16,), "int32")
    stream.sync()
    builder = device.create_graph_builder().begin_building()
    array.copy_from(buffer_in, stream=builder)
    array.copy_to(buffer_out, stream=builder)
    graph = builder.end_building().complete()
    array.close()
    buffer_in.close()
    graph.launch(stream)
    seen = np.empty(16, np.int32)
    buffer_out.copy_to_host(seen, stream=stream)
    stream.sync()
    assert seen.tolist() == list(range(16))


def test_host_memory_is_not_captured(device, stream):
    array = make(device, (16,), "int32")
    builder = device.create_graph_builder().begin_building()
    with pytest.raises(RuntimeError, match=r"src is host memory, .*capturing"):
        array.copy_from(np.zeros(16, np.int32), stream=builder)
    with pytest.raises(RuntimeError, match=r"dst is host memory, .*capturing"):
        array.copy_to(np.zeros(16, np.int32), stream=builder)
    builder.end_building()


def test_a_wrapped_array_keeps_its_owner(device):
    device.set_current()
    own = make(device, (8, 4), "uint16", 2)

    class Owner:
        pass

    owner = Owner()
    seen = weakref.ref(owner)
    wrapped = OpaqueArray.from_handle(own.handle, owner=owner)
    assert wrapped == own
    assert hash(wrapped) == hash(own)
    assert wrapped.shape == (8, 4)
    del owner
    gc.collect()
    assert seen() is not None
    wrapped.close()
    assert own.shape == (8, 4)
    del wrapped
    gc.collect()
    with pytest.raises(ValueError, match="handle is null"):
        OpaqueArray.from_handle(0)


def test_planes_of_a_video_format(device, stream):
    video = make(device, (64, 32), "nv12", is_video=True)
    with pytest.raises(ValueError, match=r"nv12 cannot be copied as a whole.*get_plane\(\)"):
        video.to_numpy(stream=stream)
    color = video.get_plane(1)
    assert (color.shape, color.num_channels) == ((32, 16), 2)
    video.close()
    values = np.arange(color.size_bytes, dtype=np.uint32).astype(np.uint8).reshape(16, 32, 2)
    color.copy_from(values, stream=stream)
    np.testing.assert_array_equal(color.to_numpy(stream=stream), values)


def test_what_deferred_and_sparse_arrays_need(device):
    deferred = make(device, (64, 64), is_deferred_mapping=True)
    assert deferred.memory_requirements.size >= 64 * 64 * 4
    assert deferred.memory_requirements.alignment > 0
    with pytest.raises(ValueError, match="is_sparse"):
        deferred.sparse_properties  # noqa: B018
    if device.properties.sparse_cuda_array_supported:
        sparse = make(device, (512, 512), is_sparse=True)
        assert sparse.sparse_properties.tile_shape[0] > 0
        with pytest.raises(ValueError, match="is_deferred_mapping"):
            sparse.memory_requirements  # noqa: B018


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"shape": 8}, TypeError, "shape must be a tuple of ints, got int"),
        ({"shape": (1.5, 2)}, TypeError, r"shape\[0\] must be an int, got float"),
        ({"shape": ()}, ValueError, "shape rank is 0"),
        ({"shape": (2, 2, 2, 2)}, ValueError, "shape rank is 4"),
        ({"shape": (8, 0)}, ValueError, r"shape\[1\] must be >= 1, got 0"),
        ({"shape": (-3,)}, ValueError, r"shape\[0\] must be >= 1, got -3"),
        ({"format": 0}, ValueError, "format must be an ArrayFormatType"),
        ({"format": None}, ValueError, "a str or a numpy type, got None"),
        ({"format": "float31"}, ValueError, "format must be an ArrayFormatType.*got 'float31'"),
        ({"format": np.float64}, ValueError, "no ArrayFormatType equivalent"),
        ({"format": ">i4"}, ValueError, "format must be an ArrayFormatType"),
        ({"format": np.dtype(">i4")}, ValueError, "no ArrayFormatType equivalent"),
        ({"num_channels": 3}, ValueError, "num_channels must be 1, 2 or 4, got 3"),
        ({"num_channels": True}, ValueError, "num_channels must be 1, 2 or 4, got True"),
        ({"num_channels": "1"}, ValueError, "num_channels must be 1, 2 or 4, got '1'"),
        ({"format": "bc1_unorm", "num_channels": 1}, ValueError, "num_channels is 1, expected 4"),
        ({"num_layers": -1}, ValueError, "num_layers is -1"),
        ({"num_layers": 1.5}, TypeError, "num_layers must be an int, got float"),
        ({"is_cubemap": 1}, TypeError, "is_cubemap must be a bool, got int"),
        ({"shape": (4, 8), "is_cubemap": True}, ValueError, "width is 4 and height is 8"),
        ({"shape": (4, 4, 4), "num_layers": 2}, ValueError, "depth is 4 and num_layers is 2"),
        ({"is_texture_gather": True, "shape": (4,)}, ValueError, "is_texture_gather"),
        ({"colour": 1}, TypeError, "colour"),
    ],
)
def test_bad_options_are_refused(device, options, error, text):
    with pytest.raises(error, match=text):
        device.create_opaque_array({"shape": (8, 8), "format": "uint8", **options})


def test_sizes_over_a_limit_name_the_limit(device):
    most = device.properties.maximum_texture2d_width
    with pytest.raises(ValueError, match=f"width is {most + 1}.*{most}.*maximum_texture2d_width"):
        make(device, (most + 1, 4))
    most = device.properties.maximum_texture2d_layered_layers
    with pytest.raises(ValueError, match=f"num_layers is {most + 1}.*at most {most}"):
        make(device, (4, 4), num_layers=most + 1)


def test_options_of_another_type_are_refused(device):
    for options in (None, 3, MipmappedArrayOptions((8,), "uint8", 1, 1)):
        with pytest.raises(TypeError, match="an object of type OpaqueArrayOptions"):
            device.create_opaque_array(options)


def test_bad_copies_are_refused(device, stream):
    array = make(device, (8, 4), "int32")
    small = device.allocate(100, stream=stream)
    with pytest.raises(ValueError, match="smaller than the array extent of 128 bytes"):
        array.copy_from(small, stream=stream)
    with pytest.raises(ValueError, match="smaller than the array extent of 128 bytes"):
        array.copy_to(bytearray(127), stream=stream)
    with pytest.raises(ValueError, match=r"width of 5 from x = 4, but the array's width is 8"):
        array.copy_from(small, stream=stream, offset=(4,), shape=(5,))
    with pytest.raises(ValueError, match=r"begins at y = 4, but the array's height is 4"):
        array.copy_from(small, stream=stream, offset=(0, 4))
    with pytest.raises(ValueError, match=r"shape\[0\] is 0"):
        array.copy_from(small, stream=stream, shape=(0, 1))
    with pytest.raises(ValueError, match=r"shape\[1\] is 0"):
        array.copy_from(small, stream=stream, shape=(1, 0))
    with pytest.raises(ValueError, match="offset has 4 numbers, expected 1 to 3"):
        array.copy_from(small, stream=stream, offset=(0, 0, 0, 0))
    with pytest.raises(TypeError, match="offset must be a tuple of ints, got int"):
        array.copy_from(small, stream=stream, offset=3)
    with pytest.raises(ValueError, match="pitch of 4 bytes"):
        array.copy_from(small, stream=stream, shape=(4, 2), pitch_bytes=4)
    with pytest.raises(ValueError, match="pitch_bytes and rows_per_slice are for buffers"):
        array.copy_from(bytes(128), stream=stream, pitch_bytes=64)
    with pytest.raises(TypeError, match=r"src must be a Buffer, an OpaqueArray or .* got object"):
        array.copy_from(object(), stream=stream)
    with pytest.raises(BufferError, match="dst"):
        array.copy_to(bytes(128), stream=stream)
    with pytest.raises(TypeError, match="Stream or GraphBuilder expected"):
        array.copy_from(bytes(128), stream="no stream")
    with pytest.raises(TypeError):
        array.copy_from(bytes(128), stream=None)
    with pytest.raises(ValueError, match="next to each other"):
        array.copy_from(np.zeros((8, 4), np.int32).T, stream=stream)
    with pytest.raises(ValueError, match="next to each other"):
        array.copy_from(np.zeros((4, 16), np.int32)[:, ::2], stream=stream)
    other = make(device, (8, 5), "int32")
    with pytest.raises(ValueError, match="8 x 5"):
        array.copy_from(other, stream=stream)
    with pytest.raises(ValueError, match="overlap"):
        array.copy_from(array, stream=stream, offset=(1,), shape=(4, 1), src_offset=(0,))


def test_an_array_of_another_device_is_refused(device, stream):
    if len(cuprum.Device.get_all_devices()) < 2:
        pytest.skip("needs two devices")
    other = make(cuprum.Device(1), (8, 4), "int32")
    with pytest.raises(ValueError, match="stream belongs to device 0, but the array to device 1"):
        other.copy_from(bytes(128), stream=stream)
    resource = ResourceDescriptor.from_opaque_array(other)
    with pytest.raises(ValueError, match="resource lies on device 1, expected one of device 0"):
        device.create_texture_object(resource=resource)


def test_arrays_are_not_pickled(device):
    array = make(device, (8,))
    with pytest.raises(TypeError):
        pickle.dumps(array)
