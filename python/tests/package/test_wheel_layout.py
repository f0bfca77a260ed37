# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""How the library finds the emulated device in site-packages, and when it refuses to.

The libraries of the build lie in the folders of the wheels; `make test-wheel` installs real wheels.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum
from cuprum._load_library import load_library

PROGRAM = "import cuprum; print(cuprum.driver_description())"


@pytest.fixture
def site(tmp_path):
    """A site-packages with libcuprum/lib and cuprum_emulator/lib/cuprum, from the build."""
    core = Path(cuprum._cuprum.__file__).parents[2] / "core"
    emulator = Path(cuprum._cuprum.__file__).parents[2] / "emulator/lib/libcuda.so.1"
    if not core.is_dir() or not emulator.exists():
        pytest.skip("the package is not in a build tree with the emulator")
    if "LD_PRELOAD" in os.environ:
        pytest.skip("LD_PRELOAD is in use, by a sanitizer")
    (tmp_path / "libcuprum/lib").mkdir(parents=True)
    shutil.copy(core / "libcuprum.so", tmp_path / "libcuprum/lib/libcuprum.so")
    (tmp_path / "cuprum_emulator/lib/cuprum").mkdir(parents=True)
    shutil.copy(emulator, tmp_path / "cuprum_emulator/lib/cuprum/libcuda.so.1")
    return tmp_path


def run(library):
    """Run a program whose libcuprum is this file."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("CUPRUM_")
    }
    variables |= {
        "CUPRUM_DRIVER": "emulated",
        "LD_PRELOAD": str(library),
        "PYTHONPATH": str(Path(cuprum.__file__).parents[1]),
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=variables, capture_output=True, text=True, check=False
    )


def test_the_emulated_device_is_found_in_the_package_beside_the_library(site):
    result = run(site / "libcuprum/lib/libcuprum.so")
    assert result.returncode == 0, result.stderr
    assert str(site / "cuprum_emulator/lib/cuprum/libcuda.so.1") in result.stdout


def test_only_the_library_of_a_wheel_looks_there(site):
    other = site / "mylib/lib"
    other.mkdir(parents=True)
    shutil.copy(site / "libcuprum/lib/libcuprum.so", other)
    result = run(other / "libcuprum.so")
    assert result.returncode != 0
    assert "the emulated device" in result.stderr
    assert "cuprum_emulator" not in result.stderr
    assert "pip install cuprum-emulator" in result.stderr


def test_a_device_that_anyone_may_replace_is_not_loaded(site):
    (site / "cuprum_emulator/lib/cuprum").chmod(0o777)
    result = run(site / "libcuprum/lib/libcuprum.so")
    assert result.returncode != 0
    assert "anyone may write to it or to its folder, ignored" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize("place", ["libcuda.so.1", "."])
def test_a_device_of_another_user_is_not_loaded(site, place):
    os.chown(site / "cuprum_emulator/lib/cuprum" / place, 4711, -1)
    result = run(site / "libcuprum/lib/libcuprum.so")
    assert result.returncode != 0
    assert "it or its folder belongs to another user than this library, ignored" in result.stderr
    # The owner of the library may own the device too.
    os.chown(site / "libcuprum/lib", 4711, -1)
    assert run(site / "libcuprum/lib/libcuprum.so").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_link_to_a_folder_of_another_user_is_not_followed(site, tmp_path):
    device = site / "cuprum_emulator/lib/cuprum/libcuda.so.1"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(device.resolve(), elsewhere / "libcuda.so.1")
    device.unlink(missing_ok=True)
    device.symlink_to(elsewhere / "libcuda.so.1")
    assert run(site / "libcuprum/lib/libcuprum.so").returncode == 0
    os.chown(elsewhere, 4711, -1)
    result = run(site / "libcuprum/lib/libcuprum.so")
    assert result.returncode != 0
    assert "it or its folder belongs to another user than this library, ignored" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_link_that_another_user_can_exchange_is_not_followed(site, tmp_path):
    device = site / "cuprum_emulator/lib/cuprum/libcuda.so.1"
    between, end = tmp_path / "between", tmp_path / "end"
    between.mkdir()
    end.mkdir()
    shutil.move(device, end / "libcuda.so.1")
    (between / "libcuda.so.1").symlink_to("../end/libcuda.so.1")
    device.symlink_to(between / "libcuda.so.1")
    assert run(site / "libcuprum/lib/libcuprum.so").returncode == 0
    os.chown(between, 4711, -1)
    text = "it or its folder belongs to another user than this library, ignored"
    result = run(site / "libcuprum/lib/libcuprum.so")
    assert result.returncode != 0
    assert text in result.stderr
    # In a sticky folder, the owner of the link decides.
    os.chown(between, 0, -1)
    between.chmod(0o1777)
    assert run(site / "libcuprum/lib/libcuprum.so").returncode == 0
    os.chown(between / "libcuda.so.1", 4711, -1, follow_symlinks=False)
    result = run(site / "libcuprum/lib/libcuprum.so")
    assert result.returncode != 0
    assert text in result.stderr


def test_only_a_folder_may_be_open_and_sticky(site):
    device = site / "cuprum_emulator/lib/cuprum/libcuda.so.1"
    device.parent.chmod(0o1777)
    assert run(site / "libcuprum/lib/libcuprum.so").returncode == 0
    device.chmod(0o1666)
    result = run(site / "libcuprum/lib/libcuprum.so")
    assert result.returncode != 0
    assert "anyone may write to it or to its folder, ignored" in result.stderr


# ---- a library that is elsewhere, or missing -----------------------------------------------------

MISSING = ImportError("libcuprum.so: cannot open shared object file: No such file or directory")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder in sys.path that can hold the packages."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def install(folder, name, version):
    """Write what pip writes about a package."""
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    if name == "libcuprum":
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "__init__.py").touch()


def test_without_libcuprum_the_import_error_says_what_to_install(package):
    install(package, "cuprum", "7.1.2")
    with pytest.raises(ImportError, match=r"not installed; run pip install libcuprum==7\.1\.2$"):
        load_library(MISSING)


def test_libcuprum_of_another_version_is_an_error_that_names_both(package):
    install(package, "cuprum", "7.1.2")
    install(package, "libcuprum", "7.1.1")
    text = "cuprum 7.1.2 needs libcuprum in the same version, but 7.1.1 is installed"
    with pytest.raises(ImportError, match=re.escape(text)):
        load_library(MISSING)


def test_a_missing_symbol_of_another_version_is_explained(package):
    install(package, "cuprum", "7.1.2")
    install(package, "libcuprum", "7.1.1")
    with pytest.raises(ImportError, match=r"run pip install libcuprum==7\.1\.2$"):
        load_library(ImportError("_cuprum.so: undefined symbol: _ZN6cuprum7versionEv"))


def test_a_library_that_cannot_be_loaded_is_named(package):
    install(package, "cuprum", "7.1.2")
    install(package, "libcuprum", "7.1.2")
    path = package / "libcuprum/lib/libcuprum.so"
    with pytest.raises(ImportError, match=f"{re.escape(str(path))} cannot be loaded: "):
        load_library(MISSING)


def test_other_import_errors_stay_what_they_are(package):
    install(package, "cuprum", "7.1.2")
    install(package, "libcuprum", "7.1.2")
    error = ImportError("undefined symbol: nonsense")
    with pytest.raises(ImportError) as raised:
        load_library(error)
    assert raised.value is error
