# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Prepare Python programs that ``cuprum-emulator run`` starts.

``cuda.bindings.runtime`` contains NVIDIA's runtime library, which works with NVIDIA's driver only.
``cuda.core`` calls three of its functions, among them in ``Device.sync()``. Here these three call
the driver, which is what the runtime library does. All other functions are unchanged.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

_RUNTIME = "cuda.bindings.runtime"


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the runtime's bindings as usual, and completes them once they are loaded."""

    def __init__(self) -> None:
        self._is_searching = False

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _RUNTIME or self._is_searching:
            return None
        self._is_searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_searching = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads a module by another loader."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _complete(module)


def _complete(runtime: ModuleType) -> None:
    """Let the functions that ``cuda.core`` calls use the driver."""
    from cuda.bindings import driver

    success = driver.CUresult.CUDA_SUCCESS

    def result(status: int, *values: object) -> tuple:
        # The driver and the runtime number their errors alike.
        error = runtime.cudaError_t(int(status))
        return (error, *(values if status == success else (None,) * len(values)))

    def device_synchronize() -> tuple:
        (status,) = driver.cuInit(0)
        if status == success:
            status, context = driver.cuCtxGetCurrent()
        if status == success and int(context) == 0:
            status, context = driver.cuDevicePrimaryCtxRetain(0)
            if status == success:
                (status,) = driver.cuCtxSetCurrent(context)
        return result(*driver.cuCtxSynchronize()) if status == success else result(status)

    def get_device_count() -> tuple:
        (status,) = driver.cuInit(0)
        return result(*driver.cuDeviceGetCount()) if status == success else result(status, 0)

    def get_pci_bus_id(length: int, device: int) -> tuple:
        (status,) = driver.cuInit(0)
        if status != success:
            return result(status, b"")
        return result(*driver.cuDeviceGetPCIBusId(length, device))

    for name, function in {
        "cudaDeviceSynchronize": device_synchronize,
        "cudaGetDeviceCount": get_device_count,
        "cudaDeviceGetPCIBusId": get_pci_bus_id,
    }.items():
        function.__name__ = name
        setattr(runtime, name, function)


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
