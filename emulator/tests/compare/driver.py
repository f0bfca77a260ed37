# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The part of the CUDA driver API that running kernels needs, on any libcuda.so.1."""

from __future__ import annotations

import ctypes
import os
import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

LOG_BYTES = 16384
JIT_ERROR_LOG_BUFFER = 5
JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
LAUNCH_ATTRIBUTE_COOPERATIVE = 2
LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4
ATTRIBUTE_MAJOR = 75
ATTRIBUTE_MINOR = 76
FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED = 8
LIMIT_STACK_SIZE = 0
STACK_BYTES = 16384
TENSOR_MAP_BYTES = 128
TENSOR_MAP_ALIGNMENT = 64


class DriverError(Exception):
    """A failed driver call; `code` is its CUresult and `log` the log of the module's compiler."""

    def __init__(self, call: str, code: int, log: str = "") -> None:
        super().__init__(f"{call} failed with {code}" + (f":\n{log}" if log else ""))
        self.code = code
        self.log = log


class _LaunchAttribute(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_int),
        ("padding", ctypes.c_char * 4),
        ("value", ctypes.c_uint * 16),
    )


class _LaunchConfig(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_LaunchAttribute)),
        ("attribute_count", ctypes.c_uint),
    )


@dataclass(frozen=True)
class Shape:
    """The launch configuration of a kernel."""

    grid: int | tuple[int, ...] = 1
    block: int | tuple[int, ...] = 32
    shared_bytes: int = 0
    is_cooperative: bool = False
    cluster: int = 0


@dataclass(frozen=True)
class TensorMap:
    """What a tensor map describes; numbers of enumerations are those of cuda.h.

    The first dimension is the innermost. Strides are in bytes and leave out the first dimension.
    If `channels` is not 0 the map is for im2col, with the corners of its pixel box.
    """

    kind: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...] = ()
    element_strides: tuple[int, ...] = ()
    interleave: int = 0
    swizzle: int = 0
    promotion: int = 0
    fill: int = 0
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()
    channels: int = 0
    pixels: int = 0


