# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""cuda.bindings: the low-level bindings of NVIDIA."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "`cuda.bindings`"
VERSION = "13.4.1"
PART = "all but those of Cython, cuFile and cuDLA"
SOURCE = "a checkout of NVIDIA/cuda-python, commit 06afb3b"
CAUSES = [
    (
        "test_compute_mode",
        "NVML refuses to set a compute mode, because the emulated driver would not enforce it",
    ),
    ("nvml.NotSupportedError|nvml.InvalidArgumentError", "the emulated NVML does not have it"),
    (
        "test_get_lowered_name_failure|test_add_module_to_program_fail",
        "the test expects another error than version 13.4.1 raises; needs no device",
    ),
]

REQUIREMENTS = (
    "cuda-bindings[all]==13.4.1",
    "cuda-toolkit[cudart]==13.4.3",
    "nvidia-nvjitlink==13.5.37",
    "numpy==2.4.6",
    "pytest==9.1.0",
    "pytest-benchmark==5.2.3",
    "cloudpickle==3.1.2",
    "psutil==7.2.2",
    "cffi==2.1.1",
    "ml-dtypes==0.5.4",
)
#: Files that need a compiler for Cython, GPUDirect Storage, or a deep learning accelerator.
LEFT_OUT = ("cython/", "test_cufile.py", "cudla/")


def install(place: Place) -> None:
    """Install cuda.bindings and CUDA's compilers."""
    place.checkout("cuda_bindings/tests/conftest.py")
    place.make_environment(*REQUIREMENTS)


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    source = place.checkout("cuda_bindings/tests/conftest.py")
    folder = source / "cuda_bindings" / "tests"
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    jobs: list[Job] = []
    for file in sorted(folder.rglob("test_*.py")):
        name = file.relative_to(folder).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        job = pytest_job(
            place.python,
            folder,
            name,
            ("-c", str(settings), "--rootdir", str(folder), "--benchmark-disable"),
            environment={
                "PYTHONPATH": str(source / "cuda_python_test_helpers"),
                "CUPRUM_EMULATOR_DEVICES": "3",  # some tests need three devices
            },
            timeout_s=120.0,
            expected_s=file.stat().st_size / 4000,
        )
        jobs.append(job)
    return jobs
