# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The modules that stand for ``cuda.core`` and its submodules, public and private."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

_ROOT = "cuda.core"
#: The folder that is first in the search path of processes that the program starts.
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")

# Errors of Cuprum that cuda.core raises as their base classes.
_OTHER_ERRORS = (
    "ClosedError",
    "ElapsedTimeError",
    "GraphClosedError",
    "GraphError",
    "GraphInstantiateError",
    "GraphUpdateError",
    "LaunchError",
    "LibraryNotFoundError",
    "LinkerError",
    "NVVMError",
    "NoContextError",
    "NotSupportedError",
    "OutOfMemoryError",
    "UnknownAttributeError",
    "UnsupportedOptionError",
)
# Private modules of cuda.core that programs and its own tests use, with the names in each.
# A name is looked up among the shims, in cuprum, in its extension module, in utils and in typing.
# What several modules have belongs to the innermost: classes name it as theirs.
_PRIVATE_MODULES = {
    "_context": ("Context", "ContextOptions"),
    "_device": ("Device", "DeviceProperties", "_tls"),
    "_device_resources": (
        "DeviceResources",
        "SMResource",
        "SMResourceOptions",
        "WorkqueueResource",
        "WorkqueueResourceOptions",
    ),
    "_dlpack": ("DLDeviceType",),
    "_event": ("Event", "EventOptions", "IPCEventDescriptor", "_reduce_event"),
    "_graphics": ("GraphicsResource", "_parse_register_flags"),
    "_host": ("Host",),
    "_kernel_arg_handler": ("ParamHolder",),
    "_launch_config": ("LaunchConfig", "_to_native_launch_config"),
    "_launcher": ("launch",),
    "_layout": ("_StridedLayout",),
    "_linker": ("Linker", "LinkerOptions", "_decide_nvjitlink_or_driver"),
    "_memory": (
        "Buffer",
        "DeviceMemoryResource",
        "DeviceMemoryResourceOptions",
        "GraphMemoryResource",
        "LegacyPinnedMemoryResource",
        "ManagedBuffer",
        "ManagedMemoryResource",
        "ManagedMemoryResourceOptions",
        "MemoryResource",
        "PinnedMemoryResource",
        "PinnedMemoryResourceOptions",
        "VirtualMemoryResource",
        "VirtualMemoryResourceOptions",
    ),
    "_memory._buffer": ("Buffer", "DevicePointerType", "MemoryResource"),
    "_memory._copy_enums": (
        "MemcpyOverlapMode",
        "MemcpySrcAccessOrder",
        "CopyOptions",
        "_attr_run_starts",
        "_reject_unsupported_during_api_call",
    ),
    "_memory._copy_ops": ("_normalize_copy_options", "copy_batch"),
    "_memory._device_memory_resource": (
        "DMR_mempool_get_access",
        "DeviceMemoryResource",
        "DeviceMemoryResourceOptions",
        "_deep_reduce_device_memory_resource",
    ),
    "_memory._graph_memory_resource": ("GraphMemoryResource", "GraphMemoryResourceAttributes"),
    "_memory._ipc": (
        "IPCAllocationHandle",
        "IPCBufferDescriptor",
        "_reduce_allocation_handle",
    ),
    "_memory._legacy": (
        "LegacyPinnedMemoryResource",
        "SynchronousMemoryResource",
        "_SynchronousMemoryResource",
    ),
    "_memory._managed_buffer": ("AccessedBySetProxy", "ManagedBuffer", "_get_int_attr"),
    "_memory._managed_location": ("_coerce_location",),
    "_memory._managed_memory_ops": (
        "discard_batch",
        "discard_prefetch_batch",
        "prefetch_batch",
    ),
    "_memory._managed_memory_resource": (
        "ManagedMemoryResource",
        "ManagedMemoryResourceOptions",
        "reset_concurrent_access_warning",
    ),
    "_memory._memory_pool": ("MemoryPool", "MemoryPoolAttributes", "_MemPoolAttributes"),
    "_memory._pinned_memory_resource": ("PinnedMemoryResource", "PinnedMemoryResourceOptions"),
    "_memory._virtual_memory_resource": (
        "VirtualMemoryResource",
        "VirtualMemoryResourceOptions",
    ),
    "_memoryview": (
        "StridedMemoryView",
        "_StridedMemoryViewProxy",
        "args_viewable_as_strided_memory",
        "view_as_array_interface",
        "view_as_cai",
    ),
    "_module": ("Kernel", "KernelAttributes", "KernelOccupancy", "ObjectCode", "ParamInfo"),
    "_program": (
        "Program",
        "ProgramOptions",
        "_assert_single_dashed_nvvm_options",
        "_can_load_generated_ptx",
        "_find_libdevice_path",
        "_get_nvvm_module",
    ),
    "_stream": (
        "IsStreamType",
        "LEGACY_DEFAULT_STREAM",
        "PER_THREAD_DEFAULT_STREAM",
        "Stream",
        "StreamOptions",
        "Stream_accept",
        "default_stream",
    ),
    "_utils": (),
    "_utils._weak_handles": ("WeakHandle", "weak_handle"),
    "_utils.cuda_utils": (
        "CUDAError",
        "ComputeCapability",
        "NVRTCError",
        *_OTHER_ERRORS,
        "cast_to_3_tuple",
        "check_multiprocessing_start_method",
        "driver",
        "handle_return",
        "nvrtc",
        "reset_fork_warning",
        "runtime",
    ),
    "_utils.version": ("binding_version", "driver_version"),
    "_version": ("__version__",),
    "graph._adjacency_set_proxy": ("AdjacencySetProxy",),
    "graph._graph_builder": (
        "Graph",
        "GraphBuilder",
        "GraphCompleteOptions",
        "GraphDebugPrintOptions",
    ),
    "graph._graph_definition": ("GraphCondition", "GraphDefinition"),
    "graph._graph_node": ("GraphNode", "_node_registry"),
    "graph._subclasses": (
        "AllocNode",
        "ChildGraphNode",
        "ConditionalNode",
        "EmptyNode",
        "EventRecordNode",
        "EventWaitNode",
        "ExecutableChildGraphNode",
        "ExecutableEventRecordNode",
        "ExecutableEventWaitNode",
        "ExecutableGraphNode",
        "ExecutableHostCallbackNode",
        "ExecutableKernelNode",
        "ExecutableMemcpyNode",
        "ExecutableMemsetNode",
        "FreeNode",
        "HostCallbackNode",
        "IfElseNode",
        "IfNode",
        "KernelNode",
        "MemcpyNode",
        "MemsetNode",
        "SwitchNode",
        "WhileNode",
    ),
    "texture._array": (
        "OpaqueArray",
        "OpaqueArrayOptions",
        "_normalize_array_format",
    ),
    "texture._mipmapped_array": ("MipmappedArray", "MipmappedArrayOptions"),
    "texture._surface": ("SurfaceObject",),
    "texture._texture": (
        "ResourceDescriptor",
        "TextureObject",
        "TextureObjectOptions",
        "_normalize_address_modes",
    ),
    "utils._program_cache": (
        "FileStreamProgramCache",
        "InMemoryProgramCache",
        "ProgramCacheResource",
        "make_program_cache_key",
    ),
    "utils._program_cache._abc": ("ProgramCacheResource",),
    "utils._program_cache._in_memory": ("InMemoryProgramCache",),
    "utils._program_cache._file_stream": ("FileStreamProgramCache", "_TMP_STALE_AGE_SECONDS"),
    "utils._program_cache._keys": (
        "_driver_version",
        "_linker_backend_and_version",
        "_nvvm_fingerprint",
        "make_program_cache_key",
    ),
}
# Private modules with a counterpart in Cuprum; tests replace parts of them.
_OWN_MODULES = {
    "_memory._peer_access_utils": "cuprum._peer_access",
    "_tensor_map": "cuprum._tensor_map",
    "system._device": "cuprum.drop_in._system",
    "system._nvml_context": "cuprum.drop_in._system",
    "system._system": "cuprum.drop_in._system",
    "system._system_events": "cuprum.drop_in._system",
}
# Public names of Cuprum's modules that cuda.core lacks. They are hidden, not absent.
_NOT_IN_REFERENCE = {
    "graph": {"GraphUpdateResult", "capture"},
    "system": {"get_library_path", "typing"},
    "system.typing": {"EccCounterType", "MemoryErrorType"},
    "texture": {"ArrayMemoryRequirements", "ArraySparseProperties", "ResourceView"},
    "typing": {
        "AccessPropertyType",
        "CacheConfigType",
        "CaptureModeType",
        "ExternalMemoryHandleType",
        "ExternalSemaphoreHandleType",
        "GLDeviceListType",
        "GraphNodeType",
        "GraphUpdateReasonType",
        "GraphicsMapUseType",
        "HostWaitType",
        "LimitType",
        "MemorySyncDomainType",
        "P2PAttributeType",
        "ResourceViewFormatType",
        "SynchronizationPolicyType",
        "WaitConditionType",
    },
    "utils": {"StridedLayout", "register_host_memory", "set_default_program_cache"},
}
_PUBLIC_MODULES = ("checkpoint", "graph", "system", "texture", "typing", "utils")
_PUBLIC_SUBMODULES = ("system.exceptions", "system.typing")
_PACKAGES = {
    *("", "_memory", "_utils", "graph", "system", "texture", "utils", "utils._program_cache"),
}
# The names at the top level of ``cuda.core``; other names of cuprum are hidden there.
_PUBLIC_NAMES = (
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "Buffer",
    "Context",
    "ContextOptions",
    "Device",
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "DeviceResources",
    "Event",
    "EventOptions",
    "GraphMemoryResource",
    "GraphicsResource",
    "Host",
    "Kernel",
    "LaunchConfig",
    "LegacyPinnedMemoryResource",
    "Linker",
    "LinkerOptions",
    "ManagedBuffer",
    "ManagedMemoryResource",
    "ManagedMemoryResourceOptions",
    "MemoryResource",
    "ObjectCode",
    "PinnedMemoryResource",
    "PinnedMemoryResourceOptions",
    "Program",
    "ProgramOptions",
    "SMResource",
    "SMResourceOptions",
    "Stream",
    "StreamOptions",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "VirtualMemoryResource",
    "VirtualMemoryResourceOptions",
    "WorkqueueResource",
    "WorkqueueResourceOptions",
    "launch",
)

