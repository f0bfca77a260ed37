# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Products of matrices, one instruction per kernel, compared with the definition.

Elements are small whole numbers, and scales are powers of two or close to that. Every sum is
therefore exact, and nothing needs to be recorded.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterator
from fractions import Fraction

from driver import Device, DriverError, Module, Shape, argument
from matrix_forms import (
    FORMATS,
    LANES,
    Form,
    a_places,
    b_places,
    c_places,
    chunk_of,
    forms,
    matrix_of,
    metadata_place,
    per_register,
)

QUADS = 4  # m8n8k4 computes four products
Matrix = list[list[float]]


def run_matrices(device: Device, capability: int) -> Iterator[tuple[str, str | None]]:
    """Run every form that a device supports; yield its name, and what was wrong, if anything."""
    for form in forms():
        number = int(form.target.rstrip("a"))
        is_there = number == capability if form.target.endswith("a") else number <= capability
        if not is_there:
            continue
        for selector in range(form.selectors):
            name = f"{form.text}, selector {selector}" if form.selectors > 1 else form.text
            try:
                module = device.load(kernel_text(form, selector))
                yield name, run_form(device, module, form, selector)
                module.unload()
            except DriverError as error:
                yield name, str(error)
                device.reset()


def run_form(device: Device, module: Module, form: Form, selector: int) -> str | None:
    """Run one kernel and describe where D differs from the expected result, if anywhere."""
    source = random.Random(f"{form.text} {selector}")
    count = QUADS if form.layouts else 1
    problems = [Problem(form, source) for _ in range(count)]
    held = [spread(form, form.a, a_places(form), [p.stored for p in problems])]
    held.append(spread(form, form.b, b_places(form), [p.b for p in problems]))
    held.append(spread(form, form.c, c_places(form, form.c), [p.c for p in problems]))
    size = LANES * register_count(form, "d") * register_bytes(form.d)
    contents = [*held, bytes(size)]
    if form.sparsity == 2:
        contents.append(problems[0].metadata(selector, source))
    if form.scales:
        selectors = scale_selectors(form, source)
        contents += problems[0].scale_words(selectors, source)
        contents.append(struct.pack("=4H", *selectors))
    addresses = [device.allocate(each) for each in contents]
    module.launch("k", Shape(1, LANES), [argument(address) for address in addresses])
    got = device.read(addresses[3], size)
    for address in addresses:
        device.free(address)
    wanted = spread(form, form.d, c_places(form, form.d), [p.expected for p in problems])
    if got == wanted:
        return None
    step = FORMATS[form.d][0] // 8
    places = [place for lane in c_places(form, form.d) for place in lane]
    index = next(i for i in range(0, size, step) if got[i : i + step] != wanted[i : i + step])
    values = [decode(form.d, each[index : index + step]) for each in (got, wanted)]
    return f"D{places[index // step]} is {values[0]}, not {values[1]}"


