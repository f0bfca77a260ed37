# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The less common fields of LaunchConfig, and the ways to create one."""

import pickle

import numpy as np
import pytest

import cuprum
from cuprum import AccessPolicyWindow, LaunchConfig, launch

SOURCE = r"""
extern "C" __global__ void mark(int* x) { if (threadIdx.x == 0) atomicAdd(x, 1); }
extern "C" __global__ void reverse(int* x, unsigned n) {
    extern __shared__ int values[];
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) values[i] = x[i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) x[i] = values[n - 1 - i];
}
"""


@pytest.fixture
def code():
    code = cuprum.Program(SOURCE, "c++").compile("cubin")
    yield code
    code.close()


@pytest.fixture
def counter(device, stream):
    with device.allocate(4, stream=stream) as buffer:
        buffer.fill(0, stream=stream)
        yield buffer


def read(buffer, stream, dtype=np.int32):
    values = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
    buffer.copy_to_host(values, stream=stream)
    stream.sync()
    return values


EXTRAS = {
    "priority": -1,
    "cluster_scheduling_policy": "spread",
    "shared_memory_carveout": 50,
    "access_policy_window": AccessPolicyWindow(4096, 256, 0.5),
    "memory_sync_domain": "remote",
    "memory_sync_domain_map": (0, 1),
    "nvlink_centric_scheduling": True,
    "raw_attributes": {8: b"\xff\xff\xff\xff"},
}


@pytest.mark.parametrize("name", EXTRAS)
def test_a_field_is_read_compared_hashed_shown_and_pickled(name):
    value = EXTRAS[name]
    config = LaunchConfig(grid=1, block=32, **{name: value})
    same = LaunchConfig(grid=1, block=32, **{name: value})
    plain = LaunchConfig(grid=1, block=32)
    assert getattr(config, name) == value
    assert getattr(plain, name) in (None, False)
    assert config == same
    assert hash(config) == hash(same)
    assert config != plain
    assert f"{name}={value!r}" in repr(config)
    assert name not in repr(plain)
    assert pickle.loads(pickle.dumps(config)) == config
    with pytest.raises(AttributeError):
        setattr(config, name, value)


def test_events_belong_to_a_configuration(device):
    event = device.create_event()
    config = LaunchConfig(
        grid=1, block=1, programmatic_event=(event, True), launch_completion_event=event
    )
    assert config.programmatic_event == (event, True)
    assert config.launch_completion_event is event
    assert LaunchConfig(grid=1, block=1, programmatic_event=event).programmatic_event is event


def test_a_preferred_cluster_is_a_multiple():
    config = LaunchConfig(grid=4, cluster=2, block=32, preferred_cluster=4)
    assert config.preferred_cluster == (4, 1, 1)
    with pytest.raises(ValueError, match="without `cluster`"):
        LaunchConfig(grid=4, block=32, preferred_cluster=4)


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("priority", "high", TypeError, "priority must be an integer"),
        ("priority", 2**40, ValueError, "priority must be from"),
        ("cluster_scheduling_policy", "best", ValueError, "'spread', 'load_balancing', got 'best'"),
        ("shared_memory_carveout", 101, ValueError, "from 0 to 100, got 101"),
        ("access_policy_window", 7, TypeError, "must be an AccessPolicyWindow or a dict"),
        ("access_policy_window", {"base": 4096}, TypeError, "bytes"),
        (
            "access_policy_window",
            {"base": 4096, "bytes": 1, "hit_ratio": 2},
            ValueError,
            "hit_ratio is 2",
        ),
        (
            "access_policy_window",
            {"base": 4096, "bytes": 1, "miss": "persisting"},
            ValueError,
            "miss is Persisting",
        ),
        ("memory_sync_domain", "far", ValueError, "'default', 'remote', got 'far'"),
        ("memory_sync_domain_map", (1,), ValueError, "must be two integers"),
        ("memory_sync_domain_map", (1, 256), ValueError, "from 0 to 255, got 256"),
        ("programmatic_event", 1, TypeError, "programmatic_event must be an Event"),
        ("launch_completion_event", 1, TypeError, "launch_completion_event must be an Event"),
        ("portable_cluster_mode", "maybe", ValueError, "'allow_non_portable', got 'maybe'"),
        ("raw_attributes", [1], TypeError, "raw_attributes must be a dict"),
        ("raw_attributes", {1: bytes(65)}, ValueError, r"raw_attributes\[1\] has 65 bytes"),
        ("raw_attributes", {3: bytes(4)}, ValueError, "SYNCHRONIZATION_POLICY.*Stream"),
        ("raw_attributes", {13: bytes(4)}, ValueError, "DEVICE_UPDATABLE.*not supported"),
        ("color", 1, TypeError, r"LaunchConfig\(\) got an unexpected keyword argument 'color'"),
    ],
)
def test_bad_values_say_what_was_expected(name, value, error, words):
    with pytest.raises(error, match=words):
        LaunchConfig(grid=1, block=1, **{name: value})


