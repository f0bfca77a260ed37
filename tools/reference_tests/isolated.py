# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""An interpreter whose isolated mode finds the drop-in.

Some tests start ``python -I``, which ignores PYTHONPATH. They expect to find ``cuda.core`` among
the installed packages. This environment has the drop-in there.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
import venv
from pathlib import Path


@functools.cache
def interpreter() -> str:
    """Make the environment, once for this process, and return its interpreter."""
    import cuprum

    folder = Path(tempfile.mkdtemp(prefix="reference-tests-"))
    atexit.register(_remove, folder, os.getpid())
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    package = Path(cuprum.__file__).parent
    installed = [path for path in sys.path if path.endswith("site-packages")]
    paths = [str(package / "drop_in/path"), str(package.parent), *installed]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (folder / "lib" / version / "site-packages/drop_in.pth").write_text("\n".join(paths) + "\n")
    return str(folder / "bin/python")


def _remove(folder: Path, owner: int) -> None:
    """Remove the environment when the process that made it ends, not a forked child of it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
