# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Cases of floating-point numbers with 8, 6 and 4 bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from case import CaseError, Run, case, half, single


@dataclass(frozen=True)
class Format:
    """A format: a sign, exponent bits, mantissa bits, and the codes that are not numbers."""

    exponent_bits: int
    mantissa_bits: int
    bias: int
    has_infinity: bool = False
    nan_code: int | None = None

    def value(self, code: int) -> float:
        """Return the number that a code represents."""
        bits = self.exponent_bits + self.mantissa_bits
        sign = -1.0 if code >> bits & 1 else 1.0
        magnitude = code & ((1 << bits) - 1)
        exponent, mantissa = (
            magnitude >> self.mantissa_bits,
            magnitude & ((1 << self.mantissa_bits) - 1),
        )
        if self.has_infinity and exponent == (1 << self.exponent_bits) - 1:
            return math.nan if mantissa else sign * math.inf
        if magnitude == self.nan_code:
            return math.nan
        if exponent == 0:
            return sign * math.ldexp(mantissa, 1 - self.bias - self.mantissa_bits)
        whole = mantissa + (1 << self.mantissa_bits)
        return sign * math.ldexp(whole, exponent - self.bias - self.mantissa_bits)

    def nearest(self, value: float) -> int:
        """Return the code of the nearest finite number; ties go to even codes."""
        bits = self.exponent_bits + self.mantissa_bits
        codes = [c for c in range(1 << bits) if math.isfinite(self.value(c))]
        best = min(codes, key=lambda c: (abs(self.value(c) - abs(value)), c & 1))
        return best | (1 << bits if math.copysign(1, value) < 0 else 0)


E4M3 = Format(4, 3, 7, nan_code=0x7F)
E5M2 = Format(5, 2, 15, has_infinity=True)
E2M3 = Format(2, 3, 1)
E3M2 = Format(3, 2, 3)
E2M1 = Format(2, 1, 1)


@case("small_floats")
def widened(run: Run) -> None:
    out = run.zeros("f", 6 * 256)
    run.launch("widened", out, block=256)
    got = out.read()
    for code in range(256):
        wanted = [E4M3.value(code), E5M2.value(code), E2M3.value(code & 63)]
        wanted += [E3M2.value(code & 63), E2M1.value(code & 15)]
        wanted += [math.nan if code == 255 else single(2.0 ** (code - 127))]
        for kind, (a, b) in enumerate(zip(got[code * 6 : code * 6 + 6], wanted)):
            if a != b and not (math.isnan(a) and math.isnan(b)):
                raise CaseError(f"code {code:#x} of kind {kind} is {a}, expected {b}")
    run.keep("out", out.read_bytes())


@case("small_floats")
def narrowed(run: Run) -> None:
    values = [0.0, -0.0, 1.0, -1.5, 0.3, 447.0, 448.0, 465.0, 1e9, -1e9, 57344.0, 61441.0]
    values += [2.0**-9, 2.0**-10, 3 * 2.0**-11, 1e-20, 0.0625, 0.25, 5.0, 7.25, 7.75, -27.0, 30.0]
    values += [run.random.uniform(-8, 8) for _ in range(64)]
    values += [run.random.uniform(-500, 500) for _ in range(64)]
    values = [single(v) for v in values]
    out = run.zeros("B", 8 * len(values))
    run.launch("narrowed", run.buffer("f", values), out, block=len(values))
    got = out.read()
    for i, value in enumerate(values):
        mine = got[i * 8 : i * 8 + 8]
        wanted = [E4M3.nearest(value), None, E5M2.nearest(value), E5M2.nearest(clamp(half(value)))]
        wanted += [E2M3.nearest(value), E3M2.nearest(value), E2M1.nearest(value), None]
        for kind, (a, b) in enumerate(zip(mine, wanted)):
            if b is not None and a != b:
                raise CaseError(f"{value} becomes {a:#x} in kind {kind}, expected {b:#x}")
    run.keep("out", out.read_bytes())


def clamp(value: float) -> float:
    """Clamp infinities, for the search for the nearest number."""
    return max(-1e9, min(1e9, value))
