# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""How copies are made."""

# NOTE: annotations are evaluated here, because `__module__` of the class is cuprum.utils, where
# their names do not exist.
from dataclasses import dataclass

from cuprum._calls import explained
from cuprum._cuprum import Device
from cuprum._host import Host
from cuprum.typing import _StrEnum


class MemcpySrcAccessOrder(_StrEnum):
    """The time at which a copy may read its source."""

    STREAM = "stream"
    DURING_API_CALL = "during_api_call"
    ANY = "any"


class MemcpyOverlapMode(_StrEnum):
    """Whether a copy should avoid the multiprocessors."""

    DEFAULT = "default"
    PREFER_OVERLAP_WITH_COMPUTE = "prefer_overlap_with_compute"


@explained
@dataclass(frozen=True)
class CopyOptions:
    """Options for one copy.

    Attributes
    ----------
    src_access_order : MemcpySrcAccessOrder or str
        When the source may be read: in the stream's order; before the call returns, so that it may
        be changed after that; at any time, since it does not change.
    src_location_hint, dst_location_hint : Device or Host or None
        Where managed memory is.
    overlap_mode : MemcpyOverlapMode or str
        Whether the copy should leave the multiprocessors alone.

    Raises
    ------
    ValueError
        For a string that is none of these.
    TypeError
        For a hint that is no place.

    Examples
    --------
    >>> options = cuprum.utils.CopyOptions(src_access_order="any")
    >>> other = device.allocate(1024, stream=stream)
    >>> other.copy_from(buffer, stream=stream, options=options)
    """

    src_access_order: MemcpySrcAccessOrder | str = MemcpySrcAccessOrder.STREAM
    src_location_hint: Device | Host | None = None
    dst_location_hint: Device | Host | None = None
    overlap_mode: MemcpyOverlapMode | str = MemcpyOverlapMode.DEFAULT

    def __post_init__(self) -> None:
        for field, kind in (
            ("src_access_order", MemcpySrcAccessOrder),
            ("overlap_mode", MemcpyOverlapMode),
        ):
            value = getattr(self, field)
            try:
                object.__setattr__(self, field, kind(value))
            except ValueError:
                known = ", ".join(repr(each.value) for each in kind)
                raise ValueError(f"invalid {field} {value!r}, expected one of {known}") from None
        for field in ("src_location_hint", "dst_location_hint"):
            value = getattr(self, field)
            if not isinstance(value, Device | Host | None):
                given = type(value).__name__
                raise TypeError(f"{field} must be a Device, Host, or None, got {given}")


for _class in (MemcpySrcAccessOrder, MemcpyOverlapMode, CopyOptions):
    _class.__module__ = "cuprum.utils"
