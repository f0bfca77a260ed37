# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run the reference's example scripts, each in its own process, and print the results."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from reference_tests import exclusions

TIMEOUT_S = 60
MISSING = re.compile(r"No module named '([\w.]+)'")


def main(
    folder: Path, python: str, environment: dict[str, str], patterns: list[str], recorded: Path
) -> int:
    """Run the examples and print a line for each; write all results to `recorded` if given."""
    scripts = sorted(folder.resolve().glob("*.py"))
    if not scripts:
        sys.exit(f"{folder} contains no examples")
    results = {}
    for script in scripts:
        if patterns and script.name not in patterns:
            continue
        began = time.monotonic()
        outcome, detail = run(script, python, environment)
        results[script.name] = (outcome, detail)
        seconds = time.monotonic() - began
        print(f"{script.name:<40}{outcome:<12}{seconds:5.1f} s  {detail}", flush=True)
    if recorded.name and not patterns:
        recorded.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if any(outcome == "failed" for outcome, _ in results.values()) else 0


def check_types(folder: Path, environment: dict[str, str]) -> int:
    """Type-check the examples against the drop-in's stubs; needs mypy and ``cuda.pathfinder``."""
    scripts = [
        str(script)
        for script in sorted(folder.resolve().glob("*.py"))
        if not exclusions.reason_for_file(f"examples/{script.name}")
    ]
    command = [
        *(sys.executable, "-m", "mypy", "--config-file", "", "--cache-dir", "/dev/null"),
        *("--namespace-packages", "--explicit-package-bases", "--ignore-missing-imports"),
        *("--follow-imports=silent", *scripts),
    ]
    paths = {"MYPYPATH": environment["PYTHONPATH"], "PYTHONPATH": ""}
    return subprocess.run(command, env={**environment, **paths}, check=False).returncode


def run(script: Path, python: str, environment: dict[str, str]) -> tuple[str, str]:
    """Run one script; return how it ended and why."""
    if why := exclusions.reason_for_file(f"examples/{script.name}"):
        return "left out", why
    try:
        result = subprocess.run(
            [python, str(script)],
            env={**environment, "MPLBACKEND": "Agg"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "failed", f"still running after {TIMEOUT_S} s"
    lines = (result.stderr.strip() or result.stdout.strip()).splitlines() or [""]
    if result.returncode == 0:
        return "passed", ""
    if why := _missing(lines[-1]):
        return "skipped", why
    return "failed", lines[-1][:300]


def _missing(line: str) -> str:
    """Return what the script lacks if its last line of output shows that, or nothing."""
    module = MISSING.search(line)
    if module and not module[1].startswith("cuda.core"):
        return f"needs {module[1]}"
    if "cffi is not installed" in line:
        return "needs cffi"
    if "requires at least 2 GPUs" in line:
        return "needs two devices"
    if "cupy" in line and "cudaErrorSymbolNotFound" in line:
        return "CuPy holds a CUDA runtime that asks the driver for tables private to NVIDIA"
    return ""
