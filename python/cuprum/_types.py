# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Small named tuples that describe devices and kernels."""

from __future__ import annotations

from typing import NamedTuple


class ComputeCapability(NamedTuple):
    """Hold a device's compute capability."""

    major: int
    minor: int


class MemoryInfo(NamedTuple):
    """Hold free and total memory of a device, in bytes."""

    free: int
    total: int


class ParamInfo(NamedTuple):
    """Hold where a parameter lies in a kernel's parameter block, in bytes."""

    offset: int
    size: int
