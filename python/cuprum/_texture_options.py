# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Options for arrays and textures. Functions that take one also take a dict of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from cuprum._calls import explained
from cuprum.typing import (
    AddressModeType,
    ArrayFormatType,
    FilterModeType,
    ReadModeType,
    ResourceViewFormatType,
)

__all__ = [
    "ArrayMemoryRequirements",
    "ArraySparseProperties",
    "MipmappedArrayOptions",
    "OpaqueArrayOptions",
    "ResourceView",
    "TextureObjectOptions",
]

# Formats whose arrays have 1, 2 or 4 channels. All others have a number of their own.
_PLAIN_FORMATS = frozenset(
    ("uint8", "uint16", "uint32", "int8", "int16", "int32", "float16", "float32")
)
_FIXED_CHANNELS = {
    "unorm_int_101010_2": 4,
    **dict.fromkeys(("bc1_unorm", "bc1_unorm_srgb", "bc2_unorm", "bc2_unorm_srgb"), 4),
    **dict.fromkeys(("bc3_unorm", "bc3_unorm_srgb", "bc7_unorm", "bc7_unorm_srgb"), 4),
    **dict.fromkeys(("bc4_unorm", "bc4_snorm", "y410"), 1),
    **dict.fromkeys(("bc5_unorm", "bc5_snorm", "y210", "y216"), 2),
    **dict.fromkeys(("bc6h_uf16", "bc6h_sf16"), 3),
    **dict.fromkeys(("yuy2", "ayuv", "y416"), 4),
}
_MULTI_PLANE_CHANNELS = 3
_BOOL_FLAGS = (
    "is_cubemap",
    "is_texture_gather",
    "is_depth_texture",
    "is_color_attachment",
    "is_sparse",
    "is_deferred_mapping",
    "is_video",
)


class ArrayMemoryRequirements(NamedTuple):
    """The memory that an array with deferred mapping needs, in bytes.

    Examples
    --------
    >>> options = cuprum.texture.OpaqueArrayOptions((64, 64), "float32", is_deferred_mapping=True)
    >>> array = device.create_opaque_array(options)
    >>> array.memory_requirements.size > 0
    True
    """

    size: int
    alignment: int


class ArraySparseProperties(NamedTuple):
    """The way the memory of a sparse array is divided.

    Attributes
    ----------
    tile_shape : tuple of int
        Width, height and depth of a tile in elements.
    miptail_first_level : int
        The first level that lies in the mip tail.
    miptail_size : int
        Bytes of the mip tail.
    is_single_miptail : bool
        All layers share one mip tail.

    Examples
    --------
    >>> options = cuprum.texture.OpaqueArrayOptions((512, 512), "float32", is_sparse=True)
    >>> array = device.create_opaque_array(options)  # doctest: +SKIP
    >>> array.sparse_properties.tile_shape  # doctest: +SKIP
    (128, 128, 1)
    """

    tile_shape: tuple[int, int, int]
    miptail_first_level: int
    miptail_size: int
    is_single_miptail: bool


