# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Iterate on the device until a result converges: a graph with a loop, launched once."""

import numpy as np

import cuprum

SOURCE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

// One step of Newton's method for a square root. Continues until the step is small.
extern "C" __global__ void newton(cudaGraphConditionalHandle again, double* root, double number,
                                  int* steps) {
    const double next = 0.5 * (*root + number / *root);
    const double change = fabs(next - *root);
    *root = next;
    *steps += 1;
    cudaGraphSetConditional(again, change > 1e-12 * next && *steps < 100);
}
"""
NUMBER = 2.0

device = cuprum.Device()
stream = device.create_stream()
newton = cuprum.Program(SOURCE, "c++").compile("cubin").get_kernel("newton")

root = device.allocate(8, stream=stream)
steps = device.allocate(4, stream=stream)
root.copy_from_host(np.array([NUMBER]), stream=stream)
stream.sync()

# The condition starts at 1. Each round of the loop runs the kernel, which sets the condition again.
graph = cuprum.graph.GraphDefinition()
again = graph.create_condition(default_value=1)
start = graph.memset(steps, 0, 4)
loop = start.while_loop(again)
loop.body.launch(cuprum.LaunchConfig(grid=1, block=1), newton, again, root, NUMBER, steps)
print(graph.to_text())

graph.instantiate().launch(stream)
result, rounds = np.empty(1), np.empty(1, np.int32)
root.copy_to_host(result, stream=stream)
steps.copy_to_host(rounds, stream=stream)
stream.sync()

assert abs(result[0] - np.sqrt(NUMBER)) < 1e-12
assert 3 < rounds[0] < 10
print(f"sqrt({NUMBER}) = {result[0]:.12f} after {rounds[0]} rounds on the device")
