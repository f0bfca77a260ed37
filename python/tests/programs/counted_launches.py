# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Print how much more memory a thousand calls of each kind allocate than ten calls.

count_allocations.c must be loaded in front of the allocator and of the driver. PYTHONMALLOC=malloc
is also needed, so that Python's own objects are counted.
"""

import ctypes
import itertools
import json
import struct

import cuprum

SOURCE = r"""
extern "C" __global__ void empty() {}
extern "C" __global__ void three(float* x, float a, long long n) { if (n < 0) *x = a; }
#define P(i) , int* p##i
extern "C" __global__ void sixteen(int* p0 P(1) P(2) P(3) P(4) P(5) P(6) P(7) P(8) P(9) P(10)
                                   P(11) P(12) P(13) P(14) P(15)) { if (!p0) *p1 = 0; }
"""
CALLS = {
    "no arguments": "launch(stream, config, empty)",
    "three arguments": "launch(stream, config, three, buffer, 2.0, 7)",
    "a numpy scalar": "launch(stream, config, three, buffer, factor, 7)",
    "sixteen ints": f"launch(stream, config, sixteen{', address' * 16})",
    "sixteen buffers": f"launch(stream, config, sixteen{', buffer' * 16})",
    "attributes": "launch(stream, cooperative, empty)",
    # What the interpreter itself allocates: 3.14 copies the arguments of calls with more than ten.
    "a built-in function": f"pack_into(packed, 0{', 7' * 16})",
    # Shows that the counter works.
    "a new configuration": "launch(stream, Config(grid=1, block=1, is_cooperative=True), empty)",
}


def main():
    import numpy as np

    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    options = cuprum.ProgramOptions(arch=f"compute_{device.arch}")
    code = cuprum.Program(SOURCE, "c++", options).compile("ptx")
    buffer = device.allocate(4096, stream=stream)
    names = {
        "launch": cuprum.launch,
        "Config": cuprum.LaunchConfig,
        "stream": stream,
        "config": cuprum.LaunchConfig(grid=1, block=1),
        "cooperative": cuprum.LaunchConfig(grid=1, block=1, is_cooperative=True, priority=0),
        "buffer": buffer,
        "address": int(buffer.handle),
        "factor": np.float32(2.0),
        "pack_into": struct.Struct("16B").pack_into,
        "packed": bytearray(16),
        **{name: code.get_kernel(name) for name in ("empty", "three", "sixteen")},
    }
    # Use the copy of the counters that the process loaded first.
    count = ctypes.CDLL(None).allocation_count
    count.restype = ctypes.c_ulong
    counts = {}
    for kind, statement in CALLS.items():
        source = f"def run(times):\n    for _ in times:\n        {statement}\n"
        scope = {}
        exec(source, names, scope)

        def allocations(times, run=scope["run"]):
            turns = itertools.repeat(None, times)
            before = count()
            run(turns)
            after = count()
            stream.sync()
            return after - before

        allocations(10)
        counts[kind] = allocations(1000) - allocations(10)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
