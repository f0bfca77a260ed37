# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Prepare Python programs that ``cuprum-emulator run`` starts.

``cuda.bindings.runtime`` contains NVIDIA's runtime library, which works with NVIDIA's driver only.
Its modules call each other through tables of C functions. Here the tables get the addresses of
Cuprum's ``libcudart.so``, so that the program uses the emulated device.

PyTorch gets Cuprum's libraries before it is imported, and ``cuprum.torch`` after that.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules as usual, and changes some of them once they are loaded."""

    def __init__(self) -> None:
        self._this_thread = threading.local()  # another thread may import at the same time

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        change = _CHANGES.get(name)
        if change is None or getattr(self._this_thread, "is_searching", False):
            return None
        self._this_thread.is_searching = True
        try:
            spec = importlib.util.find_spec(name)
            if name == "torch" and not (spec is not None and _prepare_torch()):
                return spec
        finally:
            self._this_thread.is_searching = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, change)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads a module by another loader, and changes it."""

    def __init__(self, loader: importlib.abc.Loader, change: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._change = change

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._change(module)


def _redirect(module: ModuleType) -> None:
    """Let the functions of a module call Cuprum's runtime library."""
    bindings = sys.modules["cuda.bindings"]
    major = bindings.__version__.partition(".")[0]
    file = Path(__file__).resolve().parents[2] / f"libcudart.so.{major}"
    if not file.exists():  # it is built only if CUDA's headers of the runtime are there
        return
    library = ctypes.CDLL(str(file))
    # NVIDIA's module reads this variable itself, and then calls a table that is private to it.
    is_per_thread = bool(int(os.getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0")))
    endings = ("_ptsz", "_ptds", "") if is_per_thread else ("",)
    for name, capsule in module.__pyx_capi__.items():
        for ending in endings:
            if function := getattr(library, name.removeprefix("_") + ending, None):
                _set_address(capsule, function)
                break


def _set_address(capsule: object, function: ctypes._CFuncPtr) -> None:
    """Replace the address in an entry of a module's table."""
    set_pointer = ctypes.pythonapi.PyCapsule_SetPointer
    set_pointer.argtypes = (ctypes.py_object, ctypes.c_void_p)
    set_pointer(capsule, ctypes.cast(function, ctypes.c_void_p))


def _prepare_torch() -> bool:
    """Load what PyTorch needs, and return whether its operators can be replaced."""
    try:
        from cuprum import torch
    except ImportError:
        sys.stderr.write(
            "cuprum-emulator: PyTorch's cuda device needs the package cuprum (pip install cuprum)\n"
        )
        return False
    return torch.prepare()


def _activate_torch(_module: ModuleType) -> None:
    from cuprum import torch

    torch.activate()


# What is done to a module once it is loaded. The first two contain NVIDIA's runtime library, in
# newer and in older versions.
_CHANGES: dict[str, Callable[[ModuleType], None]] = {
    "cuda.bindings._internal.runtime": _redirect,
    "cuda.bindings._bindings.cyruntime": _redirect,
    "torch": _activate_torch,
}


def _run_next() -> None:
    """Run the ``sitecustomize`` that Python would have found without this one."""
    own = Path(__file__).resolve().parent
    paths = [path for path in sys.path if Path(path).resolve() != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _Finder())
_run_next()
