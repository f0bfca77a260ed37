# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Traces follow the format that browsers and Perfetto read."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import trace_format

from cuprum import trace

EXAMPLES = Path(__file__).parents[3] / "examples" / "python"
CALL = {"name": "a", "cat": "driver", "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 5, "args": {}}
PROCESS = {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "host"}}


@pytest.mark.parametrize("example", ["00_demo", "02_streams_and_events", "07_host_function"])
def test_traces_of_the_examples_are_valid(example, tmp_path):
    script = EXAMPLES / f"{example}.py"
    if not script.is_file():
        pytest.skip("the examples are not beside the tests")
    path = tmp_path / "trace.json"
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "CUPRUM_TRACE": str(path), "PYTHONPATH": paths}
    subprocess.run([sys.executable, script], check=True, env=environment, capture_output=True)
    events = trace_format.check(path.read_text())
    categories = {event.get("cat") for event in events}
    assert categories >= {"driver", "copy" if example != "07_host_function" else "driver"}
    assert any(event["name"] == "process_labels" for event in events)


def test_a_trace_of_threads_streams_and_ranges_is_valid(device, tmp_path):
    path = tmp_path / "trace.json"

    streams = [device.create_stream() for _ in range(4)]  # all alive, so that no handle is reused

    def work(number):
        stream = streams[number]
        with trace.range(f'outer "{number}"\n\\'), trace.range("inner"):
            buffer = device.allocate(1 << 16, stream=stream)
            for _ in range(5):
                buffer.fill(number, stream=stream)
            stream.sync()
            buffer.close(stream)

    with trace.record(path):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    events = trace_format.check(path.read_text())
    fills = [event for event in events if event.get("cat") == "copy"]
    assert len(fills) == 20
    assert len({(event["pid"], event["tid"]) for event in fills}) == 4, "a line for each stream"
    assert {event["name"] for event in events if event.get("cat") == "range"} == {
        "inner",
        *(f'outer "{number}"\n\\' for number in range(4)),
    }


@pytest.mark.parametrize(
    "events",
    [
        {"traceEvents": []},
        [CALL],  # a process without a name
        [PROCESS, {**CALL, "ts": -1}],
        [PROCESS, {**CALL, "dur": float("nan")}],
        [PROCESS, {**CALL, "tid": "1"}],
        [PROCESS, {**CALL, "tid": 0x200010000020}],
        [PROCESS, {**CALL, "ph": "B"}],
        [PROCESS, {key: value for key, value in CALL.items() if key != "dur"}],
        [PROCESS, CALL, {**CALL, "ts": 3, "dur": 9}],  # overlaps but is not nested
        [PROCESS, {**PROCESS, "args": {"name": "other"}}],
        [PROCESS, {"name": "end", "ph": "M", "pid": 0}],
    ],
)
def test_what_is_not_valid_is_found(events):
    with pytest.raises((AssertionError, KeyError)):
        trace_format.check(json.dumps(events))
