# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Stand-ins for names of ``cuda.core`` that Cuprum does not have: the tests that use them fail."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType

import pytest


class Absent:
    """Stand for a name that Cuprum does not have; using it says which."""

    def __init__(self, where: str, name: str) -> None:
        self.__dict__.update(_where=where, _name=name)

    def _fail(self) -> None:
        pytest.fail(f"{self._where}.{self._name} is not there", pytrace=False)

    def __call__(self, *_: object, **__: object) -> None:
        """Fail the test that calls it."""
        self._fail()

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._where}.{self._name}", name)

    def __mro_entries__(self, bases: tuple) -> tuple[type, ...]:
        return (AbsentBase,)

    # Tests build tables and annotations out of such names when they are collected.
    def __or__(self, other: object) -> object:
        return object

    __ror__ = __or__

    def __getitem__(self, item: object) -> object:
        return object

    def __iter__(self) -> object:
        return iter(())


class AbsentBase:
    """Stand for an absent base class."""


class AbsentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Give a module of absent names for what is missing below ``cuda.core``."""

    def find_spec(self, name: str, _path: object, _target: object = None) -> object:
        """Find what is below ``cuda.core`` and nowhere else."""
        if name.startswith("cuda.core."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Make a module without names."""
        from cuprum.drop_in import _modules

        return _modules.PrivateModule(spec.name, ())

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code."""


def install() -> None:
    """Let every name that is missing below ``cuda.core`` be absent instead of an error."""
    from cuprum.drop_in import _modules

    _modules.stand_in = Absent
    sys.meta_path.append(AbsentModules())
