# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Random programs that read tables: by vectors, at shared and scattered addresses, and in loops.

They are like the programs of programs.py, with more operations. Reads of tables in global and
constant memory return the values of the table; reads of private memory return what was stored.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

from programs import HEADER, MASK, OPERATIONS, Operation, Program, as_float, float_result, fused

ROWS = 96
SHARED_ROW = 9
_SOURCE = random.Random("tables")
TABLE = [_SOURCE.randrange(1 << 32) for _ in range(4 * ROWS)]
FACTORS = [_SOURCE.choice([-1, 1]) * _SOURCE.randrange(1, 96) / 64 for _ in range(4 * ROWS)]


def declared(space: str, kind: str, name: str, values: list[str]) -> str:
    """Return the declaration of a table."""
    return f"{space} .align 16 {kind} {name}[{len(values)}] = {{{', '.join(values)}}};\n"


WORDS = [str(value) for value in TABLE]
REALS = [repr(value) for value in FACTORS]
TABLES = (
    declared(".global", ".u32", "table", WORDS)
    + declared(".const", ".u32", "fixed", WORDS)
    + declared(".global", ".f32", "factors", REALS)
    + declared(".const", ".f32", "fixed_factors", REALS)
)


# How an operation selects a row: one row for all threads, the thread's own, or one by register.
SHARED, OWN, ANY = "shared", "own", "any"
CHOICES = (SHARED, OWN, ANY)
ADDRESS = ".reg .b32 n; .reg .b64 from;\n"


def row_address(choice: str, table: str) -> str:
    """Return PTX that puts the address of a row into `from`, which nothing else uses."""
    if choice == SHARED:
        return f"mov.u64 from, {table};\nadd.u64 from, from, {16 * SHARED_ROW};\n"
    row = "mov.u32 n, %tid.x;" if choice == OWN else "and.b32 n, {b}, 63;"
    return f"{row}\nmov.u64 from, {table};\nmad.wide.u32 from, n, 16, from;\n"


def row_of(choice: str, b: int, thread: int) -> int:
    """Return the number of the selected row."""
    return {SHARED: SHARED_ROW, OWN: thread, ANY: b & 63}[choice]


def mixed(values: list[int], factor: int) -> int:
    """Return what the operations compute from the words that they have loaded."""
    result = factor
    for value in values:
        result = (result * value + value) & MASK
    return result


def mixing(count: int) -> str:
    """Return PTX that computes `mixed`, starting with register a."""
    steps = "".join(f"mad.lo.u32 s, s, x{i}, x{i};\n" for i in range(count))
    return f"mov.u32 s, {{a}};\n{steps}mov.u32 {{d}}, s;"


def in_block(declarations: str, body: str) -> str:
    """Return lines with their own registers, so that no other code reads what they load."""
    return f"{{{{\n{declarations}\n{body}\n}}}}"


def vector(space: str, table: str, count: int, choice: str, offset: int = 0) -> Operation:
    """Make an operation that loads a vector and mixes its words."""
    names = ", ".join(f"x{i}" for i in range(count))
    load = f"ld{space}.v{count}.u32 {{{{{names}}}}}, [from+{4 * offset}];\n"
    lines = row_address(choice, table) + load + mixing(count)

    def evaluate(a: int, b: int, thread: int) -> int:
        first = 4 * row_of(choice, b, thread) + offset
        return mixed(TABLE[first : first + count], a)

    return Operation(in_block(f"{ADDRESS}.reg .b32 s, x<{count}>;", lines), evaluate, True)


def private(count: int) -> Operation:
    """Make an operation that stores a vector in the thread's own memory and reads another part."""
    names = ["{a}", "{b}", "{c}", "{a}"][:count]
    lines = f"st.local.v{count}.u32 [own+16], {{{{{', '.join(names)}}}}};\n"
    lines += "ld.local.v2.u32 {{x0, x1}}, [own+16];\n" + mixing(2)
    body = in_block(".reg .b32 s, x<2>;", lines)
    return Operation(body, lambda a, b, _c: mixed([a, b], a))


def carries(first: str, second: str, function: Callable[[int, int, int], int]) -> Operation:
    """Make an operation of two instructions that are connected by the carry flag."""
    return Operation(f"{first} t, {{a}}, {{b}};\n{second};", function)


def factor_loop(label: int, first: str, second: str, role: str) -> Operation:
    """Make a loop that multiplies by factors; it jumps back before, between or after the loads."""
    space, table = (".const", "fixed_factors") if first == SHARED else (".global", "factors")
    lines = [row_address(first, table), "mov.u64 there, from;"]
    lines += [row_address(second, "factors"), "cvt.rn.f32.s32 z, {a};\nand.b32 u, {a}, 7;"]
    steps = [f"ld{space}.f32 x, [there];", "ld.global.f32 y, [from+4];", f"fma.rn.f32 z, {role};"]
    steps.insert(label, "{label}:")
    lines += steps
    lines += ["setp.ne.u32 g, u, 0;", "sub.u32 u, u, 1;", "@g bra {label};"]
    lines.append("cvt.rzi.s32.f32 {d}, z;")

    def evaluate(a: int, b: int, thread: int) -> int:
        values = {"x": FACTORS[4 * row_of(first, b, thread)]}
        values["y"] = FACTORS[4 * row_of(second, b, thread) + 1]
        values["z"] = as_float(a)
        for _ in range((a & 7) + 1):
            values["z"] = fused(*(values[name] for name in role.split(", ")))
        return float_result(values["z"])

    registers = ADDRESS + ".reg .b64 there; .reg .f32 x, y, z;"
    return Operation(in_block(registers, "\n".join(lines)), evaluate, True)


