# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum
from cuprum import trace


@pytest.fixture
def path(tmp_path):
    yield tmp_path / "trace.json"
    trace.stop()


def events(path, category):
    return [event for event in json.loads(path.read_text()) if event.get("cat") == category]


def test_a_recorded_block_holds_calls_ranges_and_device_work(device, path):
    stream = device.create_stream()
    with trace.record(path), trace.range("copying über"):
        assert trace.is_tracing()
        buffer = device.allocate(1024, stream=stream)
        buffer.fill(b"\x07", stream=stream)
        buffer.close(stream)
        stream.sync()
    assert not trace.is_tracing()

    assert [event["name"] for event in events(path, "range")] == ["copying über"]
    (fill,) = events(path, "copy")
    assert fill["name"].startswith("cuMemsetD8")
    assert fill["dur"] >= 0
    allocation = next(
        event for event in events(path, "driver") if event["name"] == "cuMemAllocFromPoolAsync"
    )
    assert allocation["args"]["bytesize"] == 1024
    assert allocation["args"]["result"] == "CUDA_SUCCESS"
    assert int(allocation["args"]["dptr"], 16) > 0
    begin = events(path, "range")[0]["ts"]
    end = begin + events(path, "range")[0]["dur"]
    assert begin <= allocation["ts"] <= end


def test_a_trace_ends_when_the_block_raises(path):
    with pytest.raises(ZeroDivisionError), trace.record(path):
        1 / 0  # noqa: B018
    assert not trace.is_tracing()


def test_a_second_trace_and_a_bad_path_are_refused(path, tmp_path):
    trace.start(path)
    with pytest.raises(RuntimeError, match="already"):
        trace.start(tmp_path / "other")
    trace.stop()
    with pytest.raises(ValueError, match="no/such/folder"):
        trace.start("/no/such/folder/file")


def test_the_file_is_for_its_owner_and_no_link_is_followed(path, tmp_path):
    with trace.record(path):
        pass
    assert path.stat().st_mode & 0o777 == 0o600
    target = tmp_path / "target"
    target.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(target)
    with pytest.raises(ValueError, match="link"):
        trace.start(link)
    assert target.read_text() == "mine"


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


PROGRAM = """
import cuprum
stream = cuprum.Device(0).create_stream()
buffer = cuprum.Device(0).allocate(64, stream=stream)
buffer.fill(b"1", stream=stream)
"""


def test_the_environment_records_a_whole_process(path):
    result = run(PROGRAM, CUPRUM_TRACE=str(path))
    assert result.returncode == 0, result.stderr
    assert len(events(path, "copy")) == 1
    assert any(event["name"] == "cuInit" for event in events(path, "driver"))


def test_calls_that_timing_device_work_makes_first_are_recorded_too(path):
    # The trace creates its own events first. The program's events must still be recorded.
    events_of_its_own = """
first, second = (stream.record(options={"timing_enabled": True}) for _ in range(2))
second.sync()
assert second.is_done and second - first >= 0
"""
    result = run(PROGRAM + events_of_its_own, CUPRUM_TRACE=str(path))
    assert result.returncode == 0, result.stderr
    names = [event["name"] for event in events(path, "driver")]
    assert names.count("cuEventCreate") == names.count("cuEventRecord") == 2
    assert names.count("cuEventElapsedTime") == 1
    assert "cuEventQuery" in names


@pytest.mark.parametrize("end", ["sys.exit()", "os._exit(0)"])
def test_a_forked_child_leaves_the_trace_alone(path, end):
    fork = f"""
import os, warnings
child = os.fork()
if child == 0:
    warnings.simplefilter("ignore")
    try:
        cuprum.Device(0).create_stream()
    except cuprum.CUDAError:
        pass
    {end}
assert os.waitpid(child, 0)[1] == 0
cuprum.Device(0).create_stream()
"""
    result = run(PROGRAM + fork, CUPRUM_TRACE=str(path))
    assert result.returncode == 0, result.stderr
    names = [event["name"] for event in events(path, "driver")]
    assert names.count("cuInit") == 1
    assert names.count("cuStreamCreateWithPriority") == 2
    assert len(events(path, "copy")) == 1


START = """
import subprocess, sys
child = [sys.executable, "-c", "import sys; sys.path[:0] = %r; import cuprum; cuprum.Device(0)"]
print(subprocess.run([*child[:2], child[2] % sys.path], capture_output=True, check=True).stderr)
stream.sync()
"""


def test_a_process_that_is_started_does_not_write_over_the_trace(path):
    result = run(PROGRAM + START, CUPRUM_TRACE=str(path))
    assert result.returncode == 0, result.stderr
    assert "is being written by another process; put %p" in result.stdout
    assert len(events(path, "copy")) == 1


def test_each_process_can_have_a_trace_of_its_own(tmp_path):
    result = run(PROGRAM + START, CUPRUM_TRACE=str(tmp_path / "trace-%p.json"))
    assert result.returncode == 0, result.stderr
    files = list(tmp_path.iterdir())
    assert sorted(len(events(file, "copy")) for file in files) == [0, 1]
    assert all(file.name != "trace-%p.json" for file in files)


def test_a_trace_that_cannot_be_written_is_a_warning_not_an_error():
    result = run(PROGRAM, CUPRUM_TRACE="/no/such/folder/file")
    assert result.returncode == 0
    assert "CUPRUM_TRACE is ignored" in result.stderr