#: Returns a placeholder for a missing name, given the module and the name; test tools set it.
stand_in: Callable[[str, str], object] | None = None


class _StandIn(ModuleType):
    """A module that stands for one of ``cuda.core``. `name` is what follows that."""

    __all__: list[str]

    def __init__(self, name: str, doc: str | None = None) -> None:
        full_name = f"{_ROOT}.{name}" if name else _ROOT
        super().__init__(full_name, doc)
        spec = importlib.machinery.ModuleSpec(
            full_name, _Loader(name), is_package=name in _PACKAGES
        )
        self.__spec__ = spec
        self.__loader__ = spec.loader
        self.__package__ = spec.parent
        if name in _PACKAGES:
            folder = os.path.join(PATH, *full_name.split("."))
            spec.origin = self.__file__ = os.path.join(folder, "__init__.py")
            self.__path__ = spec.submodule_search_locations = [folder]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})


class CoreModule(_StandIn):
    """The module ``cuda.core``, with the public names of cuprum."""

    def __getattr__(self, name: str) -> object:
        import cuprum
        from cuprum.drop_in import _former_names

        if name == "__version__":
            from cuprum.drop_in import _shims

            return _shims.__version__
        if name in _PUBLIC_NAMES or name in _PUBLIC_MODULES:
            if (value := getattr(cuprum, name, None)) is not None:
                return value
            if stand_in is not None:
                return stand_in(self.__name__, name)
        raise AttributeError(
            f"module 'cuda.core' has no attribute {name!r}: it is cuprum here, "
            f"installed by cuprum.drop_in, which does not have it{_former_names.advice(name)}"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "__version__"})


