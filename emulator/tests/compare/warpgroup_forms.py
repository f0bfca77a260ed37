# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Forms of wgmma.mma_async, and where shared memory holds the elements of their factors.

A matrix descriptor names a start address, two distances and a swizzle. A core matrix is 8 rows (of
A) or columns (of B) of 16 bytes. `Layout.place` returns the byte of an element, and
`Layout.descriptor` the descriptor that makes the instruction read it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from matrix_forms import FORMATS, LANES, per_register

ROWS = 64  # of A
WARPS = 4
CORE_BYTES = 16  # of a row of a core matrix
SWIZZLE_CODES = {16: 0, 128: 1, 64: 2, 32: 3}  # the number of bytes that a pattern permutes
NARROW = ("e4m3", "e5m2")


@dataclass(frozen=True)
class Form:
    """One instruction: its types, its number of columns, and the immediates."""

    d: str
    a: str
    b: str
    n: int
    is_sparse: bool = False
    a_in_registers: bool = False
    selector: int = 0
    is_saturating: bool = False
    scale_a: int = 1
    scale_b: int = 1
    a_transposed: bool = False
    b_transposed: bool = False

    @property
    def k(self) -> int:
        """The elements in a row of A: 32 bytes, or 64 if A is sparse."""
        return 256 // FORMATS[self.a][0] * (2 if self.is_sparse else 1)

    @property
    def stored(self) -> int:
        """The elements in a row of A that are stored."""
        return self.k // 2 if self.is_sparse else self.k

    @property
    def has_scales(self) -> bool:
        """Whether the instruction has imm-scale-a and imm-scale-b."""
        return self.d != "s32"

    @property
    def has_transposes(self) -> bool:
        """Whether the instruction has imm-trans-a and imm-trans-b."""
        return FORMATS[self.a][0] == 16

    @property
    def has_selectors_of_two(self) -> bool:
        """Whether the selector chooses the lanes with the metadata; else all lanes hold some."""
        return self.is_sparse and FORMATS[self.a][0] >= 16

    @property
    def opcode(self) -> str:
        """The instruction with all modifiers."""
        parts = ["wgmma.mma_async"] + ["sp"] * self.is_sparse + ["sync.aligned"]
        parts += [f"m{ROWS}n{self.n}k{self.k}"] + ["satfinite"] * self.is_saturating
        parts += [self.d, self.a, self.b] + ["and.popc"] * (self.a == "b1")
        return ".".join(parts)

    @property
    def text(self) -> str:
        """A name for reports."""
        words = [self.opcode, "A in registers" if self.a_in_registers else "A in shared memory"]
        words += [f"selector {self.selector}"] * self.is_sparse
        words += [f"scales {self.scale_a} {self.scale_b}"] * (
            (self.scale_a, self.scale_b) != (1, 1)
        )
        words += ["A transposed"] * self.a_transposed + ["B transposed"] * self.b_transposed
        return ", ".join(words)


def forms() -> Iterator[Form]:
    """Yield forms so that every type, every source of A and every kind of size occurs."""
    for index, (d, a, b) in enumerate(types()):
        is_float = d != "s32"
        sizes = (8, 16, 24, 40 if is_float else 48, 64, 96, 128, 192, 256)
        for is_sparse, a_in_registers in product((False, True), repeat=2):
            if is_sparse and a == "b1":
                continue
            for step in range(3):
                n = sizes[(index + 3 * step + 2 * is_sparse + a_in_registers) % len(sizes)]
                form = Form(d, a, b, n, is_sparse, a_in_registers)
                form = replace(form, selector=step % 2 if form.has_selectors_of_two else 0)
                yield form if step != 1 or not is_float else replace(form, scale_a=-1)
                if step == 2 and is_float:
                    yield replace(form, scale_b=-1, selector=0)
                if form.has_transposes:
                    yield replace(form, b_transposed=True)
                if form.has_transposes and not a_in_registers:
                    yield replace(form, a_transposed=True, b_transposed=step == 1)
                if d == "s32" and a != "b1":
                    yield replace(form, is_saturating=True)


def types() -> Iterator[tuple[str, str, str]]:
    """Yield the types of D, A and B."""
    yield from (("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"))
    yield "f32", "tf32", "tf32"
    yield from product(("f16", "f32"), NARROW, NARROW)
    yield from product(("s32",), ("s8", "u8"), ("s8", "u8"))
    yield "s32", "b1", "b1"


