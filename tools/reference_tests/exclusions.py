# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Reads the list of the reference's tests that are left out, with the reasons."""

from __future__ import annotations

import functools
import re
from pathlib import Path

LIST = Path(__file__).with_name("excluded.txt")


def reason_for_file(file: str) -> str:
    """Return why a whole file is left out, or nothing."""
    return _first_reason(file, (entry for entry in _patterns(LIST) if "::" not in entry[0]))


def reason_for(node: str, file: Path = LIST) -> str:
    """Return why a test is left out, or nothing.

    A pattern may match the test's name or the name of one parameter row. It can therefore ignore
    rows or select some.
    """
    patterns = _patterns(file)
    return _first_reason(node, patterns) or _first_reason(node.partition("[")[0], patterns)


def _first_reason(name: str, patterns: object) -> str:
    return next((why for _, matches, why in patterns if matches(name)), "")  # type: ignore[attr-defined]


@functools.cache
def _patterns(file: Path) -> tuple[tuple[str, object, str], ...]:
    """Return each pattern with its matcher and reason; only ``*`` is special in a pattern."""
    patterns = []
    reason = ""
    for line in file.read_text().splitlines():
        if line.startswith("## "):
            reason = line[3:].strip()
        elif (text := line.strip()) and not text.startswith("#"):
            expression = re.compile(".*".join(map(re.escape, text.split("*"))))
            patterns.append((text, expression.fullmatch, reason))
    return tuple(patterns)
