# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Read, count, record and compare the outcomes of the reference's tests."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
COLUMNS = ("passed", "failed", "skipped", "deselected")
#: Outcomes that count as failures. "error" means that a file cannot be collected.
BAD = ("failed", "error")
FACTS = "run.json"
#: The names of the devices in the file names of recorded runs.
DEVICES = {"emulated": "emulated", "gpu": "h200"}


class Entry(NamedTuple):
    """How one test ended."""

    outcome: str
    detail: str
    seconds: float


def append(file: Path, node: str, outcome: str, detail: str) -> None:
    """Append an outcome to a file of outcomes."""
    with open(file, "a") as stream:
        stream.write(json.dumps([node, outcome, detail[:400], 0.0]) + "\n")


def read_file(file: Path) -> dict[str, Entry]:
    """Return the last outcome of each test in a file; ignore lines that were cut off."""
    entries: dict[str, Entry] = {}
    for line in file.read_text().splitlines():
        try:
            node, outcome, detail, seconds = json.loads(line)
        except ValueError:
            continue
        entries[node] = Entry(outcome, detail, seconds)
    return entries


def read_folder(folder: Path) -> dict[str, Entry]:
    """Return the outcomes of a whole run, finished or not."""
    entries: dict[str, Entry] = {}
    for file in sorted(folder.glob("*.jsonl")):
        entries.update(read_file(file))
    return {
        node: Entry("failed", "was running when the run was cut off", entry.seconds)
        if entry.outcome == "started"
        else entry
        for node, entry in entries.items()
    }


def count_by_file(entries: dict[str, Entry]) -> dict[str, Counter[str]]:
    """Return the number of each outcome per file; a file that cannot be collected is a failure."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for node, entry in entries.items():
        outcome = "failed" if entry.outcome in BAD else entry.outcome
        counts[node.split("::")[0]][outcome] += 1
    return dict(sorted(counts.items()))


def format_table(entries: dict[str, Entry]) -> str:
    """Return the counts per file and their sum as text."""
    counts = count_by_file(entries)
    seconds: Counter[str] = Counter()
    for node, entry in entries.items():
        seconds[node.split("::")[0]] += entry.seconds
    width = max([len(file) for file in counts] + [4])
    lines = [f"{'file':<{width}}" + "".join(f"{column:>12}" for column in (*COLUMNS, "seconds"))]
    rows = [*counts.items(), ("all", sum(counts.values(), Counter()))]
    seconds["all"] = sum(seconds.values())
    for file, row in rows:
        cells = "".join(f"{row[column]:>12}" for column in COLUMNS)
        lines.append(f"{file:<{width}}{cells}{seconds[file]:>12.1f}")
    return "\n".join(lines)


def format_failures(entries: dict[str, Entry]) -> str:
    """Return one line for each failure, with its reason."""
    return "\n".join(
        f"{entry.outcome}: {node}: {entry.detail}"
        for node, entry in sorted(entries.items())
        if entry.outcome in BAD
    )


def format_exclusions(entries: dict[str, Entry]) -> str:
    """Return how many tests were deselected for each reason; an excluded file counts as one."""
    reasons = Counter(e.detail for e in entries.values() if e.outcome == "deselected")
    return "\n".join(f"deselected {count:>4}: {why}" for why, count in reasons.most_common())


def failures(entries: dict[str, Entry]) -> dict[str, str]:
    """Return the tests that failed, with their messages."""
    return {node: entry.detail for node, entry in sorted(entries.items()) if entry.outcome in BAD}


def compare(entries: dict[str, Entry], recorded: Path) -> str:
    """Return as text which tests end differently than in a recorded run."""
    if not recorded.exists():
        return f"no {recorded.name} to compare with"
    before = json.loads(recorded.read_text())["failed"]
    failed = failures(entries)
    new = sorted(set(failed) - set(before))
    cured = sorted(node for node in before if node in entries and node not in failed)
    lines = [f"against {recorded.name}: {len(new)} new failures, {len(cured)} cured"]
    lines += [f"  new: {node}: {failed[node]}" for node in new]
    lines += [f"  cured: {node}" for node in cured]
    return "\n".join(lines)


def write_facts(folder: Path, seconds: float, workers: int, unfinished: list[str]) -> None:
    """Write the facts about a run beside its outcomes."""
    facts = {"seconds": round(seconds), "workers": workers, "unfinished": unfinished}
    (folder / FACTS).write_text(json.dumps(facts))


def read_facts(folder: Path) -> dict:
    """Return the facts about a run; a run that was killed wrote none."""
    file = folder / FACTS
    if file.exists():
        return json.loads(file.read_text())
    return {"seconds": 0, "workers": 0, "unfinished": ["the run, which was killed"]}


def record(entries: dict[str, Entry], recorded: Path, facts: dict) -> None:
    """Record counts, failures and times for `compare`, the next plan and the documentation."""
    times: Counter[str] = Counter()
    for node, entry in entries.items():
        times[node.split("::")[0]] += entry.seconds
    content = {
        "seconds": facts["seconds"],
        "workers": facts["workers"],
        "files": count_by_file(entries),
        "file_seconds": {file: round(value, 1) for file, value in sorted(times.items())},
        "failed": failures(entries),
    }
    recorded.write_text(json.dumps(content, indent=1) + "\n")


def read_times(recorded: Path) -> dict[str, float]:
    """Return the seconds that each file took in a recorded run."""
    return json.loads(recorded.read_text())["file_seconds"] if recorded.exists() else {}


def recorded_file(device: str, implementation: str) -> Path:
    """Return the file that records the run on a device."""
    prefix = "original_" if implementation == "original" else ""
    return HERE / f"recorded_{prefix}{DEVICES[device]}.json"


def recorded_examples(device: str) -> Path:
    """Return the file that records the run of the examples on a device."""
    return HERE / f"examples_{DEVICES[device]}.json"
