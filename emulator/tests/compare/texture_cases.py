# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The cases on textures and surfaces: an instruction, an image and a way to read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from images import FORMATS, MODES, Picture, Sampling
from texture_combinations import COUNT, combinations
from texture_forms import Form, query, surface, tex, tld4

POINT, LINEAR = 256, 512  # how many threads
BORDER = (0.25, -1.5, 2.0, 0.7)
SIZES = {
    "1d": (37,),
    "2d": (19, 13),
    "3d": (7, 6, 5),
    "a1d": (37, 5),
    "a2d": (19, 13, 4),
    "cube": (8, 8),
    "acube": (8, 8, 2),
}
MIPMAPS = {
    "1d": ((64,), 7),
    "2d": ((32, 16), 6),
    "3d": ((16, 8, 12), 5),
    "a1d": ((64, 3), 7),
    "a2d": ((32, 16, 3), 6),
    "cube": ((16, 16), 5),
    "acube": ((16, 16, 2), 5),
}
PLAIN = ("u8", "u16", "u32", "s8", "s16", "s32", "f16", "f32")
NORMALIZED = ("u8", "u16", "s8", "s16")
PLAINLY = Sampling()


@dataclass(frozen=True)
class TextureCase:
    """One kernel on one image."""

    form: Form
    picture: Picture
    sampling: Sampling = PLAINLY
    count: int = POINT

    @property
    def name(self) -> str:
        """The name in the recorded file."""
        parts = [self.form.text, self.picture.text]
        parts += [self.sampling.text] * (not self.form.is_surface)
        return "; ".join(parts)


def texture_cases() -> Iterator[TextureCase]:
    """Yield every case that is recorded."""
    seen = set()
    for each in (
        *formats(),
        *address_modes(),
        *borders(),
        *srgb(),
        *whole_coordinates(),
        *memory(),
        *levels(),
        *gathers(),
        *offsets(),
        *halves(),
        *texture_queries(),
        *loads(),
        *stores(),
        *reductions(),
        *surface_queries(),
        *every_combination(),
    ):
        if each.name not in seen:
            seen.add(each.name)
            yield each


def result_type(name: str, sampling: Sampling) -> str:
    """Return the type that a texture of a format is read as."""
    if name in ("u32", "s32") or (name in NORMALIZED and sampling.reads_integers):
        return f"{name[0]}32"
    return "f32"


def all_formats() -> Iterator[tuple[str, int]]:
    """Yield every format with every number of channels."""
    yield from product(PLAIN, (1, 2, 4))
    yield from ((name, spec[2]) for name, spec in FORMATS.items() if spec[2])


def formats() -> Iterator[TextureCase]:
    """Yield every format, with both filters and both read modes."""
    for name, channels in all_formats():
        size = (20, 12) if name.startswith("bc") else SIZES["2d"]
        picture = Picture("2d", name, channels, size)
        for reads_integers in (False, True) if name in PLAIN else (False,):
            sampling = Sampling(reads_integers=reads_integers)
            yield TextureCase(tex("2d", result_type(name, sampling)), picture, sampling)
        if name in ("u32", "s32"):
            continue
        sampling = Sampling("linear")
        yield TextureCase(tex("2d"), picture, sampling, LINEAR)
        if channels in (1, 4) and name[:2] != "bc":
            for shape in ("1d", "3d"):
                other = replace(picture, shape=shape, size=SIZES[shape])
                yield TextureCase(tex(shape), other, sampling, LINEAR)
    # Results of another type than the texture's.
    for dtype, name in product(("u32", "s32", "f32"), ("u8", "s16", "f32", "f16", "u32")):
        picture = Picture("2d", name, 2, SIZES["2d"])
        yield TextureCase(tex("2d", dtype), picture, Sampling(reads_integers=True))
        yield TextureCase(tex("2d", dtype), picture, Sampling())
    # Integers cannot be filtered.
    for name in ("u8", "s32"):
        picture = Picture("2d", name, 1, SIZES["2d"])
        sampling = Sampling("linear", reads_integers=True)
        yield TextureCase(tex("2d", f"{name[0]}32"), picture, sampling)


