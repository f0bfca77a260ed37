# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import enum

import pytest

from cuprum import system
from cuprum.system import typing

STRINGS = [
    name
    for name in typing.__all__
    if name not in ("FieldId", "DeviceArch") and issubclass(getattr(typing, name), enum.Enum)
]

# Our name, and that of cuda.bindings.nvml; whose members have these prefixes.
SAME_IN_BINDINGS = {
    "ClockType": ("ClockType", "CLOCK_"),
    "GpuTopologyLevel": ("GpuTopologyLevel", "TOPOLOGY_"),
    "InforomObject": ("InforomObject", "INFOROM_"),
    "TemperatureThresholds": ("TemperatureThresholds", "TEMPERATURE_THRESHOLD_"),
    "EventType": ("EventType", ""),
}


@pytest.mark.parametrize("name", STRINGS)
def test_members_are_strings(name):
    for member in getattr(typing, name):
        assert isinstance(member, str)
        assert str(member) == member.value == f"{member}"


def test_the_architecture_is_ordered():
    assert typing.DeviceArch.KEPLER < typing.DeviceArch.HOPPER < typing.DeviceArch.UNKNOWN


def test_fields_have_the_numbers_of_the_bindings():
    nvml = pytest.importorskip("cuda.bindings.nvml")
    theirs = {name: int(value) for name, value in nvml.FieldId.__members__.items()}
    del theirs["MAX"]  # the count, which grows
    ours = {name: int(value) for name, value in typing.FieldId.__members__.items()}
    assert theirs.items() <= ours.items()


def test_architectures_have_the_numbers_of_the_bindings():
    nvml = pytest.importorskip("cuda.bindings.nvml")
    for name, value in nvml.DeviceArch.__members__.items():
        if name in typing.DeviceArch.__members__:
            assert typing.DeviceArch[name] == int(value)


@pytest.mark.parametrize("name", SAME_IN_BINDINGS)
def test_enumerations_have_the_members_of_the_bindings(name):
    nvml = pytest.importorskip("cuda.bindings.nvml")
    their_name, prefix = SAME_IN_BINDINGS[name]
    theirs = {
        member.removeprefix(prefix)
        for member in getattr(nvml, their_name).__members__
        if not member.endswith("COUNT")
    }
    ours = {member.replace("MEMORY", "MEM") for member in getattr(typing, name).__members__}
    assert {member.replace("MEMORY", "MEM") for member in theirs} <= ours


def test_the_public_names_of_the_reference_are_here():
    names = (
        "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
        "Device",
        "NvlinkInfo",
        "get_driver_branch",
        "get_kernel_mode_driver_version",
        "get_num_devices",
        "get_nvml_version",
        "get_p2p_status",
        "get_process_name",
        "get_topology_common_ancestor",
        "get_user_mode_driver_version",
        "register_events",
    )
    assert set(names) <= set(system.__all__)
    assert all(hasattr(system, name) for name in system.__all__)
    assert len(typing.__all__) >= 19
    assert all(hasattr(typing, name) for name in typing.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = typing.Nothing
