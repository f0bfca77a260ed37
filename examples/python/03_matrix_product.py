# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Multiply matrices with tiles in shared memory and barriers."""

import numpy as np

import cuprum

SOURCE = r"""
template <int TILE>
__global__ void multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""
N, TILE = 128, 16

device = cuprum.Device()
stream = device.create_stream()
name = f"multiply<{TILE}>"
multiply = cuprum.Program(SOURCE, "c++").compile("ptx", name_expressions=(name,)).get_kernel(name)

# With small integers every partial sum is exact in float.
a = (np.arange(N * N) % 13).astype(np.float32).reshape(N, N)
b = (np.arange(N * N) % 7).astype(np.float32).reshape(N, N)
c = np.empty_like(a)
a_buffer, b_buffer, c_buffer = (device.allocate(a.nbytes, stream=stream) for _ in range(3))
a_buffer.copy_from_host(a, stream=stream)
b_buffer.copy_from_host(b, stream=stream)
config = cuprum.LaunchConfig(grid=(N // TILE, N // TILE), block=(TILE, TILE))
cuprum.launch(stream, config, multiply, a_buffer, b_buffer, c_buffer, N)
c_buffer.copy_to_host(c, stream=stream)
stream.sync()

assert (c == a @ b).all()
print(f"{N} x {N} product exact, c[1][2] = {c[1, 2]:.0f}")
