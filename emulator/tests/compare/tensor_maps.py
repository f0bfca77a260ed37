# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Encode tensor maps at and beyond each limit, and record or compare the driver's result codes.

    tensor_maps.py --out FILE                 run on this GPU, write the codes
    tensor_maps.py --compare FILE             run, compare with recorded codes
    tensor_maps.py --driver LIBCUDA ...       use another driver, such as the emulated device

No kernel runs and nothing is written to the tensors. A line of the file holds the name of a group
of cases and one character for each code, see `LETTERS`.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from driver import Device

MAP_BYTES = 128
ALIGNMENT = 128
TENSOR_BYTES = 1 << 20

# Of each element type of CUtensorMapDataType: bits in global memory.
BITS = (8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6)
PACKED = range(13, 16)  # 16U4_ALIGN8B, 16U4_ALIGN16B, 16U6_ALIGN16B
WIDE_PACKED = range(14, 16)
UNKNOWN = 99  # no value of any enumeration

RANDOM_CASES = 6000  # of each kind
GROUP = 100
MOST_LINES = 60

LETTERS = {0: ".", 1: "V", 801: "N", 201: "C", 3: "I", 101: "D", 400: "H"}


@dataclass(frozen=True)
class Map:
    """The arguments of one call. Addresses are offsets into the tensor's memory."""

    kind: str  # tiled, im2col, wide or replace
    element: int = 7
    rank: int = 2
    address: int = 0
    dims: tuple[int, ...] = (64, 64, 64, 64, 64)
    strides: tuple[int, ...] = (256, 16384, 1 << 20, 1 << 26)
    box: tuple[int, ...] = (8, 8, 2, 2, 2)
    element_strides: tuple[int, ...] = (1, 1, 1, 1, 1)
    lower: tuple[int, ...] = (0, 0, 0)
    upper: tuple[int, ...] = (0, 0, 0)
    channels: int = 8
    pixels: int = 32
    interleave: int = 0
    mode: int = 0
    swizzle: int = 0
    l2_promotion: int = 0
    fill: int = 0
    map_offset: int = 0
    nulls: tuple[str, ...] = field(default=())
    base: str = "device"  # what `address` counts from: device, host, none

    def change(self, **values: object) -> Map:
        """Return a copy with other values."""
        return replace(self, **values)

    def set(self, name: str, index: int, value: int) -> Map:
        """Return a copy with one other value in an array."""
        values = list(getattr(self, name))
        values[index] = value
        return replace(self, **{name: tuple(values)})


TILED = Map("tiled")
IM2COL = Map("im2col", element=6, rank=4)
WIDE = Map("wide", element=6, rank=4, swizzle=3)