class Problem:
    """Matrices to multiply, and their product."""

    def __init__(self, form: Form, source: random.Random) -> None:
        self.form = form
        largest = 2 if "f16" in (form.c, form.d) else 3
        rows, inner, columns = range(form.m), range(form.k), range(form.n)
        self.a = [[number(form.a, source, largest) for _ in inner] for _ in rows]
        self.b = [[number(form.b, source, largest) for _ in columns] for _ in inner]
        self.c = [[float(source.randrange(-9, 10)) for _ in columns] for _ in rows]
        self.chosen: list[list[tuple[int, ...]]] = []
        self.stored = self.a
        if form.rounding:
            self.leave_one_product(source)
        if form.sparsity == 2:
            self.leave_half(source)
        self.scale_a = [[scale_code(form, source) for _ in range(form.scales)] for _ in rows]
        self.scale_b = [[scale_code(form, source) for _ in range(form.scales)] for _ in columns]
        self.expected = [[self.element(row, column) for column in columns] for row in rows]

    def leave_one_product(self, source: random.Random) -> None:
        """Keep one number in each row of A, with so many bits that the product is rounded."""
        for row in self.a:
            only = source.randrange(len(row))
            row[:] = [source.random() if i == only else 0.0 for i in range(len(row))]
        for row in self.b:
            row[:] = [source.uniform(-1, 1) for _ in row]

    def leave_half(self, source: random.Random) -> None:
        """Select the elements of A to keep in each chunk, and set the others to zero."""
        chunk = chunk_of(self.form)
        is_single, unit = chunk == 2, chunk // 4 or 1
        self.stored = []
        for row in self.a:
            stored: list[float] = []
            choices = []
            for first in range(0, len(row), chunk):
                units = sorted(source.sample(range(2 if is_single else 4), 1 if is_single else 2))
                kept = [first + u * unit + i for u in units for i in range(unit)]
                stored += [row[i] for i in kept]
                choices.append(tuple(units))
                for i in range(first, first + chunk):
                    row[i] = row[i] if i in kept else 0.0
            self.stored.append(stored)
            self.chosen.append(choices)

    def metadata(self, selector: int, source: random.Random) -> bytes:
        """Return the metadata word of every lane; lanes that provide none have noise."""
        form, words = self.form, [source.randrange(1 << 32) for _ in range(LANES)]
        for row, choices in enumerate(self.chosen):
            for chunk, units in enumerate(choices):
                code = (0b0100, 0b1110)[units[0]] if len(units) == 1 else units[0] | units[1] << 2
                lane, bit = metadata_place(form, row, chunk, selector)
                words[lane] = words[lane] & ~(0xF << bit) | code << bit
        return struct.pack(f"={LANES}I", *words)

    def scale_words(self, selectors: tuple[int, ...], source: random.Random) -> list[bytes]:
        """Return the words with the scales of A and of B; the other bytes are noise."""
        byte_a, thread_a, byte_b, thread_b = selectors
        words_a = [source.randrange(1 << 32) for _ in range(LANES)]
        words_b = [source.randrange(1 << 32) for _ in range(LANES)]
        for row, codes in enumerate(self.scale_a):
            lane = row % 8 * 4 + 2 * thread_a + row // 8
            words_a[lane] = with_bytes(words_a[lane], byte_a, codes)
        for column, codes in enumerate(self.scale_b):
            lane = column * 4 + thread_b
            words_b[lane] = with_bytes(words_b[lane], byte_b, codes)
        return [struct.pack(f"={LANES}I", *words) for words in (words_a, words_b)]

    def element(self, row: int, column: int) -> float:
        """Return one element of the product."""
        form, line = self.form, self.a[row]
        if form.rounding:
            only = next((i for i, value in enumerate(line) if value), 0)
            exact = Fraction(line[only]) * Fraction(self.b[only][column]) + Fraction(
                self.c[row][column]
            )
            return rounded(exact, form.rounding)
        if form.a == "b1":
            is_and = ".and." in form.text
            pairs = [(line[i], self.b[i][column]) for i in range(form.k)]
            return self.c[row][column] + sum(x * y if is_and else x != y for x, y in pairs)
        if not form.scales:
            return self.c[row][column] + sum(x * self.b[i][column] for i, x in enumerate(line))
        length, total = form.k // form.scales, self.c[row][column]
        for part in range(form.scales):
            inner = range(part * length, (part + 1) * length)
            scale = scale_value(form, self.scale_a[row][part])
            scale *= scale_value(form, self.scale_b[column][part])
            total += scale * sum(line[i] * self.b[i][column] for i in inner)
        return total


def number(kind: str, source: random.Random, largest: int) -> float:
    """Return a small whole number that a format can represent."""
    if kind == "b1":
        return float(source.randrange(2))
    return float(source.randrange(0 if kind[0] == "u" else -largest, largest + 1))


def scale_code(form: Form, source: random.Random) -> int:
    """Return the bits of a scale near 1."""
    return source.randrange(125, 130) if form.scale == "ue8m0" else source.randrange(0x30, 0x48)


def scale_value(form: Form, code: int) -> float:
    """Return the scale that eight bits represent."""
    if form.scale == "ue8m0":
        return math.ldexp(1.0, code - 127)
    return math.ldexp(8 + (code & 7), (code >> 3) - 10)


def scale_selectors(form: Form, source: random.Random) -> tuple[int, ...]:
    """Return byte-id-a, thread-id-a, byte-id-b and thread-id-b."""
    step = form.scales
    byte_ids = [source.randrange(0, 4, step) for _ in range(2)]
    return byte_ids[0], source.randrange(2), byte_ids[1], source.randrange(4)


def with_bytes(word: int, first: int, codes: list[int]) -> int:
    """Put bytes into a word, starting at byte `first`."""
    content = bytearray(word.to_bytes(4, "little"))
    content[first : first + len(codes)] = codes
    return int.from_bytes(content, "little")


def rounded(exact: Fraction, mode: str) -> float:
    """Round a number to double precision."""
    nearest = float(exact)
    if mode == "rn" or Fraction(nearest) == exact:
        return nearest
    is_above = Fraction(nearest) > exact
    wants_above = mode == "rp" or (mode == "rz" and exact < 0)
    if is_above == wants_above:
        return nearest
    return math.nextafter(nearest, math.inf if wants_above else -math.inf)


