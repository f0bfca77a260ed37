# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels of one load or store each: all lanes at the same address, at neighbours, or scattered.

The expected results follow from the bytes in memory, so nothing is recorded. Each access has one
module, with a kernel for each pattern of addresses.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from driver import Device, DriverError, Module, Shape, argument

THREADS = 96
ROWS = 128  # rows of the table, each of one access; no thread reaches the first
PRIME = 127  # 37 * t + 11 modulo this is a different row for each thread
SHARED_ROW = 5
PATTERNS = ("same", "equal", "neighbours", "scattered")


@dataclass(frozen=True)
class Access:
    """One instruction that loads or stores."""

    operation: str  # ld or st, with what comes before the space
    space: str  # global, shared, const, param, local; generic or generic-shared have no name in PTX
    count: int
    kind: str  # of an element, such as s16
    width: int  # of the registers, in bits
    target: int = 70
    suffix: str = ""  # what comes after the space

    @property
    def mnemonic(self) -> str:
        """The instruction with its modifiers."""
        space = "" if self.space.startswith("generic") else f".{self.space}"
        vector = f".v{self.count}" if self.count > 1 else ""
        return f"{self.operation}{space}{self.suffix}{vector}.{self.kind}"

    @property
    def text(self) -> str:
        """The instruction and its space, for messages."""
        return f"{self.mnemonic} ({self.space}, {self.width}-bit registers)"

    @property
    def is_load(self) -> bool:
        """Whether it reads memory."""
        return self.operation.startswith("ld")

    @property
    def element_bytes(self) -> int:
        """The size of an element in memory."""
        return int(self.kind[1:]) // 8

    @property
    def row_bytes(self) -> int:
        """The size of the access."""
        return self.element_bytes * self.count


NARROW = tuple(product((1,), ("u8", "s8", "u16", "s16", "b8", "b16"), (32, 64)))
SCALARS = (*NARROW, (1, "s32", 64), (1, "u32", 64), (1, "b32", 32), (1, "f32", 32), (1, "f64", 64))
VECTORS = (
    *product((2, 4), ("u8", "s8", "u16", "s16"), (32, 64)),
    *product((2, 4), ("b8", "b16"), (16,)),
    *product((2, 4), ("b32", "f32"), (32,)),
    *product((2, 4), ("s32",), (64,)),
    *product((2,), ("b64", "f64"), (64,)),
)
ORDERED = (*NARROW, (1, "b32", 32), (1, "b64", 64), (2, "u8", 32), (2, "b32", 32), (4, "s16", 64))
SPACES = ("global", "generic", "shared", "generic-shared", "const", "param", "local")
WRITABLE = ("global", "generic", "shared", "generic-shared", "local")
NON_COHERENT = (".nc", ".ca.nc", ".cg.nc", ".cs.nc", ".nc.L1::no_allocate", ".nc.L1::evict_last")
ORDERS = (".volatile", ".relaxed.gpu", ".acquire.gpu", ".relaxed.cta", ".acquire.sys")


