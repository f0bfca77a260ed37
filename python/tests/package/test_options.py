# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""All option classes: no field is ignored."""

import dataclasses

import pytest

import cuprum
from cuprum import _cuprum, _options

# How to use an object of each class. Python code reads the other classes.
USES = {
    "DeviceMemoryResourceOptions": lambda options, device: cuprum.DeviceMemoryResource(
        device, options=options
    ),
    "EventOptions": lambda options, device: device.create_event(options),
    "JITOptions": lambda options, _: cuprum.ObjectCode.from_ptx(b"", jit_options=options),
    "LinkerOptions": lambda options, _: _cuprum.nvjitlink_options(options),
    "PinnedMemoryResourceOptions": lambda options, _: cuprum.PinnedMemoryResource(options),
    "ProgramOptions": lambda options, _: _cuprum.nvrtc_options(options),
    "StreamOptions": lambda options, device: device.create_stream(options=options),
    "VirtualMemoryResourceOptions": lambda options, device: cuprum.VirtualMemoryResource(
        device, options
    ),
}


@pytest.mark.parametrize("name", USES)
def test_every_field_of_an_option_class_is_read(name, device):
    read = set()

    class Watched(getattr(cuprum, name)):
        def __getattribute__(self, field):
            read.add(field)
            return super().__getattribute__(field)

    made = USES[name](Watched(), device)
    fields = {field.name for field in dataclasses.fields(Watched)}
    assert fields <= read, f"ignored: {sorted(fields - read)}"
    if hasattr(made, "close"):
        made.close()


def test_every_option_class_is_public():
    public = {name for name in cuprum.__all__ if name.endswith("Options")}
    assert public == set(_options.__all__)
    for name in public:
        assert getattr(cuprum, name) is getattr(_options, name)
