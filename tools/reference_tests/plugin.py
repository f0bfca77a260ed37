# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A pytest plugin that runs tests written for ``cuda.core`` on the drop-in.

tools/reference-tests loads it with ``-p reference_tests.plugin``, before the tests' own conftest
imports ``cuda.core``. The plugin ``reference_tests.recording`` records the outcomes.
"""

from __future__ import annotations

import os
import sys

import pytest
from reference_tests import exclusions
from reference_tests.plugin_names import IMPLEMENTATION
from reference_tests.recording import write_outcome

if os.environ.get(IMPLEMENTATION) != "original":
    from reference_tests import absent

    import cuprum.drop_in

    absent.install()
    cuprum.drop_in.install()


def pytest_configure() -> None:
    """Make sure that the intended implementation is tested."""
    import cuda.core

    is_cuprum = type(cuda.core).__name__ == "CoreModule"
    if is_cuprum == (os.environ.get(IMPLEMENTATION) == "original"):
        raise pytest.UsageError(f"cuda.core is {cuda.core!r}, which is not the one to test")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out excluded tests."""
    remaining = []
    for item in items:
        if why := exclusions.reason_for(item.nodeid):
            write_outcome(item.nodeid, "deselected", why)
        else:
            remaining.append(item)
    items[:] = remaining


@pytest.fixture(autouse=True)
def _isolated_interpreter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the children of tests that start ``python -I`` find the drop-in."""
    starts_isolated = hasattr(request.module, "_checkpoint_child_command")
    if starts_isolated and os.environ.get(IMPLEMENTATION) != "original":
        from reference_tests import isolated

        monkeypatch.setattr(sys, "executable", isolated.interpreter())
