# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Differences to ``cuda.core`` that the drop-in turns off; compiled code: compatibility.hpp."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
from collections.abc import Callable

# The types of cuda.bindings.driver for handles.
_HANDLE_TYPES = {
    "Context": "CUcontext",
    "Event": "CUevent",
    "Graph": "CUgraphExec",
    "GraphDefinition": "CUgraph",
    "GraphNode": "CUgraphNode",
    "Kernel": "CUkernel",
    "MemoryPool": "CUmemoryPool",
    "ObjectCode": "CUlibrary",
    "Stream": "CUstream",
}
# Names of DeviceProperties that cuda.core lacks. Hide them, because some programs list all names.
_NOT_IN_REFERENCE = {
    "can_use_64_bit_stream_mem_ops_v1",
    "can_use_stream_mem_ops_v1",
    "can_use_stream_wait_value_nor_v1",
    "cooperative_multi_device_launch",
    "get",
    "is_supported",
    "names",
}


def follow_reference() -> None:
    """Switch the whole process to the reference's behaviour."""
    from cuprum import _cuprum
    from cuprum.drop_in import _compiling, _system

    _compiling.follow_reference()
    _system.follow_reference()
    _cuprum.follow_reference(True)
    _give_private_names()
    _give_symbols_as_bytes()
    _show_handles_of_object_code()
    _let_closed_objects_read_as_nothing()
    _word_closed_graphics_resources()
    _let_objects_be_copied()
    _settle_architecture()
    if importlib.util.find_spec("cuda.bindings") is not None:
        _give_handles_as_bindings()
        _give_handles_of_compilers_as_bindings()
        _give_node_types_as_bindings()


def _give_symbols_as_bytes() -> None:
    """Give the decorated names of `ObjectCode.symbol_mapping` as ``cuda.bindings`` takes them."""
    import cuprum

    own = vars(cuprum.ObjectCode)["symbol_mapping"]

    def symbol_mapping(self: object) -> dict:
        return {name: symbol.encode() for name, symbol in own.__get__(self).items()}

    cuprum.ObjectCode.symbol_mapping = property(symbol_mapping)  # type: ignore[assignment]


def _show_handles_of_object_code() -> None:
    """Show the handle of an `ObjectCode`, which loads it; code that only links has none."""
    import cuprum

    own = cuprum.ObjectCode.__repr__
    handle = vars(cuprum.ObjectCode)["handle"]

    def show(self: cuprum.ObjectCode) -> str:
        if self.is_closed:
            return own(self)
        try:
            value = int(handle.__get__(self))
        except cuprum.CUDAError:
            value = 0
        return f"<ObjectCode handle={value:#x} code_type='{self.code_type}'>"

    cuprum.ObjectCode.__repr__ = show  # type: ignore[method-assign]


def _give_private_names() -> None:
    from cuprum import VirtualMemoryResourceOptions, _cuprum
    from cuprum.drop_in._memory_shims import VIRTUAL_MEMORY_CONVERTERS

    for name, converter in VIRTUAL_MEMORY_CONVERTERS.items():
        setattr(VirtualMemoryResourceOptions, name, converter)

    _cuprum.GraphDefinition.is_valid = property(  # type: ignore[attr-defined]
        lambda self: not self.is_closed, doc="Whether the graph exists."
    )
    _cuprum.Device._context = property(lambda self: self.context)  # type: ignore[attr-defined]
    _cuprum.Context._handle = property(lambda self: self.handle)  # type: ignore[attr-defined]
    _cuprum.DeviceProperties.__dir__ = lambda self: [  # type: ignore[method-assign]
        name for name in object.__dir__(self) if name not in _NOT_IN_REFERENCE
    ]


def _let_closed_objects_read_as_nothing() -> None:
    """Make closed objects have the address, handle or size 0 instead of raising."""
    import cuprum

    for cls, name, value in (
        (cuprum.Buffer, "handle", 0),
        (cuprum.Buffer, "size", 0),
        (cuprum.GraphicsResource, "handle", 0),
        (cuprum.GraphicsResource, "resource_handle", 0),
        (cuprum.GraphicsResource, "is_mapped", False),
        (cuprum.MemoryPool, "handle", 0),
        (cuprum.MemoryPool, "is_handle_owned", False),
        (cuprum.graph.Graph, "handle", 0),
        (cuprum.graph.GraphDefinition, "handle", 0),
    ):
        own = vars(cls)[name]
        setattr(cls, name, property(_tolerant(own, value), doc=own.__doc__))


def _word_closed_graphics_resources() -> None:
    """Say that a `GraphicsResource` has been closed in the words that programs look for."""
    import cuprum

    for name in ("map", "unmap"):
        own = getattr(cuprum.GraphicsResource, name)
        setattr(cuprum.GraphicsResource, name, _refusing_closed(own))


