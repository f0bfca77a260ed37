# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Every form of mma and mma.sp: its types, its shape, and the positions of its elements.

Let g = lane / 4 and t = lane % 4. The registers of a factor hold pieces of 8 rows (of A) or columns
(of B) by 16 bytes; a lane has word t of row or column g. A sparse A has the layout of a dense one
with half the columns. m8n8k4 of halves has its own layout: see `quad_places`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

LANES = 32

# bits in a register, bits of the exponent (0: an integer), bits of the fraction, left shift
FORMATS = {
    "f16": (16, 5, 10, 0),
    "bf16": (16, 8, 7, 0),
    "tf32": (32, 8, 23, 0),
    "f32": (32, 8, 23, 0),
    "f64": (64, 11, 52, 0),
    "e4m3": (8, 4, 3, 0),
    "e5m2": (8, 5, 2, 0),
    "e3m2": (8, 3, 2, 0),
    "e2m3": (8, 2, 3, 0),
    "e2m1": (8, 2, 1, 2),
    "packed": (4, 2, 1, 0),  # e2m1, two in a byte
    "s8": (8, 0, 7, 0),
    "u8": (8, 0, 8, 0),
    "s4": (4, 0, 3, 0),
    "u4": (4, 0, 4, 0),
    "b1": (1, 0, 1, 0),
    "s32": (32, 0, 31, 0),
}
NARROW = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
VERSION = {"75": "8.3", "80": "8.5", "89": "8.7", "90": "8.7"}
NEWEST_VERSION = "9.0"


@dataclass(frozen=True)
class Form:
    """One instruction: its text and what it multiplies."""

    text: str
    m: int
    n: int
    k: int
    d: str
    a: str
    b: str
    c: str
    target: str  # an architecture, such as 80 or 120a
    sparsity: int = 1  # 2: half of A is zero
    selectors: int = 1  # number of choices for the lanes with the metadata
    scales: int = 0  # number of scales for each row and column
    scale: str = ""
    layouts: str = ""  # the layouts of m8n8k4
    rounding: str = ""

    @property
    def version(self) -> str:
        """The PTX version of the module."""
        return VERSION.get(self.target, NEWEST_VERSION)


def forms() -> Iterator[Form]:
    """Yield every form of mma and mma.sp."""
    yield from dense_forms()
    yield from integer_forms()
    yield from sparse_forms()
    yield from scaled_forms()


def dense_forms() -> Iterator[Form]:
    """Yield the plain products of floats."""
    for rows, columns in product(("row", "col"), repeat=2):
        for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
            text = f"mma.sync.aligned.m8n8k4.{rows}.{columns}.{d}.f16.f16.{c}"
            yield Form(text, 8, 8, 4, d, "f16", "f16", c, "75", layouts=rows + columns)
    for k, c in product((8, 16), ("f16", "f32")):
        yield plain(k, c, "f16", "f16", "75" if k == 8 else "80")
    for k in (8, 16):
        yield plain(k, "f32", "bf16", "bf16", "80")
    for k in (4, 8):
        yield plain(k, "f32", "tf32", "tf32", "80")
    for k, c, a, b in product((16, 32), ("f32", "f16"), NARROW[:2], NARROW[:2]):
        yield plain(k, c, a, b, "89")
    for k, c, a, b in product((16, 32), ("f32", "f16"), NARROW, NARROW):
        if k == 32 or {a, b} <= {*NARROW[:2]}:
            yield plain(k, c, a, b, "120a", "kind::f8f6f4.")
    for (m, k), rounding in product(
        ((8, 4), (16, 4), (16, 8), (16, 16)), ("", "rn", "rz", "rm", "rp")
    ):
        text = f"mma.sync.aligned.m{m}n8k{k}.row.col.{rounding}.f64.f64.f64.f64"
        target = "80" if m == 8 else "90"
        yield Form(
            text.replace("..", "."), m, 8, k, *["f64"] * 4, target, rounding=rounding or "rn"
        )


