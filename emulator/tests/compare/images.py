# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Arrays, texture objects and surface objects through the driver API."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

from driver import Device

LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8
MEMORY_HOST, MEMORY_ARRAY = 1, 3
RESOURCE_ARRAY, RESOURCE_MIPMAP, RESOURCE_LINEAR, RESOURCE_PITCH = 0, 1, 2, 3
READ_AS_INTEGER, NORMALIZED, SRGB, SEAMLESS = 0x01, 0x02, 0x10, 0x40

# The name of a format: its number, the bytes of a channel (of a block if compressed), and the
# number of channels if the format sets it.
FORMATS = {
    "u8": (0x01, 1, 0),
    "u16": (0x02, 2, 0),
    "u32": (0x03, 4, 0),
    "s8": (0x08, 1, 0),
    "s16": (0x09, 2, 0),
    "s32": (0x0A, 4, 0),
    "f16": (0x10, 2, 0),
    "f32": (0x20, 4, 0),
    "unorm8x1": (0xC0, 1, 1),
    "unorm8x2": (0xC1, 1, 2),
    "unorm8x4": (0xC2, 1, 4),
    "unorm16x1": (0xC3, 2, 1),
    "unorm16x2": (0xC4, 2, 2),
    "unorm16x4": (0xC5, 2, 4),
    "snorm8x1": (0xC6, 1, 1),
    "snorm8x2": (0xC7, 1, 2),
    "snorm8x4": (0xC8, 1, 4),
    "snorm16x1": (0xC9, 2, 1),
    "snorm16x2": (0xCA, 2, 2),
    "snorm16x4": (0xCB, 2, 4),
    "unorm10": (0x50, 1, 4),
    "bc1": (0x91, 8, 4),
    "bc1_srgb": (0x92, 8, 4),
    "bc2": (0x93, 16, 4),
    "bc2_srgb": (0x94, 16, 4),
    "bc3": (0x95, 16, 4),
    "bc3_srgb": (0x96, 16, 4),
    "bc4_unorm": (0x97, 8, 1),
    "bc4_snorm": (0x98, 8, 1),
    "bc5_unorm": (0x99, 16, 2),
    "bc5_snorm": (0x9A, 16, 2),
    "bc6h_unsigned": (0x9B, 16, 3),
    "bc6h_signed": (0x9C, 16, 3),
    "bc7": (0x9D, 16, 4),
    "bc7_srgb": (0x9E, 16, 4),
}
MODES = ("wrap", "clamp", "mirror", "border")


@dataclass(frozen=True)
class Picture:
    """An image to create: its shape, format, size and content."""

    shape: str  # 1d, 2d, 3d, a1d, a2d, cube or acube
    format: str = "f32"
    channels: int = 1
    size: tuple[int, ...] = (16,)  # width, height, and depth or the number of layers
    source: str = "array"  # array, mipmap, linear or pitch
    levels: int = 1
    content: str = "random"
    is_surface: bool = False

    @property
    def text(self) -> str:
        """A name that says everything."""
        name = self.format if FORMATS[self.format][2] else f"{self.format}x{self.channels}"
        parts = [self.shape, name, "x".join(map(str, self.size))]
        parts += [self.source] * (self.source != "array")
        parts += [f"{self.levels} levels"] * (self.levels > 1)
        parts += [self.content] * (self.content != "random")
        return " ".join(parts)

    @property
    def is_compressed(self) -> bool:
        """Whether the image is stored in blocks of 4 x 4 texels."""
        return self.format.startswith("bc")

    @property
    def channel_count(self) -> int:
        """The number of channels that a texel has."""
        return FORMATS[self.format][2] or self.channels

    @property
    def texel_bytes(self) -> int:
        """The size of a texel, or of a block."""
        size = FORMATS[self.format][1]
        return size if self.is_compressed else size * self.channel_count

    def extents(self, level: int = 0) -> tuple[int, int, int]:
        """Return width, height and the number of slices of a level, in texels."""
        width, height, slices = (*self.size, 1, 1)[:3]
        if self.shape == "a1d":
            height, slices = 1, self.size[1]
        elif self.shape == "cube":
            slices = 6
        elif self.shape == "acube":
            slices = 6 * self.size[2]
        elif self.shape == "3d":
            slices = max(slices >> level, 1)
        return max(width >> level, 1), max(height >> level, 1), slices

    def rows(self, level: int = 0) -> tuple[int, int, int]:
        """Return the bytes of a row, the number of rows in a slice, and the number of slices."""
        width, height, slices = self.extents(level)
        if self.is_compressed:
            width, height = (width + 3) // 4, (height + 3) // 4
        return width * self.texel_bytes, height, slices


