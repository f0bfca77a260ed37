# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Record what a program does on the driver and the devices, for a browser to show.

``CUPRUM_TRACE=file`` records a whole process; here is how to record a part of it::

    with cuprum.trace.record("trace.json"):
        with cuprum.trace.range("first step"):
            ...

Open the file at ``chrome://tracing`` or ``ui.perfetto.dev``, or print where the time went with
``cuprum trace report trace.json``. Without a file, ``record`` keeps the trace in memory; a notebook
shows it as a picture::

    with cuprum.trace.record() as timeline:
        ...
    timeline
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cuprum._cuprum import begin_range, end_range, is_tracing, start_trace, stop_trace
from cuprum._public_names import public_names
from cuprum._timeline import Timeline

__all__ = ["Timeline", "is_tracing", "range", "record", "start", "stop"]

__dir__ = public_names(globals())


def start(path: str | os.PathLike[str], *, device_work: bool = True) -> None:
    """Start to record the driver calls of Cuprum, and the work on the streams.

    Parameters
    ----------
    path : str or os.PathLike
        The file to write, in Chrome's trace format. One that exists is overwritten.
    device_work : bool, optional
        Also record when kernels, copies and fills ran; costs two event records each.

    Raises
    ------
    ValueError
        If the file cannot be written.
    RuntimeError
        If a trace is being recorded already.
    """
    start_trace(path, device_work)


def stop() -> None:
    """Wait for the work that is being traced, and close the file.

    Raises
    ------
    RuntimeError
        If the file is incomplete, as on a full disk.
    """
    stop_trace()


@contextmanager
def record(
    path: str | os.PathLike[str] | None = None, *, device_work: bool = True
) -> Iterator[Timeline]:
    """Record what happens inside a ``with`` block.

    Parameters
    ----------
    path : str or os.PathLike, optional
        The file to write; see `start`. Without it, the trace is only in the `Timeline`.
    device_work : bool, optional
        Also record when kernels, copies and fills ran; costs two event records each.

    Yields
    ------
    Timeline
        The trace, once the block has ended. Empty until then.

    Raises
    ------
    ValueError
        If the file cannot be written.
    RuntimeError
        If a trace is being recorded already.
    """
    timeline = Timeline()
    if path is not None:
        file = Path(path).absolute()  # the program may change its folder before it reads the trace
        start(file, device_work=device_work)
        try:
            yield timeline
        finally:
            stop()
            timeline._file = file
        return
    with tempfile.TemporaryDirectory(prefix="cuprum-trace-") as folder:
        file = Path(folder, "trace.json")
        start(file, device_work=device_work)
        try:
            yield timeline
        finally:
            stop()
            timeline._load(file)


@contextmanager
def range(name: str) -> Iterator[None]:
    """Mark what happens inside a ``with`` block by a name.

    It shows in the trace and, with ``CUPRUM_NVTX=1``, in NVIDIA's profilers.

    Parameters
    ----------
    name : str
        What the trace shows.

    Returns
    -------
    Iterator[None]
        A context manager.

    Raises
    ------
    TypeError
        If `name` is not a str.
    """
    begin_range(name)
    try:
        yield
    finally:
        end_range()
