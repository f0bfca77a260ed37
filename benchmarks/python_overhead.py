# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Measure the cost of one call of each hot operation in Python, in nanoseconds.

The arguments name the modules to measure: ``cuprum``, and ``cuda.core``, which has the same names.
``--floor`` also measures two lower bounds (``driver_floor/``): ``driver``, the bare driver calls
from C++, and ``call``, the same calls from Python with nothing around them.

All sides take short turns in one process, in changing order, so that other load on the machine
affects all of them. The overhead of an operation over the driver is the median of the differences
within a round; the spread is half the distance between the quartiles. Two streams of one driver can
differ by as much as the overhead, so every side replaces its stream from time to time. The names of
the operations are those of ``object_overhead.cpp``.
"""

import argparse
import contextlib
import importlib
import importlib.util
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
ROUNDS = 60
# A queue holds about a thousand launches; more would measure the device.
LAUNCHES = 900
WARM_UP = 30
GRAPH_KERNELS = 16
ROUNDS_A_STREAM = 6
# Reading the handle of one of our streams would change how its later calls are made.
PER_THREAD_STREAM = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=["cuprum"])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--floor", help="the extension module driver_floor")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", help="measure the operations whose names contain this")
    args = parser.parse_args()
    figures = measure_all(args.modules, args.floor, args.rounds, args.only or "")
    if args.json:
        json.dump(figures, sys.stdout)
        return
    for module, results in figures.items():
        print(module)
        for name, value in results.items():
            print(
                f"  {name:<22} {value['ns']:12.1f} {value['added']:12.1f} +- {value['spread']:.1f}"
            )


def measure_all(modules, floor_library=None, rounds=ROUNDS, only=""):
    """Return cost, overhead and spread of every operation, by module and by name."""
    suites = {module: operations(module) for module in modules}
    handles = {module: suite.pop("objects") for module, suite in suites.items()}
    if floor_library:
        floor = load_floor(floor_library).Floor(*handles[modules[0]])
        suites = {"driver": driver_turns(floor), "call": call_turns(floor)} | suites
    renewals = [suites[module].renew for module in modules]
    if floor_library:
        renewals.append(floor.renew)
    figures = {side: {} for side in suites}
    for name in suites[modules[0]]:
        if only in name:
            sides = {side: suite[name] for side, suite in suites.items() if name in suite}
            for side, figure in measure(sides, rounds, renewals).items():
                figures[side][name] = figure
    for module in modules:
        if only in "import_ms":
            cost = import_milliseconds(module)
            figures[module]["import_ms"] = {"ns": cost, "added": cost, "spread": 0.0}
    return figures


def measure(sides, rounds, renewals):
    """Measure all sides of one operation in turns; ``renewals`` replace their streams."""
    loops = min(loops for loops, _, _ in sides.values())
    times = {side: [] for side in sides}
    order = list(sides)
    for each in range(rounds + 1):
        if each % ROUNDS_A_STREAM == 0:
            for renew in renewals:
                renew()
        # Subtract the time of the loop itself.
        loop = EMPTY_LOOP.timeit(loops) * 1e9 / loops
        for side in order:
            _, turn, settle = sides[side]
            turn(WARM_UP)  # the previous side has filled the caches
            spent = turn(loops)
            settle()
            if each > 0:  # the first round warms up
                times[side].append(spent if side == "driver" else spent - loop)
        order = order[1:] + order[:1]
    floor = times.get("driver", [0.0] * rounds)
    figures = {}
    for side, values in times.items():
        added = [value - below for value, below in zip(values, floor, strict=True)]
        quartiles = statistics.quantiles(added, n=4)
        figures[side] = {
            "ns": statistics.median(values),
            "added": statistics.median(added),
            "spread": (quartiles[2] - quartiles[0]) / 2,
        }
    return figures


EMPTY_LOOP = timeit.Timer("pass")


def load_floor(path):
    """Return the module ``driver_floor``."""
    specification = importlib.util.spec_from_file_location("driver_floor", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class Operations(dict):
    """Operations by name: the calls per turn, the function of one turn, and what follows a turn."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def add(self, name, loops, statement, settle=lambda: None):
        """Add a statement, compiled into a loop, because calling a function would cost as much."""
        timer = timeit.Timer(statement, globals=self.names)
        self[name] = loops, lambda count: timer.timeit(count) * 1e9 / count, settle

    def renew(self):
        """Replace the stream; the statements look it up by name."""
        self.names["stream"] = self.names["device"].create_stream()


