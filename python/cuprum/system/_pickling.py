# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What pickled objects of ``cuprum.system`` are made again with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuprum._cuprum import SystemDevice


def device(uuid: str) -> SystemDevice:
    """Find a device by its UUID."""
    from cuprum.system import Device

    return Device(uuid=uuid)
