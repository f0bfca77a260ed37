# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Private parts of ``cuda.core.system`` that programs reach for, in Cuprum's own terms."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from cuprum import _cuprum
from cuprum.system import *  # noqa: F403 -- the classes that the private modules define
from cuprum.system import Device, exceptions, get_num_devices

_UNINITIALIZED, _INITIALIZED, _LIBRARY_NOT_FOUND = range(3)
_BITS_OF_A_WORD = 64
_is_missing = False


def _unpack_bitmask(words: Iterable[int]) -> list[int]:
    """Return the numbers of the bits that are set in words of 64 bits."""
    return [
        place * _BITS_OF_A_WORD + bit
        for place, word in enumerate(words)
        for bit in range(_BITS_OF_A_WORD)
        if word >> bit & 1
    ]


def initialize() -> None:
    """Load and initialise NVML; remember it if there is none."""
    global _is_missing
    try:
        _cuprum.initialize_nvml()
    except (
        exceptions.LibraryNotFoundError,
        exceptions.DriverNotLoadedError,
        exceptions.UnknownError,
    ):
        _is_missing = True


def is_initialized() -> bool:
    """Return whether this process has initialised NVML."""
    return _cuprum.is_nvml_initialized()


def validate() -> None:
    """Check that NVML works and sees a device.

    Raises
    ------
    LibraryNotFoundError, UninitializedError, GpuNotFoundError
        If it does not.
    """
    if _is_missing:
        raise exceptions.LibraryNotFoundError("NVML cannot be loaded")
    if not is_initialized():
        raise exceptions.UninitializedError("NVML is not initialised; call initialize()")
    if get_num_devices() == 0:
        raise exceptions.GpuNotFoundError("NVML sees no device")


def _get_nvml_state() -> int:
    if _is_missing:
        return _LIBRARY_NOT_FOUND
    return _INITIALIZED if is_initialized() else _UNINITIALIZED


def follow_reference() -> None:
    """Give devices their private name for the handle, and errors the classes of the bindings."""
    Device._handle = property(lambda self: self.handle)  # type: ignore[attr-defined]
    own = exceptions.class_of

    def class_of(code: int) -> type[exceptions.NvmlError]:
        _adopt_bindings()
        return own(code)

    exceptions.class_of = class_of


def _adopt_bindings() -> None:
    """Let programs that use ``cuda.bindings.nvml`` catch our errors by its classes.

    Importing that module takes longer than all of Cuprum, so it is left to the program.
    """
    theirs = sys.modules.get("cuda.bindings.nvml")
    if theirs is None or issubclass(exceptions.NvmlError, getattr(theirs, "NvmlError", ())):
        return
    for name in ("NvmlError", *(name for name in exceptions.__all__ if name != "NvmlError")):
        ours = getattr(exceptions, name)
        if (error := getattr(theirs, name, None)) is not None:
            ours.__bases__ = (*ours.__bases__, error)
            # The constructor of cuda.bindings expects a code as its argument; ours gets a text.
            ours.__init__ = Exception.__init__
