# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Print what Python tells about ``cuda.core``, as JSON: the facts that programs can ask for.

Runs in the interpreter of the package to describe, on the emulated device. The answer maps a path,
such as ``cuda.core.Device.sync``, to its facts. tools/reference-tests --attributes compares both.
"""

from __future__ import annotations

import copy
import importlib
import importlib.metadata
import importlib.resources
import importlib.util
import inspect
import json
import pickle
import re
import sys
import types
import typing
import warnings
import weakref
from collections.abc import Callable, Iterator

PUBLIC_MODULES = (
    "cuda.core",
    "cuda.core.checkpoint",
    "cuda.core.graph",
    "cuda.core.system",
    "cuda.core.system.typing",
    "cuda.core.texture",
    "cuda.core.typing",
    "cuda.core.utils",
)
#: Private names that programs cannot avoid.
PRIVATE_NAMES = {
    "cuda.core._device": ("Device", "DeviceProperties"),
    "cuda.core._memory._ipc": ("IPCAllocationHandle", "IPCBufferDescriptor"),
    "cuda.core._memory._virtual_memory_resource": ("VirtualMemoryResource",),
    "cuda.core._module": ("Kernel", "KernelAttributes", "KernelOccupancy", "ParamInfo"),
    "cuda.core._stream": ("IsStreamType", "Stream"),
    "cuda.core._utils.cuda_utils": (
        "CUDAError",
        "ComputeCapability",
        "NVRTCError",
        "handle_return",
    ),
}
_FLAG_SUBCLASSABLE = 1 << 10  # Py_TPFLAGS_BASETYPE
_DEFAULT_HIDDEN = frozenset(dir(object)) | {"__dict__", "__weakref__", "__module__", "__slots__"}

Facts = dict[str, object]


def main() -> None:
    """Print the facts of all public modules and of samples of their objects."""
    if "--drop-in" in sys.argv:
        import cuprum.drop_in

        cuprum.drop_in.install()
    found: dict[str, Facts] = {}
    for name in PUBLIC_MODULES:
        found.update(of_module(name))
    for name, members in PRIVATE_NAMES.items():
        module = importlib.import_module(name)
        for member in members:
            found.update(of_value(f"{name}.{member}", getattr(module, member)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, sample in samples():
            found.update(of_sample(path, sample))
    json.dump(found, sys.stdout, indent=1, sort_keys=True)


def of_module(name: str) -> dict[str, Facts]:
    """Return the facts of a module and of its public names."""
    module = importlib.import_module(name)
    spec = importlib.util.find_spec(name)
    facts: Facts = {
        "kind": "module",
        "doc": True,  # not every module of the original has one
        "is_package": hasattr(module, "__path__"),
        "spec": spec is not None and spec.name,
        "is_module": isinstance(module, types.ModuleType),
        "names": sorted(module.__all__),
        "dir": sorted(n for n in module.__all__ if n in dir(module)) == sorted(module.__all__),
    }
    if facts["is_package"]:
        facts["has_files"] = outcome(lambda: importlib.resources.files(name).is_dir())
    if name == "cuda.core":
        facts["version"] = module.__version__
        facts["metadata"] = outcome(lambda: importlib.metadata.version("cuda-core"))
    found = {name: facts}
    for member in module.__all__:
        found.update(of_value(f"{name}.{member}", getattr(module, member)))
    return found


def of_value(path: str, value: object) -> dict[str, Facts]:
    """Return the facts of a class or function, with those of a class's members."""
    if isinstance(value, type):
        return of_class(path, value)
    if callable(value) and not typing.get_origin(value):
        return {path: of_callable(value)}
    return {path: {"kind": type(value).__name__}}


