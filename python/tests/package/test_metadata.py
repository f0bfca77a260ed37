# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The metadata of a wheel, from the build backend; `make test-wheel` builds a wheel."""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import cuprum
from cuprum._command import main

ROOT = Path(__file__).resolve().parents[3]


FOLDERS = {
    "cuprum": ROOT,
    "libcuprum": ROOT / "packaging/libcuprum",
    "cuprum-emulator": ROOT / "packaging/cuprum-emulator",
}
LICENSES = {
    "cuprum": {"LICENSE", "NOTICE", "licenses/nanobind.txt", "licenses/robin_map.txt"},
    "libcuprum": {"LICENSE", "NOTICE"},
    "cuprum-emulator": {"LICENSE", "NOTICE", "licenses/zstd.txt", "licenses/llvm.txt"},
}


def write_metadata(name, folder):
    """Let the build backend write the metadata of a package, without compiling anything."""
    pytest.importorskip("scikit_build_core")
    code = (
        "import sys, scikit_build_core.build as backend; "
        "print(backend.prepare_metadata_for_build_wheel(sys.argv[1]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=FOLDERS[name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return folder / result.stdout.split()[-1]


@pytest.fixture(scope="module")
def metadata(tmp_path_factory):
    """The folder with the metadata of the package cuprum."""
    return write_metadata("cuprum", tmp_path_factory.mktemp("metadata"))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_wheel_has_the_version_of_the_library_and_its_licences(tmp_path, name):
    lines = (write_metadata(name, tmp_path) / "METADATA").read_text().splitlines()
    assert f"Name: {name}" in lines
    assert f"Version: {cuprum.__version__}" in lines
    files = {line.split(": ")[1] for line in lines if line.startswith("License-File: ")}
    assert files == LICENSES[name]
    for file in files:
        assert len((FOLDERS[name] / file).read_text()) > 500, file


@pytest.mark.parametrize("name", ["libcuprum", "cuprum-emulator"])
def test_a_source_distribution_can_be_built(tmp_path, name):
    # The sources are two folders above the pyproject.toml: packaging/backend.py.
    pytest.importorskip("scikit_build_core")
    code = "import sys; sys.path.insert(0, '.'); import backend; backend.build_sdist(sys.argv[1])"
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=FOLDERS[name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    stem = f"{name.replace('-', '_')}-{cuprum.__version__}"
    with tarfile.open(tmp_path / f"{stem}.tar.gz") as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from 3.11.4 on
        archive.extractall(tmp_path, **safely)
    tree = tmp_path / stem
    for file in ("CMakeLists.txt", "core/CMakeLists.txt", "emulator/CMakeLists.txt", "NOTICE"):
        assert (tree / file).is_file(), file
    assert not (tree / "build").exists()
    assert "../.." not in (tree / "pyproject.toml").read_text()
    # The backend inside the archive writes the same metadata, and refuses nothing.
    code = (
        "import sys; sys.path.insert(0, 'packaging'); import backend; "
        "backend.prepare_metadata_for_build_wheel(sys.argv[1])"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=tree, capture_output=True, check=True
    )
    again = (tmp_path / f"{stem}.dist-info/METADATA").read_text()
    (tmp_path / "clone").mkdir()
    assert again == (write_metadata(name, tmp_path / "clone") / "METADATA").read_text()


def test_the_packages_need_each_other_in_the_same_version(metadata):
    lines = (metadata / "METADATA").read_text().splitlines()
    version = cuprum.__version__
    assert f"Requires-Dist: libcuprum=={version}" in lines
    assert f'Requires-Dist: cuprum-emulator=={version}; extra == "emulator"' in lines
    extras = {line.split(": ")[1] for line in lines if line.startswith("Provides-Extra: ")}
    assert extras == {"cuda12", "cuda13", "emulator", "numpy", "top", "all"}


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


def test_the_wheels_install_the_commands(metadata, tmp_path):
    assert "cuprum = cuprum._command:main" in (metadata / "entry_points.txt").read_text()
    emulator = write_metadata("cuprum-emulator", tmp_path)
    assert "cuprum-emulator = cuprum_emulator:main" in (emulator / "entry_points.txt").read_text()


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
