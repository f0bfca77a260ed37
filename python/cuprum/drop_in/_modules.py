# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The modules that stand for ``cuda.core`` and its submodules, public and private."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType

# Private modules of cuda.core that programs and its own tests use, with the names in each.
# A name is looked up among the shims, in cuprum, in its extension module, in utils and in typing.
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
    "_memory._legacy": ("LegacyPinnedMemoryResource", "_SynchronousMemoryResource"),
    "_memory._managed_buffer": ("ManagedBuffer", "_get_int_attr"),
    "_memory._managed_location": ("_coerce_location",),
    "_memory._managed_memory_resource": (
        "ManagedMemoryResource",
        "ManagedMemoryResourceOptions",
        "reset_concurrent_access_warning",
    ),
    "_memory._memory_pool": ("_MemPoolAttributes",),
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
    "system.exceptions": "cuprum.system.exceptions",
    "system.typing": "cuprum.system.typing",
}
_PUBLIC_MODULES = ("checkpoint", "graph", "system", "texture", "typing", "utils")
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


class CoreModule(ModuleType):
    """The module ``cuda.core``, with the public names of cuprum."""

    __all__: list[str]

    def __getattr__(self, name: str) -> object:
        import cuprum

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
            "installed by cuprum.drop_in, which does not have it"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__, "__version__"})


class PrivateModule(ModuleType):
    """A private module of ``cuda.core``. Its names are looked up on first use."""

    def __init__(self, name: str, members: tuple[str, ...]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
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


def make_core_module() -> ModuleType:
    """Make ``cuda.core`` with all its submodules and enter them in ``sys.modules``."""
    import cuprum

    core = CoreModule("cuda.core", cuprum.__doc__)
    core.__path__ = []
    core.__file__ = cuprum.__file__
    core.__all__ = [name for name in _PUBLIC_NAMES if hasattr(cuprum, name)]
    sys.modules["cuda.core"] = core
    for name in _PUBLIC_MODULES:
        if importlib.util.find_spec(f"cuprum.{name}") is not None:
            _enter(name, importlib.import_module(f"cuprum.{name}"))
    for name, members in _PRIVATE_MODULES.items():
        _enter(name, PrivateModule(f"cuda.core.{name}", members))
    for name, own in _OWN_MODULES.items():
        _enter(name, importlib.import_module(own))
    if importlib.util.find_spec("cuda.bindings") is not None:
        # With the helpers around the bindings; without them it is cuprum.checkpoint.
        _enter("checkpoint", importlib.import_module("cuprum.drop_in._checkpoint"))
    _alias_experimental(core)
    return core


def _alias_experimental(core: ModuleType) -> None:
    """Enter every module a second time under ``cuda.core.experimental``, its name before 1.0."""
    prefix = "cuda.core."
    names = [name.removeprefix(prefix) for name in sys.modules if name.startswith(prefix)]
    for name in names:
        sys.modules[f"{prefix}experimental.{name}"] = sys.modules[prefix + name]
    sys.modules[f"{prefix}experimental"] = core
    core.experimental = core  # type: ignore[attr-defined]


def _enter(name: str, module: ModuleType) -> None:
    """Enter a module under ``cuda.core`` and as an attribute of its parent."""
    parent, _, last = f"cuda.core.{name}".rpartition(".")
    sys.modules[f"{parent}.{last}"] = module
    setattr(sys.modules[parent], last, module)


def _places() -> tuple[object, ...]:
    import cuprum
    from cuprum import _cuprum, _texture_options, _types, typing, utils
    from cuprum.drop_in import _compiling, _graph_shims, _launching, _memory_shims, _shims

    shims = (_shims, _memory_shims, _graph_shims, _compiling, _launching)
    return *shims, cuprum, _cuprum, _texture_options, _types, utils, typing
