# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compile a kernel from source, allocate, copy, launch, time, check.

It runs on the GPU, or on the emulated device if there is no GPU.
"""

import sys
import time
from array import array

import cuprum

SOURCE = r"""
template <typename T>
__global__ void saxpy(T a, const T* x, T* y, size_t n) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = a * x[i] + y[i];
    }
}
"""
COUNT = 1 << 20
A = 2.5


class Account:
    """A clock that prints how long each step took."""

    def __init__(self):
        self.last = time.perf_counter()

    def step(self, what):
        now = time.perf_counter()
        print(f"  {what:<58} {(now - self.last) * 1e3:9.3f} ms")
        self.last = time.perf_counter()


def main():
    account = Account()
    device = cuprum.Device(0)
    stream = device.create_stream()
    major, minor = device.compute_capability
    kind = "emulated" if device.is_emulated else "GPU"
    print(
        f"Cuprum {cuprum.__version__} from Python on {device.name} "
        f"(compute capability {major}.{minor}, {kind})"
    )
    account.step("start the driver, make a stream")

    options = cuprum.ProgramOptions(name="saxpy.cu", std="c++17")
    program = cuprum.Program(SOURCE, "c++", options)
    code = program.compile("cubin", name_expressions=("saxpy<float>",))
    account.step(f"compile saxpy<float> with NVRTC: {len(code.code)} bytes")
    saxpy = code.get_kernel("saxpy<float>")
    account.step(f"load it: {saxpy.num_arguments} parameters")

    x = array("f", [float(i % 1000) for i in range(COUNT)])
    y = array("f", [0.5 * (i % 77) for i in range(COUNT)])
    account.last = time.perf_counter()
    x_buffer = device.allocate(COUNT * 4, stream=stream)
    y_buffer = device.allocate(COUNT * 4, stream=stream)
    x_buffer.copy_from_host(x, stream=stream)
    y_buffer.copy_from_host(y, stream=stream)
    stream.sync()
    account.step("allocate 2 x 4 MiB from the pool, copy in")

    timed = cuprum.EventOptions(timing_enabled=True)
    begin = stream.record(options=timed)
    config = cuprum.LaunchConfig(grid=256, block=256)
    cuprum.launch(stream, config, saxpy, A, x_buffer, y_buffer, COUNT)
    end = stream.record(options=timed)
    end.sync()
    account.step("launch 256 blocks of 256 threads and wait")
    print(f"  {'  of it on the device, by two events':<58} {end - begin:9.3f} ms")

    result = array("f", bytes(COUNT * 4))
    y_buffer.copy_to_host(result, stream=stream)
    stream.sync()
    account.step("copy out")

    wrong = sum(
        abs(r - (A * xi + yi)) > 1e-5 * abs(r) for r, xi, yi in zip(result, x, y, strict=True)
    )
    verdict = "" if wrong == 0 else "  <-- WRONG"
    print(f"  result: {COUNT - wrong} of {COUNT} elements right{verdict}")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
