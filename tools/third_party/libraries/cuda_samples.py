# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""NVIDIA/cuda-samples: compile the programs with nvcc; they check their own results."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from third_party.jobs import FAILED, PASSED, SKIPPED, Job, Outcome
from third_party.library import Place
from third_party.nvcc import (
    Program,
    Source,
    cause_of,
    find_nvcc,
    make_job,
    seconds_of,
    shorten,
    skipped_job,
)

TITLE = "cuda-samples"
VERSION = "13.0 (CUDA 13.0)"
PART = "all programs for Linux"
SOURCE = "a checkout of NVIDIA/cuda-samples v13.0"
MAJOR = 13
CAUSES: list[tuple[str, str]] = [
    (r"ran longer than", "the emulated device needs more than two minutes for this much work"),
]

#: What a CMakeLists.txt asks for, and what that is called in the table. The first match counts.
NEEDS = (
    (r"find_package\((OpenGL|GLUT)", "OpenGL"),
    (r"find_package\(EGL", "EGL"),
    (r"find_package\(Vulkan", "Vulkan"),
    (r"[dD]3[dD]1[12]", "Direct3D"),
    (r"find_package\(MPI", "MPI"),
    (r"(?i)nvsci", "NvSci"),
    (r"FreeImage|CUDA::npp", "NPP"),
    (r"CUDA::cublas", "cuBLAS"),
    (r"CUDA::cufft", "cuFFT"),
    (r"CUDA::cusolver", "cuSOLVER"),
    (r"CUDA::cusparse", "cuSPARSE"),
    (r"CUDA::nvjpeg", "nvJPEG"),
)

#: Libraries that programs are linked with, by the names in a CMakeLists.txt.
LIBRARIES = {
    "CUDA::cuda_driver": "-lcuda",
    "CUDA::nvrtc": "-lnvrtc",
    "CUDA::nvJitLink": "-lnvJitLink",
    "CUDA::curand": "-lcurand",
    "${CUDA_LIB}": "-lcuda",
    "${NVVM_LIB}": "-lnvvm",
}

#: What no good run prints. Some programs do not look at errors, so the device's reports count, but
#: two fail an assertion on purpose.
FAILURE = r"Test failed|Result = FAIL|\bFAILED\b|(?m:^cuprum emulator: error: (?!assertion failed))"

#: The status of a program that finds no suitable device.
WAIVED = 2


@dataclasses.dataclass(frozen=True)
class Way:
    """How one program is built or run if not like the others."""

    needs: str = ""  # why it cannot be run
    arguments: tuple[str, ...] = ()
    devices: int = 1
    options: tuple[str, ...] = ()  # for nvcc
    link: tuple[str, ...] = ()


#: Kernels that launch kernels are compiled and linked separately.
DYNAMIC_PARALLELISM = Way(options=("-rdc=true",), link=("-rdc=true", "-lcudadevrt"))

WAYS = {
    "MC_EstimatePiP": Way(needs="cuRAND"),
    "MC_EstimatePiQ": Way(needs="cuRAND"),
    "MersenneTwisterGP11213": Way(needs="cuRAND"),
    "NV12toBGRandResize": Way(
        arguments=(
            *("-input=data/test640x480.nv12", "-width=640", "-height=480"),
            *("-dst_width=320", "-dst_height=240", "-batch=2"),
        )
    ),
    "UnifiedMemoryPerf": Way(arguments=("-kernel-iterations=1",)),
    "cdpAdvancedQuicksort": DYNAMIC_PARALLELISM,
    "cdpBezierTessellation": DYNAMIC_PARALLELISM,
    "cdpQuadtree": DYNAMIC_PARALLELISM,
    "cdpSimplePrint": DYNAMIC_PARALLELISM,
    "cdpSimpleQuicksort": DYNAMIC_PARALLELISM,
    "cuda-c-linking": Way(needs="the development files of LLVM 7 to 14"),
    "cudaOpenMP": Way(options=("-Xcompiler", "-fopenmp"), link=("-lgomp",)),
    "globalToShmemAsyncCopy": Way(arguments=("-wA=256", "-hA=256", "-wB=256", "-hB=256")),
    "interval": Way(
        needs="" if Path("/usr/include/boost/numeric/interval.hpp").exists() else "Boost"
    ),
    "jitLto": Way(link=("-lnvJitLink",)),
    "ptxgen": Way(arguments=("test.ll",)),
    "reductionMultiBlockCG": Way(arguments=("-n=1048576",)),
    "simpleP2P": Way(devices=2),
    "streamOrderedAllocationP2P": Way(devices=2),
    "transpose": Way(arguments=("-dimX=512", "-dimY=512")),
}

