# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import gc
import warnings
import weakref

import pytest

import cuprum
from cuprum import Buffer, DeviceMemoryResource, DeviceMemoryResourceOptions, MemoryResource

POOL_BYTES = 4 << 20


class Counting(MemoryResource):
    """A resource that forwards and counts requests. It omits the base's __init__ on purpose."""

    def __init__(self, device):
        self.pool = device.memory_resource
        self.freed = []

    def allocate(self, size, *, stream):
        inner = self.pool.allocate(size, stream=stream)
        self.inner = inner
        return Buffer.from_handle(inner.handle, size, self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        self.freed.append((ptr, size, stream))
        self.inner.close(stream)

    @property
    def is_device_accessible(self):
        return True

    @property
    def is_host_accessible(self):
        return False

    @property
    def device_id(self):
        return 0


def test_the_device_pool(device, stream):
    pool = device.memory_resource
    assert isinstance(pool, MemoryResource)
    assert pool.device_id == 0
    assert pool.device is device
    assert pool.is_device_accessible
    assert not pool.is_host_accessible
    assert not pool.is_managed
    assert not pool.is_handle_owned
    assert isinstance(pool.handle, int)
    with pool.allocate(64, stream=stream) as buffer:
        assert buffer.memory_resource is pool
    assert weakref.ref(pool)() is pool


@pytest.mark.parametrize("options", [{"max_size": POOL_BYTES}, DeviceMemoryResourceOptions()])
def test_a_pool_of_its_own(device, stream, options):
    pool = DeviceMemoryResource(device, options)
    assert pool.is_handle_owned
    with pool.allocate(64, stream=stream) as buffer:
        assert pool.attributes.used_mem_current >= 64
        assert pool.attributes.reserved_mem_current >= pool.attributes.used_mem_current
        buffer.fill(1, stream=stream)
    stream.sync()
    pool.trim()
    assert isinstance(pool.attributes.reuse_allow_opportunistic, bool)
    pool.close()


def test_a_pool_takes_an_ordinal():
    pool = DeviceMemoryResource(0)
    assert not pool.is_handle_owned
    pool.close()


def test_a_closed_pool_says_so_and_its_buffers_live_on(device, stream):
    pool = DeviceMemoryResource(device, {"max_size": POOL_BYTES})
    buffer = pool.allocate(64, stream=stream)
    pool.close()
    pool.close()
    for use in (lambda: pool.allocate(16, stream=stream), lambda: pool.handle, pool.trim):
        with pytest.raises(cuprum.ClosedError, match="MemoryResource"):
            use()
    buffer.fill(3, stream=stream)
    buffer.close()


def test_bad_arguments(device, stream):
    with pytest.raises(TypeError, match="options must be DeviceMemoryResourceOptions"):
        DeviceMemoryResource(device, 5)
    with pytest.raises(TypeError, match="device_id"):
        DeviceMemoryResource("0")
    with pytest.raises(ValueError, match="max_size"):
        DeviceMemoryResource(device, {"max_size": -1})
    with pytest.raises(TypeError, match="Stream or GraphBuilder expected for stream, got int"):
        device.memory_resource.allocate(16, stream=3)


def test_freeing_what_was_not_allocated_is_an_error(device, stream):
    with pytest.raises(cuprum.CUDAError, match="cuMemFreeAsync"):
        device.memory_resource.deallocate(12345, 64, stream=stream)


def test_a_class_of_python_allocates_and_frees(device, stream):
    resource = Counting(device)
    buffer = resource.allocate(64, stream=stream)
    assert buffer.memory_resource is resource
    assert buffer.is_device_accessible
    assert buffer.device_id == 0
    address = buffer.handle
    buffer.fill(1, stream=stream)
    buffer.close()
    assert resource.freed == [(address, 64, stream)]
    buffer.close()
    assert len(resource.freed) == 1


def test_dropping_a_buffer_calls_the_class_too(device, stream):
    resource = Counting(device)
    buffer = resource.allocate(64, stream=stream)
    del buffer
    gc.collect()
    assert len(resource.freed) == 1


def test_a_device_allocates_from_a_class_of_python(device, stream):
    original = device.memory_resource
    resource = Counting(device)
    device.memory_resource = resource
    try:
        device.allocate(32, stream=stream).close()
    finally:
        device.memory_resource = original
    assert [size for _, size, _ in resource.freed] == [32]


def test_the_base_class_refuses_what_is_not_overridden(stream):
    class Bare(MemoryResource):
        pass

    bare = Bare()
    with pytest.raises(TypeError, match=r"Bare must override MemoryResource\.allocate"):
        bare.allocate(1, stream=stream)
    with pytest.raises(TypeError, match="deallocate"):
        bare.deallocate(0, 1, stream=stream)
    for name in ("is_device_accessible", "is_host_accessible", "device_id"):
        with pytest.raises(TypeError, match=name):
            getattr(bare, name)
    assert not bare.is_managed


def test_a_failing_free_warns_and_does_not_raise(device, stream):
    class Failing(Counting):
        def deallocate(self, ptr, size, *, stream):
            super().deallocate(ptr, size, stream=stream)
            raise RuntimeError("cannot free today")

    buffer = Failing(device).allocate(16, stream=stream)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        buffer.close()
    assert [w.category for w in caught] == [RuntimeWarning]
    assert "cannot free today" in str(caught[0].message)
