# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Reading a device again and again."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuprum._cuprum import Sample, SystemDevice


def sample(device: SystemDevice, interval: float, count: int | None) -> Iterator[Sample]:
    """Check the arguments and return the iterator of `Device.sample`."""
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        raise TypeError(f"interval must be a number of seconds, got {type(interval).__name__}")
    if not 0 < interval < math.inf:
        raise ValueError(f"interval is {interval}, expected more than 0 seconds")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        raise TypeError(f"count must be an int or None, got {type(count).__name__}")
    if count is not None and count < 0:
        raise ValueError(f"count is {count}, expected at least 0, or None for no limit")
    return _samples(device, interval, count)


def _samples(device: SystemDevice, interval: float, count: int | None) -> Iterator[Sample]:
    due = time.monotonic()
    done = 0
    while count is None or done < count:
        if done > 0:
            due += interval
            late = time.monotonic() - due
            if late > 0:  # the reader was slow: skip what it missed
                due += math.ceil(late / interval) * interval
            time.sleep(max(0.0, due - time.monotonic()))
        yield device.read_sample()
        done += 1
