# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Memory between processes. Children run this file's functions in new interpreters."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import uuid
import weakref

import pytest

import cuprum
from cuprum import Buffer, DeviceMemoryResource, PinnedMemoryResource
from cuprum._ipc_memory import IPCBufferDescriptor
from cuprum._processes import reset_fork_warning

BYTES = 256
TIMEOUT_S = 60

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pools are shared by file descriptor")


@pytest.fixture(params=["device", "pinned"])
def shared(request, device):
    """A pool of each kind that can be shared."""
    try:
        if request.param == "device":
            pool = DeviceMemoryResource(device, {"max_size": 4 << 20, "ipc_enabled": True})
        else:
            pool = PinnedMemoryResource({"max_size": 4 << 20, "ipc_enabled": True})
        _ = pool.allocation_handle
    except (cuprum.CUDAError, RuntimeError) as error:
        pytest.skip(f"pools cannot be shared here: {error}")
    yield pool
    pool.close()


@pytest.fixture
def start():
    """A function that runs another function in a new interpreter and waits for it."""
    context = multiprocessing.get_context("spawn")

    def run(function, *arguments, while_it_runs=None):
        process = context.Process(target=function, args=arguments)
        process.start()
        if while_it_runs is not None:
            while_it_runs(process)
        process.join(TIMEOUT_S)
        if process.is_alive():
            process.kill()
            pytest.fail("the child did not end")
        return process.exitcode

    return run


def read(buffer, stream):
    back = bytearray(buffer.size)
    buffer.copy_to_host(back, stream=stream)
    stream.sync()
    return bytes(back)


def write_twos(buffer):
    """Check in the child that it sees the parent's bytes, and write others."""
    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    assert buffer.is_mapped
    assert read(buffer, stream) == b"\1" * BYTES
    buffer.fill(2, stream=stream)
    stream.sync()
    buffer.close()


def import_twice(pool, descriptor):
    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    assert pool.is_mapped
    with pytest.raises(TypeError, match="Cannot allocate from a mapped"):
        pool.allocate(16, stream=stream)
    first = Buffer.from_ipc_descriptor(pool, descriptor, stream=stream)
    second = Buffer.from_ipc_descriptor(pool, descriptor, stream=stream)
    assert first.handle == second.handle
    first.close()
    assert read(second, stream) == b"\1" * BYTES
    second.close()
    oversized = IPCBufferDescriptor._init(descriptor._payload, BYTES << 30)
    with pytest.raises(ValueError, match="exceeds the mapped allocation extent"):
        Buffer.from_ipc_descriptor(pool, oversized, stream=stream)
    forged = IPCBufferDescriptor._init(b"\x5a" * 64, BYTES)
    with pytest.raises((cuprum.CUDAError, ValueError)):
        Buffer.from_ipc_descriptor(pool, forged, stream=stream)


def import_by_hand(kind, connection, descriptor):
    device = cuprum.Device(0)
    device.set_current()
    number = multiprocessing.reduction.recv_handle(connection)
    if kind == "DeviceMemoryResource":
        pool = DeviceMemoryResource.from_allocation_handle(device, number)
    else:
        pool = PinnedMemoryResource.from_allocation_handle(number)
    os.close(number)
    write_twos(Buffer.from_ipc_descriptor(pool, descriptor, stream=device.default_stream))


def die(buffer):
    assert buffer.is_mapped
    os._exit(7)


def write_part(part):
    """Check in the child that it gets only a part, and fill it."""
    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    assert part.is_mapped
    assert part.size == 16
    assert read(part, stream) == b"\1" * 16
    part.fill(2, stream=stream)
    stream.sync()
    part.close()


def pass_on(buffer, connection):
    """Send the parent's buffer to a third process, which this process starts."""
    assert buffer.is_mapped
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=write_twos, args=(buffer,))
    process.start()
    process.join(TIMEOUT_S)
    connection.send((process.exitcode, buffer.ipc_descriptor.size))
    buffer.close()


