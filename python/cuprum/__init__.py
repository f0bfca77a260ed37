# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""CUDA's object model for Python, with an emulated device.

Devices, streams, events, memory, programs and kernels as objects that own what they hold and raise
errors that explain themselves. Where there is no GPU, the emulated device runs the same kernels.
"""

from __future__ import annotations

try:
    from cuprum import _cuprum  # noqa: F401 - loads libcuprum
except ImportError as error:
    # The package libcuprum is not beside this one, or not there at all.
    from cuprum._load_library import load_library

    load_library(error)

from cuprum._cuprum import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    VERSION,
    Buffer,
    Context,
    Device,
    DeviceMemoryResource,
    DeviceResources,
    Event,
    ExternalMemory,
    ExternalSemaphore,
    GraphicsResource,
    GraphMemoryResource,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    ManagedBuffer,
    ManagedMemoryResource,
    MemoryPool,
    MemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    SMResource,
    Stream,
    SynchronousMemoryResource,
    TensorMapDescriptor,
    VirtualMemoryResource,
    WorkqueueResource,
    compiler_version,
    default_include_directories,
    driver_description,
    driver_version,
    gl_devices,
    launch,
    supported_architectures,
)
from cuprum._errors import (
    ClosedError,
    CUDAError,
    ElapsedTimeError,
    GraphClosedError,
    GraphError,
    GraphInstantiateError,
    GraphUpdateError,
    LaunchError,
    LibraryNotFoundError,
    LinkerError,
    MissingFileError,
    NoContextError,
    NotSupportedError,
    NVRTCError,
    NVVMError,
    OutOfMemoryError,
    UnknownAttributeError,
    UnsupportedOptionError,
)

__version__ = VERSION

# Type checkers know this name. Importing it from typing would be slower than the whole package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuprum import checkpoint, graph, system, testing, texture, trace, typing, utils
    from cuprum._host import Host
    from cuprum._options import (
        ContextOptions,
        DeviceMemoryResourceOptions,
        EventOptions,
        JITOptions,
        LinkerOptions,
        ManagedMemoryResourceOptions,
        PinnedMemoryResourceOptions,
        ProgramOptions,
        SMResourceOptions,
        StreamOptions,
        TensorMapDescriptorOptions,
        VirtualMemoryResourceOptions,
        WorkqueueResourceOptions,
    )
    from cuprum._types import AccessPolicyWindow

__all__ = [
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "AccessPolicyWindow",
    "Buffer",
    "CUDAError",
    "ClosedError",
    "Context",
    "ContextOptions",
    "Device",
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "DeviceResources",
    "ElapsedTimeError",
    "Event",
    "EventOptions",
    "ExternalMemory",
    "ExternalSemaphore",
    "GraphClosedError",
    "GraphError",
    "GraphInstantiateError",
    "GraphMemoryResource",
    "GraphUpdateError",
    "GraphicsResource",
    "Host",
    "JITOptions",
    "Kernel",
    "LaunchConfig",
    "LaunchError",
    "LegacyPinnedMemoryResource",
    "LibraryNotFoundError",
    "Linker",
    "LinkerError",
    "LinkerOptions",
    "ManagedBuffer",
    "ManagedMemoryResource",
    "ManagedMemoryResourceOptions",
    "MemoryPool",
    "MemoryResource",
    "MissingFileError",
    "NVRTCError",
    "NVVMError",
    "NoContextError",
    "NotSupportedError",
    "ObjectCode",
    "OutOfMemoryError",
    "PinnedMemoryResource",
    "PinnedMemoryResourceOptions",
    "Program",
    "ProgramOptions",
    "SMResource",
    "SMResourceOptions",
    "Stream",
    "StreamOptions",
    "SynchronousMemoryResource",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "UnknownAttributeError",
    "UnsupportedOptionError",
    "VirtualMemoryResource",
    "VirtualMemoryResourceOptions",
    "WorkqueueResource",
    "WorkqueueResourceOptions",
    "__version__",
    "checkpoint",
    "compiler_version",
    "default_include_directories",
    "driver_description",
    "driver_version",
    "gl_devices",
    "graph",
    "launch",
    "supported_architectures",
    "system",
    "testing",
    "texture",
    "trace",
    "typing",
    "utils",
]

# Imported when first used, to keep `import cuprum` fast.
_LAZY_OPTIONS = frozenset(name for name in __all__ if name.endswith("Options"))
_LAZY_NAMES = {"AccessPolicyWindow": "_types", "Host": "_host"}
_LAZY_MODULES = (
    "checkpoint",
    "graph",
    "system",
    "testing",
    "texture",
    "trace",
    "typing",
    "utils",
)


def __getattr__(name: str) -> object:
    """Import a name on its first use."""
    from importlib import import_module

    if name in _LAZY_NAMES:
        value: object = getattr(import_module(f"cuprum.{_LAZY_NAMES[name]}"), name)
    elif name in _LAZY_OPTIONS:
        value = getattr(import_module("cuprum._options"), name)
    elif name in _LAZY_MODULES:
        value = import_module(f"cuprum.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, also those not imported yet."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
