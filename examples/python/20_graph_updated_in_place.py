# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Change an executable graph in place: one node's arguments, a node switched off, all of it."""

import numpy as np

import cuprum

SOURCE = r"""
extern "C" __global__ void scale(float* data, float factor) { data[threadIdx.x] *= factor; }
extern "C" __global__ void shift(float* data, float amount) { data[threadIdx.x] += amount; }
"""
COUNT = 32

device = cuprum.Device()
stream = device.create_stream()
code = cuprum.Program(SOURCE, "c++").compile("cubin")
scale, shift = code.get_kernel("scale"), code.get_kernel("shift")
config = cuprum.LaunchConfig(grid=1, block=COUNT)
data = device.allocate(4 * COUNT, stream=stream)


def run(graph):
    """Launch a graph on ones, and return the result."""
    result = np.empty(COUNT, np.float32)
    data.copy_from_host(np.ones(COUNT, np.float32), stream=stream)
    graph.launch(stream)
    data.copy_to_host(result, stream=stream)
    stream.sync()
    return result[0]


def define(factor, amount):
    definition = cuprum.graph.GraphDefinition()
    scaled = definition.launch(config, scale, data, factor)
    return definition, scaled, scaled.launch(config, shift, data, amount)


definition, scaled, shifted = define(2.0, 10.0)
graph = definition.instantiate()
assert run(graph) == 12.0

# One node of the executable graph. The definition keeps its own parameters.
graph[scaled].update(config=config, kernel=scale, args=(data, 5.0))
assert run(graph) == 15.0

# A node can be switched off and on again.
graph[shifted].disable()
assert run(graph) == 5.0
graph[shifted].enable()

# The whole graph, from another definition with the same topology.
graph.update(define(3.0, 1.0)[0])
assert run(graph) == 4.0

# Another topology is refused. The result says why, and the graph stays as it was.
other = define(1.0, 1.0)[0]
other.launch(config, shift, data, 1.0)
result = graph.try_update(other)
assert not result
assert run(graph) == 4.0
print(f"not updated ({result.reason}): {result.text}")
