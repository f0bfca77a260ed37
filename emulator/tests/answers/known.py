# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The answers in which the emulated device differs from the recorded driver, with the reasons."""

from typing import NamedTuple


class Difference(NamedTuple):
    """Lines of a group ("" for all groups) that match a pattern from their beginning."""

    group: str
    pattern: str
    reason: str


# What the recorded GPU is, rather than what its driver accepts.
IGNORED_GROUPS = {"attributes"}

DIFFERENCES = (
    Difference("", r".*sparse", "sparse arrays are not supported"),
    Difference("formats", r"format \S+ sparse2d", "sparse arrays are not supported"),
)
