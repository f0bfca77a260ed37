# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Tensor copies, one instruction per kernel, for comparison with the recorded results of a GPU.

The result of a copy is a digest of the bytes that it left in shared memory and in the tensor, of
the state of its barrier, or the error that the driver returned.
"""

from __future__ import annotations

import hashlib
import math
import multiprocessing
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection

from driver import Device, DriverError, Module, Shape, argument
from tensor_cases import BF16, BYTES, F16, F64, FIRST_WITHOUT_BYTES, FLOATS, Copy, copies, size_of
from tensor_kernels import MAP_ROOM_BYTES, STATUS_BYTES, WORDS, Form, kernel_text

UNTOUCHED = 0xEE
MARGIN_BYTES = 256  # around the tensor: no copy may change them
GRANULE = 1024
PER_BLOCK = 32
INTERLEAVED_BYTES = 131072
COMPLETE = ("", "")  # the last message of a process that ran all its copies


Outcome = tuple[str, bytes | str]


class DeviceLostError(Exception):
    """An error of a kernel from which only a new process recovers."""


def run_tensors_apart(
    driver: str,
    starts: Sequence[str],
    done: set[str],
    run: Callable[[str, Sequence[str], set[str]], Iterator[Outcome]] | None = None,
) -> Iterator[Outcome]:
    """Run the copies of `run_tensors` in a process of their own; yield the same.

    After some errors a GPU stays unusable until the process ends. A new process then goes on with
    the next copy. Raise DeviceLostError if a process ends before it has run any copy.
    """
    context = multiprocessing.get_context("spawn")  # a forked process cannot use the driver
    done = set(done)
    while True:
        receiver, sender = context.Pipe(duplex=False)
        arguments = (sender, run or run_tensors_of, driver, starts, done)
        process = context.Process(target=send_outcomes, args=arguments)
        process.start()
        sender.close()
        last = ""
        while (outcome := receive(receiver)) not in (None, COMPLETE):
            last = outcome[0]
            done.add(last)
            yield outcome
        process.join()
        if outcome == COMPLETE:
            return
        if not last:
            raise DeviceLostError(f"a process for tensor copies ended with {process.exitcode}")
        print(f"the device does not recover from {last!r}: a new process goes on")


def send_outcomes(
    sender: Connection,
    run: Callable[[str, Sequence[str], set[str]], Iterator[Outcome]],
    driver: str,
    starts: Sequence[str],
    done: set[str],
) -> None:
    """Run copies in this process and send what they gave."""
    try:
        for outcome in run(driver, starts, done):
            sender.send(outcome)
    except DeviceLostError:
        return
    sender.send(COMPLETE)


def receive(receiver: Connection) -> Outcome | None:
    """Return the next outcome of a process, or None if the process has ended."""
    try:
        return receiver.recv()
    except EOFError:
        return None


def run_tensors_of(driver: str, starts: Sequence[str], done: set[str]) -> Iterator[Outcome]:
    """Run the copies on the first device of a driver."""
    yield from run_tensors(Device(driver), starts, done)


def run_tensors(device: Device, starts: Sequence[str], done: set[str]) -> Iterator[Outcome]:
    """Run the copies whose name starts with one of `starts`, except those in `done`.

    If a start has a minus before it, leave out the copies whose name starts so.

    Yield the name of each, and its bytes or the text of its error. Raise DeviceLostError after a
    copy whose error ends the use of the device in this process.
    """
    modules: dict[Form, Module] = {}
    chosen = tuple(each for each in starts if not each.startswith("-")) or ("",)
    left_out = tuple(each[1:] for each in starts if each.startswith("-"))
    for copy in copies():
        is_chosen = copy.name.startswith(chosen) and not copy.name.startswith(left_out)
        if copy.name in done or not is_chosen:
            continue
        try:
            module = modules.get(copy.form)
            if module is None:
                module = modules[copy.form] = device.load(kernel_text(copy.form))
            yield copy.name, run_copy(device, module, copy)
        except DriverError as error:
            yield copy.name, f"error {error.code}"
            modules.clear()
            try:
                device.reset()
            except DriverError:
                raise DeviceLostError(copy.name) from None
    for module in modules.values():
        module.unload()


def run_copy(device: Device, module: Module, copy: Copy) -> bytes | str:
    """Run one copy and return what it changed, or the error of its map.

    That is shared memory and the barrier's state after a load, and the tensor after a store.
    """
    about, source = copy.tensor, random.Random(copy.name)
    size = tensor_bytes(copy)
    image_bytes = copy.image_bytes or -(-(copy.place + size_of(about)) // GRANULE)
    image_bytes = image_bytes if copy.image_bytes else image_bytes * GRANULE
    is_load = copy.form.action in ("load", "prefetch")
    content = numbers(about.kind, size, source, copy.content)
    image = bytes([UNTOUCHED]) * image_bytes
    if not is_load:
        image = numbers(about.kind, image_bytes, source, copy.content)
    margin = bytes([UNTOUCHED]) * MARGIN_BYTES
    part = image_bytes + STATUS_BYTES
    held: list[int] = []

    def make(data: bytes) -> int:
        held.append(device.allocate(data))
        return held[-1]

    try:
        whole = make(margin + content + margin)
        out = make(bytes(part * copy.blocks + MAP_ROOM_BYTES))
        try:
            encoded = device.encode(about, whole + MARGIN_BYTES)
        except DriverError as error:
            for address in held:
                device.free(address)
            return f"the driver refuses the map with {error.code}"
        other = make(content[::-1])  # for a map whose address is replaced
        expected = copy.bytes_expected
        expected = size_of(about) if expected < 0 else expected
        value = other if copy.form.field == "global_address" else copy.field_value or 0
        words = [*copy.coordinates, *(0,) * (5 - len(copy.coordinates))]
        words += [*copy.offsets, *(0,) * (3 - len(copy.offsets))]
        words += [expected, copy.place, image_bytes, copy.mask]
        words += [value & 0xFFFFFFFF, value >> 32]
        words += [0] * (WORDS - len(words))
        packed = struct.pack(f"={WORDS}I", *[word & 0xFFFFFFFF for word in words])
        arguments = [
            copy.map_bytes or encoded,
            argument(make(packed)),
            argument(make(image)),
            argument(out),
        ]
        shape = Shape(
            grid=copy.blocks,
            block=PER_BLOCK,
            shared_bytes=image_bytes + GRANULE + MAP_ROOM_BYTES,
            cluster=copy.blocks,
        )
        module.launch("k", shape, arguments)
        device.synchronize()
        if is_load:
            result = device.read(out, part * copy.blocks)
        else:
            # What the copy changed: zeros where it changed nothing.
            after = int.from_bytes(device.read(whole, size + 2 * MARGIN_BYTES), "little")
            before = int.from_bytes(margin + content + margin, "little")
            result = (after ^ before).to_bytes(size + 2 * MARGIN_BYTES, "little")
    except DriverError:
        held.clear()  # the device is reset
        raise
    for address in held:
        device.free(address)
    return result


def tensor_bytes(copy: Copy) -> int:
    """Return the size of the tensor in bytes."""
    about = copy.tensor
    unit = BYTES[about.kind] if about.kind < FIRST_WITHOUT_BYTES else 1
    if about.interleave:
        return INTERLEAVED_BYTES
    if not about.strides:
        return -(-about.dims[0] * unit // 16) * 16
    return max(about.strides[-1] * about.dims[-1], 4096)


def numbers(kind: int, size: int, source: random.Random, content: str) -> bytes:
    """Return random bytes, or numbers of the type of the tensor: small ones and special ones."""
    if content == "bytes" or kind >= FIRST_WITHOUT_BYTES:
        return source.randbytes(size)
    unit = BYTES[kind]
    values = bytearray()
    while len(values) < size:
        values += number(kind, source, content).to_bytes(unit, "little")
    return bytes(values[:size])


def number(kind: int, source: random.Random, content: str) -> int:
    """Return the bits of one number."""
    bits = 8 * BYTES[kind]
    if content == "tiny":  # sums of these are subnormal, or just not
        fraction = {F16: 10, BF16: 7, F64: 52}.get(kind, 23)
        return source.randrange(2) << (bits - 1) | source.randrange(1 << (fraction + 1))
    if content == "halfway":  # between two numbers of tf32
        return source.randrange(1 << 32) & ~0x40001FFF | source.randrange(4) << 11
    special = source.randrange(12)
    if kind not in FLOATS:
        if special < 2:
            return (0, (1 << bits) - 1)[special]
        return source.randrange(-50, 51) & (1 << bits) - 1
    fraction = {F16: 10, BF16: 7, F64: 52}.get(kind, 23)
    if special < 3:  # subnormal, infinite, not a number
        exponent = (1 << (bits - 1 - fraction)) - 1
        sign = source.randrange(2) << (bits - 1)
        tail = source.randrange(1 << fraction)
        return sign | (tail, exponent << fraction, exponent << fraction | tail | 1)[special]
    value = math.ldexp(source.uniform(-1, 1), source.randrange(-3, 8))
    if kind == F16:
        return struct.unpack("=H", struct.pack("=e", value))[0]
    if kind == F64:
        return struct.unpack("=Q", struct.pack("=d", value))[0]
    single = struct.unpack("=I", struct.pack("=f", value))[0]
    return single >> 16 if kind == BF16 else single


def digest(result: bytes | str) -> str:
    """Return the short form of a result that the record keeps."""
    return result if isinstance(result, str) else hashlib.sha256(result).hexdigest()[:16]
