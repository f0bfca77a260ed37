# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import cuprum
from cuprum import LaunchConfig, Program, TensorMapDescriptor, TensorMapDescriptorOptions
from cuprum._tensor_map import (
    TensorMapDataType,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
)
from cuprum.utils import StridedMemoryView

ROWS, COLUMNS = 64, 128
READ_MAP = r"""
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void read_map(const __grid_constant__ Map map, unsigned long long* target) {
    target[threadIdx.x] = map.words[threadIdx.x];
}
"""


@pytest.fixture
def buffer(device, stream):
    if device.compute_capability < (9, 0):
        pytest.skip("tensor maps need compute capability 9.0")
    with device.allocate(ROWS * COLUMNS * 4, stream=stream) as buffer:
        yield buffer


class Matrix:
    """An array of another library. It has no share of the memory, which pytest would keep."""

    def __init__(self, pointer, shape=(ROWS, COLUMNS)):
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": "<f4",
            "data": (int(pointer), False),
        }


@pytest.fixture
def view(buffer):
    return StridedMemoryView.from_any_interface(Matrix(buffer.handle), -1)


@pytest.fixture(scope="module")
def read_map():
    code = Program(READ_MAP, "c++").compile("ptx")
    yield code.get_kernel("read_map")
    code.close()


def words(map_):
    return np.frombuffer(bytes(map_), np.uint64)


def run(kernel, device, stream, *arguments):
    target = device.allocate(128, stream=stream)
    cuprum.launch(stream, LaunchConfig(grid=1, block=16), kernel, *arguments, target)
    result = np.zeros(16, np.uint64)
    target.copy_to_host(result, stream=stream)
    stream.sync()
    return result


# ---- what a map says ----------------------------------------------------------------------------


def test_a_map_describes_its_view(view, buffer, device):
    made = view.as_tensor_map(
        (16, 32),
        element_strides=(2, 1),
        swizzle=TensorMapSwizzle.SWIZZLE_128B,
        l2_promotion=TensorMapL2Promotion.L2_256B,
        oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA,
    )
    assert isinstance(made, TensorMapDescriptor)
    assert repr(made) == "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)"
    assert (made.mode, made.rank, made.device) == ("tiled", 2, device)
    assert made.data_type is TensorMapDataType.FLOAT32
    assert made.shape == (ROWS, COLUMNS)
    assert made.strides_in_bytes == (512, 4)
    assert made.box_dim == (16, 32)
    assert made.element_strides == (2, 1)
    assert made.interleave is TensorMapInterleave.NONE
    assert made.swizzle is TensorMapSwizzle.SWIZZLE_128B
    assert made.l2_promotion is TensorMapL2Promotion.L2_256B
    assert made.oob_fill is TensorMapOOBFill.NAN_REQUEST_ZERO_FMA
    assert made.copy_bytes == 8 * 32 * 4
    assert made.address == buffer.handle
    assert len(bytes(made)) == 128
    assert str(made).startswith(f"tiled map of 64 x 128 FLOAT32 at {buffer.handle:#x}, strides")


def test_names_stand_for_members(view):
    made = view.as_tensor_map((8, 8), swizzle="128b", l2_promotion="L2_64B", oob_fill="none")
    assert made.swizzle is TensorMapSwizzle.SWIZZLE_128B
    assert made.l2_promotion is TensorMapL2Promotion.L2_64B
    assert view.as_tensor_map((8, 8), data_type="tfloat32").data_type == TensorMapDataType.TFLOAT32
    with pytest.raises(ValueError, match="swizzle is '48B', expected one of NONE, SWIZZLE_32B"):
        view.as_tensor_map((8, 8), swizzle="48B")


