# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Placeholders for names of ``cuda.core`` that Cuprum lacks. Tests that use them fail."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType

import pytest


class Absent:
    """A placeholder for a name that Cuprum lacks. Calling it fails the test and shows the name."""

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

    # Tests use such names in tables and annotations when they are collected.
    def __or__(self, other: object) -> object:
        return object

    __ror__ = __or__

    def __getitem__(self, item: object) -> object:
        return object

    def __iter__(self) -> object:
        return iter(())


class AbsentBase:
    """A placeholder for an absent base class."""


class AbsentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An importer that provides missing modules below ``cuda.core``, with absent names."""

    def find_spec(self, name: str, _path: object, _target: object = None) -> object:
        """Find modules below ``cuda.core`` only."""
        if name.startswith("cuda.core."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Create a module without names."""
        from cuprum.drop_in import _modules

        return _modules.PrivateModule(spec.name, ())

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code."""


def install() -> None:
    """Provide a placeholder for every missing name below ``cuda.core`` instead of an error."""
    from cuprum.drop_in import _modules

    _modules.stand_in = Absent
    sys.meta_path.append(AbsentModules())
