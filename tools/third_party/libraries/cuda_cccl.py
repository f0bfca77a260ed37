# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""cuda-cccl: the tests of `cuda.compute` in its repository, on its wheel."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "cuda-cccl"
VERSION = "1.2.1"
PART = "cuda.compute, without the examples, which need CuPy"
SOURCE = "a checkout of NVIDIA/cccl of August 2026"
CAUSES = [
    (
        "error code: 500|Failed executing|Failed to compute",
        "its library contains NVIDIA's CUDA runtime, which needs private tables of NVIDIA's driver",
    ),
]

REQUIREMENTS = (
    "cuda-cccl[cu13]==1.2.1",
    "cuda-core[cu13]==1.2.2",
    "cuda-bindings[all]==13.5.0",
    "nvidia-nvjitlink==13.5.37",
    "numpy==2.4.6",
    "pytest==8.4.2",
    "psutil==7.2.2",
)


def install(place: Place) -> None:
    """Install cuda-cccl and CUDA's compilers."""
    place.checkout("python/cuda_cccl/tests/compute/conftest.py")
    place.make_environment(*REQUIREMENTS)


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    marker = "python/cuda_cccl/tests/compute/conftest.py"
    folder = place.checkout(marker) / "python" / "cuda_cccl" / "tests"
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    options = ("-c", str(settings), "--rootdir", str(folder))
    jobs: list[Job] = []
    for file in sorted(folder.glob("*/test_*.py")):
        name = file.relative_to(folder).as_posix()
        job = pytest_job(place.python, folder, name, options, timeout_s=120.0)
        job.environment = {"PYTHONPATH": str(folder)}
        job.expected_s = file.stat().st_size / 1000
        jobs.append(job)
    return jobs
