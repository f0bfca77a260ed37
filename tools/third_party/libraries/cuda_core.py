# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""cuda.core itself, not Cuprum's drop-in for it."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "`cuda.core`"
VERSION = "1.2.2"
PART = "all but those of its build, its documentation and its examples"
SOURCE = "a checkout of NVIDIA/cuda-python, commit 06afb3b"
CAUSES = [
    (
        "TestIpcReexport",
        "the test closes a buffer while the thread of a queue still sends it; fails on an H200 too",
    ),
    (
        "has been (closed|destroyed)|must belong to the same|did not match",
        "the test expects another error than version 1.2.2 raises; needs no device",
    ),
    ("default_cache_dir", "the test is about folders of another version; needs no device"),
    ("load_rdc", "the object and the library of the repository hold machine code only"),
    ("ltoir", "the emulated driver does not load LTO-IR; link it first"),
]

REQUIREMENTS = (
    "cuda-core[cu13]==1.2.2",
    "cuda-bindings[all]==13.5.0",
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
#: Files about the build, the documentation and the examples of the repository.
LEFT_OUT = ("cython/", "example_tests/", "test_api_docs_consistency.py", "test_build_hooks.py")


def install(place: Place) -> None:
    """Install cuda.core and CUDA's compilers."""
    place.checkout("cuda_core/tests/conftest.py")
    place.make_environment(*REQUIREMENTS)


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    source = place.checkout("cuda_core/tests/conftest.py")
    folder = source / "cuda_core" / "tests"
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
