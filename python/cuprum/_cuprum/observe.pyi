# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Traces and fault injection."""

import os

def start_trace(path: str | os.PathLike[str], has_device_work: bool) -> None:
    """Start a trace; see ``cuprum.trace``."""

def stop_trace() -> None:
    """Stop the trace; see ``cuprum.trace``."""

def is_tracing() -> bool:
    """Return whether a trace is being recorded.

    Returns
    -------
    bool
        True between ``start`` and ``stop``.
    """

def begin_range(name: str) -> None:
    """Begin a range; see ``cuprum.trace``."""

def end_range() -> None:
    """End a range; see ``cuprum.trace``."""

class FaultInjection:
    """A driver call that fails inside a ``with`` block.

    See ``cuprum.testing.fail_call``.

    Examples
    --------
    >>> with cuprum.testing.fail_call("cuEventCreate", code=2):
    ...     try:
    ...         device.create_event()
    ...     except cuprum.CUDAError as error:
    ...         print(error.name)
    CUDA_ERROR_OUT_OF_MEMORY
    """

    def __init__(self, function: str, nth: int, code: int) -> None: ...
    def __enter__(self) -> object: ...
    def __exit__(self, *args: object) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def call_count(self) -> int:
        """Return how often the function was called."""

    @property
    def failed_call(self) -> str:
        """Return the function that was made to fail, or an empty string."""
