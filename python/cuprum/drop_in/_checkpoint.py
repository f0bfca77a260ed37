# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuda.core.checkpoint``: Cuprum's, and the private helpers that go with ``cuda.bindings``."""

from __future__ import annotations

import ctypes as _ctypes
from collections.abc import Callable as _Callable
from collections.abc import Mapping as _Mapping
from typing import Any as _Any

from cuda.bindings import driver as _driver

from cuprum.checkpoint import Process
from cuprum.drop_in._shims import binding_version as _binding_version  # noqa: F401
from cuprum.drop_in._shims import driver_version as _driver_version
from cuprum.drop_in._shims import handle_return as _handle_return

__all__ = ["Process"]

_REQUIRED_BINDING_ATTRS = (
    *(
        f"cuCheckpointProcess{action}"
        for action in ("Checkpoint", "GetRestoreThreadId", "GetState", "Lock", "Restore", "Unlock")
    ),
    "CUcheckpointGpuPair",
    "CUcheckpointLockArgs",
    "CUprocessState",
    "CUcheckpointRestoreArgs",
)
_FIRST_DRIVER = (12, 8, 0)
_TOO_OLD = (
    "CUDA checkpointing is not supported by the installed NVIDIA driver. It needs the driver of "
    "CUDA 12.8 or newer"
)


def _get_driver() -> _Any:
    """Return ``cuda.bindings.driver`` if the driver has checkpoints."""
    if _driver_version() < _FIRST_DRIVER:
        raise RuntimeError(_TOO_OLD)
    return _driver


def _call_driver(driver: _Any, function: _Callable, *arguments: object) -> object:
    """Call a function of the bindings and explain a driver that lacks it."""
    try:
        result = function(*arguments)
    except RuntimeError as error:
        if "cuCheckpointProcess" in str(error) and "not found" in str(error):
            raise RuntimeError(_TOO_OLD) from error
        raise
    codes = driver.CUresult
    if result[0] in (codes.CUDA_ERROR_NOT_FOUND, codes.CUDA_ERROR_NOT_SUPPORTED):
        raise RuntimeError(_TOO_OLD)
    return _handle_return(result)


def _check_timeout_ms(timeout_ms: int) -> int:
    """Return a timeout if it is one."""
    if isinstance(timeout_ms, bool) or not isinstance(timeout_ms, int):
        raise TypeError(f"timeout_ms must be an int, got {type(timeout_ms).__name__}")
    if timeout_ms < 0:
        raise ValueError(f"timeout_ms must be >= 0, got {timeout_ms}")
    return timeout_ms


def _make_restore_args(driver: _Any, gpu_mapping: _Any) -> _Any:
    """Return the arguments of a restore, None for no mapping."""
    if gpu_mapping is not None and not isinstance(gpu_mapping, _Mapping):
        raise TypeError(f"gpu_mapping must be a mapping, got {type(gpu_mapping).__name__}")
    pairs = []
    for old, new in (gpu_mapping or {}).items():
        kept: list = []  # what the UUIDs point to, until they are copied
        pair = driver.CUcheckpointGpuPair()
        pair.oldUuid = _as_cuuuid(driver, old, kept)
        pair.newUuid = _as_cuuuid(driver, new, kept)
        pairs.append(pair)
    if not pairs:
        return None
    arguments = driver.CUcheckpointRestoreArgs()
    arguments.gpuPairs = pairs
    arguments.gpuPairsCount = len(pairs)
    return arguments


def _as_cuuuid(driver: _Any, value: _Any, buffers: list) -> _Any:
    """Return a UUID of the bindings; `buffers` keeps alive what it points to."""
    if isinstance(value, driver.CUuuid):
        return value
    if not isinstance(value, str):
        raise TypeError(
            f"GPU UUID values must be CUDA UUID objects or UUID strings, got {type(value).__name__}"
        )
    try:
        raw = bytes.fromhex(value.replace("-", ""))
    except ValueError:
        raw = b""
    if len(raw) != 16:
        raise ValueError(f"a GPU UUID has 32 hex characters and optional hyphens, got {value!r}")
    buffers.append(_ctypes.create_string_buffer(raw, len(raw)))
    return driver.CUuuid(_ctypes.addressof(buffers[-1]))
