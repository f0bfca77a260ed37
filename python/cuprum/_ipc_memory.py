# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Memory shared between processes: which pools are known here, and how objects are sent.

A pool has a UUID, made where it is exported. ``multiprocessing`` sends a pool as its file
descriptor with the UUID, and the importer enters it here; whatever else is sent, by pickle or by
``multiprocessing``, names the pool by its UUID and finds it. Entries are weak: a pool that nobody
holds any more is gone.
"""

from __future__ import annotations

import uuid as _uuid
from collections.abc import Callable
from weakref import WeakKeyDictionary, WeakValueDictionary

from cuprum import _cuprum

_registry: WeakValueDictionary[_uuid.UUID, _cuprum.MemoryPool] = WeakValueDictionary()
# Keep one object per pool, so that multiprocessing sends a pool only once.
_handles: WeakKeyDictionary[_cuprum.MemoryPool, _cuprum.IPCAllocationHandle] = WeakKeyDictionary()
_is_picklable = False


class IPCBufferDescriptor:
    """A buffer of another process, from ``Buffer.ipc_descriptor``.

    Plain bytes: pickle it and send it in any way. A received descriptor is untrusted input;
    ``Buffer.from_ipc_descriptor`` compares it with what is really mapped.
    """

    __slots__ = ("_payload", "_size")

    _payload: bytes
    _size: int

    def __init__(self, *args: object, **kwargs: object) -> None:  # noqa: ARG002 -- it takes any
        raise RuntimeError(
            "IPCBufferDescriptor objects cannot be instantiated directly; use Buffer.ipc_descriptor"
        )

    @classmethod
    def _init(cls, payload: bytes, size: int) -> IPCBufferDescriptor:
        made = cls.__new__(cls)
        made._payload = bytes(payload)
        made._size = int(size)
        return made

    @property
    def size(self) -> int:
        """Return the buffer's size in bytes, as the sender says."""
        return self._size

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _restore_descriptor, (self._payload, self._size)

    def __repr__(self) -> str:
        return f"<IPCBufferDescriptor size={self._size}>"


def new_uuid(pool: _cuprum.MemoryPool) -> _uuid.UUID:
    """Make up a UUID for a pool of this process and enter the pool under it."""
    made = _uuid.uuid4()
    _registry[made] = pool
    return made


def handle_of(pool: _cuprum.MemoryPool) -> _cuprum.IPCAllocationHandle:
    """Return the handle that a pool is exported as, made anew if it was closed."""
    handle = _handles.get(pool)
    if handle is None or handle.is_closed:
        handle = _handles[pool] = pool._export()
    return handle


def register(pool: _cuprum.MemoryPool, uuid: _uuid.UUID) -> _cuprum.MemoryPool:
    """Enter an imported pool; return what is entered."""
    _check_uuid(uuid)
    existing = _registry.get(uuid)
    if existing is not None:
        return existing
    if not pool.is_ipc_enabled:
        raise RuntimeError(
            "Memory resource is not IPC-enabled: make the pool with ipc_enabled to share it"
        )
    if pool.uuid not in (None, uuid):
        raise ValueError(f"uuid is {uuid}, but the pool is known as {pool.uuid}")
    pool._set_uuid(uuid)
    return _registry.setdefault(uuid, pool)


def from_registry(uuid: _uuid.UUID) -> _cuprum.MemoryPool:
    """Return the pool that is entered under a UUID."""
    _check_uuid(uuid)
    try:
        return _registry[uuid]
    except KeyError:
        raise RuntimeError(
            f"Memory resource {uuid} was not found: send the pool itself to this process first"
        ) from None


def forget(pool: _cuprum.MemoryPool, uuid: _uuid.UUID) -> None:
    """Take a pool out that is being closed."""
    _handles.pop(pool, None)
    if _registry.get(uuid) is pool:
        del _registry[uuid]


def import_pool(
    cls: type[_cuprum.DeviceMemoryResource] | type[_cuprum.PinnedMemoryResource],
    device: _cuprum.Device | None,
    handle: int | _cuprum.IPCAllocationHandle,
) -> _cuprum.MemoryPool:
    """Return the pool that a handle stands for, imported unless it is known."""
    if isinstance(handle, bool) or not isinstance(handle, (int, _cuprum.IPCAllocationHandle)):
        raise TypeError(
            f"alloc_handle must be an int or an IPCAllocationHandle, got {type(handle).__name__}"
        )
    make_picklable()
    uuid = None
    if isinstance(handle, _cuprum.IPCAllocationHandle):
        _ = handle.handle  # raises if the handle is closed, even if the pool is known
        uuid = handle.uuid
    known = None if uuid is None else _registry.get(uuid)
    if known is not None:
        if not isinstance(known, cls):
            raise TypeError(
                f"the pool {uuid} is a {type(known).__name__}, but a {cls.__name__} is asked for"
            )
        if device is not None and known.device_id != device.device_id:
            raise ValueError(
                f"device_id is {device.device_id}, but the pool {uuid} is one of device "
                f"{known.device_id}"
            )
        return known
    if isinstance(handle, int):
        handle = _cuprum.IPCAllocationHandle._duplicate(handle)
    pool = cls._import(device, handle)
    return pool if uuid is None else register(pool, uuid)


