# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels of one instruction each, on operands at the edges of its range.

All kernels have the same structure: thread i loads its sources, executes the instruction and stores
the results. The CPU does not compute them; they are compared with those recorded on a GPU.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from case import round_for_file
from driver import Device, DriverError, Shape, argument
from forms import Form, forms

THREADS = 96
BITS = {"h": 16, "w": 32, "q": 64, "p": 32}
PTX_VERSION = {100: "8.8"}
OLDER_VERSION = "8.3"
VECTORS = {
    "pair": ".reg .v2 .b32 pair;",
    "quad": ".reg .v4 .b16 quad;",
    "ids": ".reg .v4 .b32 ids;",
}
KEPT_VALUES = 12  # number of values recorded of an approximate result


@dataclass
class Outcome:
    """The results of one kernel."""

    form: Form
    values: list[int]

    def record(self) -> object:
        """Return a digest of the bits, or some of the numbers if they are approximate."""
        if self.form.tolerance:
            return {
                "relative": self.form.tolerance,
                "absolute": self.form.tolerance,
                "values": [round_for_file(value) for value in self.numbers()[:KEPT_VALUES]],
            }
        content = struct.pack(f"={len(self.values)}Q", *self.values)
        return hashlib.sha256(content).hexdigest()[:12]

    def numbers(self) -> list[float]:
        """Return the results as floating-point numbers."""
        kind = "k" if ".bf16" in self.form.text else self.form.results[0]
        if ".f16x2" in self.form.text:
            halves = [half for value in self.values for half in (value & 0xFFFF, value >> 16)]
            return [struct.unpack("=e", struct.pack("=H", half))[0] for half in halves]
        if kind == "k":
            return [struct.unpack("=f", struct.pack("=I", v << 16))[0] for v in self.values]
        code, letter = ("=H", "=e") if kind == "h" else ("=I", "=f")
        return [struct.unpack(letter, struct.pack(code, value))[0] for value in self.values]


def run_forms(
    device: Device, capability: int, done: set[str]
) -> Iterator[tuple[Form, Outcome | DriverError]]:
    """Run every form that a device of this compute capability supports, except those in `done`."""
    for form in forms():
        if form.target > capability or form.text in done:
            continue
        try:
            module = device.load(kernel_text(form))
        except DriverError as error:
            yield form, error
            continue
        results = [(kind, device.allocate(bytes(8 * THREADS))) for kind in form.results]
        columns = [operands(form, index) for index in range(len(form.sources))]
        sources = [device.allocate(struct.pack(f"={THREADS}Q", *each)) for each in columns]
        pointers = [argument(address) for _, address in results]
        pointers += [argument(address) for address in sources]
        try:
            module.launch("k", Shape(1, THREADS), pointers)
            values: list[int] = []
            for _, address in results:
                values += struct.unpack(f"={THREADS}Q", device.read(address, 8 * THREADS))
            yield form, Outcome(form, values)
        except DriverError as error:
            yield form, error
            device.reset()
            continue
        for address in [address for _, address in results] + sources:
            device.free(address)
        module.unload()


def kernel_text(form: Form) -> str:
    """Return the PTX of a module with the kernel k."""
    names = "defg"[: len(form.results)] + "abc"[: len(form.sources)]
    kinds = form.results + form.sources
    lines = [f".version {PTX_VERSION.get(form.target, OLDER_VERSION)}", f".target sm_{form.target}"]
    lines += [".address_size 64", ".visible .entry k("]
    lines += [",\n".join(f"  .param .u64 p{name}" for name in names) + ")", "{"]
    lines += [".reg .b32 t, word;", ".reg .b16 lo, hi;", ".reg .b64 at, wide;"]
    lines += [text for name, text in VECTORS.items() if re.search(rf"\b{name}\b", form.text)]
    for name, kind in zip(names, kinds):
        lines.append(f".reg {'.pred' if kind == 'p' else f'.b{BITS[kind]}'} {name};")
    lines += ["mov.u32 t, %tid.x;"]
    for name, kind in list(zip(names, kinds))[len(form.results) :]:
        lines += [f"ld.param.u64 at, [p{name}];", "mad.wide.u32 at, t, 8, at;"]
        if kind == "p":
            lines += ["ld.global.b32 word, [at];", f"setp.ne.u32 {name}, word, 0;"]
        else:
            lines.append(f"ld.global.b{BITS[kind]} {name}, [at];")
    # An instruction may write only part of a result, so initialise the registers.
    for name, kind in zip(names, form.results):
        if kind == "p":
            lines.append(f"setp.ne.u32 {name}, t, t;")
        else:
            lines.append(f"mov.b{BITS[kind]} {name}, 0;")
    lines += [f"{each.strip()};" for each in form.text.split(";")]
    for name, kind in zip(names, form.results):
        lines += [f"ld.param.u64 at, [p{name}];", "mad.wide.u32 at, t, 8, at;"]
        if kind == "p":
            lines += [f"selp.b32 word, 1, 0, {name};", "cvt.u64.u32 wide, word;"]
        elif kind == "q":
            lines.append(f"mov.b64 wide, {name};")
        else:
            lines.append(f"cvt.u64.u{BITS[kind]} wide, {name};")
        lines.append("st.global.u64 [at], wide;")
    return "\n".join([*lines, "ret;", "}", ""])