def refuse_mutations(pool, descriptor, other):
    """Import a descriptor with each of its bytes changed; none of them may reach the driver."""
    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    for index in range(len(descriptor._payload)):
        payload = bytearray(descriptor._payload)
        payload[index] ^= 0xFF
        changed = IPCBufferDescriptor._init(payload, descriptor.size)
        with pytest.raises(ValueError, match="does not match its checksum"):
            Buffer.from_ipc_descriptor(pool, changed, stream=stream)
    for size in (BYTES << 20, (1 << 63) - 1):
        claimed = IPCBufferDescriptor._init(descriptor._payload, size)
        with pytest.raises(ValueError, match="exceeds the mapped allocation extent"):
            Buffer.from_ipc_descriptor(pool, claimed, stream=stream)
    for cut in (0, 1, 63, 64, 71):
        short = IPCBufferDescriptor._init(descriptor._payload[:cut], descriptor.size)
        with pytest.raises(ValueError, match=f"payload is {cut} bytes; expected at least 64"):
            Buffer.from_ipc_descriptor(pool, short, stream=stream)
    if device.is_emulated:  # a GPU's driver may not know which pool a descriptor belongs to
        with pytest.raises((cuprum.CUDAError, ValueError)):
            Buffer.from_ipc_descriptor(pool, other, stream=stream)
    with Buffer.from_ipc_descriptor(pool, descriptor, stream=stream) as mapped:
        assert read(mapped, stream) == b"\1" * BYTES


def wait_for_death(buffer, connection):
    """Close the memory after the process that allocated it has ended."""
    assert buffer.is_mapped
    connection.send("mapped")
    connection.recv()
    buffer.close()


def own_and_die(connection):
    """Allocate memory, send it to another process, and kill this process."""
    device = cuprum.Device(0)
    device.set_current()
    pool = DeviceMemoryResource(device, {"max_size": 4 << 20, "ipc_enabled": True})
    buffer = pool.allocate(BYTES, stream=device.default_stream)
    device.sync()
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=wait_for_death, args=(buffer, theirs)
    )
    process.start()
    assert ours.recv() == "mapped"
    connection.send(process.pid)
    ours.send("go on")
    process.join(TIMEOUT_S)
    connection.send(process.exitcode)
    os.kill(os.getpid(), signal.SIGKILL)


