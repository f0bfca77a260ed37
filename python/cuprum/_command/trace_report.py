# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuprum trace report``: where the time of a trace went."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

_TITLES = {
    "kernel": "kernels, on the device",
    "copy": "copies and fills, on the device",
    "graph": "graphs, on the device",
    "driver": "driver calls, on the host",
    "range": "ranges",
}

# What XML does not allow, lone surrogates, which no encoding allows, and what controls a terminal
# or turns the direction of text.
_NOT_TEXT = re.compile(
    r"[^ -~\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
# Ten thousand years: NaN and infinity are not below it.
_MOST_MICROSECONDS = 1e4 * 366 * 86400 * 1e6


def run(file: str, top: int, is_json: bool = False) -> int:
    """Print the tables of a trace; return 1 if it cannot be read."""
    try:
        events = read(Path(file))
    except (OSError, ValueError) as error:
        print(f"cuprum: {file} is not a trace that can be read: {error}", file=sys.stderr)
        return 1
    if is_json:
        print(json.dumps(summarize(events, top), indent=2))
    else:
        print("\n".join(render(events, top)))
    return 0


def read(file: Path) -> list[dict]:
    """Return the events of a trace, even if its program was killed.

    Other programs write such events too. Missing fields get a default, and events whose times are
    not finite numbers are left out.
    """
    events = []
    for event in _parse(file):
        begin, duration = event.get("ts"), event.get("dur", 0)
        if event.get("ph") != "X" or not (_is_time(begin) and _is_time(duration)):
            continue
        arguments = event.get("args")
        events.append(
            {
                **event,
                "cat": _text(event.get("cat", "")),
                "name": _text(event.get("name", "")),
                "pid": _identity(event.get("pid")),
                "tid": _identity(event.get("tid")),
                "dur": duration,
                "args": arguments if isinstance(arguments, dict) else {},
            }
        )
    return events


def read_names(file: Path) -> dict[tuple[object, object], str]:
    """Return the names of threads and streams, and those of processes, with None for the thread."""
    names: dict[tuple[object, object], str] = {}
    for event in _parse(file):
        arguments = event.get("args")
        if event.get("ph") != "M" or not isinstance(arguments, dict) or "name" not in arguments:
            continue
        process, thread = _identity(event.get("pid")), _identity(event.get("tid"))
        if event.get("name") == "thread_name":
            names[process, thread] = _text(arguments["name"])
        elif event.get("name") == "process_name":
            names[process, None] = _text(arguments["name"])
    return names


def _is_time(value: object) -> bool:
    """Return whether a value is a number that can be drawn and added up."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and -_MOST_MICROSECONDS < value < _MOST_MICROSECONDS
    )


def _identity(value: object) -> object:
    """Return the number or text of a process or thread, which identifies it in a dictionary."""
    return value if value is None or isinstance(value, int) else _text(value)


def _text(value: object) -> str:
    """Return a line of text that can be written to any terminal, file or picture."""
    text = value if isinstance(value, str) else str(value)
    return _NOT_TEXT.sub("\ufffd", re.sub(r"[\t\n\r]", " ", text))


def _parse(file: Path) -> list[dict]:
    text = file.read_text(encoding="utf-8")
    try:
        events = json.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None
    except ValueError:
        if not text.startswith("["):
            raise
        # The file was cut short: each complete line after the bracket is an event and a comma.
        lines = [line.rstrip().rstrip(",") for line in text.splitlines()[1:] if line.endswith("},")]
        events = [json.loads(line) for line in lines]
    if not isinstance(events, list):
        raise ValueError("expected a list of events")
    if not all(isinstance(event, dict) for event in events):
        raise ValueError("expected a list of events, each an object")
    return events


def render(events: list[dict], top: int) -> list[str]:
    """Return the lines of the report."""
    if not events:
        return ["the trace is empty"]
    begin = min(event["ts"] for event in events)
    end = max(event["ts"] + event["dur"] for event in events)
    lines = [f"{len(events)} events in {(end - begin) / 1e3:.3f} ms"]
    for category, title in _TITLES.items():
        chosen = [event for event in events if event["cat"] == category]
        if chosen:
            lines += ["", *table(title, chosen, top)]
    failures = [event for event in events if has_failed(event)]
    if failures:
        lines += ["", "calls that failed"]
        lines += [f"  {event['name']}: {result_of(event)}" for event in failures[:top]]
    return lines


def summarize(events: list[dict], top: int) -> dict:
    """Return the numbers of the report, times in microseconds."""
    begin = min((event["ts"] for event in events), default=0)
    end = max((event["ts"] + event["dur"] for event in events), default=0)
    categories = {}
    for category in _TITLES:
        chosen = [event for event in events if event["cat"] == category]
        if chosen:
            ranked = _rank(chosen)
            categories[category] = {
                "total_us": sum(sum(times) for _, times in ranked),
                "name_count": len(ranked),
                "names": [
                    {
                        "name": name,
                        "calls": len(times),
                        "total_us": sum(times),
                        "mean_us": sum(times) / len(times),
                        "max_us": max(times),
                    }
                    for name, times in ranked[:top]
                ],
            }
    failures = [event for event in events if has_failed(event)]
    return {
        "events": len(events),
        "duration_us": end - begin,
        "categories": categories,
        "failures": [
            {"name": event["name"], "result": result_of(event)} for event in failures[:top]
        ],
    }


def table(title: str, events: list[dict], top: int) -> list[str]:
    """Return a table of the names that took the most time."""
    ranked = _rank(events)
    total = sum(sum(times) for _, times in ranked)
    lines = [
        f"{title}: {total / 1e3:.3f} ms",
        f"  {'calls':>8}{'total ms':>12}{'mean us':>12}{'max us':>12}{'share':>8}  name",
    ]
    for name, times in ranked[:top]:
        lines.append(
            f"  {len(times):>8}{sum(times) / 1e3:>12.3f}{sum(times) / len(times):>12.2f}"
            f"{max(times):>12.2f}{sum(times) / total if total else 0:>8.1%}  {name}"
        )
    if len(ranked) > top:
        lines.append(f"  and {len(ranked) - top} more")
    return lines


def _rank(events: list[dict]) -> list[tuple[str, list[float]]]:
    """Return the durations of each name, those that took the most time first."""
    durations: dict[str, list[float]] = defaultdict(list)
    for event in events:
        durations[event["name"]].append(event["dur"])
    return sorted(durations.items(), key=lambda item: -sum(item[1]))


def has_failed(event: dict) -> bool:
    """Return whether an event is a driver call that failed."""
    return result_of(event) not in ("CUDA_SUCCESS", "CUDA_ERROR_NOT_READY")


def result_of(event: dict) -> str:
    """Return the result of a driver call."""
    return _text(event["args"].get("result", "CUDA_SUCCESS"))
