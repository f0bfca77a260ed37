# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The programs of tools/third-party that nvcc builds, with a compiler of our own and no CUDA."""

import dataclasses
import json
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"
if not (TOOLS / "third-party").is_file():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)
sys.path.insert(0, str(TOOLS))

from third_party import jobs, nvcc  # noqa: E402
from third_party.libraries import cccl, cuda_samples  # noqa: E402
from third_party.library import InstallationError, Place  # noqa: E402

# "Compiles" a shell script: objects are copies, and the linked program is the first of them. It
# keeps a list of its calls, and fails for files that contain "no code".
COMPILER = """#!/bin/sh
case "$*" in *--version*) echo "release 13.0, V13.0.88"; exit;; esac
echo "$*" >> "$(dirname "$0")/calls"
first=
while [ $# -gt 0 ]; do
  case "$1" in
    -o) out=$2; shift;;
    -gencode|-cudart) shift;;
    -*) ;;
    *) first=${first:-$1};;
  esac
  shift
done
if grep -q "no code" "$first"; then echo "$first(3): error: expected a ';'" >&2; exit 1; fi
cp "$first" "$out"; chmod +x "$out"
"""
EMULATOR = '#!/bin/sh\nshift\nexec sh "$@"\n'
DESCRIPTION = "find_package(CUDAToolkit)\nadd_executable({name} {name}.cu)\n{more}\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    for name, text in {"bin/nvcc": COMPILER, "emulator/bin/cuprum-emulator": EMULATOR}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    monkeypatch.setenv("CUPRUM_NVCC", str(tmp_path / "bin" / "nvcc"))
    source = tmp_path / "source"
    source.mkdir()
    return Place(tmp_path / "work", tmp_path / "emulator", source, workers=2)


def add_sample(place, name, script, more="", group="0_Introduction"):
    folder = place.source / "Samples" / group / name
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(DESCRIPTION.format(name=name, more=more))
    (folder / f"{name}.cu").write_text(script)
    return folder


def run(place, planned):
    results = place.folder / "results"
    results.mkdir(parents=True, exist_ok=True)
    runner = jobs.Runner(results, place.emulator, workers=2, limit_s=60.0)
    return {each.name: each for each in runner.run(planned, lambda _: None)}


def test_samples_judge_themselves(place):
    add_sample(place, "vectorAdd", "ls data; echo Test PASSED")
    (place.source / "Samples/0_Introduction/vectorAdd/data").mkdir()
    add_sample(place, "wrong", 'echo "CUDA error at wrong.cu:7 code=1"; exit 1')
    add_sample(place, "printsOnly", "echo Result = FAIL")
    add_sample(place, "waived", "echo Waiving: needs two devices; exit 2")
    add_sample(place, "careless", 'echo "cuprum emulator: error: link refused:"; echo Done')
    add_sample(place, "simpleAssert", 'echo "cuprum emulator: error: assertion failed: 1"')
    add_sample(place, "broken", "no code")
    add_sample(place, "drawing", "", more="find_package(OpenGL)")
    add_sample(place, "simpleP2P", "echo $CUPRUM_EMULATOR_DEVICES; exit 3")
    add_sample(place, "elsewhere", "", group="8_Platform_Specific")
    found = run(place, cuda_samples.tests(place))
    assert {name: (each.outcome, each.cause) for name, each in found.items()} == {
        "vectorAdd": ("passed", ""),
        "wrong": ("failed", "CUDA error at wrong.cu:7 code=1"),
        "printsOnly": ("failed", "Result = FAIL"),
        "waived": ("skipped", "waives itself: Waiving: needs two devices"),
        "careless": ("failed", "cuprum emulator: error: link refused:"),
        "simpleAssert": ("passed", ""),
        "broken": ("failed", "does not compile: broken.cu(3): error: expected a ';'"),
        "drawing": ("skipped", "needs OpenGL"),
        "simpleP2P": ("failed", "status 3: 2"),
    }
    assert 0 <= found["vectorAdd"].seconds < 60