def address_modes() -> Iterator[TextureCase]:
    """Yield every shape with every filter, address mode and kind of coordinates."""
    kinds = (("f32", 1), ("u8", 4), ("f16", 2))
    for shape, size in SIZES.items():
        for filter_, mode, is_normalized in product(("point", "linear"), MODES, (False, True)):
            for name, channels in kinds if shape in ("2d", "cube") else kinds[:2]:
                sampling = Sampling(filter_, (mode,), is_normalized)
                picture = Picture(shape, name, channels, size)
                yield TextureCase(tex(shape), picture, sampling, LINEAR)
                if shape in ("cube", "acube"):
                    seamless = replace(sampling, is_seamless=True)
                    yield TextureCase(tex(shape), picture, seamless, LINEAR)
    mixed = (
        ("2d", ("wrap", "mirror")),
        ("2d", ("border", "wrap")),
        ("2d", ("clamp", "border")),
        ("3d", ("border", "clamp", "wrap")),
        ("3d", ("mirror", "wrap", "border")),
        ("a2d", ("mirror", "border")),
    )
    for (shape, modes), filter_ in product(mixed, ("point", "linear")):
        sampling = Sampling(filter_, modes, True, border=BORDER)
        yield TextureCase(tex(shape), Picture(shape, "f32", 4, SIZES[shape]), sampling, LINEAR)
    for size, mode, filter_ in product(
        ((64,), (1,), (1000,), (65536,)), MODES, ("point", "linear")
    ):
        sampling = Sampling(filter_, (mode,), True)
        yield TextureCase(tex("1d"), Picture("1d", "f32", 1, size), sampling, LINEAR)
    for size in ((1, 1), (2, 3), (1, 16)):
        for mode, is_normalized in product(MODES, (False, True)):
            sampling = Sampling("linear", (mode,), is_normalized)
            yield TextureCase(tex("2d"), Picture("2d", "f32", 1, size), sampling)


def every_combination() -> Iterator[TextureCase]:
    """Yield every shape with every format, filter, address mode and kind of coordinates."""
    for shape, name, channels, size, sampling in combinations():
        picture = Picture(shape, name, channels, size)
        yield TextureCase(tex(shape, result_type(name, sampling)), picture, sampling, COUNT)


def borders() -> Iterator[TextureCase]:
    """Yield border colours of every kind of format."""
    for (name, channels), filter_ in product(
        (
            ("u8", 4), ("s8", 4), ("s16", 2), ("u16", 4), ("f16", 4), ("f32", 1), ("f32", 4),
            ("unorm8x4", 4), ("snorm8x4", 4), ("unorm10", 4), ("bc1", 4), ("bc4_unorm", 1),
            ("bc6h_signed", 3),
        ),
        ("point", "linear"),
    ):  # fmt: skip
        sampling = Sampling(filter_, ("border",), border=BORDER)
        size = (20, 12) if name.startswith("bc") else SIZES["2d"]
        yield TextureCase(tex("2d"), Picture("2d", name, channels, size), sampling)
    for name, channels in (("u8", 4), ("u32", 4), ("s32", 2), ("s16", 1), ("s8", 4)):
        sampling = Sampling(
            "point", ("border",), reads_integers=True, border=(3.5, -2.0, 300.0, 1e6)
        )
        picture = Picture("2d", name, channels, SIZES["2d"])
        yield TextureCase(tex("2d", f"{name[0]}32"), picture, sampling)
    for shape in ("1d", "3d", "a1d", "a2d"):
        sampling = Sampling("linear", ("border",), True, border=BORDER)
        yield TextureCase(tex(shape), Picture(shape, "f32", 4, SIZES[shape]), sampling, LINEAR)


