# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import cuprum
from cuprum import (
    DeviceMemoryResource,
    Host,
    ManagedBuffer,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    MemoryPool,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
)

POOL_BYTES = 4 << 20


@pytest.fixture
def pool(device):
    pool = DeviceMemoryResource(device, {"max_size": POOL_BYTES})
    yield pool
    pool.close()


@pytest.fixture
def pinned(device):
    if not device.properties.get("host_memory_pools_supported", 0):
        pytest.skip("the device has no pools of host memory")
    pool = PinnedMemoryResource({"max_size": POOL_BYTES})
    yield pool
    pool.close()


@pytest.fixture
def managed(device):
    if not device.properties.get("concurrent_managed_access", 0):
        pytest.skip("the device cannot share managed memory with the host")
    pool = ManagedMemoryResource({})
    yield pool
    pool.close()


def read(buffer, stream):
    stream.sync()
    return ctypes.string_at(buffer.handle, buffer.size)


# ---- attributes ---------------------------------------------------------------------------------


def test_attributes_are_live_and_can_be_set(pool, stream):
    attributes = pool.attributes
    assert attributes.used_mem_current == 0
    with pool.allocate(64, stream=stream):
        assert attributes.used_mem_current >= 64
    stream.sync()
    assert attributes.used_mem_high >= 64
    attributes.used_mem_high = 0
    assert attributes.used_mem_high == 0
    attributes.release_threshold = 4096
    assert pool.attributes.release_threshold == 4096
    attributes.reuse_allow_opportunistic = False
    assert pool.attributes.reuse_allow_opportunistic is False
    assert repr(attributes).startswith("MemoryPoolAttributes(release_threshold=4096, ")


def test_attributes_that_cannot_be_set_say_so(pool):
    with pytest.raises(AttributeError, match=r"'used_mem_current' .* is not writable"):
        pool.attributes.used_mem_current = 0
    with pytest.raises(AttributeError, match=r"may only be set to zero \(got 5\)"):
        pool.attributes.used_mem_high = 5
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        type(pool.attributes)()


def test_attributes_outlive_the_resource(device):
    pool = DeviceMemoryResource(device, {"max_size": POOL_BYTES})
    attributes = pool.attributes
    pool.close()
    assert attributes.used_mem_current == 0
    with pytest.raises(cuprum.ClosedError):
        _ = pool.attributes


def test_trimming_gives_memory_back(pool, stream):
    pool.allocate(1 << 20, stream=stream).close()
    reserved = pool.attributes.reserved_mem_current
    assert reserved >= 1 << 20
    cuprum.Device(0).sync()
    pool.trim_to(0)
    # A driver may keep memory that it does not know to be free yet, but must not reserve more.
    assert pool.attributes.reserved_mem_current <= reserved
    assert pool.attributes.used_mem_current == 0
    with pytest.raises(ValueError, match="keep_bytes"):
        pool.trim_to(-1)


# ---- kinds --------------------------------------------------------------------------------------


def test_pinned_memory_is_the_hosts_too(pinned, stream):
    assert isinstance(pinned, MemoryPool)
    assert pinned.is_host_accessible
    assert pinned.is_device_accessible
    assert not pinned.is_managed
    assert (pinned.device_id, pinned.numa_id) == (-1, -1)
    with pinned.allocate(64, stream=stream) as buffer:
        buffer.fill(7, stream=stream)
        assert read(buffer, stream) == bytes([7]) * 64
        assert buffer.memory_resource is pinned


def test_pinned_options_are_checked():
    with pytest.raises(ValueError, match="numa_id must be >= 0, got -1"):
        PinnedMemoryResource(PinnedMemoryResourceOptions(numa_id=-1))
    with pytest.raises(TypeError, match="PinnedMemoryResourceOptions"):
        PinnedMemoryResource(3)


