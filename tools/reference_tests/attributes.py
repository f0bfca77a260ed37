# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compare what Python tells about ``cuda.core`` and about the drop-in, fact by fact.

``describe.py`` collects the facts of both. attributes_kept.txt lists the differences that stay,
with reasons. The facts of the original are recorded, so that Python's tests compare without it.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "attributes_original.json"
KEPT = HERE / "attributes_kept.txt"
DESCRIBE = HERE / "describe.py"

Facts = Mapping[str, object]


class Difference(NamedTuple):
    """A fact of the original that differs here, or that is missing."""

    path: str
    fact: str
    theirs: object
    ours: object

    def __str__(self) -> str:
        return f"{self.path}: {self.fact}: {self.theirs!r} there, {self.ours!r} here"


class Kept(NamedTuple):
    """Differences that stay: those whose ``path: fact`` an expression matches."""

    expression: re.Pattern
    reason: str


def describe(
    start: Sequence[str], environment: Mapping[str, str], *, is_drop_in: bool
) -> dict[str, Facts]:
    """Return the facts of the package that an interpreter imports, or of the drop-in there.

    `start` is the command that starts the interpreter.
    """
    command = [*start, str(DESCRIBE), *(["--drop-in"] if is_drop_in else [])]
    result = subprocess.run(
        command, env=dict(environment), capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {result.stderr[-2000:]}")
    return json.loads(result.stdout)


def record(facts: Mapping[str, Facts]) -> None:
    """Record the facts of the original, one name to a line."""
    lines = (f"{json.dumps(path)}: {json.dumps(facts[path])}" for path in sorted(facts))
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def recorded() -> dict[str, Facts]:
    """Return the recorded facts of the original."""
    return json.loads(RECORDED.read_text())


def compare(theirs: Mapping[str, Facts], ours: Mapping[str, Facts]) -> list[Difference]:
    """Return where the facts of the original do not hold. What is here alone does not count."""
    found = []
    for path, facts in theirs.items():
        if path not in ours:
            parent = path.rpartition(".")[0]
            if parent in ours or parent not in theirs:  # else the parent itself is reported
                found.append(Difference(path, "exists", True, False))
            continue
        for fact, value in facts.items():
            own = ours[path].get(fact)
            if not agrees(fact, value, own):
                found.append(Difference(path, fact, value, own))
    return found


def agrees(fact: str, theirs: object, ours: object) -> bool:
    """Return whether a program that relies on the original's fact is served by ours."""
    if theirs == ours:
        return True
    if fact == "signature":
        return accepts(ours, theirs)
    if fact == "bases":
        return set(theirs or ()) <= set(ours or ())  # type: ignore[arg-type]
    # What the original refuses may work here, and a text that it lacks may be there.
    return not theirs or (isinstance(theirs, str) and theirs.endswith("Error"))


def accepts(ours: object, theirs: object) -> bool:
    """Return whether a signature takes every call that another takes."""
    if ours is None:
        return False
    own: list[list] = ours  # type: ignore[assignment]
    takes_any = {kind for _, kind, _ in own}
    names = [name for name, _, _ in own]
    for place, (name, kind, has_default) in enumerate(theirs):  # type: ignore[arg-type]
        if kind == "VAR_POSITIONAL" or kind == "VAR_KEYWORD":
            continue
        if name not in names:
            if {"VAR_POSITIONAL", "VAR_KEYWORD"} <= takes_any:
                continue
            if kind == "POSITIONAL_ONLY" and place < len(own):
                continue
            return False
        _, own_kind, own_default = own[names.index(name)]
        if kind == "POSITIONAL_OR_KEYWORD" and (own_kind != kind or names.index(name) != place):
            return False
        if kind == "KEYWORD_ONLY" and own_kind not in (kind, "POSITIONAL_OR_KEYWORD"):
            return False
        if has_default and not own_default:
            return False
    known = {name for name, _, _ in theirs}  # type: ignore[union-attr]
    return all(
        has_default or name in known or kind.startswith("VAR") or kind == "POSITIONAL_ONLY"
        for name, kind, has_default in own
    )


def read_kept(file: Path = KEPT) -> list[Kept]:
    """Read the differences that stay: an expression for ``path: fact``, and a reason."""
    kept = []
    for line in file.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            expression, _, reason = line.partition("  # ")
            kept.append(Kept(re.compile(expression.strip()), reason.strip()))
    return kept


def unexplained(differences: list[Difference], kept: list[Kept]) -> list[Difference]:
    """Return the differences that no line of the list covers."""
    return [
        each
        for each in differences
        if not any(line.expression.fullmatch(f"{each.path}: {each.fact}") for line in kept)
    ]


def unused(differences: list[Difference], kept: list[Kept]) -> list[Kept]:
    """Return the lines of the list that cover nothing any more."""
    texts = [f"{each.path}: {each.fact}" for each in differences]
    return [line for line in kept if not any(line.expression.fullmatch(text) for text in texts)]
