# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import copy
import multiprocessing
import os
import pickle
import threading
import time
import weakref

import pytest

import cuprum
from cuprum import system
from cuprum.system import typing


def test_it_is_the_device_that_cuda_knows(system_device):
    device = cuprum.Device(0)
    assert system_device.uuid_without_prefix == device.uuid
    assert system_device.uuid == "GPU-" + device.uuid
    assert system_device.to_cuda_device() is device
    assert system_device.name == device.name
    assert system_device.cuda_compute_capability == tuple(device.compute_capability)
    assert system_device.pci_bus_id[4:].lower() == device.pci_bus_id.lower()


def test_it_is_found_in_every_way(system_device, supported):
    assert system.Device(index=system_device.index) == system_device
    assert system.Device(uuid=system_device.uuid) == system_device
    assert system.Device(uuid=system_device.uuid_without_prefix) == system_device
    assert system.Device(uuid=system_device.uuid.encode()) == system_device
    assert system.Device(pci_bus_id=system_device.pci_bus_id) == system_device
    assert system.Device(pci_bus_id=cuprum.Device(0).pci_bus_id) == system_device
    serial = supported(lambda: system_device.serial)
    same_board = [device for device in system.Device.get_all_devices() if device.serial == serial]
    if len(same_board) == 1:
        assert system.Device(serial=serial) == system_device


def test_it_is_a_value(system_device):
    again = system.Device(index=system_device.index)
    assert again == system_device
    assert hash(again) == hash(system_device)
    assert copy.copy(system_device) == system_device
    assert pickle.loads(pickle.dumps(system_device)) == system_device
    assert weakref.ref(system_device)() is system_device
    assert system_device != 0
    assert system_device.name in repr(system_device)
    assert system_device.handle == again.handle != 0


def test_exactly_one_choice_is_needed():
    with pytest.raises(ValueError, match="only one of index, uuid, pci_bus_id and serial, got 2"):
        system.Device(index=0, uuid="x")
    with pytest.raises(ValueError, match="either a device index"):
        system.Device()
    with pytest.raises(TypeError):
        system.Device(0)


def test_a_wrong_index_shows_the_range():
    with pytest.raises(ValueError, match="index is -1, expected at least 0"):
        system.Device(index=-1)
    with pytest.raises(system.InvalidArgumentError, match=r"index is 999, expected 0 to \d") as it:
        system.Device(index=999)
    assert isinstance(it.value, ValueError)
    with pytest.raises(ValueError, match="index is 1180591620717411303424"):
        system.Device(index=2**70)
    with pytest.raises(TypeError, match="index must be an int, got str"):
        system.Device(index="0")


def test_a_wrong_uuid_shows_what_there_is(system_device):
    with pytest.raises(system.NvmlError, match="which no device has; there are: GPU-") as caught:
        system.Device(uuid="GPU-00000000-dead-beef-0000-000000000000")
    assert caught.value.code in (2, 6)  # NVML checks the form, then looks for it
    assert system_device.uuid in str(caught.value)
    with pytest.raises(ValueError, match="uuid is empty"):
        system.Device(uuid="")
    with pytest.raises(ValueError, match="NUL"):
        system.Device(uuid="GPU-\0")
    with pytest.raises(TypeError, match="uuid"):
        system.Device(uuid=7)


def test_a_wrong_address_or_serial_shows_what_there_is(system_device):
    with pytest.raises(system.NvmlError, match="which no device has; there are: ") as caught:
        system.Device(pci_bus_id="ffff:ff:1f.0")
    assert system_device.pci_bus_id in str(caught.value)
    with pytest.raises(system.NotFoundError, match='serial is "none", which no device has'):
        system.Device(serial="none")


def test_memory_adds_up(system_device):
    memory = system_device.memory_info
    assert memory.free + memory.used + memory.reserved == memory.total > 0
    assert "total=" in repr(memory)


def test_memory_in_use_is_true(system_device):
    device = cuprum.Device(0)
    if not device.is_emulated:
        pytest.skip("other programs may use the GPU")
    device.set_current()
    size = 32 << 20
    resource = cuprum.SynchronousMemoryResource(0)
    before = system_device.memory_info.used
    buffer = resource.allocate(size, stream=device.default_stream)
    assert system_device.memory_info.used == before + size
    buffer.close()
    assert system_device.memory_info.used == before


def test_bar1_memory_is_a_kind_of_memory(system_device, supported):
    bar1 = supported(lambda: system_device.bar1_memory_info)
    assert isinstance(bar1, system.MemoryInfo)
    assert bar1.free + bar1.used == bar1.total


def test_load_is_a_percentage(system_device, supported):
    load = supported(lambda: system_device.utilization)
    assert 0 <= load.gpu <= 100
    assert 0 <= load.memory <= 100


def test_names_are_text(system_device):
    assert isinstance(system_device.brand, str)
    assert isinstance(system_device.arch, typing.DeviceArch)
    assert system_device.arch >= typing.DeviceArch.KEPLER


