# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The instructions on textures and surfaces, and the words that their threads pass as operands."""

from __future__ import annotations

import math
import random
import struct
from dataclasses import dataclass

from images import Picture, Sampling

COORDINATES = {
    "1d": "{c0}",
    "2d": "{c0, c1}",
    "3d": "{c0, c1, c2, c2}",
    "a1d": "{c0, c1}",
    "a2d": "{c0, c1, c2, c2}",
    "cube": "{c0, c1, c2, c2}",
    "acube": "{c0, c1, c2, c3}",
}
# What each word is: X Y Z coordinates as floats, x y z as integers, b: x in bytes, l a layer,
# p q r a direction, L a level as a float, m as an integer, U V W gradients, D a depth, v a value.
FLOATS = {
    "1d": "X",
    "2d": "XY",
    "3d": "XYZ",
    "a1d": "lX",
    "a2d": "lXY",
    "cube": "pqr",
    "acube": "lpqr",
}
AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
SPECIAL = (
    0.0, -0.0, 1e-30, -1e-30, 1e6, -1e6, 1e10, -1e10, 2.0**31, -(2.0**31), 2.0**23 + 0.5,
    math.inf, -math.inf, math.nan, 8388607.5, -8388607.5, 65536.25, -65535.75,
)  # fmt: skip
WHOLE = (-1, -2, -1000, 1000, 1 << 30, -(1 << 31), (1 << 31) - 1, 1 << 16)


@dataclass(frozen=True)
class Form:
    """One instruction: `text` uses h, c0..., and writes d0..."""

    text: str
    words: str  # the kind of every word c0, c1...
    results: int = 4
    declarations: str = ""
    target: str = "sm_90"

    @property
    def is_store(self) -> bool:
        """Whether it writes the image."""
        return self.text.startswith(("sust", "sured"))

    @property
    def is_surface(self) -> bool:
        """Whether it takes a surface."""
        return self.text.startswith("su")


def tex(
    geometry: str,
    dtype: str = "f32",
    ctype: str = "f32",
    mode: str = "",
    offset: tuple[int, ...] = (),
    has_depth: bool = False,
) -> Form:
    """Return a form of tex; `mode` is base, level or grad."""
    words = FLOATS[geometry]
    if ctype == "s32":
        words = words.lower()
    operands = f"[h, {COORDINATES[geometry]}]"
    if mode == "level":
        operands += f", c{len(words)}"
        words += "L" if ctype == "f32" else "m"
    elif mode == "grad":
        axes = AXES[geometry]
        for kinds in ("UVW"[:axes], "UVW"[:axes]):
            names = [f"c{len(words) + i}" for i in range(axes)]
            operands += ", {" + ", ".join(names + [names[-1]] * (axes == 3)) + "}"
            words += kinds
    if offset:
        numbers = [str(each) for each in offset] + ["0"] * (len(offset) == 3)
        operands += ", " + (numbers[0] if len(numbers) == 1 else "{" + ", ".join(numbers) + "}")
    if has_depth:
        operands += f", c{len(words)}"
        words += "D"
    name = ".".join(["tex", *([mode] if mode else []), geometry])
    if dtype == "f16x2":
        return Form(f"{name}.v2.f16x2.{ctype} {{d0, d1}}, {operands}", words, 2)
    if dtype == "f16":
        return Form(f"{name}.v4.f16.{ctype} {{s0, s1, s2, s3}}, {operands}", words)
    return Form(f"{name}.v4.{dtype}.{ctype} {{d0, d1, d2, d3}}, {operands}", words)


def tld4(
    component: str, geometry: str = "2d", dtype: str = "f32", offset: tuple[int, ...] = ()
) -> Form:
    """Return a form of tld4."""
    operands = f"[h, {COORDINATES[geometry]}]"
    if offset:
        operands += ", {" + ", ".join(map(str, offset)) + "}"
    name = f"tld4.{component}.{geometry}.v4.{dtype}.f32"
    return Form(f"{name} {{d0, d1, d2, d3}}, {operands}", FLOATS[geometry])


