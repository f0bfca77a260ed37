# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A program for ``cuda.core``: two streams, events between them, timing, pools and their limits."""

import sys

from cuda.core import (
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    LaunchConfig,
    Program,
    ProgramOptions,
    StreamOptions,
    launch,
)
from cuda.core._utils.cuda_utils import CUDAError

SOURCE = """
extern "C" __global__ void step(unsigned int* values, unsigned int factor, unsigned int add) {
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = values[i] * factor + add;
}
"""
BLOCKS, THREADS = 16, 64
SIZE = BLOCKS * THREADS * 4


def main() -> int:
    device = Device(0)
    device.set_current()
    first = device.create_stream(options=StreamOptions(nonblocking=True))
    second = device.create_stream(options={"nonblocking": True, "priority": -1})
    program = Program(SOURCE, "c++", ProgramOptions(std="c++17"))
    kernel = program.compile("ptx").get_kernel("step")
    config = LaunchConfig(grid=(BLOCKS, 1, 1), block=(THREADS, 1, 1))

    resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 26))
    buffer = resource.allocate(SIZE, stream=first)
    buffer.fill(b"\x03\x00\x00\x00", stream=first)
    begin = first.record(options=EventOptions(timing_enabled=True))
    launch(first, config, kernel, buffer, 2, 1)
    second.wait(first.record())
    launch(second, config, kernel, buffer, 10, 5)
    first.wait(second)
    end = first.record(options={"timing_enabled": True})
    end.sync()
    print("in order:", end.is_done, end - begin >= 0.0)

    try:
        resource.allocate(1 << 30, stream=first)
    except CUDAError as error:
        print("too much:", "OUT_OF_MEMORY" in str(error))
    try:
        launch(first, LaunchConfig(grid=1, block=4096), kernel, buffer, 1, 1)
    except (CUDAError, ValueError):
        print("too many threads: refused")
    print("pool:", resource.is_device_accessible, resource.is_host_accessible, resource.device_id)

    buffer.close(first)
    device.sync()
    print("used:", resource.attributes.used_mem_current)
    return 0


if __name__ == "__main__":
    sys.exit(main())
