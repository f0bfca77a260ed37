# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run the files of the reference's tests, several at a time, each in its own process.

A crash or a hang loses only one test. The outcomes so far are on disk, and the process is started
again after the test in which it died. This needs nothing but pytest.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import signal
import subprocess
import time
from pathlib import Path

from reference_tests import exclusions, outcomes, plugin_names

POLL_S = 0.05
#: A job that keeps dying is abandoned after this many starts.
MAX_STARTS = 8
#: Pytest's exit status if a shard contains no tests, as with small files.
NO_TESTS = 5
#: Files are split so that no process runs longer than this and all finish at about the same time.
WANTED_JOB_S = 20.0


@dataclasses.dataclass
class Job:
    """A part of the tests of one file, or the nodes that a pattern names."""

    target: str
    file: str
    shard: int
    shard_count: int
    folder: Path
    expected_s: float
    began: float = 0.0
    starts: int = 0
    process: subprocess.Popen | None = None

    @property
    def name(self) -> str:
        """Return the job's name for file names."""
        return f"{self.target.replace('/', '.').replace('::', '.')[:120]}.{self.shard}"

    @property
    def outcome_file(self) -> Path:
        """Return the file that contains the outcomes of its tests."""
        return self.folder / f"{self.name}.jsonl"


@dataclasses.dataclass(frozen=True)
class Limits:
    """How long things may take, in seconds."""

    test_s: float
    file_s: float
    total_s: float


def plan(tests: Path, patterns: list[str], folder: Path, seconds: dict[str, float]) -> list[Job]:
    """Split the tests into jobs, longest first; `seconds` holds each file's last duration."""
    if patterns:
        return [Job(pattern, pattern.split("::")[0], 0, 1, folder, 0.0) for pattern in patterns]
    jobs = []
    for path in sorted(tests.rglob("test_*.py")):
        file = path.relative_to(tests).as_posix()
        if why := exclusions.reason_for_file(file):
            outcomes.append(folder / "left_out.jsonl", file, "deselected", why)
            continue
        expected = seconds.get(file, path.stat().st_size / 4000)
        count = max(1, math.ceil(expected / WANTED_JOB_S))
        jobs += [Job(file, file, i, count, folder, expected / count) for i in range(count)]
    return sorted(jobs, key=lambda job: -job.expected_s)


def run(
    jobs: list[Job], command: list[str], environment: dict, tests: Path, limits: Limits, count: int
) -> list[str]:
    """Run the jobs, `count` at a time; return the files that were not finished."""
    waiting = list(reversed(jobs))
    running: list[Job] = []
    began = time.monotonic()
    try:
        while waiting or running:
            if time.monotonic() - began > limits.total_s:
                break
            while waiting and len(running) < count:
                running.append(waiting.pop())
                _start(running[-1], command, environment, tests, limits)
            time.sleep(POLL_S)
            for job in list(running):
                if _is_finished(job, limits):
                    running.remove(job)
                    if _needs_restart(job):
                        waiting.append(job)
    finally:
        for job in running:
            _kill(job)
    return sorted({job.file for job in waiting + running})


# ---- helpers -------------------------------------------------------------------------------------


def _start(job: Job, command: list[str], environment: dict, tests: Path, limits: Limits) -> None:
    job.starts += 1
    job.began = time.monotonic()
    own = {
        plugin_names.OUTCOME_FILE: str(job.outcome_file),
        plugin_names.SHARD: f"{job.shard}/{job.shard_count}",
        plugin_names.TEST_TIMEOUT: str(limits.test_s),
    }
    with open(job.folder / f"{job.name}.log", "a") as output:
        job.process = subprocess.Popen(
            [*command, job.target],
            cwd=tests,
            env={**environment, **own},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # so that _kill can also end its child processes
        )


def _is_finished(job: Job, limits: Limits) -> bool:
    assert job.process is not None
    if job.process.poll() is None:
        if time.monotonic() - job.began < limits.file_s:
            return False
        _note_unfinished(job, f"the file ran past {limits.file_s:.0f} s")
        job.starts = MAX_STARTS
    _kill(job)
    return True


def _needs_restart(job: Job) -> bool:
    """Record the test in which the process died; return whether to continue after it."""
    assert job.process is not None
    status = job.process.returncode
    why = f"killed by signal {-status}" if status < 0 else "did not return in time"
    died = _note_unfinished(job, why)
    if status not in (0, NO_TESTS) and not job.outcome_file.exists():
        log = job.folder / f"{job.name}.log"
        lines = log.read_text(errors="replace").strip().splitlines() or [f"status {status}"]
        outcomes.append(job.outcome_file, job.file, "error", lines[-1])
    return died and job.starts < MAX_STARTS


def _note_unfinished(job: Job, why: str) -> bool:
    """Record a test that started but did not end as failed; return whether there is one."""
    if not job.outcome_file.exists():
        return False
    entries = outcomes.read_file(job.outcome_file)
    unfinished = [node for node, entry in entries.items() if entry.outcome == "started"]
    for node in unfinished:
        outcomes.append(job.outcome_file, node, "failed", why)
    return bool(unfinished)


def _kill(job: Job) -> None:
    """End the job's process and all its children."""
    assert job.process is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.process.pid, signal.SIGKILL)
    job.process.wait()
