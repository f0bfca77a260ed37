# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Monitor a run: sample the device while kernels run, then draw load and memory as an SVG.

python 30_monitor.py [monitor.svg]
"""

import os
import sys
import tempfile
import threading
import time

import cuprum

SOURCE = r"""
extern "C" __global__ void spin(float* data, unsigned long long count, int rounds) {
    const unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i >= count) return;
    float x = data[i];
    for (int n = 0; n < rounds; ++n) x = x * 0.999f + 0.001f;
    data[i] = x;
}
"""
INTERVAL_S = 0.02
RUN_S = 0.6
WIDTH, HEIGHT, MARGIN = 640, 240, 40


def work(device):
    """Hold more and more memory, keep the device busy for a while, then free it all."""
    stream = device.create_stream()
    kernel = cuprum.Program(SOURCE, "c++").compile("ptx").get_kernel("spin")
    count = 1 << 18
    config = cuprum.LaunchConfig(grid=count // 256, block=256)
    resource = cuprum.SynchronousMemoryResource(device.device_id)
    buffers = []
    end = time.monotonic() + RUN_S
    while time.monotonic() < end:
        if len(buffers) < 8:
            buffers.append(resource.allocate(4 * count, stream=stream))
            buffers[-1].fill(0, stream=stream)
        cuprum.launch(stream, config, kernel, buffers[-1], count, 200)
        stream.sync()
    for buffer in buffers:
        buffer.close()


def monitor(device, is_over, samples):
    """Sample the device until the run is over."""
    for sample in device.sample(INTERVAL_S):
        samples.append(sample)
        if is_over.is_set():
            return


def line(points, colour, label, height):
    """Return one curve, from pairs of numbers between 0 and 1, and its name."""
    places = " ".join(
        f"{MARGIN + x * (WIDTH - 2 * MARGIN):.1f},{HEIGHT - MARGIN - y * (HEIGHT - 2 * MARGIN):.1f}"
        for x, y in points
    )
    return (
        f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{places}"/>\n'
        f'<text x="{MARGIN}" y="{height}" fill="{colour}">{label}</text>\n'
    )


def draw(samples, name):
    """Return the SVG of a run."""
    begin = samples[0].time
    length = max(samples[-1].time - begin, 1e-9)
    most = max(max(sample.memory_used for sample in samples), 1)
    load = [((s.time - begin) / length, (s.gpu_utilization or 0) / 100) for s in samples]
    memory = [((s.time - begin) / length, s.memory_used / most) for s in samples]
    bottom, right = HEIGHT - MARGIN, WIDTH - MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        f'<path d="M{MARGIN} {MARGIN}V{bottom}H{right}" fill="none" stroke="gray"/>\n'
        + line(load, "steelblue", "utilisation, 0 to 100 %", 16)
        + line(memory, "darkorange", f"memory in use, 0 to {most / 2**20:.1f} MiB", 32)
        + f'<text x="{MARGIN}" y="{HEIGHT - 16}">0 s</text>\n'
        f'<text x="{right}" y="{HEIGHT - 16}" text-anchor="end">{length:.2f} s</text>\n'
        f'<text x="{right}" y="16" text-anchor="end">{name}</text>\n'
        "</svg>\n"
    )


device = cuprum.Device()
watched = device.to_system_device()
samples = []
is_over = threading.Event()
thread = threading.Thread(target=monitor, args=(watched, is_over, samples))
thread.start()
try:
    work(device)
finally:
    is_over.set()
    thread.join()

default = os.path.join(tempfile.mkdtemp(prefix="cuprum-"), "monitor.svg")
path = sys.argv[1] if len(sys.argv) > 1 else default
with open(path, "w") as file:
    file.write(draw(samples, watched.name))

peak = max(sample.memory_used for sample in samples)
assert len(samples) > 5
assert peak >= samples[0].memory_used
print(f"{len(samples)} samples of {watched.name}")
print(f"memory: at most {peak / 2**20:.1f} MiB")
print(f"utilisation: at most {max(sample.gpu_utilization or 0 for sample in samples)} %")
for reason in watched.throttle_reasons:
    print(f"clocks: {reason}")
print(f"drawn in {path}")
