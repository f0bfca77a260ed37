# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What happens if the extension module does not find libcuprum in the package beside it."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os

_FILE = "libcuprum.so"


def load_library(error: ImportError) -> None:
    """Load libcuprum from wherever Python finds its package, or raise an error that helps.

    Environments can have several folders of packages, for example a virtual environment with
    ``--system-site-packages``, and the two packages may be in different ones.

    Parameters
    ----------
    error : ImportError
        What the import of the extension module raised.

    Raises
    ------
    ImportError
        If libcuprum is not installed, or not in the version of this package.
    """
    version, found = _version("cuprum"), _version("libcuprum")
    # A library of another version can lack symbols, and the loader names only the first.
    if _FILE not in str(error) and (version is None or found in (None, version)):
        raise error
    wanted = f"libcuprum=={version}" if version else "libcuprum"
    spec = importlib.util.find_spec("libcuprum")
    if spec is None or spec.origin is None:
        raise ImportError(
            f"cuprum needs the package libcuprum, which is not installed; run pip install {wanted}"
        ) from error
    if version is not None and found != version:
        raise ImportError(
            f"cuprum {version} needs libcuprum in the same version, but {found or 'another'} is "
            f"installed; run pip install {wanted}"
        ) from error
    path = os.path.join(os.path.dirname(os.path.abspath(spec.origin)), "lib", _FILE)
    try:
        ctypes.CDLL(path)  # stays loaded; the extension module then finds it by its name
    except OSError as reason:
        raise ImportError(f"{path} cannot be loaded: {reason}; reinstall libcuprum") from error


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