def test_a_source_is_compiled_once(place):
    add_sample(place, "vectorAdd", "echo one")
    run(place, cuda_samples.tests(place))
    calls = Path(place.emulator.parent / "bin" / "calls")
    before = calls.read_text().splitlines()
    assert sum(" -c " in each for each in before) == 1
    assert "arch=compute_80,code=compute_80" in before[0]
    run(place, cuda_samples.tests(place))
    again = calls.read_text().splitlines()
    assert sum(" -c " in each for each in again) == 1
    assert all("-cudart shared" in each for each in again[1:])


def test_a_program_that_hangs_is_ended(place, tmp_path):
    script = tmp_path / "hangs.cu"
    script.write_text("echo begun; sleep 60 & wait")
    program = nvcc.Program(
        name="hangs",
        nvcc=str(nvcc.find_nvcc()),
        cache=str(tmp_path / "objects"),
        folder=str(tmp_path / "run"),
        sources=[nvcc.Source(str(script))],
        timeout_s=0.5,
    )
    job = nvcc.make_job(place, program, nvcc.judge_by_status)
    specification = json.loads(Path(str(job.command[-1])).read_text())
    assert specification.pop("emulator").endswith("cuprum-emulator")
    assert specification == dataclasses.asdict(program)
    assert run(place, [job])["hangs"].cause == "ran longer than 0.5 s"


def test_a_program_that_crashes_is_reported(place, tmp_path):
    script = tmp_path / "crashes.cu"
    script.write_text("kill -SEGV $$")
    program = nvcc.Program(
        "crashes",
        str(nvcc.find_nvcc()),
        str(tmp_path / "objects"),
        str(tmp_path / "run"),
        [nvcc.Source(str(script))],
    )
    found = run(place, [nvcc.make_job(place, program, nvcc.judge_by_status)])
    assert found["crashes"].outcome == "failed"
    assert found["crashes"].cause == "killed by SIGSEGV: no output"


def test_another_nvcc_is_refused(place, monkeypatch):
    with pytest.raises(InstallationError, match="is not of CUDA 12; set CUPRUM_NVCC"):
        nvcc.find_nvcc(12)
    monkeypatch.setenv("CUPRUM_NVCC", "/nowhere/nvcc")
    with pytest.raises(InstallationError, match="nvcc was not found"):
        nvcc.find_nvcc()


def test_a_test_of_cccl_uses_the_first_value_of_each_parameter(place, monkeypatch):
    monkeypatch.setattr(cccl, "INSTALLED_CATCH2", place.folder / "none")
    place = Place(place.folder, place.emulator, place.source / "cccl", workers=2)
    file = place.source / "cub" / "test" / "catch2_test_block_reduce.cu"
    file.parent.mkdir(parents=True)
    file.write_text("// %PARAM% TEST_DIM_X dimx 1:7:32\n// %PARAM% TEST_LAUNCH lid 0:1:2\n")
    with pytest.raises(InstallationError, match="check out catchorg/Catch2"):
        cccl.install(place)
    extras = place.source.parent / "Catch2" / "extras"
    extras.mkdir(parents=True)
    (extras / "catch_amalgamated.cpp").write_text("")
    program = cccl._cub(place, place.source, "block_reduce")
    assert program.sources[0].options[-2:] == ["-DTEST_DIM_X=1", "-DTEST_LAUNCH=0"]
    assert [Path(each.file).name for each in program.sources[1:]] == [
        "generators.cu",
        "catch2_runner.cpp",
        "catch2_runner_helper.cu",
        "catch_amalgamated.cpp",
    ]


def test_the_first_failed_assertion_is_the_cause():
    output = "...\n/src/cub/test/a.cu:159: FAILED:\n  REQUIRE( 1 == 2 )\n\nthird-party: ran 2.5 s\n"
    job = jobs.Job("cub/a", [], Path())
    assert cccl.judge(job, 1, output) == [
        jobs.Outcome("cub/a", "failed", "a.cu:159: REQUIRE( 1 == 2 )", 2.5)
    ]
