# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuprum run``: any program on the emulated device, by the command ``cuprum-emulator``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from cuprum._command import FAILURE, NOT_STARTED

_COMMAND = "cuprum-emulator"
# Options, and the variables of the emulated device that they set.
_VARIABLES = {
    "devices": "CUPRUM_EMULATOR_DEVICES",
    "memory": "CUPRUM_EMULATOR_MEMORY",
    "compute_capability": "CUPRUM_EMULATOR_COMPUTE_CAPABILITY",
    "check": "CUPRUM_EMULATOR_CHECK",
}


def run(options: argparse.Namespace) -> int:
    """Become the program; return only if that fails."""
    command = find_command()
    if command is None:
        print(
            f"cuprum: the command {_COMMAND} was not found beside this package; install it "
            "(pip install cuprum-emulator), or build it (in a clone, tools/build dev "
            "cuprum_emulator_package)",
            file=sys.stderr,
        )
        return FAILURE
    for name, variable in _VARIABLES.items():
        if (value := getattr(options, name)) is not None:
            os.environ[variable] = str(value)
    if options.leaks:
        os.environ["CUPRUM_EMULATOR_LEAKS"] = "1"
    program = [options.program, *options.arguments]
    if options.program.endswith(".py"):
        program = [sys.executable, *program]
    sys.stdout.flush()
    try:
        os.execv(command, [str(command), "run", *program])
    except OSError as error:
        print(f"cuprum: {command} cannot be started: {error.strerror}", file=sys.stderr)
    return NOT_STARTED


def find_command() -> Path | None:
    """Return the command of the emulator that belongs to this package."""
    from cuprum import _cuprum

    extension = Path(_cuprum.__file__).resolve()
    places = [
        extension.parents[1] / "cuprum_emulator/bin",  # the wheel cuprum-emulator
        Path(sysconfig.get_path("scripts")),
        Path(sys.executable).parent,
        extension.parents[2] / "emulator/bin",  # a build tree
    ]
    for place in places:
        if place.is_absolute() and os.access(place / _COMMAND, os.X_OK):
            return place / _COMMAND
    found = shutil.which(_COMMAND)
    # A relative folder in PATH depends on where the program starts.
    return Path(found) if found and os.path.isabs(found) else None