def accesses() -> Iterator[Access]:
    """Yield every load and store."""
    for space, form in product(SPACES, SCALARS + VECTORS):
        yield Access("ld", space, *form)
    for space, form in product(WRITABLE, SCALARS + VECTORS):
        yield Access("st", space, *form)
    for space, order, form in product(("global", "generic", "shared"), ORDERS, ORDERED):
        yield Access(f"ld{order}", space, *form)
        yield Access(f"st{order.replace('acquire', 'release')}", space, *form)
    for form in ((1, "u8", 32), (1, "s16", 64), (2, "s8", 32), (4, "b32", 32), (2, "f64", 64)):
        for cache in (".ca", ".cg", ".cs", ".lu", ".cv"):
            yield Access(f"ld{cache}", "global", *form)
        for cache in (".wb", ".cg", ".cs", ".wt"):
            yield Access(f"st{cache}", "global", *form)
    for form in SCALARS + VECTORS:
        yield Access("ld", "global", *form, suffix=".nc")
    for form, suffix in product(((1, "s8", 64), (2, "b16", 16), (4, "f32", 32)), NON_COHERENT[1:]):
        yield Access("ld", "global", *form, suffix=suffix)
    yield Access("ld", "global", 1, "b128", 128, suffix=".nc")
    yield Access("ld", "global", 4, "b32", 32, 75, ".nc.L2::128B")
    for form in ((8, "b32", 32), (8, "f32", 32), (4, "b64", 64)):
        yield Access("ld", "global", *form, 100, ".nc")
    for space, operation in product(("global", "generic", "shared"), ("ld", "st")):
        yield Access(operation, space, 1, "b128", 128)
    for form, operation in product(((8, "b32", 32), (8, "f32", 32), (4, "b64", 64)), ("ld", "st")):
        yield Access(operation, "global", *form, 100)


def run_accesses(device: Device, capability: int) -> Iterator[tuple[str, str | None]]:
    """Run every access that a device supports; yield its name, and what was wrong, if anything."""
    for access in accesses():
        if access.target > capability:
            continue
        try:
            module = device.load(module_text(access))
        except DriverError as error:
            yield access.text, str(error)
            continue
        try:
            for pattern in PATTERNS:
                yield f"{access.text}, {pattern}", run_access(device, module, access, pattern)
            module.unload()
        except DriverError as error:
            yield access.text, str(error)
            device.reset()


def run_access(device: Device, module: Module, access: Access, pattern: str) -> str | None:
    """Run one kernel and describe the first difference to the expected result, if any."""
    source = random.Random(f"{access.text} {pattern}")
    table = source.randbytes(ROWS * access.row_bytes)
    rows = rows_of(pattern)
    words = access.width // 64 or 1  # words of 64 bits for one register
    values = [
        [source.randrange(1 << access.width) for _ in range(access.count)] for _ in range(THREADS)
    ]
    if len(set(rows)) == 1:  # all threads write to the same place, so they must write the same
        values = [values[0]] * THREADS
    packed = b"".join(v.to_bytes(8 * words, "little") for lane in values for v in lane)
    contents = [table, struct.pack(f"={THREADS}I", *[row - 1 for row in rows]), packed]
    addresses = [device.allocate(each) for each in contents]
    arguments = [argument(address) for address in addresses]
    if access.space == "param":
        arguments.append(table)
    if access.space == "const":
        device.write(module.address("data"), table)
    module.launch(f"k_{pattern}", Shape(1, THREADS), arguments)
    got_table = device.read(addresses[0], len(table))
    got_values = device.read(addresses[2], len(packed))
    for address in addresses:
        device.free(address)
    if access.is_load:
        wanted = b"".join(
            extended(access, element).to_bytes(8 * words, "little")
            for thread, row in enumerate(rows)
            for element in elements_of(access, own_table(access, table, thread), row)
        )
        return difference(got_values, wanted, 8 * words, access.count)
    if access.space == "local":
        digests = b"".join(
            digest(stored(access, own_table(access, table, thread), [(row, values[thread])]))
            for thread, row in enumerate(rows)
        )
        # The digest is stored in place of a thread's first value.
        got = b"".join(got_values[i : i + 8] for i in range(0, len(packed), 8 * access.count))
        return difference(got, digests, 8, 1)
    wanted = stored(access, table, zip(rows, values))
    return difference(got_table, wanted, access.element_bytes, access.count)


def rows_of(pattern: str) -> list[int]:
    """Return the row of the table that each thread accesses."""
    if pattern in ("same", "equal"):
        return [SHARED_ROW + 1] * THREADS
    if pattern == "neighbours":
        return [thread + 1 for thread in range(THREADS)]
    return [(37 * thread + 11) % PRIME + 1 for thread in range(THREADS)]


