# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Print, record and publish the outcomes of the libraries' tests."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType

from third_party import library
from third_party.jobs import FAILED, PASSED, SKIPPED, Outcome

RECORDED = Path(__file__).parent / "recorded"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "emulator" / "libraries.md"
#: Runs with Cuprum in the place of NVIDIA's cuda.core, and the page that shows them.
DROP_IN = "drop_in"
DROP_IN_PAGE = Path(__file__).resolve().parents[2] / "docs" / "drop_in_packages.md"
BEGIN = "<!-- written by tools/third-party --write-page: begin -->"
END = "<!-- written by tools/third-party --write-page: end -->"
#: A cell of the page names at most this many tests.
SHOWN_TESTS = 12
PAGE_COLUMNS = 110
COLUMNS = (PASSED, FAILED, SKIPPED)


def summarise(module: ModuleType, results: list[Outcome], facts: dict) -> dict:
    """Return what is recorded of a run: the counts, each failure and its cause, the times."""
    counts = Counter(each.outcome for each in results)
    failed = {
        each.name: library.cause_of(module, each.name, each.cause)
        for each in sorted(results)
        if each.outcome == FAILED
    }
    skipped = Counter(
        re.sub(r"^Skipped: ", "", each.cause) or "no reason given"
        for each in results
        if each.outcome == SKIPPED
    )
    files: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: Counter[str] = Counter()
    for each in results:
        file = each.name.split("::")[0]
        files[file][each.outcome] += 1
        seconds[file] += each.seconds
    return {
        "title": module.TITLE,
        "version": module.VERSION,
        "part": module.PART,
        **{column: counts[column] for column in COLUMNS},
        **facts,
        "failures": failed,
        "skips": dict(skipped.most_common()),
        "files": {name: dict(count) for name, count in sorted(files.items())},
        "file_seconds": {name: round(value, 1) for name, value in sorted(seconds.items())},
    }


def format_table(summaries: dict[str, dict]) -> str:
    """Return one row for each library."""
    width = max(len(name) for name in [*summaries, "library"])
    lines = [f"{'library':<{width}}" + "".join(f"{each:>10}" for each in (*COLUMNS, "seconds"))]
    for name, summary in summaries.items():
        cells = "".join(f"{summary[column]:>10}" for column in (*COLUMNS, "seconds"))
        lines.append(f"{name:<{width}}{cells}")
    return "\n".join(lines)


def format_failures(summary: dict) -> str:
    """Return one line for each failure."""
    return "\n".join(f"failed: {test}: {cause}" for test, cause in summary["failures"].items())


def format_skips(summary: dict) -> str:
    """Return one line for each reason to skip."""
    return "\n".join(f"skipped {count:>5}: {why}" for why, count in summary["skips"].items())


def compare(name: str, summary: dict) -> str:
    """Return as text which tests end differently than in the recorded run."""
    before = read(name)
    if before is None:
        return f"{name}: no recorded run to compare with"
    new = sorted(set(summary["failures"]) - set(before["failures"]))
    cured = sorted(set(before["failures"]) - set(summary["failures"]))
    lines = [f"{name}: {len(new)} new failures against the recorded run, {len(cured)} cured"]
    return "\n".join(lines + [f"  new: {each}" for each in new])


def read(name: str) -> dict | None:
    """Return the recorded run of a library."""
    file = RECORDED / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else None


def merge(name: str, summary: dict) -> dict:
    """Return the recorded run with the files of a later run in place of its own.

    The skips of the recorded run stay, because they do not say to which file they belong.
    """
    before = read(name)
    if before is None or "files" not in before or before["version"] != summary["version"]:
        raise ValueError(f"{name}: record a whole run of {summary['version']} first")
    merged = {
        **before,
        **{key: {**before[key], **summary[key]} for key in ("files", "file_seconds")},
    }
    merged["failures"] = {
        test: cause
        for test, cause in before["failures"].items()
        if test.split("::")[0] not in summary["files"]
    } | summary["failures"]
    merged["failures"] = dict(sorted(merged["failures"].items()))
    for column in COLUMNS:
        merged[column] = sum(count.get(column, 0) for count in merged["files"].values())
    return merged


