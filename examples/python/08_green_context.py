# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Give urgent work a few multiprocessors of its own."""

import sys

import numpy as np

import cuprum

SOURCE = r"""
extern "C" __global__ void fill(int* out, int value, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
"""
COUNT = 1024

device = cuprum.Device()
try:
    everything = device.resources.sm
except cuprum.CUDAError as error:
    print(f"green contexts are not supported here: {error}")
    sys.exit()

groups, rest = everything.split(cuprum.SMResourceOptions(count=everything.min_partition_size))
green = device.create_context(cuprum.ContextOptions(resources=groups))

fill = cuprum.Program(SOURCE, "c++").compile("cubin").get_kernel("fill")
urgent = green.create_stream()
values = np.zeros(COUNT, np.int32)
with device.allocate(values.nbytes, stream=urgent) as buffer:
    config = cuprum.LaunchConfig(grid=COUNT // 128, block=128)
    cuprum.launch(urgent, config, fill, buffer, 7, COUNT)
    buffer.copy_to_host(values, stream=urgent)
    urgent.sync()

assert (values == 7).all()
print(f"a kernel ran on {green.resources.sm.sm_count} of {everything.sm_count} multiprocessors")
urgent.close()
green.close()
