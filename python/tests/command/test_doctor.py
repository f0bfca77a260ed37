# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""cuprum doctor: it finds problems that the tests make, and names the way out of each."""

import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import cuprum
from cuprum import _cuprum
from cuprum._command import FAILURE, SUCCESS, doctor, main
from cuprum._command import run as run_command

VARIABLES = Path(__file__).parents[3] / "docs/environment_variables.md"


# Runs the command as on a machine without CUDA's compilers.
WITHOUT_COMPILERS = """
import sys
from cuprum import _cuprum
from cuprum._command import main
_cuprum.compiler_libraries = list
sys.exit(main(sys.argv[1:]))
"""


def run(*, program=("-m", "cuprum"), **environment):
    """Return the status of the command, and its findings by check."""
    result = subprocess.run(
        [sys.executable, *program, "doctor", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )
    assert "Traceback" not in result.stderr, result.stderr
    report = json.loads(result.stdout)
    assert set(report) == {"healthy", "findings"}
    findings = {}
    for finding in report["findings"]:
        assert set(finding) == {"check", "status", "text", "advice"}
        assert finding["status"] in ("ok", "warning", "problem")
        assert finding["text"]
        if finding["status"] != "ok":
            assert finding["advice"], f"no way out: {finding}"
        findings.setdefault(finding["check"], []).append(finding)
    assert report["healthy"] == (result.returncode == SUCCESS)
    return result.returncode, findings


def test_a_machine_on_which_programs_run_is_healthy(capsys):
    assert main(["doctor"]) == SUCCESS
    text = capsys.readouterr().out
    assert "nothing here would stop a program" in text
    assert re.search(r"^ok +kernel +compiled and run, the result is right$", text, re.MULTILINE)


def test_a_driver_that_is_not_there_is_a_problem():
    status, findings = run(CUPRUM_DRIVER="/nowhere/libcuda.so.1")
    assert status == FAILURE
    assert findings["driver"][0]["status"] == "problem"
    assert "/nowhere/libcuda.so.1" in findings["driver"][0]["text"]


def test_a_wrong_setting_of_the_emulated_device_is_a_problem():
    status, findings = run(CUPRUM_DRIVER="emulated", CUPRUM_EMULATOR_DEVICES="many")
    assert status == FAILURE
    assert findings["driver"][0]["status"] == "problem"


def test_compilers_that_are_not_there_are_noticed(monkeypatch, capsys):
    missing = [
        types.SimpleNamespace(
            name=name,
            path="",
            version="",
            problem=f"cannot load {name}; tried:\na file",
        )
        for name in ("NVRTC", "nvJitLink", "NVVM")
    ]
    monkeypatch.setattr(_cuprum, "compiler_libraries", lambda: missing)
    assert main(["doctor", "--json"]) == SUCCESS, "PTX loads without a compiler"
    findings = {each["check"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["NVRTC"]["status"] == "warning"
    assert findings["NVRTC"]["text"].startswith("cannot load NVRTC\nCUDA C++ does not compile; PTX")
    assert "cuprum[cuda13]" in findings["NVRTC"]["advice"]
    assert findings["kernel"]["text"] == "PTX was loaded and run, the result is right"
    assert "headers" not in findings, "only a compiler reads them"
    assert findings["nvJitLink"]["status"] == "warning", "only linking needs it"
    assert "nvidia-nvvm" in findings["NVVM"]["advice"]


@pytest.mark.skipif(
    run_command.find_command() is None, reason="the emulated device is not part of this build"
)
@pytest.mark.parametrize("capability", ["7.0", "7.5", "9.0", "12.0"])
def test_without_a_compiler_ptx_runs_on_old_and_new_devices(capability):
    status, findings = run(
        program=("-c", WITHOUT_COMPILERS),
        CUPRUM_DRIVER="emulated",
        CUPRUM_EMULATOR_COMPUTE_CAPABILITY=capability,
    )
    assert findings["kernel"] == [
        {
            "check": "kernel",
            "status": "ok",
            "text": "PTX was loaded and run, the result is right",
            "advice": "",
        }
    ]
    assert status == SUCCESS


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("/nowhere/libnvrtc.so.13", "but there is no such file"),
        ("libnvrtc.so.13", "which is ignored: it is not an absolute path"),
        ("/" + 300 * "a", "but there is no such file"),
    ],
    ids=["missing", "relative", "too long"],
)
def test_a_variable_that_names_no_usable_file_is_noticed(file, problem):
    _, findings = run(CUPRUM_NVRTC=file)
    [finding] = [each for each in findings["settings"] if "CUPRUM_NVRTC" in each["text"]]
    assert finding["status"] == "warning"
    assert finding["text"] == f"CUPRUM_NVRTC is '{file}', {problem}"


def test_a_misspelt_variable_is_named_with_the_right_one():
    status, findings = run(CUPRUM_EMULATOR_DEVICE="2")
    assert status == SUCCESS, "a warning is no problem"
    named = "CUPRUM_EMULATOR_DEVICE "
    [finding] = [each for each in findings["settings"] if named in each["text"]]
    assert finding["status"] == "warning"
    assert finding["advice"] == "did you mean CUPRUM_EMULATOR_DEVICES?"


def test_the_toolkits_stub_on_the_search_path_is_a_problem(tmp_path):
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    (stubs / "libcuda.so.1").touch()
    # Appended, so that the loader finds everything else first.
    path = os.pathsep.join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), str(stubs)]))
    status, findings = run(LD_LIBRARY_PATH=path)
    assert status == FAILURE
    [finding] = [each for each in findings["settings"] if each["status"] == "problem"]
    assert str(stubs) in finding["text"]


