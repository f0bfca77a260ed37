# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuprum top``: devices and the processes that use them."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from cuprum._command import FAILURE, SUCCESS
from cuprum._command.style import Style

_HISTORY = 60  # samples in the line of past load
_WIDE = 120  # columns of a terminal that shows everything
_BARS = " ▁▂▃▄▅▆▇█"
_DEVICE_TITLES = ("device", "name", "load", "memory", "temperature", "power", "clock")
_PROCESS_TITLES = ("device", "process", "user", "memory", "load", "program")


def run(is_json: bool, is_once: bool, interval_s: float) -> int:
    """Print the tables, once or until Ctrl-C; return 1 if there is nothing to show them with."""
    try:
        facts = collect()
    except Exception as error:
        print(f"cuprum: {error}", file=sys.stderr)
        return FAILURE
    if is_json:
        print(json.dumps(facts, indent=2))
        return SUCCESS
    if is_once:
        print("\n".join(render(facts, Style(sys.stdout))))
        return SUCCESS
    try:
        import rich  # noqa: F401
    except ImportError:
        print(
            "cuprum: the live table needs rich: pip install 'cuprum[top]'; 'cuprum top --once' "
            "prints one table without it",
            file=sys.stderr,
        )
        return FAILURE
    _show_live(facts, interval_s)
    return SUCCESS


def collect() -> dict:
    """Return what NVML knows now as plain values; None for what a device does not report."""
    from cuprum import system

    devices = []
    for device in system.Device.get_all_devices():
        sample = device.read_sample()
        devices.append(
            {
                "index": device.index,
                "name": device.name,
                "uuid": device.uuid,
                "gpu_utilization_percent": sample.gpu_utilization,
                "memory_utilization_percent": sample.memory_utilization,
                "memory_used_bytes": sample.memory_used,
                "memory_total_bytes": sample.memory_total,
                "temperature_c": sample.temperature,
                "power_w": None if sample.power_mw is None else sample.power_mw / 1000,
                "sm_clock_mhz": sample.sm_clock_mhz,
                "processes": _processes_of(device),
            }
        )
    return {"time": time.time(), "devices": devices}


def render(facts: dict, style: Style) -> list[str]:
    """Return the tables as lines of text."""
    lines = _table(_DEVICE_TITLES, [_device_row(device) for device in facts["devices"]], style)
    rows = [
        _process_row(device, process)
        for device in facts["devices"]
        for process in device["processes"]
    ]
    lines.append("")
    lines += _table(_PROCESS_TITLES, rows, style) if rows else ["no process uses a device"]
    return lines


# ---- facts ---------------------------------------------------------------------------------------


def _processes_of(device: Any) -> list[dict]:
    try:
        found = device.compute_running_processes
    except Exception:  # a device that does not report them, such as a MIG instance
        return []
    loads: dict[int, int] = {}
    try:
        for sample in device.get_process_utilization():
            loads[sample.pid] = sample.sm  # the newest sample is the last
    except Exception:  # a device that lists processes may still not know their load
        loads.clear()
    return [
        {
            "pid": process.pid,
            "user": _user_of(process.pid),
            "program": _program_of(process.pid),
            "memory_bytes": process.used_gpu_memory,
            "gpu_utilization_percent": loads.get(process.pid),
        }
        for process in sorted(found, key=lambda each: each.pid)
    ]


def _user_of(pid: int) -> str | None:
    import pwd

    try:
        number = Path(f"/proc/{pid}").stat().st_uid
        return pwd.getpwuid(number).pw_name
    except OSError:
        return None
    except KeyError:
        return str(number)


def _program_of(pid: int) -> str | None:
    """Return how a process was started, in one line without what could confuse a terminal."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    text = " ".join(word.decode(errors="replace") for word in words if word)
    return "".join(letter if letter.isprintable() else "?" for letter in text) or None


# ---- text ----------------------------------------------------------------------------------------


def _device_row(device: dict) -> list[str]:
    used, total = device["memory_used_bytes"], device["memory_total_bytes"]
    memory = "-" if used is None else f"{used >> 20} of {total >> 20} MiB"
    return [
        str(device["index"]),
        device["name"],
        _with_unit(device["gpu_utilization_percent"], "%"),
        memory,
        _with_unit(device["temperature_c"], "°C"),
        _with_unit(device["power_w"], "W"),
        _with_unit(device["sm_clock_mhz"], "MHz"),
    ]


def _process_row(device: dict, process: dict) -> list[str]:
    memory = process["memory_bytes"]
    return [
        str(device["index"]),
        str(process["pid"]),
        process["user"] or "-",
        "-" if memory is None else f"{memory >> 20} MiB",
        _with_unit(process["gpu_utilization_percent"], "%"),
        process["program"] or "-",
    ]


def _with_unit(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.0f} {unit}"


def _table(titles: tuple[str, ...], rows: list[list[str]], style: Style) -> list[str]:
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    columns = os.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = []
    for number, row in enumerate([list(titles), *rows]):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(cells).rstrip()[:columns]
        lines.append(style(line, "bold") if number == 0 else line)
    return lines


# ---- the live table ------------------------------------------------------------------------------


def _show_live(facts: dict, interval_s: float) -> None:
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    history: dict[str, list[int]] = {}
    with Live(console=console, screen=console.is_terminal, auto_refresh=False) as live:
        while True:
            for device in facts["devices"]:
                past = history.setdefault(device["uuid"], [])
                past.append(device["gpu_utilization_percent"] or 0)
                del past[:-_HISTORY]
            live.update(layout(facts, history, console.width), refresh=True)
            time.sleep(interval_s)
            facts = collect()


def layout(facts: dict, history: dict[str, list[int]], width: int = _WIDE) -> Any:
    """Return what rich draws. Terminals that are not wide get no line of past load and no bar."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    is_wide = width >= _WIDE
    rows = [_device_row(device) for device in facts["devices"]]
    devices = Table(box=SIMPLE_HEAD, expand=True)
    for column in zip(_DEVICE_TITLES, *rows, strict=True):
        title = column[0]
        least = None if title == "name" else max(map(len, column))  # only a name may be cut off
        devices.add_column(title, no_wrap=True, min_width=least, ratio=1 if least is None else None)
        if is_wide and title in ("load", "memory"):
            devices.add_column("", no_wrap=True)
    for device, row in zip(facts["devices"], rows, strict=True):
        cells: list[Any] = [Text(cell) for cell in row]
        if is_wide:
            used, total = device["memory_used_bytes"] or 0, device["memory_total_bytes"] or 1
            past = "".join(
                _BARS[min(value, 100) * (len(_BARS) - 1) // 100]
                for value in history.get(device["uuid"], [])[-20:]
            )
            cells.insert(4, ProgressBar(total=total, completed=used, width=16))
            cells.insert(3, Text(past, "green"))
        devices.add_row(*cells)
    processes = Table(box=SIMPLE_HEAD, expand=True)
    for title in _PROCESS_TITLES:
        processes.add_column(title, no_wrap=True, ratio=1 if title == "program" else None)
    for device in facts["devices"]:
        for process in device["processes"]:
            processes.add_row(*map(Text, _process_row(device, process)))
    now = time.strftime("%H:%M:%S", time.localtime(facts["time"]))
    return Group(Text(f"cuprum top  {now}  Ctrl-C ends it", "dim"), devices, processes)