#: Programs that run the compiler at run time include these headers from their own folder.
HEADERS = ("cooperative_groups.h", "cooperative_groups", "cccl/nv", "cccl/cuda", "cuda")


def install(place: Place) -> None:
    """Find nvcc and the programs."""
    place.checkout("Samples/0_Introduction/vectorAdd/vectorAdd.cu")
    find_nvcc(MAJOR)


def tests(place: Place) -> list[Job]:
    """Return one job for each program."""
    return jobs_for(place, find_nvcc(MAJOR))


def jobs_for(place: Place, nvcc: Path) -> list[Job]:
    """Return one job for each program of the checkout."""
    samples = place.checkout("Samples/0_Introduction/vectorAdd/vectorAdd.cu")
    descriptions = sorted((samples / "Samples").glob("[0-7]_*/*/CMakeLists.txt"))
    return [_job(place, nvcc, each) for each in descriptions]


def judge(job: Job, status: int, output: str) -> list[Outcome]:
    """Judge a program by its status and by what it prints; a program may waive itself."""
    seconds = seconds_of(output)
    if status == WAIVED and (said := re.search(r"(?im)^.*(waiv|support).*$", output)):
        return [Outcome(job.name, SKIPPED, f"waives itself: {shorten(said[0].strip())}")]
    if status == 0 and not re.search(FAILURE, output):
        return [Outcome(job.name, PASSED, "", seconds)]
    return [Outcome(job.name, FAILED, cause_of(status, output), seconds)]


# ---- helpers -------------------------------------------------------------------------------------


def _job(place: Place, nvcc: Path, description: Path) -> Job:
    folder = description.parent
    name = folder.name
    way = WAYS.get(name, Way())
    text = re.sub(r"#.*", "", description.read_text())
    needs = way.needs or next((word for each, word in NEEDS if re.search(each, text)), "")
    executable = re.search(r"add_executable\(\s*[\w.-]+\s+([^)]*)\)", text)
    if needs or executable is None:
        return skipped_job(place, name, f"needs {needs}" if needs else "builds no program")
    common = description.parents[3] / "Common"
    options = ["-std=c++17", "--extended-lambda", "-O2", f"-I{common}", *way.options]
    options += [f"-I{each}" for each in (folder / "inc", folder.parent / "common" / "include")]
    options += ["-DLIBDEVICE_MAJOR_VERSION=1", "-DLIBDEVICE_MINOR_VERSION=0"]
    toolkit = nvcc.resolve().parents[1]
    if "NVVM_LIB" in text:
        options.append(f"-DLIBNVVM_HOME={toolkit / 'nvvm'}")
    if "CUDADEVRT_LIB" in text:
        options.append(f'-DLIBCUDADEVRT=\\"{toolkit}/lib64/libcudadevrt.a\\"')
    sources = [Source(str((folder / each).resolve()), options) for each in executable[1].split()]
    kernel = re.search(r'CUDA_KERNEL_SOURCE "\$\{CMAKE_CURRENT_SOURCE_DIR\}/([^"]+)"', text)
    loaded = re.search(r'CUDA_(PTX|FATBIN)_FILE "\$\{CMAKE_CURRENT_BINARY_DIR\}/([^"]+)"', text)
    if kernel and loaded:
        sources.append(
            Source(str(folder / kernel[1]), [f"-I{common}"], loaded[1].lower(), loaded[2])
        )
    libraries = [option for word, option in LIBRARIES.items() if word in text]
    program = Program(
        name=name,
        nvcc=str(nvcc),
        cache=str(place.folder / "objects"),
        folder=str(place.folder / "run" / name),
        sources=sources,
        link=[
            *(f"-L{toolkit / each}" for each in ("lib64/stubs", "nvvm/lib64")),
            *libraries,
            *way.link,
            "-lpthread",
            "-lrt",
        ],
        data=str(folder),
        links=_headers(toolkit) if "CUDA::nvrtc" in text else {},
        arguments=list(way.arguments),
        environment={"CUPRUM_EMULATOR_DEVICES": str(way.devices)},
    )
    return make_job(place, program, judge)


def _headers(toolkit: Path) -> dict[str, str]:
    found = (toolkit / "include" / each for each in HEADERS)
    return {each.name: str(each) for each in found if each.exists()}