def driver_turns(floor):
    """Return the operations that make driver calls, as bare driver calls."""

    def turn(name):
        return LAUNCHES, lambda loops: floor.time(name, loops), lambda: None

    return {name: turn(name) for name in CALLS if floor.time(name, 1) >= 0}


def call_turns(floor):
    """Return the operations as calls from Python that do nothing but call the driver."""
    names = {name: getattr(floor, name) for name in dir(floor) if not name.startswith("_")}
    names |= dict.fromkeys(("x", "device", "stream", "event", "source", "target"), floor)
    operations = Operations(names | {"pointer": 1 << 40})
    for name, statement in CALLS.items():
        operations.add(name, LAUNCHES, statement, floor.sync)
    return operations


# The statements of `operations`, with minimal functions instead of the package's. They create no
# objects.
CALLS = {
    "launch_empty": "launch_empty(stream, x, x)",
    "launch_3_args": "launch_three(stream, x, x, pointer, x, 7)",
    "launch_16_pointers": f"launch_sixteen(stream, x, x{', pointer' * 16})",
    "launch_16_buffers": f"launch_sixteen(stream, x, x{', source' * 16})",
    "launch_config": "nothing(grid=128, block=256)",
    "occupancy": "x.nothing(256, 0)",
    "get_kernel": "x.nothing('empty')",
    "allocate_free": "device.allocate(1024, stream=stream).close(stream)",
    "allocate_drop": "device.allocate(1024, stream=stream).close(stream)",
    "copy": "source.copy_to(target, stream=stream)",
    "fill": "source.fill(0, stream=stream)",
    "event_create": "device.create_event().close_event()",
    "texture_create_drop": "x.create_texture(resource=x, options=x)",
    "texture_create_close": "x.create_texture(resource=x, options=x)",
    "event_record": "stream.record(event)",
    "event_is_done": "event.is_done",
    "stream_create": "device.create_stream().close_stream()",
    "stream_sync": "stream.sync()",
    "set_current": "device.set_current()",
    "tensor_map": "x.encode_tensor_map((8, 8))",
    "graph_launch": "x.launch_graph(stream)",
    "graph_add_kernel": "x.add_kernel_node(x, x, pointer, x, 7)",
    "graph_update_node": "x.update_kernel_node(config=x, kernel=x, args=(pointer, x, 7))",
    "graph_capture": "x.capture_graph()",
    "device_lookup": "nothing(0)",
    "device_current": "nothing()",
    "buffer_dlpack": "source.nothing()",
    "view_numpy": "x.nothing(x, stream_ptr=-1)",
    "view_numpy_strided": "x.nothing(x, stream_ptr=-1)",
    "view_cupy": "x.nothing(x, stream_ptr=-1)",
    "view_cupy_ordered": "x.order(x, stream_ptr=2)",
    "view_torch": "x.nothing(x, stream_ptr=-1)",
    "view_torch_ordered": "x.order(x, stream_ptr=2)",
}


def texture_objects(module, device):
    """Return what textures are made of; nothing for a package that has none."""
    try:
        textures = importlib.import_module(f"{module}.texture")
    except ImportError:
        return {}
    options = textures.OpaqueArrayOptions((64, 64), "float32", 1)
    array = device.create_opaque_array(options)
    return {
        "resource": textures.ResourceDescriptor.from_opaque_array(array),
        "sampling": textures.TextureObjectOptions(filter_mode="linear", normalized_coords=True),
    }


