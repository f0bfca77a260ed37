# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The modules that classes and functions name as theirs, as in ``cuda.core``.

Some programs ask which package an object comes from: ``type(x).__module__.split(".")[0]``. Pickles
refer to a class by its module and name, so both must lead to the class.
"""

from __future__ import annotations

import collections.abc
import contextlib
import functools
import importlib
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType

# The modules of functions of cuda.core.system; its classes are in _device.
_SYSTEM = {
    "get_driver_branch": "_system",
    "get_kernel_mode_driver_version": "_system",
    "get_num_devices": "_system",
    "get_nvml_version": "_system",
    "get_process_name": "_system",
    "get_user_mode_driver_version": "_system",
    "register_events": "_system_events",
}


def give_places(
    made: Mapping[str, ModuleType], private: Mapping[str, tuple[str, ...]], own: Iterable[str]
) -> None:
    """Let all that the modules hold name the module of ``cuda.core`` that it stands in.

    Parameters
    ----------
    made : Mapping[str, ModuleType]
        All modules, by name.
    private : Mapping[str, tuple[str, ...]]
        The private modules below ``cuda.core``, and the names in each.
    own : Iterable[str]
        The modules below ``cuda.core`` that are Cuprum's.
    """
    for name in sorted(private, key=lambda name: name.count("."), reverse=True):
        module = made[f"cuda.core.{name}"]
        for member in private[name]:
            # Modules of cuda.bindings are not imported for this.
            if member not in ("driver", "nvrtc", "runtime") and hasattr(module, member):
                _place(module, member, module.__name__)
    for name in own:
        for member in vars(module := made[f"cuda.core.{name}"]).copy():
            if not member.startswith("_") and isinstance(getattr(module, member), type):
                _place(module, member, f"cuda.core.{name}")
    names = ("checkpoint", "graph", "system.exceptions", "system.typing")
    for name in (*names, "texture", "typing", "utils"):
        module = made[f"cuda.core.{name}"]
        for member in module.__all__:
            _place(module, member, module.__name__)
    sys.modules["cuprum"].system.Device.__qualname__ = "Device"
    sys.modules["cuprum"].system.Device.__name__ = "Device"
    for member in sys.modules["cuprum.system"].__all__:
        place = f"cuda.core.system.{_SYSTEM.get(member, '_device')}"
        _place(made["cuda.core.system"], member, place)


class _Names(dict):
    """The names that texts of annotations use: those of all modules of Cuprum."""

    def __missing__(self, name: str) -> object:
        for module in ("typing", "_cuprum", "_options", "_compile_options", "_memory_options"):
            if hasattr(found := importlib.import_module(f"cuprum.{module}"), name):
                return getattr(found, name)
        for found in (sys.modules["cuprum"], collections.abc, typing):
            if hasattr(found, name):
                return getattr(found, name)
        raise KeyError(name)


def _place(module: ModuleType, member: str, place: str) -> None:
    """Let a class or function of a module name a place, unless it names one of ``cuda.core``."""
    value = getattr(module, member)
    own = getattr(value, "__module__", None)
    if not (isinstance(own, str) and own.partition(".")[0] == "cuprum"):
        return
    if isinstance(value, type) and vars(value).get("__annotations__"):
        with contextlib.suppress(NameError, TypeError):
            value.__annotations__ = typing.get_type_hints(value, localns=_Names())
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        value.__module__ = place
    elif callable(value) and hasattr(value, "__name__"):
        vars(module)[member] = _with_place(value, place)


def _with_place(own: Callable, place: str) -> Callable:
    """Return a function that calls a compiled one, whose module cannot be set.

    The first place that a function gets is the innermost; it gets no other.
    """
    if own in _placed:
        return _placed[own]

    @functools.wraps(own)
    def function(*arguments: object, **options: object) -> object:
        return own(*arguments, **options)

    function.__module__ = place
    return _placed.setdefault(own, function)


_placed: dict[Callable, Callable] = {}
