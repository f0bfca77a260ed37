# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""PyCUDA: compiled from its source package, with the tests in it."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path

from third_party.jobs import Job, pytest_job
from third_party.library import InstallationError, Place

TITLE = "PyCUDA"
VERSION = "2026.1"
PART = "all"
SOURCE = ""
CAUSES: list[tuple[str, str]] = []

REQUIREMENTS = ("pycuda==2026.1", "numpy==2.4.6", "pytest==9.2.0", "mako==1.4.3")


def install(place: Place) -> None:
    """Compile PyCUDA. It needs a CUDA toolkit with nvcc and cuRAND, and a C++ compiler."""
    nvcc = _nvcc()
    os.environ["PATH"] = f"{nvcc.parent}:{os.environ['PATH']}"
    place.make_environment(*REQUIREMENTS)
    if not _tests(place).is_dir():
        pip = [place.python, "-m", "pip", "download", "--quiet", "--no-deps"]
        source = ["--no-binary", "pycuda", "--dest", place.folder, REQUIREMENTS[0]]
        place.run([*pip, *source], log="download")
        with tarfile.open(place.folder / f"pycuda-{VERSION}.tar.gz") as archive:
            safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from 3.11.4 on
            archive.extractall(place.folder, **safely)


def tests(place: Place) -> list[Job]:
    """Return the files in four parts each: every kernel is compiled by nvcc."""
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    jobs: list[Job] = []
    for file in sorted(_tests(place).glob("test_*.py")):
        for shard in range(4):
            job = pytest_job(
                place.python,
                _tests(place),
                file.name,
                ("-c", str(settings), "--rootdir", str(_tests(place))),
                environment={
                    "XDG_CACHE_HOME": str(place.folder / "cache"),
                    "CUPRUM_EMULATOR_MEMORY": "4G",  # tests with large arrays then skip themselves
                },
                timeout_s=240.0,
                expected_s=60.0,
            )
            job.shard = f"{shard}/4"
            jobs.append(job)
    return jobs


def _nvcc() -> Path:
    found = shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if found is None:
        raise InstallationError("needs nvcc: install a CUDA toolkit with the headers of cuRAND")
    return Path(found)


def _tests(place: Place) -> Path:
    return place.folder / f"pycuda-{VERSION}" / "test"
