# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Pass structures to a kernel by value, from ctypes and from numpy.

The kernel gets their bytes, so the layout must be that of C: ctypes has it, numpy with
``align=True``. The launch compares the size with the kernel's parameter.
"""

import ctypes

import numpy as np

import cuprum

SOURCE = r"""
struct Particle { float x, y, z; int charge; double mass; };
struct Field { float strength[3]; };

extern "C" __global__ void accelerate(Particle particle, Field field, double* out) {
    int i = threadIdx.x;
    if (i < 3) out[i] = particle.charge * field.strength[i] / particle.mass;
}
"""


class Particle(ctypes.Structure):
    _fields_ = [
        ("position", ctypes.c_float * 3),
        ("charge", ctypes.c_int),
        ("mass", ctypes.c_double),
    ]


FIELD = np.dtype([("strength", np.float32, 3)], align=True)

device = cuprum.Device()
stream = device.create_stream()
kernel = cuprum.Program(SOURCE, "c++").compile("cubin").get_kernel("accelerate")
print("parameters:", ", ".join(f"{p.size} bytes at {p.offset}" for p in kernel.arguments_info))

particle = Particle((0.0, 0.0, 0.0), charge=-2, mass=0.5)
field = np.array(([1.0, 2.0, 3.0],), FIELD)[()]
out = device.allocate(24, stream=stream)
cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, particle, field, out)

result = np.empty(3)
out.copy_to_host(result, stream=stream)
stream.sync()
assert result.tolist() == [-4.0, -8.0, -12.0]
print("acceleration:", result)

try:
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, field, field, out)
except TypeError as error:
    print("a structure of the wrong size:", error)
