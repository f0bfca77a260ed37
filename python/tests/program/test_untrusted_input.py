# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Descriptions of memory from other libraries and processes: any part may be wrong.

Each test tries random descriptions and accepts a view or a documented error. A crash, a hang or
another error fails the test. CUPRUM_FUZZ_ROUNDS and CUPRUM_FUZZ_SEED change the number of rounds
and the random numbers; ``make fuzz`` sets both.
"""

import contextlib
import ctypes
import os
import random

import exchange_producer as exchange
import numpy as np
import pytest

import cuprum
from cuprum import Buffer, DeviceMemoryResource
from cuprum._ipc_memory import IPCBufferDescriptor
from cuprum.utils import FileStreamProgramCache, StridedMemoryView

ROUNDS = int(os.environ.get("CUPRUM_FUZZ_ROUNDS", "400"))
SEED = int(os.environ.get("CUPRUM_FUZZ_SEED", "20261115"))

BYTES = 4096
MEMORY = np.zeros(BYTES, dtype=np.uint8)
REFUSALS = (BufferError, ValueError, TypeError, OverflowError)

NUMBERS = (
    *(0, 1, 2, 3, 4, 8, 16, 64, 65, 127, 128, 255, 256, 4096, 65535, 65536),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1),
)


def number(chance, wide=False):
    """Return a number that an attacker might choose; ``wide`` ones may exceed 64 bits."""
    value = chance.choice(NUMBERS)
    if chance.random() < 0.3:
        value = -value
    if chance.random() < 0.1:
        value += chance.randint(-2, 2)
    if wide and chance.random() < 0.1:
        value *= 2**20
    return value


def small(chance):
    return chance.choice((0, 1, 1, 2, 3, 4, 7))


def junk(chance):
    """Return an object of an unexpected type."""
    return chance.choice((None, "", "x", b"", 1.5, [], (), {}, object(), -1, True, 2**70))


def use(view):
    """Call everything of a view that does not access its memory."""
    seen = [view.ptr, view.shape, view.strides, view.readonly, view.device_id, repr(view)]
    layout = view.layout
    seen += [layout.shape, layout.strides, layout.volume, layout.is_unique, repr(layout)]
    seen += [layout.is_contiguous_any, layout.stride_order]
    with contextlib.suppress(NotImplementedError):  # numpy has no such type
        seen.append(view.dtype)
        assert view.view(layout).shape == view.shape
    return seen


def explained(error):
    """Check that an error has a message."""
    assert str(error)


def tried(make):
    """Create and use a view; return whether it was accepted."""
    try:
        use(make())
    except REFUSALS as error:
        explained(error)
        return False
    return True


def interface(chance):
    """Return an array interface that is mostly valid, with some wrong parts."""
    count = chance.choice((0, 1, 1, 2, 2, 3, 5, 70))
    kind = chance.choice("fiucbVSU?x")
    size = chance.choice((0, 1, 2, 4, 4, 8, 16, 3, 2**31, 2**63, 2**64 - 1, 2**80))
    shape = [small(chance) if chance.random() < 0.7 else number(chance, True) for _ in range(count)]
    entries = {
        "version": chance.choice((3, 3, 3, 3, 2, 4, 2**40)),
        "typestr": chance.choice("<|>=") + kind + str(size),
        "data": (MEMORY.ctypes.data, chance.random() < 0.5),
        "shape": chance.choice((tuple, tuple, list))(shape),
    }
    if chance.random() < 0.5:
        steps = [
            4 * small(chance) if chance.random() < 0.6 else number(chance, True) for _ in shape
        ]
        entries["strides"] = tuple(steps[: chance.choice((len(steps), len(steps), len(steps) - 1))])
    if chance.random() < 0.2:
        entries[chance.choice(list(entries))] = junk(chance)
    if chance.random() < 0.1:
        del entries[chance.choice(list(entries))]
    return entries


class Described:
    """An array with a given description."""


def test_array_interfaces_may_say_anything():
    chance = random.Random(SEED)
    taken = 0
    for _ in range(ROUNDS):
        source = Described()
        source.__array_interface__ = interface(chance)
        taken += tried(lambda source=source: StridedMemoryView.from_array_interface(source))
    assert ROUNDS / 50 < taken < ROUNDS


def test_cuda_array_interfaces_may_say_anything(device):
    chance = random.Random(SEED + 1)
    buffer = device.allocate(BYTES, stream=device.default_stream)
    try:
        for _ in range(ROUNDS):
            entries = interface(chance)
            if entries.get("data") == (MEMORY.ctypes.data, False):
                entries["data"] = (int(buffer.handle), False)
            source = Described()
            source.__cuda_array_interface__ = entries
            try:
                tried(lambda s=source: StridedMemoryView.from_cuda_array_interface(s, -1))
            except cuprum.CUDAError as error:
                explained(error)
    finally:
        buffer.close()


def test_dlpack_tensors_may_say_anything():
    chance = random.Random(SEED + 2)
    deleted = []
    new_capsule = exchange._new_capsule
    taken = 0
    for turn in range(ROUNDS):
        ndim = chance.choice((0, 1, 2, 2, 3, 4, 5, 64, 65, -1, -(2**31)))
        room = max(ndim, 0)
        pick = [small(chance) if chance.random() < 0.7 else number(chance) for _ in range(2 * room)]
        extents = (ctypes.c_int64 * (2 * room))(*pick)
        managed = exchange.Managed()
        managed.version.major = chance.choice((1, 1, 1, 1, 0, 2, 2**32 - 1))
        managed.flags = chance.choice((0, 1, 2, 2**64 - 1))
        keep = exchange.Deleter(lambda _, turn=turn: deleted.append(turn))
        managed.deleter = ctypes.cast(keep, ctypes.c_void_p)
        tensor = managed.tensor
        tensor.data = MEMORY.ctypes.data
        tensor.device.type = chance.choice((1, 1, 1, 3, 7, -1, 2**31 - 1))
        tensor.device.id = chance.choice((0, 0, -1, 2**31 - 1))
        tensor.ndim = ndim
        tensor.dtype.code = chance.choice((0, 1, 2, 2, 4, 5, 6, 7, 14, 255))
        tensor.dtype.bits = chance.choice((8, 16, 32, 32, 64, 4, 0, 255))
        tensor.dtype.lanes = chance.choice((1, 1, 1, 2, 0, 65535))
        if chance.random() < 0.95 or ndim == 0:
            tensor.shape = ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64))
        if chance.random() < 0.6:
            strides = ctypes.addressof(extents) + 8 * room
            tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
        tensor.byte_offset = chance.choice((0, 0, 8, 2**64 - 8))
        source = Described()
        type(source).__dlpack__ = lambda _, m=managed, **__: new_capsule(
            ctypes.addressof(m), b"dltensor_versioned", None
        )
        type(source).__dlpack_device__ = lambda _, t=tensor: (t.device.type, t.device.id)
        try:
            taken += tried(lambda s=source: StridedMemoryView.from_dlpack(s, -1))
        finally:
            del Described.__dlpack__, Described.__dlpack_device__
    assert ROUNDS / 50 < taken < ROUNDS


def test_layouts_may_be_asked_for_with_any_numbers():
    chance = random.Random(SEED + 3)
    taken = 0
    for _ in range(ROUNDS):
        count = chance.choice((0, 1, 2, 3, 65))
        shape = [
            small(chance) if chance.random() < 0.7 else number(chance, True) for _ in range(count)
        ]
        strides = None
        if chance.random() < 0.5:
            strides = [number(chance, True) for _ in range(count)]
        itemsize = chance.choice((0, 1, 4, 8, 2**31, 2**63, 2**64 - 1, -1))
        try:
            layout = cuprum.utils.StridedLayout(shape, strides, itemsize)
            assert layout.volume == np.prod([int(n) for n in shape], dtype=object)
            seen = [layout.is_unique, layout.is_contiguous_any, layout.stride_order, repr(layout)]
            assert len(seen) == 4
            taken += 1
        except REFUSALS as error:
            explained(error)
    assert ROUNDS / 50 < taken < ROUNDS


def test_shared_memory_is_only_mapped_as_far_as_it_goes(device):
    chance = random.Random(SEED + 4)
    try:
        pool = DeviceMemoryResource(device, {"max_size": 4 << 20, "ipc_enabled": True})
        imported = DeviceMemoryResource.from_allocation_handle(device, pool.allocation_handle)
    except (cuprum.CUDAError, RuntimeError) as error:
        pytest.skip(f"a pool cannot be imported by its own process: {error}")
    stream = device.default_stream
    buffer = pool.allocate(BYTES, stream=stream)
    payload = buffer.ipc_descriptor.__reduce__()[1][0]
    try:
        for _ in range(ROUNDS):
            forged = bytearray(payload)
            for _ in range(chance.choice((0, 1, 1, 2, 8))):
                forged[chance.randrange(len(forged))] = chance.randrange(256)
            forged = forged[: chance.choice((len(forged), len(forged), 63, 0))]
            size = chance.choice(
                (BYTES, BYTES, 1, 0, BYTES + 1, 2**40, 2**63, 2**64 - 1, 2**64, -1)
            )
            try:
                descriptor = IPCBufferDescriptor._init(bytes(forged), size)
                mapped = Buffer.from_ipc_descriptor(imported, descriptor, stream=stream)
            except (*REFUSALS, RuntimeError, cuprum.CUDAError) as error:
                explained(error)
            else:
                assert mapped.size == size <= BYTES
                mapped.close()
    finally:
        buffer.close()
        stream.sync()
        imported.close()
        pool.close()


# ---- texts with a NUL --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("name", lambda module, folder: module.get_kernel("empty\0x")),
        ("name", lambda module, folder: module.get_kernel(b"empty\0x")),
        ("name", lambda module, folder: module.get_global("empty\0x")),
        ("name", lambda module, folder: module.get_managed("empty\0x")),
        ("path", lambda module, folder: cuprum.ObjectCode.from_ptx(f"{folder}/a\0x")),
        ("path", lambda module, folder: cuprum.trace.start(f"{folder}/a\0x")),
        ("path", lambda module, folder: FileStreamProgramCache(f"{folder}/a\0x")),
        (
            "name_expressions",
            lambda module, folder: cuprum.Program("int a;", "c++").compile(
                "ptx", name_expressions=["&a\0x"]
            ),
        ),
        (
            "ProgramOptions arch",
            lambda module, folder: cuprum.Program(
                "int a;", "c++", cuprum.ProgramOptions(arch="sm_90\0x")
            ),
        ),
        (
            "ProgramOptions name",
            lambda module, folder: cuprum.Program(
                "int a;", "c++", cuprum.ProgramOptions(name="a\0x")
            ),
        ),
    ],
)
def test_a_text_with_a_nul_is_refused_whole_and_by_name(module, tmp_path, name, use):
    with pytest.raises(ValueError, match=name + r' is ".*\\0\.\.\."; expected '):
        use(module, tmp_path)
    assert list(tmp_path.iterdir()) == []
