# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Random programs: structured PTX with a defined result, and an evaluator that computes it.

A program works on eight integer registers of each thread. It uses arithmetic, branches that split
warps, nested loops with breaks, and calls. Where all threads are together, it also uses shared
memory, barriers, shuffles, votes and atomics, in loops too, and shuffles among the threads of a
branch. At the end, threads may leave early from anywhere. It is evaluated here, thread by thread,
and must give the same result on every device, instruction-set level and number of workers.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from case import single

THREADS = 96
BLOCKS = 2
REGISTERS = 8
MASK = 0xFFFFFFFF
MAX_DEPTH = 3
MAX_COUNTERS = 60  # of the registers n, without those for addresses

Values = list[int]


@dataclass(frozen=True)
class Operation:
    """One data instruction: its text with {d}, {a}, {b}, {c}, and the function that it computes."""

    text: str
    function: Callable[[int, int, int], int]
    reads_thread: bool = False  # c is then the thread's number in its block


def signed(value: int) -> int:
    """Return 32 bits as a signed number."""
    return value - (1 << 32) if value >> 31 else value


def as_float(bits: int) -> float:
    """Return 32 bits as a number; the integer is converted, so that there is no NaN."""
    return single(float(signed(bits)))


def float_result(value: float) -> int:
    """Convert back like cvt.rzi.s32.f32."""
    return max(-(1 << 31), min((1 << 31) - 1, int(value))) & MASK


