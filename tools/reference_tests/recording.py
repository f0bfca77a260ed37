# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A pytest plugin that records each outcome immediately, in a file that survives the process.

If the process dies, its outcomes remain. If it is started again with the same file of outcomes, it
continues after the test that killed it. The environment names the file, the part of the tests that
this process runs, and the time limit of a test.
"""

from __future__ import annotations

import faulthandler
import json
import os
import time
from pathlib import Path

import pytest
from reference_tests.plugin_names import OUTCOME_FILE, SHARD, TEST_TIMEOUT

PASSED, FAILED, SKIPPED, STARTED = "passed", "failed", "skipped", "started"

_details: dict[str, tuple[str, str]] = {}
_began: dict[str, float] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests of other shards, and tests that already ran."""
    index, count = map(int, os.environ.get(SHARD, "0/1").split("/"))
    done = _read_done()
    items[:] = [
        item
        for position, item in enumerate(items)
        if position % count == index and item.nodeid not in done
    ]


def pytest_runtest_logstart(nodeid: str) -> None:
    """Record the test that runs, and end the process if the test does not return in time."""
    write_outcome(nodeid, STARTED, "")
    _began[nodeid] = time.monotonic()
    if limit := float(os.environ.get(TEST_TIMEOUT, "0")):
        faulthandler.dump_traceback_later(limit, exit=True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the phase that decides: the first that failed, or the call."""
    before = _details.get(report.nodeid, ("", ""))[0]
    if before == FAILED or (report.when != "call" and report.outcome == PASSED):
        return
    detail = ""
    if report.outcome == FAILED:
        detail = _reason_of(report)
    elif report.outcome == SKIPPED and isinstance(report.longrepr, tuple):
        detail = report.longrepr[2]
    _details[report.nodeid] = (report.outcome, detail)


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Record how the test ended."""
    faulthandler.cancel_dump_traceback_later()
    outcome, detail = _details.pop(nodeid, (FAILED, "no phase of it was reported"))
    write_outcome(nodeid, outcome, detail)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Record a file that could not be collected, or that is skipped as a whole."""
    if report.failed:
        write_outcome(report.nodeid, "error", _reason_of(report))
    elif report.skipped and isinstance(report.longrepr, tuple):
        write_outcome(report.nodeid, SKIPPED, report.longrepr[2])


def write_outcome(node: str, outcome: str, detail: str) -> None:
    """Append one line to the file of outcomes; short writes with O_APPEND are atomic."""
    seconds = time.monotonic() - _began.get(node, time.monotonic())
    line = json.dumps([node, outcome, detail[:400], round(seconds, 3)]) + "\n"
    descriptor = os.open(os.environ[OUTCOME_FILE], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def _reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the message of the exception, or the last line of the report."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr or "").strip()
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    return " ".join(lines[0].split()) if crash is not None else lines[-1]


def _read_done() -> set[str]:
    """Return the tests that an earlier process with this file of outcomes started."""
    file = Path(os.environ[OUTCOME_FILE])
    lines = file.read_text().splitlines() if file.exists() else []
    return {json.loads(line)[0] for line in lines}
