# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import os

import pytest

import cuprum
from cuprum import system
from cuprum.system import typing


def test_versions_are_tuples_of_ints():
    number = cuprum.driver_version()
    assert system.get_user_mode_driver_version() == (number // 1000, number % 1000 // 10)
    driver = system.get_kernel_mode_driver_version()
    assert len(driver) >= 2
    assert all(isinstance(part, int) for part in driver)
    assert system.get_nvml_version()[0] >= 10


def test_the_branch_of_the_driver_is_text(supported):
    assert supported(system.get_driver_branch)


def test_the_library_has_a_path():
    assert "libnvidia-ml.so" in system.get_library_path()


def test_all_devices_are_counted():
    count = system.get_num_devices()
    assert count >= 1
    assert system.Device.get_device_count() == count
    assert [device.index for device in system.Device.get_all_devices()] == list(range(count))


def test_a_process_that_does_not_exist_is_not_found():
    with pytest.raises(system.NotFoundError, match=r"process 2147483632 is gone") as caught:
        system.get_process_name(0x7FFFFFF0)
    assert isinstance(caught.value, LookupError)


@pytest.mark.parametrize("pid", [-1, 2**40])
def test_a_process_number_must_be_one(pid):
    with pytest.raises((ValueError, OverflowError), match="pid"):
        system.get_process_name(pid)


def test_a_process_number_is_an_int():
    with pytest.raises(TypeError, match="pid"):
        system.get_process_name("self")


def test_this_process_has_a_name_while_it_uses_a_device(system_device):
    device = cuprum.Device(0)
    device.set_current()
    buffer = device.allocate(1 << 20, stream=device.default_stream)
    pids = {process.pid: process for process in system_device.compute_running_processes}
    if os.getpid() in pids:  # a container may hide the numbers of processes
        assert "python" in system.get_process_name(os.getpid())
        assert pids[os.getpid()].name == system.get_process_name(os.getpid())
        assert pids[os.getpid()].used_gpu_memory >= 1 << 20
    else:
        assert not device.is_emulated
    buffer.close()


def test_two_devices_meet_somewhere(system_device, supported):
    devices = list(system.Device.get_all_devices())
    if len(devices) < 2:
        pytest.skip("needs two devices")
    level = supported(lambda: system.get_topology_common_ancestor(devices[0], devices[1]))
    assert isinstance(level, typing.GpuTopologyLevel)
    status = supported(lambda: system.get_p2p_status(devices[0], devices[1], "read"))
    assert isinstance(status, typing.GpuP2PStatus)


def test_topology_takes_system_devices_only(system_device):
    with pytest.raises(TypeError, match=r"device1 must be a cuprum\.system\.Device, got Device"):
        system.get_topology_common_ancestor(cuprum.Device(0), system_device)
    with pytest.raises(TypeError, match="device2"):
        system.get_p2p_status(system_device, 0, "read")
    with pytest.raises(ValueError, match=r"Invalid P2P caps index: 'fly'; expected one of 'read'"):
        system.get_p2p_status(system_device, system_device, "fly")
    with pytest.raises(TypeError, match="expected a GpuP2PCapsIndex or a str, got int"):
        system.get_p2p_status(system_device, system_device, 0)


def test_system_events_are_waited_for_with_a_limit():
    try:
        events = system.register_events(["unbind", typing.SystemEventType.BIND])
    except (system.NotSupportedError, system.FunctionNotFoundError, system.UnknownError):
        pytest.skip("there are no system events here")
    with events:
        with pytest.raises(system.TimeoutError):
            events.wait(timeout_ms=20)
        with pytest.raises(ValueError, match="buffer_size is 0"):
            events.wait(timeout_ms=20, buffer_size=0)
    with pytest.raises(cuprum.ClosedError):
        events.wait(timeout_ms=20)


@pytest.mark.parametrize("events", [0, None, 3.5])
def test_system_events_must_be_names(events):
    with pytest.raises(TypeError, match="events must be a SystemEventType"):
        system.register_events(events)


def test_unknown_system_events_are_refused():
    with pytest.raises(ValueError, match="Invalid event type: 'boom'; expected one of 'unbind'"):
        system.register_events(["boom"])
