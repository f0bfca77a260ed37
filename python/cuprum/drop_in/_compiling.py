# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Private helpers of ``cuda.core`` for programs, linkers and code, in Cuprum's own terms."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType


def _decide_nvjitlink_or_driver() -> bool:
    """Return whether the driver links because nvJitLink is missing."""
    import cuprum

    return cuprum.Linker.which_backend() == "driver"


def _get_nvvm_module() -> ModuleType:
    """Return ``cuda.bindings.nvvm`` if there is a libNVVM behind it."""
    import cuprum

    try:
        cuprum.compiler_version("nvvm")
        return importlib.import_module("cuda.bindings.nvvm")
    except (cuprum.LibraryNotFoundError, ImportError) as error:
        raise RuntimeError(f"NVVM is not available: {error}") from error


def _find_libdevice_path() -> str:
    """Return the path of libdevice, as ``cuda.pathfinder`` finds it."""
    return importlib.import_module("cuda.pathfinder").find_bitcode_lib("device")


def _assert_single_dashed_nvvm_options(options: list[str]) -> None:
    """Check that no option has two dashes, which libNVVM does not take."""
    for option in options:
        if option.startswith("--"):
            raise RuntimeError(f"{option} is double-dashed; libNVVM takes single dashes alone")


# The age at which a cache's temporary file counts as abandoned.
_TMP_STALE_AGE_SECONDS = 3600


def _linker_backend_and_version(use_driver: bool) -> tuple[str, str]:
    """Return what links, and its version."""
    import cuprum

    backend = "driver" if use_driver else "nvJitLink"
    return backend, cuprum.compiler_version(backend)


def _nvvm_fingerprint() -> str:
    """Return what identifies libNVVM."""
    import cuprum

    return cuprum.compiler_version("nvvm")


def _driver_version() -> int:
    """Return the driver's version as one number."""
    from cuda.bindings import driver

    return driver.cuDriverGetVersion()[1]


def follow_reference() -> None:
    """Give the classes of programs, linkers and code the members that users reach into."""
    import cuprum
    from cuprum import _cuprum, _errors

    members: tuple[tuple[type, str, object], ...] = (
        (cuprum.ObjectCode, "_init", classmethod(_init_object_code)),
        (cuprum.ProgramOptions, "_name", property(lambda options: options.name.encode())),
        (cuprum.ProgramOptions, "_prepare_extra_sources_bytes", _extra_sources_bytes),
        (
            cuprum.LinkerOptions,
            "_prepare_nvjitlink_options",
            lambda options, as_bytes=False: (
                options.as_bytes() if as_bytes else _cuprum.nvjitlink_options(options)
            ),
        ),
    )
    for cls, name, member in members + _cache_members():
        setattr(cls, name, member)
    # Let programs catch the errors of cuda.bindings' compilers.
    for module_name, theirs, ours in (
        ("cuda.bindings.nvjitlink", "nvJitLinkError", _errors.LinkerError),
        ("cuda.bindings.nvvm", "nvvmError", _errors.NVVMError),
    ):
        if importlib.util.find_spec("cuda.bindings") is None:
            return
        try:
            error = getattr(importlib.import_module(module_name), theirs)
        except (ImportError, AttributeError):
            continue
        ours.__bases__ = (*ours.__bases__, error)
        # The constructor of cuda.bindings expects a code as its argument; ours gets a text.
        setattr(ours, "__init__", Exception.__init__)  # noqa: B010 -- type checkers forbid it


def _cache_members() -> tuple[tuple[type, str, object], ...]:
    """Return what tests of caches look at: folders, files and sizes."""
    from pathlib import Path

    from cuprum.utils import FileStreamProgramCache, InMemoryProgramCache

    return (
        (FileStreamProgramCache, "_entries", property(lambda self: Path(self.path) / "entries")),
        (FileStreamProgramCache, "_tmp", property(lambda self: Path(self.path) / "tmp")),
        (FileStreamProgramCache, "_path_for_key", lambda self, key: Path(self.file_of(key))),
        (InMemoryProgramCache, "_total_bytes", property(lambda self: self.size_bytes)),
    )


def _init_object_code(
    cls: type,
    code: bytes | str,
    code_type: str,
    *,
    name: str = "",
    symbol_mapping: dict[str, str] | None = None,
) -> object:
    return getattr(cls, f"from_{code_type}")(code, name=name, symbol_mapping=symbol_mapping)


def _extra_sources_bytes(options: object) -> list[tuple[bytes, bytes]] | None:
    sources = options.extra_sources  # type: ignore[attr-defined]
    if sources is None:
        return None
    return [
        (name.encode(), text.encode() if isinstance(text, str) else bytes(text))
        for name, text in sources
    ]
