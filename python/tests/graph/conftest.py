# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels and helpers for tests of graphs."""

import gc
import time

import numpy as np
import pytest

import cuprum

SOURCE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
extern "C" {
__global__ void empty() {}
__global__ void affine(int* data, int factor, int offset) { *data = *data * factor + offset; }
__global__ void store(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(int* data, int value) { *data += value; }
__global__ void extents(int* data) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *data = gridDim.x * 1000 + blockDim.x;
}
__global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value) {
    cudaGraphSetConditional(handle, value);
}
__global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
    *left -= 1;
    cudaGraphSetConditional(handle, *left > 0);
}
__global__ void cluster_size(int* data) {
    unsigned size;
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
    if (blockIdx.x == 0 && threadIdx.x == 0) *data = size;
}
}
"""


@pytest.fixture(scope="session")
def graph_code():
    """The test kernels, compiled once."""
    options = {"std": "c++17", "arch": f"sm_{cuprum.Device(0).arch}"}
    return cuprum.Program(SOURCE, "c++", options).compile("cubin").code


@pytest.fixture
def kernels(graph_code):
    """A function that returns a kernel by its name."""
    code = cuprum.ObjectCode.from_cubin(graph_code, name="kernels of graph tests")
    yield code.get_kernel
    code.close()


@pytest.fixture
def one():
    """One thread."""
    return cuprum.LaunchConfig(grid=1, block=1)


class Cell:
    """Integers in pinned memory, which host and device can read and write."""

    def __init__(self, count=1):
        self.buffer = cuprum.LegacyPinnedMemoryResource().allocate(4 * count)
        self.values = np.from_dlpack(self.buffer).view(np.int32)
        self.values[:] = 0

    @property
    def value(self):
        return int(self.values[0])

    @value.setter
    def value(self, value):
        self.values[0] = value

    def close(self):
        self.values = None
        self.buffer.close()


@pytest.fixture
def cells():
    """A function that makes a Cell; all are closed in the end."""
    made = []

    def make(count=1):
        made.append(Cell(count))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def cell(cells):
    return cells()


@pytest.fixture
def run(stream):
    """A function that launches a definition or an executable graph, and waits."""

    def run(graph, times=1):
        executable = graph if isinstance(graph, cuprum.graph.Graph) else graph.instantiate()
        for _ in range(times):
            executable.launch(stream)
        stream.sync()

    return run


@pytest.fixture
def wait_until():
    """A function that waits until something is true, while Python releases what graphs dropped."""

    def wait_until(predicate, seconds=10):
        deadline = time.monotonic() + seconds
        while not predicate():
            assert time.monotonic() < deadline, "it did not become true"
            gc.collect()
            time.sleep(0.001)

    return wait_until
