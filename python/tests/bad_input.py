# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Tables of bad input, with the errors that functions must raise for it.

A test combines one of these tables with a table of functions. Each function takes the bad value.
"""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import cuprum

HUGE = 1 << 70
# More than any device has, but less than the address space.
TOO_MUCH = 1 << 45


class Stranger:
    """A type that no function expects."""


class Failing:
    """An object whose conversion to an integer fails."""

    def __index__(self):
        raise ZeroDivisionError


def integers(name):
    """List bad values for an integer argument that starts at 0, with the error and its text."""
    return [
        ("16", TypeError, f"{name} must be an integer, got str"),
        (None, TypeError, f"{name} must be an integer, got None"),
        (1.5, TypeError, f"{name} must be an integer, got float"),
        (Stranger(), TypeError, f"{name} must be an integer, got Stranger"),
        (-1, ValueError, f"{name} must be at least 0, got -1"),
        (HUGE, OverflowError, f"{name} must be from 0 to 2**63 - 1, got {HUGE}"),
    ]


def addresses(name):
    """List bad values for an address."""
    return [
        (bytearray(b"16"), TypeError, f"{name} must be an integer, got bytearray"),
        (np.float32(16), TypeError, f"{name} must be an integer, got float32"),
        (Decimal(16), TypeError, f"{name} must be an integer, got Decimal"),
        (Failing(), ZeroDivisionError, ""),
        ("16", TypeError, f"{name} must be an integer, got str"),
        (None, TypeError, f"{name} must be an integer, got None"),
        (1.5, TypeError, f"{name} must be an integer, got float"),
        (b"16", TypeError, f"{name} must be an integer, got bytes"),
        (Fraction(7, 2), TypeError, f"{name} must be an integer, got Fraction"),
        (-1, ValueError, f"{name} must be from 0 to 2**64 - 1, got -1"),
        (HUGE, ValueError, f"{name} must be from 0 to 2**64 - 1, got {HUGE}"),
    ]


def numbers(name):
    """List bad values for an argument of several integers."""
    return [
        ("4", TypeError, f"{name} must be a tuple of integers, got str"),
        (None, TypeError, f"{name} must be a tuple of integers, got None"),
        (4, TypeError, f"{name} must be a tuple of integers, got int"),
        (b"4", TypeError, f"{name} must be a tuple of integers, got bytes"),
        ((1.5,), TypeError, f"{name} must be a tuple of integers, but holds float"),
        ((HUGE,), ValueError, f"{name} holds {HUGE}, expected a number of at most 64 bits"),
    ]


def buffers(name):
    """List bad values for a buffer."""
    return [
        ("x", TypeError, f"{name} must be a Buffer, got str"),
        (None, TypeError, f"{name} must be a Buffer, got None"),
        (4096, TypeError, f"{name} must be a Buffer, got int"),
        (bytearray(64), TypeError, f"{name} must be a Buffer, got bytearray"),
        (cuprum.Buffer.__new__(cuprum.Buffer), TypeError, f"{name} is a Buffer made with __new__"),
    ]


def streams(device, none_is_refused=True):
    """List bad values for a stream."""
    closed = device.create_stream()
    closed.close()
    refused = [
        ("x", TypeError, "Stream or GraphBuilder expected for stream, got str"),
        (0, TypeError, "Stream or GraphBuilder expected for stream, got int"),
        (closed, cuprum.ClosedError, "this Stream was closed"),
    ]
    if none_is_refused:
        refused.append((None, TypeError, "stream is required and must not be None; pass device."))
    return refused


def check(label, action, value, error, text):
    """Check that an action raises an error with this text for a value."""
    with pytest.raises(error) as caught:
        action(value)
    assert text in str(caught.value), f"{label} with {value!r}: {caught.value}"
    assert not isinstance(caught.value, cuprum.CUDAError) or issubclass(error, cuprum.CUDAError), (
        f"{label} with {value!r} went to the driver"
    )


def check_all(label, action, refused):
    """Check an action with a table of bad values."""
    for value, error, text in refused:
        check(label, action, value, error, text)


def has_figures(error, requested):
    """Return whether an OutOfMemoryError contains the requested and the available size."""
    text = (
        rf"\({error.requested_bytes} bytes\) were requested, .*\({error.free_bytes} bytes\) are "
        r"free of .*\(\d+ bytes\)"
    )
    return error.requested_bytes >= requested and re.search(text, str(error)) is not None
