# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A recorded trace as a picture: the timeline that notebooks show."""

import json
import xml.etree.ElementTree as ET

import pytest
from test_display import Text

import cuprum
from cuprum import trace
from cuprum._command import main

SVG = "{http://www.w3.org/2000/svg}"


def titles(timeline, **options):
    """Return what the shapes of the picture say when the mouse is over them."""
    root = ET.fromstring(timeline.to_svg(**options))
    return [title.text for title in root.iter(SVG + "title")]


def written(path, *events):
    path.write_text(json.dumps(list(events)))
    return trace.Timeline.read(path)


def event(name, begin, duration, category="driver", thread=1, **more):
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "pid": 1,
        "tid": thread,
        "ts": begin,
        "dur": duration,
        **more,
    }


def test_a_block_is_recorded_without_a_file(device, stream):
    buffer = device.allocate(1 << 16, stream=stream)
    with trace.record() as timeline, trace.range("filling"):
        buffer.fill(b"\1", stream=stream)
        stream.sync()
    assert not trace.is_tracing()
    assert timeline.count("range") == 1
    assert timeline.count("copy") == 1
    assert timeline.count("driver") >= 2
    assert repr(timeline).startswith(f"<Timeline {len(timeline.events)} events, ")
    assert any(title.startswith("filling: ") for title in titles(timeline))
    assert "copies and fills, on the device" in timeline.to_text()


def test_a_file_is_kept_and_read_only_when_needed(device, tmp_path):
    path = tmp_path / "trace.json"
    with trace.record(path) as timeline:
        assert timeline.events == []
        device.sync()
    assert path.exists()
    again = trace.Timeline.read(path)
    assert timeline.events == again.events
    assert timeline.to_svg() == again.to_svg()


def test_a_trace_is_there_when_the_block_raises(device):
    recorder = trace.record()
    timeline = recorder.__enter__()
    device.sync()
    assert recorder.__exit__(ValueError, ValueError("from the block"), None) in (None, False)
    assert timeline.count("driver") > 0


def test_events_lie_below_those_that_contain_them(tmp_path):
    timeline = written(
        tmp_path / "t.json",
        event("step", 0, 100, "range"),
        event("cuInit", 10, 20),
        event("cuMemcpy", 40, 20),
        event("later", 100, 10),
    )
    root = ET.fromstring(timeline.to_svg())
    tops = {
        rect.find(SVG + "title").text.split(":")[0]: float(rect.get("y"))
        for rect in root.iter(SVG + "rect")
        if rect.find(SVG + "title") is not None
    }
    assert tops["step"] == tops["later"]
    assert tops["cuInit"] == tops["cuMemcpy"] > tops["step"]


def test_names_are_escaped(tmp_path):
    name = "<script>alert('x')</script>"
    timeline = written(
        tmp_path / "t.json",
        event(name, 0, 100, "kernel"),
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": name}},
    )
    seen = Text(timeline._repr_html_())
    assert seen.open == []
    assert "script" not in seen.tags
    assert f"{name}: 100 us" in seen.text


def test_failed_calls_say_so(tmp_path):
    timeline = written(
        tmp_path / "t.json",
        event("cuMemAlloc", 0, 5, args={"result": "CUDA_ERROR_OUT_OF_MEMORY"}),
    )
    assert "cuMemAlloc: 5 us, CUDA_ERROR_OUT_OF_MEMORY" in titles(timeline)


def test_a_long_trace_shows_the_longest_events(tmp_path):
    events = [event(f"call{index}", index * 10, 1 + index % 9) for index in range(3000)]
    svg = written(tmp_path / "t.json", *events).to_svg()
    assert svg.count("<title>call") == 2000
    assert "1000 shorter events are left out" in svg


def test_an_empty_trace_is_shown(tmp_path):
    timeline = written(tmp_path / "t.json")
    assert repr(timeline) == "<Timeline 0 events, 0 us>"
    assert "the trace is empty" in timeline._repr_html_()


def test_times_have_units(tmp_path):
    timeline = written(
        tmp_path / "t.json", event("a", 0, 12.5), event("b", 0, 2500), event("c", 0, 3e6)
    )
    assert {"a: 12.5 us", "b: 2.5 ms", "c: 3 s"} <= set(titles(timeline))


def test_a_picture_needs_some_width(tmp_path):
    with pytest.raises(ValueError, match="width is 10; expected at least 300"):
        written(tmp_path / "t.json").to_svg(width=10)


def test_files_that_are_no_traces_are_refused(tmp_path):
    (tmp_path / "t.json").write_text('{"a": 1}')
    with pytest.raises(ValueError, match="expected a list of events"):
        trace.Timeline.read(tmp_path / "t.json")
    with pytest.raises(OSError, match=r"none\.json"):
        trace.Timeline.read(tmp_path / "none.json")


def test_the_picture_is_saved(tmp_path, device):
    with cuprum.trace.record() as timeline:
        device.sync()
    timeline.save_svg(tmp_path / "t.svg", width=400)
    assert ET.parse(tmp_path / "t.svg").getroot().get("width") == "400"


def test_a_file_that_is_gone_raises_every_time(device, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with trace.record("trace.json") as timeline:
        device.sync()
    monkeypatch.chdir(tmp_path / "other")
    (tmp_path / "trace.json").rename(tmp_path / "hidden.json")
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            repr(timeline)
    (tmp_path / "hidden.json").rename(tmp_path / "trace.json")
    assert timeline.count("driver") > 0


@pytest.mark.parametrize(
    "odd",
    [
        {"args": "x"},
        {"args": None},
        {"args": {"result": ["x"]}},
        {"cat": ["driver"]},
        {"name": {"a": 1}},
        {"name": None},
        {"pid": [1]},
        {"tid": {"a": 1}},
        {"tid": 1.5},
    ],
)
def test_odd_events_of_other_programs_are_shown(tmp_path, odd):
    timeline = written(tmp_path / "t.json", event("plain", 0, 5), {**event("odd", 1, 2), **odd})
    assert len(timeline.events) == 2
    assert len(titles(timeline)) >= 3
    assert "2 events" in repr(timeline)
    assert timeline._repr_html_()
    assert main(["trace", "report", str(tmp_path / "t.json")]) == 0
    assert main(["trace", "report", "--json", str(tmp_path / "t.json")]) == 0


@pytest.mark.parametrize("field", ["ts", "dur"])
@pytest.mark.parametrize("value", ["1", None, [], True, float("nan"), float("inf"), 1e300])
def test_events_without_a_time_are_left_out(tmp_path, field, value):
    timeline = written(tmp_path / "t.json", event("a", 0, 5), {**event("b", 1, 2), field: value})
    assert [each["name"] for each in timeline.events] == ["a"]


def test_odd_names_of_threads_are_left_out(tmp_path):
    odd = [{"ph": "M", "name": "thread_name", "pid": [1], "tid": 1, "args": each} for each in "x"]
    odd.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": ["a"]}})
    timeline = written(tmp_path / "t.json", event("a", 0, 5), *odd)
    assert "process 1, ['a']" in titles(timeline)


def test_characters_that_pictures_do_not_allow_are_replaced(tmp_path):
    timeline = written(tmp_path / "t.json", event("a\x00\x1b[31m\ud800b\uffff é", 0, 5))
    timeline.save_svg(tmp_path / "t.svg")
    (title,) = [each for each in titles(timeline) if "31m" in each]
    assert title.startswith("a\ufffd\ufffd[31m\ufffdb\ufffd é")
    assert ET.parse(tmp_path / "t.svg").getroot() is not None
