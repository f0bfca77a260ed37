# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A pytest plugin: runs tests written for ``cuda.core`` on Cuprum and writes down how each ended.

Loaded by tools/reference-tests with ``-p plugin`` in the main process and in every worker, before
the tests' own conftest imports ``cuda.core``.
"""

from __future__ import annotations

import fnmatch
import importlib.abc
import importlib.machinery
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import cuprum.drop_in
from cuprum.drop_in import _modules

OUTCOME_FILE = "CUPRUM_REFERENCE_OUTCOMES"
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
EXCLUDED = Path(__file__).with_name("excluded.txt")


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
        return _modules.PrivateModule(spec.name, ())

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code."""


def pytest_configure() -> None:
    """Make sure that what is tested is Cuprum."""
    import cuda.core

    if not isinstance(cuda.core, _modules.CoreModule):
        raise pytest.UsageError(f"cuda.core is {cuda.core!r}, not Cuprum")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Do not even import the files that are left out as a whole."""
    name = "/".join(collection_path.parts).partition("/tests/")[2]
    why = (
        next(
            (
                why
                for p, why in read_exclusions()
                if p.endswith("*") and "::" not in p and fnmatch.fnmatch(name, p)
            ),
            "",
        )
        if name.endswith(".py")
        else ""
    )
    if why:
        write_outcome(name, "deselected", why)
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that the list of exclusions names."""
    patterns = read_exclusions()
    left_out = [item for item in items if reason_for(item.nodeid, patterns)]
    items[:] = [item for item in items if item not in set(left_out)]
    for item in left_out:
        write_outcome(item.nodeid, "deselected", reason_for(item.nodeid, patterns))


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write the outcome, once per phase that decides it."""
    if os.environ.get("PYTEST_XDIST_WORKER") is None and hasattr(report, "node"):
        return  # the worker that ran it has written it
    if report.when == "call" or report.outcome != PASSED:
        detail = ""
        if report.outcome == FAILED:
            detail = str(report.longrepr).strip().splitlines()[-1] if report.longrepr else ""
        elif report.outcome == SKIPPED and isinstance(report.longrepr, tuple):
            detail = report.longrepr[2]
        write_outcome(report.nodeid, report.outcome, detail)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Write a file that could not be collected."""
    if report.failed:
        write_outcome(report.nodeid, "error", str(report.longrepr).strip().splitlines()[-1])


def read_exclusions() -> list[tuple[str, str]]:
    """Return the pairs of pattern and reason in the list of exclusions."""
    pairs = []
    reason = ""
    for line in EXCLUDED.read_text().splitlines():
        text = line.partition("#")[0].strip()
        if line.startswith("## "):
            reason = line[3:].strip()
        elif text:
            pairs.append((text, reason))
    return pairs


def reason_for(node: str, patterns: list[tuple[str, str]]) -> str:
    """Return why a test is left out, or nothing."""
    node = node.replace("cuda_core/tests/", "").split("[")[0]
    return next((why for pattern, why in patterns if fnmatch.fnmatch(node, pattern)), "")


def write_outcome(node: str, outcome: str, detail: str) -> None:
    """Append one line to the file of outcomes; short writes with O_APPEND do not mix."""
    line = json.dumps([node, outcome, detail[:300]]) + "\n"
    descriptor = os.open(os.environ[OUTCOME_FILE], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


_modules.stand_in = Absent
sys.meta_path.append(AbsentModules())
cuprum.drop_in.install()