def test_hidden_gpus_are_noticed():
    _, findings = run(CUDA_VISIBLE_DEVICES="-1")
    assert any("CUDA_VISIBLE_DEVICES" in each["text"] for each in findings["settings"])


@pytest.mark.skipif(
    run_command.find_command() is None, reason="the emulated device is not part of this build"
)
def test_little_memory_is_noticed():
    _, findings = run(CUPRUM_DRIVER="emulated", CUPRUM_EMULATOR_MEMORY="32M")
    assert findings["memory"][0]["status"] == "warning"
    assert "CUPRUM_EMULATOR_MEMORY" in findings["memory"][0]["advice"]


def test_a_cache_that_cannot_be_used_is_noticed(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    status, findings = run(CUPRUM_CACHE_DIR=str(folder))
    assert findings["cache"][0]["status"] == "warning"
    assert "CUPRUM_CACHE_DIR" in findings["cache"][0]["advice"]
    assert status == SUCCESS


def test_a_machine_without_a_gpu_is_told_how_to_choose():
    _, findings = run(CUPRUM_DRIVER="")
    if findings["driver"][0]["status"] == "ok":
        pytest.skip("there is a GPU")
    assert "no GPU can be used" in findings["driver"][0]["text"]
    assert "CUPRUM_DRIVER=emulated" in findings["driver"][0]["advice"]


def test_all_variables_of_the_page_are_known():
    names = re.compile(r"\bCUPRUM_[A-Z_0-9]*[A-Z0-9]\b")
    assert set(names.findall(VARIABLES.read_text())) <= set(doctor._VARIABLES)
    pages = "".join(page.read_text() for page in VARIABLES.parent.rglob("*.md"))
    assert set(doctor._VARIABLES) <= set(names.findall(pages)), "not described anywhere"


def test_an_empty_variable_counts_as_unset():
    names = re.findall(r"`(CUPRUM_[A-Z_0-9]+)`", VARIABLES.read_text())
    # The tests set some to choose the driver and its devices.
    empty = dict.fromkeys(set(names) - os.environ.keys(), "")
    assert len(empty) > 20
    (status, found), (expected_status, expected) = run(**empty), run()
    found.pop("memory")  # its default depends on what the machine has left
    expected.pop("memory")
    assert (status, found) == (expected_status, expected)


def test_a_check_that_fails_itself_is_a_finding(monkeypatch, capsys):
    def broken(_):
        raise RuntimeError("the check broke\nlook here")
        yield

    monkeypatch.setattr(doctor, "_CHECKS", {"settings": broken})
    assert main(["doctor"]) == FAILURE
    text = capsys.readouterr().out
    assert "FAIL  settings  the check broke" in text
    assert "-> look here" in text
    assert "1 problem would stop a program" in text


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (None, "pip install cuprum-emulator installs the emulated device"),
        ("/usr/bin/cuprum-emulator", "CUPRUM_DRIVER=emulated chooses the emulated device"),
    ],
    ids=["not installed", "installed"],
)
def test_without_a_driver_it_says_how_to_get_the_emulated_device(monkeypatch, command, advice):
    def fail():
        raise OSError("there is no driver")

    monkeypatch.setattr(cuprum, "driver_version", fail)
    monkeypatch.setattr(run_command, "find_command", lambda: command)
    (finding,) = doctor._check_driver("driver")
    assert finding.status == doctor.PROBLEM
    assert advice in finding.advice