def test_the_bus_has_numbers(system_device):
    pci = system_device.pci_info
    assert pci.bus_id == system_device.pci_bus_id
    assert pci.domain == int(pci.bus_id.split(":")[0], 16)
    assert pci.bus == int(pci.bus_id.split(":")[1], 16)
    assert 0 < pci.vendor_id <= 0xFFFF
    assert 0 < pci.device_id <= 0xFFFF
    assert 0 < pci.current_link_generation <= pci.max_link_generation
    assert 0 < pci.current_link_width <= 32


def test_clocks_are_in_mhz(system_device, supported):
    clock = system_device.get_clock("sm")
    current = supported(clock.get_current_mhz)
    assert 0 <= current <= supported(clock.get_max_mhz) + 50
    assert system_device.get_clock(typing.ClockType.SM).get_max_mhz() == clock.get_max_mhz()


def test_clocks_refuse_what_they_do_not_have(system_device):
    clock = system_device.get_clock("memory")
    with pytest.raises(ValueError, match="Invalid clock type: 'tick'; expected one of 'graphics'"):
        system_device.get_clock("tick")
    with pytest.raises(ValueError, match="Invalid clock ID: 'now'"):
        clock.get_current_mhz("now")
    for pstate in (-1, 16, 2**70):
        with pytest.raises(
            ValueError, match=r"Invalid P-state: .*expected 0 \(the fastest\) to 15"
        ):
            clock.get_offsets(pstate)
    with pytest.raises(TypeError, match="pstate must be an int, got str"):
        clock.get_min_max_clock_of_pstate_mhz("0")


def test_reasons_for_low_clocks_are_words(system_device, supported):
    reasons = supported(lambda: system_device.current_clock_event_reasons)
    assert all(isinstance(reason, (typing.ClocksEventReasons, int)) for reason in reasons)
    texts = system_device.throttle_reasons
    assert all(len(text.split()) > 3 for text in texts)
    everything = {reason.explanation for reason in typing.ClocksEventReasons}
    assert len(everything) == len(typing.ClocksEventReasons)


def test_power_and_energy_have_units(system_device, supported):
    power = system_device.power
    limit = supported(lambda: power.limit_mw)
    lowest, highest = power.limit_constraints_mw
    assert lowest <= limit <= highest
    energy = supported(lambda: power.total_energy_mj)
    assert power.total_energy_mj >= energy
    with pytest.raises(TypeError, match="limit_mw"):
        power.limit_mw = "much"


def test_temperature_is_in_celsius(system_device, supported):
    temperature = system_device.temperature
    assert -20 < supported(temperature.get_sensor) < 130
    with pytest.raises(ValueError, match="Invalid temperature threshold type: 'warm'"):
        temperature.get_threshold("warm")
    with pytest.raises(ValueError, match="Invalid thermal sensor index: 'toe'"):
        temperature.get_thermal_settings("toe")


def test_superseded_thresholds_give_a_warning(system_device, supported):
    if system_device.arch < typing.DeviceArch.ADA:
        pytest.skip("the architecture is older")

    def read():
        with pytest.warns(DeprecationWarning, match=r"shutdown is no longer recommended.*FieldId"):
            return system_device.temperature.get_threshold("shutdown")

    assert supported(read) > 0


def test_fans_outside_the_range_are_refused(system_device, supported):
    count = supported(lambda: system_device.num_fans)
    with pytest.raises(ValueError, match=f"fan is {count}"):
        system_device.get_fan(count)
    with pytest.raises((ValueError, OverflowError), match="fan"):
        system_device.get_fan(-1)
    for index in range(count):
        assert 0 <= system_device.get_fan(index).speed <= 200


def test_links_outside_the_range_are_refused(system_device, supported):
    count = supported(system_device.get_nvlink_count)
    with pytest.raises(ValueError, match=f"link is {count}"):
        system_device.get_nvlink(count)
    for link in system_device.get_nvlinks():
        assert isinstance(link.state, bool)
    with pytest.warns(DeprecationWarning, match="max_links"):
        assert system.NvlinkInfo.max_links == 18


def test_affinity_is_a_list_of_numbers(system_device, supported):
    cpus = supported(system_device.get_cpu_affinity)
    assert cpus
    assert max(cpus) < os.cpu_count() * 64
    assert system_device.get_cpu_affinity(scope="node") == cpus
    with pytest.raises(ValueError, match="Invalid affinity scope: 'near'"):
        system_device.get_memory_affinity("near")
    with pytest.raises(ValueError, match="Invalid topology level: 'up'"):
        system_device.get_topology_nearest_gpus("up")


def test_fields_are_a_sequence(system_device):
    field = typing.FieldId.DEV_TOTAL_ENERGY_CONSUMPTION
    fields = system_device.get_field_values([field, (typing.FieldId.DEV_NVLINK_LINK_COUNT, 0)])
    assert len(fields) == 2
    assert fields[0].field_id is field
    assert fields[-2].field_id is field
    assert [each.scope_id for each in fields] == [0, 0]
    assert len(system_device.get_field_values([])) == 0
    system_device.clear_field_values([])
    with pytest.raises(IndexError, match="field index is 2, but there are 2"):
        fields[2]
    with pytest.raises(TypeError):
        fields["0"]


