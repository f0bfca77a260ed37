# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Texture and surface references, and surface accesses that trap."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from driver import Device, DriverError, Module, Shape, argument
from images import MODES, Picture, Sampling, Store
from texture_forms import Form, Words, kernel_text, surface, tex
from textures import content

COUNT = 256


@dataclass(frozen=True)
class ReferenceCase:
    """A kernel that names a variable of type .texref or .surfref."""

    name: str
    form: Form
    sampling: Sampling
    picture: Picture


def reference_cases() -> Iterator[ReferenceCase]:
    """Yield the cases."""
    texture = ".global .texref image;"
    plain = Picture("2d", "f32", 1, (19, 13))
    plain_form = tex("2d")
    named = Form(plain_form.text.replace("[h,", "[image,"), plain_form.words, declarations=texture)
    by_address = Form(
        "mov.u64 h, image; " + plain_form.text, plain_form.words, declarations=texture
    )
    for filter_, mode, is_normalized in (
        ("point", "clamp", False),
        ("linear", "clamp", False),
        ("linear", "wrap", True),
        ("point", "mirror", True),
    ):
        sampling = Sampling(filter_, (mode,), is_normalized)
        yield ReferenceCase(f"texref; {sampling.text}", named, sampling, plain)
        yield ReferenceCase(f"address of texref; {sampling.text}", by_address, sampling, plain)
    colours = Picture("2d", "u8", 4, (19, 13))
    for reads_integers in (False, True):
        sampling = Sampling(reads_integers=reads_integers)
        text = named.text.replace(".v4.f32.", ".v4.u32.") if reads_integers else named.text
        form = Form(text, named.words, declarations=texture)
        yield ReferenceCase(f"texref of u8x4; {sampling.text}", form, sampling, colours)
    loads = surface("suld.b", "2d", "b32", 1, "zero")
    form = Form(
        loads.text.replace("[h,", "[area,"), loads.words, 1, declarations=".global .surfref area;"
    )
    area = Picture("2d", "u32", 1, (19, 13), is_surface=True)
    yield ReferenceCase("surfref", form, Sampling(), area)


def run_references(device: Device, done: set[str]) -> Iterator[tuple[str, bytes | str]]:
    """Run every case on references; yield its name and the result or the refusal."""
    for case in reference_cases():
        name = f"{case.name}; {case.form.text}"
        if name in done:
            continue
        store = Store.create(device, case.picture, [content(case.picture, 0)])
        try:
            module = device.load(kernel_text(case.form))
            try:
                bind(module, case, store)
                yield name, run_kernel(device, module, case)
            finally:
                module.unload()
        except DriverError as error:
            yield name, f"{str(error).split()[0]} {error.code}"
        store.destroy()


def bind(module: Module, case: ReferenceCase, store: Store) -> None:
    """Bind the array to the variable."""
    device, reference = module.device, ctypes.c_void_p()
    if "[area," in case.form.text:
        device.call("cuModuleGetSurfRef", ctypes.byref(reference), module.handle, b"area")
        device.call("cuSurfRefSetArray", reference, store.handle, ctypes.c_uint(0))
        return
    device.call("cuModuleGetTexRef", ctypes.byref(reference), module.handle, b"image")
    sampling = case.sampling
    flags = sampling.reads_integers | sampling.is_normalized << 1
    device.call("cuTexRefSetFlags", reference, ctypes.c_uint(flags))
    device.call("cuTexRefSetFilterMode", reference, int(sampling.filter == "linear"))
    for axis in range(2):
        mode = MODES.index(sampling.modes[0])
        device.call("cuTexRefSetAddressMode", reference, axis, mode)
    device.call("cuTexRefSetArray", reference, store.handle, ctypes.c_uint(1))


def run_kernel(device: Device, module: Module, case: ReferenceCase) -> bytes:
    """Run the kernel and return what its threads got."""
    columns = Words(case.name, case.picture, case.sampling, COUNT).draw(case.form)
    source = device.allocate(b"".join(struct.pack(f"={COUNT}I", *each) for each in columns))
    target = device.allocate(bytes(16 * COUNT))
    arguments = [argument(0), argument(source), argument(target), argument(COUNT, "I")]
    module.launch("k", Shape(2, COUNT // 2), arguments)
    device.synchronize()
    result = device.read(target, 4 * COUNT * case.form.results)
    device.free(source)
    device.free(target)
    return result


def run_traps(device: Device, done: set[str]) -> Iterator[tuple[str, str]]:
    """Run surface accesses outside of the image that trap; yield the error that follows."""
    picture = Picture("2d", "u32", 1, (19, 13), is_surface=True)
    for instruction, kind in (("suld.b", "b32"), ("sust.b", "b32"), ("sured.b.add", "u32")):
        form = surface(instruction, "2d", kind, 1, "trap")
        for place, (x, y) in {
            "inside": (4, 5), "right": (19 * 4, 5), "left": (-4, 5), "below": (4, 13)
        }.items():  # fmt: skip
            name = f"{form.text}; {picture.text}; {place}"
            if name in done:
                continue
            module = device.load(kernel_text(form))
            store = Store.create(device, picture, [content(picture, 0)])
            words = [x & 0xFFFFFFFF, y, 7][: len(form.words)]
            source = device.allocate(struct.pack(f"={len(words)}I", *words))
            target = device.allocate(bytes(16))
            handles = [argument(store.surface()), argument(source), argument(target)]
            module.launch("k", Shape(1, 1), [*handles, argument(1, "I")])
            try:
                device.synchronize()
                yield name, "no error 0"
            except DriverError as error:
                yield name, f"error {error.code}"
            device.reset()