def test_a_priority_that_the_device_has_not_is_refused_at_the_launch(code, stream, counter):
    config = LaunchConfig(grid=1, block=1, priority=1000)
    with pytest.raises(ValueError, match=r"LaunchConfig priority is 1000, expected -?\d+ \(runs"):
        launch(stream, config, code.get_kernel("mark"), counter)


def test_an_event_with_timing_is_refused(device):
    timed = device.create_event({"timing_enabled": True})
    with pytest.raises(ValueError, match="launch_completion_event is an event with timing"):
        LaunchConfig(grid=1, block=1, launch_completion_event=timed)


def test_a_derived_class_is_a_configuration_too(code, stream, counter):
    class Mine(LaunchConfig):
        pass

    config = Mine(grid=2, block=32, priority=0)
    assert config.grid == (2, 1, 1)
    launch(stream, config, code.get_kernel("mark"), counter)
    assert read(counter, stream)[0] == 2


def test_launches_with_attributes_run(code, device, stream, counter):
    event = device.create_event()
    config = LaunchConfig(
        grid=3,
        block=32,
        priority=stream.priority,
        shared_memory_carveout=50,
        launch_completion_event=event,
    )
    launch(stream, config, code.get_kernel("mark"), counter)
    assert read(counter, stream)[0] == 3
    event.sync()
    assert event.is_done


def test_a_dict_has_all_fields_too(code, stream, counter):
    config = {"grid": 2, "block": 32, "priority": stream.priority}
    launch(stream, config, code.get_kernel("mark"), counter)
    assert read(counter, stream)[0] == 2


def test_more_than_48_kib_of_shared_memory_needs_no_preparation(code, device, stream):
    size = 200 * 1024
    limit = device.properties.max_shared_memory_per_block_optin
    if limit < size:
        pytest.skip(f"the device has {limit} bytes of shared memory per block")
    kernel = code.get_kernel("reverse")
    values = np.arange(size // 4, dtype=np.int32)
    with device.allocate(size, stream=stream) as buffer:
        buffer.copy_from_host(values, stream=stream)
        config = LaunchConfig(grid=1, block=256, shmem_size=size)
        launch(stream, config, kernel, buffer, values.size)
        assert np.array_equal(read(buffer, stream), values[::-1])
        assert kernel.attributes.max_dynamic_shared_size_bytes == size
        with pytest.raises(ValueError, match=f"at most {limit}"):
            launch(stream, LaunchConfig(grid=1, block=1, shmem_size=limit + 1), kernel, buffer, 0)


def test_too_much_shared_memory_names_the_limit_of_the_device_alone(code, device, stream, counter):
    limit = device.properties.max_shared_memory_per_block_optin
    config = LaunchConfig(grid=1, block=1, shmem_size=limit + 1)
    with pytest.raises(ValueError, match=f"at most {limit}") as caught:
        launch(stream, config, code.get_kernel("mark"), counter)
    if device.is_emulated:  # the driver's log is in the message
        without_preparation = device.properties.max_shared_memory_per_block
        assert str(without_preparation) not in str(caught.value)


def test_from_size_has_a_thread_for_each_element():
    assert LaunchConfig.from_size(1000) == LaunchConfig(grid=4, block=256)
    assert LaunchConfig.from_size(1000, block=128).grid == (8, 1, 1)
    with pytest.raises(ValueError, match="elements is 0"):
        LaunchConfig.from_size(0)
    with pytest.raises(ValueError, match="let each thread work on several"):
        LaunchConfig.from_size(2**40, 1)


def test_from_occupancy_suits_the_kernel(code, device):
    kernel = code.get_kernel("mark")
    config = LaunchConfig.from_occupancy(kernel, 10_000)
    assert 32 <= config.block[0] <= kernel.attributes.max_threads_per_block
    assert config.grid[0] * config.block[0] >= 10_000
    assert LaunchConfig.from_occupancy(kernel, block_size_limit=64).block[0] <= 64
    with pytest.raises(TypeError, match="kernel must be a Kernel"):
        LaunchConfig.from_occupancy(code)