def test_options_in_one_object_or_a_dict(view):
    single = view.as_tensor_map((16, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    options = TensorMapDescriptorOptions((16, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    assert bytes(view.as_tensor_map(options=options)) == bytes(single)
    by_dict = view.as_tensor_map(options={"box_dim": [16, 32], "swizzle": "128B"})
    assert bytes(by_dict) == bytes(single)
    assert options.box_dim == (16, 32)
    assert TensorMapDescriptorOptions([np.int64(8)]).box_dim == (8,)
    with pytest.raises(TypeError, match=r"either options or .*: got options and box_dim, swizzle"):
        view.as_tensor_map((8, 8), options=options, swizzle=TensorMapSwizzle.SWIZZLE_32B)
    with pytest.raises(TypeError, match="box_dim is required unless options"):
        view.as_tensor_map()
    with pytest.raises(TypeError, match="TensorMapDescriptorOptions or a dict, got int"):
        view.as_tensor_map(options=5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"box_dim": 5}, "box_dim must be a tuple of ints, got int"),
        ({"box_dim": (1, "x")}, r"box_dim\[1\] must be an int, got str"),
        ({"box_dim": (8, 8), "element_strides": 2}, "element_strides must be a tuple of ints"),
        ({"box_dim": (8, 8), "swizzle": 2}, "swizzle must be a TensorMapSwizzle, got int"),
        (
            {"box_dim": (8, 8), "swizzle": TensorMapInterleave.NONE},
            "swizzle must be a TensorMapSwizzle, got TensorMapInterleave",
        ),
        ({"box_dim": (8, 8), "interleave": 0}, "interleave must be a TensorMapInterleave"),
        ({"box_dim": (8, 8), "l2_promotion": 0}, "l2_promotion must be a TensorMapL2Promotion"),
        ({"box_dim": (8, 8), "oob_fill": True}, "oob_fill must be a TensorMapOOBFill"),
        ({"box_dim": (8, 8), "data_type": 42}, "data_type must be a TensorMapDataType"),
    ],
)
def test_wrong_types_are_named(view, arguments, message):
    with pytest.raises(TypeError, match=message):
        view.as_tensor_map(**arguments)
    with pytest.raises(TypeError, match=message):
        TensorMapDescriptorOptions(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"box_dim": (8,)}, "box_dim must have 2 elements, .*; it has 1"),
        ({"box_dim": (8,) * 9}, "box_dim must have 2 elements"),
        ({"box_dim": (0, 8)}, r"box_dim\[0\] must be in \[1, 256\]; it is 0"),
        ({"box_dim": (8, -8)}, r"box_dim\[1\] must be in \[1, 256\]; it is -8"),
        ({"box_dim": (8, 2**70)}, r"box_dim\[1\] is 1180591620717411303424, which does not fit"),
        ({"box_dim": (8, 6)}, "6 elements of type FLOAT32, 24 bytes, .* multiple of 16 bytes"),
        ({"box_dim": (8, 8), "element_strides": (9, 1)}, r"element_strides\[0\] must be in \[1, 8"),
        (
            {"box_dim": (8, 64), "swizzle": "64B"},
            "256 bytes, expected at most 64 bytes for swizzle",
        ),
        ({"box_dim": (8, 8), "interleave": "16B"}, "interleave is 16B, which needs a tensor of 3"),
        ({"box_dim": (256, 256)}, "one copy has 262144 bytes, expected at most"),
        (
            {"box_dim": (8, 8), "data_type": np.uint32, "oob_fill": "nan_request_zero_fma"},
            "needs floating-point elements; these are UINT32",
        ),
        ({"box_dim": (8, 8), "data_type": np.complex128}, "Unsupported dtype complex128"),
    ],
)
def test_broken_rules_are_named(view, arguments, message):
    with pytest.raises(ValueError, match=message):
        view.as_tensor_map(**arguments)


def test_layouts_that_no_map_has_are_named(buffer, view):
    transposed = view.view(view.layout.permuted((1, 0)))
    with pytest.raises(ValueError, match="axis 1 is the innermost and has a stride of 512 bytes"):
        transposed.as_tensor_map((8, 8))
    odd = StridedMemoryView.from_buffer(buffer, (8, 66), dtype=np.float32)
    with pytest.raises(ValueError, match="axis 0 has a stride of 264 bytes, expected a multiple"):
        odd.as_tensor_map((8, 8))
    with pytest.raises(ValueError, match="rank must be between 1 and 5"):
        StridedMemoryView.from_buffer(buffer, (1,) * 6, dtype=np.float32).as_tensor_map((1,) * 6)
    with pytest.raises(ValueError, match="rank must be between 1 and 5"):
        StridedMemoryView.from_buffer(buffer, (), dtype=np.float32).as_tensor_map(())
    untyped = StridedMemoryView.from_buffer(buffer, (8, 64), itemsize=4)
    with pytest.raises(ValueError, match="Cannot infer TMA data type"):
        untyped.as_tensor_map((8, 8))
    assert untyped.as_tensor_map((8, 8), data_type=np.int32).data_type == TensorMapDataType.INT32
    small = StridedMemoryView.from_buffer(buffer, (8, 64), dtype=np.int8)
    with pytest.raises(ValueError, match="Unsupported dtype int8"):
        small.as_tensor_map((8, 16))
    part = view.view(view.layout.sliced((slice(0, 8), slice(1, 9))))
    with pytest.raises(ValueError, match=r"begins at .* expected a multiple of 16 bytes"):
        part.as_tensor_map((8, 8))


