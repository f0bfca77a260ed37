# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Order work across two streams with events, and time it."""

import numpy as np

import cuprum

SOURCE = r"""
extern "C" __global__ void produce(int* data, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = i;
}
extern "C" __global__ void square(const int* data, int* squares, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) squares[i] = data[i] * data[i];
}
"""
COUNT = 4096

device = cuprum.Device()
producer, consumer = device.create_stream(), device.create_stream()
code = cuprum.Program(SOURCE, "c++").compile("ptx")
produce, square = code.get_kernel("produce"), code.get_kernel("square")

data = device.allocate(COUNT * 4, stream=producer)
squares = device.allocate(COUNT * 4, stream=consumer)
config = cuprum.LaunchConfig(grid=1, block=128)
timed = cuprum.EventOptions(timing_enabled=True)

begin = producer.record(options=timed)
cuprum.launch(producer, config, produce, data, COUNT)
produced = producer.record()

# Only the device waits here; Python continues.
consumer.wait(produced)
cuprum.launch(consumer, config, square, data, squares, COUNT)
end = consumer.record(options=timed)

result = np.empty(COUNT, np.int32)
squares.copy_to_host(result, stream=consumer)
consumer.sync()
assert (result == np.arange(COUNT, dtype=np.int32) ** 2).all()
print(f"{COUNT} squares in order across two streams, {end - begin:.3f} ms")
