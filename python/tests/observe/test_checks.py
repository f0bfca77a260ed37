# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What a check of the emulated device does to the program. Each case is a program."""

import os
import re
import subprocess
import sys

import pytest

PROGRAM = '''
import cuprum

code = cuprum.ObjectCode.from_ptx(b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 p)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+100], 7;
    ret;
}
""")
device = cuprum.Device(0)
stream = device.create_stream()
memory = device.allocate(BYTES, stream=stream)
cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), code.get_kernel("twice"), memory)
try:
    stream.sync()
except cuprum.CUDAError as error:
    print("failed:", error.name)
else:
    print("done")
'''


@pytest.fixture
def run(device):
    """Run the program with a buffer of a size; return what it printed, and its stderr."""
    if not device.is_emulated:
        pytest.skip("the checks are the emulated device's")

    def run(size, **settings):
        variables = {f"CUPRUM_EMULATOR_{name}": value for name, value in settings.items()}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.replace("BYTES", str(size))],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), done.stderr

    return run


def test_a_finding_may_let_the_kernel_go_on(run):
    printed, report = run(104, CHECK="all", CHECK_ACTION="report")
    assert printed == "done"
    assert len(re.findall("uninitialised read", report)) == 1, report
    printed, report = run(104, CHECK="all")
    assert printed == "failed: CUDA_ERROR_LAUNCH_FAILED"


def test_an_access_outside_memory_always_ends_the_kernel(run):
    printed, report = run(100, CHECK="all", CHECK_ACTION="report")
    assert printed == "failed: CUDA_ERROR_ILLEGAL_ADDRESS"
    assert "uninitialised read" in report
    assert "is outside every live allocation" in report
    # Nor does it change what is always checked: units of 64 KiB.
    printed, _ = run(1 << 16, CHECK="races", CHECK_ACTION="report")
    assert printed == "done"


def test_the_report_of_a_kernel_names_the_seed(run):
    printed, report = run(100, CHECK="memory", SCHEDULE="random:4711")
    assert printed == "failed: CUDA_ERROR_ILLEGAL_ADDRESS"
    assert "the schedule was CUPRUM_EMULATOR_SCHEDULE=random:4711" in report
