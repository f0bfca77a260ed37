# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Write the recorded runs of the reference's tests into the page about the drop-in."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from pathlib import Path

from reference_tests import exclusions, outcomes

PAGE = outcomes.HERE.parent.parent / "docs" / "drop_in.md"
BEGIN = "<!-- written by tools/reference-tests --write-page: begin -->"
END = "<!-- written by tools/reference-tests --write-page: end -->"
RUNS = {
    "emulated device": outcomes.recorded_file("emulated", "cuprum"),
    "H200": outcomes.recorded_file("gpu", "cuprum"),
    "H200, `cuda.core` 1.2.0": outcomes.recorded_file("gpu", "original"),
}
KNOWN = Path(__file__).with_name("known_failures.txt")


def main() -> int:
    """Rewrite the generated section of the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{render()}\n{END}{after}")
    return 0


def render() -> str:
    """Return the tables of the recorded runs."""
    runs = {name: json.loads(file.read_text()) for name, file in RUNS.items() if file.exists()}
    if not runs:
        return ""
    parts = [_render_counts(runs)]
    parts.append(_render_examples())
    for name, run in runs.items():
        if "original" not in RUNS[name].name:
            parts.append(_render_failures(name, run["failed"]))
    return "\n\n".join(filter(None, parts))


def unexplained(file: Path) -> list[str]:
    """Return the failures of a recorded run that have no known reason."""
    failed = json.loads(file.read_text())["failed"]
    return [node for node in failed if not known_reason(node)]


def known_reason(node: str) -> str:
    """Return why a test fails, from the list of known failures or the original's own run."""
    if why := exclusions.reason_for(node, KNOWN):
        return why
    return "fails with `cuda.core` 1.2.0 too" if node in _failures_of_original() else ""


# ---- helpers -------------------------------------------------------------------------------------


def _render_counts(runs: dict[str, dict]) -> str:
    lines = [
        "### Results by file",
        "",
        "Each cell counts tests: passed / failed / skipped / left out.",
        "",
        f"| file | {' | '.join(runs)} |",
        f"|---|{'---|' * len(runs)}",
    ]
    files = sorted({file for run in runs.values() for file in run["files"]})
    left_out = [file for file in files if all(_is_left_out(run, file) for run in runs.values())]
    for file in files:
        if file not in left_out:
            cells = [_cell(run["files"].get(file, {})) for run in runs.values()]
            lines.append(f"| {file} | {' | '.join(cells)} |")
    totals = []
    for run in runs.values():
        total: Counter[str] = Counter()
        for file, counts in run["files"].items():
            if file not in left_out:
                total.update(counts)
        totals.append(_cell(total))
    lines.append(f"| **all** | {' | '.join(totals)} |")
    times = [f"{run['seconds']} s, {run['workers']} processes" for run in runs.values()]
    lines.append(f"| time | {' | '.join(times)} |")
    reasons: dict[str, list[str]] = {}
    for file in left_out:
        reasons.setdefault(exclusions.reason_for_file(file), []).append(f"`{file}`")
    lines += ["", "### Files that are left out", "", "| files | why |", "|---|---|"]
    lines += [f"| {', '.join(names)} | {why} |" for why, names in reasons.items()]
    return "\n".join(lines)


def _render_examples() -> str:
    runs = {
        name: json.loads(file.read_text())
        for name, file in (
            ("emulated device", outcomes.recorded_examples("emulated")),
            ("H200", outcomes.recorded_examples("gpu")),
        )
        if file.exists()
    }
    lines = ["### Example scripts", "", f"| script | {' | '.join(runs)} |"]
    lines.append(f"|---|{'---|' * len(runs)}")
    for script in sorted({script for run in runs.values() for script in run}):
        cells = [": ".join(filter(None, run.get(script, ("not run", "")))) for run in runs.values()]
        lines.append(f"| {script} | {' | '.join(cells)} |")
    return "\n".join(lines) if runs else ""


def _render_failures(name: str, failed: dict[str, str]) -> str:
    if not failed:
        return ""
    reasons: dict[str, list[str]] = {}
    for node in failed:
        reasons.setdefault(known_reason(node) or "not known", []).append(node)
    lines = [f"### What fails on the {name}", "", "| tests | why |", "|---|---|"]
    for why, nodes in reasons.items():
        names = Counter(re.sub(r"\[.*", "", node) for node in nodes)
        cells = [f"`{node}`" + (f" ({n} rows)" if n > 1 else "") for node, n in names.items()]
        lines.append(f"| {'<br>'.join(cells)} | {why} |")
    return "\n".join(lines)


def _cell(counts: dict[str, int]) -> str:
    return " / ".join(str(counts.get(column, 0)) for column in outcomes.COLUMNS)


def _is_left_out(run: dict, file: str) -> bool:
    counts = run["files"].get(file)
    return counts is None or (
        counts == {"deselected": 1} and bool(exclusions.reason_for_file(file))
    )


@functools.cache
def _failures_of_original() -> frozenset[str]:
    file = RUNS["H200, `cuda.core` 1.2.0"]
    return frozenset(json.loads(file.read_text())["failed"]) if file.exists() else frozenset()
