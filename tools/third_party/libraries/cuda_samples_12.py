# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""NVIDIA/cuda-samples built with CUDA 12.4: programs that load libcudart.so.12.

PyPI has the headers and the libraries of CUDA 12 but not its nvcc; Debian 13 has the latter.
"""

from __future__ import annotations

import hashlib
import shutil
import urllib.request
from pathlib import Path

from third_party.jobs import Job
from third_party.libraries import cuda_samples
from third_party.library import InstallationError, Place

TITLE = "cuda-samples with CUDA 12"
VERSION = "12.9 (CUDA 12.4)"
PART = "a selection"
SOURCE = "a checkout of NVIDIA/cuda-samples v12.9"
CAUSES = cuda_samples.CAUSES

PACKAGE = (
    "http://deb.debian.org/debian/pool/non-free/n/nvidia-cuda-toolkit/"
    "nvidia-cuda-toolkit_12.4.131~12.4.1-2_amd64.deb"
)
PACKAGE_HASH = "cd5fe85aee38d108b315f408a688641478f2402622a10c677478eb7a6c4e5319"
WHEELS = (
    "nvidia-cuda-runtime-cu12==12.4.127",
    "nvidia-cuda-nvcc-cu12==12.4.131",
    "nvidia-cuda-cccl-cu12==12.9.27",  # that of 12.4 is incomplete
)

#: nvcc finds its parts by this file, which lies beside it.
PROFILE = """\
TOP = $(_HERE_)/..
CICC_PATH = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
"""

SELECTION = (
    "asyncAPI",
    "bandwidthTest",
    "binaryPartitionCG",
    "clock",
    "deviceQuery",
    "fp16ScalarProduct",
    "graphMemoryNodes",
    "inlinePTX",
    "matrixMul",
    "newdelete",
    "reduction",
    "scalarProd",
    "shfl_scan",
    "simpleAWBarrier",
    "simpleAtomicIntrinsics",
    "simpleCallback",
    "simpleCooperativeGroups",
    "simpleCubemapTexture",
    "simpleCudaGraphs",
    "simpleIPC",
    "simpleLayeredTexture",
    "simpleMultiCopy",
    "simpleOccupancy",
    "simpleP2P",
    "simplePitchLinearTexture",
    "simplePrintf",
    "simpleSurfaceWrite",
    "simpleTemplates",
    "simpleTexture",
    "simpleVoteIntrinsics",
    "simpleZeroCopy",
    "streamOrderedAllocation",
    "systemWideAtomics",
    "template",
    "threadFenceReduction",
    "topologyQuery",
    "vectorAdd",
    "warpAggregatedAtomicsCG",
)


def install(place: Place) -> None:
    """Put nvcc 12.4 together from Debian's package and NVIDIA's wheels."""
    place.checkout("Samples/0_Introduction/vectorAdd/vectorAdd.cu")
    if _nvcc(place).exists():
        return
    place.make_environment(*WHEELS)
    package = place.folder / "nvcc.deb"
    try:
        urllib.request.urlretrieve(PACKAGE, package)
    except OSError as error:
        raise InstallationError(f"{PACKAGE}: {error}") from error
    if hashlib.sha256(package.read_bytes()).hexdigest() != PACKAGE_HASH:
        raise InstallationError(f"{PACKAGE} is not the file that was expected")
    unpacked = place.folder / "unpacked"
    place.run(["dpkg", "-x", package, unpacked], log="dpkg")
    _assemble(place, unpacked)


def tests(place: Place) -> list[Job]:
    """Return one job for each program of the selection."""
    jobs = cuda_samples.jobs_for(place, _nvcc(place))
    return [job for job in jobs if job.name in SELECTION]


# ---- helpers -------------------------------------------------------------------------------------


def _nvcc(place: Place) -> Path:
    return place.folder / "toolkit" / "bin" / "nvcc"


def _assemble(place: Place, unpacked: Path) -> None:
    """Arrange the files as in a toolkit."""
    toolkit = place.folder / "toolkit.partial"
    shutil.rmtree(toolkit, ignore_errors=True)
    own = unpacked / "usr" / "lib" / "nvidia-cuda-toolkit"
    shutil.copytree(own / "bin" / "crt", toolkit / "bin" / "crt")
    shutil.copy(own / "bin" / "nvcc", toolkit / "bin")
    for name in ("cudafe++", "fatbinary", "ptxas", "nvlink", "bin2c"):
        shutil.copy(unpacked / "usr" / "bin" / name, toolkit / "bin")
    (toolkit / "bin" / "nvcc.profile").write_text(PROFILE)
    (toolkit / "nvvm" / "bin").mkdir(parents=True)
    shutil.copy(own / "bin" / "cicc", toolkit / "nvvm" / "bin")
    shutil.copytree(own / "libdevice", toolkit / "nvvm" / "libdevice")
    (packages,) = place.folder.glob("venv/lib/python*/site-packages/nvidia")
    for folder in packages.glob("*/include"):
        shutil.copytree(folder, toolkit / "include", dirs_exist_ok=True)
    shutil.copytree(packages / "cuda_runtime" / "lib", toolkit / "lib64")
    (toolkit / "lib64" / "libcudart.so").symlink_to("libcudart.so.12")
    toolkit.rename(place.folder / "toolkit")
