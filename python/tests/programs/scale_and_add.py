# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A program for ``cuda.core``: compile a template, launch it, check every element."""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

SOURCE = """
template <typename T>
__global__ void scale_and_add(T factor, const T* x, const T* y, T* out, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
         i += size_t(gridDim.x) * blockDim.x)
        out[i] = factor * x[i] + y[i];
}
"""
COUNT = 10_000


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    program = Program(SOURCE, code_type="c++", options=options)
    name = "scale_and_add<float>"
    kernel = program.compile("cubin", name_expressions=(name,)).get_kernel(name)

    x = np.arange(COUNT, dtype=np.float32)
    y = np.full(COUNT, 0.5, dtype=np.float32)
    buffers = [device.allocate(x.nbytes, stream=stream) for _ in range(3)]
    for buffer, values in zip(buffers, (x, y), strict=False):
        host = StridedMemoryView.from_any_interface(values, stream_ptr=-1)
        staged = device.allocate(values.nbytes, stream=stream)
        copy_host(staged, host.ptr, values.nbytes, stream)
        buffer.copy_from(staged, stream=stream)
        staged.close(stream)
    config = LaunchConfig(grid=32, block=128)
    launch(stream, config, kernel, np.float32(2.0), *buffers, np.uint64(COUNT))
    out = np.empty(COUNT, dtype=np.float32)
    copy_host(buffers[2], out.ctypes.data, out.nbytes, stream, to_host=True)
    stream.sync()
    right = int((out == 2.0 * x + y).sum())
    print(f"{right} of {COUNT} right")
    for buffer in buffers:
        buffer.close(stream)
    stream.close()
    return 0 if right == COUNT else 1


def copy_host(buffer, address, size, stream, to_host=False):
    """Copy between a buffer and host memory, through a pinned buffer."""
    import ctypes

    from cuda.core import LegacyPinnedMemoryResource

    pinned = LegacyPinnedMemoryResource().allocate(size, stream=stream)
    if to_host:
        pinned.copy_from(buffer, stream=stream)
        stream.sync()
        ctypes.memmove(address, int(pinned.handle), size)
    else:
        ctypes.memmove(int(pinned.handle), address, size)
        buffer.copy_from(pinned, stream=stream)
        stream.sync()
    pinned.close(stream)


if __name__ == "__main__":
    sys.exit(main())