def test_another_type_sees_the_same_bytes(buffer):
    raw = StridedMemoryView.from_any_interface(buffer, -1)
    assert raw.as_tensor_map((64,), data_type=np.float32).shape == (ROWS * COLUMNS,)
    assert raw.as_tensor_map((64,), data_type=np.float64).shape == (ROWS * COLUMNS // 2,)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("uint8", TensorMapDataType.UINT8),
        ("uint16", TensorMapDataType.UINT16),
        ("uint32", TensorMapDataType.UINT32),
        ("int32", TensorMapDataType.INT32),
        ("uint64", TensorMapDataType.UINT64),
        ("int64", TensorMapDataType.INT64),
        ("float16", TensorMapDataType.FLOAT16),
        ("float32", TensorMapDataType.FLOAT32),
        ("float64", TensorMapDataType.FLOAT64),
    ],
)
def test_the_type_is_that_of_the_view(buffer, dtype, expected):
    view = StridedMemoryView.from_buffer(buffer, (4, 64), dtype=dtype)
    assert view.as_tensor_map((4, 16)).data_type is expected
    assert view.as_tensor_map((4, 16), data_type=expected).data_type is expected


def test_every_element_type_can_be_chosen(buffer):
    view = StridedMemoryView.from_buffer(buffer, (8, 1024), dtype=np.uint8)
    for each in list(TensorMapDataType)[:13]:
        assert view.as_tensor_map((1, 16), data_type=each).data_type is each


def test_host_memory_is_refused():
    view = StridedMemoryView.from_any_interface(np.zeros((64, 64), np.float32), -1)
    with pytest.raises(ValueError, match="not device-accessible"):
        view.as_tensor_map((32, 32))


def test_what_newer_devices_have_is_named(view, device):
    if device.compute_capability >= (10, 0):
        made = view.as_tensor_map((8, 8), swizzle="128B_ATOM_32B")
        assert made.swizzle is TensorMapSwizzle.SWIZZLE_128B_ATOM_32B
        return
    with pytest.raises(ValueError, match=r"128B_ATOM_32B needs compute capability 10\.0; device 0"):
        view.as_tensor_map((8, 8), swizzle=TensorMapSwizzle.SWIZZLE_128B_ATOM_32B)


# ---- im2col -------------------------------------------------------------------------------------


def test_im2col_corners_follow_the_axes(buffer):
    images = StridedMemoryView.from_buffer(buffer, (2, 3, 4, 5, 64), dtype=np.float16)
    made = TensorMapDescriptor._from_im2col(images, (-1, -2, -3), (1, 2, 3), 64, 16, swizzle="128B")
    assert made.pixel_box_lower_corner == (-1, -2, -3)
    assert made.pixel_box_upper_corner == (1, 2, 3)
    assert made.copy_bytes == 64 * 16 * 2
    assert repr(made) == "TensorMapDescriptor(im2col, rank=5, dtype=FLOAT16, swizzle=SWIZZLE_128B)"
    with pytest.raises(ValueError, match="pixel_box_lower_corner must have 3 elements"):
        TensorMapDescriptor._from_im2col(images, (0,), (0, 0, 0), 64, 16)
    with pytest.raises(ValueError, match="is -17, expected -16 to 15"):
        TensorMapDescriptor._from_im2col(images, (0, 0, -17), (0, 0, 0), 64, 16)
    with pytest.raises(TypeError, match=r"channels_per_pixel\[0\] must be an int, got str"):
        TensorMapDescriptor._from_im2col(images, (0, 0, 0), (0, 0, 0), "64", 16)


def test_wide_im2col(buffer):
    images = StridedMemoryView.from_buffer(buffer, (2, 4, 8, 64), dtype=np.float16)
    made = TensorMapDescriptor._from_im2col_wide(
        images, -1, 1, 64, 8, mode=TensorMapIm2ColWideMode.W128
    )
    assert made.pixel_box_lower_corner == (-1,)
    assert made.copy_bytes == 64 * 128 * 2
    with pytest.raises(ValueError, match="Im2col-wide tensor rank must be between 3 and 5"):
        TensorMapDescriptor._from_im2col_wide(
            StridedMemoryView.from_any_interface(buffer, -1), 0, 0, 64, 8, data_type="float32"
        )


# ---- kernels, graphs, other memory --------------------------------------------------------------


def test_a_kernel_takes_the_128_bytes(view, read_map, device, stream):
    made = view.as_tensor_map((8, 8))
    assert np.array_equal(run(read_map, device, stream, made), words(made))


