# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Private helpers of ``cuda.core`` that programs reach for, in Cuprum's own terms."""

from __future__ import annotations

import enum
import importlib
import threading
from collections.abc import Sequence

from cuprum._cuprum import StridedLayout as _StridedLayout  # noqa: F401
from cuprum._cuprum import StridedMemoryView
from cuprum._views import ViewableArgument as _StridedMemoryViewProxy  # noqa: F401

#: The version of ``cuda.core`` that the drop-in implements; programs check it.
__version__ = "1.2.2"

_BINDINGS = ("driver", "nvrtc", "runtime")
# The modules of other private names, and their names there.
_ELSEWHERE = {
    "IPCEventDescriptor": ("cuprum._ipc_event", "IPCEventDescriptor"),
    "_reduce_event": ("cuprum._ipc_event", "reduce_event"),
    "check_multiprocessing_start_method": (
        "cuprum._processes",
        "check_multiprocessing_start_method",
    ),
    "reset_fork_warning": ("cuprum._processes", "reset_fork_warning"),
}


def __getattr__(name: str) -> object:
    """Import a module of ``cuda.bindings``, or another private name, only when it is asked for."""
    if name in _BINDINGS:
        return importlib.import_module(f"cuda.bindings.{name}")
    if name in _ELSEWHERE:
        module, there = _ELSEWHERE[name]
        return getattr(importlib.import_module(module), there)
    raise AttributeError(name)


def handle_return(result: tuple, handle: object = None) -> object:
    """Check what a function of ``cuda.bindings`` returned.

    Parameters
    ----------
    result : tuple
        An error code, then the values.
    handle : object, optional
        Accepted for the callers' sake.

    Returns
    -------
    object
        None, the value, or a tuple of the values.

    Raises
    ------
    CUDAError
        If the code is not success; NVRTCError if it is one of NVRTC.
    """
    import cuprum

    del handle
    code, *values = result
    if int(code) != 0:
        name = getattr(code, "name", str(code))
        is_nvrtc = "nvrtc" in type(code).__name__.lower()
        error = (cuprum.NVRTCError if is_nvrtc else cuprum.CUDAError)(f"{name} ({int(code)})")
        error.code = int(code)
        error.name = name
        raise error
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def Stream_accept(stream: object, allow_stream_protocol: bool = False) -> object:  # noqa: N802
    """Return the stream that an argument stands for, as every method that takes one does."""
    import cuprum

    if isinstance(stream, cuprum.Stream):
        return stream
    if isinstance(stream, cuprum.graph.GraphBuilder):
        return stream.stream
    if allow_stream_protocol and hasattr(stream, "__cuda_stream__"):
        from cuprum import Device

        return Device().create_stream(stream)
    if stream is None:
        raise TypeError(
            "stream is required and must not be None; pass device.default_stream instead"
        )
    raise TypeError(f"Stream or GraphBuilder expected for stream, got {type(stream).__name__}")


def default_stream() -> object:
    """Return the default stream that the environment chooses."""
    import cuprum

    return cuprum.Device().default_stream


def driver_version() -> tuple[int, int, int]:
    """Return the driver's version as major, minor, patch."""
    import cuprum

    number = cuprum.driver_version()
    return number // 1000, number % 1000 // 10, number % 10


def binding_version() -> tuple[int, int, int]:
    """Return the version of ``cuda.bindings``, or of the headers Cuprum was built with."""
    try:
        from importlib.metadata import version

        major, minor, patch = version("cuda-bindings").split(".")[:3]
    except (ImportError, ValueError):
        return 13, 0, 0
    return int(major), int(minor), int("".join(filter(str.isdigit, patch)) or 0)


def _can_load_generated_ptx() -> bool:
    """Return whether the driver understands the PTX that the installed NVRTC writes."""
    import cuprum

    nvrtc = importlib.import_module("cuda.bindings.nvrtc")
    version: tuple[int, int] = handle_return(nvrtc.nvrtcVersion())  # type: ignore[assignment]
    return version[0] * 1000 + version[1] * 10 <= cuprum.driver_version()


class _ThreadDevices(threading.local):
    """The devices of a thread. Deleting `devices` forgets which were made current."""

    @property
    def devices(self) -> list:
        import cuprum

        return list(cuprum.Device.get_all_devices())

    @devices.deleter
    def devices(self) -> None:
        from cuprum import _cuprum

        forget = getattr(_cuprum, "forget_initialized_devices", None)
        if forget is not None:
            forget()


_tls = _ThreadDevices()


#: The device types of DLPack that CUDA uses.
DLDeviceType = enum.IntEnum(
    "DLDeviceType", {"kDLCPU": 1, "kDLCUDA": 2, "kDLCUDAHost": 3, "kDLCUDAManaged": 13}
)


def view_as_cai(obj: object, stream_ptr: int | None) -> StridedMemoryView:
    """View an object through ``__cuda_array_interface__``."""
    return StridedMemoryView.from_cuda_array_interface(obj, stream_ptr)


def view_as_array_interface(obj: object) -> StridedMemoryView:
    """View an object through ``__array_interface__``."""
    return StridedMemoryView.from_array_interface(obj)


def cast_to_3_tuple(label: str, cfg: int | tuple[int, ...]) -> tuple[int, int, int]:
    """Return an extent, or up to three, as three.

    Raises
    ------
    ValueError
        If there are more, or one is no int of at least 1; `label` says of what.
    """
    extents = (cfg,) if isinstance(cfg, int) else cfg
    wanted = f"{label} must be an int, or a tuple with up to 3 ints"
    if not isinstance(extents, tuple):
        raise ValueError(f"{wanted} (got {type(cfg).__name__})")
    if len(extents) > 3:
        raise ValueError(f"{wanted} (got tuple with length {len(extents)})")
    if not all(isinstance(extent, int) for extent in extents):
        raise ValueError(f"{wanted} (got {cfg!r})")
    if any(extent < 1 for extent in extents):
        raise ValueError(f"{label} value must be >= 1 (got {cfg!r})")
    return (*extents, *(1,) * (3 - len(extents)))  # type: ignore[return-value]


# The flags of cuGraphicsGLRegisterBuffer and cuGraphicsGLRegisterImage.
_REGISTER_FLAGS = {
    "none": 0,
    "read_only": 1,
    "write_discard": 2,
    "surface_load_store": 4,
    "texture_gather": 8,
}


def _parse_register_flags(flags: str | Sequence[str] | None) -> int:
    """Return the driver's number for the flags of a `GraphicsResource`."""
    number = 0
    for flag in (flags,) if isinstance(flags, str) else flags or ():
        if flag not in _REGISTER_FLAGS:
            expected = ", ".join(repr(name) for name in _REGISTER_FLAGS)
            raise ValueError(f"Unknown register flag {flag!r}; expected {expected}")
        number |= _REGISTER_FLAGS[flag]
    return number
