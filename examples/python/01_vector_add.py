# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Add two vectors: the smallest complete program."""

import numpy as np

import cuprum

SOURCE = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""

device = cuprum.Device()
stream = device.create_stream()
add = cuprum.Program(SOURCE, "c++").compile("ptx").get_kernel("add")

a = np.full(1000, 1.5, np.float32)
b = np.full(1000, 2.0, np.float32)
c = np.empty_like(a)
a_buffer, b_buffer, c_buffer = (device.allocate(a.nbytes, stream=stream) for _ in range(3))
a_buffer.copy_from_host(a, stream=stream)
b_buffer.copy_from_host(b, stream=stream)
config = cuprum.LaunchConfig(grid=4, block=256)
cuprum.launch(stream, config, add, a_buffer, b_buffer, c_buffer, c.size)
c_buffer.copy_to_host(c, stream=stream)
stream.sync()

assert (c == 3.5).all()
print(f"{c.size} sums, all {c[0]}, on {device.name}")
