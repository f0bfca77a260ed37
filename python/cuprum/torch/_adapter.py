# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compiles, keeps and loads ``adapter.cpp``, which replaces PyTorch's CUDA kernels."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

_SOURCE = Path(__file__).with_name("adapter.cpp")
_loaded: list[ctypes.CDLL] = []


def install() -> None:
    """Replace the CUDA kernels of PyTorch's operators, once.

    Raises
    ------
    RuntimeError
        If the adapter cannot be compiled, or does not fit PyTorch.
    """
    if _loaded:
        return
    import torch

    library = ctypes.CDLL(str(_compiled()))
    _loaded.append(library)
    library.cuprum_torch_activate.restype = ctypes.c_char_p
    failure = library.cuprum_torch_activate()
    if failure is not None:
        raise RuntimeError(
            f"the adapter does not fit PyTorch {torch.__version__}: {failure.decode()}"
        )


def _compiled() -> Path:
    """Return the adapter for this PyTorch, from the cache if it is there."""
    command = _command()
    key = hashlib.sha256(_SOURCE.read_bytes())
    key.update(repr((command, _version())).encode())
    folder = _cache_folder()
    file = folder / f"adapter-{key.hexdigest()[:24]}.so"
    if file.exists():
        return file
    began = time.monotonic()
    sys.stderr.write("cuprum: compiling the adapter for this version of PyTorch, once\n")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        made = Path(place) / "adapter.so"
        done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(
                f"{command[0]} cannot compile the adapter for PyTorch {_version()}; set CXX to "
                f"g++ 11 or newer, or to clang++ 14 or newer:\n{done.stderr[-4000:]}"
            )
        made.replace(file)  # another process may have written the same meanwhile
    sys.stderr.write(f"cuprum: done in {time.monotonic() - began:.0f} s\n")
    return file


def _version() -> str:
    import torch

    return f"{torch.__version__} {torch.version.git_version}"


def _command() -> list[str]:
    """Return the command that compiles the adapter, without its output."""
    import torch

    compiler = shlex.split(os.environ.get("CXX", "")) or ["c++"]
    if shutil.which(compiler[0]) is None:
        raise RuntimeError(
            f"PyTorch's cuda device needs a C++ compiler once, and there is no {compiler[0]}: "
            "install g++ (apt install g++), or set CXX to a compiler"
        )
    folder = Path(torch.__file__).parent
    return [
        *compiler,
        *("-std=c++20", "-O2", "-fPIC", "-shared", "-w"),
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        *("-isystem", str(folder / "include")),
        *("-isystem", str(folder / "include/torch/csrc/api/include")),
        str(_SOURCE),
        f"-L{folder / 'lib'}",
        *("-Wl,--no-as-needed", "-ltorch_cuda", "-ltorch_cpu", "-lc10"),
        "-Wl,--allow-shlib-undefined",
    ]


def _cache_folder() -> Path:
    """Return where compiled adapters are kept: nobody else can write there."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache) if os.path.isabs(cache) else Path.home() / ".cache"
    folder = base / "cuprum/torch" / sysconfig.get_platform()
    if folder.exists():
        facts = folder.stat()
        if facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
            raise RuntimeError(
                f"{folder} belongs to another user, or others can write there: delete it, or set "
                "XDG_CACHE_HOME to a folder of your own"
            )
    return folder
