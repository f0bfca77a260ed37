# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Pause a job to give its device to more urgent work, then let it continue.

The job integrates a differential equation and keeps its state in device memory. It does not know
that it is paused.
"""

import multiprocessing
import os
import time
from multiprocessing.connection import Connection

import numpy as np

import cuprum
from cuprum import checkpoint

COUNT = 1 << 16
STEPS = 200
SOURCE = r"""
extern "C" __global__ void decay(float* values, float rate, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] -= rate * values[i];
}
"""


def job(report: Connection) -> None:
    """Run the job in the child."""
    device = cuprum.Device(0)
    stream = device.create_stream()
    kernel = cuprum.Program(SOURCE, "c++").compile("ptx").get_kernel("decay")
    config = cuprum.LaunchConfig(grid=COUNT // 256, block=256)
    with device.allocate(COUNT * 4, stream=stream) as values:
        values.fill(np.float32(1), stream=stream)
        for step in range(STEPS):
            cuprum.launch(stream, config, kernel, values, 0.01, COUNT)
            if step == STEPS // 4:
                stream.sync()
                report.send("a quarter is done")
            if step >= STEPS // 4:
                time.sleep(0.01)  # the rest takes long enough to be paused
        result = np.empty(COUNT, np.float32)
        values.copy_to_host(result, stream=stream)
        stream.sync()
    report.send(float(result.mean()))


def main() -> None:
    """Start the job, pause it, use the device, and let the job continue."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.Process(target=job, args=(there,))
    child.start()
    print(here.recv())

    device = cuprum.Device(0)
    process = checkpoint.Process(child.pid)
    process.lock(timeout_ms=60_000)
    try:
        process.checkpoint()
        print(f"process {child.pid} is {process.state}: its device memory is free")
        device.set_current()
        urgent = device.allocate(1 << 20, stream=device.default_stream)
        urgent.close()
        process.restore()
    finally:
        process.unlock()

    mean = here.recv()
    child.join()
    assert child.exitcode == 0
    assert abs(mean - 0.99**STEPS) < 1e-3, mean
    print(f"the job continued and is done: {mean:.4f}")


if __name__ == "__main__":
    # CUDA does not work after a fork: the child must be a new interpreter.
    multiprocessing.set_start_method("spawn")
    try:
        main()
    except cuprum.NotSupportedError as error:
        print(f"skipped on process {os.getpid()}: {error}")
