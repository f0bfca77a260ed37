# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Exchange arrays with numpy: one function takes arrays of any library, with any strides."""

import numpy as np

import cuprum
from cuprum.utils import StridedMemoryView, args_viewable_as_strided_memory

SOURCE = r"""
extern "C" __global__ void scale(float* data, float factor, long long count) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < count) data[i] *= factor;
}
"""

device = cuprum.Device()
stream = device.create_stream()
kernel = cuprum.Program(SOURCE, "c++").compile("ptx").get_kernel("scale")


@args_viewable_as_strided_memory((0,))
def scaled(array, factor):
    """Return an array of any library, multiplied, as a new buffer and a view of it."""
    view = array.view(stream.handle)
    layout = view.layout.to_dense("C")
    buffer = device.allocate(layout.required_size_in_bytes(), stream=stream)
    result = StridedMemoryView.from_buffer(buffer, view.shape, dtype=view.dtype)
    result.copy_from(view, stream)  # gathers what the array's strides leave apart
    config = cuprum.LaunchConfig(grid=(view.size + 255) // 256, block=256)
    cuprum.launch(stream, config, kernel, buffer, factor, view.size)
    return result


columns = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2]
result = scaled(columns, 10.0)
back = np.empty_like(columns)
result.copy_to(back, stream)
assert (back == columns * 10).all()

# The host reads memory that it can reach without a copy. Slices of a buffer share its memory.
memory = np.zeros(8, np.float32)
buffer = cuprum.Buffer.from_handle(memory.ctypes.data, memory.nbytes, owner=memory)
result.exporting_obj[0:16].copy_to(buffer[16:32], stream=stream)
stream.sync()
assert (np.frombuffer(buffer, np.float32)[4:] == back.ravel()[:4]).all()
print(f"columns {columns[1]} times ten are {back[1]}, on {device.name}")
