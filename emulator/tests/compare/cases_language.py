# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Cases of the plain language: memory, calls, printing, numeric functions."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from case import (
    CaseError,
    Run,
    bfloat,
    bfloat_bits,
    bfloat_value,
    case,
    expect_refusal,
    half,
    signed,
    single,
)
from driver import captured_output

ASSERT_CODE = 710


@case("basics")
def saxpy(run: Run) -> None:
    n = 1000
    x = [single(run.random.uniform(-9, 9)) for _ in range(n)]
    y = [float(i) for i in range(n)]
    there = run.buffer("f", y)
    run.launch("saxpy", ("f", 2.0), run.buffer("f", x), there, ("i", n), grid=8, block=128)
    run.expect("y", there, [single(2.0 * a + b) for a, b in zip(x, y)])


@case("basics")
def tables(run: Run) -> None:
    coefficients = [1.0, 0.5, 0.25, 0.125, 0, 0, 0, 0]
    for which in range(4):
        out = run.zeros("f", 256)
        run.launch("tables", out, ("i", which), grid=1, block=256, shared_bytes=1024)
        table = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]][which % 3][which & 3]
        first = ord("hlt"[which % 3])
        value = coefficients[which] + table + 7 + first + 7 + 3
        run.expect(f"out {which}", out, [value] * 256)


