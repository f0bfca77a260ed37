# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Fixtures for all tests; they run on a GPU or on the emulated device, as CUPRUM_DRIVER selects.

After every test, nothing new may be alive in the emulated driver, and the current context must be
unchanged.
"""

import ctypes
import gc
import os
import re
import shutil
import signal
import time

import numpy as np
import pytest
from kernel_source import SOURCE

import cuprum

# Several devices allow tests between devices. The driver reads this when it is first used.
os.environ.setdefault("CUPRUM_EMULATOR_DEVICES", "3")

# Shells let background programs ignore Ctrl-C, which child processes inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


class LiveCounts(ctypes.Structure):
    """The structure CuprumLiveCounts of cuprum_emulator.h."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "struct_size",
            "contexts",
            "streams",
            "events",
            "device_allocations",
            "pool_allocations",
            "host_allocations",
            "pools",
            "modules",
            "libraries",
            "physical_allocations",
            "graphics_objects",
        )
    ]


@pytest.fixture(scope="session")
def c_compiler():
    """Return the words that start a C compiler. Ubuntu 22.04 may have only the g++-12 of CXX."""
    if name := shutil.which("cc") or shutil.which("gcc"):
        return [name]
    if name := shutil.which(os.environ.get("CXX", "g++")):
        return [name, "-x", "c"]
    pytest.skip("needs a C compiler")


@pytest.fixture(scope="session")
def driver():
    """The driver library that cuprum has loaded."""
    cuprum.Device(0)
    path = re.search(r"\((.*)\)", cuprum.driver_description()).group(1)
    return ctypes.CDLL(path)


@pytest.fixture(scope="session")
def live_objects(driver):
    """A function that counts live driver objects; empty if the driver cannot count them."""
    if not hasattr(driver, "cuprumEmulatorLiveObjects"):
        return dict

    def count():
        counts = LiveCounts(struct_size=ctypes.sizeof(LiveCounts))
        assert driver.cuprumEmulatorLiveObjects(ctypes.byref(counts)) == 0
        return {name: getattr(counts, name) for name, _ in LiveCounts._fields_[1:]}

    return count


@pytest.fixture(scope="session")
def current_context(driver):
    """A function that returns the thread's current context, or 0."""

    def current():
        context = ctypes.c_void_p()
        assert driver.cuCtxGetCurrent(ctypes.byref(context)) == 0
        return context.value or 0

    return current


@pytest.fixture(scope="session")
def _warm_device():
    """Create the primary contexts, which the process keeps, before anything is counted."""
    for device in cuprum.Device.get_all_devices():
        device.sync()
    cuprum.Device(0).set_current()
    # Exclude all objects that exist now from collections. Searching them twice per test takes
    # longer than the tests.
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _leaves_nothing(request, _warm_device, live_objects, current_context):
    cuprum.Device(0).set_current()
    context_before = current_context()
    gc.collect()
    before = live_objects()
    yield
    if "moves_context" not in request.keywords:
        assert current_context() == context_before
    cuprum.Device(0).set_current()
    gc.collect()
    # A graph that has just run is given up by a thread of the driver.
    deadline = time.monotonic() + 1
    while True:
        cuprum.Device(0).sync()
        if (now := live_objects()) == before or time.monotonic() > deadline:
            break
        time.sleep(0.001)
    assert now == before


@pytest.fixture
def device():
    return cuprum.Device(0)


@pytest.fixture
def stream(device):
    stream = device.create_stream()
    yield stream
    stream.close()


@pytest.fixture(scope="session")
def compiled():
    """The test kernels as (code, symbol mapping), compiled once."""
    code = cuprum.Program(SOURCE, "c++", {"std": "c++17"}).compile(
        "cubin", name_expressions=("scale<float>", "scale<double>")
    )
    return code.code, code.symbol_mapping


@pytest.fixture
def module(compiled):
    code, symbols = compiled
    module = cuprum.ObjectCode.from_cubin(code, name="test kernels", symbol_mapping=symbols)
    yield module
    module.close()  # pytest still refers to it when live objects are counted


@pytest.fixture
def run(module, device, stream):
    """Launch one thread of a kernel whose first parameter is the result; return the result."""

    def run(name, *arguments, result=np.int64, count=1):
        out = np.zeros(count, result)
        with device.allocate(out.nbytes, stream=stream) as buffer:
            buffer.fill(0, stream=stream)
            kernel = module.get_kernel(name)
            cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), kernel, buffer, *arguments)
            buffer.copy_to_host(out, stream=stream)
            stream.sync()
        return out[0] if count == 1 else out

    return run
