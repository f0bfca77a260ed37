# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""tools/third-party, on a small library of our own and without a network."""

import argparse
import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

TOOLS = Path(__file__).parents[3] / "tools"
if not (TOOLS / "third-party").is_file():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)
sys.path.insert(0, str(TOOLS))

from third_party import jobs, library, report  # noqa: E402
from third_party.jobs import Job, Outcome  # noqa: E402

# One test for each possible outcome.
SUITE = """
    import os, signal, time
    import pytest

    def test_passes(): pass
    def test_fails(): assert 1 == 2, "as it should"
    def test_skips(): pytest.skip("not today")
    def test_dies(): os.kill(os.getpid(), signal.SIGKILL)
    def test_hangs(): time.sleep(60)
    def test_behind(): pass
"""
LIBRARY = SimpleNamespace(
    TITLE="A library", VERSION="1.0", PART="all", SOURCE="", CAUSES=[("killed by", "it crashes")]
)


@pytest.fixture
def runner(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return jobs.Runner(folder, tmp_path, workers=2, limit_s=60.0)


def run(runner, *planned):
    shown = []
    found = runner.run(list(planned), shown.extend)
    assert sorted(shown) == sorted(found)
    return {each.name: each for each in found}


def shell(tmp_path, name, script, **fields):
    return Job(name, ["sh", "-c", script], tmp_path, emulated=False, **fields)


def test_a_crash_and_a_hang_cost_one_test_each(runner, tmp_path):
    (tmp_path / "test_ends.py").write_text(textwrap.dedent(SUITE))
    (tmp_path / "test_broken.py").write_text("import no_such_package\n")
    planned = [
        jobs.pytest_job(Path(sys.executable), tmp_path, name, timeout_s=12.0, emulated=False)
        for name in ("test_ends.py", "test_broken.py")
    ]
    found = run(runner, *planned)
    outcomes = {name.partition("::")[2]: each.outcome for name, each in found.items()}
    assert outcomes == {
        "": "failed",
        "test_passes": "passed",
        "test_fails": "failed",
        "test_skips": "skipped",
        "test_dies": "failed",
        "test_hangs": "failed",
        "test_behind": "passed",
    }
    assert "no_such_package" in found["test_broken.py"].cause
    assert found["test_ends.py::test_fails"].cause == "AssertionError: as it should"
    assert found["test_ends.py::test_dies"].cause == "killed by SIGKILL"
    assert found["test_ends.py::test_hangs"].cause == "did not end in time (12 s)"


def test_the_parts_of_a_file_are_all_run_once(runner, tmp_path):
    (tmp_path / "test_many.py").write_text(
        "import pytest\n@pytest.mark.parametrize('i', range(7))\ndef test_i(i): pass\n"
    )
    planned = []
    for shard in range(3):
        job = jobs.pytest_job(Path(sys.executable), tmp_path, "test_many.py", emulated=False)
        job.shard = f"{shard}/3"
        planned.append(job)
    found = runner.run(planned, lambda _: None)
    assert sorted(each.name for each in found) == [f"test_many.py::test_i[{i}]" for i in range(7)]


def test_programs_are_judged_by_status_output_and_time(runner, tmp_path):
    def judge(job, status, output):
        assert status == 0
        return [Outcome(f"{job.name}/{word}", "passed") for word in output.split()]

    found = run(
        runner,
        shell(tmp_path, "good", "exit 0"),
        shell(tmp_path, "bad", "echo first; echo 'the   reason'; exit 3"),
        shell(tmp_path, "dead", "kill -9 $$"),
        shell(tmp_path, "slow", "sleep 60 & sleep 60", timeout_s=0.5),
        shell(tmp_path, "many", "echo one two", judge=judge),
        shell(tmp_path, "variable", 'test "$OWN" = 1', environment={"OWN": "1"}),
    )
    assert {name: each.cause for name, each in found.items()} == {
        "good": "",
        "bad": "status 3: the reason",
        "dead": "killed by SIGKILL: no output",
        "slow": "did not end in time (0 s)",
        "many/one": "",
        "many/two": "",
        "variable": "",
    }
    assert [name for name, each in found.items() if each.outcome == "failed"] != []


def test_a_run_without_time_says_what_is_missing(tmp_path):
    runner = jobs.Runner(tmp_path, tmp_path, workers=1, limit_s=0.0)
    assert runner.run([shell(tmp_path, "late", "exit 0")], lambda _: None) == []
    assert runner.unfinished == ["late"]


def test_the_page_shows_what_was_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "RECORDED", tmp_path)
    results = [
        Outcome("a.py::one", "passed", "", 1.0),
        Outcome("a.py::two", "skipped", "Skipped: no such device", 0.5),
        Outcome("a.py::three[x]", "failed", "killed by SIGSEGV", 2.0),
        Outcome("a.py::three[y]", "failed", "killed by SIGSEGV", 2.0),
        Outcome("b.py::four", "failed", "1 < 2 | 3", 2.0),
    ]
    facts = {"seconds": 7, "workers": 2, "unfinished": []}
    summary = report.summarise(LIBRARY, results, facts)
    assert "no recorded run" in report.compare("own", summary)
    report.record("own", summary)
    assert json.loads((tmp_path / "own.json").read_text()) == summary
    assert summary["skips"] == {"no such device": 1}
    assert summary["file_seconds"] == {"a.py": 5.5, "b.py": 2.0}
    assert "0 new failures" in report.compare("own", summary)
    assert "failed: a.py::three[x]: it crashes" in report.format_failures(summary)
    assert report.format_table({"own": summary}).split()[-5:] == ["own", "1", "3", "1", "7"]
    later = report.summarise(LIBRARY, [Outcome("b.py::four", "passed", "", 4.0)], facts)
    merged = report.merge("own", later)
    assert (merged["passed"], merged["failed"], merged["skipped"]) == (2, 2, 1)
    assert list(merged["failures"]) == ["a.py::three[x]", "a.py::three[y]"]
    assert merged["file_seconds"] == {"a.py": 5.5, "b.py": 4.0}
    with pytest.raises(ValueError, match=r"record a whole run of 1\.0 first"):
        report.merge("not-run", later)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.write_page(page, report.render())
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| A library, 1.0 | all | 1 | 3 | 1 | 7 |" in text
    assert "| `a.py::three` (2 rows) | it crashes |" in text
    assert "| `b.py::four` | 1 &lt; 2 \\| 3 |" in text
    assert "old" not in text
    page.write_text("no marks")
    with pytest.raises(ValueError, match="does not contain the lines"):
        report.write_page(page, report.render())


