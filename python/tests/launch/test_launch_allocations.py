# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Launches from Python allocate neither Python objects nor memory of the library."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import cuprum

PROGRAMS = Path(__file__).parents[1] / "programs"


def driver_in_use():
    """Return the file of the driver that this process has loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[-1]
        if Path(path).name.startswith("libcuda.so"):
            return path
    return None


@pytest.fixture(scope="module")
def counts(c_compiler, tmp_path_factory):
    """Count the allocations of many launches in a separate process."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip(
            "a free-threaded Python refuses PYTHONMALLOC=malloc, since its own allocator is a part "
            "of how it shares objects: what it allocates cannot be counted"
        )
    cuprum.Device(0)  # loads the driver
    driver = driver_in_use()
    has_sanitizer = any(name in os.environ.get("LD_PRELOAD", "") for name in ("asan", "tsan"))
    if driver is None or has_sanitizer:
        pytest.skip("needs the allocator to itself")
    library = tmp_path_factory.mktemp("counted") / "libcounted.so"
    subprocess.run(
        [
            *(*c_compiler, "-shared", "-fPIC", "-O1", "-w"),
            *(str(PROGRAMS / "count_allocations.c"), "-o", str(library), "-ldl"),
        ],
        check=True,
    )
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "CUPRUM_DRIVER": str(library),
        "COUNTED_DRIVER": driver,
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, str(PROGRAMS / "counted_launches.py")]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize(
    "kind", ["no arguments", "three arguments", "a numpy scalar", "attributes"]
)
def test_a_launch_allocates_nothing(counts, kind):
    assert counts[kind] == 0


@pytest.mark.parametrize("kind", ["sixteen ints", "sixteen buffers"])
def test_a_launch_with_many_arguments_allocates_what_any_call_does(counts, kind):
    by_the_interpreter = counts["a built-in function"]
    assert counts[kind] == by_the_interpreter
    if sys.version_info < (3, 14):
        assert by_the_interpreter == 0


def test_the_counter_counts(counts):
    assert counts["a new configuration"] >= 990
