# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""CUB, Thrust and libcu++: test programs of NVIDIA/cccl with the headers of the CUDA toolkit."""

from __future__ import annotations

import re
from pathlib import Path

from third_party.jobs import FAILED, PASSED, Job, Outcome
from third_party.library import InstallationError, Place
from third_party.nvcc import Program, Source, cause_of, find_nvcc, make_job, seconds_of

TITLE = "CUB, Thrust, libcu++"
VERSION = "CCCL 3.0.1 (CUDA 13.0)"
PART = "30 test programs of CUB, 24 of Thrust and 32 of libcu++"
SOURCE = (
    "a checkout of NVIDIA/cccl v3.0.1; Catch2 3 must be installed, or checked out as the folder "
    "Catch2 beside it"
)
CAUSES: list[tuple[str, str]] = [
    (
        r"decoupled_look_back: .*REQUIRE",
        "a race of the test: warps read the aggregate of a tile that the first warp may already "
        "have replaced",
    ),
    (
        r"barrier/arrive_tx_cta: ",
        "a race of the test: the first thread initialises a barrier anew while other warps may "
        "still wait for it",
    ),
    (r"ran longer than", "the emulated device needs more than four minutes for this much work"),
]

TIMEOUT_S = 240.0
OPTIONS = ["-std=c++17", "--extended-lambda"]

#: Files of cub/test, without "catch2_test_". Each has variants, whose parameters are macros: the
#: first value of each is used, so that the host launches the kernels.
CUB = (
    "block_adjacent_difference",
    "block_histogram",
    "block_load",
    "block_merge_sort",
    "block_radix_sort",
    "block_reduce",
    "block_run_length_decode",
    "block_scan",
    "block_shuffle",
    "device_bulk",
    "device_decoupled_look_back",
    "device_for",
    "device_histogram",
    "device_memcpy_batched",
    "device_merge_sort",
    "device_partition_if",
    "device_radix_sort_keys",
    "device_reduce",
    "device_run_length_encode",
    "device_scan",
    "device_segmented_reduce",
    "device_select_if",
    "device_transform",
    "memcpy_vectorized_copy",
    "warp_exchange_shfl",
    "warp_exchange_smem",
    "warp_load",
    "warp_merge_sort",
    "warp_reduce",
    "warp_scan",
)

#: Tests that sort or select a million items for each of many types: only their first types run.
FIRST_TYPES_ONLY = (
    "device_histogram",
    "device_memcpy_batched",
    "device_merge_sort",
    "device_partition_if",
    "device_radix_sort_keys",
    "device_run_length_encode",
    "device_scan",
    "device_segmented_reduce",
    "device_select_if",
)
#: What the names of cases for gigabytes contain.
HUGE = ("large", "overflow")
MAX_TYPES = 64

#: Files of thrust/testing.
THRUST = (
    "adjacent_difference",
    "binary_search",
    "complex_transform",
    "copy",
    "count",
    "cuda/stream_legacy",
    "find",
    "for_each",
    "gather",
    "generate",
    "inner_product",
    "merge",
    "partition",
    "random",
    "reduce",
    "reduce_by_key",
    "scan",
    "set_intersection",
    "set_union",
    "shuffle",
    "sort",
    "tabulate",
    "transform",
    "unique",
)

#: Tests of Thrust with cases for gigabytes, which an emulated device cannot finish in minutes.
HUGE_CASES = ("find", "inner_product", "scan", "set_intersection")