def of_class(path: str, cls: type) -> dict[str, Facts]:
    """Return the facts of a class and of its members."""
    facts: Facts = {
        "kind": "class",
        "module": cls.__module__,
        "qualname": cls.__qualname__,
        "name": cls.__name__,
        "doc": bool(cls.__doc__),
        "is_subclassable": bool(cls.__flags__ & _FLAG_SUBCLASSABLE),
        "is_hashable": cls.__hash__ is not None,
        "is_weakly_referable": bool(cls.__weakrefoffset__),
        "bases": [f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__[1:-1]],
        "hints": outcome(lambda: typing.get_type_hints(cls) is not None),
        "is_found": outcome(
            lambda: getattr(importlib.import_module(cls.__module__), cls.__qualname__) is cls
        ),
        "pickle": outcome(lambda: pickle.loads(pickle.dumps(cls)) is cls),
    }
    signature = signature_of(cls)
    if signature is not None:
        facts["signature"] = signature
    found = {path: facts}
    members = set(dir(cls)) - _DEFAULT_HIDDEN
    if hasattr(cls, "__members__"):  # an enumeration: aliases are not in its dir()
        members = set(cls.__members__) | {"name", "value"}
    for name in sorted(members):
        if name.startswith("_") and not name.startswith("__"):
            continue
        if name.startswith("__") and name not in _PROTOCOLS:
            continue
        member = inspect.getattr_static(cls, name)
        found[f"{path}.{name}"] = of_member(cls, name, member)
    return found


# Operators and protocols that a program can rely on.
_PROTOCOLS = {
    "__array_interface__",
    "__bool__",
    "__call__",
    "__contains__",
    "__cuda_array_interface__",
    "__cuda_stream__",
    "__dlpack__",
    "__dlpack_device__",
    "__enter__",
    "__fspath__",
    "__getitem__",
    "__index__",
    "__int__",
    "__iter__",
    "__len__",
    "__next__",
    "__setitem__",
}


def of_member(cls: type, name: str, member: object) -> Facts:
    """Return the facts of a class's member: something to call, or something to read."""
    value = outcome(lambda: getattr(cls, name))
    if is_property(member) or not callable(value) or isinstance(value, type):
        return {"kind": "attribute"}
    return of_callable(value)


def is_property(member: object) -> bool:
    """Return whether a member is read without a call."""
    kinds = (property, types.GetSetDescriptorType, types.MemberDescriptorType)
    return isinstance(member, kinds) or "property" in type(member).__name__


def of_callable(value: Callable) -> Facts:
    """Return the facts of a function or method."""
    facts: Facts = {
        "kind": "function",
        "doc": bool(value.__doc__),
        "name": getattr(value, "__name__", None),
        "module": getattr(value, "__module__", None),
    }
    signature = signature_of(value)
    if signature is not None:
        facts["signature"] = signature
    return facts


def signature_of(value: Callable) -> list[list] | None:
    """Return name, kind and whether there is a default of each parameter."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    return [
        [each.name, each.kind.name, each.default is not each.empty]
        for place, each in enumerate(parameters)
        if not (place == 0 and each.name in ("self", "cls"))
    ]


def outcome(call: Callable[[], object]) -> object:
    """Return a call's result, or the name of the error."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def of_sample(path: str, sample: object) -> dict[str, Facts]:
    """Return the facts of an object: how it is copied, and the types of its properties."""
    facts: Facts = {
        "kind": "object",
        "type": name_of(type(sample)),
        "hash": outcome(lambda: isinstance(hash(sample), int)),
        "weakref": outcome(lambda: weakref.ref(sample) is not None),
        "copy": outcome(lambda: type(copy.copy(sample)) is type(sample)),
        "deepcopy": outcome(lambda: type(copy.deepcopy(sample)) is type(sample)),
        "pickle": outcome(lambda: type(pickle.loads(pickle.dumps(sample))) is type(sample)),
        "equals_itself": outcome(lambda: bool(sample == sample)),
        "equals_another": outcome(lambda: bool(sample == object())),
        "new_attribute": outcome(lambda: setattr(sample, "surely_new", 1)),
        "repr": outcome(lambda: shape_of(repr(sample))),
    }
    found = {path: facts}
    for name in sorted(dir(sample)):
        if name.startswith("_") or name == "surely_new":
            continue
        member = inspect.getattr_static(type(sample), name, None)
        value = outcome(lambda name=name: [getattr(sample, name)])
        if (
            member is not None
            and not is_property(member)
            and (isinstance(value, list) and callable(value[0]))
        ):
            continue
        found[f"{path}.{name}"] = {
            "kind": "attribute of an object",
            "type": value if isinstance(value, str) else name_of(type(value[0])),
        }
    return found


def shape_of(text: str) -> str:
    """Return how a `repr` begins, if it is not Python's own."""
    return "" if " object at 0x" in text else re.split("[=(:]| 0x", text)[0][:40]


def name_of(cls: type) -> str:
    """Return a class's name with its module; as values of the same kind have different classes."""
    return f"{cls.__module__}.{cls.__qualname__}"


