# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Packages that import cuda.core and bring no tests: they and their modules are imported."""

from __future__ import annotations

import re
from pathlib import Path

from third_party.jobs import FAILED, PASSED, Job, Outcome, last_line
from third_party.library import Place

TITLE = "cuda-cccl, cuQuantum, nccl4py, nvshmem4py, ucxx, cuDNN's front end"
VERSION = "1.2.1, 26.9.0, 0.6.0, 0.4.1, 0.52.0, 1.32.0"
PART = "packages and the modules in them are imported; calls need machine code"
SOURCE = ""
CAUSES = [
    ("No module named", "needs a package that is not installed, such as PyTorch or CuPy"),
    ("cannot open shared object file|libnvshmem|libcudnn|libnccl", "needs another library of CUDA"),
]

REQUIREMENTS = (
    "cuda-cccl[cu13]==1.2.1",
    "cuda-core[cu13]==1.2.2",
    "cuda-bindings[all]==13.5.0",
    "nvidia-nvjitlink==13.5.37",
    "nccl4py==0.6.0",
    "numpy==2.4.6",
    "nvidia-cudnn-frontend==1.32.0",
    "psutil==7.2.2",
)
# Their dependencies are hundreds of megabytes of machine code.
ALONE = (
    "cuquantum-python-cu13==26.9.0",
    "nvshmem4py-cu13==0.4.1",
    "libucxx-cu13==0.52.0",
    "ucxx-cu13==0.52.0",
)
PACKAGES = {
    "cuda-cccl": "cuda.compute cuda.coop cuda.cccl",
    "cuquantum-python": "cuquantum",
    "cudnn-frontend": "cudnn",
    "nccl4py": "nccl nccl.core",
    "nvshmem4py": "nvshmem nvshmem.core nvshmem.bindings",
    "ucxx": "ucxx",
}
PROGRAM = Path(__file__).parent.parent / "import_modules.py"


def install(place: Place) -> None:
    """Install the packages, some of them without what they depend on."""
    place.make_environment(*REQUIREMENTS)
    pip = [place.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    place.run([*pip, "--no-deps", *ALONE], log="pip-alone")


def tests(place: Place) -> list[Job]:
    """Return one job for each package; each of its modules is a test."""
    return [
        Job(name, [place.python, PROGRAM, *packages.split()], place.folder, judge=judge)
        for name, packages in PACKAGES.items()
    ]


def judge(job: Job, status: int, output: str) -> list[Outcome]:
    """Read the lines of import_modules.py: a module, and why it cannot be imported."""
    lines = re.findall(r"^module (\S+): (.*)$", output, re.MULTILINE)
    found = [
        Outcome(f"{job.name}::{name}", PASSED if why == "imported" else FAILED, why)
        for name, why in lines
    ]
    if status != 0 or not found:
        found.append(Outcome(f"{job.name}::all", FAILED, last_line(output)))
    return [each._replace(cause="") if each.outcome == PASSED else each for each in found]
