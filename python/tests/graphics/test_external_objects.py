# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Memory and semaphores that are imported by file descriptors."""

import ctypes
import mmap
import os
import select
import tempfile

import numpy as np
import pytest

import cuprum
from cuprum import ExternalMemory, ExternalSemaphore

SIZE = 2 << 20
PAGE = mmap.PAGESIZE


class AllocationProp(ctypes.Structure):
    """The structure CUmemAllocationProp of cuda.h."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location_type", ctypes.c_int),
        ("location_id", ctypes.c_int),
        ("unused", ctypes.c_uint64 * 2),
    ]


@pytest.fixture
def exported(driver):
    """Memory of the device, exported as an opaque file descriptor."""
    properties = AllocationProp(type=1, handle_types=1, location_type=1)
    memory, descriptor = ctypes.c_uint64(), ctypes.c_int(-1)
    assert (
        driver.cuMemCreate(
            ctypes.byref(memory), ctypes.c_size_t(SIZE), ctypes.byref(properties), ctypes.c_uint64()
        )
        == 0
    )
    assert (
        driver.cuMemExportToShareableHandle(ctypes.byref(descriptor), memory, 1, ctypes.c_uint64())
        == 0
    )
    yield descriptor.value
    os.close(descriptor.value)
    assert driver.cuMemRelease(memory) == 0


@pytest.fixture
def _on_emulated_device(device):
    if not device.is_emulated:
        pytest.skip("the driver of a GPU imports semaphores of Vulkan only")


@pytest.fixture
def counter(_on_emulated_device):
    """A counter in shared memory, as (file descriptor, array of one number)."""
    with tempfile.TemporaryFile() as file:
        file.truncate(PAGE)
        shared = mmap.mmap(file.fileno(), PAGE)
        numbers = np.frombuffer(shared, np.uint64, 1)
        yield file, numbers


@pytest.fixture
def event(_on_emulated_device):
    descriptor = ctypes.CDLL(None).eventfd(0, 0)
    yield descriptor
    os.close(descriptor)


def is_signalled(descriptor):
    return bool(select.select([descriptor], [], [], 0)[0])


def test_two_imports_see_the_same_bytes(exported, stream):
    with (
        ExternalMemory.from_fd(exported, SIZE) as first,
        ExternalMemory.from_fd(exported, SIZE, dedicated=False) as second,
    ):
        assert first.size == SIZE
        assert first.handle_type == "opaque_fd"
        assert first.handle_type is cuprum.typing.ExternalMemoryHandleType.OPAQUE_FD
        assert first != second
        whole, part = first.map(), second.map(4096, 16)
        assert (whole.size, part.size) == (SIZE, 16)
        assert second.map(SIZE - 8).size == 8
        seen = np.zeros(4, np.uint32)
        whole[4096:4112].fill(np.uint32(0xC0FFEE), stream=stream)
        part.copy_to_host(seen, stream=stream)
        stream.sync()
        assert (seen == 0xC0FFEE).all()
    os.fstat(exported)  # the caller keeps the descriptor
    whole.fill(0, stream=stream)  # a buffer outlives the object
    whole.close(stream=stream)


@pytest.mark.usefixtures("_on_emulated_device")
def test_memory_of_a_file_of_this_process(stream):
    with tempfile.TemporaryFile() as file:
        file.truncate(PAGE)
        shared = mmap.mmap(file.fileno(), PAGE)
        with ExternalMemory.from_fd(file, PAGE) as memory, memory.map() as buffer:
            buffer.fill(7, stream=stream)
            stream.sync()
        assert shared[:] == b"\7" * PAGE


def test_a_stream_signals_and_waits(counter, event, stream):
    file, numbers = counter
    timeline = ExternalSemaphore.from_fd(file, handle_type="timeline_fd")
    binary = ExternalSemaphore.from_fd(event)
    timeline.wait(3, stream=stream)
    binary.signal(stream=stream)
    timeline.signal(4, stream=stream)
    assert not stream.is_done
    assert not is_signalled(event)
    numbers[0] = 3
    stream.sync()
    assert is_signalled(event)
    assert numbers[0] == 4
    binary.wait(stream=stream)
    stream.sync()
    assert not is_signalled(event)
    timeline.close()
    binary.close()


def test_a_dropped_semaphore_lives_until_its_work_is_done(counter, event, stream, live_objects):
    file, numbers = counter
    before = live_objects()
    timeline = ExternalSemaphore.from_fd(file, handle_type="timeline_fd")
    binary = ExternalSemaphore.from_fd(event)
    timeline.wait(5, stream=stream)
    binary.signal(stream=stream)
    del timeline
    binary.close()
    assert live_objects()["graphics_objects"] == before["graphics_objects"] + 2
    numbers[0] = 5
    stream.sync()
    assert is_signalled(event)
    assert live_objects() == before


def test_a_graph_captures_signals_and_waits(counter, device, stream):
    file, numbers = counter
    builder = device.create_graph_builder().begin_building()
    with ExternalSemaphore.from_fd(file, handle_type="timeline_fd") as timeline:
        timeline.wait(1, stream=builder)
        timeline.signal(2, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    numbers[0] = 1
    stream.sync()
    assert numbers[0] == 2
    graph.close()
    builder.close()


def test_semaphores_describe_themselves(counter, device):
    file, _ = counter
    semaphore = ExternalSemaphore.from_fd(file, handle_type="timeline_fd")
    assert repr(semaphore).endswith(" timeline_fd>")
    assert semaphore.handle_type is cuprum.typing.ExternalSemaphoreHandleType.TIMELINE_FD
    assert semaphore in {semaphore}
    assert semaphore.device is device
    assert semaphore.handle
    semaphore.close()
    semaphore.close()
    assert repr(semaphore) == "<ExternalSemaphore closed>"
    with pytest.raises(cuprum.ClosedError, match="ExternalSemaphore was closed"):
        semaphore.signal(1, stream=device.default_stream)


def test_memory_describes_itself(exported, device):
    memory = ExternalMemory.from_fd(exported, SIZE)
    assert repr(memory).endswith(f" opaque_fd size={SIZE}>")
    assert memory in {memory}
    assert memory.device is device
    assert memory.context == device.context
    memory.close()
    memory.close()
    assert memory.is_closed
    with pytest.raises(cuprum.ClosedError, match="ExternalMemory was closed"):
        memory.map()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        ((-1, SIZE), {}, ValueError, "fd is -1, expected an open file descriptor"),
        ((1 << 40, SIZE), {}, ValueError, "fd is 1099511627776"),
        (("7", SIZE), {}, TypeError, "fd must be a file descriptor .* got str"),
        ((True, SIZE), {}, TypeError, "fd must be a file descriptor .* got bool"),
        ((999, SIZE), {}, ValueError, "the file descriptor is 999, expected one that is open"),
        ((0, 0), {}, ValueError, "the size is 0 bytes"),
        ((0, -1), {}, ValueError, "size"),
        ((0, "1"), {}, TypeError, "size must be an integer"),
        (
            (0, SIZE),
            {"handle_type": "opaque_win32"},
            ValueError,
            "handle_type is 'opaque_win32', expected one of 'opaque_fd', 'dma_buf_fd'",
        ),
        ((0, SIZE), {"handle_type": 1}, TypeError, "handle_type"),
        ((0, SIZE), {"dedicated": "no"}, TypeError, "dedicated"),
        (
            (0, SIZE),
            {"handle_type": "dma_buf_fd", "dedicated": True},
            ValueError,
            "a DMA-BUF has no dedicated allocations",
        ),
    ],
)
def test_bad_memory(arguments, options, error, text):
    with pytest.raises(error, match=text):
        ExternalMemory.from_fd(*arguments, **options)


@pytest.mark.parametrize(
    ("offset", "size", "text"),
    [
        (0, 0, "the size is 0 bytes"),
        (SIZE, 1, f"1 bytes from offset {SIZE}, but the ExternalMemory has {SIZE}"),
        (SIZE, None, f"offset is {SIZE}, but the ExternalMemory has {SIZE} bytes"),
        (1, SIZE, "offset 1"),
        (-1, 4, "offset"),
    ],
)
def test_bad_parts(exported, offset, size, text):
    with ExternalMemory.from_fd(exported, SIZE) as memory, pytest.raises(ValueError, match=text):
        memory.map(offset, size)


def test_bad_semaphores(counter, event, stream):
    file, _ = counter
    with pytest.raises(ValueError, match="handle_type is 'sync_fd', expected one of 'opaque_fd'"):
        ExternalSemaphore.from_fd(event, handle_type="sync_fd")
    with pytest.raises(cuprum.CUDAError, match="cuImportExternalSemaphore"):
        ExternalSemaphore.from_fd(file)
    timeline = ExternalSemaphore.from_fd(file, handle_type="timeline_fd")
    binary = ExternalSemaphore.from_fd(event)
    with pytest.raises(ValueError, match=r"value is missing.*pass a value to wait\(\)"):
        timeline.wait(stream=stream)
    with pytest.raises(ValueError, match=r"value is given.*signal\(\) without a value"):
        binary.signal(1, stream=stream)
    with pytest.raises(ValueError, match="value"):
        timeline.signal(-1, stream=stream)
    with pytest.raises(TypeError, match="value must be an integer"):
        timeline.signal("1", stream=stream)
    with pytest.raises(TypeError, match="stream"):
        timeline.signal(1, stream=None)
    timeline.close()
    binary.close()


def test_objects_are_not_made_directly():
    for cls in (ExternalMemory, ExternalSemaphore):
        with pytest.raises(RuntimeError, match=rf"cannot be instantiated directly.*{cls.__name__}"):
            cls()