EDGES = {
    16: [0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x00FF, 0x5555],
    32: [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFF, 0x12345678],
    64: [0, 1, 2, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0xFFFFFFFF, 1 << 32, 0x123456789ABCDEF],
}
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.7, 1e-3, 255.5, 65504.0, 1e5, -7e8]
FLOATS += [math.inf, -math.inf, 3e9, 1e19, -1e19, 0.99999994, 1.0000001]
TINY = {16: [1, 0x3FF, 0x8001], 32: [1, 0x7FFFFF, 0x80000001, 0x7F7FFFFF], 64: [1, 0xFFFFFFFFFFFFF]}
NANS = {16: [0x7E00], 32: [0x7FC00000, 0xFFC12345], 64: [0x7FF8000000000000]}


def operands(form: Form, index: int) -> list[int]:
    """Return the bits of one source for every thread."""
    source = random.Random(f"{form.text}#{index}")
    kind = form.sources[index]
    bits = BITS[kind]
    if kind == "p":
        return [source.randrange(2) for _ in range(THREADS)]
    if form.values == "s" and index > 0 and bits == 32:
        amounts = [0, 1, 8, 31, 32, 33, 63, 64, 255, 0xFFFFFFFF]
        return [source.choice([*amounts, source.randrange(40)]) for _ in range(THREADS)]
    if form.values == "l":
        return [source.randrange(4 if index == 0 else 40) for _ in range(THREADS)]
    if form.values == "e":
        top = 1 << bits
        edges = [0, 1, top - 1, top - 2, top >> 1, (top >> 1) - 1]
        return [source.choice([*edges, source.randrange(top)]) for _ in range(THREADS)]
    if form.values in "is":
        return [
            source.choice([*EDGES[bits], source.randrange(1 << bits), source.randrange(256)])
            for _ in range(THREADS)
        ]
    return [number(source, form.values, bits) for _ in range(THREADS)]


def number(source: random.Random, values: str, bits: int) -> int:
    """Return the bits of a floating-point number, or of two in one register."""
    if values in "hcMPOZ":
        inner = {"h": "f", "c": "b", "M": "m", "P": "f", "O": "o", "Z": "z"}[values]
        half = bits // 2
        return number(source, inner, half) | number(source, inner, half) << half
    if values in "oz":  # like f and b, with the code for out-of-bounds numbers
        if source.random() < 0.3:
            return source.choice([0x7FF7, 0xFFF7, 0x7FF6, 0x7FFF])
        values = {"o": "f", "z": "b"}[values]
    if values in "mn":  # moderate numbers; n: positive ones
        value = source.uniform(0.01 if values == "n" else -8, 8)
        return float_bits(value, bits)
    if values in "bk":
        value = source.uniform(-8, 8) if values == "k" else source.choice(FLOATS)
        return float_bits(value, 32) >> 16
    if source.random() < 0.2:
        return source.choice(TINY[bits] + NANS[bits])
    value = source.choice([*FLOATS, source.uniform(-4, 4), source.uniform(-1e6, 1e6)])
    return float_bits(value, bits)


def float_bits(value: float, bits: int) -> int:
    """Return the bits of a number in 16, 32 or 64 bits; infinity if it is too large."""
    letter, code = {16: ("=e", "=H"), 32: ("=f", "=I"), 64: ("=d", "=Q")}[bits]
    try:
        return struct.unpack(code, struct.pack(letter, value))[0]
    except OverflowError:
        return struct.unpack(code, struct.pack(letter, math.copysign(math.inf, value)))[0]
