# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Measure what one call of each hot operation costs in Python, in nanoseconds.

The module to measure is an argument: ``cuprum``, or ``cuda.core``, whose names Cuprum shares.
The names of the operations are those of ``object_overhead.cpp``, so that the tables can be put
side by side.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time

SOURCE = r"""
extern "C" __global__ void empty() {}
extern "C" __global__ void three(float* x, float a, long long n) { if (n < 0) *x = a; }
#define P(i) , int* p##i
extern "C" __global__ void sixteen(int* p0 P(1) P(2) P(3) P(4) P(5) P(6) P(7) P(8) P(9) P(10)
                                   P(11) P(12) P(13) P(14) P(15)) { if (!p0) *p1 = 0; }
"""
REPEATS = 15
# A queue is about a thousand launches deep: more would measure the device.
LAUNCHES = 900


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", nargs="?", default="cuprum")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    results = measure_all(args.module)
    if args.json:
        json.dump(results, sys.stdout)
    else:
        for name, value in results.items():
            print(f"{name:<22} {value:12.1f}")


def measure_all(module):
    """Measure every operation of the package named ``module``."""
    core = importlib.import_module(module)
    device = core.Device(0)
    device.set_current()
    stream = device.create_stream()
    options = core.ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    code = core.Program(SOURCE, "c++", options).compile("cubin")
    empty, three, sixteen = (code.get_kernel(name) for name in ("empty", "three", "sixteen"))
    config = core.LaunchConfig(grid=1, block=1)
    source = device.allocate(4096, stream=stream)
    target = device.allocate(4096, stream=stream)
    event = device.create_event()
    launch = core.launch
    pointer = int(source.handle)
    sixteen_buffers = (source,) * 16
    sixteen_pointers = (pointer,) * 16
    try:
        import numpy

        factor = numpy.float32(2.0)
    except ImportError:
        import ctypes

        factor = ctypes.c_float(2.0)

    results = {"import_ms": import_milliseconds(module)}

    def measure(name, loops, call, settle=stream.sync):
        times = []
        for _ in range(REPEATS):
            begin = time.perf_counter_ns()
            for _ in range(loops):
                call()
            end = time.perf_counter_ns()
            settle()
            times.append((end - begin) / loops)
        results[name] = statistics.median(times)

    def nothing():
        pass

    measure("python_call", 5000, nothing, nothing)
    measure("launch_empty", LAUNCHES, lambda: launch(stream, config, empty))
    measure("launch_3_args", LAUNCHES, lambda: launch(stream, config, three, pointer, factor, 7))
    measure(
        "launch_16_pointers", LAUNCHES, lambda: launch(stream, config, sixteen, *sixteen_pointers)
    )
    measure(
        "launch_16_buffers", LAUNCHES, lambda: launch(stream, config, sixteen, *sixteen_buffers)
    )
    measure("launch_config", 5000, lambda: core.LaunchConfig(grid=128, block=256), nothing)
    measure("allocate_free", 1000, lambda: device.allocate(1024, stream=stream).close(stream))
    measure("copy", 500, lambda: source.copy_to(target, stream=stream))
    measure("fill", 500, lambda: source.fill(0, stream=stream))
    measure("event_create", 1000, lambda: device.create_event().close(), nothing)
    measure("event_record", 1000, lambda: stream.record(event))
    measure("event_is_done", 5000, lambda: event.is_done, nothing)
    measure("stream_create", 200, lambda: device.create_stream().close(), nothing)
    measure("stream_sync", 2000, stream.sync, nothing)
    measure("set_current", 5000, device.set_current, nothing)
    measure("device_lookup", 5000, lambda: core.Device(0), nothing)
    measure("get_kernel", 2000, lambda: code.get_kernel("empty"), nothing)
    return results


def import_milliseconds(module):
    """Return the median time that a fresh interpreter needs to import ``module``."""
    command = (
        "import time; begin = time.perf_counter(); "
        f"import {module}; print((time.perf_counter() - begin) * 1e3)"
    )
    return statistics.median(
        float(
            subprocess.run(
                [sys.executable, "-c", command], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(5)
    )


if __name__ == "__main__":
    main()
