# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import ctypes

import numpy as np
import pytest

import cuprum
from cuprum import (
    Buffer,
    GraphMemoryResource,
    LegacyPinnedMemoryResource,
    SynchronousMemoryResource,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)
from cuprum.utils import register_host_memory

# ---- at once ------------------------------------------------------------------------------------


def test_pinned_memory_at_once(device, stream):
    resource = LegacyPinnedMemoryResource()
    buffer = resource.allocate(256)
    assert buffer.is_host_accessible
    assert buffer.is_device_accessible
    assert buffer.memory_resource is resource
    ctypes.memset(buffer.handle, 5, 256)
    with device.allocate(256, stream=stream) as other:
        buffer.copy_to(other, stream=stream)
        back = np.zeros(256, np.uint8)
        other.copy_to_host(back, stream=stream)
        stream.sync()
    assert (back == 5).all()
    buffer.close(stream)
    assert resource.allocate(0).handle == 0
    with pytest.raises(RuntimeError, match="not bound to any GPU"):
        _ = resource.device_id
    with pytest.raises(TypeError, match="stream"):
        resource.allocate(16, stream="no")


def test_device_memory_at_once(device, stream):
    resource = SynchronousMemoryResource(device)
    assert resource.device_id == 0
    with resource.allocate(256, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
        assert not buffer.is_host_accessible
    resource.allocate(16).close()
    with pytest.raises(cuprum.OutOfMemoryError, match=f"{1 << 50} bytes"):
        resource.allocate(1 << 50)
    with pytest.raises(cuprum.CUDAError):
        resource.deallocate(12345, 16)


def test_a_device_without_pools_allocates_at_once(stream):
    # Device.memory_resource falls back to this class. The C++ tests simulate devices without pools.
    resource = SynchronousMemoryResource(0)
    buffer = Buffer.from_handle(0, 0, resource, stream=stream)
    assert buffer.memory_resource is resource
    buffer.close()


# ---- registered ---------------------------------------------------------------------------------


def test_existing_memory_is_registered_and_unregistered(stream):
    memory = np.zeros(1 << 16, np.uint8)
    for value in (1, 2):
        with register_host_memory(memory) as buffer:
            assert buffer.handle == memory.ctypes.data
            assert buffer.owner is memory
            with pytest.raises(cuprum.CUDAError, match="ALREADY_REGISTERED"):
                register_host_memory(memory)
            buffer.fill(value, stream=stream)
            buffer.close(stream)
        assert (memory == value).all(), "releasing waits for the stream"


def test_only_memory_can_be_registered():
    with pytest.raises(TypeError, match="obj"):
        register_host_memory(3)
    with pytest.raises((TypeError, ValueError, BufferError)):
        register_host_memory(b"cannot be written")


def test_memory_that_is_only_read_can_be_registered_as_such(device):
    if not device.properties.get("read_only_host_register_supported", 0):
        pytest.skip("the device does not know such registrations")
    text = bytes(1 << 16)
    register_host_memory(text, read_only=True).close()


# ---- graphs -------------------------------------------------------------------------------------


def test_graph_memory_needs_a_capture(device, stream):
    resource = GraphMemoryResource(device)
    assert resource is GraphMemoryResource(0)
    assert resource.device_id == 0
    with pytest.raises(RuntimeError, match="non-capturing stream"):
        resource.allocate(16, stream=stream)
    with pytest.raises(TypeError, match="stream"):
        resource.allocate(16, stream=None)
    resource.close()
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        type(resource.attributes)()


# ---- virtual memory -----------------------------------------------------------------------------


@pytest.fixture
def virtual(device):
    if not device.properties.get("virtual_memory_management_supported", 0):
        pytest.skip("the device has no virtual memory management")
    return VirtualMemoryResource(device)


def test_virtual_memory_grows_and_keeps_what_it_holds(virtual, device, stream):
    assert virtual.device is device
    buffer = virtual.allocate(1000, stream=stream)
    first = buffer.size
    assert first % virtual.granularity == 0
    buffer.fill(1, stream=stream)
    stream.sync()
    for times in (2, 3, 5):
        grown = virtual.modify_allocation(buffer, times * first)
        assert grown.size == times * first
        if grown is not buffer:
            buffer.close()
        buffer = grown
        back = np.zeros(buffer.size, np.uint8)
        buffer.copy_to_host(back, stream=stream)
        stream.sync()
        assert (back[:first] == 1).all()
    same = virtual.modify_allocation(buffer, 1)
    assert same is buffer
    buffer.close()


def test_new_options_become_the_resources(virtual, stream):
    buffer = virtual.allocate(1)
    read_only = VirtualMemoryResourceOptions(self_access="r")
    assert virtual.modify_allocation(buffer, 1, config=read_only) is buffer
    assert virtual.config is read_only
    buffer.close()


def test_options_are_checked(device):
    for options, text in (
        ({"location_type": "moon"}, "Unsupported location_type: 'moon'"),
        ({"allocation_type": "soft"}, "Unsupported allocation_type"),
        ({"granularity": 3}, "Unsupported granularity"),
        ({"handle_type": "string"}, "Unsupported handle_type"),
        ({"peer_access": "w"}, "Unknown access spec: 'w'"),
        ({"addr_align": 3}, "addr_align is 3"),
    ):
        with pytest.raises(ValueError, match=text):
            VirtualMemoryResource(device, options)
    with pytest.raises(NotImplementedError, match="win32 is currently not supported"):
        VirtualMemoryResource(device, {"handle_type": "win32"})
    with pytest.raises(TypeError, match="VirtualMemoryResourceOptions"):
        VirtualMemoryResource(device, 7)


class Place(ctypes.Structure):
    """The driver's CUmemLocation."""

    _fields_ = (("kind", ctypes.c_int), ("number", ctypes.c_int))


def test_new_options_shut_out_who_is_no_peer_any_more(virtual, driver, device):
    peers = [
        each
        for each in cuprum.Device.get_all_devices()
        if each != device and each.can_access_peer(device)
    ]
    if not peers:
        pytest.skip("no other device can reach this one")

    def access(buffer):
        place = Place(1, peers[0].device_id)  # CU_MEM_LOCATION_TYPE_DEVICE
        flags = ctypes.c_ulonglong()
        address = ctypes.c_ulonglong(buffer.handle)
        assert driver.cuMemGetAccess(ctypes.byref(flags), ctypes.byref(place), address) == 0
        return flags.value

    buffer = virtual.allocate(1)
    shut_out = access(buffer)
    virtual.modify_allocation(buffer, 1, {"peers": [peers[0]]})
    assert access(buffer) == 3, "it reads and writes"
    virtual.modify_allocation(buffer, 1, {"peers": [peers[0].device_id], "peer_access": "r"})
    assert access(buffer) == 1
    virtual.modify_allocation(buffer, 1, {})
    assert access(buffer) == shut_out
    buffer.close()


def test_only_whole_allocations_of_its_own_grow(virtual, device, stream):
    with virtual.allocate(1) as buffer:
        with pytest.raises(ValueError, match="does not come from this"):
            VirtualMemoryResource(device).modify_allocation(buffer, 10)
        with pytest.raises(ValueError, match="new_size"):
            virtual.modify_allocation(buffer, -1)
        with pytest.raises(cuprum.OutOfMemoryError):
            virtual.modify_allocation(buffer, 1 << 50)
        assert buffer.size == virtual.granularity
    with pytest.raises(cuprum.ClosedError):
        virtual.modify_allocation(buffer, 10)
    with pytest.raises(TypeError, match="buf must be a Buffer"):
        virtual.modify_allocation(3, 10)


def test_host_memory_belongs_to_no_device(device):
    if not device.properties.get("virtual_memory_management_supported", 0):
        pytest.skip("the device has no virtual memory management")
    for kind in ("host", "host_numa", "host_numa_current"):
        resource = VirtualMemoryResource(device, {"location_type": kind})
        assert resource.device is None
        assert resource.is_host_accessible
        assert resource.device_id == -1
