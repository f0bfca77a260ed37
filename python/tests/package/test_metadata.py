# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The metadata of a wheel, from the build backend; `make test-wheel` builds a wheel."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum
from cuprum._command import main

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def metadata(tmp_path_factory):
    """The folder of the metadata that the build backend writes, without compiling anything."""
    pytest.importorskip("scikit_build_core")
    folder = tmp_path_factory.mktemp("metadata")
    code = (
        "import sys, scikit_build_core.build as backend; "
        "print(backend.prepare_metadata_for_build_wheel(sys.argv[1]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return folder / result.stdout.split()[-1]


def test_the_wheel_has_the_version_of_the_library(metadata):
    lines = (metadata / "METADATA").read_text().splitlines()
    assert "Name: cuprum" in lines
    assert f"Version: {cuprum.__version__}" in lines


def test_the_wheel_holds_the_licences_of_what_is_linked_into_it(metadata):
    lines = (metadata / "METADATA").read_text().splitlines()
    files = {line.split(": ")[1] for line in lines if line.startswith("License-File: ")}
    assert files == {
        "LICENSE",
        "licenses/nanobind.txt",
        "licenses/robin_map.txt",
        "licenses/zstd.txt",
    }
    for file in files:
        assert len((ROOT / file).read_text()) > 500, file


@pytest.mark.parametrize(
    ("extra", "suffix"), [("cuda12", "-cu12"), ("cuda13", "")], ids=["cuda12", "cuda13"]
)
def test_an_extra_brings_all_that_compiling_needs(metadata, extra, suffix):
    lines = (metadata / "METADATA").read_text().splitlines()
    pattern = re.compile(r"Requires-Dist: ([\w-]+)\S* ?; ?extra == ['\"](\w+)['\"]")
    brought = {match[1] for line in lines if (match := pattern.match(line)) and match[2] == extra}
    wanted = ("cuda-runtime", "cuda-cccl", "cuda-nvrtc", "nvjitlink")
    assert brought >= {f"nvidia-{name}{suffix}" for name in wanted}
    assert extra in (ROOT / "docs/install.md").read_text()


def test_what_the_build_pins_satisfies_the_extra():
    pinned = (ROOT / "tools/requirements-cuda.txt").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    extra = project.split("cuda13 = [")[1].split("]")[0]
    for name in re.findall(r"^(nvidia-[\w-]+)==", pinned, re.MULTILINE):
        if name != "nvidia-nvvm":  # a separate package: docs/install.md
            assert f'"{name}>=' in extra, name


def test_the_wheel_installs_the_command(metadata):
    assert "cuprum = cuprum._command:main" in (metadata / "entry_points.txt").read_text()


def test_the_command_shows_its_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"cuprum {cuprum.__version__}\n"


def test_the_library_has_the_minor_version_in_its_name():
    # Until 1.0 a minor version may change the ABI.
    assert cuprum.__version__.startswith("0.")
    library = Path(cuprum._cuprum.__file__).parents[2] / "core"
    if not library.is_dir():
        pytest.skip("the package is not in a build tree")
    readelf = shutil.which("readelf")
    assert readelf
    output = subprocess.run(
        [readelf, "-d", library / "libcuprum.so"], capture_output=True, text=True, check=True
    ).stdout
    minor = ".".join(cuprum.__version__.split(".")[:2])
    assert f"[libcuprum.so.{minor}]" in output
