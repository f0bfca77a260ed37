# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Work on parts of a buffer: slices, rectangles, and memory that host and device share."""

import numpy as np

import cuprum
from cuprum import Host, LegacyPinnedMemoryResource
from cuprum.utils import prefetch_batch

ROWS, COLUMNS = 8, 16

device = cuprum.Device()
stream = device.create_stream()

# A picture of bytes: a frame of ones around zeros.
picture = device.allocate(ROWS * COLUMNS, stream=stream)
picture.fill(1, stream=stream)
picture.fill_region(0, (COLUMNS - 2, ROWS - 2), offset=COLUMNS + 1, pitch=COLUMNS, stream=stream)
# Copy the first row to the last but one. Slices share the memory.
first, last_but_one = picture[:COLUMNS], picture[-2 * COLUMNS : -COLUMNS]
first.copy_to(last_but_one, stream=stream)

# Copy the right half to page-locked memory, which numpy reads directly.
half = LegacyPinnedMemoryResource().allocate(ROWS * COLUMNS // 2)
half.copy_region_from(
    picture, (COLUMNS // 2, ROWS), src_offset=COLUMNS // 2, src_pitch=COLUMNS, stream=stream
)
stream.sync()
seen = np.frombuffer(half, np.uint8).reshape(ROWS, COLUMNS // 2)
for row in seen:
    print("".join(".#"[value] for value in row))
assert seen[1:-2, :-1].sum() == 0
assert seen[0].all()
assert seen[-2:].all()
assert seen[:, -1].all()

# Managed memory moves between host and device automatically; prefetching moves it early.
if device.properties.get("concurrent_managed_access", 0):
    pool = cuprum.ManagedMemoryResource({"preferred_location": device.device_id})
    with pool.allocate(1 << 16, stream=stream) as shared:
        shared.prefetch(device, stream=stream)
        shared.fill(3, stream=stream)
        prefetch_batch(stream, [shared], Host())
        stream.sync()
        assert np.frombuffer(shared, np.uint8).sum() == 3 << 16
        print(f"managed memory is now with {shared.last_prefetch_location}")
    pool.close()

# The same call copies a buffer of another device.
others = [each for each in cuprum.Device.get_all_devices() if each != device]
if others and others[0].can_access_peer(device):
    pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})
    pool.peer_accessible_by.add(others[0])
    with (
        pool.allocate(64, stream=stream) as here,
        others[0].allocate(64, stream=others[0].create_stream()) as there,
    ):
        here.fill(5, stream=stream)
        here.copy_to(there, stream=stream)
        stream.sync()
        print(f"{there.size} bytes went to {there.device_id}")
    pool.close()
