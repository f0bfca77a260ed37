# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Packages that need PyTorch or RAPIDS: their modules that import cuda.core are imported."""

from __future__ import annotations

from third_party.jobs import Job
from third_party.libraries.core_users import PROGRAM, judge
from third_party.library import Place

TITLE = "FlashInfer, Transformer Engine, cuDNN's front end, cudf-polars, cuQuantum"
VERSION = "0.7.2.post1, 2.20.2, 1.32.0, 26.10.2, 26.9.0"
PART = "the modules that import `cuda.core`, with PyTorch 2.15.0; calls need machine code"
SOURCE = ""
CAUSES = [("torch", "needs functions of PyTorch that ask for a GPU")]

REQUIREMENTS = (
    "cuda-core==1.2.2",
    "torch==2.15.0",
    "flashinfer-python==0.7.2.post1",
    "nvidia-cudnn-frontend==1.32.0",
    "cudf-polars-cu13==26.10.2",
    "cuquantum-python-cu13==26.9.0",
    "numpy==2.4.6",
)
# Its package for PyTorch is built from source.
ALONE = ("transformer-engine==2.20.2", "transformer-engine-cu13==2.20.2")
MODULES = {
    "cudf-polars": "cudf_polars cudf_polars.engine.core",
    "cudnn-frontend": "cudnn cudnn.moe_ep._megamoe_backend._runtime",
    "cuquantum-python": (
        "cuquantum.tensornet cuquantum.tensornet.experimental cuquantum.stabilizer "
        "cuquantum.densitymat cuquantum.pauliprop.experimental"
    ),
    "flashinfer": "flashinfer flashinfer.moe_ep.core.runtime.bootstrap",
    "transformer-engine": "transformer_engine transformer_engine.common.CuTeDSL.utils",
}


def install(place: Place) -> None:
    """Install the packages, with PyTorch and all of its libraries."""
    place.make_environment(*REQUIREMENTS)
    pip = [place.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    place.run([*pip, "--no-deps", *ALONE], log="pip-alone")


def tests(place: Place) -> list[Job]:
    """Return one job for each package; each of its modules is a test."""
    return [
        Job(name, [place.python, PROGRAM, "--only", *modules.split()], place.folder, judge=judge)
        for name, modules in MODULES.items()
    ]