# ---- registers -----------------------------------------------------------------------------------


def spread(
    form: Form, kind: str, places: list[list[tuple[int, int]]], matrices: list[Matrix]
) -> bytes:
    """Return the registers of every lane, starting with those of lane 0."""
    bits = FORMATS[kind][0]
    content = bytearray()
    for lane, own in enumerate(places):
        matrix = matrices[matrix_of(form, lane)]
        value = 0
        for index, (row, column) in enumerate(own):
            value |= encode(kind, matrix[row][column]) << (index * bits)
        content += value.to_bytes(len(own) * bits // 8, "little")
    return bytes(content)


def encode(kind: str, value: float) -> int:
    """Return the bits of a number that a format can represent exactly."""
    bits, exponent_bits, fraction_bits, shift = FORMATS[kind]
    if exponent_bits == 0:
        return int(value) & (1 << bits) - 1
    if bits == 64:
        return struct.unpack("=Q", struct.pack("=d", value))[0]
    sign = int(math.copysign(1, value) < 0) << (exponent_bits + fraction_bits)
    if value == 0:
        return sign << shift
    fraction, exponent = math.frexp(abs(value))
    field = exponent - 1 + (1 << (exponent_bits - 1)) - 1
    scaled = math.ldexp(fraction, fraction_bits + 1)
    return (sign | (field << fraction_bits) + int(scaled) - (1 << fraction_bits)) << shift


def decode(kind: str, content: bytes) -> float | int:
    """Return the number that the bytes of an accumulator represent."""
    letter = {"f16": "e", "f32": "f", "f64": "d", "s32": "i"}[kind]
    return struct.unpack(f"={letter}", content)[0]


def register_count(form: Form, name: str) -> int:
    """Return how many registers of a matrix each lane has."""
    kind = getattr(form, name)
    places = {"a": a_places, "b": b_places}.get(name, lambda f: c_places(f, kind))(form)
    return len(places[0]) // per_register(kind)


def register_bytes(kind: str) -> int:
    """Return the width of these registers in bytes."""
    return 8 if kind == "f64" else 4


def kernel_text(form: Form, selector: int) -> str:
    """Return the PTX of a module with the kernel k."""
    more = ["e"] * (form.sparsity == 2) + ["x", "y", "s"] * (form.scales > 0)
    names = ["a", "b", "c", "d", *more]
    lines = [f".version {form.version}", f".target sm_{form.target}", ".address_size 64"]
    lines += [".visible .entry k(" + ", ".join(f".param .u64 p{name}" for name in names) + ")", "{"]
    lines += [
        ".reg .b32 lane, e, x, y;",
        ".reg .b64 at;",
        ".reg .b16 s<4>;",
        "mov.u32 lane, %tid.x;",
    ]
    operands = {}
    for name in "abcd":
        kind = getattr(form, name)
        count, size = register_count(form, name), register_bytes(kind)
        lines += [f".reg .{'f' if kind in ('f32', 'f64') else 'b'}{8 * size} {name}<{count}>;"]
        operands[name] = "{" + ", ".join(f"{name}{i}" for i in range(count)) + "}"
        if name != "d":
            lines += address_lines(name, count * size)
            lines += [f"ld.global.b{8 * size} {name}{i}, [at+{size * i}];" for i in range(count)]
    call = f"{form.text} {operands['d']}, {operands['a']}, {operands['b']}, {operands['c']}"
    for name in set(more) & {"e", "x", "y"}:
        lines += [*address_lines(name, 4), f"ld.global.b32 {name}, [at];"]
    if form.sparsity == 2:
        call += f", e, {selector}"
    if form.scales:
        lines.append("ld.param.u64 at, [ps];")
        lines += [f"ld.global.b16 s{i}, [at+{2 * i}];" for i in range(4)]
        call += ", x, {s0, s1}, y, {s2, s3}"
    lines.append(call + ";")
    count, size = register_count(form, "d"), register_bytes(form.d)
    lines += address_lines("d", count * size)
    lines += [f"st.global.b{8 * size} [at+{size * i}], d{i};" for i in range(count)]
    return "\n".join([*lines, "ret;", "}", ""])


def address_lines(name: str, stride: int) -> list[str]:
    """Return lines that set `at` to the address of a lane's part of an argument."""
    return [f"ld.param.u64 at, [p{name}];", f"mad.wide.u32 at, lane, {stride}, at;"]
