# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Allocate from different memory resources, copy between them in one batch, grow a buffer."""

import numpy as np

import cuprum
from cuprum.utils import copy_batch, register_host_memory

BYTES = 1 << 16

device = cuprum.Device()
stream = device.create_stream()

# A private pool, page-locked host memory, and an existing array.
pool = cuprum.DeviceMemoryResource(device, {"max_size": 16 << 20})
on_device = [pool.allocate(BYTES, stream=stream) for _ in range(2)]
pinned = cuprum.LegacyPinnedMemoryResource().allocate(BYTES)
array = np.arange(BYTES, dtype=np.uint8)
registered = register_host_memory(array)

pinned.fill(7, stream=stream)
copy_batch(stream, [pinned, registered], on_device)
back = [np.empty(BYTES, np.uint8) for _ in on_device]
for buffer, host in zip(on_device, back, strict=True):
    buffer.copy_to_host(host, stream=stream)
stream.sync()
assert (back[0] == 7).all()
assert (back[1] == array).all()
print(f"the pool holds {pool.attributes.used_mem_current} bytes in {len(on_device)} buffers")

for buffer in (*on_device, pinned, registered):
    buffer.close(stream)
stream.sync()
pool.close()

if device.properties.get("virtual_memory_management_supported", 0):
    virtual = cuprum.VirtualMemoryResource(device)
    small = virtual.allocate(BYTES, stream=stream)
    small.fill(1, stream=stream)
    large = virtual.modify_allocation(small, 4 * small.size)
    where = "in place" if large is small else "under new addresses, without a copy"
    check = np.empty(large.size, np.uint8)
    large.copy_to_host(check, stream=stream)
    stream.sync()
    assert (check[: virtual.granularity] == 1).all()
    print(f"a buffer grew from {virtual.granularity} to {large.size} bytes {where}")
    small.close()
    large.close()