def srgb() -> Iterator[TextureCase]:
    """Yield textures that are converted from sRGB."""
    for channels, filter_ in product((1, 2, 4), ("point", "linear")):
        sampling = Sampling(filter_, is_srgb=True, modes=("border",), border=BORDER)
        yield TextureCase(tex("2d"), Picture("2d", "u8", channels, SIZES["2d"]), sampling, LINEAR)
    for name, channels in (("s8", 4), ("u16", 4), ("f32", 4), ("unorm8x4", 4), ("bc1", 4)):
        size = (20, 12) if name.startswith("bc") else SIZES["2d"]
        picture = Picture("2d", name, channels, size)
        yield TextureCase(tex("2d"), picture, Sampling("point", is_srgb=True))
    picture = Picture("2d", "u8", 4, SIZES["2d"])
    yield TextureCase(tex("2d", "u32"), picture, Sampling(is_srgb=True, reads_integers=True))


def whole_coordinates() -> Iterator[TextureCase]:
    """Yield coordinates that are integers."""
    for shape in ("1d", "2d", "3d", "a1d", "a2d"):
        for name, channels in (("f32", 1), ("u8", 4)):
            picture = Picture(shape, name, channels, SIZES[shape])
            for mode, is_normalized in (("clamp", False), ("border", False), ("wrap", True)):
                sampling = Sampling("point", (mode,), is_normalized, border=BORDER)
                yield TextureCase(tex(shape, "f32", "s32"), picture, sampling)
            sampling = Sampling("linear", ("clamp",))
            yield TextureCase(tex(shape, "f32", "s32"), picture, sampling)


def memory() -> Iterator[TextureCase]:
    """Yield textures on linear and pitched memory."""
    for name, channels in product(PLAIN, (1, 2, 4)):
        picture = Picture("1d", name, channels, (64,), "linear")
        for reads_integers in (False, True):
            sampling = Sampling(reads_integers=reads_integers)
            yield TextureCase(tex("1d", result_type(name, sampling), "s32"), picture, sampling)
    picture = Picture("1d", "f32", 1, (64,), "linear")
    yield TextureCase(tex("1d"), picture, Sampling())
    yield TextureCase(tex("1d"), picture, Sampling("linear", is_normalized=True))
    sampling = Sampling("point", ("border",), border=BORDER)
    yield TextureCase(tex("1d", "f32", "s32"), picture, sampling)
    for name, channels in (("f32", 1), ("u8", 4), ("f32", 4), ("f16", 2), ("u16", 1)):
        picture = Picture("2d", name, channels, SIZES["2d"], "pitch")
        for filter_, mode, is_normalized in product(("point", "linear"), MODES, (False, True)):
            sampling = Sampling(filter_, (mode,), is_normalized)
            yield TextureCase(tex("2d"), picture, sampling)
        yield TextureCase(tex("2d", "f32", "s32"), picture, Sampling())


