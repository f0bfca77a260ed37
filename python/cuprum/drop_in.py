# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run programs written for ``cuda.core`` on Cuprum, unchanged.

Either ``cuprum.drop_in.install()`` before the first ``import cuda.core``, or from the shell::

    python -m cuprum.drop_in script.py arguments...
    python -m cuprum.drop_in -m module arguments...
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import runpy
import sys
from types import ModuleType

__all__ = ["install"]

# Private modules of cuda.core that programs cannot avoid, and what they find there.
_PRIVATE_MODULES = {
    "_context": ("Context",),
    "_device": ("Device", "DeviceProperties"),
    "_event": ("Event", "EventOptions"),
    "_launch_config": ("LaunchConfig",),
    "_launcher": ("launch",),
    "_memory": ("Buffer", "DeviceMemoryResource", "DeviceMemoryResourceOptions", "MemoryResource"),
    "_module": ("Kernel", "ObjectCode"),
    "_program": ("Program", "ProgramOptions"),
    "_stream": ("LEGACY_DEFAULT_STREAM", "PER_THREAD_DEFAULT_STREAM", "Stream", "StreamOptions"),
}
_PUBLIC_MODULES = ("typing", "utils")
# Modules of cuda.bindings that are reached through _utils.cuda_utils.
_BINDINGS = ("driver", "nvrtc", "runtime")


class _Alias(ModuleType):
    """Stand for ``cuda.core``: every attribute is cuprum's."""

    def __getattr__(self, name: str) -> object:
        import cuprum

        try:
            return getattr(cuprum, name)
        except AttributeError:
            raise AttributeError(
                f"module 'cuda.core' has no attribute {name!r}: it is cuprum here, "
                "installed by cuprum.drop_in, which does not have it"
            ) from None

    def __dir__(self) -> list[str]:
        import cuprum

        return sorted(set(super().__dir__()) | set(cuprum.__all__))


def install() -> None:
    """Make ``import cuda.core`` give Cuprum, for the rest of the process.

    Device attributes that the driver does not know then read as 0, as such programs expect. Calling
    it again does nothing.

    Raises
    ------
    RuntimeError
        If the original ``cuda.core`` is imported already.
    """
    present = sys.modules.get("cuda.core")
    if isinstance(present, _Alias):
        return
    if present is not None:
        raise RuntimeError(
            f"cuda.core is imported already, from {getattr(present, '__file__', None)}; call "
            "cuprum.drop_in.install() before anything imports it"
        )
    import cuprum
    from cuprum import _cuprum

    core = _Alias("cuda.core", cuprum.__doc__)
    core.__path__ = []
    core.__file__ = cuprum.__file__
    for name in _PUBLIC_MODULES:
        _add_submodule(core, name, importlib.import_module(f"cuprum.{name}"))
    for name, members in _PRIVATE_MODULES.items():
        _add_submodule(core, name, _private_module(name, members))
    _add_submodule(core, "_utils", _utils_module())
    parent = _parent_package()
    sys.modules["cuda.core"] = core
    parent.core = core  # type: ignore[attr-defined]
    _cuprum.read_unknown_attributes_as_zero(True)


def handle_return(result: tuple, handle: object = None) -> object:
    """Check what a function of ``cuda.bindings`` returned.

    Parameters
    ----------
    result : tuple
        An error code, then the values.
    handle : object, optional
        Accepted for the callers' sake.

    Returns
    -------
    object
        None, the value, or a tuple of the values.

    Raises
    ------
    CUDAError
        If the code is not success; NVRTCError if it is one of NVRTC.
    """
    import cuprum

    del handle
    code, *values = result
    if int(code) != 0:
        name = getattr(code, "name", str(code))
        is_nvrtc = "nvrtc" in type(code).__name__.lower()
        error = (cuprum.NVRTCError if is_nvrtc else cuprum.CUDAError)(f"{name} ({int(code)})")
        error.code = int(code)
        error.name = name
        raise error
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def main(arguments: list[str]) -> None:
    """Run a script or module, given with its arguments, on Cuprum."""
    usage = "usage: python -m cuprum.drop_in (script.py | -m module) [arguments...]"
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        raise SystemExit(usage)
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


def _parent_package() -> ModuleType:
    """Return the package ``cuda``: the installed one, or an empty one made here."""
    if importlib.util.find_spec("cuda") is not None:
        return importlib.import_module("cuda")
    package = ModuleType("cuda")
    package.__path__ = []
    sys.modules["cuda"] = package
    return package


def _add_submodule(package: ModuleType, name: str, module: ModuleType) -> None:
    sys.modules[f"{package.__name__}.{name}"] = module
    setattr(package, name, module)


def _private_module(name: str, members: tuple[str, ...]) -> ModuleType:
    import cuprum
    from cuprum import _cuprum

    module = ModuleType(f"cuda.core.{name}")
    for member in members:
        value = getattr(cuprum, member, None) or getattr(_cuprum, member)
        setattr(module, member, value)
    return module


def _utils_module() -> ModuleType:
    """Make ``cuda.core._utils`` with its ``cuda_utils`` and ``version``."""
    import cuprum
    from cuprum._types import ComputeCapability

    utils = ModuleType("cuda.core._utils")
    utils.__path__ = []
    cuda_utils = _LazyBindings("cuda.core._utils.cuda_utils")
    for name, value in {
        "CUDAError": cuprum.CUDAError,
        "NVRTCError": cuprum.NVRTCError,
        "ComputeCapability": ComputeCapability,
        "handle_return": handle_return,
    }.items():
        setattr(cuda_utils, name, value)
    _add_submodule(utils, "cuda_utils", cuda_utils)

    version = ModuleType("cuda.core._utils.version")
    version.driver_version = _driver_version_tuple  # type: ignore[attr-defined]
    _add_submodule(utils, "version", version)
    return utils


def _driver_version_tuple() -> tuple[int, int, int]:
    import cuprum

    number = cuprum.driver_version()
    return number // 1000, number % 1000 // 10, number % 10


class _LazyBindings(ModuleType):
    """A module that imports ``cuda.bindings`` only when it is asked for."""

    def __getattr__(self, name: str) -> object:
        if name in _BINDINGS:
            return importlib.import_module(f"cuda.bindings.{name}")
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    # The module is running as a script: use the one that others import.
    importlib.import_module("cuprum.drop_in").main(sys.argv[1:])
