# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Small named tuples that describe devices and kernels."""

from __future__ import annotations

from typing import NamedTuple


class ComputeCapability(NamedTuple):
    """The compute capability of a device."""

    major: int
    minor: int


class MemoryInfo(NamedTuple):
    """Free and total memory of a device, in bytes."""

    free: int
    total: int


class ContextFlags(NamedTuple):
    """The flags of a context; see ``Context.set_flags``."""

    wait: str = "auto"
    map_host: bool = False
    resize_local_memory: bool = False
    coredump_on_error: bool = False
    user_coredump: bool = False
    sync_memory_operations: bool = False


class AccessPolicyWindow(NamedTuple):
    """A range of memory with its own policy for the L2 cache.

    Attributes
    ----------
    base : int
        The address it begins at.
    bytes : int
        Its size.
    hit_ratio : float
        The share of it, from 0 to 1, whose accesses are `hit`.
    hit, miss : AccessPropertyType or str
        What the L2 cache does with accesses to that share, and to the rest: ``"normal"``,
        ``"streaming"`` or, only for `hit`, ``"persisting"``.

    Examples
    --------
    >>> window = cuprum.AccessPolicyWindow(buffer.handle, 512, hit_ratio=1.0, hit="streaming")
    >>> config = cuprum.LaunchConfig(grid=1, block=32, access_policy_window=window)
    """

    base: int
    bytes: int
    hit_ratio: float = 1.0
    hit: str = "persisting"
    miss: str = "normal"


class ParamInfo(NamedTuple):
    """Offset and size of a parameter in a kernel's parameter block, in bytes."""

    offset: int
    size: int


class MaxPotentialBlockSizeOccupancyResult(NamedTuple):
    """The block size that suits a device best, and the number of such blocks that fill it."""

    min_grid_size: int
    max_block_size: int


# Users and pickle see these names, wherever the classes are defined.
for _class in (AccessPolicyWindow,):
    _class.__module__ = "cuprum"
