# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The set of locations that keep managed memory mapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuprum._live_set import LiveSet

if TYPE_CHECKING:
    from cuprum import Device, Host, ManagedBuffer


class AccessedBySetProxy(LiveSet):
    """The set of locations that are advised to keep a buffer mapped.

    Live: reading asks the driver, changing advises it. Members are devices and ``Host()``; a single
    NUMA node cannot be one. The binary operators give plain sets.
    """

    __slots__ = ("_buffer",)

    def __init__(self, buffer: ManagedBuffer) -> None:
        self._buffer = buffer

    def _members(self) -> list[Device | Host]:
        return self._buffer._accessors()

    def _replace(self, members: list[Device | Host]) -> None:
        self._buffer.accessed_by = members
