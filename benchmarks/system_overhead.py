#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Measure what a query of ``cuprum.system`` costs over NVML's own call.

    PYTHONPATH=build/release/python python benchmarks/system_overhead.py

NVML is replaced by the library of the tests, whose functions take a few nanoseconds. What is left
is the cost of Cuprum. If ``cuda.bindings`` is installed, the same query through it is measured in
the same run.
"""

from __future__ import annotations

import os
import sys
import tempfile
import timeit
from pathlib import Path

BUDGET_NS = 150
CALLS = 1000
ROUNDS = 300

# A query, and the same through cuda.bindings.nvml.
QUERIES = {
    "device.index": "nvml.device_get_index(handle)",
    "device.name": "nvml.device_get_name(handle)",
    "device.uuid": "nvml.device_get_uuid(handle)",
    "device.memory_info": "nvml.device_get_memory_info_v2(handle)",
    "device.utilization": "nvml.device_get_utilization_rates(handle)",
    "device.performance_state": "nvml.device_get_performance_state(handle)",
    "device.is_persistence_mode_enabled": "nvml.device_get_persistence_mode(handle)",
    "power.usage_mw": "nvml.device_get_power_usage(handle)",
    "clock.get_current_mhz()": "nvml.device_get_clock(handle, 1, 0)",
    "fan.control_policy": "nvml.device_get_fan_control_policy_v2(handle, 0)",
    "temperature.get_sensor()": "nvml.device_get_temperature(handle, 0)",
}


def main() -> int:
    """Measure all queries and print a table."""
    if "CUPRUM_NVML" not in os.environ:
        return run_with_fake()
    names = make_names()
    times = measure([*QUERIES, *QUERIES.values(), "pass"], names)
    nothing = times["pass"]
    worst = 0.0
    print(f"{'query':<38}{'ns':>6}{'bindings':>10}{'ratio':>8}")
    for query, other in QUERIES.items():
        ours = times[query] - nothing
        worst = max(worst, ours)
        theirs = times[other] - nothing if other in times else 0.0
        ratio = f"{theirs:>10.0f}{theirs / ours:>8.1f}" if theirs else ""
        print(f"{query:<38}{ours:>6.0f}{ratio}")
    verdict = "within" if worst <= BUDGET_NS else "OVER"
    print(f"most: {worst:.0f} ns, {verdict} the budget of {BUDGET_NS} ns")
    return 0 if worst <= BUDGET_NS else 1


def run_with_fake() -> int:
    """Start this program again with the library of the tests in the place of NVML."""
    import subprocess

    from cuprum import _cuprum

    build = Path(_cuprum.__file__).resolve().parents[2]
    library = build / "core" / "tests" / "libcuprum_fake_nvml.so"
    if not library.exists():
        sys.exit(f"{library} is missing; build the target cuprum_fake_nvml")
    with tempfile.TemporaryDirectory() as folder:
        # cuda.bindings finds NVML by its name.
        link = Path(folder) / "libnvidia-ml.so.1"
        link.symlink_to(library)
        environment = {**os.environ, "CUPRUM_NVML": str(link), "LD_LIBRARY_PATH": folder}
        return subprocess.run([sys.executable, __file__], env=environment, check=False).returncode


def make_names() -> dict[str, object]:
    """Return what the queries use."""
    from cuprum import system

    device = system.Device(index=0)
    names: dict[str, object] = {
        "device": device,
        "power": device.power,
        "clock": device.get_clock("sm"),
        "fan": device.get_fan(0),
        "temperature": device.temperature,
    }
    try:
        from cuda.bindings import nvml

        nvml.init_v2()
        names |= {"nvml": nvml, "handle": nvml.device_get_handle_by_index_v2(0)}
    except Exception as error:
        print(f"without cuda.bindings: {error}")
    return names


def measure(statements: list[str], names: dict[str, object]) -> dict[str, float]:
    """Return the least time of each statement in nanoseconds; leave out those that fail.

    They take short turns, so that other load on the machine affects all of them.
    """
    timers = {}
    for statement in statements:
        timer = timeit.Timer(statement, globals=names)
        try:
            timer.timeit(1)
        except Exception:
            continue  # this version of cuda.bindings lacks it, or it is not installed
        timers[statement] = timer
    least = dict.fromkeys(timers, float("inf"))
    for _ in range(ROUNDS):
        for statement, timer in timers.items():
            least[statement] = min(least[statement], timer.timeit(CALLS) / CALLS * 1e9)
    return least


if __name__ == "__main__":
    sys.exit(main())
