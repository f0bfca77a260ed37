# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run a program for four GPUs on a laptop: heat spreads over a plate that four devices share.

Each device owns a quarter of the rows and a stream. After every step it gets the outer rows of its
neighbours, and events order the copies. The emulated device provides four devices.

python four_devices.py [PICTURE.png]
"""

import os
import sys

os.environ.setdefault("CUPRUM_EMULATOR_DEVICES", "4")  # before the driver is first used

import numpy as np

import cuprum

WIDTH, HEIGHT, STEPS, WANTED = 128, 96, 1500, 4
BLOCK = (32, 8)
SOURCE = """
// One step: each inner cell becomes the mean of its four neighbours.
extern "C" __global__ void spread(const float* in, float* out, int width, int rows) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width || y > rows) return;
    const int at = y * width + x;
    const bool is_edge = x == 0 || x == width - 1;
    out[at] = is_edge ? in[at] : (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]) / 4;
}
"""
FLOAT = np.dtype(np.float32).itemsize
ROW = WIDTH * FLOAT


class Part:
    """The rows of one device, with a row of each neighbour above and below."""

    def __init__(self, device, code, rows):
        self.device = device
        self.rows = len(rows) - 2
        self.stream = device.create_stream()
        self.kernel = code.get_kernel("spread")
        self.now = device.allocate(rows.nbytes, stream=self.stream)
        self.next = device.allocate(rows.nbytes, stream=self.stream)
        self.now.copy_from_host(rows, stream=self.stream)
        self.next.copy_from_host(rows, stream=self.stream)
        self.done = self.stream.record()

    def step(self):
        grid = ((WIDTH + BLOCK[0] - 1) // BLOCK[0], (self.rows + BLOCK[1] - 1) // BLOCK[1])
        config = cuprum.LaunchConfig(grid=grid, block=BLOCK)
        arguments = (self.now, self.next, np.int32(WIDTH), np.int32(self.rows))
        cuprum.launch(self.stream, config, self.kernel, *arguments)
        self.now, self.next = self.next, self.now
        self.done = self.stream.record(self.done)

    def exchange(self, above, below):
        """Get the outer rows of the neighbours, once they have computed them."""
        for neighbour in filter(None, (above, below)):
            self.stream.wait(neighbour.done)
        if above is not None:
            self.now.copy_region_from(
                above.now, (ROW,), src_offset=above.rows * ROW, stream=self.stream
            )
        if below is not None:
            self.now.copy_region_from(
                below.now,
                (ROW,),
                src_offset=ROW,
                offset=(self.rows + 1) * ROW,
                stream=self.stream,
            )

    def result(self):
        rows = np.empty((self.rows + 2, WIDTH), np.float32)
        self.now.copy_to_host(rows, stream=self.stream)
        self.stream.sync()
        return rows[1:-1]


def plate():
    """Return a cold plate with hot and warm edges, and a frame that stays as it is."""
    cells = np.zeros((HEIGHT + 2, WIDTH), np.float32)
    cells[0] = 1.0
    cells[-1, WIDTH // 3 : 2 * WIDTH // 3] = 1.0
    cells[:, 0] = 0.5
    return cells


def simulate(devices):
    cells = plate()
    code = cuprum.Program(SOURCE, "c++", {"arch": f"sm_{devices[0].arch}"}).compile("ptx")
    share = HEIGHT // len(devices)
    parts = [
        Part(device, code, cells[index * share : (index + 1) * share + 2])
        for index, device in enumerate(devices)
    ]
    for _ in range(STEPS):
        for part in parts:
            part.step()
        for index, part in enumerate(parts):
            above = parts[index - 1] if index > 0 else None
            below = parts[index + 1] if index + 1 < len(parts) else None
            part.exchange(above, below)
        # The next step overwrites rows that neighbours still read.
        read = [part.stream.record() for part in parts]
        for index, part in enumerate(parts):
            for event in read[max(0, index - 1) : index + 2]:
                part.stream.wait(event)
    return np.concatenate([part.result() for part in parts])


def main():
    devices = cuprum.Device.get_all_devices()[:WANTED]
    if len(devices) < WANTED:
        print(f"skipped: this needs {WANTED} devices, and there are {len(devices)}")
        print(f"set CUPRUM_EMULATOR_DEVICES={WANTED} and CUPRUM_DRIVER=emulated")
        return
    for device in devices:
        print(device)
    together = simulate(devices)
    alone = simulate(devices[:1])
    assert np.array_equal(together, alone)
    assert 0.1 < together.mean() < 0.9
    print(f"four devices and one device agree in every bit after {STEPS} steps")

    if len(sys.argv) > 1:
        from pictures import write_png

        write_png(sys.argv[1], coloured(together))


def coloured(cells):
    """Return heat as colours from blue to yellow, with a white line between devices."""
    stops = np.array([[20, 20, 80], [130, 40, 130], [235, 95, 60], [255, 235, 120]], float)
    place = np.clip(cells, 0, 1) * (len(stops) - 1)
    low = np.minimum(place.astype(int), len(stops) - 2)
    part = (place - low)[..., None]
    pixels = (stops[low] * (1 - part) + stops[low + 1] * part).astype(np.uint8)
    for index in range(1, WANTED):
        pixels[index * HEIGHT // WANTED] = 255
    return np.repeat(np.repeat(pixels, 4, axis=0), 4, axis=1)


if __name__ == "__main__":
    main()