# ---- sending ------------------------------------------------------------------------------------


def make_picklable() -> None:
    """Let ``multiprocessing`` send pools and handles; called when the first one is made."""
    global _is_picklable
    if not _is_picklable:
        from multiprocessing.reduction import ForkingPickler

        ForkingPickler.register(_cuprum.IPCAllocationHandle, reduce_handle)
        ForkingPickler.register(_cuprum.DeviceMemoryResource, send_pool)
        ForkingPickler.register(_cuprum.PinnedMemoryResource, send_pool)
        _is_picklable = True


def reduce_handle(
    handle: _cuprum.IPCAllocationHandle,
) -> tuple[Callable[..., object], tuple[object, ...]]:
    """Return how ``multiprocessing`` sends a handle: its file descriptor goes along."""
    from multiprocessing.reduction import DupFd

    from cuprum._processes import check_multiprocessing_start_method

    check_multiprocessing_start_method()
    return _restore_handle, (DupFd(handle.handle), handle.uuid)


def send_pool(pool: _cuprum.MemoryPool) -> tuple[Callable[..., object], tuple[object, ...]]:
    """Return how ``multiprocessing`` sends a pool: its file descriptor goes along."""
    from cuprum._processes import check_multiprocessing_start_method

    check_multiprocessing_start_method()
    _check_shared(pool)
    return _receive_pool, (type(pool).__name__, pool.device_id, pool.allocation_handle)


def reduce_pool(pool: _cuprum.MemoryPool) -> tuple[Callable[..., object], tuple[object, ...]]:
    """Return how pickle sends a pool: by its UUID alone."""
    _check_shared(pool)
    return from_registry, (pool.uuid,)


def reduce_buffer(buffer: _cuprum.Buffer) -> tuple[Callable[..., object], tuple[object, ...]]:
    """Return how a buffer is sent: its pool, however that is sent, and its descriptor.

    A part is sent as its whole, and cut out again over there.
    """
    whole = buffer._whole
    if (whole.handle, whole.size) == (buffer.handle, buffer.size):
        return _restore_buffer, (buffer.memory_resource, buffer.ipc_descriptor)
    offset = buffer.handle - whole.handle
    return _restore_part, (buffer.memory_resource, whole.ipc_descriptor, offset, buffer.size)


def _check_uuid(uuid: object) -> None:
    if not isinstance(uuid, _uuid.UUID):
        raise TypeError(f"uuid must be a uuid.UUID, got {type(uuid).__name__}")


def _check_shared(pool: _cuprum.MemoryPool) -> None:
    if not pool.is_ipc_enabled:
        raise RuntimeError(
            "Memory resource is not IPC-enabled: only pools made with ipc_enabled can be sent to "
            "other processes"
        )
    if pool.uuid is None:
        raise RuntimeError(
            "the pool was imported from a bare file descriptor and has no UUID; register() it "
            "under the exporter's first"
        )


def _restore_descriptor(payload: bytes, size: int) -> IPCBufferDescriptor:
    return IPCBufferDescriptor._init(payload, size)


def _restore_handle(descriptor: object, uuid: _uuid.UUID | None) -> _cuprum.IPCAllocationHandle:
    make_picklable()
    number = descriptor.detach()  # type: ignore[attr-defined]
    return _cuprum.IPCAllocationHandle._init(number, uuid)


def _receive_pool(
    class_name: str, device_id: int, handle: _cuprum.IPCAllocationHandle
) -> _cuprum.MemoryPool:
    device = _make_current(device_id)
    # NOTE: do not close the handle here; it may also have been sent separately.
    return import_pool(getattr(_cuprum, class_name), device if device_id >= 0 else None, handle)


def _restore_buffer(pool: _cuprum.MemoryPool, descriptor: IPCBufferDescriptor) -> _cuprum.Buffer:
    device = _make_current(pool.device_id)
    return _cuprum.Buffer.from_ipc_descriptor(pool, descriptor, stream=device.default_stream)


def _restore_part(
    pool: _cuprum.MemoryPool, descriptor: IPCBufferDescriptor, offset: int, size: int
) -> _cuprum.Buffer:
    whole = _restore_buffer(pool, descriptor)
    if offset < 0 or size < 0 or offset + size > whole.size:
        raise ValueError(
            f"the part of {size} bytes from offset {offset} does not lie in the buffer of "
            f"{whole.size} bytes: it was changed on its way"
        )
    return whole[offset : offset + size]


def _make_current(device_id: int) -> _cuprum.Device:
    """Return a device, made current if the process is so fresh that none is."""
    device = _cuprum.Device(max(device_id, 0))
    if not _cuprum.has_current_context():
        device.set_current()
    return device


for _class in (IPCBufferDescriptor,):
    _class.__module__ = "cuprum"