class Random:
    """A generator whose numbers do not depend on the version of Python."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 0x9E3779B97F4A7C15 + 1

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit` - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self._state >> 33) % limit

    def choose(self, values):
        """Return one of the values."""
        return values[self.below(len(values))]


class Encoder:
    """Calls the driver with the arguments of a `Map`."""

    def __init__(self, library: str) -> None:
        self._driver = ctypes.CDLL(library)
        self._memory = ctypes.create_string_buffer(2 * MAP_BYTES + ALIGNMENT)
        start = ctypes.addressof(self._memory)
        self._map = start + -start % ALIGNMENT
        self._host = ctypes.create_string_buffer(8192)
        self._bases = {"none": 0, "host": ctypes.addressof(self._host) + 4096 & ~4095}

    def use_device_memory(self) -> None:
        """Allocate the tensor. Needs a current context."""
        address = ctypes.c_uint64()
        code = self._driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(TENSOR_BYTES))
        if code != 0:
            raise RuntimeError(f"cuMemAlloc failed with {code}")
        self._bases["device"] = address.value

    def free_device_memory(self) -> None:
        """Free the tensor and keep its address."""
        self._driver.cuMemFree_v2(ctypes.c_uint64(self._bases["device"]))

    def fill_map(self, value: int) -> None:
        """Set all bytes of the map, so that it is no tensor map."""
        ctypes.memset(self._map, value, MAP_BYTES)

    def encode(self, case: Map) -> int:
        """Make the call and return its code."""

        def array(name: str, kind: type) -> object:
            values = getattr(case, name)
            return None if name in case.nulls else (kind * len(values))(*values)

        address = ctypes.c_void_p(self._bases.get(case.base, 0) + case.address)
        target = ctypes.c_void_p(None if "map" in case.nulls else self._map + case.map_offset)
        if case.kind == "replace":
            return self._driver.cuTensorMapReplaceAddress(target, address)
        shared = (
            target,
            ctypes.c_int(case.element),
            ctypes.c_uint32(case.rank),
            address,
            array("dims", ctypes.c_uint64),
            array("strides", ctypes.c_uint64),
        )
        steps = array("element_strides", ctypes.c_uint32)
        last = (case.swizzle, case.l2_promotion, case.fill)
        if case.kind == "tiled":
            box = array("box", ctypes.c_uint32)
            return self._driver.cuTensorMapEncodeTiled(*shared, box, steps, case.interleave, *last)
        extent = (ctypes.c_uint32(case.channels), ctypes.c_uint32(case.pixels), steps)
        if case.kind == "im2col":
            corners = (array("lower", ctypes.c_int), array("upper", ctypes.c_int))
            return self._driver.cuTensorMapEncodeIm2col(
                *shared, *corners, *extent, case.interleave, *last
            )
        return self._driver.cuTensorMapEncodeIm2colWide(
            *shared, case.lower[0], case.upper[0], *extent, case.interleave, case.mode, *last
        )


# ---- single variations --------------------------------------------------------------------------


def bases() -> Iterator[tuple[str, Map]]:
    """Yield one valid map for each kind, rank and interleave."""
    for rank in range(1, 6):
        yield f"tiled{rank}", TILED.change(rank=rank)
    for rank in range(3, 6):
        yield f"tiled{rank}x16", TILED.change(rank=rank, interleave=1)
        yield f"tiled{rank}x32", TILED.change(rank=rank, interleave=2, swizzle=1)
        yield f"im2col{rank}", IM2COL.change(rank=rank)
        yield f"im2col{rank}x32", IM2COL.change(rank=rank, interleave=2, swizzle=1)
        yield f"wide{rank}", WIDE.change(rank=rank)


def variations(base: Map) -> Iterator[tuple[str, Map]]:
    """Yield maps that differ from a valid one in one value."""
    yield "as it is", base
    for value in (0, 1, 2, 3, 4, 5, 6, 100):
        yield f"rank={value}", base.change(rank=value)
    for value in (*range(17), UNKNOWN, -1):
        yield f"element={value}", base.change(element=value)
        yield f"element={value} fill", base.change(element=value, fill=1)
    for value in (1, 2, 4, 8, 16, 32, 48, 64, 128):
        yield f"address={value}", base.change(address=value)
        yield f"map at {value}", base.change(map_offset=value)
    for place in ("none", "host"):
        yield f"address of {place}", base.change(base=place)
        yield f"address of {place} + 16", base.change(base=place, address=16)
    for power in (40, 44, 47, 48, 49, 52, 56, 57, 62, 63):
        yield f"address=2^{power}", base.change(base="none", address=1 << power)
    for name in ("interleave", "swizzle", "l2_promotion", "fill", "mode"):
        for value in (*range(9), UNKNOWN, -1):
            yield f"{name}={value}", base.change(**{name: value})
    for index in range(5):
        for value in (0, 1, 2, 3, 7, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 1 << 63):
            yield f"dims[{index}]={value}", base.set("dims", index, value)
        for value in (0, 1, 2, 4, 8, 16, 24, 128, 248, 255, 256, 257, 65536, (1 << 32) - 1):
            yield f"box[{index}]={value}", base.set("box", index, value)
        for value in (0, 1, 2, 3, 7, 8, 9, 16, 255, 256, (1 << 32) - 1):
            yield f"element_strides[{index}]={value}", base.set("element_strides", index, value)
    for index in range(4):
        for value in (
            *(0, 1, 8, 16, 32, 48, 64, 240, 248, 256, 4096, 16400, 16416),
            *((1 << 36) - 16, 1 << 36, (1 << 40) - 32, (1 << 40) - 16, 1 << 40, (1 << 40) + 16),
            (1 << 63),
        ):
            yield f"strides[{index}]={value}", base.set("strides", index, value)
    for value in (0, 1, 2, 4, 8, 12, 16, 24, 32, 64, 128, 255, 256, 257, 512, 65536):
        yield f"channels={value}", base.change(channels=value)
    for value in (0, 1, 2, 128, 255, 256, 257, 1023, 1024, 1025, 65536):
        yield f"pixels={value}", base.change(pixels=value)
    for index in range(3):
        for name in ("lower", "upper"):
            for value in (
                *(-32769, -32768, -129, -128, -127, -65, -64, -63, -62, -17, -16, -15, -1, 1, 2),
                *(14, 15, 16, 31, 62, 63, 64, 65, 126, 127, 128, 32767, 32768, -(1 << 31)),
            ):
                yield f"{name}[{index}]={value}", base.set(name, index, value)


def pairs() -> Iterator[tuple[str, Map]]:
    """Yield combinations that have rules of their own."""
    for element, swizzle, interleave in (
        (element, swizzle, interleave)
        for element in range(16)
        for swizzle in range(7)
        for interleave in range(3)
    ):
        for inner in (8, 16, 32, 64, 128, 256):
            name = f"element={element} swizzle={swizzle} interleave={interleave} inner={inner}"
            start = {"element": element, "swizzle": swizzle, "interleave": interleave, "rank": 4}
            yield f"tiled {name}", TILED.change(**start, dims=(256,) * 5).set("box", 0, inner)
            yield f"im2col {name}", IM2COL.change(**start, dims=(256,) * 5, channels=inner)
            yield f"wide {name}", WIDE.change(**start, dims=(256,) * 5, channels=inner)
    for element in PACKED:
        for value in (1, 2, 4, 16, 32, 64, 126, 128, 130, 192, 256, 384):
            yield (
                f"element={element} dims[0]={value}",
                TILED.change(element=element, box=(128, 8, 1, 1, 1)).set("dims", 0, value),
            )
            yield (
                f"element={element} box[0]={value}",
                TILED.change(element=element, dims=(256,) * 5).set("box", 0, value),
            )
        for value in (16, 32, 48, 64):
            aligned = TILED.change(element=element, dims=(256,) * 5, box=(128, 8, 1, 1, 1))
            yield f"element={element} address={value}", aligned.change(address=value)
            yield f"element={element} strides={value}", aligned.set("strides", 0, value)
    for box in ((256, 256, 1, 1, 1), (256, 256, 2, 1, 1), (64, 256, 4, 1, 1), (256,) * 5):
        for element in (0, 1, 7, 8):
            yield f"element={element} box={box}", TILED.change(element=element, rank=5, box=box)
    for step in range(1, 9):
        for box in (1, 2, 3, 7, 8, 256):
            yield (
                f"step={step} box={box}",
                TILED.change(box=(8, box, 1, 1, 1), element_strides=(1, step, 1, 1, 1)),
            )
            yield (
                f"step[0]={step} box={box}",
                TILED.change(
                    rank=3, interleave=1, box=(box, 8, 1, 1, 1), element_strides=(step, 1, 1, 1, 1)
                ),
            )
    for lower in (-4, -1, 0, 1, 30, 63, 64):
        for upper in (-64, -63, -30, -4, -1, 0, 1, 4):
            yield (
                f"lower={lower} upper={upper}",
                IM2COL.change(
                    lower=(lower,) * 3, upper=(upper,) * 3, rank=4, dims=(64, 64, 64, 64, 64)
                ),
            )
            yield (
                f"lower={lower} upper={upper} of one",
                IM2COL.change(lower=(lower, 0, 0), upper=(upper, 0, 0), rank=3),
            )


# ---- random maps --------------------------------------------------------------------------------


def random_map(numbers: Random, kind: str) -> Map:
    """Return a map that keeps the documented rules, then breaks up to two of them."""
    element = numbers.below(16) if numbers.below(3) == 0 else numbers.below(13)
    rank = 1 + numbers.below(5) if kind == "tiled" else 3 + numbers.below(3)
    interleave = numbers.choose((0, 0, 1, 2)) if rank >= 3 else 0
    swizzle = 1 if interleave == 2 else numbers.below(7)
    bits = BITS[element]
    step = 32 if interleave == 2 or element in WIDE_PACKED else 16
    inner = 128 if element in PACKED else 16 * 8 // bits * (1 << numbers.below(4))
    dims = [1 + numbers.below(300) for _ in range(5)]
    if element in PACKED:
        dims[0] = 128 * (1 + numbers.below(4))
    strides = []
    size = dims[0] * bits // 8
    for index in range(4):
        size = -(-size // step) * step + step * numbers.below(3)
        strides.append(size)
        size *= dims[index + 1]
    case = Map(
        kind,
        element=element,
        rank=rank,
        address=step * numbers.below(8),
        dims=tuple(dims),
        strides=tuple(strides),
        box=(min(inner, 256), *(1 + numbers.below(64) for _ in range(4))),
        element_strides=tuple(1 + numbers.below(8) for _ in range(5)),
        lower=tuple(-numbers.below(8) for _ in range(3)),
        upper=tuple(-numbers.below(8) for _ in range(3)),
        channels=min(inner, 256),
        pixels=1 + numbers.below(1024),
        interleave=interleave,
        mode=numbers.below(2),
        swizzle=swizzle,
        l2_promotion=numbers.below(4),
        fill=numbers.choose((0, 0, 0, 1)),
    )
    for _ in range(numbers.below(3)):
        case = numbers.choose(CHANGES)(case, numbers)
    return case


def _change(name: str, values: tuple[int, ...]):
    def apply(case: Map, numbers: Random) -> Map:
        current = getattr(case, name)
        if isinstance(current, tuple):
            index = numbers.below(len(current))
            return case.set(name, index, numbers.choose(values))
        return case.change(**{name: numbers.choose(values)})

    return apply


CHANGES = (
    _change("element", tuple(range(16))),
    _change("rank", (0, 1, 2, 3, 4, 5, 6)),
    _change("address", (8, 16, 32, 48)),
    _change("dims", (0, 1, 2, 3, 64, 127, 128, 255, 1 << 32, (1 << 32) + 1)),
    _change("strides", (0, 8, 16, 32, 48, 96, 1 << 20, (1 << 40) - 32, 1 << 40)),
    _change("box", (0, 1, 2, 4, 8, 12, 16, 32, 64, 96, 128, 255, 256, 257)),
    _change("element_strides", (0, 1, 2, 8, 9)),
    _change("lower", (-129, -128, -17, -16, -8, 0, 8, 15, 16, 127, 128)),
    _change("upper", (-129, -128, -17, -16, -8, 0, 8, 15, 16, 127, 128)),
    _change("channels", (0, 1, 2, 4, 8, 12, 16, 32, 64, 96, 128, 255, 256, 257)),
    _change("pixels", (0, 1, 1024, 1025)),
    _change("interleave", (0, 1, 2, 3)),
    _change("mode", (0, 1, 2)),
    _change("swizzle", tuple(range(8))),
    _change("l2_promotion", (0, 3, 4)),
    _change("fill", (0, 1, 2)),
)


# ---- running ------------------------------------------------------------------------------------

Case = tuple[str, Map]  # with its name


def groups() -> Iterator[tuple[str, list[Case]]]:
    """Yield all cases that need a context and memory, in groups that have names."""
    for name, base in bases():
        yield from split(name, variations(base))
    yield from split("pairs", pairs())
    for kind in ("tiled", "im2col", "wide"):
        cases = (random_map(Random(seed), kind) for seed in range(1, RANDOM_CASES + 1))
        yield from split(f"random {kind}", ((str(case), case) for case in cases))


def split(name: str, cases: Iterator[Case]) -> Iterator[tuple[str, list[Case]]]:
    """Yield the cases in groups of one line each."""
    every = list(cases)
    for start in range(0, len(every), GROUP):
        yield f"{name} from {start}", every[start : start + GROUP]


def run(library: str) -> Iterator[tuple[str, str, int]]:
    """Yield the group, the name and the code of each case."""
    encoder = Encoder(library)
    nowhere = {"base": "none", "address": 1 << 40}
    for base in (TILED, IM2COL, WIDE, Map("replace")):
        yield "before cuInit", base.kind, encoder.encode(base.change(**nowhere))
    device = Device(library)
    device.set_current(False)
    for base in (TILED, IM2COL, WIDE, TILED, Map("replace")):
        yield "without a context", base.kind, encoder.encode(base.change(**nowhere))
    device.set_current(True)
    encoder.use_device_memory()
    for group, cases in groups():
        for name, case in cases:
            yield group, name, encoder.encode(case)
    for name, base in bases():
        for address in (0, 1, 8, 16, 32, 48, 64, 1 << 21):
            encoder.encode(base)
            case = Map("replace", address=address)
            yield f"replace {name}", f"address={address}", encoder.encode(case)
        for place in ("none", "host"):
            yield f"replace {name}", place, encoder.encode(Map("replace", base=place))
    yield from run_replacements(encoder)
    # NOTE: NVIDIA's driver crashes on a null corner of an im2col map, and on a null map whose
    # address is replaced.
    for base in (TILED, IM2COL, WIDE):
        for name in ("map", "dims", "strides", "box", "element_strides"):
            encoder.encode(TILED)
            case = base.change(nulls=(name,))
            yield f"null in {base.kind}", name, encoder.encode(case)
    encoder.free_device_memory()
    yield "freed memory", "tiled", encoder.encode(TILED)


def run_replacements(encoder: Encoder) -> Iterator[tuple[str, str, int]]:
    """Yield what `run` does, for cuTensorMapReplaceAddress."""
    for element in PACKED:
        packed = TILED.change(element=element, dims=(256,) * 5, box=(128, 8, 1, 1, 1))
        encoder.encode(packed)
        yield "replace packed", str(element), encoder.encode(Map("replace", address=16))
    encoder.encode(TILED)
    for power in (40, 47, 48, 49, 52, 56, 57, 63):
        far = Map("replace", base="none", address=1 << power)
        yield "replace far", f"2^{power}", encoder.encode(far)
    for offset in (1, 8, 16, 32, 64):
        encoder.fill_map(0)
        case = Map("replace", map_offset=offset)
        yield "replace in zeros", f"at {offset}", encoder.encode(case)
    for value in (0, 1, 0x55, 0xFF):
        encoder.fill_map(value)
        yield "replace in garbage", f"bytes {value}", encoder.encode(Map("replace"))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--driver", default="libcuda.so.1")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", type=Path)
    arguments = parser.parse_args()
    recorded = read(arguments.compare) if arguments.compare else None
    results: dict[str, str] = {}
    counts = Counter[int]()
    differences = []
    unrecorded = 0
    # A driver may crash on a bad argument: every result before it stays in the file.
    out = arguments.out.open("w", buffering=1) if arguments.out else None
    for group, name, code in run(arguments.driver):
        counts[code] += 1
        letter = LETTERS.get(code, "?")
        if group not in results:
            results[group] = ""
            if out:
                out.write(("\n" if len(results) > 1 else "") + group + "\t")
        if out:
            out.write(letter)
            out.flush()
        if recorded is not None:
            expected = recorded.get(group, "")[len(results[group]) :][:1]
            if not expected:
                unrecorded += 1
            elif letter != expected:
                differences.append(f"{group}: {name}: {code}, recorded {expected}")
        results[group] += letter
    if out:
        out.write("\n")
        out.close()
    print(f"{counts.total()} cases; of each code: {dict(sorted(counts.items()))}")
    if recorded is None:
        return 0
    missing = [f"{group}: recorded, but not run" for group in recorded if group not in results]
    print("\n".join((differences + missing)[:MOST_LINES]))
    print(f"{len(differences)} differences, {unrecorded} cases are not recorded")
    return 1 if differences or missing else 0


def read(path: Path) -> dict[str, str]:
    """Return the recorded codes of each group."""
    lines = path.read_text().splitlines()
    return dict(line.split("\t") for line in lines)


if __name__ == "__main__":
    sys.exit(main())
