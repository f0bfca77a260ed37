# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A matrix product on Hopper's tensor cores: TMA loads a ring of tiles while wgmma multiplies."""

import sys
from pathlib import Path

import numpy as np

from cuprum import Device, LaunchConfig, Program, launch
from cuprum.utils import StridedMemoryView

M, N, K = 200, 260, 328  # no multiples of a tile: TMA fills the rest with zeros
TILE, STEP, STAGES = 128, 64, 4
SHARED_BYTES = STAGES * 2 * TILE * STEP * 2 + TILE * TILE * 4

device = Device()
if device.compute_capability.major != 9:
    print("needs compute capability 9.0: skipped")
    sys.exit()
stream = device.create_stream()

source = Path(__file__).parent.parent / "kernels" / "tensor_core_product.cu"
program = Program(source.read_text(), "c++", {"arch": "sm_90a", "std": "c++17"})
kernel = program.compile("cubin").get_kernel("product")

random = np.random.default_rng(0)
a = random.integers(-4, 5, (M, K)).astype(np.float16)
b = random.integers(-4, 5, (N, K)).astype(np.float16)
a_buffer = device.allocate(a.nbytes, stream=stream)
b_buffer = device.allocate(b.nbytes, stream=stream)
c_buffer = device.allocate(M * N * 4, stream=stream)
a_buffer.copy_from_host(a, stream=stream)
b_buffer.copy_from_host(b, stream=stream)

# A map says where a tensor lies and which box one copy moves. A and B are swizzled, as wgmma reads
# them.
a_view = StridedMemoryView.from_buffer(a_buffer, (M, K), dtype=np.float16)
b_view = StridedMemoryView.from_buffer(b_buffer, (N, K), dtype=np.float16)
c_view = StridedMemoryView.from_buffer(c_buffer, (M, N), dtype=np.float32)
a_map = a_view.as_tensor_map((TILE, STEP), swizzle="128B")
b_map = b_view.as_tensor_map((TILE, STEP), swizzle="128B")
c_map = c_view.as_tensor_map((TILE // 2, TILE))
print(a_map)
print(c_map)

config = LaunchConfig(grid=(-(-N // TILE), -(-M // TILE)), block=3 * 128, shmem_size=SHARED_BYTES)
launch(stream, config, kernel, a_map, b_map, c_map, -(-K // STEP))

c = np.empty((M, N), np.float32)
c_buffer.copy_to_host(c, stream=stream)
stream.sync()
assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
print(f"{M} x {N} x {K}: all {M * N} elements are exact")
