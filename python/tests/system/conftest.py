# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What the tests of ``cuprum.system`` share."""

import pytest
from nvml_processes import FAKE_LIBRARY, PREAMBLE, run_python

import cuprum
from cuprum import system


@pytest.fixture
def system_device():
    """Return NVML's view of device 0."""
    return cuprum.Device(0).to_system_device()


@pytest.fixture
def supported():
    """Return a function that calls another and skips the test if the device cannot answer."""

    def call(function):
        try:
            return function()
        except (system.NotSupportedError, system.FunctionNotFoundError) as error:
            pytest.skip(f"the device does not support {error.call}")

    return call


@pytest.fixture
def run_with_fake():
    """Return a function that runs a program with the fake NVML."""
    if not FAKE_LIBRARY.exists():
        pytest.skip("the fake NVML is not built")
    return lambda source: run_python(PREAMBLE + source, CUPRUM_NVML=FAKE_LIBRARY)
