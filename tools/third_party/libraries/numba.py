# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Numba: the tests in the wheel of numba-cuda."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "Numba"
VERSION = "numba-cuda 0.30.4"
PART = "all"
SOURCE = ""
CAUSES = [
    (
        "has no attribute 'reserved'",
        "`cuda.bindings` 13.5 has no such attribute any more; fails on an H200 too",
    ),
    (
        "CUDAAndCPUCachingTest",
        "Numba 0.68 marks the index of its cache with a hash of the source, numba-cuda with its "
        "time and size; each discards the other's entries, on any device",
    ),
]

REQUIREMENTS = (
    "numba-cuda[cu13]==0.30.4",
    "numba==0.68.1",
    "llvmlite==0.50.0",
    "numpy==2.4.6",
    "cuda-core==1.2.2",
    "cuda-bindings==13.5.0",
    "cuda-toolkit==13.4.3",
    "nvidia-nvjitlink==13.5.37",
    "pytest==8.4.2",
    "pytest-benchmark==5.3.1",
    "filecheck==1.0.6",
    "cffi==2.1.1",
    "ml_dtypes==0.6.0",
    "psutil==7.2.2",
)
#: Files whose tests need two devices.
TWO_DEVICES = ("cudapy/test_multigpu.py", "cudadrv/test_select_device.py")


def install(place: Place) -> None:
    """Install Numba and CUDA's compilers."""
    place.make_environment(*REQUIREMENTS)


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    (tests,) = place.folder.glob("venv/lib/python*/site-packages/numba_cuda/numba/cuda/tests")
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\nconsider_namespace_packages = true\n")
    options = (
        *("-p", "third_party.numba_fixtures", "-c", str(settings), "--rootdir", str(tests)),
        *("--benchmark-disable", "--pyargs"),
    )
    jobs: list[Job] = []
    for file in sorted(tests.rglob("test_*.py")):
        name = file.relative_to(tests).as_posix()
        module = "numba.cuda.tests." + name.removesuffix(".py").replace("/", ".")
        job = pytest_job(place.python, place.folder, module, options, timeout_s=120.0)
        job.name = name
        if name in TWO_DEVICES:
            job.environment = {"CUPRUM_EMULATOR_DEVICES": "2"}
        job.expected_s = file.stat().st_size / 4000
        jobs.append(job)
    return jobs