def test_runs_with_the_drop_in_are_compared_test_by_test(tmp_path, monkeypatch):
    original = {"a": "passed", "b": "passed", "c": "failed", "d": "skipped", "e": "passed"}
    ours = {"a": "passed", "b": "failed", "c": "passed", "d": "failed"}
    assert report.worse(original, ours) == {"b": "failed", "e": "not run"}
    monkeypatch.setattr(report, "RECORDED", tmp_path)
    run = report.summarise(LIBRARY, [Outcome("b", "failed", "x"), Outcome("a", "passed")], {})
    run |= {"cpu_seconds": 6, "worse": {"b": "failed"}}
    run["original"] = {"passed": 1300, "failed": 0, "skipped": 2, "cpu_seconds": 7}
    report.record("drop_in/own", run)
    assert report.render_drop_in().splitlines()[2:] == [
        "| A library, 1.0 | all | 1,300 / 0 / 2 | 1 / 1 / 0 | 1 | 7 → 6 |",
        "",
        "- A library: `b` failed with the drop-in.",
    ]
    assert "A library" not in report.render()


@pytest.fixture
def tool():
    loader = importlib.machinery.SourceFileLoader("third_party_tool", str(TOOLS / "third-party"))
    spec = importlib.util.spec_from_loader("third_party_tool", loader)
    tool = importlib.util.module_from_spec(spec)
    loader.exec_module(tool)
    return tool


