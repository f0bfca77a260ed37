# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A recorded trace as a picture and as tables."""

from __future__ import annotations

import html
import os
from collections import defaultdict
from pathlib import Path

from cuprum._command import trace_report

_COLOURS = {
    "kernel": "#2f7ed8",
    "copy": "#e08a1e",
    "graph": "#8b5fbf",
    "range": "#cfd8dc",
    "driver": "#6aa84f",
}
_OTHER_COLOUR = "#9e9e9e"
_FAILED_COLOUR = "#c0392b"
_MOST_SHAPES = 2000
_ROW_PIXELS = 18
_LANE_GAP_PIXELS = 8
_LABEL_PIXELS = 170
_CHARACTER_PIXELS = 6.2
_TICKS = 6


class Timeline:
    """What happened in a recorded trace: driver calls, ranges, and work on the devices.

    ``cuprum.trace.record`` yields one, and ``Timeline.read`` makes one from a file. Notebooks show
    it as a picture with a line for each host thread and each stream.

    Examples
    --------
    >>> import cuprum
    >>> device = cuprum.Device(0)
    >>> with cuprum.trace.record() as timeline:
    ...     device.sync()
    >>> timeline.count("driver") > 0
    True
    """

    def __init__(self) -> None:
        self._file: Path | None = None
        self._events: list[dict] = []
        self._names: dict[tuple[object, object], str] = {}

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Timeline:
        """Return the trace in a file.

        Parameters
        ----------
        path : str or os.PathLike
            A file in Chrome's trace format, as ``cuprum.trace.record`` or ``CUPRUM_TRACE`` writes.

        Returns
        -------
        Timeline
            The trace.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If it is not a trace. Events whose times are not numbers are left out.
        """
        timeline = cls()
        timeline._load(Path(path))
        return timeline

    @property
    def events(self) -> list[dict]:
        """Return the events, each with ``name``, ``cat``, ``ts`` and ``dur`` in microseconds.

        Raises
        ------
        OSError
            If the file that was recorded cannot be read any more.
        """
        self._finish()
        return self._events

    def count(self, category: str) -> int:
        """Return how many events are of a category.

        Parameters
        ----------
        category : str
            ``"kernel"``, ``"copy"``, ``"graph"``, ``"driver"`` or ``"range"``.

        Returns
        -------
        int
            The number of events.

        Raises
        ------
        OSError
            If the file that was recorded cannot be read any more.
        """
        return sum(event["cat"] == category for event in self.events)

    def to_text(self, top: int = 10) -> str:
        """Return tables of what took the most time, as ``cuprum trace report`` prints them.

        Parameters
        ----------
        top : int, optional
            How many names each table lists.

        Returns
        -------
        str
            The tables.

        Raises
        ------
        OSError
            If the file that was recorded cannot be read any more.
        """
        return "\n".join(trace_report.render(self.events, top))

    def to_svg(self, width: int = 900) -> str:
        """Return the timeline as a picture.

        Parameters
        ----------
        width : int, optional
            In pixels, at least 300.

        Returns
        -------
        str
            An SVG. It shows the longest 2000 events, and says how many it leaves out.

        Raises
        ------
        ValueError
            If `width` is below 300.
        """
        if width < 300:
            raise ValueError(f"width is {width}; expected at least 300 pixels")
        return _draw(self.events, self._names, width)

    def save_svg(self, path: str | os.PathLike[str], width: int = 900) -> None:
        """Write the picture to a file; see `to_svg`.

        Parameters
        ----------
        path : str or os.PathLike
            The file to write.
        width : int, optional
            The width of the picture in pixels.

        Raises
        ------
        ValueError
            If `width` is below 300.
        OSError
            If the file cannot be written, or the one that was recorded cannot be read any more.
        """
        Path(path).write_text(self.to_svg(width) + "\n", encoding="utf-8")

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        tables = html.escape(self.to_text(5))
        return f"{self.to_svg()}<details><summary>tables</summary><pre>{tables}</pre></details>"

    def __repr__(self) -> str:
        events = self.events
        parts = [f"{len(events)} events"]
        parts += [
            f"{count} {category}{'s' if count != 1 else ''}"
            for category in ("kernel", "graph")
            if (count := self.count(category))
        ]
        return f"<Timeline {', '.join(parts)}, {_time(_length(events))}>"

    def _load(self, file: Path) -> None:
        self._events = trace_report.read(file)
        self._names = trace_report.read_names(file)

    def _finish(self) -> None:
        """Read the file, if the trace was recorded into one that stays."""
        if self._file is not None:
            self._load(self._file)
            self._file = None  # only now: a file that cannot be read raises every time


