# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The rules of Chrome's trace event format, as far as Cuprum uses it.

This check is stricter than the viewers, which repair or drop what they do not understand. Perfetto
counts such events as import errors; Chrome draws them in the wrong place.
"""

import json
import math
from collections import defaultdict

#: Names of metadata events, and the key that their arguments must contain.
METADATA = {"process_name": "name", "thread_name": "name", "process_labels": "labels"}
#: Times are in microseconds with three digits, so adjacent events may overlap by rounding.
ROUNDING_US = 0.002


def check(text: str) -> list[dict]:
    """Return the events of a trace; raise AssertionError if any of them is wrong."""
    events = json.loads(text, object_pairs_hook=_without_repetition)
    assert isinstance(events, list), "the array form is a list of events"
    tracks = defaultdict(list)
    names = {}
    for event in events:
        assert event.keys() >= {"name", "ph", "pid"}, event
        assert isinstance(event["name"], str), event
        assert event["name"], event
        assert type(event["pid"]) is int, event
        assert 0 <= event["pid"] < 1 << 31, event
        assert isinstance(event.get("args", {}), dict), event
        if event["ph"] == "M":
            assert event["name"] in METADATA, event
            value = event["args"][METADATA[event["name"]]]
            assert isinstance(value, str), event
            key = (event["name"], event["pid"], event.get("tid"))
            assert names.setdefault(key, value) == value, f"{key} has two names"
            assert ("tid" in event) == (event["name"] == "thread_name"), event
        else:
            assert event["ph"] == "X", f"{event} is of another kind than Cuprum writes"
            assert event.keys() == {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"}, event
            assert type(event["tid"]) is int, event
            assert 0 <= event["tid"] < 1 << 31, f"{event}: viewers keep 32 bits of a number"
            for key in ("ts", "dur"):
                assert isinstance(event[key], (int, float)), event
                assert math.isfinite(event[key]), event
                assert event[key] >= 0, event
            tracks[event["pid"], event["tid"]].append(event)
    for pid in {pid for pid, _ in tracks}:
        assert ("process_name", pid, None) in names, f"process {pid} has no name"
    for track, members in tracks.items():
        _check_nesting(track, members)
    return events


def _check_nesting(track: tuple[int, int], events: list[dict]) -> None:
    """Check that two events on a track are nested or do not overlap."""
    ends: list[float] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        end = event["ts"] + event["dur"]
        while ends and ends[-1] <= event["ts"] + ROUNDING_US:
            ends.pop()
        assert not ends or end <= ends[-1] + ROUNDING_US, f"on {track}, {event} reaches out"
        ends.append(end)


def _without_repetition(pairs: list[tuple[str, object]]) -> dict:
    result = dict(pairs)
    assert len(result) == len(pairs), f"a key is there twice: {pairs}"
    return result
