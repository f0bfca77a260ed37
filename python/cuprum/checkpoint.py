# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Checkpoints of the CUDA state of processes.

A process is locked, checkpointed, restored and unlocked, in this order. While it is checkpointed,
its device memory lies in host memory and other processes can use its devices.
"""

from __future__ import annotations

from cuprum._cuprum import Process
from cuprum._public_names import public_names

__all__ = ["Process"]

__dir__ = public_names(globals())