def test_managed_memory_is_the_hosts_too(managed, stream):
    with managed.allocate(64, stream=stream) as buffer:
        assert type(buffer) is ManagedBuffer
        assert buffer.is_managed
        buffer.fill(9, stream=stream)
        assert read(buffer, stream) == bytes([9]) * 64
    assert managed.is_managed
    assert managed.preferred_location is None


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"preferred_location": 0}, ("device", 0)),
        ({"preferred_location": -1}, ("host", None)),
        ({"preferred_location_type": "host"}, ("host", None)),
        ({"preferred_location": 0, "preferred_location_type": "device"}, ("device", 0)),
        ({"preferred_location": 0, "preferred_location_type": "host_numa"}, ("host_numa", 0)),
    ],
)
def test_managed_pools_prefer_places(managed, options, place):
    pool = ManagedMemoryResource(options)
    assert pool.preferred_location == place
    pool.close()


@pytest.mark.parametrize(
    ("place", "kind", "text"),
    [
        (-2, None, "preferred_location must be a device ordinal, -1"),
        (None, "device", "must be a device ordinal"),
        (0, "host", "must be None"),
        (-1, "host_numa", "must be a NUMA node ID"),
        (None, "moon", "'moon' is not a valid ManagedMemoryLocationType"),
    ],
)
def test_places_that_do_not_fit_their_type_are_refused(place, kind, text):
    with pytest.raises(ValueError, match=text):
        ManagedMemoryResource(ManagedMemoryResourceOptions(place, kind))


def test_a_foreign_pool_is_wrapped(device, pool, stream):
    wrapped = DeviceMemoryResource.from_handle(device, pool.handle, owner=pool)
    assert not wrapped.is_handle_owned
    assert wrapped.handle == pool.handle
    wrapped.allocate(64, stream=stream).close()
    with pytest.raises(ValueError, match="handle is null"):
        DeviceMemoryResource.from_handle(device, 0)


def test_sizes_that_cannot_be(pool, stream):
    assert pool.allocate(0, stream=stream).size == 0
    with pytest.raises(ValueError, match="size must be at least 0"):
        pool.allocate(-1, stream=stream)
    with pytest.raises(OverflowError):
        pool.allocate(1 << 80, stream=stream)
    with pytest.raises(TypeError, match="size must be an integer"):
        pool.allocate("16", stream=stream)
    with pytest.raises(cuprum.OutOfMemoryError, match=f"{1 << 40} bytes") as caught:
        pool.allocate(1 << 40, stream=stream)
    assert caught.value.requested_bytes == 1 << 40
    with pytest.raises(TypeError, match="stream"):
        pool.allocate(16, stream=None)


# ---- peer access --------------------------------------------------------------------------------


def test_the_peers_of_a_pool_are_a_live_set(pool, device):
    peers = pool.peer_accessible_by
    others = [each for each in cuprum.Device.get_all_devices() if each != device]
    reachable = [each for each in others if each.can_access_peer(device)]
    assert peers == set()
    assert device not in peers
    assert 0 not in peers
    assert "nobody" not in peers
    peers.add(device)  # always has access
    peers.discard("nobody")
    assert len(peers) == 0
    assert "PeerAccessibleBySetProxy(set())" in repr(peers)
    pool.peer_accessible_by = reachable
    assert peers == set(reachable)
    pool.peer_accessible_by |= set(reachable)
    peers.clear()
    assert list(pool.peer_accessible_by) == []
    with pytest.raises(KeyError):
        peers.remove(device)
    with pytest.raises((ValueError, cuprum.CUDAError)):
        peers.add(len(cuprum.Device.get_all_devices()))


