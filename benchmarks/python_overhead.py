# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Measure what one call of each hot operation costs in Python, in nanoseconds.

The modules to measure are arguments: ``cuprum``, and ``cuda.core``, whose names Cuprum shares.
Given both, they take turns in one process, so that what the machine does to one it does to the
other; with ``--floor`` the bare driver, called from C++, takes its turns with them. The names of
the operations are those of ``object_overhead.cpp``.
"""

import argparse
import contextlib
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import timeit

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
# Reading the handle of one of our streams would change how its calls are made from then on.
PER_THREAD_STREAM = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=["cuprum"])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--floor", help="the library benchmark_driver_floor")
    args = parser.parse_args()
    figures = measure_all(args.modules, args.floor)
    if args.json:
        json.dump(figures, sys.stdout)
        return
    for module, results in figures.items():
        print(module)
        for name, value in results.items():
            print(f"  {name:<22} {value:12.1f}")


def measure_all(modules, floor_library=None):
    """Return the median time of every operation, by module and operation."""
    suites = {module: operations(module) for module in modules}
    floor = Floor(floor_library, suites[modules[0]].pop("objects")) if floor_library else None
    for suite in suites.values():
        suite.pop("objects", None)
    figures = {module: {"import_ms": import_milliseconds(module)} for module in modules}
    for name in suites[modules[0]]:
        times = {module: [] for module in modules}
        floor_times = []
        for _ in range(REPEATS):
            if floor:
                loops, _, _ = suites[modules[0]][name]
                floor_times.append(floor.measure(name, loops))
            for module in modules:
                loops, timer, settle = suites[module][name]
                times[module].append(timer.timeit(loops) * 1e9 / loops)
                settle()
        for module in modules:
            figures[module][name] = statistics.median(times[module])
        if floor and min(floor_times) >= 0:
            figures.setdefault("driver", {})[name] = statistics.median(floor_times)
    # The loop around each call is no part of it.
    for module in modules:
        results = figures[module]
        loop = results.pop("empty_loop")
        for name in results.keys() - {"import_ms"}:
            results[name] = max(results[name] - loop, 0.0)
    return figures


class Floor:
    """Calls the bare driver on the objects of a package."""

    def __init__(self, library, handles):
        import ctypes

        self._objects = (ctypes.c_uint64 * (len(handles) + 2))(*handles)
        self._function = ctypes.CDLL(library).floor_of
        self._function.restype = ctypes.c_double

    def measure(self, name, loops):
        """Return nanoseconds a call, negative for an operation that has no floor."""
        return self._function(name.encode(), loops, self._objects)


def operations(module):
    """Return the operations of one package: how often to call, what, and what to do between.

    What is called is a statement, compiled into a loop by ``timeit``: a function around it would
    cost as much as some of the operations do.
    """
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
    pointer = int(source.handle)
    try:
        import numpy

        factor = numpy.float32(2.0)
    except ImportError:
        import ctypes

        factor = ctypes.c_float(2.0)

    def nothing():
        pass

    # Polling costs more before the first kernel has run.
    core.launch(stream, config, empty)
    stream.sync()
    names = {name: getattr(core, name) for name in ("Device", "LaunchConfig", "launch")}
    names |= {"device": device, "stream": stream, "event": event, "config": config, "code": code}
    names |= {"empty": empty, "three": three, "sixteen": sixteen, "occupancy": three.occupancy}
    names |= {"source": source, "target": target, "pointer": pointer, "factor": factor}

    def operation(loops, statement, settle=nothing):
        return loops, timeit.Timer(statement, globals=names), settle

    sync = stream.sync
    views = importlib.import_module(f"{module}.utils")
    names |= {"View": views.StridedMemoryView, "handle": PER_THREAD_STREAM}
    program = core.Program(SOURCE, "c++", options)
    folder = tempfile.TemporaryDirectory()
    cache = views.FileStreamProgramCache(folder.name)
    names |= {"program": program, "cache": cache, "folder": folder}
    names |= arrays()
    # In the order of FloorObjects in driver_floor.cpp.
    owners = (device.context, device.memory_resource, empty, three, sixteen, source, target)
    handles = [int(owner.handle) for owner in owners]
    return {
        "objects": handles,
        "empty_loop": operation(5000, "pass"),
        "launch_empty": operation(LAUNCHES, "launch(stream, config, empty)", sync),
        "launch_3_args": operation(
            LAUNCHES, "launch(stream, config, three, pointer, factor, 7)", sync
        ),
        "launch_16_pointers": operation(
            LAUNCHES, f"launch(stream, config, sixteen{', pointer' * 16})", sync
        ),
        "launch_16_buffers": operation(
            LAUNCHES, f"launch(stream, config, sixteen{', source' * 16})", sync
        ),
        "launch_config": operation(5000, "LaunchConfig(grid=128, block=256)"),
        "occupancy": operation(1000, "occupancy.max_active_blocks_per_multiprocessor(256, 0)"),
        "get_kernel": operation(2000, "code.get_kernel('empty')"),
        "allocate_free": operation(
            1000, "device.allocate(1024, stream=stream).close(stream)", sync
        ),
        "copy": operation(500, "source.copy_to(target, stream=stream)", sync),
        "fill": operation(500, "source.fill(0, stream=stream)", sync),
        "event_create": operation(1000, "device.create_event().close()"),
        "event_record": operation(1000, "stream.record(event)", sync),
        "event_is_done": operation(5000, "event.is_done"),
        "stream_create": operation(200, "device.create_stream().close()"),
        "stream_sync": operation(2000, "stream.sync()"),
        "set_current": operation(5000, "device.set_current()"),
        "device_lookup": operation(5000, "Device(0)"),
        "device_current": operation(5000, "Device()"),
        "buffer_dlpack": operation(2000, "source.__dlpack__()"),
        "compile_cached": operation(200, "program.compile('cubin', cache=cache)"),
    } | {
        f"view_{name}": operation(2000, statement)
        for name, statement in VIEWS.items()
        if name.split("_")[0] in names
    }


# What making a view costs, for each library that is installed.
VIEWS = {
    "numpy": "View.from_any_interface(numpy, stream_ptr=-1)",
    "numpy_strided": "View.from_any_interface(numpy_strided, stream_ptr=-1)",
    "numpy_shape": "View.from_any_interface(numpy, stream_ptr=-1).shape",
    "numpy_dtype": "View.from_any_interface(numpy, stream_ptr=-1).dtype",
    "cupy": "View.from_any_interface(cupy, stream_ptr=-1)",
    "cupy_dlpack": "View.from_dlpack(cupy, stream_ptr=-1)",
    "cupy_ordered": "View.from_any_interface(cupy, stream_ptr=handle)",
    "torch": "View.from_any_interface(torch, stream_ptr=-1)",
    "torch_ordered": "View.from_any_interface(torch, stream_ptr=handle)",
}


def arrays():
    """Return an array of each library that is installed, by the library's name."""
    made = {}
    with contextlib.suppress(ImportError):
        numpy = importlib.import_module("numpy")
        made["numpy"] = numpy.zeros(1024, numpy.float32)
        made["numpy_strided"] = numpy.zeros((64, 64), numpy.float32)[::2, ::2]
    with contextlib.suppress(ImportError):
        cupy = importlib.import_module("cupy")
        made["cupy"] = cupy.zeros((32, 32), cupy.float32)
    with contextlib.suppress(ImportError):
        torch = importlib.import_module("torch")
        if torch.cuda.is_available():
            made["torch"] = torch.zeros((32, 32), device="cuda")
    return made


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
