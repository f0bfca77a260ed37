# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Sum a vector: warp shuffles inside a block, one atomic per block."""

import numpy as np

import cuprum

SOURCE = r"""
extern "C" __global__ void sum(const int* data, int n, unsigned long long* total) {
    __shared__ long long warp_sums[32];
    long long value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        value += data[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0;
        for (int offset = 16; offset > 0; offset /= 2) {
            value += __shfl_down_sync(0xffffffffu, value, offset);
        }
        if (threadIdx.x == 0) atomicAdd(total, (unsigned long long)value);
    }
}
"""
COUNT = 1_000_000

device = cuprum.Device()
stream = device.create_stream()
kernel = cuprum.Program(SOURCE, "c++").compile("cubin").get_kernel("sum")

data = np.arange(COUNT, dtype=np.int32) % 1001 - 300
data_buffer = device.allocate(data.nbytes, stream=stream)
total_buffer = device.allocate(8, stream=stream)
data_buffer.copy_from_host(data, stream=stream)
total_buffer.fill(0, stream=stream)
config = cuprum.LaunchConfig(grid=64, block=256)
cuprum.launch(stream, config, kernel, data_buffer, COUNT, total_buffer)

total = np.empty(1, np.int64)
total_buffer.copy_to_host(total, stream=stream)
stream.sync()
assert total[0] == data.sum(dtype=np.int64)
print(f"sum of {COUNT} numbers: {total[0]}, as expected")