def test_the_log_shows_calls(tmp_path):
    everything = run(PROGRAM, CUPRUM_LOG="debug")
    assert 'cuMemAllocFromPoolAsync("dptr":' in everything.stderr
    failures = run(PROGRAM, CUPRUM_LOG="error")
    assert "cuMemAllocFromPoolAsync" not in failures.stderr
    wrong = run(PROGRAM, CUPRUM_LOG="loud")
    assert "'loud'" in wrong.stderr
    assert wrong.returncode == 0


def test_the_log_shows_the_whole_time_of_a_call_that_calls_back():
    program = """
import time
import cuprum
code = cuprum.Program('extern "C" __global__ void empty() {}', "c++").compile("ptx")
occupancy = code.get_kernel("empty").occupancy
def needed(threads):
    time.sleep(0.05)
    return occupancy.max_active_blocks_per_multiprocessor(64, 0) * 0
occupancy.max_potential_block_size(needed, 0)
"""
    shown = run(program, CUPRUM_LOG="debug").stderr
    (line,) = (each for each in shown.splitlines() if "cuOccupancyMaxPotentialBlock" in each)
    assert float(line.split()[-2]) >= 50_000, line


def test_reports_add_up(tmp_path, capsys):
    from cuprum._command import main

    file = tmp_path / "t.json"
    call = {"ph": "X", "cat": "driver", "pid": 1, "tid": 1, "args": {"result": "CUDA_SUCCESS"}}
    file.write_text(
        json.dumps(
            [
                {**call, "name": "cuA", "ts": 0, "dur": 1000},
                {**call, "name": "cuA", "ts": 2000, "dur": 3000},
                {**call, "name": "cuB", "ts": 6000, "dur": 1000, "args": {"result": "CUDA_ERROR"}},
            ]
        )
    )
    assert main(["trace", "report", str(file)]) == 0
    text = capsys.readouterr().out
    assert "3 events in 7.000 ms" in text
    assert "80.0%  cuA" in text
    assert "cuB: CUDA_ERROR" in text


def test_reports_have_a_table_of_graphs(tmp_path, capsys):
    from cuprum._command import main

    launch = {"ph": "X", "cat": "graph", "name": "graph of 2 nodes", "pid": 1, "tid": 1}
    (tmp_path / "t.json").write_text(
        json.dumps([{**launch, "ts": 0, "dur": 1000}, {**launch, "ts": 2000, "dur": 3000}])
    )
    assert main(["trace", "report", str(tmp_path / "t.json")]) == 0
    text = capsys.readouterr().out
    assert "graphs, on the device: 4.000 ms" in text
    assert "graph of 2 nodes" in text


def test_a_trace_cut_short_is_still_read(device, path, capsys):
    from cuprum._command import main

    with trace.record(path):
        device.create_stream().sync()
    text = path.read_text()
    path.write_text(text[: text.rindex("{")] + '{"name": "half')
    assert main(["trace", "report", str(path)]) == 0
    assert "cuStreamCreateWithPriority" in capsys.readouterr().out


def test_what_is_no_trace_is_refused(tmp_path, capsys):
    from cuprum._command import main

    for text in ("hello", "[1, 2]", '{"a": 1}', ""):
        (tmp_path / "x").write_text(text)
        assert main(["trace", "report", str(tmp_path / "x")]) == 1
        assert "not a trace" in capsys.readouterr().err
    assert main(["trace", "report", str(tmp_path / "missing")]) == 1
    assert "not a trace" in capsys.readouterr().err


def test_events_that_other_programs_wrote_are_counted(tmp_path, capsys):
    from cuprum._command import main

    (tmp_path / "x").write_text('[{"ph": "X", "ts": 1, "dur": 2}, {"ph": "X"}, {"ph": "B"}]')
    assert main(["trace", "report", str(tmp_path / "x")]) == 0
    assert "1 events" in capsys.readouterr().out


def test_info_names_devices_and_libraries(capsys):
    from cuprum._command import main

    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert cuprum.__version__ in text
    assert cuprum.Device(0).name in text
    assert "NVRTC: " in text
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["devices"][0]["uuid"] == cuprum.Device(0).uuid
    assert {library["name"] for library in facts["libraries"]} >= {"NVRTC", "nvJitLink"}


def test_a_reader_that_has_read_enough_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as output:
        finished = subprocess.run(
            [sys.executable, "-m", "cuprum", "info", "--json"],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert "Traceback" not in finished.stderr
    assert "BrokenPipe" not in finished.stderr


def test_a_consumer_of_nvtx_sees_calls_and_ranges(tmp_path):
    source = Path(__file__).parents[3] / "core" / "tests" / "observe" / "nvtx_counter.cpp"
    include = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    compiler = shutil.which("c++")
    if not (source.is_file() and compiler and (include / "nvtx3").is_dir()):
        pytest.skip("needs a C++ compiler and NVTX's headers to build a consumer")
    library = tmp_path / "libcounter.so"
    subprocess.run(
        [compiler, "-std=c++17", "-shared", "-fPIC", f"-I{include}", source, "-o", library],
        check=True,
    )
    ranges = tmp_path / "ranges"
    result = run(
        PROGRAM + "with cuprum.trace.range('mine'):\n    stream.sync()\n",
        CUPRUM_NVTX="1",
        NVTX_INJECTION64_PATH=str(library),
        CUPRUM_NVTX_RANGES=str(ranges),
    )
    assert result.returncode == 0, result.stderr
    if "built without NVTX" in result.stderr:
        pytest.skip("this package was built without NVTX")
    lines = ranges.read_text().splitlines()
    mine = lines.index("push mine")
    assert any(line.startswith("push cuStream") for line in lines[mine:])  # sync queries first
    assert "push cuMemAllocFromPoolAsync" in lines[:mine]
    assert lines.count("pop") * 2 == len(lines)
