# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What type checkers find in a program that uses the package."""

import pathlib
import subprocess
import sys

import pytest

import cuprum

PACKAGE = pathlib.Path(cuprum.__file__).resolve().parent
RIGHT = """\
import numpy as np

import cuprum

device = cuprum.Device(0)
device.set_current()
stream = device.create_stream(options={"priority": 0})
count = np.int64(1024)
buffer = device.allocate(count, stream=stream)
program = cuprum.Program("", "c++", {"std": "c++17"})
kernel = program.compile("cubin").get_kernel("empty")
config = cuprum.LaunchConfig(grid=(count, np.int32(2)), block=count)
cuprum.launch(stream, config, kernel, buffer, 1.5)
event: cuprum.Event = stream.record()
timed: bool = event.is_timing_enabled
layout = cuprum.utils.StridedMemoryView.from_buffer(buffer, (count,), itemsize=1).layout
with cuprum.graph.capture(stream, mode="relaxed") as builder:
    cuprum.launch(builder, config, kernel)
"""
# Each of these lines is a mistake.
WRONG = """\
cuprum.Program("", "cuda")
program.compile("elf")
cuprum.graph.capture(stream, mode="some")
device.allocate("16", stream=stream)
device.allocate(16)
cuprum.LaunchConfig(grid=1.5, block=1)
cuprum.LaunchConfig(grid=1, blocks=1)
stream.priority = 1
stream.wait(5)
size: str = buffer.size
"""


def check(tmp_path, text):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "program.py"]
    return subprocess.run(
        [*command, "--cache-dir", tmp_path / "cache"],
        capture_output=True,
        text=True,
        check=False,
        env={"MYPYPATH": str(PACKAGE.parent), "PATH": ""},
        cwd=tmp_path,
    ).stdout.splitlines()


def test_a_right_program_has_no_type_errors_and_each_mistake_is_found(tmp_path):
    first = len(RIGHT.splitlines()) + 1
    found = check(tmp_path, RIGHT + WRONG)
    errors = [each.split(":") for each in found if ": error:" in each]
    assert all(file == "program.py" for file, *_ in errors), "\n".join(found)
    lines = {int(line) for _, line, *_ in errors}
    assert lines == set(range(first, first + len(WRONG.splitlines()))), "\n".join(found)