# ---- layouts in shared memory --------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Where shared memory holds a factor; `rows` are the rows of A or the columns of B."""

    rows: int
    row_bytes: int  # of k elements
    element_bytes: int  # 0 if an element is a bit
    swizzle: int = 16  # bytes
    is_transposed: bool = False  # elements of a column are adjacent
    start: int = 0  # from the beginning of the memory
    leading: int = 0
    stride: int = 0
    base_offset: int = 0  # of the swizzle's pattern, in rows of 128 bytes

    @property
    def size(self) -> int:
        """The number of bytes from the start to the end of the pattern."""
        last = max(self.linear(r, k) for r in (0, self.rows - 1) for k in (0, self.row_bytes - 1))
        return -(-(last + 1) // 1024) * 1024

    def linear(self, row: int, k_byte: int) -> int:
        """Return the byte from the start, before the swizzle; transposed, k_byte is k times 2."""
        if self.is_transposed:
            k, piece = k_byte // 2, row // 8
            inside = row % 8 * 2 + k_byte % 2
            if self.swizzle == CORE_BYTES:
                return piece * self.stride + k % 8 * 16 + k // 8 * self.leading + inside
            pieces = self.swizzle // CORE_BYTES
            at = piece % pieces * 16 + piece // pieces * self.leading
            return at + k % 8 * self.swizzle + k // 8 * self.stride + inside
        at = row % 8 * self.swizzle + row // 8 * self.stride
        return at + k_byte // self.swizzle * self.leading + k_byte % self.swizzle

    def place(self, row: int, k_byte: int) -> int:
        """Return the byte in shared memory."""
        address = self.start + self.linear(row, k_byte)
        row_of_pattern = (address >> 7) - self.base_offset
        return address ^ (row_of_pattern & self.swizzle // CORE_BYTES - 1) << 4

    def descriptor(self) -> int:
        """Return the matrix descriptor, for a memory that begins at address 0."""
        code = SWIZZLE_CODES[self.swizzle] << 62 | self.base_offset << 49
        return self.start >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32 | code


def layouts(
    rows: int, row_bytes: int, element_bytes: int, is_transposed: bool, room: int
) -> Iterator[Layout]:
    """Yield layouts of a factor with every swizzle, with and without gaps."""
    plain = Layout(rows, row_bytes, element_bytes, is_transposed=is_transposed)
    for swizzle, gap, advance in product((16, 32, 64, 128), (0, 1), (0, 32, 64, 96)):
        if advance and (is_transposed or gap or advance + row_bytes > swizzle):
            continue
        if is_transposed and swizzle > CORE_BYTES:
            stride = 8 * swizzle + gap * 1024
            leading = stride * (row_bytes // 16) + gap * 1024
        elif is_transposed:
            stride, leading = 128 + 16 * gap, rows // 8 * (128 + 16 * gap) + 48 * gap
        elif swizzle > CORE_BYTES:
            stride, leading = 8 * swizzle + gap * 1024, 16
            if row_bytes > swizzle:
                leading = (rows // 8) * stride
        else:
            stride, leading = 128 + 16 * gap, rows // 8 * (128 + 16 * gap) + 48 * gap
        if swizzle == CORE_BYTES and gap:  # the two distances are independent
            stride, leading = leading * 2, 144
            if rows // 8 * stride > 16384:
                continue
        layout = replace(plain, swizzle=swizzle, start=advance, leading=leading, stride=stride)
        if gap and swizzle > CORE_BYTES:  # the pattern begins in another row
            layout = replace(layout, start=swizzle * 3, base_offset=5)
        if layout.start + layout.size + 1024 <= room:
            yield layout


# ---- registers -----------------------------------------------------------------------------------


def d_places(form: Form) -> list[list[tuple[int, int]]]:
    """Return row and column of every element of D, for each thread of the warpgroup."""
    return [
        [
            (
                thread // 32 * 16 + thread % 32 // 4 + 8 * (i // 2 % 2),
                i // 4 * 8 + thread % 4 * 2 + i % 2,
            )
            for i in range(form.n * ROWS // (LANES * WARPS))
        ]
        for thread in range(LANES * WARPS)
    ]


def a_places(form: Form) -> list[list[tuple[int, int]]]:
    """Return row and stored column of every element of A, for each thread of the warpgroup."""
    per = per_register(form.a)
    return [
        [
            (
                thread // 32 * 16 + thread % 32 // 4 + 8 * (i // per % 2),
                thread % 4 * per + i % per + 4 * per * (i // per // 2),
            )
            for i in range(ROWS * form.stored // (LANES * WARPS))
        ]
        for thread in range(LANES * WARPS)
    ]


def metadata_place(form: Form, row: int, chunk: int) -> tuple[int, int]:
    """Return the thread and the first of the four bits that select the elements of a chunk."""
    first = row // 16 * 32 + row % 8 * 4
    is_low = row % 16 // 8
    if form.has_selectors_of_two:
        return first + 2 * form.selector + chunk // 4, 16 * is_low + 4 * (chunk % 4)
    return first + 2 * (chunk // 8) + is_low, 4 * (chunk % 8)
