# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""cuprum top: one table, JSON, and the live table."""

import builtins
import json
import os
import pty
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

import cuprum
from cuprum import system
from cuprum._command import FAILURE, INTERRUPTED, SUCCESS, main, top

BYTES = 8 << 20


@pytest.fixture
def memory(device, stream):
    """Memory of this process that NVML sees."""
    buffer = device.allocate(BYTES, stream=stream)
    stream.sync()
    yield buffer
    buffer.close()


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm-256color"}


def test_facts_are_those_of_nvml(memory, capsys):
    assert main(["top", "--json"]) == SUCCESS
    facts = json.loads(capsys.readouterr().out)
    assert set(facts) == {"time", "devices"}
    assert abs(facts["time"] - time.time()) < 60
    assert len(facts["devices"]) == system.get_num_devices()
    first = facts["devices"][0]
    assert set(first) == {
        "index",
        "name",
        "uuid",
        "gpu_utilization_percent",
        "memory_utilization_percent",
        "memory_used_bytes",
        "memory_total_bytes",
        "temperature_c",
        "power_w",
        "sm_clock_mhz",
        "processes",
    }
    assert first["uuid"].endswith(cuprum.Device(0).uuid)
    own = [each for each in first["processes"] if each["pid"] == os.getpid()]
    if not own:
        pytest.skip("NVML does not see the processes of this container")
    assert set(own[0]) == {"pid", "user", "program", "memory_bytes", "gpu_utilization_percent"}
    assert own[0]["memory_bytes"] is None or own[0]["memory_bytes"] >= BYTES
    command = Path("/proc/self/cmdline").read_bytes().split(b"\0")[0].decode()
    assert command in own[0]["program"]


def test_processes_without_a_known_load_are_listed():
    class Device:
        compute_running_processes = (types.SimpleNamespace(pid=os.getpid(), used_gpu_memory=BYTES),)

        def get_process_utilization(self):
            raise system.NotSupportedError("this device does not know the load of processes")

    (found,) = top._processes_of(Device())
    assert found["pid"] == os.getpid()
    assert found["memory_bytes"] == BYTES
    assert found["gpu_utilization_percent"] is None


def test_one_table_needs_no_rich(memory, capsys, monkeypatch):
    original = builtins.__import__

    def refuse(name, *arguments, **keywords):
        if name.split(".")[0] == "rich":
            raise ImportError("no rich")
        return original(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert main(["top", "--once"]) == SUCCESS
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert text.splitlines()[0].split()[:4] == ["device", "name", "load", "memory"]
    assert cuprum.Device(0).name in text
    assert main(["top"]) == FAILURE
    assert "pip install 'cuprum[top]'" in capsys.readouterr().err


def test_without_nvml_the_error_says_what_to_do():
    result = subprocess.run(
        [sys.executable, "-m", "cuprum", "top", "--once"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment(), "CUPRUM_DRIVER": "/nowhere/libcuda.so.1"},
    )
    assert "Traceback" not in result.stderr
    if result.returncode != SUCCESS:  # a GPU's NVML does not need the driver
        assert result.returncode == FAILURE
        assert result.stderr.startswith("cuprum: ")


def test_names_of_programs_cannot_confuse_a_terminal(tmp_path):
    program = tmp_path / "a\x1b[31mb.sh"
    program.write_text("sleep 60\n")
    child = subprocess.Popen(["sh", str(program)])
    try:
        deadline = time.monotonic() + 10
        while "b.sh" not in (text := top._program_of(child.pid) or ""):
            assert time.monotonic() < deadline
        assert "\x1b" not in text
        assert "a?[31mb.sh" in text
    finally:
        child.kill()
        child.wait()
    assert top._program_of(child.pid) is None
    assert top._user_of(child.pid) is None


def test_the_live_table_is_drawn_until_ctrl_c(memory):
    import rich  # noqa: F401  # tools/requirements.txt brings it

    child, terminal = pty.fork()
    if child == 0:
        os.execve(
            sys.executable,
            [sys.executable, "-m", "cuprum", "top", "--interval", "0.1"],
            {**environment(), "COLUMNS": "160", "LINES": "30"},
        )
    text = b""
    deadline = time.monotonic() + 60
    while text.count(b"Ctrl-C ends it") < 3 and time.monotonic() < deadline:
        text += os.read(terminal, 1 << 16)
    os.kill(child, signal.SIGINT)
    while True:
        try:
            if not os.read(terminal, 1 << 16):
                break
        except OSError:
            break
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == INTERRUPTED
    shown = text.decode(errors="replace")
    assert cuprum.Device(0).name in shown
    assert shown.count("Ctrl-C ends it") >= 3
    assert "Traceback" not in shown


def test_the_live_table_has_all_rows():
    from rich.console import Console

    device = {
        "index": 0,
        "name": "Some [Device]",
        "uuid": "GPU-1",
        "gpu_utilization_percent": None,
        "memory_utilization_percent": None,
        "memory_used_bytes": None,
        "memory_total_bytes": None,
        "temperature_c": 40,
        "power_w": 12.4,
        "sm_clock_mhz": None,
        "processes": [
            {
                "pid": 7,
                "user": None,
                "program": "[bold]x",
                "memory_bytes": 3 << 20,
                "gpu_utilization_percent": 55,
            }
        ],
    }
    console = Console(width=150, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(top.layout({"time": 0.0, "devices": [device]}, {"GPU-1": [0, 50, 100, 250]}))
    console.file.close()
    text = console.export_text()
    for part in ("Some [Device]", "▄█", "40 °C", "12 W", "7", "3 MiB", "55 %", "[bold]x"):
        assert part in text, part


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_live_table_keeps_the_figures_on_narrow_terminals(width):
    from rich.console import Console

    device = {
        "index": 0,
        "name": "A device with a rather long name",
        "uuid": "GPU-1",
        "gpu_utilization_percent": 57,
        "memory_utilization_percent": 1,
        "memory_used_bytes": 1234 << 20,
        "memory_total_bytes": 143771 << 20,
        "temperature_c": 40,
        "power_w": 123.0,
        "sm_clock_mhz": 1980,
        "processes": [],
    }
    console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(top.layout({"time": 0.0, "devices": [device]}, {"GPU-1": [50]}, width))
    console.file.close()
    text = console.export_text()
    for part in ("A dev", "57 %", "1234 of 143771 MiB", "40 °C", "123 W", "1980 MHz"):
        assert part in text, text
