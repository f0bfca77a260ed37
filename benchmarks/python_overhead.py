# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Measure what one call of each hot operation costs in Python, in nanoseconds.

The modules to measure are arguments: ``cuprum``, and ``cuda.core``, whose names Cuprum shares.
Given both, they take turns in one process, so that what the machine does to one it does to the
other. The names of the operations are those of ``object_overhead.cpp``.
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
    parser.add_argument("modules", nargs="*", default=["cuprum"])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    figures = measure_all(args.modules)
    if args.json:
        json.dump(figures, sys.stdout)
        return
    for module, results in figures.items():
        print(module)
        for name, value in results.items():
            print(f"  {name:<22} {value:12.1f}")


def measure_all(modules):
    """Return the median time of every operation, by module and operation."""
    suites = {module: operations(module) for module in modules}
    figures = {module: {"import_ms": import_milliseconds(module)} for module in modules}
    for name in suites[modules[0]]:
        times = {module: [] for module in modules}
        for _ in range(REPEATS):
            for module in modules:
                loops, call, settle = suites[module][name]
                begin = time.perf_counter_ns()
                for _ in range(loops):
                    call()
                end = time.perf_counter_ns()
                settle()
                times[module].append((end - begin) / loops)
        for module in modules:
            figures[module][name] = statistics.median(times[module])
    return figures


def operations(module):
    """Return the operations of one package: how often to call, what, and what to do between."""
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
    buffers = (source,) * 16
    pointers = (pointer,) * 16
    try:
        import numpy

        factor = numpy.float32(2.0)
    except ImportError:
        import ctypes

        factor = ctypes.c_float(2.0)

    def nothing():
        pass

    # Polling costs more before the first kernel has run.
    launch(stream, config, empty)
    stream.sync()
    return {
        "python_call": (5000, nothing, nothing),
        "launch_empty": (LAUNCHES, lambda: launch(stream, config, empty), stream.sync),
        "launch_3_args": (
            LAUNCHES,
            lambda: launch(stream, config, three, pointer, factor, 7),
            stream.sync,
        ),
        "launch_16_pointers": (
            LAUNCHES,
            lambda: launch(stream, config, sixteen, *pointers),
            stream.sync,
        ),
        "launch_16_buffers": (
            LAUNCHES,
            lambda: launch(stream, config, sixteen, *buffers),
            stream.sync,
        ),
        "launch_config": (5000, lambda: core.LaunchConfig(grid=128, block=256), nothing),
        "allocate_free": (
            1000,
            lambda: device.allocate(1024, stream=stream).close(stream),
            stream.sync,
        ),
        "copy": (500, lambda: source.copy_to(target, stream=stream), stream.sync),
        "fill": (500, lambda: source.fill(0, stream=stream), stream.sync),
        "event_create": (1000, lambda: device.create_event().close(), nothing),
        "event_record": (1000, lambda: stream.record(event), stream.sync),
        "event_is_done": (5000, lambda: event.is_done, nothing),
        "stream_create": (200, lambda: device.create_stream().close(), nothing),
        "stream_sync": (2000, stream.sync, nothing),
        "set_current": (5000, device.set_current, nothing),
        "device_lookup": (5000, lambda: core.Device(0), nothing),
        "get_kernel": (2000, lambda: code.get_kernel("empty"), nothing),
    }


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
