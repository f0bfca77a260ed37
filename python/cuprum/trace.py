# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Record what a program does on the driver and the devices, for a browser to show.

``CUPRUM_TRACE=file`` records a whole process; here is how to record a part of it::

    with cuprum.trace.record("trace.json"):
        with cuprum.trace.range("first step"):
            ...

Open the file at ``chrome://tracing`` or ``ui.perfetto.dev``, or print where the time went with
``cuprum trace report trace.json``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from cuprum._cuprum import begin_range, end_range, is_tracing, start_trace, stop_trace

__all__ = ["is_tracing", "range", "record", "start", "stop"]


def start(path: str | os.PathLike[str], *, device_work: bool = True) -> None:
    """Start to record every driver call, and the work on the streams.

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
    start_trace(os.fspath(path), device_work)


def stop() -> None:
    """Wait for the work that is being traced, and close the file."""
    stop_trace()


@contextmanager
def record(path: str | os.PathLike[str], *, device_work: bool = True) -> Iterator[None]:
    """Record what happens inside a ``with`` block; see `start`."""
    start(path, device_work=device_work)
    try:
        yield
    finally:
        stop()


@contextmanager
def range(name: str) -> Iterator[None]:
    """Mark what happens inside a ``with`` block by a name.

    It shows in the trace and, with ``CUPRUM_NVTX=1``, in NVIDIA's profilers.
    """
    begin_range(name)
    try:
        yield
    finally:
        end_range()