def test_each_field_has_its_own_error(system_device):
    count = typing.FieldId.DEV_PCIE_REPLAY_COUNTER
    fields = system_device.get_field_values([count, 999999])
    assert fields[1].field_id == 999999  # a number that FieldId does not know
    with pytest.raises(system.NvmlError):
        fields.validate()
    with pytest.raises(system.NvmlError):
        _ = fields[1].value
    with pytest.raises(system.NvmlError):
        fields.get_all_values()
    assert fields[0].value >= 0


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ([-1], (ValueError, OverflowError), "a field of field_ids"),
        (["power"], TypeError, "a field of field_ids"),
        ([(1, 2, 3)], ValueError, r"\(1, 2, 3\), expected a field or \(field, scope\)"),
        ([(1, "x")], TypeError, "a scope of field_ids"),
        (7, TypeError, "not iterable"),
    ],
)
def test_fields_must_be_numbers(system_device, fields, error, text):
    with pytest.raises(error, match=text):
        system_device.get_field_values(fields)


def test_events_are_waited_for_with_a_limit(system_device, supported):
    types = system_device.get_supported_event_types()
    assert all(isinstance(each, (typing.EventType, int)) for each in types)
    events = supported(lambda: system_device.register_events("xid_critical_error"))
    began = time.monotonic()
    with pytest.raises(system.TimeoutError) as caught:
        events.wait(timeout_ms=150)
    assert time.monotonic() - began >= 0.14
    assert isinstance(caught.value, TimeoutError)
    events.close()
    events.close()
    with pytest.raises(cuprum.ClosedError, match="DeviceEvents"):
        events.wait(timeout_ms=1)


def test_events_must_be_names(system_device):
    with pytest.raises(TypeError, match="events must be a EventType, a str, or a list"):
        system_device.register_events(0)
    with pytest.raises(ValueError, match="Invalid event type: 'boom'"):
        system_device.register_events(["boom"])
    with pytest.raises(TypeError, match="expected a EventType or a str, got int"):
        system_device.register_events([8])


def test_mig_answers_or_is_not_supported(system_device, supported):
    mig = system_device.mig
    assert mig.is_mig_device is False
    assert mig.device_count >= 0
    assert all(isinstance(part, system.Device) for part in mig.get_all_devices())
    assert isinstance(supported(lambda: mig.mode), bool)


def test_instances_are_for_mig_devices_only(system_device):
    device = cuprum.Device(0)
    device.set_current()
    buffer = device.allocate(16, stream=device.default_stream)
    for process in system_device.compute_running_processes:
        with pytest.raises(system.NotSupportedError, match="no MIG device"):
            _ = process.gpu_instance_id
        with pytest.raises(system.NotSupportedError, match="no MIG device"):
            _ = process.compute_instance_id
    buffer.close()


def test_samples_come_at_the_interval(system_device):
    began = time.monotonic()
    samples = list(system_device.sample(0.02, 3))
    assert time.monotonic() - began >= 0.04
    assert len(samples) == 3
    assert samples[0].time < samples[1].time < samples[2].time
    assert abs(samples[2].time - time.time()) < 60
    for sample in samples:
        assert 0 <= sample.memory_used <= sample.memory_total


def test_samples_have_no_end_unless_told(system_device):
    samples = system_device.sample(interval=0.001)
    assert [next(samples).memory_total for _ in range(3)] == [system_device.memory_info.total] * 3
    assert list(system_device.sample(count=0)) == []


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"interval": 0}, ValueError, "interval is 0, expected more than 0"),
        ({"interval": float("nan")}, ValueError, "interval is nan"),
        ({"interval": float("inf")}, ValueError, "interval is inf"),
        ({"interval": "1"}, TypeError, "interval must be a number of seconds, got str"),
        ({"count": -1}, ValueError, "count is -1"),
        ({"count": 1.5}, TypeError, "count must be an int or None, got float"),
    ],
)
def test_samples_refuse_wrong_arguments(system_device, arguments, error, text):
    with pytest.raises(error, match=text):
        system_device.sample(**arguments)


def test_many_threads_may_ask(system_device):
    failures = []

    def ask():
        try:
            for _ in range(50):
                assert system_device.memory_info.total > 0
                assert system.Device(index=0).index == 0
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def _ask_in_child(uuid, answers):
    answers.put(system.Device(uuid=uuid).name)


def test_a_spawned_process_may_ask(system_device):
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    child = context.Process(target=_ask_in_child, args=(system_device.uuid, answers))
    child.start()
    assert answers.get(timeout=60) == system_device.name
    child.join()
    assert child.exitcode == 0


def test_objects_made_without_init_are_refused():
    with pytest.raises(TypeError):
        _ = system.Device.__new__(system.Device).name
