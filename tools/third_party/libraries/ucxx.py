# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""ucxx: the tests of its repository that send messages between processes, on its wheel."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "ucxx"
VERSION = "0.52.0"
PART = "the synchronous and the asynchronous interface"
SOURCE = "a checkout of rapidsai/ucxx, tag v0.52.00a"
CAUSES: list[tuple[str, str]] = []

REQUIREMENTS = (
    "ucxx-cu13==0.52.0",
    "cuda-core[cu13]==1.2.2",
    "cuda-bindings[all]==13.5.0",
    "nvidia-nvjitlink==13.5.37",
    "numpy==2.4.6",
    "pytest==8.4.2",
    "pytest-asyncio==1.5.0",
    "psutil==7.2.2",
)


def install(place: Place) -> None:
    """Install ucxx."""
    place.checkout("python/ucxx/ucxx/_lib/tests/conftest.py")
    place.make_environment(*REQUIREMENTS)


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    folder = place.checkout("python/ucxx/ucxx/_lib/tests/conftest.py") / "python/ucxx/ucxx"
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    options = ("-c", str(settings), "--rootdir", str(folder), "--import-mode=importlib")
    return [
        pytest_job(place.python, place.folder, str(file), options, timeout_s=120.0)
        for file in sorted(folder.glob("_lib*/tests/test_*.py"))
    ]
