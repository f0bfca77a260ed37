# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What a program that imports PyTorch gets, tried with a small package of that name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum
from cuprum import driver_description
from cuprum.torch import _adapter, _libraries

pytestmark = pytest.mark.skipif(
    not cuprum.Device().is_emulated, reason="needs the libraries of the emulated device"
)

# What the package `torch` does when it is imported, and what shows which libraries it got.
TORCH = """
from torch import version
__version__ = version.__version__
class cuda:
    calls = []
    _lazy_call = calls.append
"""
SHOW = """
import re
names = {line.split("/")[-1].strip() for line in open("/proc/self/maps")}
print(*sorted(n for n in names if re.match("lib(cudart|cublas|cudnn|nccl|cufft)[.]", n)))
"""
VERSION = "__version__ = {version!r}\ncuda = {cuda!r}\n"
STAND_INS = ("libcublas.so.13", "libcudnn.so.9", "libcufft.so.12", "libnccl.so.2")


@pytest.fixture
def packages(tmp_path):
    """A folder of packages with one named torch; returns a function that sets its version."""

    def install(version="2.15.0+cu132", cuda="13.2"):
        folder = tmp_path / "torch"
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text(TORCH)
        (folder / "version.py").write_text(VERSION.format(version=version, cuda=cuda))
        return tmp_path

    return install


