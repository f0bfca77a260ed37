# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Sums of arbitrary floats by mma, which adds in steps as wgmma.mma_async adds at once."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Iterator

from driver import Device, DriverError, Module, Shape, argument
from matrices import kernel_text
from matrix_forms import (
    FORMATS,
    LANES,
    Form,
    a_places,
    b_places,
    c_places,
    chunk_of,
    dense_forms,
    sparse_forms,
)
from warpgroup_sums import CHOSEN, SMALLEST, STYLES, added, code, number, pack

PRODUCTS = 16  # that are added at once
PRODUCTS_OF_TF32 = 8


def run_matrix_sums(device: Device) -> Iterator[tuple[str, str | None]]:
    """Run every product of floats that an H200 has; yield a name and a difference."""
    for form in itertools.chain(dense_forms(), sparse_forms()):
        is_integer = form.d == "s32" or form.a == "f64"
        if form.layouts or is_integer or form.target.endswith("a"):
            continue
        module = device.load(kernel_text(form, 0))
        for style in STYLES:
            name = f"sums of {form.text}, {style} numbers"
            source = random.Random(name)
            try:
                yield name, run_form(device, module, form, style, source)
            except DriverError as error:
                yield name, str(error)
                device.reset()
                module = device.load(kernel_text(form, 0))
        module.unload()


def run_form(
    device: Device, module: Module, form: Form, style: str, source: random.Random
) -> str | None:
    """Run one kernel and describe where D differs, if anywhere."""
    stored = form.k // form.sparsity
    a = [[code(form.a, style, source) for _ in range(stored)] for _ in range(form.m)]
    b = [[code(form.b, style, source) for _ in range(form.n)] for _ in range(form.k)]
    scale = 0.0 if source.randrange(3) == 0 else 2.0 ** source.randrange(-8, 9)
    letter, size = ("e", 2) if form.d == "f16" else ("f", 4)
    c = [[source.gauss(0, 1) * scale for _ in range(form.n)] for _ in range(form.m)]
    c = [[struct.unpack(letter, struct.pack(letter, value))[0] for value in row] for row in c]
    places = [place for own in c_places(form, form.d) for place in own]
    held = [
        b"".join(
            each[row][column].to_bytes(FORMATS[kind][0] // 8, "little")
            for own in lanes
            for row, column in own
        )
        for kind, each, lanes in ((form.a, a, a_places(form)), (form.b, b, b_places(form)))
    ]
    held.append(struct.pack(f"={len(places)}{letter}", *[c[row][column] for row, column in places]))
    held.append(bytes(len(held[-1])))
    chosen = [*range(form.k)]
    if form.sparsity == 2:
        held.append(struct.pack("=I", CHOSEN) * LANES)
        chunk = chunk_of(form)
        chosen = [k for k in chosen if k % chunk < chunk // 2]
    addresses = [device.allocate(each) for each in held]
    module.launch("k", Shape(1, LANES), [argument(address) for address in addresses])
    got = device.read(addresses[3], len(held[3]))
    for address in addresses:
        device.free(address)
    for index, (row, column) in enumerate(places):
        wanted = total(form, a[row], [b[k][column] for k in chosen], c[row][column])
        have = got[index * size : (index + 1) * size]
        if have != wanted:
            numbers = [struct.unpack(letter, each)[0] for each in (have, wanted)]
            return f"D{row, column} is {numbers[0]!r}, not {numbers[1]!r}"
    return None


def total(form: Form, a: list[int], b: list[int], c: float) -> bytes:
    """Return one element of D. Two products of f16 from zero replace one of eight bits."""
    factors = [(number(form.a, x), number(form.b, y)) for x, y in zip(a, b)]
    letter = "=e" if form.d == "f16" else "=f"
    has_bytes = FORMATS[form.a][0] == 8
    step = PRODUCTS_OF_TF32 if form.a == "tf32" else PRODUCTS
    parts = [factors[first : first + step] for first in range(0, len(factors), step)]
    if has_bytes:
        parts = [[each for i, each in enumerate(factors) if i % 4 // 2 == half] for half in (0, 1)]
    smallest = SMALLEST["f16" if has_bytes else form.a]
    content = pack(form.d, 0.0 if has_bytes else c)
    for part in parts:
        value = struct.unpack(letter, content)[0]
        content = pack(form.d, added(form.d, part, (smallest, smallest), value, has_bytes=False))
    return pack(form.d, struct.unpack(letter, content)[0] + c) if has_bytes else content
