# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Tensor maps: the values that options take, and the options of a tiled map."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cuprum._calls import explained
from cuprum._cuprum import TensorMapDescriptor

__all__ = ["TensorMapDescriptor", "TensorMapDescriptorOptions"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from cuprum._cuprum import StridedMemoryView

    _Choice = TypeVar("_Choice", bound=enum.IntEnum)


class TensorMapDataType(enum.IntEnum):
    """The type of a tensor's elements. The packed ones need compute capability 10.0."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12
    PACKED_16U4_ALIGN8B = 13
    PACKED_16U4_ALIGN16B = 14
    PACKED_16U6_ALIGN16B = 15


_TYPE_NAMES = frozenset(TensorMapDataType.__members__)


class TensorMapInterleave(enum.IntEnum):
    """Whether the channels lie in slices of 16 or 32 bytes, as in NC/8HWC8."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(enum.IntEnum):
    """How copies permute pieces in shared memory. The atoms need compute capability 10.0."""

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3
    SWIZZLE_128B_ATOM_32B = 4
    SWIZZLE_128B_ATOM_32B_FLIP_8B = 5
    SWIZZLE_128B_ATOM_64B = 6


class TensorMapL2Promotion(enum.IntEnum):
    """How many bytes the L2 cache fetches at once."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(enum.IntEnum):
    """What loads write for elements outside the tensor: 0, or a special NaN."""

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


class TensorMapIm2ColWideMode(enum.IntEnum):
    """How many pixels a wide im2col copy loads: as many as the map says, or 128."""

    W = 0
    W128 = 1


@explained
@dataclass
class TensorMapDescriptorOptions:
    """Options for ``StridedMemoryView.as_tensor_map``. Numbers follow the axes of the view.

    Attributes
    ----------
    box_dim : tuple of int
        The size of one copy, 1 to 256 elements on each axis.
    element_strides : tuple of int, optional
        Copy every n-th element of an axis, 1 to 8. None means all 1.
    data_type : numpy.dtype or TensorMapDataType, optional
        See the elements as this type. None means the type of the view.
    interleave : TensorMapInterleave or str
        Whether channels are interleaved.
    swizzle : TensorMapSwizzle or str
        How pieces are permuted in shared memory.
    l2_promotion : TensorMapL2Promotion or str
        How much the L2 cache fetches at once.
    oob_fill : TensorMapOOBFill or str
        What loads write for elements outside the tensor.

    Examples
    --------
    >>> view = cuprum.utils.StridedMemoryView.from_buffer(buffer, (16, 16), dtype=np.float32)
    >>> options = cuprum.TensorMapDescriptorOptions(box_dim=(8, 8), swizzle="swizzle_32b")
    >>> tensor_map = view.as_tensor_map(options=options)
    """

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: object = None
    interleave: TensorMapInterleave = TensorMapInterleave.NONE
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE

    def __post_init__(self) -> None:
        self.box_dim = _integers("box_dim", self.box_dim)
        if self.element_strides is not None:
            self.element_strides = _integers("element_strides", self.element_strides)
        if isinstance(self.data_type, str) and self.data_type.upper() in _TYPE_NAMES:
            self.data_type = TensorMapDataType[self.data_type.upper()]
        elif self.data_type is not None and not isinstance(self.data_type, TensorMapDataType):
            self.data_type = _dtype(self.data_type)
        self.interleave = _choice("interleave", self.interleave, TensorMapInterleave)
        self.swizzle = _choice("swizzle", self.swizzle, TensorMapSwizzle)
        self.l2_promotion = _choice("l2_promotion", self.l2_promotion, TensorMapL2Promotion)
        self.oob_fill = _choice("oob_fill", self.oob_fill, TensorMapOOBFill)


# ---- what the bindings and the tests of cuda.core call ------------------------------------------


def _coerce_tensor_map_descriptor_options(
    box_dim: object,
    options: TensorMapDescriptorOptions | Mapping[str, object] | None,
    *,
    element_strides: object = None,
    data_type: object = None,
    interleave: object = None,
    swizzle: object = None,
    l2_promotion: object = None,
    oob_fill: object = None,
) -> TensorMapDescriptorOptions:
    """Return options from an object, a dict, or single arguments."""
    single = {
        "element_strides": element_strides,
        "data_type": data_type,
        "interleave": interleave or None,
        "swizzle": swizzle or None,
        "l2_promotion": l2_promotion or None,
        "oob_fill": oob_fill or None,
    }
    given = {name: value for name, value in single.items() if value is not None}
    if options is None:
        if box_dim is None:
            raise TypeError("box_dim is required unless options is provided")
        return TensorMapDescriptorOptions(box_dim, **given)  # type: ignore[arg-type]
    if box_dim is not None or given:
        names = ", ".join([*(["box_dim"] if box_dim is not None else []), *given])
        raise TypeError(
            "Specify either options or the individual tensor map arguments: got options and "
            f"{names}"
        )
    if isinstance(options, TensorMapDescriptorOptions):
        return options
    if isinstance(options, Mapping):
        return TensorMapDescriptorOptions(**options)  # type: ignore[arg-type]
    raise TypeError(
        f"options must be a TensorMapDescriptorOptions or a dict, got {type(options).__name__}"
    )


def _resolve_data_type(view: object, data_type: object) -> int:
    """Return the number of a type, given or that of a view."""
    if isinstance(data_type, TensorMapDataType):
        return int(data_type)
    if isinstance(data_type, str) and data_type.upper() in _TYPE_NAMES:
        return int(TensorMapDataType[data_type.upper()])
    if data_type is not None:
        dtype = _dtype(data_type)
    else:
        dtype = getattr(view, "dtype", None)
        if dtype is None:
            raise ValueError("Cannot infer TMA data type: the view has no dtype; pass data_type")
    known = _numpy_types()
    number = known.get(dtype)
    if number is None:
        names = ", ".join(str(each) for each in known)
        raise ValueError(
            f"Unsupported dtype {dtype}: tensor maps have {names}; pass a data_type of the same "
            "size to move the bytes as they are"
        )
    return number


def _require_view_device(view: StridedMemoryView, expected: int, operation: str) -> None:
    """Check that memory of a device belongs to the expected one."""
    kind, device = view.__dlpack_device__()
    if int(kind) == _DLPACK_CUDA and device != expected:
        raise ValueError(f"{operation} expects tensor on device {expected}, got {device}")


# ---- helpers ------------------------------------------------------------------------------------

_DLPACK_CUDA = 2
_NUMPY_NAMES = (
    *("uint8", "uint16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64"),
)
# What names of members begin with; "128B" is short for "SWIZZLE_128B".
_PREFIXES = {
    "TensorMapInterleave": "INTERLEAVE_",
    "TensorMapSwizzle": "SWIZZLE_",
    "TensorMapL2Promotion": "L2_",
}


def _numpy_types() -> dict[object, int]:
    """Return the numpy types that tensor maps have, with their numbers."""
    global _known_types
    if _known_types is None:
        import numpy as np

        names = {name: TensorMapDataType[name.upper()] for name in _NUMPY_NAMES}
        _known_types = {np.dtype(name): int(number) for name, number in names.items()}
        try:
            from ml_dtypes import bfloat16  # type: ignore[import-not-found]
        except ImportError:
            return _known_types
        _known_types[np.dtype(bfloat16)] = int(TensorMapDataType.BFLOAT16)
    return _known_types


_known_types: dict[object, int] | None = None


def _dtype(value: object) -> object:
    import numpy as np

    try:
        return np.dtype(value)
    except TypeError as error:
        raise TypeError(
            f"data_type must be a TensorMapDataType or what numpy.dtype() takes, got {value!r}"
        ) from error


def _integers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    try:
        items = tuple(values)
    except TypeError as error:
        raise TypeError(f"{name} must be a tuple of ints, got {type(values).__name__}") from error
    for index, item in enumerate(items):
        if not hasattr(item, "__index__"):
            raise TypeError(f"{name}[{index}] must be an int, got {type(item).__name__}")
    return items


def _choice(name: str, value: object, choices: type[_Choice]) -> _Choice:
    if isinstance(value, choices):
        return value
    if isinstance(value, str):
        wanted = value.upper()
        prefix = _PREFIXES.get(choices.__name__, "")
        for member, each in choices.__members__.items():
            if wanted in (member, member.removeprefix(prefix)):
                return each
        raise ValueError(f"{name} is {value!r}, expected one of {', '.join(choices.__members__)}")
    raise TypeError(
        f"{name} must be a {choices.__name__}, got {type(value).__name__}; they are "
        + ", ".join(choices.__members__)
    )


def __getattr__(name: str) -> object:
    if name == "_NUMPY_DTYPE_TO_TMA":  # needs numpy, so it is made when it is asked for
        return _numpy_types()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