def operations(module):
    """Return the operations of one package and, as "objects", the handles for the lower bounds."""
    core = importlib.import_module(module)
    device = core.Device(0)
    device.set_current()
    stream = device.create_stream()
    options = core.ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    # Use PTX, because the emulated device cannot run machine code.
    code = core.Program(SOURCE, "c++", options).compile("ptx")
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

    # Before the first kernel runs, polling costs more.
    core.launch(stream, config, empty)
    stream.sync()
    names = {name: getattr(core, name) for name in ("Device", "LaunchConfig", "launch")}
    names |= {"device": device, "stream": stream, "event": event, "config": config, "code": code}
    names |= {"empty": empty, "three": three, "sixteen": sixteen}
    names |= {"source": source, "target": target, "pointer": pointer, "factor": factor}

    def sync():
        names["stream"].sync()

    graphs = importlib.import_module(f"{module}.graph")

    def renew_graph():
        names["definition"] = graphs.GraphDefinition()

    def capture_graph():
        builder = names["stream"].create_graph_builder().begin_building()
        for _ in range(GRAPH_KERNELS):
            core.launch(builder, config, empty)
        return builder.end_building().complete()

    renew_graph()
    definition = graphs.GraphDefinition()
    kernel_node = definition.launch(config, three, pointer, factor, 7)
    executable = definition.instantiate()
    names |= {"graph": capture_graph(), "node": executable[kernel_node], "executable": executable}
    names |= {"capture_graph": capture_graph, "arguments": (pointer, factor, 7)}
    views = importlib.import_module(f"{module}.utils")
    names |= {"View": views.StridedMemoryView, "handle": PER_THREAD_STREAM}
    program = core.Program(SOURCE, "c++", options)
    folder = tempfile.TemporaryDirectory()
    cache = views.FileStreamProgramCache(folder.name)
    names |= {"program": program, "cache": cache, "folder": folder}
    names |= arrays()
    names |= texture_objects(module, device)
    made = Operations(names)
    add = made.add
    add("launch_empty", LAUNCHES, "launch(stream, config, empty)", sync)
    add("launch_3_args", LAUNCHES, "launch(stream, config, three, pointer, factor, 7)", sync)
    add("launch_16_pointers", LAUNCHES, f"launch(stream, config, sixteen{', pointer' * 16})", sync)
    add("launch_16_buffers", LAUNCHES, f"launch(stream, config, sixteen{', source' * 16})", sync)
    add("launch_config", 2000, "LaunchConfig(grid=128, block=256)")
    # Read `occupancy` in every call, as programs do.
    add("occupancy", 1000, "three.occupancy.max_active_blocks_per_multiprocessor(256, 0)")
    add("get_kernel", 1000, "code.get_kernel('empty')")
    add("allocate_free", 500, "device.allocate(1024, stream=stream).close(stream)", sync)
    add("allocate_drop", 500, "device.allocate(1024, stream=stream)", sync)
    # Few enough that the device keeps up.
    add("copy", 300, "source.copy_to(target, stream=stream)", sync)
    add("fill", 200, "source.fill(0, stream=stream)", sync)
    add("event_create", 1000, "device.create_event().close()")
    if "resource" in names:
        statement = "device.create_texture_object(resource=resource, options=sampling)"
        add("texture_create_drop", 300, statement)
        add("texture_create_close", 300, statement + ".close()")
    add("event_record", 1000, "stream.record(event)", sync)
    add("event_is_done", 2000, "event.is_done")
    add("stream_create", 100, "device.create_stream().close()")
    add("stream_sync", 1000, "stream.sync()")
    add("set_current", 2000, "device.set_current()")
    if "numpy" in sys.modules:
        dtype = sys.modules["numpy"].dtype("float32")
        names["matrix"] = names["View"].from_buffer(source, (16, 64), itemsize=4, dtype=dtype)
        add("tensor_map", 1000, "matrix.as_tensor_map((8, 8))")
    add("graph_launch", 200, "graph.launch(stream)", sync)
    add(
        "graph_add_kernel", 900, "definition.launch(config, three, pointer, factor, 7)", renew_graph
    )
    add("graph_update_node", 900, "node.update(config=config, kernel=three, args=arguments)")
    add("graph_capture", 50, "capture_graph()", sync)
    add("device_lookup", 2000, "Device(0)")
    add("device_current", 2000, "Device()")
    add("buffer_dlpack", 1000, "source.__dlpack__()")
    add("compile_cached", 20, "program.compile('cubin', cache=cache)")
    for name, statement in VIEWS.items():
        if name.split("_")[0] in names:
            add(f"view_{name}", 1000, statement)
    # In the order of `Objects` in driver_floor/operations.hpp.
    owners = (device.context, device.memory_resource, empty, three, sixteen, source, target)
    made["objects"] = [int(owner.handle) for owner in owners]
    return made


# Statements that create a view, for each library that is installed.
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
        if cupy.is_available():
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