def levels() -> Iterator[TextureCase]:
    """Yield mipmapped images."""
    for shape, (size, count) in MIPMAPS.items():
        picture = Picture(shape, "f32", 1, size, "mipmap", count)
        for filter_, level_filter in product(("point", "linear"), ("point", "linear")):
            sampling = Sampling(filter_, ("wrap",), True, level_filter=level_filter)
            for mode in ("level", "grad", "base", ""):
                yield TextureCase(tex(shape, mode=mode), picture, sampling, LINEAR)
    size, count = MIPMAPS["2d"]
    for name, channels in (("u8", 4), ("f16", 4), ("f32", 4), ("u8", 1), ("s16", 2)):
        picture = Picture("2d", name, channels, size, "mipmap", count)
        sampling = Sampling("linear", ("clamp",), True, level_filter="linear")
        yield TextureCase(tex("2d", mode="level"), picture, sampling, LINEAR)
        sampling = Sampling("point", ("clamp",), True, level_filter="linear")
        yield TextureCase(tex("2d", mode="level"), picture, sampling, LINEAR)
    picture = Picture("2d", "u8", 4, size, "mipmap", count)
    for level_filter in ("point", "linear"):
        sampling = Sampling("linear", ("wrap",), True, level_filter=level_filter, is_srgb=True)
        yield TextureCase(tex("2d", mode="level"), picture, sampling, LINEAR)
        whole = replace(sampling, filter="point", is_srgb=False, reads_integers=True)
        yield TextureCase(tex("2d", "u32", mode="level"), picture, whole)
    picture = Picture("2d", "f32", 1, size, "mipmap", count)
    for bias, clamp, level_filter in (
        (0.3, (0.0, 99.0), "linear"),
        (-1.75, (0.0, 99.0), "linear"),
        (0.5, (0.0, 99.0), "point"),
        (0.0, (1.25, 3.5), "linear"),
        (0.0, (1.5, 2.5), "point"),
        (0.7, (0.3, 3.9), "linear"),
        (0.0, (0.0, 0.0), "linear"),
        (20.0, (0.0, 99.0), "linear"),
    ):
        sampling = Sampling(
            "point", ("clamp",), True, level_filter=level_filter, bias=bias, clamp=clamp
        )
        for mode in ("level", "grad", ""):
            yield TextureCase(tex("2d", mode=mode), picture, sampling, LINEAR)
    for is_normalized in (False, True):
        sampling = Sampling("point", ("clamp",), is_normalized, level_filter="point")
        yield TextureCase(tex("2d", ctype="s32", mode="level"), picture, sampling)
        yield TextureCase(tex("2d", mode="level"), picture, sampling)
    sampling = Sampling("linear", ("wrap",), True, level_filter="linear", anisotropy=8)
    for mode in ("level", "grad"):
        yield TextureCase(tex("2d", mode=mode), picture, sampling, LINEAR)
    # Level and gradients of an image with one level.
    plain = Picture("2d", "f32", 1, SIZES["2d"])
    for mode in ("level", "grad", "base"):
        for filter_ in ("point", "linear"):
            yield TextureCase(tex("2d", mode=mode), plain, Sampling(filter_, ("wrap",), True))
    # A minifying filter that differs needs no levels: dimensions that are not powers of two.
    for shape, size, count in (("2d", (19, 13), 5), ("3d", (7, 6, 5), 3), ("2d", (5, 40), 6)):
        picture = Picture(shape, "f32", 1, size, "mipmap", count)
        sampling = Sampling("linear", ("mirror",), True, level_filter="linear")
        for mode in ("level", "grad"):
            yield TextureCase(tex(shape, mode=mode), picture, sampling, LINEAR)


def gathers() -> Iterator[TextureCase]:
    """Yield tld4."""
    for component, (name, channels) in product(
        "rgba", (("f32", 1), ("f32", 4), ("u8", 4), ("f16", 2), ("s16", 1))
    ):
        picture = Picture("2d", name, channels, SIZES["2d"])
        yield TextureCase(tld4(component), picture, Sampling())
        sampling = Sampling("linear", ("wrap",), True)
        yield TextureCase(tld4(component), picture, sampling)
    for name in ("u8", "s8", "u32", "s32", "u16"):
        picture = Picture("2d", name, 4, SIZES["2d"])
        sampling = Sampling("point", ("mirror",), True, reads_integers=True)
        yield TextureCase(tld4("g", dtype=f"{name[0]}32"), picture, sampling)
    for shape, mode in product(("2d", "a2d", "cube", "acube"), MODES):
        picture = Picture(shape, "f32", 4, SIZES[shape])
        sampling = Sampling("point", (mode,), True, border=BORDER)
        yield TextureCase(tld4("b", shape), picture, sampling, LINEAR)
        if shape[-1] == "e":
            sampling = replace(sampling, is_seamless=True, filter="linear")
            yield TextureCase(tld4("b", shape), picture, sampling, LINEAR)
    picture = Picture("2d", "f32", 4, SIZES["2d"])
    yield TextureCase(tld4("r", offset=(2, -3)), picture, Sampling())
    yield TextureCase(
        tld4("r", offset=(31, -32)), picture, Sampling(modes=("wrap",), is_normalized=True)
    )


