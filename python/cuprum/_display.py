# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What objects show of themselves: ``repr`` of resources, and HTML for notebooks.

Names come from programs and files. They are untrusted, and every text is escaped.
"""

from __future__ import annotations

import base64
import functools
import html
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from cuprum._errors import CUDAError

if TYPE_CHECKING:
    from cuprum import Buffer, Device, Kernel, MemoryResource, ObjectCode
    from cuprum.graph import GraphDefinition

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_MOST_NAMES = 20


def _or_repr(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Show an object that the driver no longer knows, as after a reset, by its `repr`."""

    @functools.wraps(show)
    def shown(self: Any) -> str:
        try:
            return show(self)
        except CUDAError:
            return f"<pre>{html.escape(repr(self))}</pre>"

    return shown


@_or_repr
def device(self: Device) -> str:
    """Return a device as HTML. Creates no context."""
    capability = self.compute_capability
    memory = size(self.total_memory)
    if self.is_primary_context_active:
        memory = f"{size(self.memory_info.free)} free of {memory}"
    return _table(
        f"Device {self.device_id}",
        [
            ("name", self.name),
            ("kind", "emulated on the CPU" if self.is_emulated else "GPU"),
            ("compute capability", f"{capability.major}.{capability.minor}"),
            ("multiprocessors", self.properties.multiprocessor_count),
            ("memory", memory),
            ("PCI", self.pci_bus_id),
        ],
    )


@_or_repr
def buffer(self: Buffer) -> str:
    """Return a buffer as HTML."""
    title = type(self).__name__
    if self.is_closed:
        return _table(title, [("state", "closed")])
    resource = self.memory_resource
    owner = self.owner
    rows = [
        ("address", f"{int(self.handle):#x}"),
        ("size", size(self.size) + (f" ({self.size:,} bytes)" if self.size >= 1024 else "")),
    ]
    if self.is_managed:
        kind = "managed"
    elif not self.is_host_accessible:
        kind = "device"
    else:
        kind = "pinned" if self.is_device_accessible else "host"
    rows.append(("memory", kind if self.device_id < 0 else f"{kind}, device {self.device_id}"))
    if resource is not None:
        rows.append(("resource", type(resource).__name__))
    if owner is not None:
        rows.append(("owner", type(owner).__name__))
    return _table(title, rows)


@_or_repr
def kernel(self: Kernel) -> str:
    """Return a kernel as HTML."""
    if self.is_closed:
        return _table("Kernel", [("state", "closed")])
    rows: list[tuple[str, object]] = [("name", self.name)]
    words = self._parameter_words
    if words is not None:
        rows.append(("parameters", ", ".join(words) or "none"))
    attributes = self.attributes
    rows += [
        ("registers per thread", attributes.num_regs),
        ("shared memory per block", size(attributes.shared_size_bytes)),
        ("threads per block", f"at most {attributes.max_threads_per_block}"),
    ]
    return _table("Kernel", rows)


@_or_repr
def object_code(self: ObjectCode) -> str:
    """Return compiled code as HTML."""
    if self.is_closed:
        return _table("ObjectCode", [("state", "closed")])
    code = self.code
    rows: list[tuple[str, object]] = [("name", self.name), ("kind", self.code_type)]
    if isinstance(code, bytes):
        rows.append(("size", size(len(code))))
    if self.symbol_mapping:
        names = list(self.symbol_mapping)
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        rows.append(("names", ", ".join(map(str, names[:_MOST_NAMES])) + more))
    return _table("ObjectCode", rows)


@_or_repr
def graph(self: GraphDefinition) -> str:
    """Return a graph as HTML: its counts and its picture, or a tree of text without Graphviz."""
    if self.is_closed:
        return _table("GraphDefinition", [("state", "closed")])
    kinds: dict[str, int] = {}
    nodes = self.nodes()
    for node in nodes:
        kind = type(node).__name__
        kinds[kind] = kinds.get(kind, 0) + 1
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    summary = _table(
        "GraphDefinition",
        [("nodes", f"{len(nodes)} ({counted})" if nodes else "0"), ("edges", len(self.edges()))],
    )
    picture = self._repr_svg_()
    if picture is None:
        return f"{summary}<pre>{html.escape(self.to_text())}</pre>"
    # As an image, the picture cannot run scripts.
    data = base64.b64encode(picture.encode()).decode()
    return f'{summary}<img alt="the nodes of the graph" src="data:image/svg+xml;base64,{data}">'


def memory_resource(self: MemoryResource) -> str:
    """Return `repr` of a memory resource, which may be of a class that leaves things out."""
    parts = [type(self).__name__]
    try:
        if getattr(self, "is_closed", False):
            return f"<{parts[0]} closed>"
        handle = getattr(self, "handle", None)
        device_id = self.device_id
    except Exception:
        return f"<{parts[0]} at {id(self):#x}>"
    if device_id >= 0:
        parts.append(f"device={device_id}")
    parts.append(f"handle={int(handle):#x}" if handle is not None else f"at {id(self):#x}")
    return f"<{' '.join(parts)}>"


def size(count: int) -> str:
    """Return a number of bytes in the unit that people would use."""
    amount = float(count)
    for unit in _UNITS:
        if amount < 1024 or unit == _UNITS[-1]:
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if amount.is_integer() else f"{amount:.1f} {unit}"


def _table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    body = "".join(
        f'<tr><th style="text-align:left;padding-right:1em">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(str(value))}</td></tr>'
        for name, value in rows
    )
    return (
        '<table style="border-collapse:collapse">'
        f'<caption style="text-align:left;font-weight:bold">{html.escape(title)}</caption>'
        f"<tbody>{body}</tbody></table>"
    )
