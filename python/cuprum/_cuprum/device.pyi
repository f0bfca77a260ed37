# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Devices, contexts and their resources."""

from collections.abc import Mapping
from typing import Any, SupportsIndex

from cuprum._cuprum.graph import GraphBuilder
from cuprum._cuprum.memory import Buffer, MemoryResource
from cuprum._cuprum.stream import Event, Stream
from cuprum._cuprum.system import SystemDevice
from cuprum._cuprum.texture import (
    MipmappedArray,
    OpaqueArray,
    ResourceDescriptor,
    SurfaceObject,
    TextureObject,
)
from cuprum._cuprum.words import CacheConfigTypeWord, LimitTypeWord, P2PAttributeTypeWord
from cuprum._options import (
    ContextOptions,
    EventOptions,
    SMResourceOptions,
    StreamOptions,
    WorkqueueResourceOptions,
)
from cuprum._texture_options import MipmappedArrayOptions, OpaqueArrayOptions, TextureObjectOptions
from cuprum._types import ComputeCapability, ContextFlags, MemoryInfo
from cuprum.typing import (
    CacheConfigType,
    IsStreamType,
    LimitType,
    P2PAttributeType,
    ProcessStateType,
    WorkqueueSharingScopeType,
)

class SMResource:
    """A set of multiprocessors of one device.

    Obtained from ``DeviceResources.sm`` and ``split``. It reserves nothing until a context is made of
    it.

    Examples
    --------
    >>> groups, rest = device.resources.sm.split(cuprum.SMResourceOptions(count=8))
    >>> groups[0].sm_count >= 8
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the address of the driver's ``CUdevResource``, which lives with this object."""

    @property
    def sm_count(self) -> int:
        """Return the number of multiprocessors."""

    @property
    def min_partition_size(self) -> int:
        """Return the fewest multiprocessors that a part may have."""

    @property
    def coscheduled_alignment(self) -> int:
        """Return the granularity of parts: their sizes are rounded up to multiples of it."""

    @property
    def flags(self) -> int:
        """Return the driver's flags."""

    @property
    def device(self) -> Device:
        """Return the device they belong to."""

    @property
    def is_usable(self) -> bool:
        """Return whether a context can be created from it. False after a dry run."""

    def split(
        self, options: SMResourceOptions | dict[str, Any], *, dry_run: bool = False
    ) -> tuple[list[SMResource], SMResource]:
        """Split into groups and a remainder. This object does not change.

        Parameters
        ----------
        options : SMResourceOptions or dict
            The groups. Different sizes and co-scheduling need a driver for CUDA 13.1.
        dry_run : bool, optional
            Compute the sizes only; no context can be created from the result.

        Returns
        -------
        tuple of list of SMResource and SMResource
            The groups, and the remainder.

        Raises
        ------
        CUDAError
            With ``CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION`` if the device cannot be split this way.
        NotSupportedError
            If the driver is too old for these options.
        """

    def __repr__(self) -> str: ...

class WorkqueueResource:
    """The work queues of a device or context.

    Obtained from ``DeviceResources.workqueue``.

    Examples
    --------
    >>> queues = device.resources.workqueue
    >>> queues.configure(cuprum.WorkqueueResourceOptions(concurrency_limit=2))
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the address of the driver's ``CUdevResource``, which lives with this object."""

    @property
    def sharing_scope(self) -> WorkqueueSharingScopeType:
        """Return which contexts share the queues."""

    @property
    def concurrency_limit(self) -> int:
        """Return how many streams should not wait for each other."""

    @property
    def device(self) -> Device:
        """Return the device they belong to."""

    def configure(self, options: WorkqueueResourceOptions | dict[str, Any] | None) -> None:
        """Change the settings for contexts that are created from it afterwards.

        Parameters
        ----------
        options : WorkqueueResourceOptions or dict
            What to change. None leaves a setting unchanged.

        Raises
        ------
        ValueError
            If the limit is 0.
        """

    def __repr__(self) -> str: ...

