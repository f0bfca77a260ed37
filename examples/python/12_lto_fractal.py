# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Link a kernel with a function that is chosen at run time.

Both are compiled to LTO-IR, and the linker inlines the function into the kernel. The kernel draws a
fractal; the function decides which one.
"""

import numpy as np

import cuprum

KERNEL = r"""
extern __device__ int escape(float x, float y, int limit);

extern "C" __global__ void draw(unsigned char* image, int width, int height, int limit) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    const float x = 3.0f * column / width - 2.0f;
    const float y = 2.0f * row / height - 1.0f;
    image[row * width + column] = (unsigned char)escape(x, y, limit);
}
"""
FRACTALS = {
    "mandelbrot": r"""
__device__ int escape(float x, float y, int limit) {
    float a = 0, b = 0;
    int steps = 0;
    while (steps < limit && a * a + b * b < 4) {
        const float next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
        ++steps;
    }
    return steps;
}
""",
    "julia": r"""
__device__ int escape(float x, float y, int limit) {
    int steps = 0;
    while (steps < limit && x * x + y * y < 4) {
        const float next = x * x - y * y - 0.8f;
        y = 2 * x * y + 0.156f;
        x = next;
        ++steps;
    }
    return steps;
}
""",
}
WIDTH, HEIGHT, LIMIT = 72, 24, 40

device = cuprum.Device()
stream = device.create_stream()
kernel_part = cuprum.Program(KERNEL, "c++").compile("ltoir")

for name, source in FRACTALS.items():
    function_part = cuprum.Program(source, "c++").compile("ltoir")
    linker = cuprum.Linker(kernel_part, function_part, options=cuprum.LinkerOptions(name=name))
    draw = linker.link("cubin").get_kernel("draw")

    image = np.empty((HEIGHT, WIDTH), np.uint8)
    buffer = device.allocate(image.nbytes, stream=stream)
    config = cuprum.LaunchConfig(grid=(WIDTH // 8, HEIGHT // 8), block=(8, 8))
    cuprum.launch(stream, config, draw, buffer, WIDTH, HEIGHT, LIMIT)
    buffer.copy_to_host(image, stream=stream)
    stream.sync()

    assert image.max() == LIMIT  # some points never escape,
    assert image.min() < 3  # others at once
    print(name)
    for row in image:
        print("".join(" .:-=+*#%@"[min(int(steps) * 10 // LIMIT, 9)] for steps in row))
