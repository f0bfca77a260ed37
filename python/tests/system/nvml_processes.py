# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Runs programs in processes of their own, with the fake NVML or without."""

import os
import subprocess
import sys
from pathlib import Path

from cuprum import _cuprum

FAKE_LIBRARY = Path(_cuprum.__file__).resolve().parents[2] / "core/tests/libcuprum_fake_nvml.so"

# Runs in every process that uses the fake library.
PREAMBLE = """
import ctypes, os
from cuprum import system
library = ctypes.CDLL(os.environ["CUPRUM_NVML"])
fail = lambda function, code: library.fake_nvml_fail(function.encode(), code)
"""


def run_python(source, **variables):
    """Run a program in a process of its own and return what it printed."""
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    result = subprocess.run(
        [sys.executable, "-c", source],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