class PublicModule(_StandIn):
    """A public submodule of ``cuda.core``, with the names of one of Cuprum's modules."""

    def __init__(self, name: str, source: ModuleType) -> None:
        super().__init__(name, source.__doc__)
        hidden = _NOT_IN_REFERENCE.get(name, set())
        self.__all__ = [each for each in source.__all__ if each not in hidden]
        if name == "system":
            self.__all__ = [each for each in self.__all__ if not _is_value_of_system(source, each)]
        self._source = source
        for each in self.__all__:
            setattr(self, each, getattr(source, each))

    def __getattr__(self, name: str) -> object:
        if "_source" in self.__dict__ and hasattr(self._source, name):
            return getattr(self._source, name)
        from cuprum.drop_in import _former_names

        raise AttributeError(
            f"module {self.__name__!r} has no attribute {name!r}{_former_names.advice(name)}"
        )


class PrivateModule(_StandIn):
    """A private module of ``cuda.core``. Its names are looked up on first use."""

    def __init__(self, name: str, members: tuple[str, ...]) -> None:
        super().__init__(name.removeprefix(f"{_ROOT}."))
        self.__all__ = [name for name in members if not name.startswith("_")]
        self._members = members

    def __getattr__(self, name: str) -> object:
        if name in self.__dict__.get("_members", ()):
            for place in _places():
                if hasattr(place, name):
                    value = getattr(place, name)
                    setattr(self, name, value)
                    return value
        if stand_in is not None and not (name.startswith("__") and name.endswith("__")):
            return stand_in(self.__name__, name)
        raise AttributeError(
            f"module {self.__name__!r} has no attribute {name!r}: the private parts of cuda.core "
            "that cuprum.drop_in offers do not include it"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._members})