#: Files of libcudacxx/test/libcudacxx, and the compute capability that they need.
LIBCUDACXX = (
    ("cuda/annotated_ptr/annotated_ptr", 80),
    ("cuda/annotated_ptr/memcpy_async", 80),
    ("cuda/atomics/atomic.ext/atomic_fetch_max", 80),
    ("cuda/atomics/atomic.ext/atomic_fetch_min", 80),
    ("cuda/atomics/atomic_ref_small", 80),
    ("cuda/barrier/arrive_tx_cta", 90),
    ("cuda/barrier/cp_async_bulk", 90),
    ("cuda/barrier/cp_async_bulk_tensor_2d", 90),
    ("cuda/barrier/expect_tx_warp", 90),
    ("cuda/barrier/native_handle", 80),
    ("cuda/bit/bit_reverse", 80),
    ("cuda/bit/bitfield", 80),
    ("cuda/functional/proclaim_return_type", 80),
    ("cuda/memcpy_async_16", 80),
    ("cuda/memcpy_async_large", 80),
    ("cuda/pipeline_arrive_on", 80),
    ("cuda/pipeline_divergent_threads", 80),
    ("cuda/pipeline_memcpy_async_producer_consumer", 80),
    ("cuda/pipeline_memcpy_async_thread_scope_block_16", 80),
    ("cuda/stream_ref/stream_ref.wait", 80),
    ("cuda/warp/warp_shuffle", 80),
    ("heterogeneous/barrier", 80),
    ("heterogeneous/latch", 80),
    ("heterogeneous/semaphore", 80),
    ("heterogeneous/tuple", 80),
    ("std/atomics/atomics.flag/atomic_flag_wait", 80),
    ("std/atomics/atomics.types.generic/floating_point", 80),
    ("std/thread/thread.barrier/arrive_and_wait", 80),
    ("std/thread/thread.barrier/completion", 80),
    ("std/thread/thread.barrier/try_wait_for", 80),
    ("std/thread/thread.latch/arrive_and_wait", 80),
    ("std/thread/thread.semaphore/timed", 80),
)

INSTALLED_CATCH2 = Path("/usr/include/catch2/catch_all.hpp")

#: The headers of Catch2 that the tests include. In a checkout one header has all of them.
CATCH2_HEADERS = (
    "catch_session.hpp",
    "catch_template_test_macros.hpp",
    "catch_test_macros.hpp",
    "generators/catch_generators.hpp",
    "generators/catch_generators_all.hpp",
    "matchers/catch_matchers.hpp",
    "matchers/catch_matchers_floating_point.hpp",
    "matchers/catch_matchers_vector.hpp",
)


def install(place: Place) -> None:
    """Find nvcc and Catch2."""
    place.checkout("cub/test/catch2_test_block_reduce.cu")
    find_nvcc()
    _catch2(place)


def tests(place: Place) -> list[Job]:
    """Return one job for each program."""
    cccl = place.checkout("cub/test/catch2_test_block_reduce.cu")
    programs = [_cub(place, cccl, name) for name in CUB]
    programs += [_thrust(place, cccl, name) for name in THRUST]
    programs += [_libcudacxx(place, cccl, name, needed) for name, needed in LIBCUDACXX]
    jobs = [make_job(place, program, judge) for program in programs]
    for job in jobs:  # CUB takes nvcc the longest
        job.expected_s = {"cub": 30.0, "thrust": 20.0}.get(job.name.split("/")[0], 1.0)
    return jobs


def judge(job: Job, status: int, output: str) -> list[Outcome]:
    """Judge a program by its status. The frameworks print which of its tests fail."""
    seconds = seconds_of(output)
    if status == 0:
        return [Outcome(job.name, PASSED, "", seconds)]
    failed = re.search(r"^(\S+\.cu\(\d+\)|.*?\.cu:\d+): FAILED:\n\s*(.*)", output, re.MULTILINE)
    if failed:
        place = failed[1].rsplit("/", 1)[-1]
        return [Outcome(job.name, FAILED, f"{place}: {failed[2]}", seconds)]
    return [Outcome(job.name, FAILED, cause_of(status, output), seconds)]


# ---- helpers -------------------------------------------------------------------------------------


def _program(place: Place, name: str, sources: list[Source], **fields: object) -> Program:
    return Program(
        name=name,
        nvcc=str(find_nvcc()),
        cache=str(place.folder / "objects"),
        folder=str(place.folder / "run" / name.replace("/", ".")),
        sources=sources,
        timeout_s=TIMEOUT_S,
        **fields,  # type: ignore[arg-type]
    )