def open_files():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def test_a_buffer_goes_to_another_process_and_back(shared, stream, start):
    buffer = shared.allocate(BYTES, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    assert not buffer.is_mapped
    assert start(write_twos, buffer) == 0
    assert read(buffer, stream) == b"\2" * BYTES
    buffer.close()


def test_importing_twice_maps_once_and_forgeries_are_refused(shared, stream, start):
    buffer = shared.allocate(BYTES, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    assert start(import_twice, shared, buffer.ipc_descriptor) == 0
    buffer.close()


def test_a_pool_goes_by_hand_as_a_file_descriptor(shared, stream, start):
    buffer = shared.allocate(BYTES, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    ours, theirs = multiprocessing.get_context("spawn").Pipe()

    def send(process):
        multiprocessing.reduction.send_handle(ours, shared.allocation_handle.handle, process.pid)

    name = type(shared).__name__
    assert start(import_by_hand, name, theirs, buffer.ipc_descriptor, while_it_runs=send) == 0
    assert read(buffer, stream) == b"\2" * BYTES
    buffer.close()
    ours.close()
    theirs.close()


def test_a_process_that_dies_leaves_the_memory_to_its_owner(shared, stream, start):
    buffer = shared.allocate(BYTES, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    assert start(die, buffer) == 7
    assert read(buffer, stream) == b"\1" * BYTES
    buffer.close()


def test_a_part_is_sent_as_a_part(shared, stream, start):
    with shared.allocate(BYTES, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
        stream.sync()
        part = buffer[32:48]
        with pytest.raises(RuntimeError, match="share the whole buffer and slice it"):
            _ = part.ipc_descriptor
        assert start(write_part, part) == 0
        expected = b"\1" * 32 + b"\2" * 16 + b"\1" * (BYTES - 48)
        assert read(buffer, stream) == expected


def test_an_imported_buffer_is_sent_on(shared, stream, start):
    with shared.allocate(BYTES, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
        stream.sync()
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        assert start(pass_on, buffer, theirs) == 0
        assert ours.recv() == (0, BYTES)
        assert read(buffer, stream) == b"\2" * BYTES
        ours.close()
        theirs.close()


def test_changed_descriptors_are_refused(shared, stream, start, device):
    foreign = type(shared)(
        *([device] if isinstance(shared, DeviceMemoryResource) else []),
        {"max_size": 4 << 20, "ipc_enabled": True},
    )
    with (
        shared.allocate(BYTES, stream=stream) as buffer,
        foreign.allocate(BYTES, stream=stream) as other,
    ):
        buffer.fill(1, stream=stream)
        stream.sync()
        assert start(refuse_mutations, shared, buffer.ipc_descriptor, other.ipc_descriptor) == 0
        assert read(buffer, stream) == b"\1" * BYTES
    foreign.close()


def test_a_process_that_is_killed_leaves_nothing(shared, device, stream, start):
    before = device.memory_info.free if device.is_emulated else None
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    assert start(own_and_die, theirs) == -signal.SIGKILL
    assert ours.recv() > 0
    assert ours.recv() == 0, "the one that had mapped the memory ends well"
    ours.close()
    theirs.close()
    if before is not None:
        assert device.memory_info.free == before


def test_file_descriptors_do_not_leak(shared, stream, start):
    buffer = shared.allocate(BYTES, stream=stream)
    buffer.fill(1, stream=stream)
    assert start(write_twos, buffer) == 0  # starts the helpers that multiprocessing keeps
    _ = shared.allocation_handle
    before = open_files()
    for _ in range(10):
        shared.allocation_handle.close()
        pickle.dumps(buffer)
    buffer.fill(1, stream=stream)
    stream.sync()
    assert start(write_twos, buffer) == 0
    assert open_files() == before
    buffer.close()


def test_pickles_name_the_pool_by_its_uuid(shared, stream):
    assert isinstance(shared.uuid, uuid.UUID)
    assert shared.uuid == shared.uuid == shared.allocation_handle.uuid
    assert pickle.loads(pickle.dumps(shared)) is shared
    assert type(shared).from_registry(shared.uuid) is shared
    descriptor = IPCBufferDescriptor._init(b"7" * 64, 12)
    again = pickle.loads(pickle.dumps(descriptor))
    assert (again.size, again._payload) == (12, b"7" * 64)
    with pytest.raises(RuntimeError, match=r"Memory resource [0-9a-f-]+ was not found"):
        DeviceMemoryResource.from_registry(uuid.uuid4())
    other = shared.uuid
    shared.close()
    with pytest.raises(RuntimeError, match="was not found"):
        DeviceMemoryResource.from_registry(other)


def test_what_is_not_shared_says_so(device, stream):
    pool = DeviceMemoryResource(device, {"max_size": 1 << 20})
    with pool.allocate(16, stream=stream) as buffer:
        assert not pool.is_ipc_enabled
        assert pool.uuid is None
        for use in (
            lambda: pool.allocation_handle,
            lambda: buffer.ipc_descriptor,
            lambda: pickle.dumps(pool),
            lambda: pickle.dumps(buffer),
            lambda: pool.register(uuid.uuid4()),
            lambda: Buffer.from_ipc_descriptor(
                pool, IPCBufferDescriptor._init(b"", 0), stream=stream
            ),
        ):
            with pytest.raises(RuntimeError, match="not IPC-enabled"):
                use()
    pool.close()


def test_bad_handles_and_descriptors_are_refused(shared, device, stream):
    with pytest.raises(ValueError, match=r"payload is 8 bytes; expected at least 64"):
        Buffer.from_ipc_descriptor(shared, IPCBufferDescriptor._init(bytes(8), 16), stream=stream)
    with pytest.raises(TypeError, match="Argument 'ipc_descriptor' has incorrect type"):
        Buffer.from_ipc_descriptor(shared, b"", stream=stream)
    with pytest.raises(TypeError, match="mr must be"):
        Buffer.from_ipc_descriptor(None, IPCBufferDescriptor._init(bytes(64), 1), stream=stream)
    with pytest.raises(ValueError, match="must be non-negative"):
        DeviceMemoryResource.from_allocation_handle(device, -1)
    with pytest.raises(ValueError, match="cannot be duplicated"):
        DeviceMemoryResource.from_allocation_handle(device, 1 << 20)
    with pytest.raises(TypeError, match="alloc_handle must be"):
        DeviceMemoryResource.from_allocation_handle(device, "3")
    with open(os.devnull) as other, pytest.raises(cuprum.CUDAError):
        DeviceMemoryResource.from_allocation_handle(device, other.fileno())
    with pytest.raises(RuntimeError, match="instantiated directly"):
        IPCBufferDescriptor()
    handle = shared.allocation_handle
    handle.close()
    with pytest.raises(cuprum.ClosedError):
        _ = handle.handle
    with pytest.raises(ValueError, match="closed"):
        int(handle)


def test_handles_are_descriptors_of_pools_of_the_right_kind(shared, device, stream, start):
    for number in (1 << 31, -(1 << 40)):
        with pytest.raises(ValueError, match=f"alloc_handle is out of range: {number}"):
            DeviceMemoryResource.from_allocation_handle(device, number)
    handle = shared.allocation_handle
    buffer = shared.allocate(BYTES, stream=stream)
    others = [each for each in cuprum.Device.get_all_devices() if each != device]
    if isinstance(shared, DeviceMemoryResource) and others:
        with pytest.raises(ValueError, match=r"device_id is \d+, but the pool"):
            DeviceMemoryResource.from_allocation_handle(others[0], handle)
    stream.sync()
    assert start(_import_as_the_other_kind, handle, buffer.ipc_descriptor, type(shared)) == 0
    assert start(_import_into_a_cycle, handle, buffer.ipc_descriptor, type(shared)) == 0
    buffer.close()


def test_what_arrives_unmade_or_empty_is_refused(shared, device, stream):
    buffer = shared.allocate(BYTES, stream=stream)
    payload = buffer.ipc_descriptor._payload
    with pytest.raises(ValueError, match="size is 0"):
        Buffer.from_ipc_descriptor(shared, IPCBufferDescriptor._init(payload, 0), stream=stream)
    unmade = IPCBufferDescriptor.__new__(IPCBufferDescriptor)
    with pytest.raises(TypeError, match="ipc_descriptor was made with __new__ alone"):
        Buffer.from_ipc_descriptor(shared, unmade, stream=stream)
    buffer.close()
    for value in ("abc", None, 5, []):
        text = f"uuid must be a uuid.UUID, got {type(value).__name__}"
        with pytest.raises(TypeError, match=text):
            shared.register(value)
        with pytest.raises(TypeError, match=text):
            DeviceMemoryResource.from_registry(value)


def test_a_handle_shows_what_it_is(shared, device):
    handle = shared.allocation_handle
    assert repr(handle) == f"<IPCAllocationHandle handle={handle.handle} uuid={shared.uuid}>"
    if isinstance(shared, DeviceMemoryResource):
        assert DeviceMemoryResource.from_allocation_handle(device, handle) is shared
        handle.close()
        with pytest.raises(cuprum.ClosedError):
            DeviceMemoryResource.from_allocation_handle(device, handle)
    handle.close()
    assert repr(handle) == f"<IPCAllocationHandle closed uuid={shared.uuid}>"


def test_starting_a_process_with_spawn_is_not_warned_about(shared, stream, start, recwarn):
    reset_fork_warning()
    buffer = shared.allocate(BYTES, stream=stream)
    buffer.fill(7, stream=stream)
    stream.sync()
    assert start(_drop, buffer) == 0
    buffer.close()
    reset_fork_warning()
    assert [str(each.message) for each in recwarn if each.category is UserWarning] == []


def test_sending_does_not_settle_how_processes_are_started():
    program = """
import multiprocessing, warnings
from cuprum._processes import check_multiprocessing_start_method
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    check_multiprocessing_start_method()
assert len(told) == (multiprocessing.get_all_start_methods()[0] == "fork"), told
multiprocessing.set_start_method("spawn")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _import_as_the_other_kind(handle, descriptor, kind):
    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    if kind is PinnedMemoryResource:
        # Pinned memory may be imported as device memory.
        pool = DeviceMemoryResource.from_allocation_handle(device, handle.handle)
        with Buffer.from_ipc_descriptor(pool, descriptor, stream=stream) as mapped:
            assert mapped.is_mapped
        return
    wrong = PinnedMemoryResource.from_allocation_handle(handle.handle)
    text = "imported as one of pinned host memory, but its memory is that of device"
    with pytest.raises(ValueError, match=text):
        Buffer.from_ipc_descriptor(wrong, descriptor, stream=stream)


class _Foreign:
    """An object of another library that has a stream and keeps what is assigned to it."""

    def __init__(self, device):
        self.stream = device.create_stream()
        self.kept = None

    def __cuda_stream__(self):
        return 0, int(self.stream.handle)


def _import_into_a_cycle(handle, descriptor, kind):
    device = cuprum.Device(0)
    device.set_current()
    pool = (
        kind.from_allocation_handle(device, handle)
        if kind is DeviceMemoryResource
        else kind.from_allocation_handle(handle)
    )
    owner = _Foreign(device)
    owner.kept = Buffer.from_ipc_descriptor(pool, descriptor, stream=device.create_stream(owner))
    reference = weakref.ref(owner)
    del owner
    gc.collect()
    assert reference() is None


def _drop(buffer):
    buffer.close()


def test_a_handle_that_goes_with_its_pool_arrives_open(shared, start):
    assert start(_read_handle, shared.allocation_handle, shared) == 0


def _read_handle(handle, pool):
    assert handle.handle >= 0
    assert handle.uuid == pool.uuid
    assert handle is not pool.allocation_handle