BETWEEN_DEVICES = """
import cuprum
from cuprum import Buffer, DeviceMemoryResource, SynchronousMemoryResource
from cuprum.utils import CopyOptions, copy_batch

devices = cuprum.Device.get_all_devices()
if len(devices) < 2 or not devices[0].can_access_peer(devices[1]):
    raise SystemExit("needs two devices that reach each other")
here, there = devices[:2]
here.set_current()
stream = here.create_stream()
their_stream = there.create_stream()
pool = DeviceMemoryResource(there, {"max_size": 1 << 20})
far = pool.allocate(64, stream=their_stream)
their_stream.sync()
near = here.allocate(64, stream=stream)
near.fill(3, stream=stream)
assert (near.device_id, far.device_id) == (0, 1)


def arrives(way):
    far.fill(9, stream=their_stream)
    their_stream.sync()
    try:
        way()
        stream.sync()
    except cuprum.CUDAError:
        return False
    back = bytearray(64)
    far.copy_to_host(back, stream=their_stream)
    their_stream.sync()
    assert back == b"\\3" * 64
    return True


def copy():
    near.copy_to(far, stream=stream)


def batch():
    copy_batch(stream, [near], [far])


def hinted():
    copy_batch(stream, [near], [far], options=CopyOptions(src_location_hint=here))


peers = pool.peer_accessible_by
assert peers == set()
assert arrives(copy) and arrives(batch), "copies can name both devices"
assert not arrives(hinted), "memory of a pool is its device's alone at first"
peers.add(0)
assert peers == {here} and 0 in peers and here in peers and there not in peers
assert arrives(copy) and arrives(batch) and arrives(hinted)
peers.discard(here)
assert peers == set()
assert arrives(batch) and not arrives(hinted)
pool.peer_accessible_by = [here, there]  # its own device always has access
assert pool.peer_accessible_by == {here}
assert arrives(hinted)
pool.peer_accessible_by ^= {here}
assert peers == set()

# Memory without a pool needs no access rights.
plain = SynchronousMemoryResource(there).allocate(64, stream=stream)
assert plain.device_id == 1
near.copy_to(plain, stream=stream)
stream.sync()
plain.close()
far.close()
near.close()
pool.close()
for each in (stream, their_stream):
    each.close()
print("works")
"""


def test_who_may_access_a_pool_between_devices():
    environment = {
        **os.environ,
        "CUPRUM_EMULATOR_DEVICES": "2",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BETWEEN_DEVICES],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "needs two devices" in done.stderr:
        pytest.skip("needs two devices that reach each other")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "works\n"


def test_peers_are_named_by_any_integer(pool, device):
    others = [
        each
        for each in cuprum.Device.get_all_devices()
        if each != device and each.can_access_peer(device)
    ]
    if not others:
        pytest.skip("no other device can reach this one")
    peer = others[0]
    peers = pool.peer_accessible_by
    for name in (peer, peer.device_id, np.int64(peer.device_id)):
        peers.add(name)
        assert name in peers
        assert set(peers) == {peer}
        peers.discard(name)
        assert name not in peers
        assert not peers


def test_a_pool_is_gone_with_its_last_share(device):
    pool = DeviceMemoryResource(device, {"max_size": POOL_BYTES})
    reference = weakref.ref(pool)
    _ = pool.peer_accessible_by
    del pool, _
    assert reference() is None


# ---- managed buffers ----------------------------------------------------------------------------


def test_managed_memory_is_steered(managed, device, stream):
    from cuprum.utils import discard_batch, discard_prefetch_batch, prefetch_batch

    buffers = [managed.allocate(1 << 16, stream=stream) for _ in range(2)]
    first = buffers[0]
    first.fill(3, stream=stream)
    first.prefetch(Host(), stream=stream)
    assert read(first, stream)[:4] == b"\3\3\3\3"
    assert first.last_prefetch_location == Host()
    prefetch_batch(stream, buffers, device)
    stream.sync()
    assert [each.last_prefetch_location for each in buffers] == [device, device]
    prefetch_batch(stream, buffers, [device, Host()])
    discard_batch(stream, buffers)
    discard_prefetch_batch(stream, buffers, Host())
    first.discard(stream=stream)
    first.discard_prefetch(device, stream=stream)
    stream.sync()
    with pytest.raises(ValueError, match="locations length"):
        prefetch_batch(stream, buffers, [Host()])
    with pytest.raises(ValueError, match="empty buffers sequence"):
        discard_batch(stream, [])
    with pytest.raises(TypeError, match="sequence of Buffers"):
        prefetch_batch(stream, first, Host())
    with pytest.raises(ValueError, match="location is required"):
        first.prefetch(None, stream=stream)
    with pytest.raises(TypeError, match="Device, Host, or None"):
        first.prefetch(0, stream=stream)
    for buffer in buffers:
        buffer.close()


