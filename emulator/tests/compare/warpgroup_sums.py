# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Sums of arbitrary floats by wgmma.mma_async, compared with how an H200 adds.

One instruction adds k exact products and the old element of D at once. All terms are cut off at a
common last bit, which depends on the largest exponent of a term. The exact sum of what is left is
cut off again, or rounded if it becomes an f16.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterator

from driver import Device, DriverError, Shape, argument
from matrix_forms import FORMATS
from warpgroup_forms import ROWS, Form, Layout, a_places, d_places, types
from warpgroups import MEMORY_BYTES, THREADS, kernel_text

COLUMNS = 8
STYLES = ("normal", "wide", "any")
SMALLEST = {"f16": -14, "e5m2": -14, "e4m3": -6, "bf16": -126, "tf32": -126, "f32": -126}
CHOSEN = 0x44444444  # metadata: the first two of four elements, the first of two
TF32_BITS = ~0x1FFF


def run_sums(device: Device) -> Iterator[tuple[str, str | None]]:
    """Run every type of floats with numbers of several kinds; yield a name and a difference."""
    for d, a, b in types():
        if d == "s32":
            continue
        for is_sparse in (False, True):
            form = Form(d, a, b, COLUMNS, is_sparse, a_in_registers=True)
            module = device.load(kernel_text(form))
            for style in STYLES:
                name = f"sums of {form.opcode}, {style} numbers"
                source = random.Random(name)
                try:
                    yield name, run_form(device, module, form, style, source)
                except DriverError as error:
                    yield name, str(error)
                    device.reset()
                    module = device.load(kernel_text(form))
            module.unload()


def run_form(
    device: Device, module: object, form: Form, style: str, source: random.Random
) -> str | None:
    """Run one kernel and describe where D differs, if anywhere."""
    a = [[code(form.a, style, source) for _ in range(form.stored)] for _ in range(ROWS)]
    b = [[code(form.b, style, source) for _ in range(form.k)] for _ in range(COLUMNS)]
    scale = 0.0 if source.randrange(3) == 0 else 2.0 ** source.randrange(-8, 9)
    c = [[source.gauss(0, 1) * scale for _ in range(COLUMNS)] for _ in range(ROWS)]
    letter, size = ("e", 2) if form.d == "f16" else ("f", 4)
    c = [[struct.unpack(letter, struct.pack(letter, value))[0] for value in row] for row in c]
    bits = FORMATS[form.a][0]
    layout = Layout(COLUMNS, form.k * bits // 8, bits // 8, leading=128, stride=128)
    memory = bytearray(MEMORY_BYTES)
    for index, row in enumerate(b):
        for k, value in enumerate(row):
            at = layout.place(index, k * bits // 8)
            memory[at : at + bits // 8] = value.to_bytes(bits // 8, "little")
    held = b"".join(
        a[row][column].to_bytes(bits // 8, "little")
        for own in a_places(form)
        for row, column in own
    )
    places = [place for own in d_places(form) for place in own]
    old = struct.pack(f"={len(places)}{letter}", *[c[row][column] for row, column in places])
    contents = [bytes(memory), held, old, struct.pack("=I", CHOSEN) * THREADS]
    addresses = [device.allocate(each) for each in contents]
    values = [argument(each) for each in addresses]
    values += [argument(0), argument(layout.descriptor()), argument(1, "I")]
    module.launch("k", Shape(1, THREADS), values)  # type: ignore[attr-defined]
    got = device.read(addresses[2], len(old))
    for address in addresses:
        device.free(address)
    step = 2 if form.a == "tf32" else 4
    chosen = range(form.k)
    if form.is_sparse:
        chosen = [k for k in range(form.k) if k % step < step // 2]
    columns = [[b[column][k] for k in chosen] for column in range(COLUMNS)]
    for index, (row, column) in enumerate(places):
        wanted = total(form, a[row], columns[column], c[row][column])
        have = got[index * size : (index + 1) * size]
        if have != wanted:
            numbers = [struct.unpack(letter, each)[0] for each in (have, wanted)]
            return f"D{row, column} is {numbers[0]!r}, not {numbers[1]!r}"
    return None


def code(kind: str, style: str, source: random.Random) -> int:
    """Return the bits of a random number in a format of floats."""
    bits, exponent_bits, fraction_bits, _ = FORMATS[kind]
    if style == "any":
        return source.randrange(1 << bits)
    value = source.gauss(0, 1) * 2.0 ** (source.randrange(-6, 7) if style == "wide" else 0)
    fraction, exponent = math.frexp(abs(value))
    bias = (1 << exponent_bits - 1) - 1
    field = min(max(exponent - 1 + bias, 1), 2 * bias - 1)
    significand = int(fraction * 2 ** (fraction_bits + 1)) & (1 << fraction_bits) - 1
    return int(value < 0) << bits - 1 | field << fraction_bits | significand


def number(kind: str, bits: int) -> float:
    """Return the number that bits represent."""
    if kind in ("tf32", "bf16"):
        word = bits & TF32_BITS if kind == "tf32" else bits << 16
        return struct.unpack("=f", struct.pack("=I", word))[0]
    if kind in ("f16", "e5m2"):
        return struct.unpack("=e", struct.pack("=H", bits if kind == "f16" else bits << 8))[0]
    sign, field, fraction = bits >> 7, bits >> 3 & 15, bits & 7
    if bits & 0x7F == 0x7F:
        return math.nan
    value = math.ldexp(fraction + 8 * (field > 0), max(field, 1) - 10)
    return -value if sign else value


def exponent_of(value: float, smallest: int) -> int:
    """Return the exponent of a number; subnormal numbers have the smallest one."""
    return max(math.frexp(value)[1] - 1, smallest)


def total(form: Form, a: list[int], b: list[int], c: float) -> bytes:
    """Return one element of D."""
    factors = [(number(form.a, x), number(form.b, y)) for x, y in zip(a, b)]
    smallest = SMALLEST[form.a], SMALLEST[form.b]
    return pack(form.d, added(form.d, factors, smallest, c, FORMATS[form.a][0] == 8))


def added(
    d: str, factors: list[tuple[float, float]], smallest: tuple[int, int], c: float, has_bytes: bool
) -> float:
    """Add products and a number at once; `smallest` are the exponents of subnormal factors."""
    plain = sum((x * y for x, y in factors), c)
    if not math.isfinite(plain):
        return plain
    terms = [(c, exponent_of(c, SMALLEST["f32"]))] if c else []
    terms += [
        (x * y, exponent_of(x, smallest[0]) + exponent_of(y, smallest[1]))
        for x, y in factors
        if x and y
    ]
    if not terms:
        return 0.0
    last = max(exponent for _, exponent in terms) - (13 if has_bytes else 25)
    units = sum(int(math.ldexp(value, -last)) for value, _ in terms)  # cut off towards zero
    if d == "f32":
        extra = max(units.bit_length() - (14 if has_bytes else 24), -149 - last, 0)
        units = (abs(units) >> extra << extra) * (-1 if units < 0 else 1)
    return math.ldexp(units, last)


def pack(kind: str, value: float) -> bytes:
    """Return the bits of a result: every NaN is the same, and no zero is negative."""
    if math.isnan(value):
        return b"\xff\x7f" if kind == "f16" else b"\xff\xff\xff\x7f"
    letter, largest = ("e", 65520.0) if kind == "f16" else ("f", 2.0**128)
    if abs(value) >= largest:
        value = math.copysign(math.inf, value)
    packed = struct.pack(f"={letter}", value)
    return bytes(len(packed)) if struct.unpack(f"={letter}", packed)[0] == 0 else packed
