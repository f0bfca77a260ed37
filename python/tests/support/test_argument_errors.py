# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Failures while an argument is read: a refusal is explained, any other error stays what it is."""

import ctypes
import subprocess
from pathlib import Path

import pytest

import cuprum
from cuprum import LaunchConfig, launch

PROGRAM = Path(__file__).parents[1] / "programs" / "failing_buffer.c"
GET_BUFFER_SLOT = 1  # Py_bf_getbuffer
DEFAULT_FLAGS = 1 << 18  # Py_TPFLAGS_DEFAULT


class Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    )


@pytest.fixture(scope="module")
def memory_that_fails(c_compiler, tmp_path_factory):
    """Return a function that makes objects whose buffer protocol fails with an exception."""
    path = tmp_path_factory.mktemp("failing_buffer") / "failing_buffer.so"
    subprocess.run([*c_compiler, "-shared", "-fPIC", str(PROGRAM), "-o", str(path)], check=True)
    library = ctypes.CDLL(str(path))
    get_buffer = ctypes.cast(library.get_buffer, ctypes.c_void_p).value
    slots = (Slot * 2)(Slot(GET_BUFFER_SLOT, get_buffer), Slot(0, None))
    spec = Spec(b"tests.Failing", object.__basicsize__, 0, DEFAULT_FLAGS, ctypes.addressof(slots))
    from_spec = ctypes.pythonapi.PyType_FromSpec
    from_spec.argtypes = (ctypes.c_void_p,)
    from_spec.restype = ctypes.py_object
    failing = from_spec(ctypes.addressof(spec))

    def make(exception):
        ctypes.py_object.in_dll(library, "failure").value = exception
        return failing()

    make.kept = (library, slots, spec)
    return make


class Number:
    """What fails if it is asked for a number."""

    def __init__(self, failure):
        self.failure = failure

    def __index__(self):
        raise self.failure

    def __float__(self):
        raise self.failure


@pytest.fixture
def code(device):
    code = cuprum.Program('extern "C" __global__ void take(long n) {}', "c++").compile("ptx")
    yield code
    code.close()  # pytest still refers to it when live objects are counted


@pytest.mark.parametrize("failure", [MemoryError, KeyboardInterrupt, RecursionError])
def test_a_failing_buffer_protocol_is_no_refusal(device, stream, code, memory_that_fails, failure):
    kernel = code.get_kernel("take")
    memory = memory_that_fails(failure)
    with (
        device.allocate(16, stream=stream) as buffer,
        device.create_opaque_array({"shape": (4,), "format": "uint8"}) as array,
    ):
        for use in (
            lambda: launch(stream, LaunchConfig(grid=1, block=1), kernel, memory),
            lambda: buffer.copy_from_host(memory, stream=stream),
            lambda: buffer.copy_to_host(memory, stream=stream),
            lambda: buffer.fill(memory, stream=stream),
            lambda: array.copy_from(memory, stream=stream),
            lambda: array.copy_to(memory, stream=stream),
        ):
            with pytest.raises(failure, match="no buffer now"):
                use()


def test_a_refusal_to_give_bytes_is_explained(stream, code, memory_that_fails):
    memory = memory_that_fails(BufferError)
    with pytest.raises(BufferError, match=r"Failing\) does not give its bytes in one piece"):
        launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("take"), memory)


@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt, ValueError])
def test_a_number_that_fails_is_no_other_type(device, kind):
    failure = kind("mine")
    number = Number(failure)
    with device.create_mipmapped_array({"shape": (4,), "format": "uint8"}) as mipmap:
        resource = cuprum.texture.ResourceDescriptor.from_mipmapped_array(mipmap)
        options = {"normalized_coords": True}
        for use in (
            lambda: LaunchConfig(grid=number, block=1),
            lambda: mipmap.get_level(number),
            lambda: cuprum.system.Device(index=number),
            lambda: cuprum.utils.StridedLayout((number,), None, 4),
            lambda: device.create_texture_object(
                resource=resource, options={**options, "mipmap_level_bias": number}
            ),
        ):
            with pytest.raises(kind) as error:
                use()
            assert error.value is failure


def test_what_is_no_number_is_named(device):
    mipmap = device.create_mipmapped_array({"shape": (4,), "format": "uint8"})
    with mipmap, pytest.raises(TypeError, match="level must be an int, got Number"):
        mipmap.get_level(Number(TypeError()))
    with pytest.raises(ValueError, match="grid must be an integer from 1"):
        LaunchConfig(grid=Number(TypeError()), block=1)
    with pytest.raises(TypeError, match="must be a tuple of integers, but holds Number"):
        cuprum.utils.StridedLayout((Number(TypeError()),), None, 4)
