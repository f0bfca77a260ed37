# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Events between processes."""

from __future__ import annotations

from cuprum import _cuprum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class IPCEventDescriptor:
    """An event of another process, from ``Event.ipc_descriptor``.

    Plain bytes: pickle it and send it any way you like. Two are equal if they name one event.
    """

    __slots__ = ("_is_blocking_sync", "_reserved")

    _reserved: bytes
    _is_blocking_sync: bool

    def __init__(self, *args: object, **kwargs: object) -> None:  # noqa: ARG002
        raise RuntimeError(
            "IPCEventDescriptor objects cannot be instantiated directly. Use Event.ipc_descriptor"
        )

    @classmethod
    def _init(cls, reserved: bytes, is_blocking_sync: bool) -> IPCEventDescriptor:
        made = cls.__new__(cls)
        made._reserved = bytes(reserved)
        made._is_blocking_sync = bool(is_blocking_sync)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return _restore_descriptor, (self._reserved, self._is_blocking_sync)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IPCEventDescriptor):
            return NotImplemented
        return self._reserved == other._reserved

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<IPCEventDescriptor {self._reserved[:8].hex()}...>"


def make_picklable() -> None:
    """Let ``multiprocessing`` send shared events; called when the first one is made."""
    global _is_picklable
    if not _is_picklable:
        from multiprocessing.reduction import ForkingPickler

        ForkingPickler.register(_cuprum.Event, reduce_event)
        _is_picklable = True


def reduce_event(event: _cuprum.Event) -> tuple[Callable[..., object], tuple[object, ...]]:
    """Return how ``multiprocessing`` sends an event."""
    from cuprum._processes import check_multiprocessing_start_method

    check_multiprocessing_start_method()
    return _restore_event, (event.ipc_descriptor,)


_is_picklable = False


def _restore_descriptor(reserved: bytes, is_blocking_sync: bool) -> IPCEventDescriptor:
    return IPCEventDescriptor._init(reserved, is_blocking_sync)


def _restore_event(descriptor: IPCEventDescriptor) -> _cuprum.Event:
    make_picklable()
    return _cuprum.Event.from_ipc_descriptor(descriptor)
