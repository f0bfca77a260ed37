# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What the workers of a cluster do; dask_cluster.py and ray_cluster.py start them.

The client compiles once and sends the object code, which is pickled, to every worker. Workers load
it on their own device, and need no compiler for that.
"""

import functools
import os
from pathlib import Path

import numpy as np

import cuprum
from cuprum.utils import FileStreamProgramCache

WIDTH, HEIGHT, ROWS, BLOCK = 384, 256, 16, 128
BANDS = range(HEIGHT // ROWS)
LIMIT = 96
SOURCE = """
// Counts the steps until z = z * z + c leaves a circle, for some rows of the picture.
extern "C" __global__ void band(int* steps, int width, int height, int first) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first + blockIdx.y;
    const double re = 3.0 * x / width - 2.2, im = 2.0 * y / height - 1.0;
    double a = 0, b = 0;
    int count = 0;
    for (; count < 96 && a * a + b * b < 4; ++count) {
        const double next = a * a - b * b + re;
        b = 2 * a * b + im;
        a = next;
    }
    steps[blockIdx.y * width + x] = count;
}
"""
POWER = """
extern "C" __global__ void power(double* value) {
    double result = 1;
    for (int i = 0; i < EXPONENT; ++i) result *= *value;
    *value = result;
}
"""


def choose_device(worker):
    """Return the environment with which worker number `worker` gets a device of its own.

    With GPUs, each worker sees one of them. Without, each worker emulates one.
    """
    if os.environ.get("CUPRUM_DRIVER") == "native":
        return {"CUDA_VISIBLE_DEVICES": str(worker)}
    return {"CUPRUM_DRIVER": "emulated", "CUPRUM_EMULATOR_DEVICES": "1"}


def compile_bands():
    """Compile on the client."""
    return cuprum.Program(SOURCE, "c++", cuprum.ProgramOptions(name="band.cu")).compile("ptx")


@functools.cache
def open_device():
    device = cuprum.Device(0)
    return device, device.create_stream()


def run_band(code, band):
    """Compute some rows on the device of this worker. Return them with the worker's process."""
    device, stream = open_device()
    device.set_current()  # tasks may run on any thread of the worker
    kernel = code.get_kernel("band")
    steps = np.empty((ROWS, WIDTH), np.int32)
    buffer = device.allocate(steps.nbytes, stream=stream)
    config = cuprum.LaunchConfig(grid=(WIDTH // BLOCK, ROWS), block=BLOCK)
    numbers = (np.int32(value) for value in (WIDTH, HEIGHT, band * ROWS))
    cuprum.launch(stream, config, kernel, buffer, *numbers)
    buffer.copy_to_host(steps, stream=stream)
    stream.sync()
    has_compiler = "libnvrtc" in Path("/proc/self/maps").read_text()
    return band, os.getpid(), has_compiler, steps


def run_power(folder, exponent, value):
    """Compile a variant on a worker, through a cache that all workers share."""
    device, stream = open_device()
    device.set_current()
    cache = FileStreamProgramCache(folder)
    options = cuprum.ProgramOptions(define_macro=("EXPONENT", str(exponent)))
    code = cuprum.Program(POWER, "c++", options).compile("ptx", cache=cache)
    number = np.array([value], np.float64)
    buffer = device.allocate(number.nbytes, stream=stream)
    buffer.copy_from_host(number, stream=stream)
    config = cuprum.LaunchConfig(grid=1, block=1)
    cuprum.launch(stream, config, code.get_kernel("power"), buffer)
    buffer.copy_to_host(number, stream=stream)
    stream.sync()
    return float(number[0])


def check(results):
    """Check what all workers drew; return the picture and the number of the worker of each row."""
    picture = np.zeros((HEIGHT, WIDTH), np.int32)
    owners = np.zeros(HEIGHT, int)
    processes = sorted({process for _, process, _, _ in results})
    assert os.getpid() not in processes
    for band, process, has_compiler, steps in results:
        assert not has_compiler
        rows = slice(band * ROWS, (band + 1) * ROWS)
        picture[rows] = steps
        owners[rows] = processes.index(process)
    # A device may fuse a product and a sum, which moves a few points at the rim by a step or more.
    assert np.mean(picture == expected()) > 0.99
    return picture, owners


def expected():
    """Compute the picture with NumPy."""
    x, y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    c = 3.0 * x / WIDTH - 2.2 + 1j * (2.0 * y / HEIGHT - 1.0)
    z = np.zeros_like(c)
    steps = np.zeros(c.shape, np.int32)
    for _ in range(LIMIT):
        inside = abs(z) < 2
        z[inside] = z[inside] ** 2 + c[inside]
        steps += inside
    return steps


def coloured(picture, owners):
    """Return the picture, with the rows of each worker in its own colour."""
    colours = np.array([[255, 170, 70], [90, 190, 255], [150, 240, 130], [240, 120, 200]], float)
    light = np.where(picture == LIMIT, 0.0, (picture / LIMIT) ** 0.35)
    return (colours[owners % len(colours)][:, None, :] * light[..., None]).astype(np.uint8)
