# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Products of warpgroups, one wgmma.mma_async per kernel, compared with the definition.

Elements are small whole numbers, so every sum is exact and nothing needs to be recorded. Shared
memory that holds no element is filled with noise.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from operator import mul

from driver import Device, DriverError, Module, Shape, argument
from matrices import encode, number
from matrix_forms import FORMATS, LANES, chunk_of, per_register
from warpgroup_forms import (
    ROWS,
    WARPS,
    Form,
    Layout,
    a_places,
    d_places,
    forms,
    layouts,
    metadata_place,
)

THREADS = LANES * WARPS
MEMORY_BYTES = 48 * 1024
A_BYTES = 12 * 1024  # at the end of the memory
LIMIT = 2**31
LAYOUTS_PER_FORM = 1
LEGAL = 0b0100, 0b1110  # metadata of tf32: the first of two elements, and the second
# Of a matrix descriptor; set in products that add to C.
UNUSED_BITS = 3 << 14 | 3 << 30 | 7 << 46 | 0x3FF << 52


def run_warpgroups(device: Device, capability: int) -> Iterator[tuple[str, str | None]]:
    """Run every form with every layout; yield a name, and what was wrong, if anything."""
    if capability != 90:
        return
    for number_of_form, form in enumerate(forms()):
        try:
            module = device.load(kernel_text(form))
        except DriverError as error:
            yield form.text, str(error)
            continue
        problem = Problem(form, random.Random(form.text))
        for index, (a, b) in enumerate(chosen_pairs(form, number_of_form)):
            scale_d = index % 4 != 1
            name = f"{form.text}, {describe(a, b)}" + ("" if scale_d else ", no C")
            try:
                yield name, problem.run(device, module, a, b, scale_d)
            except DriverError as error:
                yield name, str(error)
                device.reset()
                module = device.load(kernel_text(form))
        module.unload()
    yield from run_codes(device)


def run_codes(device: Device) -> Iterator[tuple[str, str | None]]:
    """Run a sparse product of tf32 with codes of metadata, also some that PTX leaves open.

    An H200 gives other sums for codes whose lowest bit is set: PTX leaves all of them open.
    """
    form = Form("f32", "tf32", "tf32", 8, is_sparse=True, a_in_registers=True)
    module = device.load(kernel_text(form))
    in_b = next(b for _, b in pairs(form))
    for code in range(0, 16, 2):
        name = f"{form.text}, metadata {code:04b}"
        yield name, Problem(form, random.Random(name), code).run(device, module, None, in_b, True)
    module.unload()