def test_a_sample_has_the_same_jobs_each_time_and_says_so(tool, tmp_path, monkeypatch):
    own = SimpleNamespace(**vars(LIBRARY), install=lambda place: None)
    own.tests = lambda place: [
        Job(f"job {n}", ["true"], tmp_path, emulated=False) for n in range(9)
    ]
    monkeypatch.setattr(library, "load", lambda name: own)
    monkeypatch.setattr(library, "names", lambda: ["own"])
    monkeypatch.setattr(report, "RECORDED", tmp_path / "recorded")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cuprum-emulator").touch()
    options = ["tool", "own", "--emulator", str(tmp_path), "--folder", str(tmp_path)]
    runs = []
    for more in (
        *([], ["--sample", "4"], ["--sample", "4"], ["--sample", "10"]),
        *(["--one-in", "3"], ["--tests", "job [0-2]"]),
    ):
        monkeypatch.setattr(sys, "argv", [*options, *more])
        runs.append(tool.run("own", tool.parse_arguments()))
    # These jobs have no tests that --one-in could leave out.
    assert [run["passed"] for run in runs] == [9, 4, 4, 9, 9, 3]
    assert runs[1]["files"] == runs[2]["files"]
    assert [run["part"] for run in runs[:2]] == ["all", "all; 4 of 9 jobs, drawn at random"]
    assert runs[4]["part"] == "all; one test in 3"
    assert runs[5]["part"] == "all; jobs that match `job [0-2]`"
    assert all(run["cpu_seconds"] >= 0 for run in runs)


def test_a_job_with_the_drop_in_starts_the_same_program(tool, tmp_path):
    job = Job("one", ["python", "-m", "pytest"], tmp_path, {"PYTHONPATH": "/own", "A": "b"})
    made = tool.on_drop_in(job, argparse.Namespace(python=tmp_path))
    assert made.command == ["python", "-m", "cuprum.drop_in", "-m", "pytest"]
    assert made.environment == {"PYTHONPATH": f"{tmp_path}:/own", "A": "b"}


def test_every_library_of_the_table_is_complete():
    for name in library.names():
        module = library.load(name)
        assert module.TITLE
        assert module.VERSION
        assert module.PART
        assert isinstance(module.SOURCE, str)
        for pattern, cause in module.CAUSES:
            assert library.cause_of(module, pattern, "") or cause
        assert callable(module.install)
        assert callable(module.tests)


def test_an_installation_that_fails_says_why(tmp_path):
    place = library.Place(tmp_path / "own", tmp_path)
    with pytest.raises(library.InstallationError, match=r"status 4(.|\n)*the reason"):
        place.run(["sh", "-c", "echo the reason; exit 4"], log="install")
    with pytest.raises(library.InstallationError, match="needs --source"):
        place.checkout("file")
    place = library.Place(tmp_path, tmp_path, source=tmp_path)
    with pytest.raises(library.InstallationError, match="does not contain no/such/file"):
        place.checkout("no/such/file")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-library"], "no-such-library is not one of"),
        (["--source", "numba"], "write NAME=FOLDER"),
        (["--source", "numba=/no/such/folder"], "/no/such/folder is not a folder"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments, message):
    result = subprocess.run(
        [sys.executable, TOOLS / "third-party", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert message in result.stderr


def test_the_list_names_what_a_library_needs():
    result = subprocess.run(
        [sys.executable, TOOLS / "third-party", "--list"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "numba: Numba numba-cuda" in result.stdout
    assert "cuda-core" in result.stdout
    assert "needs --source cuda-core=FOLDER: a checkout of NVIDIA/cuda-python" in result.stdout