@dataclass(frozen=True)
class Sampling:
    """How a texture is read."""

    filter: str = "point"
    modes: tuple[str, ...] = ("clamp",)
    is_normalized: bool = False
    reads_integers: bool = False
    is_srgb: bool = False
    is_seamless: bool = False
    level_filter: str = "point"
    bias: float = 0.0
    clamp: tuple[float, float] = (0.0, 99.0)
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    anisotropy: int = 0

    @property
    def text(self) -> str:
        """A name that says everything."""
        parts = [self.filter, "/".join(self.modes)]
        for flag in ("is_normalized", "reads_integers", "is_srgb", "is_seamless"):
            parts += [flag.split("_")[1]] * getattr(self, flag)
        parts += [f"levels {self.level_filter}"] * (self.level_filter != "point")
        parts += [f"bias {self.bias}"] * (self.bias != 0)
        parts += [f"clamp {self.clamp}"] * (self.clamp != (0.0, 99.0))
        parts += [f"border {self.border}"] * any(self.border)
        parts += [f"anisotropy {self.anisotropy}"] * (self.anisotropy != 0)
        return " ".join(parts)


class _ArrayDescriptor(ctypes.Structure):
    _fields_ = (
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("flags", ctypes.c_uint),
    )


class _Side(ctypes.Structure):
    _fields_ = (
        ("x_bytes", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("z", ctypes.c_size_t),
        ("level", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_uint64),
        ("array", ctypes.c_void_p),
        ("reserved", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class _Copy(ctypes.Structure):
    _fields_ = (
        ("source", _Side),
        ("target", _Side),
        ("width_bytes", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    )


class _Linear(ctypes.Structure):
    _fields_ = (
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("bytes", ctypes.c_size_t),
    )


class _Pitched(ctypes.Structure):
    _fields_ = (
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
    )


class _ResourceUnion(ctypes.Union):
    _fields_ = (
        ("array", ctypes.c_void_p),
        ("linear", _Linear),
        ("pitched", _Pitched),
        ("reserved", ctypes.c_int * 32),
    )


class _Resource(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int),
        ("of", _ResourceUnion),
        ("flags", ctypes.c_uint),
    )


class _Texture(ctypes.Structure):
    _fields_ = (
        ("modes", ctypes.c_int * 3),
        ("filter", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("anisotropy", ctypes.c_uint),
        ("level_filter", ctypes.c_int),
        ("bias", ctypes.c_float),
        ("min_level", ctypes.c_float),
        ("max_level", ctypes.c_float),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    )


@dataclass
class Store:
    """An image in the memory of a device."""

    device: Device
    picture: Picture
    contents: list[bytes] = field(default_factory=list)  # of each level
    handle: ctypes.c_void_p = field(default_factory=ctypes.c_void_p)
    address: int = 0

    @staticmethod
    def create(device: Device, picture: Picture, contents: list[bytes]) -> Store:
        """Create the image and write its levels."""
        store = Store(device, picture, contents)
        if picture.source in ("linear", "pitch"):
            store.address = device.allocate(store.padded())
            return store
        width, height, _ = picture.extents()
        flags = {"a1d": LAYERED, "a2d": LAYERED, "cube": CUBEMAP, "acube": LAYERED | CUBEMAP}
        depth = picture.extents()[2] if picture.shape not in ("1d", "2d") else 0
        wanted = flags.get(picture.shape, 0) | (SURFACE if picture.is_surface else 0)
        if picture.shape == "2d" and not picture.is_compressed and not picture.is_surface:
            wanted |= GATHER
        number = FORMATS[picture.format][0]
        descriptor = _ArrayDescriptor(
            width,
            0 if picture.shape in ("1d", "a1d") else height,
            depth,
            number,
            picture.channel_count,
            wanted,
        )
        if picture.source == "array":
            device.call("cuArray3DCreate_v2", ctypes.byref(store.handle), ctypes.byref(descriptor))
        else:
            device.call(
                "cuMipmappedArrayCreate",
                ctypes.byref(store.handle),
                ctypes.byref(descriptor),
                picture.levels,
            )
        for level, content in enumerate(contents):
            store.copy(level, content, is_read=False)
        return store

    @property
    def pitch(self) -> int:
        """The distance of rows in pitched memory; textures need a multiple of 32 bytes."""
        return (self.picture.rows()[0] + 255) // 256 * 256

    def padded(self) -> bytes:
        """Return the content as linear memory stores it."""
        if self.picture.source == "linear":
            return self.contents[0]
        row = self.picture.rows()[0]
        rows = range(0, len(self.contents[0]), row)
        return b"".join(self.contents[0][at : at + row].ljust(self.pitch, b"\0") for at in rows)

    def copy(self, level: int, content: bytes, is_read: bool) -> bytes:
        """Write a level, or read it."""
        array = self.handle
        if self.picture.source == "mipmap":
            array = ctypes.c_void_p()
            self.device.call(
                "cuMipmappedArrayGetLevel", ctypes.byref(array), self.handle, ctypes.c_uint(level)
            )
        row, height, slices = self.picture.rows(level)
        host = ctypes.create_string_buffer(content, max(len(content), row * height * slices))
        outside = _Side(kind=MEMORY_HOST, host=ctypes.addressof(host), pitch=row, height=height)
        inside = _Side(kind=MEMORY_ARRAY, array=array)
        sides = (inside, outside) if is_read else (outside, inside)
        copy = _Copy(*sides, row, height, slices)
        self.device.call("cuMemcpy3D_v2", ctypes.byref(copy))
        return host.raw[: row * height * slices]

    def texture(self, sampling: Sampling) -> int:
        """Create a texture object and return its handle."""
        resource = self._resource()
        modes = (sampling.modes * 3)[:3] if len(sampling.modes) == 1 else sampling.modes
        flags = READ_AS_INTEGER * sampling.reads_integers | NORMALIZED * sampling.is_normalized
        flags |= SRGB * sampling.is_srgb | SEAMLESS * sampling.is_seamless
        texture = _Texture(
            (ctypes.c_int * 3)(*[MODES.index(mode) for mode in (*modes, "clamp", "clamp")[:3]]),
            int(sampling.filter == "linear"),
            flags,
            sampling.anisotropy,
            int(sampling.level_filter == "linear"),
            sampling.bias,
            *sampling.clamp,
            (ctypes.c_float * 4)(*sampling.border),
        )
        handle = ctypes.c_uint64()
        self.device.call(
            "cuTexObjectCreate",
            ctypes.byref(handle),
            ctypes.byref(resource),
            ctypes.byref(texture),
            None,
        )
        return handle.value

    def surface(self) -> int:
        """Create a surface object and return its handle."""
        handle = ctypes.c_uint64()
        resource = self._resource()
        self.device.call("cuSurfObjectCreate", ctypes.byref(handle), ctypes.byref(resource))
        return handle.value

    def destroy_texture(self, handle: int) -> None:
        """Destroy a texture object."""
        self.device.call("cuTexObjectDestroy", ctypes.c_uint64(handle))

    def destroy_surface(self, handle: int) -> None:
        """Destroy a surface object."""
        self.device.call("cuSurfObjectDestroy", ctypes.c_uint64(handle))

    def destroy(self) -> None:
        """Free the memory."""
        if self.picture.source in ("linear", "pitch"):
            self.device.free(self.address)
        elif self.picture.source == "array":
            self.device.call("cuArrayDestroy", self.handle)
        else:
            self.device.call("cuMipmappedArrayDestroy", self.handle)

    def _resource(self) -> _Resource:
        picture = self.picture
        kinds = {
            "array": RESOURCE_ARRAY,
            "mipmap": RESOURCE_MIPMAP,
            "linear": RESOURCE_LINEAR,
            "pitch": RESOURCE_PITCH,
        }
        resource = _Resource(kinds[picture.source])
        number = FORMATS[picture.format][0]
        width, height, _ = picture.extents()
        if picture.source == "linear":
            size = len(self.contents[0])
            resource.of.linear = _Linear(self.address, number, picture.channels, size)
        elif picture.source == "pitch":
            resource.of.pitched = _Pitched(
                self.address, number, picture.channels, width, height, self.pitch
            )
        else:
            resource.of.array = self.handle.value
        return resource
