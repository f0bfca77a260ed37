# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""nvmath-python's device functions: cuBLASDx, cuFFTDx and cuSOLVERDx in kernels of Numba."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "nvmath-python's device functions"
VERSION = "0.9.0"
PART = "cuBLASDx, cuFFTDx, cuSOLVERDx and vector types, without measurements of time"
SOURCE = "a checkout of NVIDIA/nvmath-python, tag v0.9.0"
CAUSES: list[tuple[str, str]] = []

REQUIREMENTS = (
    "numba-cuda[cu13]==0.30.4",
    "numba==0.68.1",
    "llvmlite==0.50.0",
    "nvidia-libmathdx-cu13>=0.3.1,<0.4.0,!=0.3.1.8",
    "cuda-core[cu13]==1.2.2",
    "cuda-bindings[all]==13.5.0",
    "cuda-toolkit[cccl,nvrtc,cudart,curand,nvcc]==13.4.3",
    "nvidia-nvjitlink==13.5.37",
    "cuda-pathfinder==1.9.0",
    "numpy==2.4.6",
    "pytest==8.4.2",
    "hypothesis==6.140.3",
    "psutil==7.2.2",
    "scipy==1.17.1",
    "cffi==2.1.1",
)


def install(place: Place) -> None:
    """Install nvmath-python, Numba and CUDA's compilers."""
    place.checkout("tests/nvmath_tests/device/helpers.py")
    place.make_environment(*REQUIREMENTS)
    # Its requirements exclude cuda-core 1.2.2.
    pip = [place.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    place.run([*pip, "--no-deps", "nvmath-python==0.9.0"], log="pip-alone")


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    folder = place.checkout("tests/nvmath_tests/device/helpers.py") / "tests"
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    options = ("-c", str(settings), "--rootdir", str(folder))
    return [
        pytest_job(
            place.python, folder, file.relative_to(folder).as_posix(), options, timeout_s=120.0
        )
        for file in sorted((folder / "nvmath_tests" / "device").rglob("test_*.py"))
        if not file.stem.endswith("_perf")
    ]