def fused(a: float, b: float, c: float) -> float:
    """Return a * b + c, rounded once to single precision."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return round_fraction(exact)


def round_fraction(exact: Fraction) -> float:
    """Round a rational number to single precision, ties to even."""
    if exact == 0:
        return 0.0
    sign = -1 if exact < 0 else 1
    exact = abs(exact)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    scale = exponent - 24
    while exact >= Fraction(2) ** (scale + 24):
        scale += 1
    while exact < Fraction(2) ** (scale + 23):
        scale -= 1
    return float(sign * round(exact / Fraction(2) ** scale) * Fraction(2) ** scale)


def shift_left(a: int, b: int) -> int:
    """Shift like PTX: amounts beyond the width give zero."""
    return (a << b) & MASK if b < 32 else 0


def floats(text: str, function: Callable[[float, float, float], float]) -> Operation:
    """Make an operation that converts to single precision, computes and converts back."""
    lines = ["cvt.rn.f32.s32 fa, {a};", "cvt.rn.f32.s32 fb, {b};", "cvt.rn.f32.s32 fc, {c};"]
    lines += [text, "cvt.rzi.s32.f32 {d}, fa;"]
    return Operation(
        "\n".join(lines),
        lambda a, b, c: float_result(function(as_float(a), as_float(b), as_float(c))),
    )


def permute(a: int, b: int, c: int) -> int:
    """Compute prmt.b32: bytes of b:a selected by nibbles of c, with the sign replicated."""
    source = b << 32 | a
    result = 0
    for index in range(4):
        nibble = c >> (4 * index) & 15
        byte = source >> (8 * (nibble & 7)) & 0xFF
        if nibble & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * index)
    return result


def mix(a: int, b: int) -> int:
    """Compute the function `mix` of the programs."""
    return ((a ^ (b >> 7)) * 0x9E3779B1 + b) & MASK


OPERATIONS = (
    Operation("add.u32 {d}, {a}, {b};", lambda a, b, _: (a + b) & MASK),
    Operation("sub.u32 {d}, {a}, {b};", lambda a, b, _: (a - b) & MASK),
    Operation("mul.lo.u32 {d}, {a}, {b};", lambda a, b, _: a * b & MASK),
    Operation("mul.hi.s32 {d}, {a}, {b};", lambda a, b, _: signed(a) * signed(b) >> 32 & MASK),
    Operation("mad.lo.u32 {d}, {a}, {b}, {c};", lambda a, b, c: (a * b + c) & MASK),
    Operation("or.b32 t, {b}, 1;\ndiv.u32 {d}, {a}, t;", lambda a, b, _: a // (b | 1)),
    Operation("or.b32 t, {b}, 1;\nrem.u32 {d}, {a}, t;", lambda a, b, _: a % (b | 1)),
    Operation("min.s32 {d}, {a}, {b};", lambda a, b, _: min(a, b, key=signed)),
    Operation("max.u32 {d}, {a}, {b};", lambda a, b, _: max(a, b)),
    Operation("abs.s32 {d}, {a};", lambda a, _b, _c: abs(signed(a)) & MASK),
    Operation("xor.b32 {d}, {a}, {b};", lambda a, b, _: a ^ b),
    Operation("lop3.b32 {d}, {a}, {b}, {c}, 0xE8;", lambda a, b, c: (a & b) | (a & c) | (b & c)),
    Operation("and.b32 t, {b}, 63;\nshl.b32 {d}, {a}, t;", lambda a, b, _: shift_left(a, b & 63)),
    Operation(
        "and.b32 t, {b}, 63;\nshr.s32 {d}, {a}, t;",
        lambda a, b, _: signed(a) >> min(b & 63, 31) & MASK,
    ),
    Operation(
        "shf.l.wrap.b32 {d}, {a}, {b}, {c};", lambda a, b, c: (b << 32 | a) << (c & 31) >> 32 & MASK
    ),
    Operation("popc.b32 {d}, {a};", lambda a, _b, _c: a.bit_count()),
    Operation("clz.b32 {d}, {a};", lambda a, _b, _c: 32 - a.bit_length()),
    Operation("brev.b32 {d}, {a};", lambda a, _b, _c: int(f"{a:032b}"[::-1], 2)),
    Operation("bfe.u32 {d}, {a}, 5, 9;", lambda a, _b, _c: a >> 5 & 0x1FF),
    Operation(
        "bfi.b32 {d}, {a}, {b}, 11, 7;", lambda a, b, _: (b & ~(0x7F << 11)) | (a & 0x7F) << 11
    ),
    Operation("prmt.b32 {d}, {a}, {b}, {c};", permute),
    Operation(
        "setp.lt.s32 p, {a}, {b};\nselp.b32 {d}, {b}, {c}, p;",
        lambda a, b, c: b if signed(a) < signed(b) else c,
    ),
    Operation("mul.wide.u32 q, {a}, {b};\nmov.b64 {{t, {d}}}, q;", lambda a, b, _: a * b >> 32),
    Operation("call (t), mix, ({a}, {b});\nmov.u32 {d}, t;", lambda a, b, _: mix(a, b)),
    floats("add.rn.f32 fa, fa, fb;", lambda a, b, _: single(a + b)),
    floats("mul.rn.f32 fa, fa, fb;", lambda a, b, _: single(a * b)),
    floats("fma.rn.f32 fa, fa, fb, fc;", fused),
    floats("max.f32 fa, fa, fb;", lambda a, b, _: max(a, b)),
)

COMPARISONS = {
    "lt.s32": lambda a, b: signed(a) < signed(b),
    "ge.u32": lambda a, b: a >= b,
    "ne.s32": lambda a, b: a != b,
    "eq.u32": lambda a, b: a == b,
}

HEADER = """.version 7.8
.target sm_70
.address_size 64
.func (.reg .u32 result) mix(.reg .u32 a, .reg .u32 b)
{
.reg .u32 x;
shr.u32 x, b, 7;
xor.b32 x, x, a;
mad.lo.u32 result, x, 0x9E3779B1, b;
ret;
}
.visible .entry program(.param .u64 out)
{
.reg .b32 r<8>, t, u, v, n<64>;
.reg .f32 fa, fb, fc;
.reg .b64 q, at;
.reg .pred p, g;
.shared .align 4 .b32 shared[128];
mov.u32 t, %ctaid.x;
mov.u32 u, %tid.x;
mad.lo.u32 v, t, 96, u;
"""
FOOTER = """END:
ld.param.u64 at, [out];
mad.wide.u32 at, v, 32, at;
"""


class Program:
    """One random program, made from a seed."""

    operations = OPERATIONS
    header = HEADER

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._labels = 0
        self._counters = 0
        self._lines: list[str] = []
        self._values = [
            [
                (thread + block * THREADS) * 0x01000193 * (r + 1) + seed & MASK
                for r in range(REGISTERS)
            ]
            for block in range(BLOCKS)
            for thread in range(THREADS)
        ]
        for register in range(REGISTERS):
            self._lines.append(f"mul.lo.u32 r{register}, v, {0x01000193 * (register + 1) & MASK};")
            self._lines.append(f"add.u32 r{register}, r{register}, {seed & MASK};")
        self._gone: set[int] = set()
        self._may_leave = False
        everyone = list(range(len(self._values)))
        for _ in range(self._random.randrange(4, 9)):
            choice = self._random.random()
            if choice < 0.4:
                self._together()
            elif choice < 0.5:
                self._loop_together(everyone)
            else:
                self._statement(everyone, 0)
        self._may_leave = True
        for _ in range(self._random.randrange(3)):
            self._statement(everyone, 0)

    @property
    def text(self) -> str:
        """The PTX of a module with the kernel `program`."""
        stores = "".join(f"st.global.u32 [at+{4 * r}], r{r};\n" for r in range(REGISTERS))
        return self.header + "\n".join(self._lines) + "\n" + FOOTER + stores + "ret;\n}\n"

    @property
    def expected(self) -> bytes:
        """The expected output of the kernel: the registers of each thread."""
        return b"".join(struct.pack(f"={REGISTERS}I", *registers) for registers in self._values)

    def _register(self) -> int:
        return self._random.randrange(REGISTERS)

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _statement(self, threads: list[int], depth: int) -> None:
        threads = [t for t in threads if t not in self._gone]
        choice = self._random.random()
        if depth < MAX_DEPTH and choice < 0.2:
            self._branch(threads, depth)
        elif depth < MAX_DEPTH and choice < 0.25:
            self._switch(threads, depth)
        elif depth < MAX_DEPTH and choice < 0.4 and self._counters < MAX_COUNTERS:
            self._loop(threads, depth)
        elif self._may_leave and choice > 0.9:
            self._gone |= self._condition(threads)
            self._lines.append("@p bra END;")
        else:
            self._compute(threads)

    def _compute(self, threads: list[int]) -> None:
        operation = self._random.choice(self.operations)
        d, a, b, c = (self._register() for _ in range(4))
        names = {"d": f"r{d}", "a": f"r{a}", "b": f"r{b}", "c": f"r{c}"}
        if "{label}" in operation.text:
            names["label"] = self._label()
        self._lines.append(operation.text.format(**names))
        for thread in threads:
            values = self._values[thread]
            last = thread % THREADS if operation.reads_thread else values[c]
            values[d] = operation.function(values[a], values[b], last)

    def _condition(self, threads: list[int]) -> set[int]:
        """Emit a comparison into p; return the threads for which it is true."""
        name = self._random.choice(list(COMPARISONS))
        a, b = self._register(), self._register()
        self._lines.append(f"setp.{name} p, r{a}, r{b};")
        holds = COMPARISONS[name]
        return {t for t in threads if holds(self._values[t][a], self._values[t][b])}

    def _branch(self, threads: list[int], depth: int) -> None:
        taken = self._condition(threads)
        other, end = self._label(), self._label()
        self._lines.append(f"@!p bra {other};")
        for _ in range(self._random.randrange(1, 4)):
            self._statement([t for t in threads if t in taken], depth + 1)
        self._lines += [f"bra {end};", f"{other}:"]
        for _ in range(self._random.randrange(3)):
            self._statement([t for t in threads if t not in taken], depth + 1)
        self._lines.append(f"{end}:")

    def _switch(self, threads: list[int], depth: int) -> None:
        """Emit a branch to one of three places, by a register."""
        chosen = self._register()
        labels = [self._label() for _ in range(3)]
        table, end = self._label(), self._label()
        self._lines += [f"{table}: .branchtargets {', '.join(labels)};"]
        self._lines += [f"rem.u32 t, r{chosen}, 3;", f"brx.idx t, {table};"]
        goes_to = {t: self._values[t][chosen] % 3 for t in threads}
        for place, label in enumerate(labels):
            self._lines.append(f"{label}:")
            self._statement([t for t in threads if goes_to[t] == place], depth + 1)
            self._lines.append(f"bra {end};")
        self._lines.append(f"{end}:")

    def _loop(self, threads: list[int], depth: int) -> None:
        """Emit a loop; each thread makes its own number of rounds."""
        bound, watched = self._register(), self._register()
        most = 7 >> depth
        start, end = self._label(), self._label()
        counter = self._counter()
        self._lines += [f"and.b32 {counter}, r{bound}, {most};", f"{start}:"]
        self._lines += [f"setp.eq.u32 p, {counter}, 0;", f"@p bra {end};"]
        self._lines.append(f"sub.u32 {counter}, {counter}, 1;")
        left = {t: self._values[t][bound] & most for t in threads}

        def body(running: list[int]) -> list[int]:
            for t in running:
                left[t] -= 1
            for _ in range(1 + self._random.randrange(3)):
                self._statement(running, depth + 1)
            self._lines += [f"and.b32 t, r{watched}, 31;", "setp.eq.u32 p, t, 17;"]
            self._lines.append(f"@p bra {end};")
            return [
                t
                for t in running
                if t not in self._gone and left[t] and self._values[t][watched] & 31 != 17
            ]

        self._repeat([t for t in threads if left[t]], body)
        self._lines += [f"bra {start};", f"{end}:"]

    def _loop_together(self, everyone: list[int]) -> None:
        """Emit a loop in which all threads are together, so that it may contain barriers."""
        rounds = left = self._random.randrange(1, 4)
        start, counter = self._label(), self._counter()
        self._lines += [f"mov.u32 {counter}, {rounds};", f"{start}:"]

        def body(running: list[int]) -> list[int]:
            nonlocal left
            left -= 1
            self._together()
            self._statement(running, 1)
            return running if left else []

        self._repeat(everyone, body)
        self._lines += [f"sub.u32 {counter}, {counter}, 1;", f"setp.ne.u32 p, {counter}, 0;"]
        self._lines.append(f"@p bra {start};")

    def _counter(self) -> str:
        self._counters += 1
        return f"n{self._counters - 1}"

    def _repeat(self, running: list[int], body: Callable[[list[int]], list[int]]) -> None:
        """Emit the body of a loop once, but evaluate it in every round, with the same choices."""
        before = (self._random.getstate(), self._labels, self._counters)
        emitted = None
        while running or emitted is None:
            choices, self._labels, self._counters = before
            self._random.setstate(choices)
            running = body(running)
            emitted = emitted or len(self._lines)
            del self._lines[emitted:]

    # ---- where all threads are together

    def _together(self) -> None:
        d, a = self._register(), self._register()
        kind = self._random.randrange(6)
        before = [values[a] for values in self._values]
        lanes = range(len(self._values))
        if kind == 0:
            distance = self._random.randrange(1, THREADS)
            self._exchange(d, a, distance)
            for t in lanes:
                block, thread = divmod(t, THREADS)
                self._values[t][d] = before[block * THREADS + (thread + distance) % THREADS]
        elif kind == 1:
            mode = self._random.choice(["bfly", "idx", "up", "down"])
            amount = self._random.randrange(1, 32)
            clamp = 0 if mode == "up" else 31
            self._lines.append(f"shfl.sync.{mode}.b32 r{d}, r{a}, {amount}, {clamp}, -1;")
            for t in lanes:
                lane, first = t % 32, t // 32 * 32
                source = {
                    "bfly": lane ^ amount,
                    "idx": amount,
                    "up": lane - amount if lane >= amount else lane,
                    "down": lane + amount if lane + amount < 32 else lane,
                }[mode]
                self._values[t][d] = before[first + source]
        elif kind == 2:
            holds = self._condition(list(lanes))
            self._lines.append(f"vote.sync.ballot.b32 r{d}, p, -1;")
            for t in lanes:
                first = t // 32 * 32
                self._values[t][d] = sum(1 << k for k in range(32) if first + k in holds)
        elif kind == 3:
            self._shuffle_some(d, a, before)
        elif kind == 4:
            self._accumulate(d, a)
            for t in lanes:
                first = t // THREADS * THREADS
                group = [before[first + k] for k in range(THREADS) if k % 8 == t % 8]
                self._values[t][d] = sum(group) & MASK
        else:
            holds = self._condition(list(lanes))
            self._lines.append(f"barrier.sync 0;\nbarrier.red.popc.u32 r{d}, 0, p;")
            for t in lanes:
                first = t // THREADS * THREADS
                self._values[t][d] = sum(first <= other < first + THREADS for other in holds)

    def _shuffle_some(self, d: int, a: int, before: list[int]) -> None:
        """Let some threads take what the first of them in their warp has."""
        holds = self._condition(list(range(len(self._values))))
        end = self._label()
        self._lines += ["vote.sync.ballot.b32 u, p, -1;", f"@!p bra {end};"]
        self._lines += ["brev.b32 t, u;", "clz.b32 t, t;"]
        self._lines += [f"shfl.sync.idx.b32 r{d}, r{a}, t, 31, u;", f"{end}:"]
        for t in holds:
            first = t // 32 * 32
            self._values[t][d] = before[min(k for k in range(first, first + 32) if k in holds)]

    def _exchange(self, d: int, a: int, distance: int) -> None:
        self._lines += ["mov.u32 u, %tid.x;", "shl.b32 t, u, 2;", "mov.u32 n63, shared;"]
        self._lines += ["add.u32 t, t, n63;", "barrier.sync 0;", f"st.shared.u32 [t], r{a};"]
        self._lines += [
            "barrier.sync 0;",
            f"add.u32 u, u, {distance};",
            f"rem.u32 u, u, {THREADS};",
        ]
        self._lines += ["shl.b32 t, u, 2;", "add.u32 t, t, n63;", f"ld.shared.u32 r{d}, [t];"]

    def _accumulate(self, d: int, a: int) -> None:
        self._lines += ["mov.u32 u, %tid.x;", "and.b32 t, u, 7;", "shl.b32 t, t, 2;"]
        self._lines += ["mov.u32 n63, shared;", "add.u32 t, t, n63;", "barrier.sync 0;"]
        self._lines += ["st.shared.u32 [t], 0;", "barrier.sync 0;"]
        self._lines += [f"red.shared.add.u32 [t], r{a};", "barrier.sync 0;"]
        self._lines.append(f"ld.shared.u32 r{d}, [t];")