def test_parts_of_managed_memory_are_steered_on_their_own(managed, device, stream):
    half = 1 << 21  # memory moves in pages, which may be large
    with managed.allocate(2 * half, stream=stream) as buffer:
        buffer.prefetch(device, stream=stream)
        part = buffer[half:]
        assert type(part) is ManagedBuffer
        assert part.memory_resource is managed
        part.prefetch(Host(), stream=stream)
        stream.sync()
        assert part.last_prefetch_location == Host()
        assert buffer[:half].last_prefetch_location == device
        assert buffer.last_prefetch_location is None, "not all of it was sent to one place"
        part.close()


def test_advice_can_be_given_and_taken_back(managed, driver, device, stream):
    address = ctypes.c_uint64()
    assert driver.cuMemAllocManaged(ctypes.byref(address), ctypes.c_size_t(1 << 16), 1) == 0
    buffer = ManagedBuffer.from_handle(address.value, 1 << 16)
    assert buffer.read_mostly is False
    buffer.read_mostly = True
    assert buffer.read_mostly is True
    for place in (device, Host(), None):
        buffer.preferred_location = place
        assert buffer.preferred_location == place
    assert buffer.accessed_by == set()
    buffer.accessed_by.add(device)
    buffer.accessed_by |= {Host()}
    assert buffer.accessed_by == {device, Host()}
    with pytest.raises(ValueError, match="does not support location_type='host_numa'"):
        buffer.accessed_by = {Host(0)}
    assert buffer.accessed_by == {device, Host()}, "nothing was changed"
    buffer.accessed_by = {device}
    with pytest.raises(ValueError, match="does not support location_type='host_numa'"):
        buffer.accessed_by |= [Host(), Host(0)]
    assert buffer.accessed_by == {device}, "nothing was changed"
    buffer.accessed_by = set()
    assert len(buffer.accessed_by) == 0
    buffer.close()
    assert driver.cuMemFree_v2(address) == 0


def test_a_pool_that_takes_no_advice_says_the_way_out(managed, stream):
    with managed.allocate(1 << 16, stream=stream) as buffer:
        error = None
        try:
            buffer.read_mostly = True
        except cuprum.CUDAError as refusal:
            error = refusal
        assert buffer.read_mostly is (error is None), "a driver that takes it remembers it"
        if error is not None:
            assert error.name == "CUDA_ERROR_NOT_SUPPORTED"
            assert "cuMemAllocManaged" in str(error)


def test_memory_that_does_not_move_is_refused(pool, device, stream):
    with pool.allocate(64, stream=stream) as plain:
        buffer = ManagedBuffer.from_handle(plain.handle, 64, owner=plain)
        for use in (
            lambda: buffer.read_mostly,
            lambda: buffer.prefetch(device, stream=stream),
            lambda: buffer.discard(stream=stream),
        ):
            with pytest.raises(ValueError, match="managed-memory allocation"):
                use()
        buffer.close()


def test_a_flag_that_has_no_truth_says_so_itself(device):
    class Undecided:
        def __bool__(self):
            raise KeyError("neither")

    with pytest.raises(KeyError, match="neither"):
        cuprum.DeviceMemoryResource(device, {"ipc_enabled": Undecided()})
