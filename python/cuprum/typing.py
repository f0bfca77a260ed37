# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Names for annotations, and the strings that Cuprum takes as enumerations.

A member of an enumeration is the string that it stands for: ``SourceCodeType.CXX == "c++"``.
"""

from __future__ import annotations

import enum
import sys
from typing import Any, Protocol, runtime_checkable

__all__ = [
    "CompilerBackendType",
    "DevicePointerType",
    "IsStreamType",
    "ObjectCodeFormatType",
    "SourceCodeType",
]

if sys.version_info >= (3, 11):
    _StrEnum = enum.StrEnum
else:

    class _StrEnum(str, enum.Enum):
        """Stand in for enum.StrEnum."""

        __str__ = str.__str__
        __format__ = str.__format__  # type: ignore[assignment]


class SourceCodeType(_StrEnum):
    """Name a language that programs are written in."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(_StrEnum):
    """Name what an object code holds."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(_StrEnum):
    """Name a compiler."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


@runtime_checkable
class IsStreamType(Protocol):
    """Match objects of any library that stand for a stream."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the protocol's version, 0, and the stream's address."""
        ...


# An address: an int, or an object that converts to one, or None for no memory.
DevicePointerType = Any
