# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What a library of the table consists of: a module in `libraries/`, and the place to install it.

Each module defines:

``TITLE``, ``VERSION``, ``PART``
    The name, the pinned version, and which of the library's own tests run, for the table.
``SOURCE``
    What ``--source NAME=FOLDER`` must name, or "" if PyPI has everything.
``CAUSES``
    Pairs of a regular expression and a sentence. The first expression that is found in
    ``"test: message"`` gives the cause of a failure.
``install(place)``
    Install the library below ``place.folder``. It may be called again.
``tests(place)``
    Return the list of `Job`.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

LIBRARIES = Path(__file__).parent / "libraries"


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a library is installed, and what its tests run on.

    `folder` stays between runs. `source` is what the user passed as ``--source``. `emulator` has
    the emulated device: ``bin/cuprum-emulator`` and ``lib/libcuda.so.1``.
    """

    folder: Path
    emulator: Path
    source: Path | None = None
    workers: int = 1

    @property
    def python(self) -> Path:
        """Return the interpreter of the library's own environment."""
        return self.folder / "venv" / "bin" / "python"

    def make_environment(self, *requirements: str, options: tuple[str, ...] = ()) -> None:
        """Install packages into the library's own environment, unless they are there already."""
        mark = self.folder / "requirements.txt"
        wanted = "\n".join((*requirements, *options)) + "\n"
        if self.python.exists() and mark.exists() and mark.read_text() == wanted:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self.run([sys.executable, "-m", "venv", "--clear", self.folder / "venv"], log="venv")
        pip = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        self.run([*pip, *options, *requirements], log="pip")
        mark.write_text(wanted)

    def run(self, command: list[str | Path], log: str, **options: object) -> None:
        """Run a command of the installation; if it fails, raise with the end of its output."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{log}.log"
        with open(file, "w") as output:
            status = subprocess.call(
                [str(each) for each in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **options,  # type: ignore[call-overload]
            )
        if status != 0:
            tail = file.read_text(errors="replace").strip().splitlines()[-5:]
            text = "\n  ".join([f"{command[0]} ended with status {status}; see {file}", *tail])
            raise InstallationError(text)

    def checkout(self, marker: str) -> Path:
        """Return the folder of ``--source``; raise if it does not contain the file `marker`."""
        if self.source is None:
            raise InstallationError("needs --source")
        if not (self.source / marker).exists():
            raise InstallationError(f"{self.source} does not contain {marker}")
        return self.source.resolve()


class InstallationError(Exception):
    """The library cannot be installed. The message says why."""


def names() -> list[str]:
    """Return the names of all libraries, as on the command line."""
    files = sorted(LIBRARIES.glob("*.py"))
    return [file.stem.replace("_", "-") for file in files if not file.stem.startswith("_")]


def load(name: str) -> ModuleType:
    """Return the module of a library."""
    return importlib.import_module(f"third_party.libraries.{name.replace('-', '_')}")


def cause_of(module: ModuleType, test: str, message: str) -> str:
    """Return the cause of a failure: the known sentence, or the test's own message."""
    for pattern, cause in module.CAUSES:
        if re.search(pattern, f"{test}: {message}"):
            return str(cause)
    return message or "no message"
