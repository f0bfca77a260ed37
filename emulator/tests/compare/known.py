# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The list of forms whose result on the emulated device is known to differ from a GPU."""

from __future__ import annotations

from pathlib import Path

from case import compare_results

EMULATED = "Cuprum Emulated Device"
KEY = "instructions"


def known_differences(recorded: Path, device_name: str) -> set[str]:
    """Read the list beside a record; on a GPU the list is empty."""
    path = recorded.parent / "known_differences.txt"
    if not device_name.startswith(EMULATED) or not path.exists():
        return set()
    lines = (line.strip() for line in path.read_text().splitlines())
    return {line for line in lines if line and not line.startswith("#")}


def compare_with_known(
    recorded: dict[str, object], results: dict[str, object], known: set[str]
) -> list[str]:
    """Compare instructions; a listed form must differ, so that the list stays correct."""
    lines = [f"{form} is a known difference, but not a form" for form in sorted(known - {*results})]
    for form, result in results.items():
        differences = compare_results(recorded, {form: result})
        if form not in known:
            lines += differences
        elif not differences:
            lines.append(
                f"{form} is a known difference, but no longer differs: take it off the list"
            )
    return lines


def split_recorded(
    recorded: dict[str, object], results: dict[str, object]
) -> tuple[dict[str, object], list[str]]:
    """Return the results that have a recorded counterpart, and the names of the others."""
    missing = [name for name in results if name not in recorded]
    return {name: value for name, value in results.items() if name in recorded}, missing
