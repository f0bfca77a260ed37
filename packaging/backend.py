# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The build backend of the packages in this folder: scikit-build-core, and source distributions.

The sources of these packages are the whole repository, two folders above their ``pyproject.toml``.
Such a folder cannot be packed as it is. ``build_sdist`` therefore copies the repository to a
temporary folder, puts the package's ``pyproject.toml`` at its root with corrected paths, and packs
that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as _backend
from scikit_build_core.build import (
    build_wheel,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]

_TO_ROOT = "../../"


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Pack the whole repository as the source distribution of the package in this folder."""
    package = Path.cwd()
    project = (package / "pyproject.toml").read_text(encoding="utf-8")
    if 'source-dir = "../.."' not in project:  # an unpacked source distribution
        return _backend.build_sdist(sdist_directory, config_settings)
    root = (package / _TO_ROOT).resolve()
    target = Path(sdist_directory).resolve()
    with tempfile.TemporaryDirectory(prefix="cuprum-sdist-") as folder:
        tree = Path(folder)
        _copy_sources(root, tree)
        (tree / "pyproject.toml").write_text(_at_root(project), encoding="utf-8")
        os.chdir(tree)
        try:
            return _backend.build_sdist(str(target), config_settings)
        finally:
            os.chdir(package)


# ---- helpers -----------------------------------------------------------------------------------


def _at_root(project: str) -> str:
    """Return a ``pyproject.toml`` whose paths are relative to the root of the repository."""
    project = project.replace('source-dir = "../.."', 'source-dir = "."')
    project = project.replace('backend-path = ["."]', 'backend-path = ["packaging"]')
    project = project.replace(_TO_ROOT, "")
    # Everything is a source file, whatever a .gitignore above the temporary folder says.
    return project.replace("[tool.scikit-build]\n", '[tool.scikit-build]\nsdist.include = ["*"]\n')


def _copy_sources(root: Path, tree: Path) -> None:
    """Copy the files that git knows, or all of an unpacked archive, without links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    top = subprocess.run(
        ["git", "rev-parse", "--show-toplevel"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    # An unpacked archive can lie in the repository of something else.
    if listed.returncode == 0 and Path(top.stdout.strip()) == root:
        names = [name.decode() for name in listed.stdout.split(b"\0") if name]
        for name in names:
            source, copy = root / name, tree / name
            if source.is_file():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, copy)
    else:
        hidden = (".git", "build", "dist", ".venv", "__pycache__", ".*_cache")
        skipped = shutil.ignore_patterns(*hidden)
        shutil.copytree(root, tree, ignore=skipped, dirs_exist_ok=True)
