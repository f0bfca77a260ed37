# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Check that all levels, worker counts and both engines of the emulated device agree."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL = Path(__file__).resolve().parents[3] / "tools" / "record-corpus"
LEVELS = (("v2", 1), ("v3", 4), ("v4", 1), ("v4", 3))
SUITES = ("--suite", "instructions", "--suite", "programs")
# Compiled kernels take longer to compile than to run, so that fewer programs are compared.
COMPILED_LEVELS = (("v2", 1), ("v3", 3), ("v4", 2))
COMPILED_SHARE = 6
# Seeds of programs that compiled code got wrong, or that LLVM compiled forever.
ONCE_WRONG = (117, 135, 1010, 1087, 1109)


def main() -> int:
    """Run the suites once for each instruction-set level; compare every run with the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", required=True, help="the emulated device's library")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=60)
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "first.json"
        for level, workers in LEVELS:
            command = [sys.executable, str(TOOL), "--driver", arguments.driver, *SUITES]
            command += ["--seed", str(arguments.seed), "--programs", str(arguments.programs)]
            command += ["--compare" if record.exists() else "--out", str(record)]
            settings = {
                "CUPRUM_EMULATOR_ISA": level,
                "CUPRUM_EMULATOR_WORKERS": str(workers),
            }
            print(f"level {level}, {workers} workers:", end=" ", flush=True)
            status = subprocess.run(command, env=os.environ | settings, check=False).returncode
            failed = failed or status != 0
        share = max(1, arguments.programs // COMPILED_SHARE)
        runs = [
            (*level, arguments.seed + number * share, share)
            for number, level in enumerate(COMPILED_LEVELS)
        ]
        runs += [("v4", 2, seed, 1) for seed in ONCE_WRONG]
        for level, workers, seed, programs in runs:
            command = [sys.executable, str(TOOL), "--driver", arguments.driver]
            command += ["--suite", "programs", "--programs", str(programs), "--seed", str(seed)]
            command += ["--out", str(Path(folder) / "compiled.json")]
            settings = {
                "CUPRUM_EMULATOR_ISA": level,
                "CUPRUM_EMULATOR_JIT": "always",
                "CUPRUM_EMULATOR_WORKERS": str(workers),
            }
            print(f"level {level}, compiled, {workers} workers:", end=" ", flush=True)
            status = subprocess.run(command, env=os.environ | settings, check=False).returncode
            failed = failed or status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