class Device:
    """The first device of a driver, with its primary context current."""

    def __init__(self, library: str) -> None:
        self._driver = ctypes.CDLL(library)
        self.call("cuInit", 0)
        self._device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self._device), 0)
        self._open()

    def _open(self) -> None:
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._context = context
        self.call("cuCtxSetCurrent", context)
        # Recursion needs more stack than the default.
        self.call("cuCtxSetLimit", LIMIT_STACK_SIZE, ctypes.c_size_t(STACK_BYTES))

    def reset(self) -> None:
        """Reset the device after a kernel has failed, or to free what tests left."""
        # If a kernel has broken the context, this may return that kernel's error.
        self._driver.cuDevicePrimaryCtxReset_v2(self._device)
        self._driver.cuDevicePrimaryCtxRelease_v2(self._device)
        self._open()

    def set_current(self, is_current: bool) -> None:
        """Make the device's context current in this thread, or none."""
        context = self._context if is_current else None
        self.call("cuCtxSetCurrent", context)

    @property
    def is_emulated(self) -> bool:
        """Whether the driver is the emulated one."""
        return hasattr(self._driver, "cuprumEmulatorVersion")

    @property
    def name(self) -> str:
        """The device's name."""
        buffer = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", buffer, len(buffer), self._device)
        return buffer.value.decode()

    @property
    def driver_version(self) -> int:
        """The driver's version, 13000 for CUDA 13.0."""
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return version.value

    @property
    def compute_capability(self) -> int:
        """The compute capability as in architecture names: 90 for 9.0."""
        parts = []
        for attribute in (ATTRIBUTE_MAJOR, ATTRIBUTE_MINOR):
            value = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, self._device)
            parts.append(value.value)
        return parts[0] * 10 + parts[1]

    def load(self, ptx: str) -> Module:
        """Load a module from PTX; raise DriverError with the compiler's log if that fails."""
        log = ctypes.create_string_buffer(LOG_BYTES)
        options = (ctypes.c_int * 2)(JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), LOG_BYTES)
        handle = ctypes.c_void_p()
        status = self._driver.cuModuleLoadDataEx(
            ctypes.byref(handle), ptx.encode() + b"\0", 2, options, values
        )
        if status != 0:
            raise DriverError("cuModuleLoadDataEx", status, log.value.decode(errors="replace"))
        return Module(self, handle)

    def allocate(self, content: bytes) -> int:
        """Allocate device memory, copy `content` to it and return its address."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(content), 1)))
        self.write(address.value, content)
        return address.value

    def write(self, address: int, content: bytes) -> None:
        """Copy to the device."""
        size = ctypes.c_size_t(len(content))
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), content, size)

    def read(self, address: int, size: int) -> bytes:
        """Copy from the device."""
        buffer = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", buffer, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return buffer.raw

    def free(self, address: int) -> None:
        """Free device memory."""
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def encode(self, tensor: TensorMap, address: int) -> bytes:
        """Return the tensor map of a tensor at an address."""
        rank = len(tensor.dims)
        room = ctypes.create_string_buffer(TENSOR_MAP_BYTES + TENSOR_MAP_ALIGNMENT)
        start = -ctypes.addressof(room) % TENSOR_MAP_ALIGNMENT
        element_strides = tensor.element_strides or (1,) * rank
        head = (
            ctypes.c_void_p(ctypes.addressof(room) + start),
            tensor.kind,
            rank,
            ctypes.c_void_p(address),
            (ctypes.c_uint64 * rank)(*tensor.dims),
            (ctypes.c_uint64 * rank)(*tensor.strides),
        )
        strides = (ctypes.c_uint32 * rank)(*element_strides)
        tail = (strides, tensor.interleave, tensor.swizzle, tensor.promotion, tensor.fill)
        if tensor.channels:
            corners = [(ctypes.c_int * rank)(*each) for each in (tensor.lower, tensor.upper)]
            box = (*corners, tensor.channels, tensor.pixels)
            self.call("cuTensorMapEncodeIm2col", *head, *box, *tail)
        else:
            box = ((ctypes.c_uint32 * rank)(*tensor.box),)
            self.call("cuTensorMapEncodeTiled", *head, *box, *tail)
        return room.raw[start : start + TENSOR_MAP_BYTES]

    def synchronize(self) -> None:
        """Wait for all work; raise the error of a kernel that failed."""
        self.call("cuCtxSynchronize")

    def call(self, name: str, *arguments: object) -> None:
        """Call a driver function; raise DriverError if it fails."""
        status = getattr(self._driver, name)(*arguments)
        if status != 0:
            raise DriverError(name, status)


class Module:
    """A loaded module."""

    def __init__(self, device: Device, handle: ctypes.c_void_p) -> None:
        self.device = device
        self.handle = handle

    def unload(self) -> None:
        """Unload it."""
        self.device.call("cuModuleUnload", self.handle)

    def address(self, variable: str) -> int:
        """Return the address of a variable of the module."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        places = (ctypes.byref(address), ctypes.byref(size))
        self.device.call("cuModuleGetGlobal_v2", *places, self.handle, variable.encode())
        return address.value

    def launch(self, kernel: str, shape: Shape, arguments: Sequence[bytes]) -> None:
        """Launch a kernel with packed arguments, without waiting for it."""
        device = self.device
        function = ctypes.c_void_p()
        device.call("cuModuleGetFunction", ctypes.byref(function), self.handle, kernel.encode())
        if shape.shared_bytes > 48 * 1024:
            attribute = FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED
            device.call("cuFuncSetAttribute", function, attribute, shape.shared_bytes)
        buffers = [ctypes.create_string_buffer(each, len(each)) for each in arguments]
        pointers = (ctypes.c_void_p * max(len(buffers), 1))(
            *[ctypes.addressof(buffer) for buffer in buffers]
        )
        attributes = (_LaunchAttribute * 2)()
        count = 0
        if shape.is_cooperative:
            attributes[count].id = LAUNCH_ATTRIBUTE_COOPERATIVE
            attributes[count].value[0] = 1
            count += 1
        if shape.cluster:
            attributes[count].id = LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            attributes[count].value[0:3] = [shape.cluster, 1, 1]
            count += 1
        config = _LaunchConfig(
            (ctypes.c_uint * 3)(*_three(shape.grid)),
            (ctypes.c_uint * 3)(*_three(shape.block)),
            shape.shared_bytes,
            None,
            attributes,
            count,
        )
        device.call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)


@contextmanager
def captured_output() -> Iterator[list[str]]:
    """Collect the output of kernels; after the block, the list contains one text."""
    result: list[str] = []
    with tempfile.TemporaryFile() as file:
        standard_output = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield result
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(standard_output, 1)
            os.close(standard_output)
            file.seek(0)
            result.append(file.read().decode(errors="replace"))


def argument(value: int | float, kind: str = "P") -> bytes:
    """Pack one argument: `kind` is a letter of the struct module, P for a pointer."""
    return struct.pack("=" + ("Q" if kind == "P" else kind), value)


def _three(value: int | tuple[int, ...]) -> list[int]:
    parts = [value] if isinstance(value, int) else list(value)
    return parts + [1] * (3 - len(parts))