@explained
@dataclass
class OpaqueArrayOptions:
    """Options for an array.

    Attributes
    ----------
    shape : tuple of int
        Width; width and height; or width, height and depth, in elements.
    format : ArrayFormatType, str or numpy type
        The type of an element's channels.
    num_channels : int or None
        1, 2 or 4. None is the number that the format fixes, or 1.
    is_surface_load_store : bool
        Kernels can write the array through a `SurfaceObject`.
    num_layers : int
        Layers of a 1-D or 2-D array, or the number of cubemaps. 0 is an array without layers.
    is_cubemap : bool
        The array has six square faces; `shape` is that of one face.
    is_texture_gather : bool
        Kernels can gather four neighbours. For 2-D arrays without layers.
    is_depth_texture : bool
        The array holds depth values of a graphics API.
    is_color_attachment : bool
        A graphics API can draw into the array.
    is_sparse : bool
        The memory is mapped tile by tile, later.
    is_deferred_mapping : bool
        The memory is mapped as a whole, later.
    is_video : bool
        The video engines use the array. Video formats need it.

    Examples
    --------
    >>> options = cuprum.texture.OpaqueArrayOptions(shape=(8, 8), format="uint8", num_channels=4)
    >>> device.create_opaque_array(options).num_channels
    4
    """

    shape: tuple[int, ...]
    format: Any
    num_channels: int | None = None
    is_surface_load_store: bool = False
    num_layers: int = field(default=0, kw_only=True)
    is_cubemap: bool = field(default=False, kw_only=True)
    is_texture_gather: bool = field(default=False, kw_only=True)
    is_depth_texture: bool = field(default=False, kw_only=True)
    is_color_attachment: bool = field(default=False, kw_only=True)
    is_sparse: bool = field(default=False, kw_only=True)
    is_deferred_mapping: bool = field(default=False, kw_only=True)
    is_video: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check what can be checked without a device."""
        _check_array_options(self)


@explained
@dataclass
class MipmappedArrayOptions:
    """Options for an array with levels.

    Attributes
    ----------
    shape : tuple of int
        The size of level 0: width; width and height; or width, height and depth, in elements.
    format : ArrayFormatType, str or numpy type
        The type of an element's channels.
    num_channels : int or None
        1, 2 or 4. None is the number that the format fixes, or 1.
    num_levels : int or None
        The number of levels. None is as many as there can be, down to one element.
    is_surface_load_store : bool
        Kernels can write levels through a `SurfaceObject`.
    num_layers : int
        Layers of a 1-D or 2-D array, or the number of cubemaps. 0 is an array without layers.
    is_cubemap : bool
        The array has six square faces; `shape` is that of one face.
    is_texture_gather : bool
        Kernels can gather four neighbours. For 2-D arrays without layers.
    is_depth_texture : bool
        The array holds depth values of a graphics API.
    is_color_attachment : bool
        A graphics API can draw into the array.
    is_sparse : bool
        The memory is mapped tile by tile, later.
    is_deferred_mapping : bool
        The memory is mapped as a whole, later.
    is_video : bool
        The video engines use the array. Video formats need it.

    Examples
    --------
    >>> options = cuprum.texture.MipmappedArrayOptions((64, 64), "float32", num_levels=3)
    >>> device.create_mipmapped_array(options).num_levels
    3
    """

    shape: tuple[int, ...]
    format: Any
    num_channels: int | None = None
    num_levels: int | None = None
    is_surface_load_store: bool = False
    num_layers: int = field(default=0, kw_only=True)
    is_cubemap: bool = field(default=False, kw_only=True)
    is_texture_gather: bool = field(default=False, kw_only=True)
    is_depth_texture: bool = field(default=False, kw_only=True)
    is_color_attachment: bool = field(default=False, kw_only=True)
    is_sparse: bool = field(default=False, kw_only=True)
    is_deferred_mapping: bool = field(default=False, kw_only=True)
    is_video: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check what can be checked without a device."""
        _check_array_options(self)
        if self.num_levels is not None:
            if isinstance(self.num_levels, bool) or not hasattr(self.num_levels, "__index__"):
                raise TypeError(
                    f"num_levels must be an int or None, got {type(self.num_levels).__name__}"
                )
            self.num_levels = int(self.num_levels)
            if self.num_levels < 1:
                raise ValueError(f"num_levels is {self.num_levels}, expected at least 1, or None")


@explained
@dataclass(frozen=True)
class ResourceView:
    """A part of an array that a texture reads, in another format of the same size.

    A compressed format needs an array of uint32 with two channels (BC1, BC4) or four (the others),
    one element for each block of 4 by 4.

    Attributes
    ----------
    format : ResourceViewFormatType, str or None
        None is the format of the array.
    first_level, last_level : int
        The levels, counted from 0; None is the last one.
    first_layer, last_layer : int
        The layers, or the faces of a cubemap, counted from 0; None is the last one.

    Examples
    --------
    >>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
    >>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
    >>> view = cuprum.texture.ResourceView(format="uint32x1")
    >>> texture = device.create_texture_object(resource=resource, options={"view": view})
    """

    format: ResourceViewFormatType | str | None = None
    first_level: int = 0
    last_level: int | None = None
    first_layer: int = 0
    last_layer: int | None = None

    def __post_init__(self) -> None:
        """Convert the format."""
        if self.format is not None:
            member = _normalize_enum("format", self.format, ResourceViewFormatType)
            object.__setattr__(self, "format", member)

    @property
    def _number(self) -> int:
        """The driver's number of the format."""
        if self.format is None:
            return 0
        return 1 + list(ResourceViewFormatType).index(ResourceViewFormatType(self.format))


class _SamplingCache:
    """The place where creating a texture keeps the settings, checked and converted."""

    __slots__ = ("_sampling",)


