# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Define a memory resource that keeps freed memory for the next allocation of the same size."""

import cuprum
from cuprum import Buffer, MemoryResource


class Cache(MemoryResource):
    """A resource that keeps freed memory by size and returns it when the cache is destroyed."""

    def __init__(self, upstream):
        self.upstream = upstream
        self.free = {}  # lists of buffers by size
        self.lent = {}  # buffers by address
        self.hits = 0

    def allocate(self, size, *, stream):
        kept = self.free.get(size)
        self.hits += bool(kept)
        inner = kept.pop() if kept else self.upstream.allocate(size, stream=stream)
        self.lent[inner.handle] = inner
        return Buffer.from_handle(inner.handle, size, self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        inner = self.lent.pop(ptr)
        inner.set_deallocation_stream(stream)
        self.free.setdefault(size, []).append(inner)

    @property
    def is_device_accessible(self):
        return self.upstream.is_device_accessible

    @property
    def is_host_accessible(self):
        return self.upstream.is_host_accessible

    @property
    def device_id(self):
        return self.upstream.device_id


device = cuprum.Device()
stream = device.create_stream()

cache = Cache(device.memory_resource)
device.memory_resource = cache  # Device.allocate asks it from now on
addresses = set()
for _ in range(5):
    with device.allocate(4096, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
        addresses.add(buffer.handle)
stream.sync()
assert len(addresses) == 1
assert cache.hits == 4
print(f"5 allocations, {cache.hits} of them from the cache")

device.memory_resource = cache.upstream