def offsets() -> Iterator[TextureCase]:
    """Yield tex with offsets, and with a depth to compare with."""
    given = {"1d": (3,), "2d": (-4, 5), "3d": (1, -2, 3), "a1d": (-7,), "a2d": (7, -8)}
    for shape, offset in given.items():
        picture = Picture(shape, "f32", 1, SIZES[shape])
        for filter_, mode in (("point", "clamp"), ("linear", "wrap"), ("linear", "border")):
            sampling = Sampling(filter_, (mode,), mode == "wrap", border=BORDER)
            yield TextureCase(tex(shape, offset=offset), picture, sampling)
        yield TextureCase(tex(shape, ctype="s32", offset=offset), picture, Sampling())
    size, count = MIPMAPS["2d"]
    picture = Picture("2d", "f32", 1, size, "mipmap", count)
    sampling = Sampling("linear", ("wrap",), True, level_filter="linear")
    for mode in ("level", "grad"):
        yield TextureCase(tex("2d", mode=mode, offset=(2, -1)), picture, sampling)
    picture = Picture("2d", "f32", 1, SIZES["2d"])
    for filter_ in ("point", "linear"):
        yield TextureCase(tex("2d", has_depth=True), picture, Sampling(filter_))


def halves() -> Iterator[TextureCase]:
    """Yield results in half precision."""
    for name, channels in (("f16", 4), ("f32", 4), ("u8", 4), ("f16", 1), ("f32", 1), ("u16", 2)):
        picture = Picture("2d", name, channels, SIZES["2d"])
        for dtype, filter_ in product(("f16x2", "f16"), ("point", "linear")):
            yield TextureCase(tex("2d", dtype), picture, Sampling(filter_), LINEAR)
    picture = Picture("1d", "f16", 4, (64,), "linear")
    yield TextureCase(tex("1d", "f16x2", "s32"), picture)


def texture_queries() -> Iterator[TextureCase]:
    """Yield txq on every kind of image; a GPU's driver refuses other queries than these."""
    names = ("width", "height", "depth")
    pictures = [Picture(shape, "f32", 1, size) for shape, size in SIZES.items()]
    pictures += [
        Picture("2d", "f32", 4, MIPMAPS["2d"][0], "mipmap", 6),
        Picture("1d", "u8", 4, (64,), "linear"),
        Picture("2d", "s16", 2, SIZES["2d"], "pitch"),
    ]
    for name, picture in product(names, pictures):
        yield TextureCase(query(f"txq.{name}"), picture, Sampling("linear", ("mirror",), True), 1)
        if picture.shape == "2d":
            yield TextureCase(query(f"txq.{name}"), picture, Sampling("point", ("clamp",)), 1)
    for name, (shape, (size, count)) in product(("width", "height", "depth"), MIPMAPS.items()):
        picture = Picture(shape, "f32", 1, size, "mipmap", count)
        sampling = Sampling("linear", ("wrap",), True)
        yield TextureCase(query(f"txq.level.{name}", True), picture, sampling, 32)


def surfaces(name: str = "u32", channels: int = 1) -> Iterator[Picture]:
    """Yield the shapes of surfaces."""
    for shape in ("1d", "2d", "3d", "a1d", "a2d"):
        yield Picture(shape, name, channels, SIZES[shape], is_surface=True)