def test_a_parameter_of_another_size_is_refused(view, stream, module):
    with pytest.raises(TypeError, match=r"has 128 bytes \(TensorMapDescriptor\)"):
        cuprum.launch(
            stream,
            LaunchConfig(grid=1, block=1),
            module.get_kernel("keep_int"),
            0,
            view.as_tensor_map((8, 8)),
        )


def test_replace_address(view, device, stream, read_map):
    made = view.as_tensor_map((8, 8))
    other = device.allocate(ROWS * COLUMNS * 4, stream=stream)
    other_view = StridedMemoryView.from_buffer(other, (ROWS, COLUMNS), dtype=np.float32)
    expected = bytes(other_view.as_tensor_map((8, 8)))
    made.replace_address(other_view)
    assert bytes(made) == expected
    assert made.address == other.handle
    made.replace_address(other)  # any array will do
    assert bytes(made) == expected
    assert np.array_equal(run(read_map, device, stream, made), words(made))


def test_replace_address_checks_the_new_memory(view, device, stream):
    made = view.as_tensor_map((8, 8))
    before = bytes(made)
    with pytest.raises(ValueError, match="not device-accessible"):
        made.replace_address(np.zeros((ROWS, COLUMNS), np.float32))
    with pytest.raises(ValueError, match=r"4096 bytes from its address on, but .* 32768"):
        made.replace_address(device.allocate(4096, stream=stream))
    with pytest.raises(BufferError):
        made.replace_address(5)
    assert bytes(made) == before


def test_the_view_is_kept_alive(view, device, stream):
    made = view.as_tensor_map((8, 8))
    watch = weakref.ref(view)
    other = device.allocate(ROWS * COLUMNS * 4, stream=stream)
    del view
    gc.collect()
    # The fixture holds it too, so look at what the collector sees.
    assert watch() in gc.get_referents(made)
    made.replace_address(other)
    assert watch() not in gc.get_referents(made)


def test_a_graph_keeps_the_memory_of_the_launch(device, stream, read_map):
    if device.compute_capability < (9, 0):
        pytest.skip("tensor maps need compute capability 9.0")
    first = device.allocate(4096, stream=stream)
    target = device.allocate(128, stream=stream)

    owner = Matrix(first.handle, (8, 128))
    watch = weakref.ref(owner)
    made = StridedMemoryView.from_any_interface(owner, -1).as_tensor_map((8, 8))
    expected = words(made).copy()
    graph = cuprum.graph.GraphDefinition()
    graph.launch(LaunchConfig(grid=1, block=16), read_map, made, target)
    del owner
    made.replace_address(first)
    gc.collect()
    assert watch() is not None, "the node still describes it"
    executable = graph.instantiate()
    executable.launch(stream)
    result = np.zeros(16, np.uint64)
    target.copy_to_host(result, stream=stream)
    stream.sync()
    assert np.array_equal(result, expected)
    executable.close()


def test_memory_of_another_device_is_refused(view, device):
    if len(cuprum.Device.get_all_devices()) < 2:
        pytest.skip("needs two devices")
    other = cuprum.Device(1)
    made = view.as_tensor_map((8, 8))
    other.set_current()
    try:
        with pytest.raises(ValueError, match="_from_tiled expects tensor on device 1, got 0"):
            view.as_tensor_map((8, 8))
        with pytest.raises(RuntimeError, match="belongs to device 0, but the current device is 1"):
            made.replace_address(view)
        stream = other.create_stream()
        there = other.allocate(ROWS * COLUMNS * 4, stream=stream)
        foreign = StridedMemoryView.from_buffer(there, (ROWS, COLUMNS), dtype=np.float32)
        assert foreign.as_tensor_map((8, 8)).device == other
    finally:
        device.set_current()
    with pytest.raises(ValueError, match="replace_address expects tensor on device 0, got 1"):
        made.replace_address(foreign)
    there.close()
    stream.close()


# ---- protocols ----------------------------------------------------------------------------------


def test_it_cannot_be_made_copied_or_pickled(view):
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        TensorMapDescriptor()
    made = view.as_tensor_map((8, 8))
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(made)
    with pytest.raises(TypeError, match="cannot be pickled"):
        copy.copy(made)
    assert weakref.ref(made)() is made
    with pytest.raises(AttributeError):
        made.swizzle = TensorMapSwizzle.NONE


def test_the_numbers_are_the_drivers():
    assert [each.value for each in TensorMapDataType] == list(range(16))
    assert [each.value for each in TensorMapSwizzle] == list(range(7))
    assert TensorMapDataType.BFLOAT16 == 9
    assert TensorMapInterleave.INTERLEAVE_32B == 2
    assert TensorMapL2Promotion.L2_256B == 3
