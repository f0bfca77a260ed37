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
    program = _command_of(options)
    if options.gpu:
        return _run_on_gpu(program)
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
    return _become([str(command), "run", *program])


def _command_of(options: argparse.Namespace) -> list[str]:
    """Return the command that starts the program; refuse options that exclude each other."""
    for flag, given in (("-m", options.module), ("-c", options.code)):
        if given is None:
            continue
        if not given:
            options.refuse(f"argument {flag}: expected one argument")
        program = [flag, *given]
        break
    else:
        if options.program is None:
            options.refuse("the following arguments are required: PROGRAM, -m MODULE or -c CODE")
        program = [options.program, *options.arguments]
    is_python = program[0] in ("-m", "-c") or program[0].endswith(".py")
    if options.gpu:
        if not options.drop_in:
            options.refuse("--gpu needs --drop-in; without both, start the program itself")
        for name in (*_VARIABLES, "leaks"):
            if getattr(options, name):
                flag = "--" + name.replace("_", "-")
                options.refuse(f"{flag} is about the emulated device, which --gpu does not use")
    if options.drop_in:
        if not is_python and not os.path.isdir(program[0]):
            options.refuse(
                f"--drop-in needs a Python program, and '{program[0]}' is none; in a shell script, "
                "call python -m cuprum.drop_in"
            )
        return [sys.executable, "-m", "cuprum.drop_in", *program]
    return [sys.executable, *program] if is_python else program


def _run_on_gpu(program: list[str]) -> int:
    os.environ["CUPRUM_DRIVER"] = "native"
    return _become(program)


def _become(command: list[str]) -> int:
    """Become a program; return only if that fails."""
    sys.stdout.flush()
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"cuprum: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
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
