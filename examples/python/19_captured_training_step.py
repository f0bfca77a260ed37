# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Capture one training step of a linear model, and repeat it with one call per step."""

import numpy as np

import cuprum

SOURCE = r"""
extern "C" {
// One thread per sample: the error of the model's guess.
__global__ void guess(const float* x, const float* y, const float* w, float* error, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) error[i] = w[0] * x[i] + w[1] - y[i];
}
// One block: the gradient of the mean squared error.
__global__ void gradient(const float* x, const float* error, float* g, int n) {
    __shared__ float slope[256], offset[256];
    float s = 0.0f, o = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) { s += error[i] * x[i]; o += error[i]; }
    slope[threadIdx.x] = s;
    offset[threadIdx.x] = o;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            slope[threadIdx.x] += slope[threadIdx.x + half];
            offset[threadIdx.x] += offset[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) { g[0] = 2.0f * slope[0] / n; g[1] = 2.0f * offset[0] / n; }
}
__global__ void step(float* w, const float* g, float rate) {
    w[threadIdx.x] -= rate * g[threadIdx.x];
}
}
"""
COUNT, STEPS, RATE = 512, 300, 0.5

device = cuprum.Device()
stream = device.create_stream()
code = cuprum.Program(SOURCE, "c++").compile("cubin")
guess, gradient, step = (code.get_kernel(name) for name in ("guess", "gradient", "step"))

rng = np.random.default_rng(1)
x = rng.random(COUNT, dtype=np.float32)
y = 3.0 * x - 1.0
host = {"x": x, "y": y.astype(np.float32), "w": np.zeros(2, np.float32)}
buffers = {}
for name, array in host.items():
    buffers[name] = device.allocate(array.nbytes, stream=stream)
    buffers[name].copy_from_host(array, stream=stream)
error = device.allocate(4 * COUNT, stream=stream)
slopes = device.allocate(8, stream=stream)

# Work that is enqueued on the builder becomes a graph. The capture ends with the block, even if it
# raises.
with cuprum.graph.capture(stream) as builder:
    wide = cuprum.LaunchConfig(grid=COUNT // 256, block=256)
    one = cuprum.LaunchConfig(grid=1, block=256)
    two = cuprum.LaunchConfig(grid=1, block=2)
    cuprum.launch(builder, wide, guess, buffers["x"], buffers["y"], buffers["w"], error, COUNT)
    cuprum.launch(builder, one, gradient, buffers["x"], error, slopes, COUNT)
    cuprum.launch(builder, two, step, buffers["w"], slopes, RATE)
graph = builder.complete()
print(builder.graph_definition.to_text())

for _ in range(STEPS):
    graph.launch(stream)
weights = np.empty(2, np.float32)
buffers["w"].copy_to_host(weights, stream=stream)
stream.sync()

assert np.allclose(weights, (3.0, -1.0), atol=1e-2), weights
print(f"y = {weights[0]:.3f} x {weights[1]:+.3f} after {STEPS} launches of one graph")