def run(packages, code, *command, **environment):
    """Run code in a Python that finds these packages first."""
    path = os.pathsep.join(filter(None, (str(packages), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, *command, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
    )


def under_run(packages, code, **environment):
    return run(packages, code, "-m", "cuprum", "run", **environment)


@pytest.mark.parametrize(("cuda", "major"), [("13.2", 13), ("12.8", 12)])
def test_run_loads_what_torch_is_linked_with(packages, cuda, major):
    ended = under_run(packages(cuda=cuda), "import torch" + SHOW)
    assert ended.returncode == 0, ended.stderr
    loaded = ended.stdout.split()
    assert f"libcudart.so.{major}" in loaded
    assert set(STAND_INS) <= set(loaded)
    assert ended.stderr == ""


def test_run_loads_nothing_for_a_program_without_torch(packages):
    ended = under_run(packages(), SHOW)
    assert (ended.stdout.strip(), ended.stderr) == ("", "")


def test_installed_libraries_are_left_to_torch(packages):
    folder = packages()
    installed = folder / "nvidia/cu13/lib"
    installed.mkdir(parents=True)
    (installed / "libcublas.so.13").touch()
    loaded = under_run(folder, "import torch" + SHOW).stdout.split()
    assert "libcublas.so.13" not in loaded
    assert "libcudnn.so.9" in loaded


def test_operators_are_replaced_when_the_program_first_uses_cuda(packages):
    ended = under_run(packages(), "import torch; print([f.__name__ for f in torch.cuda.calls])")
    assert ended.stdout.strip() == "['install']", ended.stderr


def test_run_leaves_a_torch_without_cuda_alone(packages):
    ended = under_run(packages(cuda=None), "import torch; print(torch.cuda.calls)" + SHOW)
    assert ended.stdout.split() == ["[]"]
    assert ended.stderr == ""


def test_run_says_that_torch_is_too_old(packages):
    ended = under_run(packages(version="2.7.1+cu126", cuda="12.6"), "import torch")
    assert ended.returncode == 0
    assert ended.stderr == (
        "cuprum: PyTorch 2.7.1+cu126 is too old for the emulated device: install one of "
        f"{_libraries.TESTED_VERSIONS}\n"
    )


def test_activate_before_torch_does_what_run_does(packages):
    code = (
        "import cuprum.torch; cuprum.torch.activate(); import torch; print(len(torch.cuda.calls))"
    )
    ended = run(packages(), code + SHOW)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == "1"
    assert set(STAND_INS) <= set(ended.stdout.split())


@pytest.mark.parametrize(
    ("version", "cuda", "message"),
    [
        ("2.15.0", None, r"PyTorch 2\.15\.0 was built without CUDA.*pip install torch"),
        ("2.7.0", "12.6", r"PyTorch 2\.7\.0 is too old for the emulated device"),
    ],
)
def test_activate_refuses_a_torch_that_cannot_work(packages, version, cuda, message):
    ended = run(packages(version, cuda), "import cuprum.torch; cuprum.torch.activate()")
    assert ended.returncode == 1
    assert re.search(r"RuntimeError: " + message, ended.stderr), ended.stderr


def test_activate_warns_about_a_newer_torch(packages):
    ended = run(packages("9.1.0", "13.9"), "import cuprum.torch; cuprum.torch.activate()")
    assert ended.returncode == 0, ended.stderr
    assert re.search(
        r"RuntimeWarning: PyTorch 9\.1\.0 is newer than what .* \(2\.8 to", ended.stderr
    )


def test_activate_without_torch_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(_libraries, "find_build", lambda: None)
    with pytest.raises(ImportError, match="pip install torch"):
        cuprum.torch.activate()


def test_activate_refuses_a_runtime_library_that_is_loaded_already(packages, tmp_path):
    other = tmp_path / "libcudart.so.13"
    empty = tmp_path / "empty.c"
    empty.touch()
    subprocess.run(["cc", "-shared", "-o", str(other), str(empty)], check=True)
    code = (
        f"import ctypes; ctypes.CDLL({str(other)!r}); import cuprum.torch; cuprum.torch.activate()"
    )
    ended = run(packages(), code)
    assert ended.returncode == 1
    assert re.search(
        rf"RuntimeError: {re.escape(str(other))} is loaded, .* before you import", ended.stderr
    )


def test_activate_leaves_a_gpu_alone(monkeypatch):
    monkeypatch.setattr(_libraries, "find_emulator", lambda: None)
    monkeypatch.setattr(_libraries, "load", lambda *_: pytest.fail("loads libraries"))
    monkeypatch.setattr(
        _libraries, "find_build", lambda: _libraries.Build(Path(), "2.15.0", "13.2")
    )
    cuprum.torch.activate()


# ---- stand-ins -----------------------------------------------------------------------------------

CALL = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
print(*(getattr(library, name)() for name in sys.argv[2:]))
"""


def stand_in(name):
    library = Path(driver_description().partition("(")[2].rpartition(")")[0])
    return library.parent / "stand_ins" / name


def call(name, *functions, **environment):
    return subprocess.run(
        [sys.executable, "-c", CALL, str(stand_in(name)), *functions],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("library", "function", "error"),
    [
        ("libcublas.so.12", "cublasCreate_v2", 15),
        ("libcublas.so.13", "cublasGemmEx", 15),
        ("libcudnn.so.9", "cudnnCreate", 3000),
        ("libcufft.so.11", "cufftCreate", 16),
        ("libcusolver.so.12", "cusolverDnCreate", 9),
        ("libnccl.so.2", "ncclGetUniqueId", 2),
    ],
)
def test_a_function_returns_its_librarys_error_and_says_so_once(library, function, error):
    ended = call(library, function, function)
    assert ended.stdout.split() == [str(error)] * 2
    (line,) = ended.stderr.splitlines()
    assert re.fullmatch(
        rf"cuprum emulator: error: {function} was called, but NVIDIA's {library.partition('.')[0]} "
        rf"is not installed, .*: the call returns {error}",
        line,
    )


def test_the_line_can_be_turned_off():
    assert call("libcublas.so.13", "cublasCreate_v2", CUPRUM_EMULATOR_LOG="off").stderr == ""


def test_a_version_is_zero():
    ended = call("libcudnn.so.9", "cudnnGetVersion")
    assert (ended.stdout.strip(), ended.stderr) == ("0", "")


def ptxas_version(release):
    return subprocess.run(
        [stand_in("../compilers/ptxas"), "--version"],
        env={**os.environ, "CUPRUM_EMULATOR_PTXAS_RELEASE": release},
        capture_output=True,
        text=True,
    )


def test_triton_meets_a_ptxas_of_the_release_of_torch(packages):
    code = "import torch, os; print(os.environ['CUPRUM_EMULATOR_PTXAS_RELEASE'])"
    release = under_run(packages(cuda="12.8"), code).stdout.strip()
    assert "release 12.8, V12.8.0" in ptxas_version(release).stdout


@pytest.mark.parametrize("release", ["12", "12.x", "12.8.1", "-1.0"])
def test_a_wrong_release_of_ptxas_is_refused(release):
    ended = ptxas_version(release)
    assert ended.returncode != 0
    assert f"CUPRUM_EMULATOR_PTXAS_RELEASE is '{release}', expected" in ended.stderr


# ---- the adapter ---------------------------------------------------------------------------------


@pytest.fixture
def torch_of(monkeypatch, packages):
    """Make `import torch` give a package with the folders that the compiler needs."""
    folder = packages()
    monkeypatch.syspath_prepend(str(folder))
    import torch

    torch.compiled_with_cxx11_abi = lambda: True
    torch.version.git_version = "1"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    yield folder
    for name in ("torch", "torch.version"):
        sys.modules.pop(name)


def test_a_missing_compiler_is_named(torch_of, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    with pytest.raises(RuntimeError, match="there is no no-such-compiler: install g\\+\\+"):
        _adapter.install()


def test_a_failed_compilation_shows_the_compilers_words(torch_of, monkeypatch, capfd):
    monkeypatch.setenv("CXX", "c++")
    with pytest.raises(
        RuntimeError, match=r"(?s)c\+\+ cannot compile .* 2\.15\.0.*fatal error: ATen"
    ):
        _adapter.install()
    assert "once" in capfd.readouterr().err
    assert not list(torch_of.glob("cache/**/*.so"))


def test_a_cache_that_others_can_write_is_refused(torch_of, monkeypatch):
    monkeypatch.setenv("CXX", "c++")
    folder = _adapter._cache_folder()
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.raises(RuntimeError, match="others can write there"):
        _adapter.install()
