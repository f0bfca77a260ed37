# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run the tests of a library, several at a time, each job in its own process with a time limit.

A crash or a hang ends one job, or one test of a pytest job, and not the run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from reference_tests import outcomes, plugin_names

TOOLS = Path(__file__).resolve().parent.parent
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
TIMED_OUT = "did not end in time"
#: A pytest job that keeps dying is abandoned after this many starts.
MAX_STARTS = 30


class Outcome(NamedTuple):
    """How one test ended, and why, if it did not pass."""

    name: str
    outcome: str
    cause: str = ""
    seconds: float = 0.0


#: Turns the exit status and the output of a job into outcomes.
Judge = Callable[["Job", int, str], list[Outcome]]


def by_status(job: Job, status: int, output: str) -> list[Outcome]:
    """Judge a program by its exit status; the cause is its last line of output."""
    if status == 0:
        return [Outcome(job.name, PASSED)]
    return [Outcome(job.name, FAILED, f"{name_of_status(status)}: {last_line(output)}")]


@dataclasses.dataclass
class Job:
    """A command that runs one test or many.

    Parameters
    ----------
    name : str
        The name in the table; unique for the library.
    command : sequence of str or Path
    folder : Path
        The working directory.
    environment : mapping
        Variables in addition to those of this process.
    timeout_s : float
        The limit of the command. For pytest jobs the limit of one test.
    judge : callable
        ``judge(job, status, output)`` returns the outcomes.
    emulated : bool
        Whether to start the command by ``cuprum-emulator run``.
    """

    name: str
    command: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    timeout_s: float = 300.0
    judge: Judge = by_status
    emulated: bool = True
    expected_s: float = 0.0


@dataclasses.dataclass
class PytestJob(Job):
    """A part of a pytest suite. Each test has a time limit; a crash costs one test."""

    job_timeout_s: float = 1800.0
    shard: str = "0/1"


def pytest_job(
    python: Path, tests: Path, target: str, options: Sequence[str] = (), **fields: object
) -> PytestJob:
    """Return a job for one file, or one test, of a pytest suite in the folder `tests`."""
    command = [
        *(python, "-m", "pytest", "-p", "reference_tests.recording", "-q", "--tb=short", "-rN"),
        *("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:rerunfailures"),
        *options,
        target,
    ]
    return PytestJob(target, command, tests, **fields)  # type: ignore[arg-type]


class Runner:
    """Runs jobs and keeps the results in a folder."""

    def __init__(self, folder: Path, emulator: Path, workers: int, limit_s: float) -> None:
        self.folder = folder
        self.command = emulator / "bin" / "cuprum-emulator"
        self.workers = workers
        self.end = time.monotonic() + limit_s
        self.unfinished: list[str] = []
        self._running: set[subprocess.Popen] = set()
        self._lock = threading.Lock()
        self._ended = False

    def run(self, jobs: list[Job], show: Callable[[list[Outcome]], None]) -> list[Outcome]:
        """Run all jobs, longest first; call `show` with the outcomes of each when it ends."""
        results: list[Outcome] = []

        def run_one(job: Job) -> None:
            if self._ended or time.monotonic() > self.end:
                self.unfinished.append(job.name)
                return
            found = self._run_pytest(job) if isinstance(job, PytestJob) else self._run_program(job)
            with self._lock:
                results.extend(found)
                show(found)

        with ThreadPoolExecutor(self.workers) as pool:
            try:
                list(pool.map(run_one, sorted(jobs, key=lambda job: -job.expected_s)))
            except BaseException:
                self._ended = True
                for process in list(self._running):
                    _kill(process)
                raise
        return results

    def _run_program(self, job: Job) -> list[Outcome]:
        began = time.monotonic()
        log = self._file(job, "log")
        log.unlink(missing_ok=True)
        status = self._start(job, log, {}, job.timeout_s)
        seconds = time.monotonic() - began
        if status is None:
            return [Outcome(job.name, FAILED, f"{TIMED_OUT} ({job.timeout_s:.0f} s)", seconds)]
        found = job.judge(job, status, log.read_text(errors="replace"))
        return [each._replace(seconds=each.seconds or seconds / len(found)) for each in found]

    def _run_pytest(self, job: PytestJob) -> list[Outcome]:
        file, log = self._file(job, "jsonl"), self._file(job, "log")
        file.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        environment = {
            plugin_names.OUTCOME_FILE: str(file),
            plugin_names.SHARD: job.shard,
            plugin_names.TEST_TIMEOUT: str(job.timeout_s),
            "PYTHONPATH": os.pathsep.join(
                filter(None, [job.environment.get("PYTHONPATH", ""), str(TOOLS)])
            ),
        }
        end = time.monotonic() + job.job_timeout_s
        for _ in range(MAX_STARTS):
            status = self._start(job, log, environment, end - time.monotonic())
            entries = outcomes.read_file(file) if file.exists() else {}
            started = [node for node, entry in entries.items() if entry.outcome == "started"]
            why = TIMED_OUT if status is None else name_of_status(status)
            # The file was written last when the test began.
            if started and status == 1 and time.time() - file.stat().st_mtime > job.timeout_s * 0.9:
                why = f"{TIMED_OUT} ({job.timeout_s:.0f} s)"
            for node in started:
                outcomes.append(file, node, FAILED, why)
            if not started or status is None or self._ended:
                break
        if not file.exists() and status not in (0, 5):
            outcomes.append(file, job.name, FAILED, f"{why}: {last_line(log.read_text())}")
        entries = outcomes.read_file(file) if file.exists() else {}
        return [
            Outcome(node, FAILED if entry.outcome == "error" else entry.outcome, *entry[1:])
            for node, entry in entries.items()
        ]

    def _start(self, job: Job, log: Path, more: Mapping[str, str], limit: float) -> int | None:
        """Run the command of a job once; return its status, or None after the time limit."""
        command = [str(each) for each in job.command]
        if job.emulated:
            command = [str(self.command), "run", *command]
        with open(log, "ab") as output:
            process = subprocess.Popen(
                command,
                cwd=job.folder,
                env={**os.environ, **job.environment, **more},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # so that _kill also ends its children
            )
        self._running.add(process)
        try:
            return process.wait(max(0.0, min(limit, self.end - time.monotonic())))
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill(process)
            self._running.discard(process)

    def _file(self, job: Job, suffix: str) -> Path:
        shard = getattr(job, "shard", "0/1")
        part = "" if shard == "0/1" else "." + shard.replace("/", "of")
        return self.folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '.', job.name)[:150]}{part}.{suffix}"


def name_of_status(status: int) -> str:
    """Return a text for an exit status: a number, or the signal."""
    if status >= 0:
        return f"status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def last_line(text: str) -> str:
    """Return the last line that is not empty."""
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(lines[-1].split())[:300] if lines else "no output"


# ---- helpers -------------------------------------------------------------------------------------


def _kill(process: subprocess.Popen) -> None:
    """End a process and its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