def record(name: str, summary: dict) -> None:
    """Record a run beside the tool."""
    file = RECORDED / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(summary, indent=1) + "\n")


def worse(original: dict[str, str], drop_in: dict[str, str]) -> dict[str, str]:
    """Return the tests that pass with the original and not with the drop-in, with their outcomes.

    Both map the name of a test to its outcome.
    """
    return {
        test: drop_in.get(test, "not run")
        for test, outcome in sorted(original.items())
        if outcome == PASSED and drop_in.get(test) != PASSED
    }


def write_pages() -> None:
    """Write the tables of the recorded runs into their pages."""
    write_page(PAGE, render())
    write_page(DROP_IN_PAGE, render_drop_in())


def write_page(page: Path, text: str) -> None:
    """Write a text into a page, between its two marks."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} does not contain the lines {BEGIN!r} and {END!r}")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def render() -> str:
    """Return the tables of all recorded runs, also of libraries that no job installs any more."""
    runs = [json.loads(file.read_text()) for file in sorted(RECORDED.glob("*.json"))]
    lines = [
        "| library | its own tests | passed | failed | skipped | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs:
        counts = " | ".join(f"{run[column]:,}" for column in COLUMNS)
        lines.append(
            f"| {run['title']}, {run['version']} | {run['part']} | {counts} | {run['seconds']} |"
        )
    workers = sorted({run["workers"] for run in runs})
    if workers:
        lines += ["", f"Run with {' or '.join(map(str, workers))} processes at a time."]
    notes = [f"{run['title']}: {run['note']}." for run in runs if run.get("note")]
    lines += ["\n" + textwrap.fill(note, PAGE_COLUMNS) for note in notes]
    for run in runs:
        lines += _render_failures(run)
    return "\n".join(lines)


def render_drop_in() -> str:
    """Return the table of the runs with the drop-in, beside those with the original."""
    lines = [
        "| package | its own tests | with `cuda.core` 1.2.2 | with the drop-in | worse "
        "| processor seconds |",
        "|---|---|---|---|---|---|",
    ]
    notes = []
    for file in sorted((RECORDED / DROP_IN).glob("*.json")):
        run = json.loads(file.read_text())
        original = run["original"]
        counts = (" / ".join(f"{each[column]:,}" for column in COLUMNS) for each in (original, run))
        lines.append(
            f"| {run['title']}, {run['version']} | {run['part']} | {' | '.join(counts)} | "
            f"{len(run['worse'])} | {_seconds(original)} → {_seconds(run)} |"
        )
        notes += [
            f"- {run['title']}: `{test}` {outcome} with the drop-in."
            for test, outcome in run["worse"].items()
        ]
        if run.get("note"):
            notes.append(f"- {run['title']}: {run['note']}.")
    return "\n".join(lines + [""] * bool(notes) + notes)


# ---- helpers -------------------------------------------------------------------------------------


def _render_failures(run: dict) -> list[str]:
    if not run["failures"]:
        return []
    by_cause: dict[str, list[str]] = defaultdict(list)
    for test, cause in run["failures"].items():
        by_cause[cause].append(test)
    lines = ["", f"### What fails of {run['title']}", "", "| tests | why |", "|---|---|"]
    for cause, tests in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        names = Counter(re.sub(r"\[.*", "", test) for test in tests)
        cells = [f"`{test}`" + (f" ({n} rows)" if n > 1 else "") for test, n in names.items()]
        if len(cells) > SHOWN_TESTS:
            files = Counter(test.split("::")[0] for test in tests)
            cells = [f"`{file}` ({n})" for file, n in files.most_common()]
        lines.append(f"| {'<br>'.join(cells)} | {_escaped(cause)} |")
    return lines


def _seconds(run: dict) -> str:
    """Return the processor time of a run; older runs did not measure it."""
    return f"{run['cpu_seconds']:,}" if "cpu_seconds" in run else "?"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