class _Loader(importlib.abc.Loader):
    """Returns a module that was made with all others, also when it is imported again."""

    def __init__(self, name: str) -> None:
        self.path = os.path.join(PATH, "cuda", "core", *name.split("."), "__init__.py")

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Return the module of a specification."""
        return _made.get(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is ready."""

    def get_resource_reader(self, _name: str) -> object:
        """Return what ``importlib.resources`` reads files beside the module with."""
        from importlib.readers import FileReader

        return FileReader(self)  # type: ignore[arg-type]


class _Finder(importlib.abc.MetaPathFinder):
    """Finds ``cuda.core`` and its modules here, before anything in the search path."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the specification of a module that was made."""
        module = _made.get(name)
        return module.__spec__ if module is not None else None


_made: dict[str, ModuleType] = {}


def make_core_module() -> CoreModule:
    """Make ``cuda.core`` with all its submodules and enter them in ``sys.modules``."""
    import cuprum
    from cuprum.drop_in import _identity

    core = CoreModule("", cuprum.__doc__)
    core.__all__ = [name for name in _PUBLIC_NAMES if hasattr(cuprum, name)]
    _made[_ROOT] = core
    for name in _PUBLIC_MODULES + _PUBLIC_SUBMODULES:
        if importlib.util.find_spec(f"cuprum.{name}") is not None:
            _enter(name, PublicModule(name, importlib.import_module(f"cuprum.{name}")))
    for name, members in _PRIVATE_MODULES.items():
        _enter(name, PrivateModule(name, members))
    for name, own in _OWN_MODULES.items():
        _enter(name, importlib.import_module(own))
    if importlib.util.find_spec("cuda.bindings") is not None:
        # With the helpers around the bindings; without them it is cuprum.checkpoint.
        checkpoint = importlib.import_module("cuprum.drop_in._checkpoint")
        vars(checkpoint).update(
            {name: vars(core.checkpoint)[name] for name in ("__name__", "__package__", "__spec__")}
        )
        _enter("checkpoint", checkpoint)
    _alias_experimental(core)
    _identity.give_places(_made, _PRIVATE_MODULES, _OWN_MODULES)
    sys.modules.update(_made)
    sys.meta_path.insert(0, _Finder())
    return core


def _is_value_of_system(source: ModuleType, name: str) -> bool:
    """Return whether a name is a class of values that only ``cuda.core.system._device`` has."""
    value = getattr(source, name)
    return (
        isinstance(value, type)
        and not issubclass(value, BaseException)
        and name not in ("Device", "NvlinkInfo")
    )


def _alias_experimental(core: CoreModule) -> None:
    """Enter every module a second time under ``cuda.core.experimental``, its name before 1.0."""
    for name, module in list(_made.items()):
        _made[name.replace(_ROOT, f"{_ROOT}.experimental", 1)] = module
    core.experimental = core  # type: ignore[attr-defined]


def _enter(name: str, module: ModuleType) -> None:
    """Enter a module under ``cuda.core`` and as an attribute of its parent."""
    parent, _, last = f"{_ROOT}.{name}".rpartition(".")
    _made[f"{_ROOT}.{name}"] = module
    vars(_made[parent])[last] = module


def _places() -> tuple[object, ...]:
    import cuprum
    from cuprum import _cuprum, _managed, _texture_options, _types, graph, texture, typing, utils
    from cuprum.drop_in import _compiling, _graph_shims, _launching, _memory_shims, _shims

    shims = (_shims, _memory_shims, _graph_shims, _compiling, _launching)
    return (
        *(*shims, cuprum, _cuprum, graph, texture, _texture_options),
        *(_types, utils, typing, _managed),
    )