class DeviceResources:
    """The resources of a device, or of one of its contexts.

    Obtained from ``Device.resources``, ``Context.resources`` or ``Stream.resources``.

    Examples
    --------
    >>> device.resources.sm.sm_count == device.properties.multiprocessor_count
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def sm(self) -> SMResource:
        """Return the multiprocessors.

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 12.4.
        """

    @property
    def workqueue(self) -> WorkqueueResource:
        """Return the work queues.

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.1.
        """

class Context:
    """A context of one device.

    Obtained from ``Device.context``, ``Stream.context`` or ``Event.context``, or made by
    ``Device.create_context`` and ``Context.create``.

    Examples
    --------
    >>> context = device.context
    >>> with context.as_current():
    ...     print(cuprum.Context.current() == context)
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int | None:
        """Return the driver's ``CUcontext`` as an int, or None once closed."""

    @property
    def device(self) -> Device:
        """Return the device it belongs to."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def is_primary(self) -> bool:
        """Return whether this is a device's primary context."""

    @property
    def is_green(self) -> bool:
        """Return whether this is a green context, one that has its own part of the device."""

    @property
    def id(self) -> int:
        """Return a number that no other context of this process ever has."""

    @property
    def resources(self) -> DeviceResources:
        """Return the resources of this context: the whole device, or the part of a green context."""

    @staticmethod
    def create(device: Device | int, **flags: object) -> Context:
        """Create a context on a device, beside the primary one.

        It does not become current. Most programs need none: ``Device.create_context`` makes green
        contexts, and everything else works in the primary context.

        Parameters
        ----------
        device : Device or int
            Where it is made.
        **flags
            As for ``set_flags``.

        Returns
        -------
        Context
            The context. It is not made current.

        Raises
        ------
        TypeError
            If there is no such flag.
        ValueError
            If there is no such device, or a flag has no such value.
        CUDAError
            If the driver cannot create the context.
        """

    def create_stream(self, options: StreamOptions | dict[str, Any] | None = None) -> Stream:
        """Create a stream in this context.

        Parameters
        ----------
        options : StreamOptions or dict, optional
            How the stream is made; those of a green context must be non-blocking.

        Returns
        -------
        Stream
            The stream.

        Raises
        ------
        ValueError
            If the priority is out of the device's range.
        """

    def record(self, event: Event) -> None:
        """Record an event after all work enqueued in this context so far, on all streams.

        Parameters
        ----------
        event : Event
            Must belong to this context.

        Raises
        ------
        ClosedError
            If the context or the event is closed.
        CUDAError
            If the event belongs to another context.
        """

    def wait(self, event: Event) -> None:
        """Make later work of all streams of this context wait for an event.

        Returns at once; only the device waits.

        Parameters
        ----------
        event : Event
            May belong to another context or another device.

        Raises
        ------
        ClosedError
            If the context or the event is closed.
        CUDAError
            If the driver refuses the wait, as while a stream of the context is captured.
        """

    def get_limit(self, limit: LimitType | LimitTypeWord) -> int:
        """Return a limit of this context.

        Parameters
        ----------
        limit : LimitType or str
            Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.

        Returns
        -------
        int
            The current value.

        Raises
        ------
        ValueError
            If there is no such limit.
        """

    def set_limit(self, limit: LimitType | LimitTypeWord, value: int) -> None:
        """Change a limit of this context; the driver may round the value up.

        Parameters
        ----------
        limit : LimitType or str
            Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.
        value : int
            The value to ask for, usually in bytes.

        Raises
        ------
        ValueError
            If there is no such limit, or the value is negative.
        """

    @property
    def cache_config(self) -> CacheConfigType:
        """Return the preferred split between L1 cache and shared memory."""

    @cache_config.setter
    def cache_config(self, config: CacheConfigType | CacheConfigTypeWord, /) -> None: ...
    @property
    def flags(self) -> ContextFlags:
        """Return the flags of the context, as a named tuple."""

    def set_flags(self, **flags: object) -> None:
        """Change the flags of the context. Flags that are not named become the default.

        Parameters
        ----------
        wait : HostWaitType or str
            How threads wait for the device: ``"auto"``, ``"spin"``, ``"yield"`` or ``"blocking"``.
        map_host : bool
            Allow mapped pinned memory; always so on today's systems.
        resize_local_memory : bool
            Keep local memory at its largest size so far.
        coredump_on_error : bool
            Write a GPU core dump when a kernel fails.
        user_coredump : bool
            Write one when asked for through a pipe.
        sync_memory_operations : bool
            Make copies that may return early wait.

        Raises
        ------
        TypeError
            If there is no such flag.
        ValueError
            If a flag has no such value.
        ClosedError
            If the context is closed.
        CUDAError
            If the driver refuses the flags.
        """

    def reset_persisting_l2_cache(self) -> None:
        """Reset all persisting lines of the L2 cache to normal.

        Raises
        ------
        ClosedError
            If the context is closed.
        CUDAError
            If the driver refuses it.
        """

    def as_current(self) -> CurrentContext:
        """Make this context current on the calling thread for a ``with`` block.

        The previous context is restored at the end.

        Returns
        -------
        CurrentContext
            A guard for a ``with`` statement. It restores the context that was current before.

        Raises
        ------
        ClosedError
            When the block begins, if the context is closed.
        """

    @staticmethod
    def current() -> Context | None:
        """Return the context that is current on the calling thread, or None.

        Returns
        -------
        Context or None
            The context, or None if the thread has no context.

        Raises
        ------
        LibraryNotFoundError
            If there is no driver. The text shows the places that were searched.
        CUDAError
            If the driver cannot start.
        """

    def push(self) -> None:
        """Make this context current on the calling thread, on top of what is current.

        Call ``pop`` for every push, or use ``as_current``.

        Raises
        ------
        ClosedError
            If the context is closed.
        """

    @staticmethod
    def pop() -> Context:
        """Remove the current context from the thread's stack and return it.

        Returns
        -------
        Context
            The context that was removed.

        Raises
        ------
        CUDAError
            If no context is current on this thread.
        """

    def sync(self) -> None:
        """Block until all work in this context is done.

        Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

        Raises
        ------
        CUDAError
            If any of that work failed; the context is then unusable.
        """

    def close(self) -> None:
        """Release this object's share of the context. Calling it again does nothing.

        Streams, events and buffers made in the context have shares too.

        Raises
        ------
        RuntimeError
            If the context is current on the calling thread.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class CurrentContext:
    """A context that is current in a ``with`` block, from ``as_current``.

    Examples
    --------
    >>> with device.as_current():
    ...     print(cuprum.Context.current() == device.context)
    True
    """

    def __enter__(self) -> Context: ...
    def __exit__(self, *args: object) -> None: ...

def has_current_context() -> bool:
    """Return whether a context is current on the calling thread."""

class DeviceProperties:
    """The attributes of one device, under the driver's names in lower case.

    If the driver does not know an attribute, reading it raises an error that is an AttributeError and a CUDAError. ``get`` returns a
    default in that case, and ``is_supported`` returns whether the driver knows it.

    Examples
    --------
    >>> device.properties.warp_size
    32
    >>> device.properties.get("multiprocessor_count", 0) > 0
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def max_threads_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_block_dim_x(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_block_dim_y(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_block_dim_z(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_grid_dim_x(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_grid_dim_y(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_grid_dim_z(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_shared_memory_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def total_constant_memory(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def warp_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_pitch(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_registers_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def clock_rate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def texture_alignment(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_overlap(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def multiprocessor_count(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def kernel_exec_timeout(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def integrated(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_map_host_memory(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def compute_mode(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_depth(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_layered_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def surface_alignment(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def concurrent_kernels(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def ecc_enabled(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def pci_bus_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def pci_device_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def tcc_driver(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def memory_clock_rate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def global_memory_bus_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def l2_cache_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_threads_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def async_engine_count(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def unified_addressing(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_tex2d_gather(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_gather_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_gather_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_width_alternate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_height_alternate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture3d_depth_alternate(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def pci_domain_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def texture_pitch_alignment(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texturecubemap_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texturecubemap_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texturecubemap_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface1d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface3d_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface3d_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface3d_depth(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface1d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface1d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_layered_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surface2d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surfacecubemap_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surfacecubemap_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_surfacecubemap_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_linear_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_linear_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_linear_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_linear_pitch(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_mipmapped_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture2d_mipmapped_height(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def compute_capability_major(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def compute_capability_minor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_mipmapped_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def stream_priorities_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def global_l1_cache_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def local_l1_cache_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def max_shared_memory_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_registers_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def managed_memory(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def multi_gpu_board(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def multi_gpu_board_group_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def host_native_atomic_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def single_to_double_precision_perf_ratio(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def pageable_memory_access(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def concurrent_managed_access(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def compute_preemption_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_use_host_pointer_for_registered_mem(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_use_stream_mem_ops_v1(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_use_64_bit_stream_mem_ops_v1(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_use_stream_wait_value_nor_v1(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def cooperative_launch(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def cooperative_multi_device_launch(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_shared_memory_per_block_optin(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_flush_remote_writes(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_register_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def pageable_memory_access_uses_host_page_tables(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def direct_managed_mem_access_from_host(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def virtual_memory_management_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_posix_file_descriptor_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_win32_handle_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_win32_kmt_handle_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def max_blocks_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def generic_compression_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def max_persisting_l2_cache_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_access_policy_window_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_with_cuda_vmm_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def reserved_shared_memory_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def sparse_cuda_array_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def read_only_host_register_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def timeline_semaphore_interop_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def memory_pools_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_flush_writes_options(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_writes_ordering(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def mempool_supported_handle_types(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def cluster_launch(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def deferred_mapping_cuda_array_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_use_64_bit_stream_mem_ops(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def can_use_stream_wait_value_nor(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def dma_buf_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def ipc_event_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def mem_sync_domain_count(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def tensor_map_access_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_fabric_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def unified_function_pointers(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def numa_config(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def numa_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def multicast_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def mps_enabled(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def d3d12_cig_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def mem_decompress_algorithm_mask(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def mem_decompress_maximum_length(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def vulkan_cig_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def gpu_pci_device_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_pci_subsystem_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_virtual_memory_management_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_memory_pools_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_multinode_ipc_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_memory_pools_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_virtual_memory_management_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def host_alloc_dma_buf_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    @property
    def only_partial_host_native_atomic_supported(self) -> bool:
        """Return the driver's attribute of this name."""

    def get(self, name: str, default: object = None) -> object:
        """Return an attribute by name, or a default if the driver does not know it.

        Parameters
        ----------
        name : str
            The driver's name in lower case, such as ``"multiprocessor_count"``.
        default : object, optional
            Returned if this driver does not know the attribute.

        Returns
        -------
        object
            The value or the default.

        Raises
        ------
        ValueError
            If there is no attribute of that name at all.
        """

    def __repr__(self) -> str: ...
    def is_supported(self, name: str) -> bool:
        """Return whether the driver knows an attribute.

        Parameters
        ----------
        name : str
            The name of an attribute.

        Returns
        -------
        bool
            False if the driver is too old for it.

        Raises
        ------
        ValueError
            If there is no attribute of that name at all.
        """

    @staticmethod
    def names() -> list[str]:
        """Return the names of all attributes, in the driver's order.

        Returns
        -------
        list[str]
            The names.
        """

class Device:
    """One CUDA device.

    There is one object per device: ``Device(0) is Device(0)``. Its methods act on this device even if
    another one is current. Only ``set_current`` changes the current context.

    Parameters
    ----------
    device_id : int or Device, optional
        The device's ordinal. Without it, the device of the current context, or device 0 if there is
        none.

    Raises
    ------
    ValueError
        If there is no such device. The message shows the valid range.

    Examples
    --------
    >>> device = cuprum.Device(0)
    >>> device.set_current()
    >>> device.device_id
    0
    """

    def __init__(self, device_id: object | None = None) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def get_all_devices() -> tuple[Device, ...]:
        """Return all devices, in order.

        Returns
        -------
        tuple[Device, ...]
            The devices, by ordinal.

        Raises
        ------
        LibraryNotFoundError
            If there is no driver. The text shows the places that were searched.
        CUDAError
            If the driver cannot start.
        """

    @property
    def device_id(self) -> int:
        """Return the ordinal."""

    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    @property
    def name(self) -> str:
        """Return the model's name."""

    @property
    def uuid(self) -> str:
        """Return the UUID as 8-4-4-4-12 hexadecimal digits. A restore onto another device changes it."""

    @property
    def pci_bus_id(self) -> str:
        """Return the PCI address, such as ``0000:65:00.0``."""

    @property
    def compute_capability(self) -> ComputeCapability:
        """Return the compute capability as a named tuple ``(major, minor)``."""

    @property
    def arch(self) -> str:
        """Return the compute capability as compilers name it, such as ``90``."""

    @property
    def is_emulated(self) -> bool:
        """Return whether this is the emulated device."""

    @property
    def properties(self) -> DeviceProperties:
        """Return the device's attributes."""

    @property
    def memory_info(self) -> MemoryInfo:
        """Return free and total memory in bytes as a named tuple ``(free, total)``."""

    def can_access_peer(self, peer: Device | int) -> bool:
        """Return whether kernels on this device may access another device's memory.

        Parameters
        ----------
        peer : Device or int
            The other device, or its ordinal.

        Returns
        -------
        bool
            True if the link between the devices allows it.

        Raises
        ------
        ValueError
            If there is no such device.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def _repr_html_(self) -> str:
        """Return what notebooks show."""

    def set_current(self, ctx: Context | None = None) -> Context | None:
        """Make a context of this device current on the calling thread.

        Parameters
        ----------
        ctx : Context, optional
            Replaces the current context. Without it, the device's primary context becomes current.

        Returns
        -------
        Context or None
            The context that was current before, if `ctx` was given and there was one.

        Raises
        ------
        RuntimeError
            If `ctx` belongs to another device.
        """

    @property
    def context(self) -> Context:
        """Return the current context if it is this device's, else the primary one."""

    def sync(self) -> None:
        """Block until all work of this device's context is done.

        Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

        Raises
        ------
        CUDAError
            If any of that work failed; the context is then unusable.
        """

    @property
    def default_stream(self) -> Stream:
        """Return the default stream.

        It is ``LEGACY_DEFAULT_STREAM``, or ``PER_THREAD_DEFAULT_STREAM`` if the environment variable
        ``CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`` is set to a number other than 0.
        """

    def create_stream(
        self, obj: IsStreamType | None = None, options: StreamOptions | dict[str, Any] | None = None
    ) -> Stream:
        """Create a stream, or wrap one of another library.

        Parameters
        ----------
        obj : object with ``__cuda_stream__``, optional
            Wrapped, not owned; it is kept alive with the result.
        options : StreamOptions or dict, optional
            How a new stream is made.

        Returns
        -------
        Stream
            The stream.

        Raises
        ------
        ValueError
            If both are given, or the priority is out of the device's range.
        """

    def create_event(self, options: EventOptions | dict[str, Any] | None = None) -> Event:
        """Create an event. It counts as done until it is recorded.

        Parameters
        ----------
        options : EventOptions or dict, optional
            How the event is made.

        Returns
        -------
        Event
            The event.

        Raises
        ------
        TypeError
            If both timing and IPC are asked for.
        """

    def allocate(self, size: SupportsIndex, *, stream: Stream) -> Buffer:
        """Allocate device memory from ``memory_resource``.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream
            Work on this stream may use the memory from now on. The memory is freed on this stream.

        Returns
        -------
        Buffer
            The memory. It returns to its resource when the last reference is gone.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory. The message shows the requested and the free bytes.
        """

    @property
    def memory_resource(self) -> MemoryResource:
        """Return the resource that ``allocate`` uses.

        It is the device's current memory pool until another MemoryResource is set.
        """

    @memory_resource.setter
    def memory_resource(self, resource: MemoryResource, /) -> None: ...
    def __str__(self) -> str: ...
    @property
    def total_memory(self) -> int:
        """Return the size of the device's memory in bytes. Needs no context."""

    @property
    def resources(self) -> DeviceResources:
        """Return the resources of the whole device, which green contexts divide."""

    def create_context(self, options: ContextOptions | dict[str, Any] | None = None) -> Context:
        """Create a green context, which has its own part of the device.

        It does not become current. ``Context.create`` makes one that is not green.

        Parameters
        ----------
        options : ContextOptions or dict
            What it is made of.

        Returns
        -------
        Context
            The context. It is not made current.

        Raises
        ------
        ValueError
            If there are no multiprocessors, or if they belong to another device or a dry run.
        NotSupportedError
            If the driver is older than CUDA 12.4.
        """

    def as_current(self) -> CurrentContext:
        """Make this device's primary context current for a ``with`` block.

        The previous context is restored at the end.

        Returns
        -------
        CurrentContext
            A guard for a ``with`` statement. It restores the context that was current before.

        Raises
        ------
        CUDAError
            If the primary context cannot be created.
        """

    @property
    def is_primary_context_active(self) -> bool:
        """Return whether the primary context exists."""

    @property
    def primary_context_flags(self) -> ContextFlags:
        """Return the flags that the primary context has, or would have."""

    def set_primary_context_flags(self, **flags: object) -> None:
        """Change the flags of the primary context; they are those of ``Context.set_flags``.

        Raises
        ------
        TypeError
            If there is no such flag.
        ValueError
            If a flag has no such value.
        CUDAError
            If the driver refuses the flags.
        """

    def reset_primary_context(self) -> None:
        """Destroy everything in the primary context, of all libraries in the process.

        The next use creates the context again. Old streams, events and context memory raise
        ``ClosedError``.

        Raises
        ------
        CUDAError
            If the driver refuses it.
        """

    def get_limit(self, limit: LimitType | LimitTypeWord) -> int:
        """Return a limit of this device's context.

        Parameters
        ----------
        limit : LimitType or str
            Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.

        Returns
        -------
        int
            The current value.

        Raises
        ------
        ValueError
            If there is no such limit.
        """

    def set_limit(self, limit: LimitType | LimitTypeWord, value: int) -> None:
        """Change a limit of this device's context; the driver may round the value up.

        Parameters
        ----------
        limit : LimitType or str
            Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.
        value : int
            The value to ask for, usually in bytes.

        Raises
        ------
        ValueError
            If there is no such limit, or the value is negative.
        """

    def enable_peer_access(self, peer: Device | int) -> None:
        """Let kernels on this device access another device's memory, except memory of pools.

        Pools have ``peer_accessible_by``. Harmless if the access is enabled already.

        Parameters
        ----------
        peer : Device or int
            The device whose memory kernels on this one access, or its ordinal.

        Raises
        ------
        ValueError
            If there is no such device, or it is this one.
        """

    def disable_peer_access(self, peer: Device | int) -> None:
        """Disable the access. Harmless if it was not enabled.

        Parameters
        ----------
        peer : Device or int
            The device whose memory kernels on this one no longer access, or its ordinal.

        Raises
        ------
        ValueError
            If there is no such device, or it is this one.
        """

    def get_p2p_attribute(
        self, attribute: P2PAttributeType | P2PAttributeTypeWord, peer: Device | int
    ) -> int:
        """Return a property of the link to another device.

        Parameters
        ----------
        attribute : P2PAttributeType or str
            ``"performance_rank"``, ``"access_supported"``, ``"native_atomic_supported"`` or
            ``"cuda_array_access_supported"``.
        peer : Device or int
            The other device.

        Returns
        -------
        int
            The value of the attribute.

        Raises
        ------
        ValueError
            If there is no such attribute or no such device.
        """

    def to_system_device(self) -> SystemDevice:
        """Return the same device as the management library (NVML) knows it.

        Returns
        -------
        SystemDevice
            The device of `cuprum.system`.

        Raises
        ------
        cuprum.system.LibraryNotFoundError
            If there is no NVML.
        cuprum.system.NotFoundError
            If NVML does not see the device.
        """

    def create_graph_builder(self) -> GraphBuilder:
        """Create a builder of graphs that captures a new stream.

        Returns
        -------
        GraphBuilder
            The builder. Call ``begin_building`` to start the capture.

        Raises
        ------
        CUDAError
            If the driver cannot create the stream.
        """

    def create_opaque_array(self, options: OpaqueArrayOptions | dict[str, Any]) -> OpaqueArray:
        """Create an array for textures and surfaces.

        Parameters
        ----------
        options : OpaqueArrayOptions or dict
            Size, format and use.

        Returns
        -------
        OpaqueArray
            The array.

        Raises
        ------
        ValueError
            If options contradict each other, or a size exceeds a limit of the device. The text names it.
        OutOfMemoryError
            If the device has no memory left.
        """

    def create_mipmapped_array(
        self, options: MipmappedArrayOptions | dict[str, Any]
    ) -> MipmappedArray:
        """Create an array with levels, each half as large as the one before.

        Parameters
        ----------
        options : MipmappedArrayOptions or dict
            Size, format, levels and use.

        Returns
        -------
        MipmappedArray
            The array.

        Raises
        ------
        ValueError
            If options contradict each other, there cannot be so many levels, or a size exceeds a limit of
            the device.
        OutOfMemoryError
            If the device has no memory left.
        """

    def create_texture_object(
        self,
        *,
        resource: ResourceDescriptor,
        options: TextureObjectOptions | dict[str, Any] | None = None,
    ) -> TextureObject:
        """Create a texture.

        Parameters
        ----------
        resource : ResourceDescriptor
            The memory that kernels read.
        options : TextureObjectOptions or dict, optional
            How they read it.

        Returns
        -------
        TextureObject
            The texture.

        Raises
        ------
        ValueError
            If the options do not fit the resource, or exceed a limit of the device. The text names it.
        ClosedError
            If the array or the buffer is closed.
        """

    def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject:
        """Create a surface.

        Parameters
        ----------
        resource : ResourceDescriptor
            An array made with ``is_surface_load_store=True``.

        Returns
        -------
        SurfaceObject
            The surface.

        Raises
        ------
        ValueError
            If the resource is no such array.
        ClosedError
            If the array is closed.
        """

def forget_initialized_devices() -> None:
    """Forget which devices were made current, and resources set on them."""

class Process:
    """A process that uses CUDA, often another one than this.

    All methods block until the process has done what they ask for. They need Linux, a driver of CUDA
    12.8 or newer, and the rights of the process's user. A failure leaves the process in the state that
    it was in.

    Parameters
    ----------
    pid : int
        The number of the process. It is not looked for before the first use.

    Raises
    ------
    TypeError
        If the number is not an int.
    ValueError
        If it is not positive.

    Examples
    --------
    >>> import os
    >>> process = cuprum.checkpoint.Process(os.getpid())
    >>> process.state
    'running'
    """

    def __init__(self, pid: int) -> None: ...
    @property
    def pid(self) -> int:
        """Return the number of the process."""

    @property
    def state(self) -> ProcessStateType:
        """Return the state: ``running``, ``locked``, ``checkpointed`` or ``failed``.

        Raises
        ------
        CUDAError
            If the process does not exist, belongs to another user or has no context.
        """

    @property
    def restore_thread_id(self) -> int:
        """Return the number of the thread that carries out ``checkpoint`` and ``restore``.

        A tool that freezes the process must let this thread run.
        """

    def lock(self, timeout_ms: int = 0) -> None:
        """Hold back all further CUDA calls of the process and wait for its work.

        Parameters
        ----------
        timeout_ms : int, optional
            How long to wait, in milliseconds; 0 waits forever.

        Raises
        ------
        CUDAError
            ``CUDA_ERROR_NOT_READY`` if the time is over: the process continues. ``CUDA_ERROR_ILLEGAL_STATE``
            if the process is not running.
        """

    def checkpoint(self) -> None:
        """Move the device memory of a locked process to host memory and release its devices.

        Raises
        ------
        CUDAError
            ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not locked.
        """

    def restore(self, gpu_mapping: Mapping[Any, Any] | None = None) -> None:
        """Bring the device memory of a checkpointed process back; the process is locked then.

        Parameters
        ----------
        gpu_mapping : Mapping, optional
            The device to restore onto for each device of the checkpoint: a ``Device``, a UUID as
            ``Device.uuid`` or NVML writes it, a ``uuid.UUID`` or a ``CUuuid``. It must name every device
            that the driver has, also those that stay; ``CUDA_VISIBLE_DEVICES`` hides none here.

        Raises
        ------
        TypeError
            If it is not a mapping of devices.
        ValueError
            If a text is not a UUID.
        CUDAError
            ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not checkpointed; ``CUDA_ERROR_INVALID_VALUE`` if
            the driver refuses the mapping. The process stays checkpointed.
        """

    def unlock(self) -> None:
        """Let a locked process continue.

        Raises
        ------
        CUDAError
            ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not locked.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
