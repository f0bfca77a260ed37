# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels of one texture or surface instruction each, on images of every kind.

The results are compared with those recorded on a GPU. A case that the driver refuses has the
refusal as its result.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from driver import Device, DriverError, Module, Shape, argument
from images import Picture, Store
from texture_cases import TextureCase, texture_cases
from texture_forms import Form, Words, bits, kernel_text

BLOCK = 128
KEY = "textures"
INFINITE = 0x7F800000  # the exponent of numbers that are not finite


def run_textures(
    device: Device, done: set[str], cases: list[TextureCase] | None = None
) -> Iterator[tuple[TextureCase, bytes | str]]:
    """Run every case except those in `done`; yield the bytes that it gave, or the refusal."""
    by_form: dict[str, list[TextureCase]] = {}
    for each in cases or texture_cases():
        if each.name not in done:
            by_form.setdefault(each.form.text, []).append(each)
    for same in by_form.values():
        module = None
        for each in same:
            try:
                module = module or device.load(kernel_text(each.form))
                yield each, run_case(device, module, each)
            except DriverError as error:
                yield each, f"{str(error).split()[0]} {error.code}"
                if not is_usable(device):
                    device.reset()
                    module = None
        if module:
            module.unload()


def is_usable(device: Device) -> bool:
    """Return whether the context survived an error."""
    try:
        device.synchronize()
    except DriverError:
        return False
    return True


def run_case(device: Device, module: Module, case: TextureCase) -> bytes:
    """Run one case; return what its threads got, or what a store made of the image."""
    picture, form = case.picture, case.form
    columns = Words(case.name, picture, case.sampling, case.count).draw(form)
    count = len(columns[0]) if columns else case.count
    contents = [content(picture, level) for level in range(picture.levels)]
    store = Store.create(device, picture, contents)
    try:
        handle = store.surface() if form.is_surface else store.texture(case.sampling)
        try:
            words = b"".join(struct.pack(f"={count}I", *column) for column in columns)
            source = device.allocate(words)
            target = device.allocate(bytes(16 * count))
            module.launch(
                "k",
                Shape((count + BLOCK - 1) // BLOCK, min(count, BLOCK)),
                [argument(handle), argument(source), argument(target), argument(count, "I")],
            )
            device.synchronize()
            if form.is_store:
                result = store.copy(0, b"", is_read=True)
            else:
                result = device.read(target, 4 * count * form.results)
                result = without_undefined(form, columns, result)
            device.free(source)
            device.free(target)
            return result
        finally:
            (store.destroy_surface if form.is_surface else store.destroy_texture)(handle)
    finally:
        store.destroy()


def without_undefined(form: Form, columns: list[list[int]], result: bytes) -> bytes:
    """Return a result with zeros for the threads whose direction into a cube is not finite."""
    axes = [column for kind, column in zip(form.words, columns) if kind in "pqr"]
    count = len(result) // 4 // form.results
    words = list(struct.unpack(f"={len(result) // 4}I", result))
    for thread in range(count) if axes else ():
        if any(column[thread] & INFINITE == INFINITE for column in axes):
            words[thread::count] = [0] * form.results
    return struct.pack(f"={len(words)}I", *words)


def content(picture: Picture, level: int) -> bytes:
    """Return the bytes of a level."""
    row, height, slices = picture.rows(level)
    size = row * height * slices
    draw = random.Random(f"{picture.text} {level}")
    if picture.content == "counted":  # texel k has the value k
        return b"".join(struct.pack("=f", k) for k in range(size // 4))
    if picture.content == "level":  # every texel has the number of its level
        return struct.pack("=f", level) * (size // 4)
    if picture.content == "all":  # every bit pattern of a channel
        step = picture.texel_bytes
        return b"".join((k).to_bytes(step, "little") for k in range(size // step))
    if picture.content == "any":  # any bits
        return draw.randbytes(size)
    if picture.format == "f32":
        words = [bits(draw.uniform(-1, 1) * 2.0 ** draw.randrange(-3, 4)) for _ in range(size // 4)]
        return struct.pack(f"={len(words)}I", *words)
    if picture.format == "f16":
        values = [draw.uniform(-1, 1) * 2.0 ** draw.randrange(-3, 4) for _ in range(size // 2)]
        return struct.pack(f"={len(values)}e", *values)
    return draw.randbytes(size)


def record(result: bytes | str) -> str:
    """Return what the recorded file keeps of a result."""
    return result if isinstance(result, str) else hashlib.sha256(result).hexdigest()[:12]


def dump(path: Path, results: dict[str, bytes | str]) -> None:
    """Write whole results to a file."""
    packed = {
        name: each if isinstance(each, str) else base64.b64encode(zlib.compress(each, 9)).decode()
        for name, each in results.items()
    }
    path.write_bytes(zlib.compress(json.dumps(packed).encode(), 9))