def loads() -> Iterator[TextureCase]:
    """Yield suld."""
    kinds = (("b8", 1), ("b8", 2), ("b8", 4), ("b16", 1), ("b16", 2), ("b16", 4), ("b32", 1))
    kinds = (*kinds, ("b32", 2), ("b32", 4), ("b64", 1), ("b64", 2))
    for (kind, count), boundary in product(kinds, ("clamp", "zero")):
        bytes_ = int(kind[1:]) // 8 * count
        name, channels = {
            1: ("u8", 1),
            2: ("u16", 1),
            4: ("u32", 1),
            8: ("u32", 2),
            16: ("u32", 4),
        }[bytes_]
        picture = Picture("2d", name, channels, SIZES["2d"], is_surface=True)
        yield TextureCase(surface("suld.b", "2d", kind, count, boundary), picture)
    for picture, boundary in product(surfaces(), ("clamp", "zero")):
        yield TextureCase(surface("suld.b", picture.shape, "b32", 1, boundary), picture)
    # Numbers smaller and larger than a texel, and the faces of cubes as layers.
    for name, channels in (("f32", 4), ("u8", 4), ("f16", 2), ("u8", 1)):
        picture = Picture("2d", name, channels, (20, 12), is_surface=True)
        for kind in ("b8", "b16", "b32"):
            yield TextureCase(surface("suld.b", "2d", kind, 1, "zero"), picture)
            yield TextureCase(surface("suld.b", "2d", kind, 1, "clamp"), picture)
    for shape in ("cube", "acube"):
        picture = Picture(shape, "u32", 1, SIZES[shape], is_surface=True)
        yield TextureCase(surface("suld.b", "a2d", "b32", 1, "zero"), picture)


def stores() -> Iterator[TextureCase]:
    """Yield sust."""
    kinds = (("b8", 1), ("b8", 4), ("b16", 2), ("b32", 1), ("b32", 2), ("b32", 4), ("b64", 1))
    for (kind, count), boundary in product((*kinds, ("b64", 2)), ("clamp", "zero")):
        bytes_ = int(kind[1:]) // 8 * count
        name, channels = {1: ("u8", 1), 4: ("u32", 1), 8: ("u32", 2), 16: ("u32", 4)}[bytes_]
        picture = Picture("2d", name, channels, SIZES["2d"], is_surface=True)
        yield TextureCase(surface("sust.b", "2d", kind, count, boundary), picture)
    for picture, boundary in product(surfaces(), ("clamp", "zero")):
        yield TextureCase(surface("sust.b", picture.shape, "b32", 1, boundary), picture)
    for name, channels in product((*PLAIN, "unorm8x4", "snorm16x2", "unorm10"), (1, 4)):
        if not FORMATS[name][2] or channels == 4:
            picture = Picture("2d", name, channels, SIZES["2d"], is_surface=True)
            yield TextureCase(surface("sust.p", "2d", "b32", 4, "zero"), picture)
            yield TextureCase(surface("sust.p", "2d", "b32", 1, "zero"), picture)
    for picture in surfaces("u8", 4):
        yield TextureCase(surface("sust.p", picture.shape, "b32", 4, "clamp"), picture)


def reductions() -> Iterator[TextureCase]:
    """Yield sured."""
    kinds = [("add", "u32"), ("add", "s32"), ("add", "u64"), ("and", "b32"), ("or", "b32")]
    kinds += list(product(("min", "max"), ("u32", "s32", "u64", "s64")))
    for (operation, kind), boundary in product(kinds, ("clamp", "zero")):
        picture = Picture("2d", "u32", int(kind[1:]) // 32, SIZES["2d"], is_surface=True)
        yield TextureCase(surface(f"sured.b.{operation}", "2d", kind, 1, boundary), picture)
    for picture in [each for each in surfaces() if each.shape in ("1d", "3d")]:
        yield TextureCase(surface("sured.b.add", picture.shape, "u32", 1, "zero"), picture)
    for operation, name in product(("add", "min", "max", "and", "or"), ("u32", "s32")):
        picture = Picture("2d", name, 1, SIZES["2d"], is_surface=True)
        yield TextureCase(surface(f"sured.p.{operation}", "2d", "b32", 1, "zero"), picture)


def surface_queries() -> Iterator[TextureCase]:
    """Yield suq on every kind of image; a GPU's driver refuses other queries than these."""
    for name in ("width", "height", "depth"):
        for picture in (*surfaces(), *surfaces("u8", 4)):
            yield TextureCase(query(f"suq.{name}"), picture, count=1)
