# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import gc
import re
import warnings

import pytest

import cuprum
from cuprum.testing import fail_call


def test_the_nth_call_fails_and_only_inside_the_block(device):
    stream = device.create_stream()
    with fail_call("cuMemAllocFromPoolAsync", nth=2, code=2) as fault:
        device.allocate(64, stream=stream)
        assert fault.failed_call == ""
        with pytest.raises(cuprum.OutOfMemoryError):
            device.allocate(64, stream=stream)
    assert fault.call_count == 2
    assert fault.failed_call == "cuMemAllocFromPoolAsync"
    device.allocate(64, stream=stream)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="cuNoSuch"), fail_call("cuNoSuch"):
        pass
    with pytest.raises(ValueError, match="nth"), fail_call("*", nth=0):
        pass
    with pytest.raises(ValueError, match="success"), fail_call("*", code=0):
        pass


def use_streams_and_events(device, _):
    stream = device.create_stream()
    other = device.create_stream(options={"priority": 0})
    event = stream.record(options={"timing_enabled": True})
    other.wait(event)
    other.wait(stream)
    done = []
    stream.launch_host(lambda: done.append(1))
    stream.sync()
    other.sync()
    assert done
    later = stream.record(options={"timing_enabled": True})
    later.sync()
    assert later - event >= 0


def use_memory(device, _):
    stream = device.create_stream()
    pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 25})
    buffer = pool.allocate(64, stream=stream)
    other = device.allocate(64, stream=stream)
    buffer.fill(b"1", stream=stream)
    other.copy_from(buffer, stream=stream)
    buffer.close(stream)
    with other:
        pass
    pinned = cuprum.LegacyPinnedMemoryResource().allocate(64)
    pinned.close()
    stream.sync()
    pool.close()


def use_contexts(device, _):
    context = cuprum.Context.create(device)
    with context.as_current():
        device.create_stream().sync()
        context.get_limit("malloc_heap_size")
    context.close()


def use_kernels(device, code):
    stream = device.create_stream()
    kernel = cuprum.ObjectCode.from_ptx(code).get_kernel("add")
    buffer = device.allocate(128, stream=stream)
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, buffer, 1)
    kernel.occupancy.max_active_blocks_per_multiprocessor(32, 0)
    stream.sync()


@pytest.fixture(scope="module")
def code():
    source = 'extern "C" __global__ void add(int* values, int n) { values[threadIdx.x] += n; }'
    return bytes(cuprum.Program(source, "c++").compile("ptx").code)


@pytest.mark.parametrize(
    "scenario", [use_streams_and_events, use_memory, use_contexts, use_kernels]
)
def test_every_failing_call_is_an_error_or_a_warning_and_leaks_nothing(device, code, scenario):
    scenario(device, code)
    device.sync()
    alive = count_live_objects()
    calls = 0
    while True:
        with (
            warnings.catch_warnings(record=True) as warned,
            fail_call("*", nth=calls + 1) as fault,
        ):
            warnings.simplefilter("always")
            error = failure_of(lambda: scenario(device, code))
            gc.collect()
        if not fault.failed_call:
            break
        calls += 1
        told = [str(error), *(str(warning.message) for warning in warned)]
        # A failed query is not reported, because the wait after it decides.
        assert fault.failed_call in " ".join(told) or fault.failed_call.endswith("Query")
        scenario(device, code)
        del error
        gc.collect()
        device.sync()
        assert count_live_objects() == alive, f"{fault.failed_call} left something alive"
    assert calls > 5
    print(f"{scenario.__name__}: {calls} driver calls made to fail, leaks found: 0")


def failure_of(action):
    try:
        action()
    except cuprum.CUDAError as error:
        return error.with_traceback(None)
    return None


def count_live_objects():
    """Return the emulated driver's counts of live objects; a GPU's driver has none."""
    if not cuprum.Device(0).is_emulated:
        return None

    class Counts(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("counts", ctypes.c_size_t * 11)]

    counts = Counts(ctypes.sizeof(Counts))
    # The library is already loaded by its path, so opening the path returns the same library.
    path = re.search(r"\((.*)\)", cuprum.driver_description())[1]
    assert ctypes.CDLL(path).cuprumEmulatorLiveObjects(ctypes.byref(counts)) == 0
    return list(counts.counts)