def own_table(access: Access, table: bytes, thread: int) -> bytes:
    """Return the table that a thread sees; local memory has a different one for each thread."""
    if access.space != "local":
        return table
    return bytes(byte ^ thread for byte in table)


def elements_of(access: Access, table: bytes, row: int) -> list[int]:
    """Return the elements of one row."""
    begin = row * access.row_bytes
    step = access.element_bytes
    return [
        int.from_bytes(table[at : at + step], "little")
        for at in range(begin, begin + access.row_bytes, step)
    ]


def extended(access: Access, element: int) -> int:
    """Return the content of a register after an element was loaded into it."""
    bits = 8 * access.element_bytes
    if access.kind[0] == "s" and element >> (bits - 1):
        element -= 1 << bits
    return element & (1 << access.width) - 1


def stored(access: Access, table: bytes, writes: Iterator[tuple[int, list[int]]]) -> bytes:
    """Return the table after the low bytes of registers were stored in rows."""
    result = bytearray(table)
    step = access.element_bytes
    for row, values in writes:
        for index, value in enumerate(values):
            at = row * access.row_bytes + index * step
            result[at : at + step] = (value & (1 << 8 * step) - 1).to_bytes(step, "little")
    return bytes(result)


def digest(table: bytes) -> bytes:
    """Return the digest that the kernels compute from local memory, for the host to read."""
    result = 0
    for (word,) in struct.iter_unpack("=I", table):
        result = (result * 31 + word) & 0xFFFFFFFFFFFFFFFF
    return struct.pack("=Q", result)


