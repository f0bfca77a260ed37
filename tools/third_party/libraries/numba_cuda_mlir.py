# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""numba-cuda-mlir: the tests of its repository, on its wheel."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "numba-cuda-mlir"
VERSION = "0.5.0"
PART = "all, without benchmarks"
SOURCE = "a checkout of NVIDIA/numba-cuda-mlir, tag v0.5.0"
CAUSES: list[tuple[str, str]] = []

REQUIREMENTS = (
    "numba-cuda-mlir[cu13]==0.5.0",
    "cuda-core==1.2.2",
    "cuda-bindings==13.5.0",
    "cuda-toolkit==13.4.3",
    "nvidia-nvjitlink==13.5.37",
    "numpy==2.4.6",
    "pytest==8.4.2",
    "pytest-benchmark==5.3.1",
    "filecheck==1.0.6",
    "cffi==2.1.1",
    "ml_dtypes==0.6.0",
    "psutil==7.2.2",
)


def install(place: Place) -> None:
    """Install numba-cuda-mlir and CUDA's compilers."""
    place.checkout("tests/gpu_utils.py")
    place.make_environment(*REQUIREMENTS)


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    folder = place.checkout("tests/gpu_utils.py") / "tests"
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    jobs: list[Job] = []
    for file in sorted(folder.rglob("test_*.py")):
        name = file.relative_to(folder).as_posix()
        if name.startswith("benchmarks/"):
            continue
        job = pytest_job(
            place.python,
            folder,
            name,
            ("-c", str(settings), "--rootdir", str(folder), "--benchmark-disable"),
            timeout_s=120.0,
        )
        job.expected_s = file.stat().st_size / 4000
        jobs.append(job)
    return jobs