def surface(instruction: str, geometry: str, kind: str, count: int, boundary: str) -> Form:
    """Return a form of suld.b, sust.b, sust.p or sured.b.<op>, on `count` numbers of `kind`."""
    bits = int(kind[1:])
    words = {"1d": "b", "2d": "by", "3d": "byz", "a1d": "lb", "a2d": "lby"}[geometry]
    if instruction.split(".")[1] == "p":
        words = words.replace("b", "x")
    vector = f".v{count}" if count > 1 else ""
    letter = {8: "s", 16: "s", 32: "d", 64: "q"}[bits]
    names = [f"{letter}{i}" for i in range(count)]
    value = "{" + ", ".join(names) + "}" if count > 1 else names[0]
    place = f"[h, {COORDINATES[geometry]}]"
    parts = instruction.split(".")  # sured.b.add -> sured.b.add.2d
    name = f"{'.'.join(parts)}.{geometry}{vector}.{kind}.{boundary}"
    if instruction.startswith("suld"):
        return Form(f"{name} {value}, {place}", words, max(count * bits // 32, count))
    return Form(f"{name} {place}, {value}", words + "v" * max(count * bits // 32, count))


def query(instruction: str, has_level: bool = False) -> Form:
    """Return a form of txq or suq."""
    if has_level:
        return Form(f"{instruction}.b32 d0, [h], c0", "m", 1)
    return Form(f"{instruction}.b32 d0, [h]", "", 1)


def kernel_text(form: Form) -> str:
    """Return the PTX of a module with the kernel k(handle, words, results, count)."""
    lines = [".version 8.3", f".target {form.target}", ".address_size 64", form.declarations]
    lines += [
        ".visible .entry k(.param .u64 ph, .param .u64 pin, .param .u64 pout, .param .u32 pn)"
    ]
    lines += ["{", ".reg .b32 t, n, c<12>, d<4>, w;", ".reg .b64 h, at, step, q<2>;"]
    lines += [".reg .b16 s<4>;", ".reg .pred p;", "mov.u32 t, %ctaid.x;", "mov.u32 n, %ntid.x;"]
    lines += ["mad.lo.u32 t, t, n, 0;", "mov.u32 w, %tid.x;", "add.u32 t, t, w;"]
    lines += ["ld.param.u32 n, [pn];", "setp.ge.u32 p, t, n;", "@p ret;", "ld.param.u64 h, [ph];"]
    lines += ["mul.wide.u32 step, n, 4;", "ld.param.u64 at, [pin];", "mad.wide.u32 at, t, 4, at;"]
    for index in range(len(form.words)):
        lines += [f"ld.global.b32 c{index}, [at];", "add.u64 at, at, step;"]
    lines += [f"mov.b32 d{i}, 0;" for i in range(4)] + [f"mov.b16 s{i}, 0;" for i in range(4)]
    lines += ["mov.b64 q0, 0;", "mov.b64 q1, 0;"]
    uses = {letter: f"{letter}0" in form.text.split(" ", 1)[1] for letter in "sq"}
    if form.is_store:
        first = form.words.index("v")
        count = len(form.words) - first
        if uses["q"]:
            for i in range(count // 2):
                lines.append(f"mov.b64 q{i}, {{c{first + 2 * i}, c{first + 2 * i + 1}}};")
        else:
            convert = "cvt.u16.u32 s{0}, c{1};" if uses["s"] else "mov.b32 d{0}, c{1};"
            lines += [convert.format(i, first + i) for i in range(count)]
    lines.append(form.text + ";")
    if not form.is_store:
        if uses["s"]:
            lines += [f"cvt.u32.u16 d{i}, s{i};" for i in range(4)]
        elif uses["q"]:
            lines += ["mov.b64 {d0, d1}, q0;", "mov.b64 {d2, d3}, q1;"]
        lines += ["ld.param.u64 at, [pout];", "mad.wide.u32 at, t, 4, at;"]
        for index in range(form.results):
            lines += [f"st.global.b32 [at], d{index};", "add.u64 at, at, step;"]
    return "\n".join([*lines, "ret;", "}", ""])


class Words:
    """Draws the operands of all threads."""

    def __init__(self, seed: str, picture: Picture, sampling: Sampling, count: int) -> None:
        self.random = random.Random(seed)
        self.picture = picture
        self.sampling = sampling
        self.count = count

    def draw(self, form: Form) -> list[list[int]]:
        """Return, for every word of a form, its value in each thread."""
        columns: list[list[int]] = []
        if form.is_store:
            return self.stores(form)
        directions = [self.direction(i) for i in range(self.count)] if "p" in form.words else []
        for kind in form.words:
            if kind in "pqr":
                columns.append([bits(each["pqr".index(kind)]) for each in directions])
            else:
                columns.append([self.word(form, kind, i) for i in range(self.count)])
        return columns

    def word(self, form: Form, kind: str, index: int) -> int:
        """Return one operand of one thread."""
        width, height, slices = self.picture.extents()
        sizes = {"x": width, "y": height, "z": slices, "u": width, "v": height, "w": slices}
        if kind in "XYZ":
            return bits(self.coordinate(sizes[kind.lower()], index))
        if kind in "UVW":
            return bits(self.gradient(sizes[kind.lower()]))
        if kind in "xyz":
            return self.whole(sizes[kind])
        if kind == "l":
            layers = slices // 6 if self.picture.shape == "acube" else slices
            return self.layer(layers)
        if kind == "b":
            step = element_bytes(form)
            return self.whole(width * self.picture.texel_bytes // step, step)
        if kind == "L":
            return bits(self.level(index))
        if kind == "m":
            return self.random.randrange(-1, self.picture.levels + 2) & 0xFFFFFFFF
        if kind == "D":
            return bits(self.random.random())
        return self.random.getrandbits(32)

    def coordinate(self, size: int, index: int) -> float:
        """Return a coordinate inside or outside of an axis, often at or near a special place."""
        draw = self.random
        choice = draw.randrange(16)
        whole = draw.randrange(-2, size + 2)
        tiny = draw.choice((-1, 1))
        if choice == 0:
            value = whole + 0.5
        elif choice == 1:
            value = float(whole)
        elif choice == 2:
            value = next_single(float(whole), tiny)
        elif choice == 3:
            value = next_single(whole + 0.5, tiny)
        elif choice in (4, 5):
            value = whole + draw.randrange(256) / 256
        elif choice == 6:
            value = next_single(whole + draw.randrange(256) / 256 + 1 / 512, tiny)
        elif choice == 7:
            value = whole + draw.randrange(512) / 512
        elif choice in (8, 9, 10, 11):
            value = draw.uniform(-0.5, size + 0.5)
        elif choice == 12:
            value = draw.uniform(-2 * size, 3 * size)
        elif choice == 13:
            value = draw.choice(SPECIAL) if index % 2 else draw.uniform(-40 * size, 40 * size)
        elif choice == 14:
            value = draw.uniform(0, size)
        else:
            value = next_single(
                draw.choice((0.0, size, size - 0.5, 0.5, -0.5)), draw.randrange(-1, 2)
            )
        if self.sampling.is_normalized and math.isfinite(value):
            return single(value) / size
        return value

    def direction(self, index: int) -> tuple[float, float, float]:
        """Return a direction into a cube."""
        draw = self.random
        if index % 4 == 3:
            return tuple(draw.choice((-1.0, 1.0, 0.5, -0.5, 0.0, 0.25)) for _ in range(3))
        if index % 16 == 1:
            return tuple(
                draw.choice((1e20, -1e20, 1e-20, math.inf, math.nan, -0.0, 3.0)) for _ in range(3)
            )
        values = [draw.uniform(-1, 1) for _ in range(3)]
        if index % 4 == 2:
            axis = draw.randrange(3)
            values[axis] = draw.choice((-1.0, 1.0))
            other = (axis + 1 + draw.randrange(2)) % 3
            values[other] = draw.choice((-1, 1)) * (1 - draw.random() * 2 / self.picture.size[0])
        scale = draw.uniform(0.1, 10)
        return tuple(value * scale for value in values)

    def gradient(self, size: int) -> float:
        """Return a derivative, so that levels inside and outside of the image are chosen."""
        if self.random.randrange(12) == 0:
            return 0.0
        scale = 2.0 ** self.random.uniform(-2, self.picture.levels + 1)
        return self.random.choice((-1, 1)) * scale / (size if self.sampling.is_normalized else 1)

    def level(self, index: int) -> float:
        """Return a level, often at or near a place where the result changes."""
        draw = self.random
        value = draw.randrange(-2, self.picture.levels + 2) + draw.choice(
            (0.0, 0.5, draw.random(), draw.randrange(256) / 256, draw.randrange(512) / 512)
        )
        if index % 5 == 0:
            return next_single(value, draw.choice((-1, 1)))
        return draw.choice((math.nan, math.inf, -math.inf, 1e9)) if index % 41 == 0 else value

    def whole(self, size: int, step: int = 1) -> int:
        """Return a whole coordinate."""
        draw = self.random
        value = draw.randrange(size) if draw.randrange(4) else draw.randrange(-3, size + 3)
        if draw.randrange(24) == 0:
            value = draw.choice(WHOLE)
        return value * step & 0xFFFFFFFF

    def layer(self, layers: int) -> int:
        """Return the index of a layer."""
        if self.random.randrange(6) == 0:
            return self.random.choice((layers, layers + 7, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000))
        return self.random.randrange(layers)

    def stores(self, form: Form) -> list[list[int]]:
        """Return the operands of stores: different places, except outside of the image."""
        draw = self.random
        width, height, slices = self.picture.extents()
        step = 1 if "x" in form.words else element_bytes(form)
        columns = width if "x" in form.words else width * self.picture.texel_bytes // step
        places = [(x, y, z) for x in range(columns) for y in range(height) for z in range(slices)]
        is_reduction = form.text.startswith("sured")
        if ".clamp" in form.text and not is_reduction:
            # Places at the edge get the values of all stores beyond it.
            inner = [range(1, n - 1) if n > 1 else range(n) for n in (columns, height, slices)]
            places = [place for place in places if all(i in r for i, r in zip(place, inner))]
        draw.shuffle(places)
        count = min(self.count, len(places) * 3 // 4 + 1)
        chosen = [(place, True) for place in places[:count]]
        for _ in range(24):
            place = [draw.randrange(n) for n in (columns, height, slices)]
            axis = draw.choice([i for i, n in enumerate((columns, height, slices)) if n > 1])
            place[axis] = draw.choice((-1, -2, (columns, height, slices)[axis], 5000, -5000))
            chosen.append((tuple(place), False))
        if is_reduction:
            chosen += chosen[: len(chosen) // 2]
        rows: list[list[int]] = []
        for (x, y, z), is_inside in chosen:
            row = []
            for kind in form.words:
                value = {"b": x * step, "x": x, "y": y, "z": z, "l": z}.get(kind)
                if value is None:
                    value = draw.getrandbits(32) if is_inside or is_reduction else 0x5A3C7E1F
                row.append(value & 0xFFFFFFFF)
            rows.append(row)
        return [list(column) for column in zip(*rows)]


def element_bytes(form: Form) -> int:
    """Return how many bytes one thread of a surface instruction accesses."""
    parts = form.text.split(" ", 1)[0].split(".")
    size = next(
        int(part[1:]) for part in reversed(parts) if part[0] in "bsu" and part[1:].isdigit()
    )
    count = next((int(part[1:]) for part in parts if part in ("v2", "v4")), 1)
    return size // 8 * count


def single(value: float) -> float:
    """Round to single precision."""
    try:
        return struct.unpack("=f", struct.pack("=f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def bits(value: float) -> int:
    """Return the bits of a number in single precision."""
    return struct.unpack("=I", struct.pack("=f", single(value)))[0]


def next_single(value: float, direction: int) -> float:
    """Return the next number in single precision, upwards or downwards."""
    value = single(value)
    if direction == 0 or not math.isfinite(value):
        return value
    if value == 0:
        return direction * 2.0**-126
    word = bits(value)
    word += 1 if (value > 0) == (direction > 0) else -1
    return struct.unpack("=f", struct.pack("=I", word))[0]
