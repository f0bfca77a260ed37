# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""nvmath-python: the tests of what it does around cuda.core, which need no machine code."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "nvmath-python"
VERSION = "0.9.0"
PART = "internal parts and arrays of n dimensions"
SOURCE = "a checkout of NVIDIA/nvmath-python, tag v0.9.0"
CAUSES = [
    (r"allocate\(\) takes", "version 0.9.0 calls `cuda.core` as it was before 1.0"),
]

REQUIREMENTS = (
    "cuda-core[cu13]==1.2.2",
    "cuda-bindings[all]==13.5.0",
    "nvidia-nvjitlink==13.5.37",
    "numpy==2.4.6",
    "pytest==8.4.2",
    "hypothesis==6.140.3",
    "psutil==7.2.2",
    "cuda-pathfinder==1.9.0",
)
#: A file with a test that measures time is left out.
FILES = ("test_internal.py", "internal", "ndbuffer/test_ndbuffer.py", "ndbuffer/test_no_cupy.py")


def install(place: Place) -> None:
    """Install nvmath-python and CUDA's compilers."""
    place.checkout("tests/nvmath_tests/test_internal.py")
    place.make_environment(*REQUIREMENTS)
    # Its requirements exclude cuda-core 1.2.2.
    pip = [place.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    place.run([*pip, "--no-deps", "nvmath-python==0.9.0"], log="pip-alone")


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    folder = place.checkout("tests/nvmath_tests/test_internal.py") / "tests"
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    return [
        pytest_job(
            place.python,
            folder,
            f"nvmath_tests/{name}",
            ("-c", str(settings), "--rootdir", str(folder)),
            timeout_s=120.0,
        )
        for name in FILES
        if (folder / "nvmath_tests" / name).exists()
    ]
