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
import warnings
from types import ModuleType

from cuprum.drop_in import _former_names
from cuprum.drop_in._modules import PATH, CoreModule, make_core_module
from cuprum.drop_in._shims import __version__ as _followed
from cuprum.drop_in._shims import handle_return

__all__ = ["PATH", "handle_return", "install", "main"]


def install() -> None:
    """Make ``import cuda.core`` give Cuprum, for the rest of the process.

    Where Cuprum differs on purpose, it behaves as ``cuda.core`` does: device attributes that the
    driver does not know read as 0, a device must be made current before it is used, and handles
    are objects of ``cuda.bindings`` if that is installed. Processes that ``multiprocessing``
    spawns find Cuprum too. Calling it again does nothing.

    Raises
    ------
    RuntimeError
        If the original ``cuda.core``, or a part of it, is imported already, in a sub-interpreter,
        or if ``cuda`` is another package. Nothing is replaced then.

    Warns
    -----
    UserWarning
        If a version of ``cuda-core`` with other names is installed.
    """
    if isinstance(sys.modules.get("cuda.core"), CoreModule):
        return
    _check_interpreter()
    _check_imported()
    before = list(sys.path)
    # multiprocessing passes sys.path to the processes that it spawns.
    if PATH not in sys.path:
        sys.path.insert(0, PATH)
    importlib.invalidate_caches()
    try:
        parent = _parent_package()
    except BaseException:
        sys.path[:] = before
        raise
    if sentence := _former_names.complaint(_former_names.installed_version(PATH), _followed):
        warnings.warn(sentence, stacklevel=2)
    parent.core = become()  # type: ignore[attr-defined]


def become() -> ModuleType:
    """Put Cuprum's modules in the places of those of ``cuda.core``."""
    from cuprum.drop_in import _behaviour

    core = make_core_module()
    _behaviour.follow_reference()
    return core


def main(arguments: list[str]) -> None:
    """Run a script, a module or code, given with its arguments, on Cuprum.

    Python processes that it starts run on Cuprum too: the folder `PATH` leads their search path.

    Parameters
    ----------
    arguments : list[str]
        As Python takes them: a script, ``-m`` and a module, or ``-c`` and code, and then the
        arguments of the program. A script is a file, a folder or archive with a ``__main__.py``,
        or ``-`` for the standard input.

    Raises
    ------
    SystemExit
        If there is no script; its text is a line on how to use it. A script may raise it too.
    ImportError
        If there is no such module.
    """
    usage = "usage: python -m cuprum.drop_in (script.py | -m module | -c code) [arguments...]"
    if not arguments or arguments[0] in ("-h", "--help") or arguments in (["-m"], ["-c"]):
        raise SystemExit(usage)
    first = arguments[0]
    if first not in ("-m", "-c", "-") and not os.path.exists(first):
        sys.stderr.write(f"cuprum.drop_in: there is no file '{first}'\n")
        raise SystemExit(2)  # the status of Python itself
    install()
    inherited = os.environ.get("PYTHONPATH")
    if PATH not in (inherited or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (PATH, _home(), inherited)))
    if first == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif first in ("-c", "-"):
        sys.argv = [first, *arguments[2 if first == "-c" else 1 :]]
        sys.path.insert(0, "")
        code = arguments[1] if first == "-c" else sys.stdin.read()
        program = ModuleType("__main__")
        sys.modules["__main__"] = program
        exec(compile(code, "<string>" if first == "-c" else "<stdin>", "exec"), vars(program))
    else:
        sys.argv = arguments
        if os.path.isfile(first) and not first.endswith((".zip", ".pyz")):
            sys.path.insert(0, os.path.dirname(os.path.abspath(first)))
        runpy.run_path(first, run_name="__main__")


def _home() -> str:
    """Return the folder that holds the package ``cuprum``."""
    import cuprum

    return os.path.dirname(os.path.dirname(os.path.abspath(cuprum.__file__)))


def _check_interpreter() -> None:
    """Refuse sub-interpreters, which would share Cuprum's objects with the main one."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        if importlib.util.find_spec(name) is None:
            continue
        module = importlib.import_module(name)
        current, main_one = module.get_current(), module.get_main()
        if current != main_one:
            raise RuntimeError(
                "cuprum.drop_in works in the main interpreter only; this is a sub-interpreter"
            )
        return


def _check_imported() -> None:
    """Refuse to replace what the program already uses, in whole or in part."""
    for name, module in list(sys.modules.items()):
        if name == "cuda.core" or name.startswith("cuda.core."):
            raise RuntimeError(
                f"{name} is imported already, from {getattr(module, '__file__', None)}; call "
                "cuprum.drop_in.install() before anything imports cuda.core"
            )


def _parent_package() -> ModuleType:
    """Return the package ``cuda``: the one that NVIDIA's packages and `PATH` share."""
    parent = importlib.import_module("cuda")
    file = getattr(parent, "__file__", None)
    if file is not None or not hasattr(parent, "__path__"):
        raise RuntimeError(
            f"cuda is {file or parent}, not the namespace that NVIDIA's packages share; rename it, "
            "or take its folder out of the search path"
        )
    return parent
