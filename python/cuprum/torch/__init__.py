# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""PyTorch's ``cuda`` device on the emulated device.

``cuprum run`` does this for every program that imports PyTorch.
"""

from __future__ import annotations

import sys
import warnings

from cuprum._public_names import public_names
from cuprum.torch import _adapter, _libraries

__all__ = ["activate"]
__dir__ = public_names(globals())


def activate() -> None:
    """Let PyTorch use the emulated device as its ``cuda`` device, from now on.

    Kernels of Triton, Inductor and nvcc run on the emulated device. PyTorch's own operators, whose
    CUDA kernels are machine code, run by their CPU kernels on the memory of the emulated device.
    The first use of CUDA compiles the adapter for this version of PyTorch, with the C++ compiler
    that ``CXX`` names, and keeps it in the cache.

    Call it before the program imports PyTorch, or start the program with ``cuprum run``. If
    Cuprum's device is a GPU, nothing happens.

    Raises
    ------
    ImportError
        If PyTorch is not installed.
    RuntimeError
        If PyTorch was built without CUDA or is too old, if it has loaded NVIDIA's libraries
        already, or if the emulated device is installed without its libraries.

    Examples
    --------
    >>> import cuprum.torch
    >>> cuprum.torch.activate()
    >>> import torch
    >>> torch.ones(3, device="cuda").sum().item()
    3.0
    """
    build = _libraries.find_build()
    if build is None:
        raise ImportError("PyTorch is not installed: pip install torch", name="torch")
    emulator = _libraries.find_emulator()
    if emulator is None:
        return
    _libraries.check(build)
    _libraries.load(build, emulator)
    import torch

    if build.version > _libraries.NEWEST:
        warnings.warn(
            f"PyTorch {build} is newer than what Cuprum was tested with "
            f"({_libraries.TESTED_VERSIONS}); report what fails",
            RuntimeWarning,
            stacklevel=2,
        )
    # A program that never uses CUDA needs no adapter.
    torch.cuda._lazy_call(_adapter.install)


def prepare() -> bool:
    """Load the libraries for a program that is about to import PyTorch under ``cuprum run``.

    Returns
    -------
    bool
        Whether ``activate()`` shall follow. Not if this PyTorch has no CUDA device.
    """
    build = _libraries.find_build()
    emulator = _libraries.find_emulator()
    if build is None or emulator is None:
        return False
    try:
        _libraries.check(build)
        _libraries.load(build, emulator)
    except RuntimeError as error:
        if build.cuda is not None:
            sys.stderr.write(f"cuprum: {error}\n")
        return False
    return True
