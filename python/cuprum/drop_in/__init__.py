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

from cuprum.drop_in._modules import CoreModule, make_core_module
from cuprum.drop_in._shims import handle_return

__all__ = ["PATH", "handle_return", "install", "main"]

#: If this folder is first in ``PYTHONPATH``, a process has Cuprum as ``cuda.core`` from its start.
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")


def install() -> None:
    """Make ``import cuda.core`` give Cuprum, for the rest of the process.

    Where Cuprum differs on purpose, it behaves as ``cuda.core`` does: device attributes that the
    driver does not know read as 0, a device must be made current before it is used, and handles
    are objects of ``cuda.bindings`` if that is installed. Processes that ``multiprocessing``
    spawns find Cuprum too. Calling it again does nothing.

    Raises
    ------
    RuntimeError
        If the original ``cuda.core`` is imported already.
    """
    present = sys.modules.get("cuda.core")
    if isinstance(present, CoreModule):
        return
    if present is not None:
        raise RuntimeError(
            f"cuda.core is imported already, from {getattr(present, '__file__', None)}; call "
            "cuprum.drop_in.install() before anything imports it"
        )
    parent = _parent_package()
    core = become()
    parent.core = core  # type: ignore[attr-defined]
    # multiprocessing passes sys.path to the processes that it spawns.
    if PATH not in sys.path:
        sys.path.insert(0, PATH)


def become() -> ModuleType:
    """Put Cuprum's modules in the places of those of ``cuda.core``."""
    from cuprum.drop_in import _behaviour

    core = make_core_module()
    _behaviour.follow_reference()
    return core


def main(arguments: list[str]) -> None:
    """Run a script or module, given with its arguments, on Cuprum.

    Python processes that it starts run on Cuprum too: the folder `PATH` leads their search path.

    Parameters
    ----------
    arguments : list[str]
        The script, or ``-m`` and a module, and its arguments.

    Raises
    ------
    SystemExit
        If there is no script; its text is a line on how to use it. A script may raise it too.
    ImportError
        If there is no such module.
    """
    usage = "usage: python -m cuprum.drop_in (script.py | -m module) [arguments...]"
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        raise SystemExit(usage)
    if arguments[0] != "-m" and not os.path.exists(arguments[0]):
        sys.stderr.write(f"cuprum.drop_in: there is no file '{arguments[0]}'\n")
        raise SystemExit(2)  # the status of Python itself
    install()
    inherited = os.environ.get("PYTHONPATH")
    if PATH not in (inherited or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (PATH, _home(), inherited)))
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")


def _home() -> str:
    """Return the folder that holds the package ``cuprum``."""
    import cuprum

    return os.path.dirname(os.path.dirname(os.path.abspath(cuprum.__file__)))


def _parent_package() -> ModuleType:
    """Return the package ``cuda``: the installed one, or an empty one made here."""
    if importlib.util.find_spec("cuda") is not None:
        return importlib.import_module("cuda")
    package = ModuleType("cuda")
    package.__path__ = []
    sys.modules["cuda"] = package
    return package
