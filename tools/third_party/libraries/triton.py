# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Triton: the tutorials 01 to 05 of its repository, with PyTorch's tensors in host memory."""

from __future__ import annotations

from pathlib import Path

from third_party.jobs import FAILED, PASSED, Job, Outcome, last_line
from third_party.library import InstallationError, Place

TITLE = "Triton"
VERSION = "3.9.0"
PART = "tutorials 01 to 05 without their benchmarks, at compute capability 8.0 and 9.0"
SOURCE = "a checkout of triton-lang/triton"
CAUSES: list[tuple[str, str]] = []

REQUIREMENTS = ("triton==3.9.0", "torch==2.15.0", "numpy==2.4.6", "tabulate==0.10.0")
TUTORIALS = (
    "01-vector-add",
    "02-fused-softmax",
    "03-matrix-multiplication",
    "04-low-memory-dropout",
    "05-layer-norm",
)
RUNNER = Path(__file__).parent.parent / "triton_tutorial.py"


def install(place: Place) -> None:
    """Install Triton and PyTorch."""
    place.checkout(f"python/tutorials/{TUTORIALS[0]}.py")
    _package(place)
    place.make_environment(*REQUIREMENTS)


def tests(place: Place) -> list[Job]:
    """Return one job for each tutorial and compute capability."""
    folder = place.checkout(f"python/tutorials/{TUTORIALS[0]}.py") / "python" / "tutorials"
    return [
        Job(
            f"{tutorial}, compute capability {capability}",
            [place.python, RUNNER, folder / f"{tutorial}.py"],
            place.folder,
            environment={
                "PYTHONPATH": str(_package(place)),
                "CUPRUM_EMULATOR_COMPUTE_CAPABILITY": capability,
                "TRITON_CACHE_DIR": str(place.folder / "cache"),
            },
            timeout_s=1200.0,
            judge=_judge,
            expected_s=60.0,
        )
        for tutorial in TUTORIALS
        for capability in ("8.0", "9.0")
    ]


def _judge(job: Job, status: int, output: str) -> list[Outcome]:
    is_good = status == 0 and output.rstrip().endswith("right") and "❌" not in output
    return [Outcome(job.name, PASSED if is_good else FAILED, "" if is_good else last_line(output))]


def _package(place: Place) -> Path:
    """Return the folder of the package cuprum, which has the adapter for Triton."""
    package = place.emulator.parent / "python"
    if not (package / "cuprum").is_dir():
        raise InstallationError(f"{package} does not contain cuprum; build it, or pass --emulator")
    return package