def _cub(place: Place, cccl: Path, name: str) -> Program:
    file = cccl / "cub" / "test" / f"catch2_test_{name}.cu"
    parameters = re.findall(r"//\s+%PARAM%\s+(\S+)\s+\S+\s+(\S+)", file.read_text())
    catch2_options, catch2_sources, catch2_link = _catch2(place)
    options = [*OPTIONS, f"-I{cccl / 'c2h' / 'include'}", f"-I{cccl / 'cub' / 'test'}"]
    options += [*catch2_options, "-DC2H_HAS_CURAND=0"]
    defined = [f"-D{macro}={values.split(':')[0]}" for macro, values in parameters]
    sources = [
        Source(str(file), [*options, *defined]),
        *(
            Source(str(cccl / "c2h" / each), options)
            for each in ("generators.cu", "catch2_runner.cpp", "catch2_runner_helper.cu")
        ),
        *catch2_sources,
    ]
    # Catch2 does not run a test case whose name matches one of these.
    excluded = [f"~*{word}*" for word in HUGE] if name.startswith("device_") else []
    if name in FIRST_TYPES_ONLY:  # the name of a test case ends with the number of its type
        excluded += [f"~*- {number}" for number in range(1, MAX_TYPES)]
    return _program(place, f"cub/{name}", sources, link=catch2_link, arguments=excluded)


def _thrust(place: Place, cccl: Path, name: str) -> Program:
    testing = cccl / "thrust" / "testing"
    options = [*OPTIONS, f"-I{testing}", f"-I{cccl / 'thrust'}"]
    files = (f"{name}.cu", "unittest/testframework.cu", "unittest/cuda/testframework.cu")
    sources = [Source(str(testing / each), options) for each in files]
    arguments = _small_cases(testing / f"{name}.cu") if name in HUGE_CASES else []
    return _program(place, f"thrust/{name}", sources, arguments=arguments)


def _small_cases(file: Path) -> list[str]:
    """Return the names of a file's test cases without those for gigabytes."""
    names = []
    declaration = r"DECLARE_(\w*?)_?UNITTEST(?:_WITH_NAME)?\(\s*(\w+)|^\w+UnitTest<\s*(\w+)"
    for kind, declared, instance in re.findall(declaration, file.read_text(), re.MULTILINE):
        name = declared or instance
        if "BigIndexes" not in name:
            of_vectors = ("Host", "Device", "Universal") if "VECTOR" in kind else ("",)
            names += [name + suffix for suffix in of_vectors]
    return names


def _libcudacxx(place: Place, cccl: Path, name: str, capability: int) -> Program:
    tests = cccl / "libcudacxx" / "test"
    options = [*OPTIONS, "-x", "cu", f"-I{tests / 'support'}", f"-I{tests / 'libcudacxx'}"]
    options += ["-include", str(tests / "libcudacxx" / "force_include.h")]
    source = Source(str(tests / "libcudacxx" / f"{name}.pass.cpp"), options)
    return _program(
        place, f"libcudacxx/{name}", [source], capability=capability, link=["-lcuda", "-lpthread"]
    )


def _catch2(place: Place) -> tuple[list[str], list[Source], list[str]]:
    """Return options, sources and libraries for Catch2 3: the system's, or a checkout's."""
    if INSTALLED_CATCH2.exists():
        return [], [], ["-lCatch2"]
    assert place.source is not None
    extras = place.source.resolve().parent / "Catch2" / "extras"
    if not (extras / "catch_amalgamated.cpp").exists():
        raise InstallationError(
            f"Catch2 3 was not found: install it, or check out catchorg/Catch2 v3.7.1 as "
            f"{extras.parent}"
        )
    headers = place.folder / "catch2"
    for name in CATCH2_HEADERS:
        file = headers / "catch2" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text("#include <catch_amalgamated.hpp>\n")
    options = [f"-I{headers}", f"-I{extras}"]
    own_main = [*options, "-DCATCH_AMALGAMATED_CUSTOM_MAIN"]
    return options, [Source(str(extras / "catch_amalgamated.cpp"), own_main)], []
