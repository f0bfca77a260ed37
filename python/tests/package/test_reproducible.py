# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Packing the same files twice gives the same bytes.

`tools/test-wheel --reproducible` also compiles twice and compares whole wheels.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("scikit_build_core")

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = {
    "cuprum": ".",
    "libcuprum": "packaging/libcuprum",
    "cuprum-emulator": "packaging/cuprum-emulator",
}
# What the packages read when nothing is compiled.
SOURCES = [
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE",
    "licenses",
    "packaging",
    "python/cuprum",
    "core/include/cuprum/version.hpp",
]
PACK = """
import sys
import scikit_build_core.build as backend
print(backend.build_wheel(sys.argv[1], {"wheel.cmake": "false"}))
"""
EPOCH = 1_794_000_000  # 2026-11-06


def copy_sources(target, times):
    """Copy what the packages read; the files get other times and, if new, another order."""
    for name in SOURCES if times % 2 else reversed(SOURCES):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            skipped = shutil.ignore_patterns("__pycache__", "*.so")
            shutil.copytree(ROOT / name, target / name, ignore=skipped, symlinks=True)
        else:
            shutil.copy(ROOT / name, target / name)
        for number, path in enumerate([target / name, *(target / name).rglob("*")]):
            time = times + 2 * number  # a zip archive counts in steps of two seconds
            os.utime(path, (time, time), follow_symlinks=False)


def pack_wheel(folder, out, epoch=EPOCH):
    """Return the wheel of a package, without what a compiler makes."""
    result = subprocess.run(
        [sys.executable, "-c", PACK, str(out)],
        cwd=folder,
        env=dict(os.environ) | {"SOURCE_DATE_EPOCH": str(epoch)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return out / result.stdout.split()[-1]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_wheel_depends_neither_on_the_folder_nor_on_times(tmp_path, name):
    places = [tmp_path / "first", tmp_path / "elsewhere/second"]
    for number, place in enumerate(places):
        copy_sources(place, EPOCH - 1_000_001 * (1 + number))
    first, second = (pack_wheel(place / FOLDERS[name], place / "dist") for place in places)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {info.date_time[:3] for info in archive.infolist()} == {(2026, 11, 6)}
        for member in archive.namelist():
            assert str(tmp_path).encode() not in archive.read(member), member
    later = pack_wheel(places[0] / FOLDERS[name], tmp_path / "later", EPOCH + 86_400)
    assert later.read_bytes() != first.read_bytes(), "the time of the commit is part of a wheel"


def test_a_source_distribution_is_the_same_when_it_is_packed_again(tmp_path):
    code = "import sys; sys.path.insert(0, '.'); import backend; backend.build_sdist(sys.argv[1])"
    archives = []
    for number in range(2):
        place = tmp_path / str(number) / "sources"
        copy_sources(place, EPOCH + 5001 * number)
        out = tmp_path / str(number) / "dist"
        subprocess.run(
            [sys.executable, "-c", code, str(out)],
            cwd=place / FOLDERS["libcuprum"],
            capture_output=True,
            check=True,
        )
        (archive,) = out.iterdir()
        archives.append(archive)
    assert re.fullmatch(r"libcuprum-\d+\.\d+\.\d+\.tar\.gz", archives[0].name)
    assert archives[0].name == archives[1].name
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_no_path_of_the_build_folder_is_compiled_or_linked_in(tmp_path):
    if not (shutil.which("cmake") and shutil.which("ninja")):
        pytest.skip("CMake or Ninja is not installed")
    options = ["-DCUPRUM_REPRODUCIBLE=ON", "-DCUPRUM_PYTHON=ON", "-DCUPRUM_TESTS=OFF"]
    options += ["-DCUPRUM_EXAMPLES=OFF", "-DCUPRUM_BENCHMARKS=OFF"]
    options += [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"]
    result = subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path, *options],
        env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    rules = (tmp_path / "build.ninja").read_text()
    paths = re.findall(r"-rpath,(\S+)", rules)
    assert paths
    for path in paths:
        assert str(tmp_path) not in path
    flags = re.findall(r"^  FLAGS = (.*-std=.*)$", rules, re.MULTILINE)
    assert flags
    for line in flags:
        assert f"-ffile-prefix-map={tmp_path}=build" in line