def _draw(events: list[dict], names: dict[tuple[object, object], str], width: int) -> str:
    if not events:
        return _svg(width, 30, ['<text x="10" y="20">the trace is empty</text>'])
    begin = min(event["ts"] for event in events)
    length = max(_length(events), 1e-3)
    chosen = sorted(events, key=lambda event: -event["dur"])[:_MOST_SHAPES]
    lanes: dict[tuple[object, object], list[dict]] = defaultdict(list)
    for event in chosen:
        lanes[event.get("pid"), event.get("tid")].append(event)
    scale = (width - _LABEL_PIXELS - 10) / length
    shapes: list[str] = []
    top = 24
    for lane in sorted(lanes, key=lambda lane: _lane_order(lane, lanes[lane])):
        label = _lane_label(lane, names)
        shapes.append(
            f'<text x="4" y="{top + 13}" fill="#333">{html.escape(_middle_cut(label))}'
            f"<title>{html.escape(label)}</title></text>"
        )
        rows = 1
        for event, row in _placed(lanes[lane]):
            rows = max(rows, row + 1)
            x = _LABEL_PIXELS + (event["ts"] - begin) * scale
            shapes.append(_shape(event, x, top + row * _ROW_PIXELS, event["dur"] * scale))
        top += rows * _ROW_PIXELS + _LANE_GAP_PIXELS
    shapes += _axis(length, scale, top)
    used = [name for name in _COLOURS if any(event["cat"] == name for event in events)]
    for index, name in enumerate(used):
        x = _LABEL_PIXELS + index * 80
        shapes.append(
            f'<rect x="{x}" y="{top + 4}" width="10" height="10" fill="{_COLOURS[name]}"/>'
        )
        shapes.append(f'<text x="{x + 14}" y="{top + 13}" fill="#333">{name}</text>')
    if len(events) > len(chosen):
        shapes.append(
            f'<text x="4" y="{top + 13}" fill="#333">{len(events) - len(chosen)} shorter events '
            "are left out</text>"
        )
    return _svg(width, top + 22, shapes)


def _placed(events: list[dict]) -> list[tuple[dict, int]]:
    """Return each event with its row: events lie below those that contain them."""
    placed = []
    ends: list[float] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        placed.append((event, len(ends)))
        ends.append(event["ts"] + event["dur"])
    return placed


def _shape(event: dict, x: float, y: float, width: float) -> str:
    failed = trace_report.has_failed(event)
    colour = _FAILED_COLOUR if failed else _COLOURS.get(event["cat"], _OTHER_COLOUR)
    name = str(event["name"])
    result = f", {trace_report.result_of(event)}" if failed else ""
    title = html.escape(f"{name}: {_time(event['dur'])}{result}")
    shape = (
        f'<rect x="{x:.2f}" y="{y}" width="{max(width, 1):.2f}" height="{_ROW_PIXELS - 3}" '
        f'fill="{colour}"><title>{title}</title></rect>'
    )
    label = _cut(name, width - 6)
    if len(label) >= 3 or label == name:
        ink = "#333" if event["cat"] == "range" and not failed else "#fff"
        shape += (
            f'<text x="{x + 3:.2f}" y="{y + 11}" fill="{ink}" pointer-events="none">'
            f"{html.escape(label)}</text>"
        )
    return shape


def _axis(length: float, scale: float, bottom: float) -> list[str]:
    shapes = []
    for index in range(_TICKS):
        time = length * index / (_TICKS - 1)
        x = _LABEL_PIXELS + time * scale
        shapes.append(f'<path d="M{x:.1f} 18V{bottom}" stroke="#ddd" fill="none"/>')
        anchor = "end" if index == _TICKS - 1 else "start"
        shapes.append(
            f'<text x="{x:.1f}" y="13" fill="#666" text-anchor="{anchor}">{_time(time)}</text>'
        )
    return shapes


def _svg(width: int, height: float, shapes: list[str]) -> str:
    lines = [shape for shape in shapes if shape.startswith("<path")]
    others = [shape for shape in shapes if not shape.startswith("<path")]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(lines + others)}</svg>'
    )


def _lane_order(lane: tuple[object, object], events: list[dict]) -> tuple[bool, str]:
    """Put host threads before the streams of devices."""
    is_device = any(event["cat"] in ("kernel", "copy", "graph") for event in events)
    return is_device, str(lane)


def _lane_label(lane: tuple[object, object], names: dict[tuple[object, object], str]) -> str:
    process, thread = lane
    group = names.get((process, None), f"process {process}")
    return f"{group}, {names.get(lane, f'thread {thread}')}"


def _middle_cut(text: str) -> str:
    """Return a label that fits. The addresses of streams differ at their end."""
    most = int(_LABEL_PIXELS / _CHARACTER_PIXELS)
    half = most // 2 - 1
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _cut(text: str, pixels: float) -> str:
    most = max(0, int(pixels / _CHARACTER_PIXELS))
    return text if len(text) <= most else text[: max(0, most - 1)] + "…"


def _length(events: list[dict]) -> float:
    if not events:
        return 0.0
    begin = min(event["ts"] for event in events)
    return max(event["ts"] + event["dur"] for event in events) - begin


def _time(microseconds: float) -> str:
    for limit, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= limit:
            return f"{microseconds / limit:.3g} {unit}"
    return f"{microseconds:.3g} us"


Timeline.__module__ = "cuprum.trace"
