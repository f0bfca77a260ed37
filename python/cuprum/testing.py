# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Help programs to test what they do about errors."""

from __future__ import annotations

from cuprum._cuprum import FaultInjection
from cuprum._public_names import public_names

__all__ = ["FaultInjection", "fail_call"]

__dir__ = public_names(globals())

_UNKNOWN_ERROR = 999


def fail_call(function: str, nth: int = 1, code: int = _UNKNOWN_ERROR) -> FaultInjection:
    """Make a driver call fail inside a ``with`` block.

    The call does not reach the driver, unless it releases something. A release still happens, so
    that a test leaks nothing, and its call reports the failure.

    Parameters
    ----------
    function : str
        The driver function, ``"cuMemcpyAsync"``, or ``"*"`` for any.
    nth : int, optional
        Which of its calls fails, the next one being 1.
    code : int, optional
        The error code that it returns; 2 means out of memory.

    Returns
    -------
    FaultInjection
        A context manager that counts the calls.

    Raises
    ------
    ValueError
        When the block begins: if the library calls no such function, `nth` is less than 1, or
        `code` is 0.

    Examples
    --------
    >>> with fail_call("cuMemAllocFromPoolAsync", code=2):
    ...     device.allocate(1024, stream=stream)
    Traceback (most recent call last):
    cuprum.OutOfMemoryError: ...
    """
    return FaultInjection(function, nth, code)
