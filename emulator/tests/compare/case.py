# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Buffers, launches, expectations and results, for writing cases of the corpus.

A case launches kernels of one source, compares what they wrote with what the CPU computes, and
keeps results. These are compared with the recorded results of a GPU.
"""

from __future__ import annotations

import hashlib
import math
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from driver import Device, DriverError, Module, Shape, argument

Number = int | float


class CaseError(Exception):
    """A kernel wrote something other than expected."""


@dataclass(frozen=True)
class Case:
    """One case: a function that drives kernels of one source."""

    source: str
    name: str
    body: Callable[[Run], None]
    oldest: int  # the first architecture whose PTX has the kernels

    @property
    def key(self) -> str:
        """The name of the case in the recorded file."""
        return f"{self.source}.{self.name}"


CASES: list[Case] = []


def case(source: str, oldest: int = 0) -> Callable[[Callable[[Run], None]], Callable[[Run], None]]:
    """Register a function as a case of corpus/<source>.cu."""

    def register(body: Callable[[Run], None]) -> Callable[[Run], None]:
        CASES.append(Case(source, body.__name__, body, oldest))
        return body

    return register


class Buffer:
    """Device memory with numbers of one kind, a letter of the struct module (H: 16 bits)."""

    def __init__(self, device: Device, kind: str, values: Sequence[Number]) -> None:
        self._device = device
        self.kind = kind
        self.count = len(values)
        self.address = device.allocate(pack(kind, values))

    def read(self) -> list[Number]:
        """Wait for the device and return the numbers."""
        return unpack(self.kind, self.read_bytes())

    def read_bytes(self) -> bytes:
        """Wait for the device and return the bytes."""
        return self._device.read(self.address, self.count * struct.calcsize(self.kind))


class Run:
    """One run of a case: one module on one device."""

    def __init__(self, device: Device, module: Module, key: str, architecture: int) -> None:
        self.device = device
        self.module = module
        self.architecture = architecture
        self.random = random.Random(key)
        self.results: dict[str, object] = {}
        self.is_over = False
        self._buffers: list[Buffer] = []

    def buffer(self, kind: str, values: Sequence[Number]) -> Buffer:
        """Make device memory with these values."""
        self._buffers.append(Buffer(self.device, kind, values))
        return self._buffers[-1]

    def zeros(self, kind: str, count: int) -> Buffer:
        """Make device memory of zeros."""
        return self.buffer(kind, [0] * count)

    def launch(
        self, kernel: str, *arguments: Buffer | tuple[str, Number], **shape: int | bool
    ) -> None:
        """Launch a kernel and wait for it; plain arguments are pairs of kind and value."""
        packed = [
            argument(each.address) if isinstance(each, Buffer) else argument(each[1], each[0])
            for each in arguments
        ]
        self.module.launch(kernel, Shape(**shape), packed)
        self.device.synchronize()

    def expect(self, name: str, got: Buffer | Sequence[Number], expected: Sequence[Number]) -> None:
        """Compare bit for bit with the CPU's values, and keep a digest as a result."""
        kind = got.kind if isinstance(got, Buffer) else "d"
        values = got.read() if isinstance(got, Buffer) else list(got)
        if len(values) != len(expected):
            raise CaseError(f"{name}: {len(values)} values, expected {len(expected)}")
        for index, (value, wanted) in enumerate(zip(values, expected)):
            if pack(kind, [value]) != pack(kind, [wanted]):
                raise CaseError(f"{name}[{index}] is {value}, expected {wanted}")
        self.keep(name, pack(kind, values))

    def expect_close(
        self,
        name: str,
        got: Buffer,
        expected: Sequence[Number],
        relative: float,
        absolute: float = 0.0,
    ) -> None:
        """Compare within a tolerance, and keep the values, which may differ in their last bits."""
        values = got.read()
        for index, (value, wanted) in enumerate(zip(values, expected)):
            if not is_close(value, wanted, relative, absolute):
                raise CaseError(f"{name}[{index}] is {value}, expected {wanted}")
        self.results[name] = {
            "relative": relative,
            "absolute": absolute,
            "values": [round_for_file(value) for value in values],
        }

    def keep(self, name: str, content: bytes) -> None:
        """Keep a result that the CPU did not compute; it must equal the recorded one."""
        self.results[name] = hashlib.sha256(content).hexdigest()[:16]

    def reset(self) -> None:
        """Reset the device after a kernel that was meant to fail; the module is unloaded."""
        self.device.reset()
        self._buffers.clear()
        self.is_over = True

    def close(self) -> None:
        """Free the device memory."""
        for buffer in self._buffers:
            self.device.free(buffer.address)
        self._buffers.clear()


def compare_results(recorded: dict[str, object], results: dict[str, object]) -> list[str]:
    """Return a line for each result that differs from the recorded one."""
    differences = []
    for name, result in results.items():
        wanted = recorded.get(name)
        if wanted is None:
            differences.append(f"{name} was not recorded")
        elif isinstance(result, dict) and isinstance(wanted, dict):
            for index, (a, b) in enumerate(zip(result["values"], wanted["values"])):
                # Both values may be off by the tolerance, in opposite directions.
                if not is_close(a, b, 2 * result["relative"], 2 * result["absolute"]):
                    differences.append(f"{name}[{index}] is {a}, recorded {b}")
                    break
        elif result != wanted:
            differences.append(f"{name} is {result}, recorded {wanted}")
    return differences


def is_close(a: Number, b: Number, relative: float, absolute: float) -> bool:
    """Compare two numbers; NaN equals NaN."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return math.isclose(a, b, rel_tol=relative, abs_tol=absolute)


def round_for_file(value: Number) -> Number:
    """Drop the digits that a recorded value does not need."""
    return value if isinstance(value, int) else float(f"{value:.12g}")


def pack(kind: str, values: Sequence[Number]) -> bytes:
    """Return numbers as bytes for the device."""
    return struct.pack(f"={len(values)}{kind}", *values)


def unpack(kind: str, content: bytes) -> list[Number]:
    """Return the numbers that bytes from the device represent."""
    count = len(content) // struct.calcsize(kind)
    return list(struct.unpack(f"={count}{kind}", content))


def single(value: float) -> float:
    """Round to the nearest single-precision number."""
    try:
        return struct.unpack("=f", struct.pack("=f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def half(value: float) -> float:
    """Round to the nearest half-precision number."""
    try:
        return struct.unpack("=e", struct.pack("=e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def bfloat(value: float) -> float:
    """Round to the nearest bfloat16 number; the value must be exact in double precision."""
    if value == 0 or not math.isfinite(value):
        return value
    mantissa, exponent = math.frexp(value)
    # Python rounds halves to even, like the device.
    return math.ldexp(round(math.ldexp(mantissa, 8)), exponent - 8)


def bfloat_bits(value: float) -> int:
    """Return the 16 bits of a bfloat16 number."""
    return struct.unpack("=I", struct.pack("=f", value))[0] >> 16


def bfloat_value(bits: int) -> float:
    """Return the bfloat16 number that 16 bits represent."""
    return struct.unpack("=f", struct.pack("=I", bits << 16))[0]


def signed(value: int, bits: int = 32) -> int:
    """Wrap an integer to a signed one."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def expect_refusal(run_it: Callable[[], object], code: int, *words: str) -> None:
    """Expect a driver error with this code whose text contains these words."""
    try:
        run_it()
    except DriverError as error:
        missing = [word for word in words if word not in str(error)]
        if error.code != code or missing:
            raise CaseError(f"expected {code} with {words}, got: {error}") from None
        return
    raise CaseError(f"expected error {code}, but it succeeded")