@explained
@dataclass
class TextureObjectOptions(_SamplingCache):
    """Options for a texture.

    Attributes
    ----------
    address_mode : AddressModeType, str or tuple
        What the texture returns outside its bounds: one mode, or one for each of up to three axes.
        Wrapping and mirroring need `normalized_coords`.
    filter_mode : FilterModeType or str
        How the texture interpolates between elements.
    read_mode : ReadModeType or str
        Whether kernels get integers as they are or as numbers up to 1.
    normalized_coords : bool
        Coordinates go from 0 to 1, not from 0 to the size. Mipmapped arrays need it.
    srgb : bool
        Convert sRGB to linear values; for elements of 8 bits.
    disable_trilinear_optimization : bool
        Filter between levels exactly.
    seamless_cubemap : bool
        Filter across the edges of a cubemap.
    max_anisotropy : int
        The largest anisotropy, which the driver limits to 16. 0 is none.
    mipmap_filter_mode : FilterModeType or str
        How the texture interpolates between levels.
    mipmap_level_bias : float
        Added to the level.
    min_mipmap_level_clamp, max_mipmap_level_clamp : float
        The range of levels.
    border_color : tuple of float or None
        Four numbers for the mode "border". None is black.
    view : ResourceView, dict or None
        The part of an array that the texture reads. None is all of it.

    Examples
    --------
    >>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
    >>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
    >>> options = cuprum.texture.TextureObjectOptions(filter_mode="linear", normalized_coords=True)
    >>> texture = device.create_texture_object(resource=resource, options=options)
    """

    address_mode: AddressModeType | str | tuple[AddressModeType | str, ...] = AddressModeType.CLAMP
    filter_mode: FilterModeType | str = FilterModeType.POINT
    read_mode: ReadModeType | str = ReadModeType.ELEMENT_TYPE
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = FilterModeType.POINT
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: Sequence[float] | None = None
    view: ResourceView | dict[str, Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Convert strings to members."""
        self.filter_mode = _normalize_enum("filter_mode", self.filter_mode, FilterModeType)
        self.read_mode = _normalize_enum("read_mode", self.read_mode, ReadModeType)
        self.mipmap_filter_mode = _normalize_enum(
            "mipmap_filter_mode", self.mipmap_filter_mode, FilterModeType
        )

    def __setattr__(self, name: str, value: object) -> None:
        """Forget what creating a texture has cached."""
        object.__setattr__(self, name, value)
        if name != "_sampling":
            object.__setattr__(self, "_sampling", None)

    def __getstate__(self) -> dict[str, object]:
        """Leave out the cache."""
        return self.__dict__.copy()


def _check_array_options(options: OpaqueArrayOptions | MipmappedArrayOptions) -> None:
    options.format = _normalize_array_format(options.format)
    options.num_channels = _checked_channels(options.format, options.num_channels)
    options.shape = _checked_shape(options.shape)
    if isinstance(options.num_layers, bool) or not isinstance(options.num_layers, int):
        raise TypeError(f"num_layers must be an int, got {type(options.num_layers).__name__}")
    if options.num_layers < 0:
        raise ValueError(f"num_layers is {options.num_layers}, expected at least 0")
    for flag in _BOOL_FLAGS:
        if not isinstance(value := getattr(options, flag), bool):
            raise TypeError(f"{flag} must be a bool, got {type(value).__name__}")


def _checked_shape(shape: Iterable[int]) -> tuple[int, ...]:
    try:
        given = tuple(shape)
    except TypeError as error:
        raise TypeError(f"shape must be a tuple of ints, got {type(shape).__name__}") from error
    for axis, size in enumerate(given):
        if not hasattr(size, "__index__"):
            raise TypeError(f"shape[{axis}] must be an int, got {type(size).__name__}")
    numbers = tuple(int(size) for size in given)
    if not 1 <= len(numbers) <= 3:
        raise ValueError(f"shape rank is {len(numbers)}, expected 1, 2 or 3: shape is {numbers}")
    for axis, size in enumerate(numbers):
        if size < 1:
            raise ValueError(f"shape[{axis}] must be >= 1, got {size}")
    return numbers


def _checked_channels(format: ArrayFormatType, num_channels: int | None) -> int:
    name = format.value
    if name in _PLAIN_FORMATS:
        if num_channels is None:
            return 1
        if isinstance(num_channels, bool) or num_channels not in (1, 2, 4):
            raise ValueError(f"num_channels must be 1, 2 or 4, got {num_channels!r}")
        return int(num_channels)
    own = _FIXED_CHANNELS.get(name)
    if own is None:
        own = int(name[-1]) if "norm_int" in name else _MULTI_PLANE_CHANNELS
    if num_channels not in (None, own):
        raise ValueError(f"num_channels is {num_channels!r}, expected {own} for the format {name}")
    return own


def _normalize_array_format(format: object) -> ArrayFormatType:
    """Return the member of ArrayFormatType that a member, a str or a numpy type names."""
    if isinstance(format, ArrayFormatType):
        return format
    names = ", ".join(repr(name) for name in sorted(_PLAIN_FORMATS))
    if isinstance(format, str):
        try:
            return ArrayFormatType(format)
        except ValueError:
            raise ValueError(
                f"format must be an ArrayFormatType or the name of one, such as {names}; "
                f"got {format!r}"
            ) from None
    expected = f"format must be an ArrayFormatType, a str or a numpy type, got {format!r}"
    if format is None:  # numpy reads it as float64
        raise ValueError(expected)
    try:
        import numpy as np

        dtype: Any = np.dtype(cast("Any", format))
    except ImportError:
        raise ValueError(f"{expected}; numpy is not installed") from None
    except TypeError:
        raise ValueError(expected) from None
    if dtype.name not in _PLAIN_FORMATS or dtype.byteorder not in "=|":
        raise ValueError(
            f"format is the numpy type {dtype!r}, which has no ArrayFormatType equivalent; "
            f"expected one of {names}"
        )
    return ArrayFormatType(dtype.name)


def _normalize_enum(name: str, value: object, kind: Any) -> Any:
    if isinstance(value, kind):
        return value
    if isinstance(value, str):
        try:
            return kind(value)
        except ValueError:
            pass
    names = ", ".join(repr(member.value) for member in kind)
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise ValueError(f"{name} must be {article} {kind.__name__} or one of {names}; got {value!r}")


def _normalize_address_modes(
    address_mode: object,
) -> tuple[AddressModeType, AddressModeType, AddressModeType]:
    """Return the modes of all three axes. The last one given stands for those that follow."""
    if isinstance(address_mode, str):
        mode = _normalize_enum("address_mode", address_mode, AddressModeType)
        return (mode, mode, mode)
    if not isinstance(address_mode, Iterable):
        raise TypeError(
            "address_mode must be an AddressModeType, a str or a tuple of them, got "
            f"{type(address_mode).__name__}"
        )
    given = tuple(address_mode)
    if not 1 <= len(given) <= 3:
        raise ValueError(f"address_mode tuple must have 1-3 entries, got {len(given)}")
    modes = [
        _normalize_enum(f"address_mode[{axis}]", mode, AddressModeType)
        for axis, mode in enumerate(given)
    ]
    modes += [modes[-1]] * (3 - len(modes))
    return (modes[0], modes[1], modes[2])


def _new_numpy_array(
    format: ArrayFormatType,
    shape: tuple[int, ...],
    layers: int,
    has_layers: bool,
    element_bytes: int,
    block: int,
    dtype: Any,
    offset: tuple[int, ...] | None,
    region: tuple[int, ...] | None,
) -> Any:
    """Make the numpy array that a region of an array is copied to."""
    import numpy as np

    sizes = [*shape, layers] if has_layers else list(shape)
    if has_layers and len(shape) == 1:
        sizes = [shape[0], 1, layers]  # a region counts layers in its third number
    first = tuple(offset or ())
    wanted = tuple(region or ())
    counts = []
    for axis, size in enumerate(sizes):
        start = first[axis] if axis < len(first) else 0
        count = wanted[axis] if axis < len(wanted) else 0
        left = max(size - start, 0)
        counts.append(min(count or left, left))
    columns = [-(-count // block) if axis < 2 else count for axis, count in enumerate(counts)]
    if has_layers and len(shape) == 1:
        columns = [columns[0], columns[2]]
    if element_bytes == 0:
        raise ValueError(
            f"an array of {format.value} cannot be copied as a whole; copy its planes one by one: "
            "see get_plane()"
        )
    parts = element_bytes // dtype.itemsize
    axes = columns[::-1] + ([parts] if parts > 1 else [])
    return np.empty(axes, dtype)