def pairs(form: Form) -> Iterator[tuple[Layout | None, Layout]]:
    """Yield layouts of A, if shared memory holds it, and of B."""
    bits = FORMATS[form.a][0]
    in_b = [
        *layouts(form.n, form.k * bits // 8, bits // 8, form.b_transposed, MEMORY_BYTES - A_BYTES)
    ]
    in_a: list[Layout | None] = [None]
    if not form.a_in_registers:
        room = [*layouts(ROWS, form.stored * bits // 8, bits // 8, form.a_transposed, A_BYTES)]
        in_a = [moved(each, MEMORY_BYTES - A_BYTES) for each in room]
    for index in range(max(len(in_a), len(in_b))):
        yield in_a[index % len(in_a)], in_b[index % len(in_b)]


def chosen_pairs(form: Form, number_of_form: int) -> list[tuple[Layout | None, Layout]]:
    """Return a few layouts; forms after each other have different ones."""
    every = [*pairs(form)]
    count = min(LAYOUTS_PER_FORM, len(every))
    return [every[(number_of_form * count + i) % len(every)] for i in range(count)]


def moved(layout: Layout, distance: int) -> Layout:
    """Return a layout that starts later."""
    values = {name: getattr(layout, name) for name in layout.__dataclass_fields__}
    return Layout(**{**values, "start": layout.start + distance})


def describe(a: Layout | None, b: Layout) -> str:
    """Return a few words on both layouts."""
    words = []
    for name, layout in (("A", a), ("B", b)):
        if layout:
            parts = f"{layout.swizzle} +{layout.start} {layout.leading} {layout.stride}"
            words.append(f"{name} {parts}")
    return ", ".join(words)


class Problem:
    """Matrices to multiply, and their product with and without C."""

    def __init__(self, form: Form, source: random.Random, code: int | None = None) -> None:
        self.form, self.code = form, code
        largest = 2 if form.d == "f16" else 3
        largest_of = {"s8": 127, "u8": 255}
        a, b = (largest_of.get(kind, largest) for kind in (form.a, form.b))
        k = range(form.k)
        self.a = [[int(number(form.a, source, a)) for _ in k] for _ in range(ROWS)]
        self.b = [[int(number(form.b, source, b)) for _ in k] for _ in range(form.n)]
        edge = LIMIT - 1000 if form.is_saturating else 9
        self.c = [
            [source.choice((-1, 1)) * source.randrange(edge - 9, edge + 1) for _ in range(form.n)]
            for _ in range(ROWS)
        ]
        self.stored = self.a
        self.words = [source.randrange(1 << 32) for _ in range(THREADS)]
        if form.is_sparse:
            self.leave_half(source)
        self.noise = source.randbytes(MEMORY_BYTES)
        sign = form.scale_a * form.scale_b
        self.sums = [[sign * sum(map(mul, row, column)) for column in self.b] for row in self.a]

    def leave_half(self, source: random.Random) -> None:
        """Select the elements of A to keep in each chunk, and set the others to zero."""
        form, chunk = self.form, chunk_of_form(self.form)
        kept_count = chunk // 2
        self.stored = []
        for index, row in enumerate(self.a):
            stored: list[int] = []
            for first in range(0, form.k, chunk):
                kept = sorted(source.sample(range(chunk), kept_count))
                if self.code is not None:
                    kept = [self.code >> 3]
                stored += [row[first + i] for i in kept]
                code = LEGAL[kept[0]] if chunk == 2 else kept[0] | kept[1] << 2
                if self.code is not None:
                    # The lower two bits do not count, and other upper ones select no element.
                    code, kept = self.code, kept if self.code & 4 else []
                thread, bit = metadata_place(form, index, first // chunk)
                self.words[thread] = self.words[thread] & ~(0xF << bit) | code << bit
                row[first : first + chunk] = [
                    row[first + i] if i in kept else 0 for i in range(chunk)
                ]
            self.stored.append(stored)

    def expected(self, scale_d: bool) -> list[list[int]]:
        """Return D."""
        rows = []
        for row, own in zip(self.sums, self.c):
            values = [s + c for s, c in zip(row, own)] if scale_d else row
            if self.form.is_saturating:
                values = [min(max(v, -LIMIT), LIMIT - 1) for v in values]
            rows.append(values)
        return rows

    def run(
        self, device: Device, module: Module, a: Layout | None, b: Layout, scale_d: bool
    ) -> str | None:
        """Run the kernel and describe where D differs from the expected result, if anywhere."""
        form = self.form
        memory = bytearray(self.noise)
        fill(memory, b, form.b, self.b)
        if a:
            fill(memory, a, form.a, self.stored)
        contents = [
            bytes(memory),
            registers(form.a, a_places(form), self.stored) if form.a_in_registers else b"",
            registers(form.d, d_places(form), self.c),
            struct.pack(f"={THREADS}I", *self.words),
        ]
        addresses = [device.allocate(each) for each in contents]
        values = [argument(address) for address in addresses]
        unused = UNUSED_BITS if scale_d else 0
        values += [argument(each.descriptor() | unused if each else 0) for each in (a, b)]
        module.launch("k", Shape(1, THREADS), [*values, argument(int(scale_d), "I")])
        got = device.read(addresses[2], len(contents[2]))
        for address in addresses:
            device.free(address)
        wanted = registers(form.d, d_places(form), self.expected(scale_d))
        return None if got == wanted else difference(form, got, wanted)


def chunk_of_form(form: Form) -> int:
    """Return how many elements of A four bits of metadata cover."""
    return chunk_of(form)  # type: ignore[arg-type]


def fill(memory: bytearray, layout: Layout, kind: str, rows: list[list[int]]) -> None:
    """Write the rows of A or the columns of B to where a layout has them."""
    bits = FORMATS[kind][0]
    size = max(bits // 8, 1)
    per = 8 // bits if bits < 8 else 1
    for index, row in enumerate(rows):
        for first in range(0, len(row), per):
            value = 0
            for i in range(per):
                value |= encode(kind, row[first + i]) << i * bits
            k_byte = first // per * size
            at = layout.place(index, k_byte)
            memory[at : at + size] = value.to_bytes(size, "little")


def registers(kind: str, places: list[list[tuple[int, int]]], matrix: list[list[int]]) -> bytes:
    """Return the registers of every thread, starting with those of thread 0."""
    if kind in ("f32", "s32", "f16"):
        letter = {"f32": "f", "s32": "i", "f16": "e"}[kind]
        values = [matrix[row][column] for own in places for row, column in own]
        if kind == "s32":
            values = [(v + LIMIT) % (2 * LIMIT) - LIMIT for v in values]
        return struct.pack(f"={len(values)}{letter}", *values)
    bits = FORMATS[kind][0]
    content = bytearray()
    for own in places:
        value = 0
        for index, (row, column) in enumerate(own):
            value |= encode(kind, matrix[row][column]) << index * bits
        content += value.to_bytes(len(own) * bits // 8, "little")
    return bytes(content)


def difference(form: Form, got: bytes, wanted: bytes) -> str:
    """Describe the first element that differs, and say how many do."""
    letter, size = {"f16": ("e", 2), "f32": ("f", 4), "s32": ("i", 4)}[form.d]
    values = [struct.unpack(f"={len(each) // size}{letter}", each) for each in (got, wanted)]
    places = [place for own in d_places(form) for place in own]
    wrong = [i for i, (x, y) in enumerate(zip(*values)) if x != y] or [0]
    first = wrong[0]
    count = f"{len(wrong)} of {len(places)} differ"
    return f"D{places[first]} is {values[0][first]}, not {values[1][first]} ({count})"


def kernel_text(form: Form) -> str:
    """Return the PTX of a module with the kernel k."""
    names = ("memory", "a", "d", "e", "adesc", "bdesc")
    parameters = [f".param .u64 p{name}" for name in names] + [".param .u32 pscale"]
    d_count = form.n * ROWS // THREADS // per_register(form.d)
    a_count = ROWS * form.stored // THREADS // per_register(form.a)
    d_type = "f32" if form.d == "f32" else "b32"
    lines = [".version 8.4", ".target sm_90a", ".address_size 64"]
    lines += [".visible .entry k(" + ", ".join(parameters) + ")", "{"]
    lines += [
        f".shared .align 1024 .b8 memory[{MEMORY_BYTES}];",
        f".reg .b32 thread, e, i, to, x<4>, a<{a_count}>;",
        f".reg .{d_type} d<{d_count}>;",
        ".reg .b64 at, base, da, db;",
        ".reg .pred p, more;",
        "mov.u32 thread, %tid.x;",
        "ld.param.u64 at, [pmemory];",
        "mad.wide.u32 at, thread, 16, at;",
        "mov.u32 to, memory;",
        "mad.lo.u32 to, thread, 16, to;",
        "mov.u32 i, 0;",
        "again:",
        "ld.global.v4.b32 {x0, x1, x2, x3}, [at];",
        "st.shared.v4.b32 [to], {x0, x1, x2, x3};",
        f"add.u64 at, at, {16 * THREADS};",
        f"add.u32 to, to, {16 * THREADS};",
        f"add.u32 i, i, {16 * THREADS};",
        f"setp.lt.u32 more, i, {MEMORY_BYTES};",
        "@more bra again;",
        "fence.proxy.async;",
        "bar.sync 0;",
        "mov.u32 to, memory;",
        "shr.u32 to, to, 4;",
        "cvt.u64.u32 base, to;",
        "ld.param.u64 da, [padesc];",
        "add.u64 da, da, base;",
        "ld.param.u64 db, [pbdesc];",
        "add.u64 db, db, base;",
        "ld.param.u32 i, [pscale];",
        "setp.ne.u32 p, i, 0;",
    ]
    if form.a_in_registers:
        lines += address_lines("a", 4 * a_count)
        lines += [f"ld.global.b32 a{i}, [at+{4 * i}];" for i in range(a_count)]
    if form.is_sparse:
        lines += [*address_lines("e", 4), "ld.global.b32 e, [at];"]
    lines += address_lines("d", 4 * d_count)
    lines += [f"ld.global.{d_type} d{i}, [at+{4 * i}];" for i in range(d_count)]
    a = "{" + ", ".join(f"a{i}" for i in range(a_count)) + "}" if form.a_in_registers else "da"
    call = form.opcode + " {" + ", ".join(f"d{i}" for i in range(d_count)) + f"}}, {a}, db"
    call += f", e, {form.selector}" * form.is_sparse + ", p"
    call += f", {form.scale_a}, {form.scale_b}" * form.has_scales
    if form.has_transposes:
        call += f", {int(form.a_transposed)}" * (not form.a_in_registers)
        call += f", {int(form.b_transposed)}"
    lines += ["wgmma.fence.sync.aligned;", call + ";"]
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    lines += [f"st.global.{d_type} [at+{4 * i}], d{i};" for i in range(d_count)]
    return "\n".join([*lines, "ret;", "}", ""])


def address_lines(name: str, stride: int) -> list[str]:
    """Return lines that set `at` to the address of a thread's part of an argument."""
    return [f"ld.param.u64 at, [p{name}];", f"mad.wide.u32 at, thread, {stride}, at;"]
