# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run the short programs of docs/emulator/libraries.md as a reader would: copy, install, run.

A section of the page counts if it has a block of shell commands with `pip install`, and a block
with the program, whose file the commands name. Programs with the same packages share an
environment, which has the newest packages. Cuprum itself comes from the build folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from third_party.report import PAGE

TIMEOUT_S = 600.0
SUFFIXES = {"py": "py", "c++": "cu"}


class ShortProgram(NamedTuple):
    """A program of the page."""

    title: str
    install: list[str]  # the commands that install the library
    commands: list[str]  # what a reader types then
    file: str
    code: str
    expected: str  # the last line of the output


def find(page: Path = PAGE) -> list[ShortProgram]:
    """Return all short programs of the page."""
    programs = []
    for section in re.split(r"^##+ ", page.read_text(), flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```(\S+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        shell = next((text for kind, text in blocks if kind == "sh" and "pip install" in text), "")
        code = next(((kind, text) for kind, text in blocks if kind in SUFFIXES), None)
        if not shell or code is None:
            continue
        lines = shell.strip().splitlines()
        file = re.search(rf"\w+\.{SUFFIXES[code[0]]}\b", shell)
        if file is None:
            raise ValueError(f"{section.splitlines()[0]}: the commands name no file")
        promised = re.search(r"# (.+)$", lines[-1])
        programs.append(
            ShortProgram(
                section.splitlines()[0],
                [line for line in lines if line.startswith("pip install")],
                [line for line in lines if not line.startswith("pip install")],
                file[0],
                code[1],
                promised[1] if promised else "True",
            )
        )
    return programs


def run(program: ShortProgram, folder: Path, python_package: Path) -> str:
    """Install and run a program. Return "", or why it does not work."""
    folder = folder / re.sub(r"\W+", "-", " ".join(program.install)).strip("-")
    environment = {
        **os.environ,
        "PATH": f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(python_package),
    }
    for name in ("CUPRUM_DRIVER", "VIRTUAL_ENV", "CUDA_HOME", "CUDA_PATH"):
        environment.pop(name, None)
    mark = folder / "installed.txt"
    if not mark.exists() or mark.read_text().splitlines() != program.install:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _make_environment(folder / "venv")
        for command in program.install:
            done = _shell(command, folder, environment)
            if done.returncode != 0:
                return f"{command}: {done.stdout.strip().splitlines()[-1]}"
        mark.write_text("\n".join(program.install) + "\n")
    command = folder / "venv" / "bin" / "cuprum"
    command.write_text(f'#!/bin/sh\nexec "{folder}/venv/bin/python" -m cuprum "$@"\n')
    command.chmod(0o755)
    (folder / program.file).write_text(program.code)
    done = _shell("\n".join(program.commands), folder, environment)
    last = (done.stdout.strip().splitlines() or ["no output"])[-1]
    if done.returncode != 0 or last != program.expected:
        return f"status {done.returncode}, expected {program.expected!r}: {last}"
    return ""


def run_all(folder: Path, python_package: Path, pattern: str) -> bool:
    """Run the programs whose titles match, and print a line for each. Return whether all work."""
    good = True
    for program in find():
        if not re.search(pattern, program.title, re.IGNORECASE):
            continue
        problem = run(program, folder, python_package)
        print(f"{program.title}: {problem or 'works'}", flush=True)
        good = good and not problem
    return good


# ---- helpers -------------------------------------------------------------------------------------


def _make_environment(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)


def _shell(text: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["sh", "-e", "-c", text],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
    )
