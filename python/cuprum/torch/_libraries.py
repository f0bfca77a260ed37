# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The libraries that PyTorch is linked with, loaded before PyTorch looks for them.

PyTorch names folders in which the loader finds NVIDIA's libraries (DT_RPATH), and these come before
``LD_LIBRARY_PATH``. The loader takes a library of the same name that is loaded already.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path

from cuprum import Device, driver_description

OLDEST = (2, 8)
NEWEST = (2, 15)
TESTED_VERSIONS = ".".join(map(str, OLDEST)) + " to " + ".".join(map(str, NEWEST))


@dataclass(frozen=True)
class Build:
    """The installed PyTorch.

    Attributes
    ----------
    folder : Path
    text : str
        The whole version, such as ``"2.15.0+cu132"``.
    cuda : str or None
        The version of CUDA; None if PyTorch was built without it.
    """

    folder: Path
    text: str
    cuda: str | None

    @property
    def version(self) -> tuple[int, int]:
        """Return the first two numbers of the version."""
        major, minor = self.text.split(".")[:2]
        return int(major), int(minor)

    def __str__(self) -> str:
        return self.text


def find_build() -> Build | None:
    """Return the installed PyTorch, without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    if not (folder / "version.py").is_file():
        return None
    facts = runpy.run_path(str(folder / "version.py"))
    return Build(folder, str(facts["__version__"]), facts.get("cuda"))


def find_emulator() -> Path | None:
    """Return the folder of the emulated device's libraries; None if Cuprum's device is a GPU."""
    named = os.environ.get("CUPRUM_DRIVER", "")
    if os.path.isabs(named):  # `cuprum run` does this
        # Do not initialise the driver: a process that has done so cannot use it after a fork.
        is_emulated = hasattr(ctypes.CDLL(named), "cuprumEmulatorVersion")
        return Path(named).parent if is_emulated else None
    if not Device().is_emulated:
        return None
    return Path(driver_description().partition("(")[2].rpartition(")")[0]).parent


def check(build: Build) -> None:
    """Raise RuntimeError if PyTorch cannot use the emulated device."""
    if build.cuda is None:
        raise RuntimeError(
            f"PyTorch {build} was built without CUDA and has no device 'cuda': install one that "
            "has it (pip install torch, from PyPI)"
        )
    if build.version < OLDEST:
        raise RuntimeError(
            f"PyTorch {build} is too old for the emulated device: install one of {TESTED_VERSIONS}"
        )


def load(build: Build, emulator: Path) -> None:
    """Load Cuprum's libraries for PyTorch, and stand-ins for those of NVIDIA that are missing.

    Raises
    ------
    RuntimeError
        If a library of the emulated device is missing, or if NVIDIA's is loaded already.
    """
    assert build.cuda is not None
    major = build.cuda.partition(".")[0]
    # PyTorch's version of Triton may know no newer ptxas.
    os.environ.setdefault("CUPRUM_EMULATOR_PTXAS_RELEASE", ".".join(build.cuda.split(".")[:2]))
    own = [
        emulator / "libcuda.so.1",
        emulator / f"libcudart.so.{major}",
        emulator / f"compilers/libnvrtc.so.{major}",
    ]
    if os.environ.get("CUPRUM_EMULATOR_CHECK", "window") != "window":
        # Behind a tensor the checks must find no memory that PyTorch keeps for others.
        os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")
    loaded = _loaded_files()
    for file in own:
        if not file.exists():
            raise RuntimeError(f"{file} does not exist: reinstall cuprum-emulator")
        for other in loaded:
            if os.path.basename(other) == file.name and not os.path.samefile(other, file):
                raise RuntimeError(
                    f"{other} is loaded, and PyTorch uses it instead of Cuprum's library: call "
                    "cuprum.torch.activate() before you import what loads it, such as PyTorch, or "
                    "start the program with `cuprum run`"
                )
        ctypes.CDLL(str(file))
    if "torch" not in sys.modules:
        for stand_in in sorted((emulator / "stand_ins").iterdir()):
            if not _is_installed(stand_in.name, build):
                ctypes.CDLL(str(stand_in))


def _loaded_files() -> set[str]:
    """Return the files of all libraries in this process that still exist."""
    # As bytes: names of files need not be text.
    lines = Path("/proc/self/maps").read_bytes().split(b"\n")
    files = {os.fsdecode(line.split(maxsplit=5)[-1]) for line in lines if b".so" in line}
    return {file for file in files if os.path.exists(file)}


def _is_installed(name: str, build: Build) -> bool:
    """Return whether one of NVIDIA's libraries is where PyTorch looks for it.

    The system may have another version of it, which PyTorch could not use.
    """
    packages = build.folder.parent
    folders = [*packages.glob("nvidia/*/lib"), packages / "cusparselt/lib", build.folder / "lib"]
    folders.append(Path(sys.prefix, "lib"))  # of conda
    return any((folder / name).exists() for folder in folders)