def difference(got: bytes, wanted: bytes, step: int, count: int) -> str | None:
    """Describe the first element that differs."""
    if got == wanted:
        return None
    index = next(
        i for i in range(0, len(wanted), step) if got[i : i + step] != wanted[i : i + step]
    )
    place, element = divmod(index // step, count)
    values = [int.from_bytes(each[index : index + step], "little") for each in (got, wanted)]
    return f"element {element} of number {place} is {values[0]:#x}, not {values[1]:#x}"


def module_text(access: Access) -> str:
    """Return the PTX of a module with a kernel for each pattern."""
    needs_new = access.target >= 100
    size = ROWS * access.row_bytes
    lines = [f".version {'8.8' if needs_new else '8.3'}", f".target sm_{access.target}"]
    lines.append(".address_size 64")
    if access.space == "const":
        lines.append(f".const .align 16 .b8 data[{size}];")
    return "\n".join([*lines, *(kernel_text(access, pattern) for pattern in PATTERNS), ""])


def kernel_text(access: Access, pattern: str) -> str:
    """Return one kernel: it fills the table, executes the instruction and stores the result."""
    size = ROWS * access.row_bytes
    lines = [f".visible .entry k_{pattern}(.param .u64 table, .param .u64 indexes,"]
    more = f", .param .align 16 .b8 data[{size}]" if access.space == "param" else ""
    lines += [f"  .param .u64 values{more})", "{"]
    lines += [".reg .b32 t, i, k, word;", ".reg .b64 base, at, to, from, wide, low, high;"]
    lines += [".reg .pred p;", f".reg .b{access.width} r<{access.count}>;"]
    lines += ["mov.u32 t, %tid.x;", "ld.param.u64 from, [table];", "ld.param.u64 to, [values];"]
    lines.append(f"mad.wide.u32 to, t, {8 * (access.width // 64 or 1) * access.count}, to;")
    lines += base_lines(access, size)
    if pattern == "same":
        lines.append(f"mov.u32 i, {SHARED_ROW};")
    elif pattern == "neighbours":
        lines.append("mov.u32 i, t;")
    else:
        lines += ["ld.param.u64 at, [indexes];", "mad.wide.u32 at, t, 4, at;"]
        lines.append("ld.global.u32 i, [at];")
    lines.append(f"mad.wide.u32 at, i, {access.row_bytes}, base;")
    registers = ", ".join(f"r{k}" for k in range(access.count))
    operand = f"{{{registers}}}" if access.count > 1 else registers
    if access.is_load:
        lines.append(f"{access.mnemonic} {operand}, [at+{access.row_bytes}];")
        lines += [line for k in range(access.count) for line in show_lines(access, k)]
    else:
        lines += [line for k in range(access.count) for line in fetch_lines(access, k)]
        lines.append(f"{access.mnemonic} [at+{access.row_bytes}], {operand};")
        lines += shown_table_lines(access, size)
    return "\n".join([*lines, "ret;", "}"])


def base_lines(access: Access, size: int) -> list[str]:
    """Return lines that put the table into its space and its address into `base`."""
    if access.space in ("global", "generic"):
        return ["mov.u64 base, from;"]
    if access.space == "param":
        return ["mov.b64 base, data;"]
    if access.space == "const":
        return ["mov.u64 base, data;"]
    if access.space == "local":
        copy = copy_lines("FILL", size, "0", "1", "ld.global", "from", "st.local", "base")
        change = "mad.lo.u32 i, t, 0x01010101, 0;\nxor.b32 word, word, i;"
        copy.insert(-5, change)
        return [f".local .align 16 .b8 data[{size}];", "mov.u64 base, data;", *copy]
    lines = [f".shared .align 16 .b8 data[{size}];", "mov.u64 base, data;"]
    lines += copy_lines("FILL", size, "t", str(THREADS), "ld.global", "from", "st.shared", "base")
    lines.append("bar.sync 0;")
    if access.space == "generic-shared":
        lines.append("cvta.shared.u64 base, base;")
    return lines


def copy_lines(
    label: str, size: int, first: str, step: str, load: str, source: str, store: str, target: str
) -> list[str]:
    """Return a loop that copies words."""
    return [
        f"mov.u32 k, {first};",
        f"{label}:",
        f"setp.ge.u32 p, k, {size // 4};",
        f"@p bra {label}_END;",
        f"mad.wide.u32 at, k, 4, {source};",
        f"{load}.u32 word, [at];",
        f"mad.wide.u32 at, k, 4, {target};",
        f"{store}.u32 [at], word;",
        f"add.u32 k, k, {step};",
        f"bra {label};",
        f"{label}_END:",
    ]


def show_lines(access: Access, index: int) -> list[str]:
    """Return lines that store a register for the host, extended with zeros."""
    if access.width == 128:
        return [f"mov.b128 {{low, high}}, r{index};", "st.global.v2.u64 [to], {low, high};"]
    convert = f"cvt.u64.u{access.width}" if access.width < 64 else "mov.b64"
    return [f"{convert} wide, r{index};", f"st.global.u64 [to+{8 * index}], wide;"]


def fetch_lines(access: Access, index: int) -> list[str]:
    """Return lines that load the value of a register."""
    if access.width == 128:
        return ["ld.global.v2.u64 {low, high}, [to];", f"mov.b128 r{index}, {{low, high}};"]
    return [f"ld.global.b{access.width} r{index}, [to+{8 * index}];"]


def shown_table_lines(access: Access, size: int) -> list[str]:
    """Return lines that copy the table to the host after a store."""
    if access.space in ("global", "generic"):
        return []
    if access.space == "local":
        lines = copy_lines("SHOW", size, "0", "1", "ld.local", "base", "", "base")
        kept = [line for line in lines if not line.startswith(".u32 [at]")]
        kept.insert(-3, "cvt.u64.u32 low, word;\nmad.lo.u64 wide, wide, 31, low;")
        return ["mov.u64 wide, 0;", *kept, "st.global.u64 [to], wide;"]
    lines = ["bar.sync 0;", "mov.u64 base, data;"]
    return lines + copy_lines(
        "SHOW", size, "t", str(THREADS), "ld.shared", "base", "st.global", "from"
    )