def plain(k: int, c: str, a: str, b: str, target: str, kind: str = "") -> Form:
    """Return the form of 16 rows and 8 columns with one accumulator type."""
    text = f"mma.sync.aligned.{kind}m16n8k{k}.row.col.{c}.{a}.{b}.{c}"
    return Form(text, 16, 8, k, c, a, b, c, target)


def integer_forms() -> Iterator[Form]:
    """Yield the products of integers."""
    for bits, more in product((8, 4), ("", "satfinite.")):
        kinds = (f"s{bits}", f"u{bits}")
        shortest = 128 // bits
        for (m, k), a, b in product(
            ((8, shortest), (16, shortest), (16, 2 * shortest)), kinds, kinds
        ):
            text = f"mma.sync.aligned.m{m}n8k{k}.row.col.{more}s32.{a}.{b}.s32"
            yield Form(text, m, 8, k, "s32", a, b, "s32", "75" if m == 8 else "80")
    for (m, k), operation in product(((8, 128), (16, 128), (16, 256)), ("xor", "and")):
        text = f"mma.sync.aligned.m{m}n8k{k}.row.col.s32.b1.b1.s32.{operation}.popc"
        target = "80" if m == 16 or operation == "and" else "75"
        yield Form(text, m, 8, k, "s32", "b1", "b1", "s32", target)


