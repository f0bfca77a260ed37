# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the reference's example scripts, each in a process of its own, and tells how they went."""

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


def main(folder: Path, python: str, environment: dict[str, str], patterns: list[str]) -> int:
    """Run the examples; print a line each and, last, all of it as one line of JSON."""
    scripts = sorted(folder.resolve().glob("*.py"))
    if not scripts:
        sys.exit(f"{folder} holds no examples")
    results = {}
    for script in scripts:
        if patterns and script.name not in patterns:
            continue
        began = time.monotonic()
        outcome, detail = run(script, python, environment)
        results[script.name] = (outcome, detail)
        seconds = time.monotonic() - began
        print(f"{script.name:<40}{outcome:<12}{seconds:5.1f} s  {detail}", flush=True)
    print(json.dumps({"examples": results}))
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
    missing = MISSING.search(lines[-1])
    if missing and not missing[1].startswith("cuda.core"):
        return "skipped", f"needs {missing[1]}"
    return "failed", lines[-1][:300]