def _refusing_closed(own: Callable) -> Callable:
    import cuprum

    @functools.wraps(own)
    def method(self: cuprum.GraphicsResource, **arguments: object) -> object:
        if self.is_closed:
            raise cuprum.ClosedError("GraphicsResource has been closed")
        return own(self, **arguments)

    return method


def _tolerant(own: object, value: object) -> Callable[[object], object]:
    import cuprum

    def read(self: object) -> object:
        try:
            return own.__get__(self)  # type: ignore[attr-defined]
        except cuprum.ClosedError:
            return value

    return read


def _give_handles_as_bindings() -> None:
    import cuprum

    for class_name, type_name in _HANDLE_TYPES.items():
        cls = getattr(cuprum, class_name, None) or getattr(cuprum.graph, class_name, None)
        if cls is not None and "handle" in vars(cls):
            cls.handle = property(
                _converter(vars(cls)["handle"], type_name), doc=vars(cls)["handle"].__doc__
            )


def _give_handles_of_compilers_as_bindings() -> None:
    """Give the handles of NVRTC and of the driver's linker, and modules, as bindings do."""
    import cuprum

    program, linker = (vars(cls)["handle"] for cls in (cuprum.Program, cuprum.Linker))
    get_module = cuprum.ObjectCode.get_module

    def of_program(self: cuprum.Program) -> object:
        if self.backend == "NVRTC":
            return importlib.import_module("cuda.bindings.nvrtc").nvrtcProgram(
                program.__get__(self)
            )
        return (
            _of_driver(program.__get__(self))
            if self.backend == "driver"
            else (program.__get__(self))
        )

    def of_linker(self: cuprum.Linker) -> object:
        value = linker.__get__(self)
        return _of_driver(value) if self.backend == "driver" else value

    def _of_driver(value: int) -> object:
        return importlib.import_module("cuda.bindings.driver").CUlinkState(value)

    @functools.wraps(get_module)
    def module_of(self: cuprum.ObjectCode) -> object:
        return importlib.import_module("cuda.bindings.driver").CUmodule(get_module(self))

    cuprum.Program.handle = property(of_program, doc=program.__doc__)  # type: ignore[assignment]
    cuprum.Linker.handle = property(of_linker, doc=linker.__doc__)  # type: ignore[assignment]
    cuprum.ObjectCode.get_module = module_of  # type: ignore[assignment]


def _let_objects_be_copied() -> None:
    """Let objects that cannot change, and resources without memory of their own, be copied."""
    import cuprum
    from cuprum import _cuprum, system

    values = [
        value
        for value in vars(system).values()
        if isinstance(value, type) and value.__module__.endswith("system._device")
    ]
    for cls in (
        _cuprum.DeviceProperties,
        _cuprum.GraphCondition,
        _cuprum.ResourceDescriptor,
        cuprum.LegacyPinnedMemoryResource,
        cuprum.VirtualMemoryResource,
        *values,
    ):
        if "__copy__" not in vars(cls):
            cls.__copy__ = lambda self: self  # type: ignore[attr-defined]
    for cls in (_cuprum.DeviceProperties, _cuprum.GraphCondition, cuprum.VirtualMemoryResource):
        setattr(cls, "__deepcopy__", lambda self, _memo: self)  # noqa: B010 -- mypy forbids it
    cuprum.LegacyPinnedMemoryResource.__reduce__ = (  # type: ignore[method-assign]
        lambda self: (type(self), ())
    )


def _settle_architecture() -> None:
    """Let options of a program name the architecture of the current device from the start."""
    import cuprum

    own = cuprum.ProgramOptions.__post_init__

    @functools.wraps(own)
    def settle(self: cuprum.ProgramOptions) -> None:
        own(self)
        if self.arch is None:
            with contextlib.suppress(cuprum.CUDAError, cuprum.LibraryNotFoundError):
                self.arch = f"sm_{cuprum.Device().arch}"

    cuprum.ProgramOptions.__post_init__ = settle  # type: ignore[method-assign]


def _give_node_types_as_bindings() -> None:
    """Give the kind of a graph node as a ``CUgraphNodeType``."""
    import cuprum

    own = vars(cuprum.graph.GraphNode)["type"]

    def node_type(self: object) -> object:
        kind = own.__get__(self)
        driver = importlib.import_module("cuda.bindings.driver")
        return kind and getattr(driver.CUgraphNodeType, f"CU_GRAPH_NODE_TYPE_{kind.name}")

    cuprum.graph.GraphNode.type = property(node_type, doc=own.__doc__)  # type: ignore[assignment]


def _converter(own: object, type_name: str) -> Callable[[object], object]:
    """Return a getter that wraps the int of `own` in a type of ``cuda.bindings.driver``."""

    def handle(self: object) -> object:
        driver = importlib.import_module("cuda.bindings.driver")
        value = own.__get__(self)  # type: ignore[attr-defined]
        return value if value is None else getattr(driver, type_name)(value)

    return handle
