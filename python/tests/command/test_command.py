# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The command cuprum: exit statuses, JSON, colours, programs on the emulated device, the cache."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum
from cuprum._command import FAILURE, INTERRUPTED, NOT_STARTED, SUCCESS, WRONG_ARGUMENTS, main
from cuprum._command import run as run_command

COLOUR = "\x1b["
PAGE = Path(__file__).parents[3] / "docs/command.md"


def run(*arguments, cwd=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "cuprum", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


def run_on_terminal(*arguments, **environment):
    """Return what the command writes to a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(
            {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm-256color", **environment}
        )
        os.execv(sys.executable, [sys.executable, "-m", "cuprum", *arguments])
    text = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        text += part
    os.close(terminal)
    os.waitpid(child, 0)
    return text.decode()


# ---- arguments and statuses ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["info", "--yaml"],
        ["top", "--interval", "0"],
        ["top", "--interval", "soon"],
        ["trace"],
        ["trace", "report"],
        ["trace", "report", "x", "--top", "0"],
        ["cache"],
        ["cache", "burn"],
        ["completion", "tcsh"],
        ["run"],
        ["run", "--devices", "0", "true"],
        ["run", "--devices", "many", "true"],
        ["run", "--check", "memory,luck", "true"],
    ],
)
def test_wrong_arguments_have_a_status_of_their_own(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == WRONG_ARGUMENTS
    assert "usage: cuprum" in capsys.readouterr().err


def test_without_a_command_all_commands_are_listed(capsys):
    assert main([]) == WRONG_ARGUMENTS
    text = capsys.readouterr().err
    for command in ("info", "doctor", "top", "run", "trace", "cache", "completion"):
        assert f"    {command}" in text


def test_run_asks_for_a_program_only(capsys):
    with pytest.raises(SystemExit):
        main(["run"])
    assert "are required: PROGRAM, -m MODULE or -c CODE\n" in capsys.readouterr().err


def test_wrong_arguments_name_the_value(capsys):
    for arguments, words in [
        (["run", "--devices", "0", "x"], "'0' is not a number of at least 1"),
        (["run", "--check", "memory,luck", "x"], "'luck' is not a check; expected a list of"),
        (["top", "--interval", "soon"], "'soon' is not a number of seconds"),
    ]:
        with pytest.raises(SystemExit):
            main(arguments)
        assert words in capsys.readouterr().err


def test_the_page_lists_every_command_and_status():
    text = PAGE.read_text()
    for command in ("info", "doctor", "top", "run", "trace report", "cache", "completion"):
        assert f"cuprum {command}" in text, command
    for status in (SUCCESS, FAILURE, WRONG_ARGUMENTS, NOT_STARTED, INTERRUPTED):
        assert re.search(rf"^\| {status} \|", text, re.MULTILINE), status


def test_help_of_every_command_is_shown(capsys):
    for command in ("info", "doctor", "top", "run", "trace", "cache", "completion"):
        with pytest.raises(SystemExit) as left:
            main([command, "--help"])
        assert left.value.code == SUCCESS
        assert f"usage: cuprum {command}" in capsys.readouterr().out


def test_the_version_needs_no_driver():
    result = run("--version", CUPRUM_DRIVER="/nowhere/libcuda.so.1")
    assert result.returncode == SUCCESS
    assert result.stdout == f"cuprum {cuprum.__version__}\n"


# ---- info ----------------------------------------------------------------------------------------


def test_info_lists_all_that_it_promises():
    result = run("info", "--json", CUPRUM_LOG="error")
    assert result.returncode == SUCCESS
    facts = json.loads(result.stdout)
    assert set(facts) == {
        "cuprum",
        "python",
        "packages",
        "driver",
        "devices",
        "libraries",
        "nvml",
        "fast_paths",
        "settings",
        "problems",
    }
    assert facts["cuprum"] == cuprum.__version__
    assert facts["packages"]["numpy"]
    assert set(facts["driver"]) == {"description", "cuda"}
    assert len(facts["devices"]) == len(cuprum.Device.get_all_devices())
    assert set(facts["devices"][0]) == {
        "id",
        "name",
        "uuid",
        "pci_bus_id",
        "compute_capability",
        "multiprocessors",
        "memory_bytes",
        "is_emulated",
    }
    assert facts["settings"]["CUPRUM_LOG"] == "error"
    assert set(facts["nvml"]) == {"version", "path"}
    assert Path(facts["nvml"]["path"]).name.startswith("libnvidia-ml.so")


def test_info_without_a_device_says_so():
    result = run("info", CUPRUM_DRIVER="/nowhere/libcuda.so.1")
    assert result.returncode == FAILURE
    assert "driver: none" in result.stdout
    assert "/nowhere/libcuda.so.1" in result.stdout


@pytest.mark.parametrize("command", ["info", "doctor"])
def test_colours_are_for_terminals_only(command):
    assert COLOUR not in run(command).stdout
    assert COLOUR in run_on_terminal(command)
    assert COLOUR not in run_on_terminal(command, NO_COLOR="1")
    assert COLOUR not in run_on_terminal(command, TERM="dumb")
    assert COLOUR not in run_on_terminal(command, "--json")


# ---- run -----------------------------------------------------------------------------------------

PROGRAM = """
import os, sys
import cuprum
print(len(cuprum.Device.get_all_devices()), cuprum.Device(0).is_emulated, sys.argv[1:])
print({name: os.environ.get("CUPRUM_EMULATOR_" + name) for name in ("CHECK", "MEMORY", "LEAKS")})
print(cuprum.Device(0).compute_capability)
"""


needs_emulator = pytest.mark.skipif(
    run_command.find_command() is None, reason="the emulated device is not part of this build"
)


@needs_emulator
def test_run_gives_any_program_the_emulated_device(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    result = run(
        "run",
        "--devices=2",
        "--memory=1G",
        "--compute-capability=8.6",
        "--check=all",
        "--leaks",
        str(program),
        "--devices",
        "7",
    )
    assert result.returncode == SUCCESS, result.stderr
    assert result.stdout.splitlines()[:2] == [
        "2 True ['--devices', '7']",
        "{'CHECK': 'all', 'MEMORY': '1G', 'LEAKS': '1'}",
    ]
    assert "major=8, minor=6" in result.stdout


@needs_emulator
def test_run_returns_the_status_of_the_program():
    assert run("run", "sh", "-c", "exit 42").returncode == 42
    assert run("run", "true").returncode == SUCCESS


@needs_emulator
def test_run_reports_a_program_that_cannot_be_started():
    result = run("run", "/nowhere/program")
    assert result.returncode == NOT_STARTED
    assert "/nowhere/program" in result.stderr


DROP_IN = (
    "import sys, cuda.core; d = cuda.core.Device(0); print(cuda.core.__version__, d, sys.argv)"
)


@needs_emulator
@pytest.mark.parametrize("kind", ["script", "-m", "-c"])
def test_run_gives_a_program_the_drop_in(tmp_path, kind):
    (tmp_path / "program.py").write_text(DROP_IN)
    program = {
        "script": [str(tmp_path / "program.py")],
        "-m": ["-m", "program"],
        "-c": ["-c", DROP_IN],
    }[kind]
    result = run("run", "--devices=1", "--drop-in", *program, "-c", "--gpu", cwd=tmp_path)
    assert result.returncode == SUCCESS, result.stderr
    assert result.stdout.startswith("1.2.2 <Device 0 (Cuprum Emulated Device"), result.stdout
    assert result.stdout.endswith(", '-c', '--gpu']\n"), result.stdout


@needs_emulator
@pytest.mark.parametrize("option", ["-m", "-c"])
def test_run_takes_modules_and_code_as_python_does(tmp_path, option):
    (tmp_path / "program.py").write_text("import sys; print(__name__, sys.argv[1:])")
    program = "program" if option == "-m" else (tmp_path / "program.py").read_text()
    result = run("run", option, program, "--devices", "2", "-m", cwd=tmp_path)
    assert result.stdout == "__main__ ['--devices', '2', '-m']\n", result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m"], "argument -m: expected one argument"),
        (["--drop-in", "-c"], "argument -c: expected one argument"),
        (["--drop-in"], "the following arguments are required: PROGRAM, -m MODULE or -c CODE"),
        (["--drop-in", "true"], "--drop-in needs a Python program, and 'true' is none"),
        (["--gpu", "x.py"], "--gpu needs --drop-in; without both, start the program itself"),
        (["--gpu", "--drop-in", "--memory=1G", "x.py"], "--memory is about the emulated device"),
        (["--leaks", "--gpu", "--drop-in", "x.py"], "--leaks is about the emulated device"),
    ],
)
def test_run_refuses_what_cannot_be_run(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["run", *arguments])
    assert caught.value.code == WRONG_ARGUMENTS
    assert message in capsys.readouterr().err


def test_run_with_a_gpu_starts_python_with_the_native_driver(monkeypatch):
    started = []
    monkeypatch.setattr(run_command.os, "execv", lambda *words: started.append(words))
    monkeypatch.setenv("CUPRUM_DRIVER", "emulated")
    assert main(["run", "--drop-in", "--gpu", "x.py", "--its", "own"]) == NOT_STARTED
    command = [sys.executable, "-m", "cuprum.drop_in", "x.py", "--its", "own"]
    assert started == [(sys.executable, command)]
    assert os.environ["CUPRUM_DRIVER"] == "native"


def test_run_without_the_emulator_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(run_command, "find_command", lambda: None)
    assert main(["run", "true"]) == FAILURE
    assert "cuprum-emulator was not found" in capsys.readouterr().err


# ---- trace report --------------------------------------------------------------------------------


def test_a_report_for_programs_has_the_numbers_of_the_tables(tmp_path, capsys):
    file = tmp_path / "t.json"
    call = {"ph": "X", "cat": "driver", "pid": 1, "tid": 1, "args": {"result": "CUDA_SUCCESS"}}
    events = [
        {**call, "name": "cuA", "ts": 0, "dur": 1000},
        {**call, "name": "cuA", "ts": 2000, "dur": 3000},
        {**call, "name": "cuB", "ts": 6000, "dur": 500, "args": {"result": "CUDA_ERROR"}},
        {**call, "name": "k", "cat": "kernel", "ts": 6500, "dur": 500},
    ]
    file.write_text(json.dumps(events))
    assert main(["trace", "report", "--json", "--top=1", str(file)]) == SUCCESS
    report = json.loads(capsys.readouterr().out)
    assert report["events"] == 4
    assert report["duration_us"] == 7000
    assert report["categories"]["driver"] == {
        "total_us": 4500,
        "name_count": 2,
        "names": [{"name": "cuA", "calls": 2, "total_us": 4000, "mean_us": 2000, "max_us": 3000}],
    }
    assert report["categories"]["kernel"]["total_us"] == 500
    assert report["failures"] == [{"name": "cuB", "result": "CUDA_ERROR"}]
    file.write_text("[]")
    assert main(["trace", "report", "--json", str(file)]) == SUCCESS
    assert json.loads(capsys.readouterr().out) == {
        "events": 0,
        "duration_us": 0,
        "categories": {},
        "failures": [],
    }
    assert main(["trace", "report", "--json", str(tmp_path / "none")]) == FAILURE


# ---- cache ---------------------------------------------------------------------------------------


def test_the_cache_is_shown_and_emptied(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("CUPRUM_CACHE_DIR", str(folder))
    assert main(["cache", "info"]) == SUCCESS
    assert capsys.readouterr().out == f"{folder}: there is no cache yet\n"
    assert main(["cache", "clear"]) == SUCCESS
    assert not folder.exists(), "asking makes no folder"
    capsys.readouterr()
    cache = cuprum.utils.FileStreamProgramCache()
    cache[b"first"] = b"code" * 1000
    cache[b"second"] = b"more"
    assert main(["cache", "info", "--json"]) == SUCCESS
    facts = json.loads(capsys.readouterr().out)
    assert facts == {
        "path": str(folder),
        "exists": True,
        "entries": 2,
        "size_bytes": cache.size_bytes,
    }
    assert main(["cache", "info"]) == SUCCESS
    assert "2 entries" in capsys.readouterr().out
    assert main(["cache", "clear", "--json"]) == SUCCESS
    facts = json.loads(capsys.readouterr().out)
    assert (facts["removed_entries"], facts["entries"], facts["size_bytes"]) == (2, 0, 0)
    assert len(cache) == 0


def test_another_cache_can_be_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CUPRUM_CACHE_DIR", str(tmp_path / "default"))
    cache = cuprum.utils.FileStreamProgramCache(tmp_path / "other")
    cache[b"key"] = b"code"
    assert main(["cache", "clear", "--path", str(tmp_path / "other")]) == SUCCESS
    assert "removed 1 entry" in capsys.readouterr().out
    assert len(cache) == 0
    assert not (tmp_path / "default").exists()


def test_a_cache_that_others_can_write_to_is_refused(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("CUPRUM_CACHE_DIR", str(folder))
    assert main(["cache", "info"]) == FAILURE
    assert str(folder) in capsys.readouterr().err


# ---- traces of others, and places that take no output --------------------------------------------


def test_a_trace_cannot_control_the_terminal(tmp_path, capsys):
    names = [
        "a\x1b[31m",
        "b\x9b31m",
        "c\rd",
        "e\nf",
        "g\x7f",
        "h\u202ei",
        "j\u2066k",
        "l\u2028m",
        "é 字",
    ]
    events = [{"ph": "X", "cat": "kernel", "name": name, "ts": 0, "dur": 1} for name in names]
    (tmp_path / "t.json").write_text(json.dumps(events))
    assert main(["trace", "report", str(tmp_path / "t.json")]) == SUCCESS
    lines = capsys.readouterr().out.split("\n")
    shown = [line.partition("%  ")[2] for line in lines if "%  " in line]
    bad = "\ufffd"
    assert sorted(shown) == sorted(
        [
            f"a{bad}[31m",
            f"b{bad}31m",
            "c d",
            "e f",
            f"g{bad}",
            f"h{bad}i",
            f"j{bad}k",
            f"l{bad}m",
            "é 字",
        ]
    )


def test_a_trace_that_is_nested_too_deeply_is_no_trace(tmp_path, capsys):
    (tmp_path / "t.json").write_text("[" * 200_000)
    assert main(["trace", "report", str(tmp_path / "t.json")]) == FAILURE
    assert "nested too deeply" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("top", "--once"), ("info",)])
def test_letters_that_the_terminal_lacks_are_replaced(arguments):
    result = run(*arguments, PYTHONIOENCODING="ascii:strict", CUPRUM_NVTX="é")
    assert result.stderr == ""
    assert result.returncode == SUCCESS
    assert "?" in result.stdout


@pytest.mark.parametrize("place", [">&-", "> /dev/full"], ids=["closed", "full"])
def test_output_that_cannot_be_written_is_no_traceback(place):
    result = subprocess.run(
        ["sh", "-c", f'exec "$@" {place}', "sh", sys.executable, "-m", "cuprum", "cache", "info"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "Traceback" not in result.stderr
    if "full" in place:
        assert result.returncode == FAILURE
        assert "No space left on device" in result.stderr
    else:
        assert result.returncode == SUCCESS, result.stderr


# ---- signals -------------------------------------------------------------------------------------


def test_ctrl_c_ends_the_command_without_a_traceback(monkeypatch, capsys):
    from cuprum._command import info

    def interrupt(*_):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(info, "run", interrupt)
    assert main(["info"]) == INTERRUPTED
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("info", "--jsn"), ("trace", "report", "file", "--jsn")])
def test_an_unknown_option_shows_the_usage_of_its_command(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    assert left.value.code == WRONG_ARGUMENTS
    text = capsys.readouterr().err
    command = " ".join(word for word in arguments if word in ("info", "trace", "report"))
    assert text.startswith(f"usage: cuprum {command} ")
    assert "unrecognized arguments: --jsn" in text