def sparse_forms() -> Iterator[Form]:
    """Yield the products of sparse matrices."""
    for variant in ("sp", "sp::ordered_metadata"):
        for k, c in product((16, 32), ("f16", "f32")):
            yield sparse(variant, k, c, "f16", "f16", 64 // k)
        for k in (16, 32):
            yield sparse(variant, k, "f32", "bf16", "bf16", 64 // k)
        for k in (8, 16):
            yield sparse(variant, k, "f32", "tf32", "tf32", 32 // k)
        for a, b in product(NARROW[:2], repeat=2):
            yield sparse(variant, 64, "f32", a, b, 1, "89")
        for bits, more in product((8, 4), ("", "satfinite.")):
            kinds = (f"s{bits}", f"u{bits}")
            for k, a, b in product((256 // bits, 512 // bits), kinds, kinds):
                yield sparse(variant, k, "s32", a, b, 512 // bits // k, more=more)
    for c, a, b in product(("f32", "f16"), NARROW, NARROW):
        yield sparse("sp::ordered_metadata", 64, c, a, b, 1, "120a", "kind::f8f6f4.")
    for a, b in product(NARROW[:2], repeat=2):
        yield sparse("sp::ordered_metadata", 64, "f16", a, b, 1, "120a")


def sparse(
    variant: str, k: int, c: str, a: str, b: str, selectors: int, target: str = "80", more: str = ""
) -> Form:
    """Return a form of mma.sp."""
    text = f"mma.{variant}.sync.aligned.m16n8k{k}.row.col.{more}{c}.{a}.{b}.{c}"
    return Form(text, 16, 8, k, c, a, b, c, target, 2, selectors)


def scaled_forms() -> Iterator[Form]:
    """Yield the products with scales, dense and sparse."""
    for sparsity, a, b in product((1, 2), NARROW, NARROW):
        for size in ("", ".scale_vec::1X"):
            yield scaled(sparsity, 32, "mxf8f6f4", size, 1, a, b, "ue8m0")
    for sparsity in (1, 2):
        for size in ("", ".scale_vec::2X"):
            yield scaled(sparsity, 64, "mxf4", size, 2, "packed", "packed", "ue8m0")
        for count, scale in ((2, "ue8m0"), (4, "ue4m3")):
            size = f".scale_vec::{count}X"
            yield scaled(sparsity, 64, "mxf4nvf4", size, count, "packed", "packed", scale)


def scaled(
    sparsity: int, k: int, kind: str, size: str, count: int, a: str, b: str, scale: str
) -> Form:
    """Return a form with .block_scale."""
    k *= sparsity
    opcode = "mma.sp::ordered_metadata" if sparsity == 2 else "mma"
    types = f"f32.{a}.{b}.f32.{scale}".replace("packed", "e2m1")
    text = f"{opcode}.sync.aligned.m16n8k{k}.row.col.kind::{kind}.block_scale{size}.{types}"
    return Form(text, 16, 8, k, "f32", a, b, "f32", "120a", sparsity, 1, count, scale)


# ---- where elements lie --------------------------------------------------------------------------


def a_places(form: Form) -> list[list[tuple[int, int]]]:
    """Return row and column of every stored element of A, for each lane."""
    if form.layouts:
        return quad_places(4, form.layouts.startswith("row"))
    per, down = per_register(form.a), form.m // 8
    count = form.m * form.k // form.sparsity // LANES
    return [
        [
            (
                lane // 4 + 8 * (i // per % down),
                lane % 4 * per + i % per + 4 * per * (i // per // down),
            )
            for i in range(count)
        ]
        for lane in range(LANES)
    ]


def b_places(form: Form) -> list[list[tuple[int, int]]]:
    """Return the row and column of every element of B, for each lane."""
    if form.layouts:
        flipped = quad_places(4, form.layouts.endswith("col"))
        return [[(column, row) for row, column in lane] for lane in flipped]
    per = per_register(form.b)
    return [
        [
            (lane % 4 * per + i % per + 4 * per * (i // per), lane // 4)
            for i in range(form.k * form.n // LANES)
        ]
        for lane in range(LANES)
    ]


def c_places(form: Form, kind: str) -> list[list[tuple[int, int]]]:
    """Return the row and column of every element of C or D, for each lane."""
    if form.layouts and kind == "f16":
        return quad_places(8, True)
    if form.layouts:
        return [
            [
                ((lane & 1) + (i & 2) + lane // 16 * 4, (i & 4) + (lane & 2) + (i & 1))
                for i in range(8)
            ]
            for lane in range(LANES)
        ]
    return [
        [(lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2) for i in range(form.m * form.n // LANES)]
        for lane in range(LANES)
    ]


def quad_places(count: int, is_row: bool) -> list[list[tuple[int, int]]]:
    """Return the positions in m8n8k4, where lanes 0-3 and 16-19, 4-7 and 20-23... cooperate."""
    places = []
    for lane in range(LANES):
        first = lane // 16 * 4
        if is_row:
            places.append([(first + lane % 4, i) for i in range(count)])
        else:
            places.append([(first + i, lane % 4) for i in range(count)])
    return places


def matrix_of(form: Form, lane: int) -> int:
    """Return the product that a lane takes part in; m8n8k4 computes four."""
    return lane % 16 // 4 if form.layouts else 0


def metadata_place(form: Form, row: int, chunk: int, selector: int) -> tuple[int, int]:
    """Return the lane and the first of the four bits that select the stored elements of a chunk."""
    group, is_low = row % 8 * 4, row // 8
    chunks = form.k // chunk_of(form)
    if form.selectors == 4:
        return group + selector, 16 * is_low + 4 * chunk
    if form.a in ("f16", "bf16", "tf32"):
        return group + 2 * selector + chunk // 4, 16 * is_low + 4 * (chunk % 4)
    if chunks == 8:
        return group + 2 * selector + is_low, 4 * chunk
    return group + 2 * (chunk // 8) + is_low, 4 * (chunk % 8)


def chunk_of(form: Form) -> int:
    """Return how many elements of A one piece of metadata covers; half of them are stored."""
    return {"tf32": 2, "s4": 8, "u4": 8, "packed": 8}.get(form.a, 4)


def per_register(kind: str) -> int:
    """Return how many elements fit into a register."""
    return max(LANES // FORMATS[kind][0], 1)
