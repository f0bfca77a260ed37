# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""tools/reference-tests, on a small suite of our own."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import cuprum

TOOLS = Path(__file__).parents[3] / "tools"
PACKAGE = Path(cuprum.__file__).parent.parent
if not (TOOLS / "reference-tests").is_file():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)
sys.path.insert(0, str(TOOLS))

from reference_tests import exclusions, outcomes, write_page  # noqa: E402

# One test for each possible outcome.
SUITE = """
    import os, time
    import pytest
    from cuda.core import Device

    def test_passes(): assert hasattr(Device, "is_emulated")
    def test_fails(): assert Device is None, "as it should"
    def test_skips(): pytest.skip("not today")
    def test_dies(): os.abort()
    def test_hangs(): time.sleep(60)
    def test_uses_what_is_not_there():
        from cuda.core._no_such_module import no_such_name
        no_such_name()
    @pytest.mark.parametrize("row", ["one", "two"])
    def test_rows(row): pass
    def test_behind(): pass
"""


@pytest.fixture
def suite(tmp_path):
    tests = tmp_path / "suite" / "cuda_core" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_ends.py").write_text(textwrap.dedent(SUITE))
    (tests / "test_other.py").write_text("def test_passes(): pass\n")
    (tests / "test_broken.py").write_text("import no_such_package\n")
    (tests / "test_rlcompleter_patch.py").write_text(
        "raise SystemExit('left out, so never imported')\n"
    )
    return tmp_path / "suite"


def command(suite, tmp_path, *arguments):
    return [
        *(sys.executable, TOOLS / "reference-tests", "--suite", suite, "--device", "gpu"),
        *("--package", PACKAGE, "--results", tmp_path / "results", "--workers", "2", *arguments),
    ]


def environment():
    # These tests need no device. Keep the environment, so that they use the same one as other
    # tests.
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def test_every_end_is_counted_and_explained(suite, tmp_path):
    result = subprocess.run(
        command(suite, tmp_path, "--test-timeout", "3", "-v"),
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert result.returncode == 0, result.stderr
    rows = {line.split()[0]: line.split()[1:5] for line in result.stdout.splitlines() if line}
    assert rows["test_ends.py"] == ["4", "4", "1", "0"], result.stdout
    assert rows["test_other.py"] == ["1", "0", "0", "0"]
    assert rows["test_broken.py"] == ["0", "1", "0", "0"]
    assert rows["test_rlcompleter_patch.py"] == ["0", "0", "0", "1"]
    assert rows["all"] == ["5", "5", "1", "1"]
    for line in (
        "test_fails: AssertionError: as it should",
        f"test_dies: killed by signal {signal.SIGABRT}",
        "test_hangs: did not return in time",
        "cuda.core._no_such_module.no_such_name is not there",
        "test_broken.py: ",
        "1: patches the interpreter's completion",
    ):
        assert line in result.stdout


def test_a_run_that_is_cut_off_shows_what_it_has(suite, tmp_path):
    (suite / "cuda_core" / "tests" / "test_other.py").unlink()
    process = subprocess.Popen(
        command(suite, tmp_path, "test_ends.py"),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    begin = time.monotonic()
    while time.monotonic() - begin < 60 and "test_hangs" not in " ".join(
        file.read_text() for file in (tmp_path / "results").glob("*.jsonl")
    ):
        time.sleep(0.1)
    process.terminate()
    output, _ = process.communicate(timeout=30)
    assert "CUT OFF" in output
    rows = {line.split()[0]: line.split()[1:5] for line in output.splitlines() if line}
    assert rows["all"][0] == "1", output
    shown = subprocess.run(
        [sys.executable, TOOLS / "reference-tests", "--report", tmp_path / "results"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert rows["all"] == [
        *next(line.split()[1:5] for line in shown.stdout.splitlines() if line.startswith("all"))
    ]


def test_a_pattern_names_files_tests_and_rows(tmp_path):
    file = tmp_path / "list.txt"
    file.write_text("# words\n## first\na.py*\n## second\nb.py::test_x\nb.py::test_y[*graph*\n")
    assert exclusions.reason_for("a.py::test", file) == "first"
    assert exclusions.reason_for("b.py::test_x", file) == "second"
    assert exclusions.reason_for("b.py::test_x[row]", file) == "second"
    assert exclusions.reason_for("b.py::test_y[a-graph-b]", file) == "second"
    assert exclusions.reason_for("b.py::test_y[a-b]", file) == ""
    assert exclusions.reason_for("b.py::test_y", file) == ""


def test_the_difference_to_a_recorded_run_is_told(tmp_path):
    old = {"a::1": outcomes.Entry("failed", "why", 1.0), "a::2": outcomes.Entry("passed", "", 1.0)}
    new = {"a::1": outcomes.Entry("passed", "", 1.0), "a::2": outcomes.Entry("failed", "so", 1.0)}
    recorded = tmp_path / "recorded.json"
    outcomes.record(old, recorded, {"seconds": 2, "workers": 1})
    assert outcomes.read_times(recorded) == {"a": 2.0}
    told = outcomes.compare(new, recorded)
    assert "1 new failures, 1 cured" in told
    assert "new: a::2: so" in told
    assert "cured: a::1" in told


@pytest.mark.parametrize(
    "file", sorted((TOOLS / "reference_tests").glob("recorded_*.json")), ids=str
)
def test_recorded_failures_have_a_reason(file):
    if "original" in file.name:
        assert json.loads(file.read_text())["files"]
    else:
        assert write_page.unexplained(file) == []


def test_the_page_shows_the_recorded_runs():
    page = write_page.PAGE.read_text()
    section = page.partition(write_page.BEGIN)[2].partition(write_page.END)[0]
    assert section.strip() == write_page.render().strip()
