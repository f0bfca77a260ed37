# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Private helpers of ``cuda.core`` for launches, for programs that call the driver themselves."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable


class ParamHolder:
    """Kernel arguments in the form that the driver takes: an array of pointers to values.

    As nothing is known of the kernel, an int has 8 bytes and a float is a double.

    Parameters
    ----------
    kernel_args : iterable
        Buffers, numbers, numpy scalars and ctypes objects.

    Raises
    ------
    TypeError
        If one is of another type.
    """

    def __init__(self, kernel_args: Iterable[object]) -> None:
        self._values = [_value_of(value) for value in kernel_args]
        addresses = [ctypes.addressof(value) for value in self._values]
        self._pointers = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)

    @property
    def ptr(self) -> int:
        """Return the address of the array."""
        return ctypes.addressof(self._pointers)


def _to_native_launch_config(config: object) -> object:
    """Return a LaunchConfig as a ``CUlaunchConfig`` of ``cuda.bindings``."""
    from cuda.bindings import driver

    native = driver.CUlaunchConfig()
    cluster = config.cluster or (1, 1, 1)  # type: ignore[attr-defined]
    blocks = [n * m for n, m in zip(config.grid, cluster, strict=True)]  # type: ignore[attr-defined]
    native.gridDimX, native.gridDimY, native.gridDimZ = blocks
    native.blockDimX, native.blockDimY, native.blockDimZ = config.block  # type: ignore[attr-defined]
    native.sharedMemBytes = config.shmem_size  # type: ignore[attr-defined]
    kinds = driver.CUlaunchAttributeID
    attributes = []

    def add(kind: object) -> object:
        attribute = driver.CUlaunchAttribute()
        attribute.id = kind
        attributes.append(attribute)
        return attribute

    if config.cluster:  # type: ignore[attr-defined]
        extents = add(kinds.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).value.clusterDim  # type: ignore[attr-defined]
        extents.x, extents.y, extents.z = cluster
    if config.is_cooperative:  # type: ignore[attr-defined]
        add(kinds.CU_LAUNCH_ATTRIBUTE_COOPERATIVE).value.cooperative = 1  # type: ignore[attr-defined]
    if config.programmatic_stream_serialization:  # type: ignore[attr-defined]
        add(
            kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        ).value.programmaticStreamSerializationAllowed = 1  # type: ignore[attr-defined]
    native.numAttrs = len(attributes)
    native.attrs = attributes
    return native


def _value_of(value: object) -> ctypes._SimpleCData | ctypes.Array:
    """Return a ctypes object that holds a copy of an argument."""
    import cuprum

    if isinstance(value, cuprum.Buffer):
        return ctypes.c_uint64(int(value.handle))
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():  # before float: float64
        return _bytes_of(value.tobytes())  # type: ignore[attr-defined]
    if isinstance(value, int):
        return ctypes.c_uint64(value & (2**64 - 1))
    if isinstance(value, float):
        return ctypes.c_double(value)
    if isinstance(value, complex):
        return (ctypes.c_double * 2)(value.real, value.imag)
    if isinstance(value, ctypes._SimpleCData):
        return _bytes_of(bytes(value))
    if hasattr(value, "handle") and isinstance(value.handle, int):
        return ctypes.c_uint64(value.handle)
    raise TypeError(f"the argument is of unsupported type: {type(value)}")


def _bytes_of(value: bytes) -> ctypes.Array:
    return (ctypes.c_char * len(value)).from_buffer_copy(value)
