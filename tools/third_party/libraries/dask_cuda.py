# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""dask-cuda: the tests in its wheel that need no library of RAPIDS."""

from __future__ import annotations

from third_party.jobs import Job, pytest_job
from third_party.library import Place

TITLE = "dask-cuda"
VERSION = "26.10.0"
PART = "version, utilities, worker specifications and contexts"
SOURCE = ""
CAUSES: list[tuple[str, str]] = []

REQUIREMENTS = (
    "dask-cuda[cu13]==26.10.0",
    "cuda-core[cu13]==1.2.2",
    "cuda-bindings[all]==13.5.0",
    "numpy==2.4.6",
    "pytest==8.4.2",
    "psutil==7.2.2",
)
FILES = ("test_version", "test_utils", "test_worker_spec", "test_initialize")


def install(place: Place) -> None:
    """Install dask-cuda."""
    place.make_environment(*REQUIREMENTS)


def tests(place: Place) -> list[Job]:
    """Return one job for each file."""
    (folder,) = place.folder.glob("venv/lib/python*/site-packages/dask_cuda/tests")
    settings = place.folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    return [
        pytest_job(
            place.python,
            folder,
            f"{name}.py",
            ("-c", str(settings), "--rootdir", str(folder)),
            timeout_s=120.0,
        )
        for name in FILES
    ]