@case("basics")
def choose(run: Run) -> None:
    values = [run.random.randrange(-(2**31), 2**31) for _ in range(64)] + [0, 1, -1, -(2**31)]
    choices = {
        0: lambda v: signed(v + 1),
        1: lambda v: signed(v * 3),
        2: lambda v: v ^ 0x55,
        3: lambda v: int(math.copysign(abs(v) // 7, v)),
        4: lambda v: int(math.copysign(abs(v) % 11, v)),
        5: lambda v: bin(v & 0xFFFFFFFF).count("1"),
        6: lambda v: 32 - (v & 0xFFFFFFFF).bit_length(),
        7: lambda v: signed(-v),
        8: lambda _: 0,
    }
    for which, function in choices.items():
        there = run.buffer("i", values)
        run.launch("choose", there, ("i", which), block=len(values))
        run.expect(f"out {which}", there, [function(v) for v in values])


@case("basics")
def vectors(run: Run) -> None:
    pairs = [run.random.randrange(1, 2**16) for _ in range(128)]
    out, wide, big = run.zeros("f", 256), run.zeros("d", 64), run.zeros("q", 64)
    run.launch("vectors", out, run.buffer("i", pairs), wide, big, block=64)
    x, y = pairs[0::2], pairs[1::2]
    flat = [single(v) for a, b in zip(x, y) for v in (a, b, a + b, a * 1.5)]
    run.expect("out", out, flat)
    run.expect("wide", wide, [math.sqrt(a) / 3.0 for a in x])
    run.expect("big", big, [a * b >> (a & 63) for a, b in zip(x, y)])


@case("basics")
def spaces(run: Run) -> None:
    for which, kind in enumerate((1, 2, 4, 8, 1)):
        out = run.zeros("i", 2)
        run.launch("spaces", out, ("i", which), block=1)
        run.expect(f"out {which}", out, [kind, which + ((which + 1) & 3)])


@case("calls")
def shapes(run: Run) -> None:
    for which, area in ((1, 4.0), (0, single(4 * single(3.14159)))):
        out = run.zeros("f", 1)
        run.launch("shapes", out, ("i", which), block=1)
        run.expect(f"area {which}", out, [area])


@case("calls")
def calls(run: Run) -> None:
    out = run.buffer("f", [1.5, 0, 3, 4, 0, 0])
    big = run.buffer("B", struct.pack("=6id", *range(6), 1.25))
    with captured_output() as printed:
        run.launch("calls", out, big, ("i", 3), block=1)
    run.expect("out", out, [1.5, 12, 3, 4, 9, 3])
    run.expect("big", big, struct.pack("=6id", 3, 4, 5, 6, 7, 8, 2.5))
    if printed[0] != "which 3 of 1.500000 text\n":
        raise CaseError(f"printed {printed[0]!r}")
    run.keep("printed", printed[0].encode())


@case("calls")
def failing(run: Run) -> None:
    """Fail an assertion; this must be the last case of its source, because it ends the context.

    On a GPU it also makes the device unusable for the process, so the case is skipped there.
    """
    if not run.device.is_emulated:
        return
    out = run.zeros("f", 6)
    big = run.zeros("d", 4)
    expect_refusal(
        lambda: run.launch("calls", out, big, ("i", -1), block=1), ASSERT_CODE, "cuCtxSynchronize"
    )
    run.reset()


@case("functions")
def sort_slices(run: Run) -> None:
    length, threads = 17, 64
    values = [run.random.randrange(1000) for _ in range(length * threads)]
    there = run.buffer("i", values)
    run.launch("sort_slices", there, ("i", length), grid=2, block=32)
    slices = [sorted(values[i : i + length]) for i in range(0, len(values), length)]
    run.expect("sorted", there, [v for each in slices for v in each])


@case("functions")
def parities(run: Run) -> None:
    out = run.zeros("i", 64)
    run.launch("parities", out, block=64)
    run.keep("out", out.read_bytes())


@case("functions")
def objects(run: Run) -> None:
    out = run.zeros("d", 64)
    run.launch("objects", out, block=64)
    run.keep("out", out.read_bytes())


@case("functions")
def mixes(run: Run) -> None:
    out = run.zeros("I", 64)
    run.launch("mixes", out, ("I", 9), block=64)
    run.keep("out", out.read_bytes())


@case("functions")
def warp_sums(run: Run) -> None:
    out = run.zeros("i", 64)
    run.launch("warp_sums", out, block=64)
    sums = [sum(range(32)), sum(range(32, 64))]
    run.expect("out", out, [sums[t // 32] * 1000 + 5 * 64 for t in range(64)])


@case("functions")
def count_over_grid(run: Run) -> None:
    total, out = run.zeros("i", 1), run.zeros("i", 128)
    run.launch("count_over_grid", total, out, grid=4, block=32, is_cooperative=True)
    run.expect("out", out, [128] * 128)


HALVES = [0.0, -0.0, 1.0, -1.5, 2.75, 1000.0, -0.125, 65504.0, 6e-5, 6e-8, 3.14, -77.0]


@case("halves")
def half_arithmetic(run: Run) -> None:
    a = [half(v) for v in HALVES for _ in HALVES]
    b = [half(v) for _ in HALVES for v in HALVES]
    pairs = [(x, y) for x, y in zip(a, b) if y != 0]
    out = run.zeros("e", 12 * len(pairs))
    run.launch(
        "half_arithmetic",
        run.buffer("e", [x for x, _ in pairs]),
        run.buffer("e", [y for _, y in pairs]),
        out,
        block=len(pairs),
    )
    expected = []
    for x, y in pairs:
        saturated = min(max(half(x + y), 0.0), 1.0)
        low = min((x, y), key=lambda v: (v, math.copysign(1, v)))
        high = max((x, y), key=lambda v: (v, math.copysign(1, v)))
        expected += [half(x + y), half(x - y), half(x * y), half(exact_fma(x, y, x)), half(x / y)]
        expected += [low, high, -abs(x), saturated]
        expected += [half(exact_fma(x, y, x)), half(exact_fma(y, x, x)), half(math.sqrt(abs(x)))]
    # The sign of a zero after saturation is not documented, so it is only recorded.
    expected = [0.0 if v == 0 and i % 12 == 8 else v for i, v in enumerate(expected)]
    run.expect("out", out, expected)


@case("halves")
def half_comparisons(run: Run) -> None:
    values = [*HALVES, math.nan, math.inf]
    a = [half(v) for v in values for _ in values]
    b = [half(v) for _ in values for v in values]
    out = run.zeros("i", len(a))
    run.launch("half_comparisons", run.buffer("e", a), run.buffer("e", b), out, block=len(a))
    expected = []
    for x, y in zip(a, b):
        both = x >= y and y >= y
        expected.append(
            int(x == y)
            | int(x < y) << 1
            | int(x >= y) << 2
            | int(x != y) << 3
            | int(math.isnan(x)) << 4
            | int(both) << 5
            | int(x < y) << 6
        )
    run.expect("out", out, expected)


@case("halves")
def half_conversions(run: Run) -> None:
    values = [0.1, -0.1, 1.0, 2049.0, 2051.0, -3.3, 65519.0, 65520.0, 1e6, 1e-7, 3e-8, 1e-30, -7.5]
    values = [single(v) for v in values]
    out, whole = run.zeros("H", 6 * len(values)), run.zeros("i", 2 * len(values))
    run.launch("half_conversions", run.buffer("f", values), out, whole, block=len(values))
    got = out.read()
    for i, value in enumerate(values):
        nearest = struct.unpack("=H", struct.pack("=e", half(value)))[0]
        if got[i * 6] != nearest or got[i * 6 + 4] != bfloat_bits(bfloat(value)):
            raise CaseError(f"{value} becomes {got[i * 6]:x} and {got[i * 6 + 4]:x}")
        down, up = (struct.unpack("=e", struct.pack("=H", got[i * 6 + k]))[0] for k in (3, 2))
        if not down <= value <= up:
            raise CaseError(f"{value} is not between {down} and {up}")
    numbers = [min(max(half(v), -(2**31)), 2**31 - 1) for v in values]
    run.expect("whole", whole, [w for v in numbers for w in (int(v), round(v))])
    run.keep("out", out.read_bytes())


@case("halves")
def half_functions(run: Run) -> None:
    values = [half(v) for v in (0.25, 0.5, 1.0, 1.75, 2.5, 3.0, 5.5, 7.0)]
    out = run.zeros("f", 8 * len(values))
    run.launch("half_functions", run.buffer("e", values), out, block=len(values))
    expected = []
    for x in values:
        expected += [math.exp(x), math.log(x), math.sin(x), math.cos(x), 1 / x, x**-0.5, 2**x]
        expected += [math.floor(x) + math.ceil(x) + round(x)]
    run.expect_close("out", out, expected, relative=2e-3, absolute=1e-3)


@case("halves")
def bfloat_arithmetic(run: Run) -> None:
    values = [bfloat(single(v)) for v in (1.0, -1.5, 2.75, 1000.0, -0.125, 3.14, 1e15, -7e-5)]
    a = [v for v in values for _ in values]
    b = [v for _ in values for v in values]
    out = run.zeros("H", 8 * len(a))
    run.launch(
        "bfloat_arithmetic",
        run.buffer("H", [bfloat_bits(v) for v in a]),
        run.buffer("H", [bfloat_bits(v) for v in b]),
        out,
        block=len(a),
    )
    expected = []
    for x, y in zip(a, b):
        results = [exact_sum(x, y), exact_sum(x, -y), bfloat(x * y), exact_product_sum(x, y, x)]
        expected += [*results, min(x, y), max(x, y), -x, bfloat(2 * y)]
    got = [bfloat_value(bits) for bits in out.read()]
    run.expect("out", got, expected)


def exact_fma(a: float, b: float, c: float) -> float:
    """Return a * b + c rounded once to double, which is exact enough for halves."""
    total = Fraction(a) * Fraction(b) + Fraction(c)
    return float(total) if total else a * b + c


def exact_sum(a: float, b: float) -> float:
    """Round a + b once to bfloat16."""
    return exact_product_sum(a, 1.0, b)


def exact_product_sum(a: float, b: float, c: float) -> float:
    """Round a * b + c once to bfloat16."""
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if not total:
        return a * b + c
    scale = 0
    while abs(total) >= 256:
        total /= 2
        scale += 1
    while abs(total) < 128:
        total *= 2
        scale -= 1
    return math.ldexp(round(total), scale)


NUMBERS = [0.0078125, 0.1, 0.5, 0.9, 1.0, 1.5, 2.0, 3.14159, 5.5, 9.75, 12.0, 20.0]


@case("math")
def singles(run: Run) -> None:
    values = [single(v) for v in NUMBERS]
    out = run.zeros("f", 16 * len(values))
    run.launch("singles", run.buffer("f", values), out, block=len(values))
    expected = []
    for x in values:
        expected += [math.sin(x), math.cos(x), math.tan(x * 0.25), math.exp(x), math.log(x)]
        expected += [x ** single(1.7), math.sqrt(x), x ** (1 / 3), math.tanh(x), math.erf(x)]
        expected += [math.atan2(x, 2.0), math.asinh(x), math.log1p(x), math.expm1(x)]
        expected += [math.lgamma(x), math.fmod(single(x * 100.0), 3.0)]
    run.expect_close("out", out, expected, relative=2e-6, absolute=5e-7)


@case("math")
def doubles(run: Run) -> None:
    out = run.zeros("d", 12 * len(NUMBERS))
    run.launch("doubles", run.buffer("d", NUMBERS), out, block=len(NUMBERS))
    expected = []
    for x in NUMBERS:
        expected += [math.sin(x), math.cos(x), math.exp(x), math.log(x), x**1.7, math.sqrt(x)]
        expected += [x ** (1 / 3), math.tanh(x), math.erf(x), math.atan2(x, 2.0), math.gamma(x)]
        expected += [math.fmod(x * 100.0, 3.0)]
    run.expect_close("out", out, expected, relative=1e-14, absolute=1e-15)


@case("math")
def exact_functions(run: Run) -> None:
    values = [single(v) for v in (*NUMBERS, -0.7, -2.5, 1e-40, 1e30, -1e-3)]
    out, far = run.zeros("f", 12 * len(values)), run.zeros("d", 6 * len(values))
    run.launch(
        "exact_functions",
        run.buffer("f", values),
        run.buffer("d", [v * 1.000000001 for v in values]),
        out,
        far,
        block=len(values),
    )
    got = out.read()
    for i, x in enumerate(values):
        mine = got[i * 12 : i * 12 + 12]
        if (x < 1e30 and mine[3] != single(x / single(3.3))) or mine[4] != single(
            math.sqrt(abs(x))
        ):
            raise CaseError(f"division and root of {x} are {mine[3]}, {mine[4]}")
        if mine[6:9] != [float(v) for v in (math.floor(x), round(x), int(x))]:
            raise CaseError(f"{x} is rounded to {mine[6:9]}")
    # The directed roundings are only recorded.
    run.keep("out", out.read_bytes())
    run.keep("far", far.read_bytes())


@case("math")
def rough(run: Run) -> None:
    values = [single(v) for v in NUMBERS if v < 10]
    out = run.zeros("f", 8 * len(values))
    run.launch("rough", run.buffer("f", values), out, block=len(values))
    expected = []
    for x in values:
        expected += [math.sin(x), math.cos(x), math.exp(x), math.log(x), x**1.7, x**-0.5, x / 3.3]
        expected += [math.tan(x * 0.25)]
    # The bounds of the manual: an absolute error for sin, cos and log, a relative one for the rest.
    run.expect_close("out", out, expected, relative=4e-6, absolute=4e-6)
