# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A program for ``cuda.core``: a function for any array, and memory that both sides can access."""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory

SOURCE = """
extern "C" __global__ void negate(const int* from, int* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = -from[i];
}
"""


@args_viewable_as_strided_memory((0,))
def describe(array, stream):
    view = array.view(-1)
    return f"{view.shape} {view.dtype} on {'device' if view.is_device_accessible else 'host'}"


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("negate")
    print(describe(np.zeros((3, 4), dtype=np.int16), stream))

    pinned = LegacyPinnedMemoryResource()
    buffers = [pinned.allocate(400, stream=stream) for _ in range(2)]
    arrays = [np.from_dlpack(buffer).view(np.int32) for buffer in buffers]
    arrays[0][:] = range(100)
    launch(stream, LaunchConfig(grid=4, block=32), kernel, *buffers, 100)
    stream.sync()
    print("negated:", bool((arrays[1] == -arrays[0]).all()))

    view = StridedMemoryView.from_array_interface(arrays[1].reshape(10, 10))
    print(view.shape, view.dtype, view.ptr == int(buffers[1].handle), view.readonly)
    hash((device, stream, kernel, buffers[0]))
    print(
        list({Device(0), device} - {Device(0)}),
        stream == stream.__class__.from_handle(int(stream.handle)),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
