# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Direct reads of Python objects are verified first, can be turned off, and change no result."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cuprum import _cuprum
from cuprum._command import info

TESTS = Path(__file__).parents[1]
NAMES = ["instances", "ints", "numpy", "cupy", "torch"]
# Tests that use the fast paths: ints and objects as arguments, recycled objects, arrays.
COVERING = [
    "launch/test_launch.py",
    "launch/test_launch_config.py",
    "memory/test_buffer.py",
    "stream/test_event.py",
    "stream/test_stream.py",
    "arrays/test_strided_memory_view.py",
    "support/test_cycles.py",
    "support/test_fast_methods.py",
    "support/test_unmade_objects.py",
]


def run(*arguments, disabled):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CUPRUM_DISABLE_FAST_PATHS": disabled},
    )


def test_our_own_objects_and_ints_are_as_expected_here():
    states = _cuprum.fast_paths()
    assert list(states) == NAMES
    if not os.environ.get("CUPRUM_DISABLE_FAST_PATHS"):
        assert (states["instances"], states["ints"]) == ("on", "on")


def test_info_says_which_are_on():
    facts = info.collect()
    assert facts["fast_paths"] == _cuprum.fast_paths()
    [line] = [line for line in info.render(facts) if line.startswith("fast paths: ")]
    for name, state in _cuprum.fast_paths().items():
        assert f"{name} {state}" in line


@pytest.mark.parametrize("disabled", ["all", "cupy,torch", "instances", ""])
def test_they_are_turned_off_by_name(disabled):
    program = "from cuprum import _cuprum; print(*map('='.join, _cuprum.fast_paths().items()))"
    result = run("-c", program, disabled=disabled)
    states = dict(pair.split("=") for pair in result.stdout.replace("not used yet", "-").split())
    expected = set(NAMES) if disabled == "all" else set(disabled.split(",")) - {""}
    assert {name for name, state in states.items() if state == "disabled"} == expected
    assert result.stderr == ""


def test_a_name_that_means_nothing_is_warned_about():
    result = run("-c", "import cuprum", disabled="cupy,touch")
    assert result.returncode == 0
    assert "CUPRUM_DISABLE_FAST_PATHS names 'touch', expected 'all' or a list of" in result.stderr


@pytest.mark.parametrize(
    ("disabled", "files"),
    [("instances,ints", COVERING), ("all", ["arrays/test_view_copy.py", "launch/test_launch.py"])],
    ids=["our own", "all"],
)
def test_everything_works_without_them(disabled, files):
    files = [str(TESTS / name) for name in files]
    result = run(*("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files), disabled=disabled)
    assert result.returncode == 0, result.stdout[-4000:]


def test_tensors_are_not_read_in_place_if_that_is_turned_off():
    # Normally the second tensor of a kind is read directly, which that test counts. Without fast
    # paths, DLPack reads it too.
    test = f"{TESTS}/arrays/test_torch_tensors.py::test_each_kind_is_compared_once"
    result = run(*("-m", "pytest", "-q", "-p", "no:cacheprovider", test), disabled="torch")
    if "1 skipped" in result.stdout:
        pytest.skip("the other test is skipped: it needs a C compiler")
    assert "assert [1, 1, 1, 1, 1, 1, ...] == [1, 1, 1, 0, 0, 0, ...]" in result.stdout
