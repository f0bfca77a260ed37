# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Private helpers of ``cuda.core``'s memory that programs and its tests reach for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cuprum import _cuprum
from cuprum._copy import CopyOptions, MemcpySrcAccessOrder
from cuprum._cuprum import GraphMemoryResourceAttributes, IPCAllocationHandle
from cuprum._cuprum import MemoryPoolAttributes as _MemPoolAttributes
from cuprum._cuprum import SynchronousMemoryResource as _SynchronousMemoryResource
from cuprum._host import Host
from cuprum._ipc_memory import IPCBufferDescriptor
from cuprum._ipc_memory import reduce_handle as _reduce_allocation_handle
from cuprum._ipc_memory import send_pool as _deep_reduce_device_memory_resource

__all__ = [
    "GraphMemoryResourceAttributes",
    "IPCAllocationHandle",
    "IPCBufferDescriptor",
    "_MemPoolAttributes",
    "_SynchronousMemoryResource",
    "_deep_reduce_device_memory_resource",
    "_reduce_allocation_handle",
]


class _Location(NamedTuple):
    """A location of managed memory."""

    kind: str
    id: int


def DMR_mempool_get_access(pool: _cuprum.DeviceMemoryResource, device_id: int) -> str:  # noqa: N802
    """Return what a device may do with a pool's memory: ``"rw"`` or nothing."""
    return pool._access_of(device_id)


def _coerce_location(value: object, *, allow_none: bool = False) -> _Location | None:
    """Return the place that an argument stands for."""
    if value is None:
        if not allow_none:
            raise ValueError("location is required: a Device or a Host")
        return None
    if isinstance(value, _cuprum.Device):
        return _Location("device", value.device_id)
    if isinstance(value, Host):
        if value.is_numa_current:
            return _Location("host_numa_current", 0)
        return (
            _Location("host", 0) if value.numa_id is None else _Location("host_numa", value.numa_id)
        )
    raise TypeError(f"location must be a Device, Host, or None, got {type(value).__name__}")


def _get_int_attr(buffer: _cuprum.ManagedBuffer, attribute: object) -> int:
    """Ask the driver for a number about a range of managed memory."""
    from cuprum.drop_in._shims import handle_return

    driver = importlib.import_module("cuda.bindings.driver")
    answer: Any = handle_return(
        driver.cuMemRangeGetAttribute(4, attribute, buffer.handle, buffer.size)
    )
    return int(answer)


def _normalize_copy_options(options: Any, count: int) -> tuple[CopyOptions, ...]:
    """Return one option per copy."""
    if options is None:
        options = CopyOptions()
    if isinstance(options, CopyOptions):
        return (options,) * count
    if not isinstance(options, Sequence):
        raise TypeError(f"options must be CopyOptions or a sequence, got {type(options).__name__}")
    if len(options) != count:
        raise ValueError(f"options length ({len(options)}) does not match the {count} copies")
    for each in options:
        if not isinstance(each, CopyOptions):
            raise TypeError(f"each options element must be CopyOptions, got {type(each).__name__}")
    return tuple(options)


def _attr_run_starts(options: Sequence[CopyOptions]) -> list[int]:
    """Return where each run of equal options begins."""
    return [i for i, each in enumerate(options) if i == 0 or each != options[i - 1]]


def _reject_unsupported_during_api_call(
    order: str, requirement: str, index: int | None = None
) -> None:
    """Raise if a source is to be read during the call, which a plain copy does not do."""
    if order == MemcpySrcAccessOrder.DURING_API_CALL:
        place = "" if index is None else f" at index {index}"
        raise RuntimeError(f"src_access_order=DURING_API_CALL{place} requires {requirement}")


def _number(specs: Mapping[str | None, int], complaint: str) -> Any:
    """Return a static method that gives the driver's number for a spec."""

    def convert(spec: str | None) -> int:
        if complaint.endswith("handle_type") and spec == "win32":
            raise NotImplementedError("win32 is currently not supported as a handle_type")
        if spec in specs:
            return specs[spec]
        raise ValueError(f"{complaint}: {spec!r}, expected one of {list(specs)}")

    return staticmethod(convert)


#: Private converters of ``VirtualMemoryResourceOptions``.
VIRTUAL_MEMORY_CONVERTERS = {
    "_access_to_flags": _number({None: 0, "r": 1, "rw": 3}, "Unknown access spec"),
    "_allocation_type_to_driver": _number(
        {"pinned": 1, "managed": 2}, "Unsupported allocation_type"
    ),
    "_location_type_to_driver": _number(
        {"device": 1, "host": 2, "host_numa": 3, "host_numa_current": 4},
        "Unsupported location_type",
    ),
    "_handle_type_to_driver": _number(
        {None: 0, "posix_fd": 1, "win32_kmt": 4, "fabric": 8}, "Unsupported handle_type"
    ),
    "_granularity_to_driver": _number({"minimum": 0, "recommended": 1}, "Unsupported granularity"),
}
