# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The fixture that Numba's tests expect from the ``conftest.py`` of its repository."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """Do not write files for failed comparisons of compiler output."""
    request.cls._dump_failed_filechecks = False
