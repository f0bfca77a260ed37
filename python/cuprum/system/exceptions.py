# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The exceptions of ``cuprum.system``: one class for each error code of NVML."""

from __future__ import annotations

import builtins

from cuprum import _errors

__all__ = [
    "AlreadyInitializedError",
    "ArgumentVersionMismatchError",
    "CorruptedInforomError",
    "DeprecatedError",
    "DriverNotLoadedError",
    "FreqNotSupportedError",
    "FunctionNotFoundError",
    "GpuIsLostError",
    "GpuNotFoundError",
    "InUseError",
    "InsufficientPowerError",
    "InsufficientResourcesError",
    "InsufficientSizeError",
    "InvalidArgumentError",
    "InvalidStateError",
    "IrqIssueError",
    "LibRmVersionMismatchError",
    "LibraryNotFoundError",
    "MemoryError",
    "NoDataError",
    "NoPermissionError",
    "NotFoundError",
    "NotReadyError",
    "NotSupportedError",
    "NvmlError",
    "OperatingSystemError",
    "ResetRequiredError",
    "ResetTypeNotSupportedError",
    "TimeoutError",
    "UninitializedError",
    "UnknownError",
    "VgpuEccNotSupportedError",
]


class NvmlError(_errors.CUDAError):
    """A call that NVML refused; the text says what to do.

    Attributes
    ----------
    code : int
        The result code, an ``nvmlReturn_t``.
    name : str
        Its name, such as ``"NVML_ERROR_NOT_SUPPORTED"``.
    call : str
        The function that failed.
    explanation : str
        What the code means, in one sentence.
    """

    domain = "NVML"

    @property
    def status(self) -> int | None:
        """The code, under the name that ``cuda.bindings`` has for it."""
        return self.code


class UninitializedError(NvmlError):
    """NVML was shut down by another library."""

    code = 1


class InvalidArgumentError(NvmlError, ValueError):
    """An argument that is out of range."""

    code = 2


class NotSupportedError(NvmlError):
    """A query that this device does not answer."""

    code = 3


class NoPermissionError(NvmlError, PermissionError):
    """A call that this user may not make."""

    code = 4


class AlreadyInitializedError(NvmlError):
    """NVML that is initialised already."""

    code = 5


class NotFoundError(NvmlError, LookupError):
    """A device, process or object that does not exist, or no longer."""

    code = 6


class InsufficientSizeError(NvmlError):
    """An answer that is longer than the memory for it."""

    code = 7


class InsufficientPowerError(NvmlError):
    """A power cable that is not attached."""

    code = 8


class DriverNotLoadedError(NvmlError):
    """A driver that the kernel has not loaded."""

    code = 9


class TimeoutError(NvmlError, builtins.TimeoutError):
    """A wait that ended before anything happened."""

    code = 10


class IrqIssueError(NvmlError):
    """A problem with the interrupts of a device."""

    code = 11


class LibraryNotFoundError(NvmlError, _errors.LibraryNotFoundError):
    """NVML, or a library it needs, that cannot be loaded."""

    code = 12


class FunctionNotFoundError(NvmlError, _errors.NotSupportedError):
    """A function that the loaded NVML lacks; the text says which driver has it."""

    code = 13


class CorruptedInforomError(NvmlError):
    """Damage to the memory that identifies a board."""

    code = 14


class GpuIsLostError(NvmlError):
    """A device that no longer answers."""

    code = 15


class ResetRequiredError(NvmlError):
    """A device that needs a reset."""

    code = 16


class OperatingSystemError(NvmlError):
    """An access that the operating system blocks."""

    code = 17


class LibRmVersionMismatchError(NvmlError):
    """NVML and a kernel module of different versions."""

    code = 18


class InUseError(NvmlError):
    """A device that is in use."""

    code = 19


class MemoryError(NvmlError, builtins.MemoryError):
    """A lack of memory for the call."""

    code = 20


class NoDataError(NvmlError):
    """A query that the driver has no data for yet."""

    code = 21


class VgpuEccNotSupportedError(NvmlError):
    """Virtual GPUs while ECC is on."""

    code = 22


class InsufficientResourcesError(NvmlError):
    """A lack of resources other than memory."""

    code = 23


class FreqNotSupportedError(NvmlError):
    """A frequency that the device does not run at."""

    code = 24


class ArgumentVersionMismatchError(NvmlError):
    """A version of a query that the driver does not know."""

    code = 25


class DeprecatedError(NvmlError):
    """A query that the driver no longer offers."""

    code = 26


class NotReadyError(NvmlError):
    """A device that is not ready yet."""

    code = 27


class GpuNotFoundError(NvmlError):
    """A machine, or a process, that sees no device."""

    code = 28


class InvalidStateError(NvmlError):
    """A state of the device that does not allow the call."""

    code = 29


class ResetTypeNotSupportedError(NvmlError):
    """A kind of reset that the device does not support."""

    code = 30


class UnknownError(NvmlError):
    """A failure for a reason that the driver does not give."""

    code = 999


_BY_CODE: dict[int | None, type[NvmlError]] = {
    known.code: known
    for known in tuple(globals().values())
    if isinstance(known, type) and issubclass(known, NvmlError) and known is not NvmlError
}


def class_of(code: int) -> type[NvmlError]:
    """Return the class for a result code; `NvmlError` for one that is not known."""
    return _BY_CODE.get(code, NvmlError)


# Users and pickle see these names, wherever the classes are defined.
for _class in (NvmlError, *_BY_CODE.values()):
    _class.__module__ = "cuprum.system"