def dot_product(count: int, first: str, second: str) -> Operation:
    """Make a chain of multiply-adds of factors from two places."""
    lines = [row_address(first, "factors"), "mov.u64 there, from;"]
    lines += [row_address(second, "factors"), "cvt.rn.f32.s32 z, {a};"]
    for i in range(count):
        lines += [f"ld.global.f32 x{i}, [there+{4 * i}];", f"ld.global.f32 y{i}, [from+{4 * i}];"]
        lines.append(f"fma.rn.f32 z, x{i}, y{i}, z;")
    lines.append("cvt.rzi.s32.f32 {d}, z;")

    def evaluate(a: int, b: int, thread: int) -> int:
        z = as_float(a)
        rows = [4 * row_of(choice, b, thread) for choice in (first, second)]
        for i in range(count):
            z = fused(FACTORS[rows[0] + i], FACTORS[rows[1] + i], z)
        return float_result(z)

    registers = f"{ADDRESS}.reg .b64 there; .reg .f32 z, x<{count}>, y<{count}>;"
    return Operation(in_block(registers, "\n".join(lines)), evaluate, True)


TABLES_OF_WORDS = ((".global", "table"), (".const", "fixed"), ("", "table"))
ROLES = ("x, y, z", "z, x, y", "z, y, x")
ACCESSES = (
    *(vector(*place, 4, choice) for place in TABLES_OF_WORDS for choice in CHOICES),
    *(vector(*place, 2, choice, 2) for place in TABLES_OF_WORDS for choice in CHOICES),
    *(
        factor_loop(label, first, second, role)
        for label, first, second, role in product(range(3), (SHARED, OWN), CHOICES, ROLES)
    ),
    *(dot_product(4, first, second) for first, second in product(CHOICES, CHOICES)),
)
OTHERS = (
    private(2),
    private(4),
    carries("add.cc.u32", "addc.u32 {d}, {c}, 0", lambda a, b, c: c + (a + b > MASK) & MASK),
    carries("sub.cc.u32", "subc.u32 {d}, {c}, 0", lambda a, b, c: c - (a < b) & MASK),
    Operation(
        "mad.lo.cc.u32 t, {a}, {b}, {c};\nmadc.hi.u32 {d}, {a}, {b}, 0;",
        lambda a, b, c: (a * b + c) >> 32,
    ),
)


class AccessProgram(Program):
    """One random program with these operations, made from a seed."""

    operations = (*OPERATIONS, *OTHERS, *OTHERS, *ACCESSES)
    header = HEADER.replace(".func", TABLES + ".func", 1).replace(
        ".shared", ".local .align 16 .b8 own[32];\n.shared .align 16 .b32 rows[192];\n.shared", 1
    )

    def _together(self) -> None:
        if self._random.random() < 0.5:
            super()._together()
        else:
            self._share_rows()

    def _share_rows(self) -> None:
        """Emit vectors in shared memory that each thread writes and other threads read."""
        first, second, d = (self._register() for _ in range(3))
        pair = self._random.randrange(48)
        distance = self._random.randrange(96)
        others = [(thread * 37 + distance) % 96 for thread in range(96)]
        self._lines += ["barrier.sync 0;", "{", ".reg .b32 s, x<6>;", "mov.u32 u, %tid.x;"]
        self._lines += ["mov.u32 t, rows;", "mad.lo.u32 s, u, 8, t;"]
        self._lines += [f"st.shared.v2.u32 [s], {{r{first}, r{second}}};", "barrier.sync 0;"]
        self._lines.append(f"ld.shared.v4.u32 {{x0, x1, x2, x3}}, [rows+{16 * pair}];")
        self._lines += [f"mad.lo.u32 u, u, 37, {distance};", "rem.u32 u, u, 96;"]
        self._lines += ["mad.lo.u32 s, u, 8, t;", "ld.shared.v2.u32 {x4, x5}, [s];"]
        self._lines += [mixing(6).format(a=f"r{first}", d=f"r{d}"), "}"]
        before = [(values[first], values[second]) for values in self._values]
        for index, values in enumerate(self._values):
            block = index // 96 * 96
            places = (block + 2 * pair, block + 2 * pair + 1, block + others[index % 96])
            loaded = [word for place in places for word in before[place]]
            values[d] = mixed(loaded, before[index][0])