def samples() -> Iterator[tuple[str, object]]:
    """Return objects of every class that needs no second process or device, with their paths."""
    import cuda.core as core
    from cuda.core import graph, system, texture, utils

    device = core.Device(0)
    device.set_current()
    yield "a device", device
    yield "its properties", device.properties
    yield "its context", device.context
    yield "its memory resource", device.memory_resource
    yield "its default stream", device.default_stream
    yield "its resources", device.resources
    yield "a compute capability", device.compute_capability
    stream = device.create_stream()
    yield "a stream", stream
    yield "an event", stream.record()
    yield "a recorded event", stream.record(options={"timing_enabled": True})
    buffer = device.allocate(256, stream=stream)
    yield "a buffer", buffer
    pinned = core.LegacyPinnedMemoryResource()
    yield "a pinned resource", pinned
    host_buffer = pinned.allocate(64)
    yield "a pinned buffer", host_buffer
    yield "a device resource", core.DeviceMemoryResource(device)
    yield "attributes of a pool", core.DeviceMemoryResource(device).attributes
    managed = core.ManagedMemoryResource()
    yield "a managed resource", managed
    yield "a managed buffer", managed.allocate(64, stream=stream)
    yield "a graph memory resource", core.GraphMemoryResource(device)
    yield "a virtual memory resource", core.VirtualMemoryResource(device)
    source = 'extern "C" __global__ void f(int* x, float y) { *x = 1; }'
    program = core.Program(source, "c++")
    yield "a program", program
    ptx = program.compile("ptx")
    yield "object code in PTX", ptx
    from_ptx = core.Program(ptx.code.decode(), "ptx")
    yield "a program in PTX", from_ptx
    yield "a linker", core.Linker(ptx)
    code = program.compile("cubin")
    yield "object code", code
    kernel = code.get_kernel("f")
    yield "a kernel", kernel
    yield "attributes of a kernel", kernel.attributes
    yield "occupancy of a kernel", kernel.occupancy
    yield "a parameter", kernel.arguments_info[0]
    yield "a module", code.get_module()
    config = core.LaunchConfig(grid=1, block=1)
    yield "a launch configuration", config
    yield "a host", core.Host()
    for name in sorted(core.__all__):
        if name.endswith("Options"):
            made = outcome(getattr(core, name))
            if not isinstance(made, str):
                yield f"an object of {name}", made
    yield "copy options", utils.CopyOptions()
    yield "options of completion", graph.GraphCompleteOptions()
    yield "a member of an enumeration", core.typing.SourceCodeType("ptx")
    yield "a view", utils.StridedMemoryView.from_dlpack(host_buffer, stream_ptr=-1)
    yield "a cache", utils.InMemoryProgramCache()
    definition = graph.GraphDefinition()
    yield "a graph definition", definition
    node = definition.launch(config, kernel, buffer, core_float(1.0))
    yield "a kernel node", node
    yield "a memset node", node.memset(buffer, 0, 4)
    yield "an empty node", definition.empty()
    yield "an event node", definition.record(stream.record())
    yield "a condition", definition.create_condition()
    builder = device.create_graph_builder().begin_building()
    core.launch(builder, config, kernel, buffer, core_float(1.0))
    builder.end_building()
    yield "a graph builder", builder
    executable = builder.complete()
    yield "a graph", executable
    array = device.create_opaque_array(
        texture.OpaqueArrayOptions(
            shape=(16, 16), format="float32", num_channels=1, is_surface_load_store=True
        )
    )
    yield "an array", array
    resource = outcome(lambda: texture.ResourceDescriptor.from_opaque_array(array))
    yield "a resource descriptor", resource
    yield "a texture", outcome(lambda: device.create_texture_object(resource=resource))
    yield "a system device", system.Device(index=0)
    yield "memory of a system device", outcome(lambda: system.Device(index=0).memory_info)
    error = outcome(lambda: caught(lambda: core.Program("nonsense", "c++").compile("ptx")))
    yield "an error of NVRTC", error


def core_float(value: float) -> object:
    """Return a float as a kernel's argument."""
    import ctypes

    return ctypes.c_float(value)


def caught(call: Callable[[], object]) -> Exception | None:
    """Return the error that a call raises."""
    try:
        call()
    except Exception as error:
        return error
    return None


if __name__ == "__main__":
    main()
