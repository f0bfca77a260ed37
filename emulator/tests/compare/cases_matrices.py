# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Cases of tensor-core matrix products, on integers small enough for every sum to be exact."""

from __future__ import annotations

from case import Buffer, Run, bfloat_bits, case
from cases_small_floats import E4M3

TENSOR_ARCHITECTURE = 80
FP8_ARCHITECTURE = 89


def matrix(run: Run, rows: int, columns: int, low: int, high: int) -> list[list[int]]:
    """Make a matrix of random integers."""
    return [[run.random.randrange(low, high) for _ in range(columns)] for _ in range(rows)]


def multiply(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
    """Multiply a by b, which is given by columns."""
    return [[sum(x * y for x, y in zip(row, column)) for column in b] for row in a]


def flat(m: list[list[int]]) -> list[int]:
    """Return the rows one after the other."""
    return [value for row in m for value in row]


def make(run: Run, kind: str, m: list[list[int]]) -> Buffer:
    """Copy a matrix to the device; kind b means bfloat16."""
    if kind == "bf":
        return run.buffer("H", [bfloat_bits(float(value)) for value in flat(m)])
    return run.buffer(kind, flat(m))


def fragment_product(
    run: Run, kernel: str, m: int, n: int, k: int, kind: str, sum_kind: str, low: int = -4
) -> None:
    """Check 2 (a b + c) with the fragments of CUDA C++."""
    a, b = matrix(run, m, k, low, 5), matrix(run, n, k, low, 5)
    c = matrix(run, m, n, -9, 9)
    there = run.buffer(sum_kind, flat(c))
    run.launch(kernel, make(run, kind, a), make(run, kind, b), there, block=32)
    product = multiply(a, b)
    run.expect(kernel, there, [2 * (p + q) for p, q in zip(flat(product), flat(c))])


@case("matrices", oldest=75)
def wmma_fragments(run: Run) -> None:
    fragment_product(run, "wmma_half", 16, 16, 16, "e", "f")
    fragment_product(run, "wmma_half_narrow", 32, 8, 16, "e", "e")
    fragment_product(run, "wmma_bytes", 8, 32, 16, "b", "i")
    fragment_product(run, "wmma_unsigned_bytes", 16, 16, 16, "B", "i", low=0)


@case("matrices", oldest=TENSOR_ARCHITECTURE)
def wmma_newer_fragments(run: Run) -> None:
    fragment_product(run, "wmma_bfloat", 16, 16, 16, "bf", "f")
    fragment_product(run, "wmma_tf32", 16, 16, 8, "f", "f")
    fragment_product(run, "wmma_double", 8, 8, 4, "d", "d")


def instruction_product(run: Run, kernel: str, k: int, kind: str, sum_kind: str) -> None:
    """Check a b with 16 rows and 8 columns; elements of less than a byte are packed here."""
    low = 0 if kind in ("u4", "e4m3") else -4
    a, b = matrix(run, 16, k, low, 5), matrix(run, 8, k, low, 5)
    if kind == "u4":
        operands = [pack_nibbles(run, each) for each in (a, b)]
    elif kind == "e4m3":
        codes = {int(E4M3.value(code)): code for code in range(0x7F) if E4M3.value(code) % 1 == 0}
        operands = [run.buffer("B", [codes[value] for value in flat(each)]) for each in (a, b)]
    else:
        operands = [make(run, kind, each) for each in (a, b)]
    out = run.zeros(sum_kind, 16 * 8)
    run.launch(kernel, *operands, out, block=32)
    run.expect(kernel, out, flat(multiply(a, b)))


def pack_nibbles(run: Run, m: list[list[int]]) -> Buffer:
    """Copy a matrix of 4-bit numbers to the device, the first of two in the low half."""
    values = flat(m)
    return run.buffer("B", [low | high << 4 for low, high in zip(values[0::2], values[1::2])])


@case("matrices", oldest=TENSOR_ARCHITECTURE)
def mma_instructions(run: Run) -> None:
    instruction_product(run, "mma_half", 16, "e", "f")
    instruction_product(run, "mma_bfloat", 16, "bf", "f")
    instruction_product(run, "mma_tf32", 8, "f", "f")
    instruction_product(run, "mma_bytes", 32, "b", "i")
    instruction_product(run, "mma_nibbles", 64, "u4", "i")
    a, b = matrix(run, 8, 4, -9, 9), matrix(run, 8, 4, -9, 9)
    out = run.zeros("d", 64)
    run.launch("mma_double", make(run, "d", a), make(run, "d", b), out, block=32)
    run.expect("mma_double", out, flat(multiply(a, b)))


@case("matrices", oldest=FP8_ARCHITECTURE)
def mma_bytes_of_floats(run: Run) -> None:
    instruction_product(run, "mma_e4m3", 32, "e4m3", "f")


@case("matrices", oldest=TENSOR_ARCHITECTURE)
def fragments(run: Run) -> None:
    values = [run.random.randrange(1 << 16) for _ in range(256)]
    out = run.zeros("I", 96)
    run.launch("fragments", run.buffer("H", values), out, block=32)

    def element(which: int, row: int, column: int) -> int:
        return values[which * 64 + row * 8 + column]

    def word(which: int, lane: int, is_transposed: bool) -> int:
        row, column = lane // 4, lane % 4 * 2
        if is_transposed:
            return element(which, column, row) | element(which, column + 1, row) << 16
        return element(which, row, column) | element(which, row, column + 1) << 16

    lanes = range(32)
    expected = [word(0, t, False) ^ word(3, t, False) for t in lanes]
    expected += [word(1, t, True) for t in lanes]
    expected += [word(2, t, False) for t in lanes]
    run.expect("out", out, expected)
