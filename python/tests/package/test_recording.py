# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""tools/record-corpus goes on after an error that only a new process recovers from."""

import os
import sys
from pathlib import Path

import pytest

COMPARE = Path(__file__).resolve().parents[3] / "emulator" / "tests" / "compare"
sys.path.insert(0, str(COMPARE))

from tensors import DeviceLostError, run_tensors_apart  # noqa: E402

NAMES = ("first", "broken", "second", "crash", "third")


def run_some(driver, starts, done):
    """Yield results like a GPU that is lost after `broken` and whose driver crashes at `crash`."""
    for name in NAMES:
        if name in done:
            continue
        if name == "crash":
            yield name, "error 1"
            os._exit(1)
        yield name, f"{driver} {starts} {os.getpid()}"
        if name == "broken":
            raise DeviceLostError(name)


def run_nothing(driver, starts, done):
    raise DeviceLostError(driver)
    yield


def test_a_new_process_goes_on_after_the_device_is_lost(capfd):
    outcomes = dict(run_tensors_apart("driver", ["a"], set(), run_some))
    assert tuple(outcomes) == NAMES
    processes = [outcomes[name].split()[-1] for name in ("first", "broken", "second", "third")]
    assert processes[0] == processes[1]
    assert len({*processes, str(os.getpid())}) == 4
    assert "does not recover from 'broken': a new process goes on" in capfd.readouterr().out


def test_copies_that_are_done_do_not_run_again():
    assert [name for name, _ in run_tensors_apart("driver", [], {*NAMES[:4]}, run_some)] == [
        "third"
    ]


def test_a_device_that_is_lost_at_once_is_an_error():
    with pytest.raises(DeviceLostError, match="ended with 0"):
        list(run_tensors_apart("driver", [], set(), run_nothing))
