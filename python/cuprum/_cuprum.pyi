# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Written by `make stubs`; do not edit.

"""The compiled part of cuprum. Import cuprum instead."""

from collections.abc import Iterable
import os

import cuprum._options
import cuprum._types
import cuprum.typing


VERSION: str = '0.1.0'

class Context:
    """
    Share a context of one device.

    Obtained from ``Device.context``, ``Stream.context`` or ``Event.context``.
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int | None:
        """Return the driver's ``CUcontext`` as an int, or None once closed."""

    @property
    def device(self) -> Device:
        """Return the device it belongs to."""

    @property
    def is_primary(self) -> bool:
        """Tell whether this is a device's primary context."""

    @property
    def is_green(self) -> bool:
        """Tell whether this is a green context; those are not available yet."""

    def create_stream(self, options: cuprum._options.StreamOptions | dict | None = None) -> Stream:
        """
        Make a stream in this context.

        Parameters
        ----------
        options : StreamOptions or dict, optional
            How the stream is made.
        """

    def sync(self) -> None:
        """Block until all work in this context is done."""

    def close(self) -> None:
        """
        Give up this object's share of the context. Calling it again does nothing.

        Raises
        ------
        RuntimeError
            If the context is current on the calling thread.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Event:
    """
    Mark a point in the work of one stream.

    Made by ``Stream.record`` or ``Device.create_event``. ``later - earlier`` is the time between two
    events in milliseconds, if both were made with ``timing_enabled=True``.
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUevent`` as an int."""

    @property
    def is_timing_enabled(self) -> bool:
        """Tell whether elapsed time can be asked for."""

    @property
    def is_blocking_sync(self) -> bool:
        """Tell whether ``sync`` sleeps instead of spinning."""

    @property
    def is_ipc_enabled(self) -> bool:
        """
        Tell whether the event can be shared with other processes; not available yet.
        """

    @property
    def context(self) -> Context | None:
        """Return the context that it was made in, or None for a foreign event."""

    @property
    def device(self) -> Device | None:
        """Return the device that it was made on, or None for a foreign event."""

    @property
    def is_done(self) -> bool:
        """
        Tell, without waiting, whether the recorded work is done.

        Raises
        ------
        CUDAError
            If that work failed.
        """

    def sync(self) -> None:
        """
        Block until the recorded work is done.

        Raises
        ------
        CUDAError
            If the work itself failed; the context is then unusable.
        """

    def close(self) -> None:
        """
        Give up this object's share of the event. Calling it again does nothing.
        """

    def __sub__(self, earlier: Event, /) -> float:
        """
        Return the time from another event to this one in milliseconds.

        Raises
        ------
        RuntimeError
            If either lacks timing, was not recorded or is not done; the text says which.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Stream:
    """
    Hold an ordered queue of work on one device.

    Made by ``Device.create_stream``, ``Context.create_stream`` or ``Stream.from_handle``.
    May be used from several threads at once.
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @staticmethod
    def from_handle(handle: int) -> Stream:
        """
        Wrap a driver stream made elsewhere, without owning it.

        Parameters
        ----------
        handle : int
            The driver's ``CUstream``.

        Returns
        -------
        Stream
            Equal to any other wrapper of the same handle.
        """

    @property
    def handle(self) -> int:
        """Return the driver's ``CUstream`` as an int."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """
        Return ``(0, handle)``, the protocol by which libraries exchange streams.
        """

    @property
    def is_nonblocking(self) -> bool:
        """Tell whether it does not wait for the legacy default stream."""

    @property
    def priority(self) -> int:
        """Return the priority; lower runs first."""

    @property
    def context(self) -> Context:
        """
        Return the context that its work runs in; for the default streams the current one.
        """

    @property
    def device(self) -> Device:
        """
        Return the device that its work runs on; for the default streams the current one.
        """

    def sync(self) -> None:
        """
        Block until all work enqueued so far is done.

        Raises
        ------
        CUDAError
            If any of that work failed; the context is then unusable.
        """

    @property
    def is_done(self) -> bool:
        """Tell, without waiting, whether all work enqueued so far is done."""

    def record(self, event: Event | None = None, options: cuprum._options.EventOptions | dict | None = None) -> Event:
        """
        Record an event after the work enqueued so far.

        Parameters
        ----------
        event : Event, optional
            Recorded again, and stands for this point from now on. A new one is made if it is not given.
        options : EventOptions or dict, optional
            How a new event is made.

        Returns
        -------
        Event
            The event that was recorded.

        Raises
        ------
        ValueError
            If both an event and options are given.
        """

    def wait(self, event_or_stream: Event | Stream | cuprum.typing.IsStreamType) -> None:
        """
        Hold back later work on this stream until an event or another stream's work is done.

        Returns at once; only the device waits.

        Parameters
        ----------
        event_or_stream : Event, Stream or object with ``__cuda_stream__``
            A stream stands for the work that it holds now.
        """

    def close(self) -> None:
        """
        Give up this object's share of the stream.

        Queued work still completes. Calling it again does nothing; any other use raises ClosedError.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

LEGACY_DEFAULT_STREAM: Stream = ...

PER_THREAD_DEFAULT_STREAM: Stream = ...

class MemoryResource:
    """
    Say where memory comes from.

    Derive from it to allocate in a way of your own: override ``allocate``, ``deallocate``,
    ``is_device_accessible``, ``is_host_accessible`` and ``device_id``. ``allocate`` usually ends with
    ``return Buffer.from_handle(pointer, size, self, stream=stream)``; the buffer then calls
    ``deallocate`` when it is closed or dropped.
    """

    def __init__(self) -> None: ...

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        """
        Allocate memory, usable in a stream's order from here on. To be overridden.
        """

    def deallocate(self, ptr: int, size: int, *, stream: Stream) -> None:
        """Free what ``allocate`` gave, ordered on a stream. To be overridden."""

    @property
    def is_device_accessible(self) -> bool:
        """Tell whether devices can reach the memory. To be overridden."""

    @property
    def is_host_accessible(self) -> bool:
        """Tell whether the host can reach the memory. To be overridden."""

    @property
    def device_id(self) -> int:
        """
        Return the ordinal of the device whose memory it is, -1 for host memory. To be overridden.
        """

    @property
    def is_managed(self) -> bool:
        """Tell whether the memory moves between host and device by itself."""

class DeviceMemoryResourceAttributes:
    """Hold what a pool holds and has held, when it was asked."""

    @property
    def reuse_follow_event_dependencies(self) -> bool:
        """
        Tell whether memory freed on one stream is reused on another that waits for it.
        """

    @property
    def reuse_allow_opportunistic(self) -> bool:
        """Tell whether memory is reused once the free is seen to be done."""

    @property
    def reuse_allow_internal_dependencies(self) -> bool:
        """Tell whether the driver may add waits between streams to reuse memory."""

    @property
    def release_threshold(self) -> int:
        """Return how many reserved bytes are kept at a synchronisation."""

    @property
    def reserved_mem_current(self) -> int:
        """Return the bytes that the pool holds."""

    @property
    def reserved_mem_high(self) -> int:
        """Return the most bytes that the pool has held."""

    @property
    def used_mem_current(self) -> int:
        """Return the bytes in use."""

    @property
    def used_mem_high(self) -> int:
        """Return the most bytes that were in use."""

class DeviceMemoryResource(MemoryResource):
    """
    Allocate from a stream-ordered pool of device memory.

    Parameters
    ----------
    device_id : Device or int
        The device whose memory it is.
    options : DeviceMemoryResourceOptions or dict, optional
        A pool of its own is made as they say. Without them, the device's current pool is used, which
        the whole process shares.
    """

    def __init__(self, device_id: Device | int, options: cuprum._options.DeviceMemoryResourceOptions | dict | None = None) -> None: ...

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        """
        Allocate memory, usable in a stream's order from here on.

        Raises
        ------
        OutOfMemoryError
            With the bytes asked for and free.
        """

    def deallocate(self, ptr: int, size: int, *, stream: Stream) -> None:
        """
        Free memory that was allocated from this pool and is held by no Buffer.
        """

    @property
    def handle(self) -> int:
        """Return the driver's ``CUmemoryPool`` as an int."""

    @property
    def is_handle_owned(self) -> bool:
        """
        Tell whether the pool is this resource's own, not the device's shared one.
        """

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device whose memory this is."""

    @property
    def device(self) -> Device:
        """Return the device whose memory this is."""

    @property
    def is_device_accessible(self) -> bool:
        """Tell whether devices can reach the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Tell whether the host can reach the memory."""

    @property
    def is_ipc_enabled(self) -> bool:
        """
        Tell whether the pool can be shared with other processes; not available yet.
        """

    @property
    def is_mapped(self) -> bool:
        """
        Tell whether the pool was imported from another process; not available yet.
        """

    @property
    def attributes(self) -> DeviceMemoryResourceAttributes:
        """Return what the pool holds and has held, as of now."""

    def trim(self, keep_bytes: int = 0) -> None:
        """
        Give memory back to the device until at most `keep_bytes` are reserved.
        """

    def close(self) -> None:
        """
        Give up this object's share of the pool. Calling it again does nothing.

        Buffers that came from it stay valid and keep the pool alive.
        """

class Buffer:
    """
    Own a piece of memory that devices can reach.

    Made by ``Device.allocate``, ``MemoryResource.allocate`` or ``Buffer.from_handle``. The memory is
    freed, in the order of the stream it was allocated on, when the object is closed or dropped; in a
    ``with`` statement, at its end.
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @staticmethod
    def from_handle(ptr: int, size: int, mr: MemoryResource | None = None, owner: object | None = None, *, stream: Stream | None = None) -> Buffer:
        """
        Wrap memory allocated elsewhere.

        Parameters
        ----------
        ptr : int
            The address.
        size : int
            In bytes.
        mr : MemoryResource, optional
            Takes the memory back: its ``deallocate`` is called when the buffer is closed or dropped.
        owner : object, optional
            Kept alive with the buffer; nothing is freed.
        stream : Stream, optional
            With `mr`, the stream that the free is ordered on; the default stream if not given.

        Raises
        ------
        ValueError
            If both `mr` and `owner` are given, or a stream without `mr`.
        """

    @property
    def handle(self) -> int:
        """Return the address as an int."""

    @property
    def size(self) -> int:
        """Return the size in bytes."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device it lies on, -1 for host memory."""

    @property
    def is_device_accessible(self) -> bool:
        """Tell whether devices can reach the memory."""

    @property
    def is_host_accessible(self) -> bool:
        """Tell whether the host can reach the memory."""

    @property
    def is_mapped(self) -> bool:
        """
        Tell whether the memory was imported from another process; not available yet.
        """

    @property
    def memory_resource(self) -> MemoryResource | None:
        """Return the resource that it came from, or None for wrapped memory."""

    @property
    def owner(self) -> object | None:
        """Return the owner of wrapped memory."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def copy_to(self, dst: Buffer | None = None, *, stream: Stream, options: None = None) -> Buffer:
        """
        Copy all bytes to another buffer of the same size. Returns at once.

        Parameters
        ----------
        dst : Buffer, optional
            Allocated from this buffer's memory resource if it is not given.
        stream : Stream
            The copy is ordered on it.
        options : None
            Not available yet.

        Returns
        -------
        Buffer
            The destination.

        Raises
        ------
        ValueError
            If the sizes differ, or a destination cannot be allocated for want of a memory resource.
        """

    def copy_from(self, src: Buffer, *, stream: Stream, options: None = None) -> None:
        """
        Copy all bytes from another buffer of the same size. Returns at once.

        Parameters
        ----------
        src : Buffer
            Where to copy from.
        stream : Stream
            The copy is ordered on it.
        options : None
            Not available yet.

        Raises
        ------
        ValueError
            If the sizes differ.
        """

    def copy_from_host(self, source: object, *, stream: Stream) -> None:
        """
        Copy from host memory, such as a numpy array.

        Parameters
        ----------
        source : object with the buffer protocol
            Contiguous and of this buffer's size. Pageable memory may be changed when this returns; pinned
            memory must be left alone until the stream gets there.
        stream : Stream
            The copy is ordered on it.
        """

    def copy_to_host(self, destination: object, *, stream: Stream) -> None:
        """
        Copy to host memory, such as a numpy array.

        Parameters
        ----------
        destination : object with the buffer protocol
            Contiguous, writable and of this buffer's size. Keep it alive, and do not read it, until the
            stream gets there: ``stream.sync()``.
        stream : Stream
            The copy is ordered on it.
        """

    def fill(self, value: object, *, stream: Stream) -> None:
        """
        Fill with a repeated value. Returns at once.

        Parameters
        ----------
        value : int or object with the buffer protocol
            A byte from 0 to 255, or 1, 2 or 4 bytes.
        stream : Stream
            The filling is ordered on it.

        Raises
        ------
        OverflowError
            If an int does not fit a byte.
        ValueError
            If the value has another width, or the size is not a multiple of it.
        """

    def close(self, stream: Stream | None = None) -> None:
        """
        Give up this object's share of the memory; the last one frees it.

        Calling it again does nothing.

        Parameters
        ----------
        stream : Stream, optional
            The free is ordered on it, not on the stream that was recorded.
        """

    def set_deallocation_stream(self, stream: Stream) -> None:
        """Name the stream that the memory will be freed on."""

    def __enter__(self) -> Buffer: ...

    def __exit__(self, *exception: object) -> None: ...

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object:
        """
        Return the memory as a DLPack capsule: one dimension of int8.

        Parameters
        ----------
        stream : int, optional
            Accepted for the protocol's sake. A buffer does not know which stream last wrote to it, so the
            caller orders its work.
        max_version : tuple of int, optional
            The newest version that the caller knows; a versioned capsule is returned from (1, 0) on.
        dl_device : tuple of int, optional
            Only None or the device it lies on.
        copy : bool, optional
            True is refused.

        Raises
        ------
        BufferError
            If another device or a copy is asked for.
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and the ordinal."""

class DeviceProperties:
    """
    Read the attributes of one device, by the driver's names in lower case.

    An attribute that the driver does not know raises CUDAError; ``get`` takes a default for that case
    and ``is_supported`` tells beforehand.
    """

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
        """Tell the driver's attribute of this name."""

    @property
    def multiprocessor_count(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def kernel_exec_timeout(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def integrated(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def can_map_host_memory(self) -> bool:
        """Tell the driver's attribute of this name."""

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
        """Tell the driver's attribute of this name."""

    @property
    def ecc_enabled(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def pci_bus_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def pci_device_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def tcc_driver(self) -> bool:
        """Tell the driver's attribute of this name."""

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
        """Tell the driver's attribute of this name."""

    @property
    def maximum_texture1d_layered_width(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def maximum_texture1d_layered_layers(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_tex2d_gather(self) -> bool:
        """Tell the driver's attribute of this name."""

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
        """Tell the driver's attribute of this name."""

    @property
    def global_l1_cache_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def local_l1_cache_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def max_shared_memory_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_registers_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def managed_memory(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def multi_gpu_board(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def multi_gpu_board_group_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def host_native_atomic_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def single_to_double_precision_perf_ratio(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def pageable_memory_access(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def concurrent_managed_access(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def compute_preemption_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def can_use_host_pointer_for_registered_mem(self) -> bool:
        """Tell the driver's attribute of this name."""

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
        """Tell the driver's attribute of this name."""

    @property
    def cooperative_multi_device_launch(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_shared_memory_per_block_optin(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def can_flush_remote_writes(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def host_register_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def pageable_memory_access_uses_host_page_tables(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def direct_managed_mem_access_from_host(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def virtual_memory_management_supported(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def handle_type_posix_file_descriptor_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def handle_type_win32_handle_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def handle_type_win32_kmt_handle_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def max_blocks_per_multiprocessor(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def generic_compression_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def max_persisting_l2_cache_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def max_access_policy_window_size(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_with_cuda_vmm_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def reserved_shared_memory_per_block(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def sparse_cuda_array_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def read_only_host_register_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def timeline_semaphore_interop_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def memory_pools_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def gpu_direct_rdma_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

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
        """Tell the driver's attribute of this name."""

    @property
    def deferred_mapping_cuda_array_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def can_use_64_bit_stream_mem_ops(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def can_use_stream_wait_value_nor(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def dma_buf_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def ipc_event_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def mem_sync_domain_count(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def tensor_map_access_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def handle_type_fabric_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def unified_function_pointers(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def numa_config(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def numa_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def multicast_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def mps_enabled(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def host_numa_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def d3d12_cig_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def mem_decompress_algorithm_mask(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def mem_decompress_maximum_length(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def vulkan_cig_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def gpu_pci_device_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def gpu_pci_subsystem_id(self) -> int:
        """Return the driver's attribute of this name."""

    @property
    def host_numa_virtual_memory_management_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def host_numa_memory_pools_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def host_numa_multinode_ipc_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def host_memory_pools_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def host_virtual_memory_management_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def host_alloc_dma_buf_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    @property
    def only_partial_host_native_atomic_supported(self) -> bool:
        """Tell the driver's attribute of this name."""

    def get(self, name: str, default: object = None) -> object:
        """
        Return an attribute by name, or a default if the driver does not know it.

        Parameters
        ----------
        name : str
            The driver's name in lower case, such as ``"multiprocessor_count"``.
        default : object, optional
            Returned if this driver does not know the attribute.

        Raises
        ------
        ValueError
            If there is no attribute of that name at all.
        """

    def is_supported(self, name: str) -> bool:
        """
        Tell whether the driver knows an attribute.

        Raises
        ------
        ValueError
            If there is no attribute of that name at all.
        """

    @staticmethod
    def names() -> list[str]:
        """Return the names of all attributes, in the driver's order."""

def read_unknown_attributes_as_zero(arg: bool, /) -> None:
    """Choose whether attributes that the driver does not know read as 0."""

class Device:
    """
    Name one CUDA device.

    There is one object per device: ``Device(0) is Device(0)``. Its methods act on their own device
    whatever is current and leave the current context as it was, except ``set_current``.

    Parameters
    ----------
    device_id : int or Device, optional
        The device's ordinal. Without it, the device of the current context, or device 0 if there is
        none.

    Raises
    ------
    ValueError
        If there is no such device; the text gives the range.
    """

    def __init__(self, device_id: object | None = None) -> None: ...

    def __reduce__(self) -> tuple: ...

    @staticmethod
    def get_all_devices() -> tuple[Device, ...]:
        """Return all devices, in order."""

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
        """Return the UUID as 8-4-4-4-12 hexadecimal digits."""

    @property
    def pci_bus_id(self) -> str:
        """Return the PCI address, such as ``0000:65:00.0``."""

    @property
    def compute_capability(self) -> cuprum._types.ComputeCapability:
        """Return the compute capability as a named tuple ``(major, minor)``."""

    @property
    def arch(self) -> str:
        """Return the compute capability as compilers name it, such as ``90``."""

    @property
    def is_emulated(self) -> bool:
        """Tell whether this is the emulated device."""

    @property
    def properties(self) -> DeviceProperties:
        """Return the device's attributes."""

    @property
    def memory_info(self) -> cuprum._types.MemoryInfo:
        """
        Return free and total memory in bytes as a named tuple ``(free, total)``.
        """

    def can_access_peer(self, peer: Device | int) -> bool:
        """
        Tell whether kernels on this device may access another device's memory.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def set_current(self, ctx: Context | None = None) -> Context | None:
        """
        Make a context of this device current on the calling thread.

        Parameters
        ----------
        ctx : Context, optional
            Put in place of the current context. Without it, the device's primary context becomes current.

        Returns
        -------
        Context or None
            The context that was current before, if `ctx` was given and there was one.

        Raises
        ------
        ValueError
            If `ctx` belongs to another device.
        """

    @property
    def context(self) -> Context:
        """
        Return the current context if it is this device's, else the primary one.
        """

    def sync(self) -> None:
        """Block until all work of this device's context is done."""

    @property
    def default_stream(self) -> Stream:
        """
        Return the default stream.

        It is ``LEGACY_DEFAULT_STREAM``, or ``PER_THREAD_DEFAULT_STREAM`` if the environment variable
        ``CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`` is set to a number other than 0.
        """

    def create_stream(self, obj: cuprum.typing.IsStreamType | None = None, options: cuprum._options.StreamOptions | dict | None = None) -> Stream:
        """
        Make a stream, or wrap another library's.

        Parameters
        ----------
        obj : object with ``__cuda_stream__``, optional
            Wrapped, not owned; it is kept alive with the result.
        options : StreamOptions or dict, optional
            How a new stream is made.

        Raises
        ------
        ValueError
            If both are given, or the priority is out of the device's range.
        """

    def create_event(self, options: cuprum._options.EventOptions | dict | None = None) -> Event:
        """
        Make an event; it counts as done until it is recorded.

        Parameters
        ----------
        options : EventOptions or dict, optional
            How the event is made.
        """

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        """
        Allocate device memory from ``memory_resource``.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream
            The memory may be used in this stream's order from here on, and is freed on it.

        Raises
        ------
        OutOfMemoryError
            With the bytes asked for and free.
        """

    @property
    def memory_resource(self) -> MemoryResource:
        """
        Return the resource that ``allocate`` uses.

        It is the device's current memory pool until another MemoryResource is set.
        """

    @memory_resource.setter
    def memory_resource(self, resource: MemoryResource, /) -> None: ...

class ObjectCode:
    """
    Share compiled code.

    Made by ``Program.compile`` or one of the ``from_*`` methods. It is loaded into the driver on first
    use and unloaded when the last object and the last kernel from it are gone.
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @staticmethod
    def from_cubin(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None) -> ObjectCode:
        """
        Hold code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            What messages call it.
        symbol_mapping : dict of str, optional
            Kernel names as written, to their names in the code.
        """

    @staticmethod
    def from_ptx(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None) -> ObjectCode:
        """
        Hold code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            What messages call it.
        symbol_mapping : dict of str, optional
            Kernel names as written, to their names in the code.
        """

    @staticmethod
    def from_ltoir(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None) -> ObjectCode:
        """
        Hold code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            What messages call it.
        symbol_mapping : dict of str, optional
            Kernel names as written, to their names in the code.
        """

    @staticmethod
    def from_fatbin(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None) -> ObjectCode:
        """
        Hold code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            What messages call it.
        symbol_mapping : dict of str, optional
            Kernel names as written, to their names in the code.
        """

    @staticmethod
    def from_object(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None) -> ObjectCode:
        """
        Hold code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            What messages call it.
        symbol_mapping : dict of str, optional
            Kernel names as written, to their names in the code.
        """

    @staticmethod
    def from_library(module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None) -> ObjectCode:
        """
        Hold code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            What messages call it.
        symbol_mapping : dict of str, optional
            Kernel names as written, to their names in the code.
        """

    @property
    def code(self) -> bytes | str:
        """Return the code, or the path of the file that holds it."""

    @property
    def code_type(self) -> str:
        """Return what it holds: ptx, cubin, ltoir, fatbin, object or library."""

    @property
    def name(self) -> str:
        """Return the name it was given."""

    @property
    def symbol_mapping(self) -> dict[str, str]:
        """
        Return a copy of the map from kernel names as written to names in the code.
        """

    @property
    def handle(self) -> int:
        """Return the driver's ``CUlibrary`` as an int, loading it if need be."""

    def get_kernel(self, name: str | bytes) -> Kernel:
        """
        Return a kernel by name.

        Parameters
        ----------
        name : str or bytes
            As given in ``name_expressions`` when compiling, or as it is in the code.

        Raises
        ------
        ValueError
            If there is none; the text lists the kernels there are.
        """

    @property
    def kernel_names(self) -> list[str]:
        """Return the names in the code of all kernels, loading it if need be."""

    def close(self) -> None:
        """
        Give up this object's share of the code. Calling it again does nothing.
        """

    def __reduce__(self) -> tuple: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class KernelAttributes:
    """Read the figures of a kernel on one device."""

    def __getitem__(self, device: Device | int) -> KernelAttributes:
        """Return the figures on another device."""

    @property
    def max_threads_per_block(self) -> int:
        """Return the most threads that a block may have."""

    @property
    def shared_size_bytes(self) -> int:
        """Return the static shared memory that a block takes."""

    @property
    def const_size_bytes(self) -> int:
        """Return the constant memory that it takes."""

    @property
    def local_size_bytes(self) -> int:
        """Return the local memory that a thread takes."""

    @property
    def num_regs(self) -> int:
        """Return the registers that a thread takes."""

    @property
    def ptx_version(self) -> int:
        """Return the PTX version that it was compiled for, 90 for 9.0."""

    @property
    def binary_version(self) -> int:
        """Return the architecture that it was compiled for, 90 for 9.0."""

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Return the most dynamic shared memory that a launch may ask for."""

class KernelOccupancy:
    """Answer how many blocks of a kernel fit on a device."""

    def max_active_blocks_per_multiprocessor(self, block_size: int, dynamic_shared_memory_size: int) -> int:
        """
        Return how many blocks fit on one multiprocessor at once.

        Parameters
        ----------
        block_size : int
            Threads per block.
        dynamic_shared_memory_size : int
            Dynamic shared memory per block, in bytes.
        """

class Kernel:
    """
    Share a kernel; it keeps its code loaded.

    Obtained from ``ObjectCode.get_kernel``. It knows how many parameters it takes and how large, so
    that ``launch`` can check.
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    @property
    def handle(self) -> int:
        """Return the driver's ``CUkernel`` as an int."""

    @property
    def name(self) -> str:
        """Return the name that it has in the code."""

    @property
    def num_arguments(self) -> int:
        """Return how many parameters it takes."""

    @property
    def arguments_info(self) -> list[cuprum._types.ParamInfo]:
        """Return offset and size of each parameter as named tuples."""

    @property
    def attributes(self) -> KernelAttributes:
        """
        Return the kernel's figures on the current device.

        Index it for another one: ``kernel.attributes[device].num_regs``.
        """

    @property
    def occupancy(self) -> KernelOccupancy:
        """Return an object that answers how many blocks fit on a multiprocessor."""

    def close(self) -> None:
        """
        Give up this object's share of the kernel. Calling it again does nothing.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Program:
    """
    Hold source code and the compiler's state for it.

    Parameters
    ----------
    code : str
        CUDA C++ source.
    code_type : SourceCodeType or str
        ``"c++"``.
    options : ProgramOptions or dict, optional
        How it is compiled.

    Raises
    ------
    LibraryNotFoundError
        If the compiler library cannot be found; the text lists where it was looked for.
    """

    def __init__(self, code: str, code_type: cuprum.typing.SourceCodeType | str, options: cuprum._options.ProgramOptions | dict | None = None) -> None: ...

    def compile(self, target_type: cuprum.typing.ObjectCodeFormatType | str, name_expressions: Iterable[str] = (), logs: object | None = None) -> ObjectCode:
        """
        Compile the program. Blocks; may be called again, also with another target.

        Parameters
        ----------
        target_type : ObjectCodeFormatType or str
            ``"ptx"``, ``"cubin"`` or ``"ltoir"``. For an emulated device a cubin is a fat binary that holds
            the cubin and its PTX; a GPU and the emulated device both load it.
        name_expressions : iterable of str, optional
            Kernels whose names C++ decorates, such as ``"add<float>"``; the result knows them by these
            names.
        logs : object with ``write``, optional
            Given the compiler's log, unless it is empty.

        Raises
        ------
        NVRTCError
            If the source does not compile, with log and options.
        """

    @property
    def backend(self) -> cuprum.typing.CompilerBackendType:
        """Return which compiler is used."""

    @property
    def options(self) -> cuprum._options.ProgramOptions:
        """Return the options that it was made with."""

    @property
    def compiler_options(self) -> list[str]:
        """Return the options as they are passed to the compiler."""

    @property
    def log(self) -> str:
        """
        Return the log of the last compilation, empty if there was nothing to say.
        """

    def close(self) -> None:
        """Give up the compiler's state. Calling it again does nothing."""

    def __repr__(self) -> str: ...

def nvrtc_options(options: object) -> list[str]:
    """Return ProgramOptions as NVRTC takes them."""

class LaunchConfig:
    """
    Say how a kernel is launched.

    It does not change: share it between threads, reuse it for many launches, use it as a key.

    Parameters
    ----------
    grid : int or tuple of int
        Blocks in up to three dimensions, or clusters if `cluster` is given.
    cluster : int or tuple of int, optional
        Blocks per cluster. Needs compute capability 9.0 or later.
    block : int or tuple of int
        Threads per block.
    shmem_size : int, optional
        Dynamic shared memory per block, in bytes.
    is_cooperative : bool, optional
        All blocks are resident at once, so that the grid can synchronise.
    programmatic_stream_serialization : bool, optional
        The kernel may start before the previous one on the stream has ended.

    Raises
    ------
    ValueError
        If an extent is missing or not at least 1.
    """

    def __init__(self, grid: int | tuple[int, ...] | None = None, cluster: int | tuple[int, ...] | None = None, block: int | tuple[int, ...] | None = None, shmem_size: int | None = None, is_cooperative: bool = False, programmatic_stream_serialization: bool = False) -> None: ...

    @property
    def grid(self) -> tuple[int, int, int]:
        """Return the grid's three extents."""

    @property
    def cluster(self) -> tuple[int, int, int] | None:
        """Return the cluster's three extents, or None."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Return the block's three extents."""

    @property
    def shmem_size(self) -> int:
        """Return the dynamic shared memory per block, in bytes."""

    @property
    def is_cooperative(self) -> bool:
        """Tell whether all blocks are resident at once."""

    @property
    def programmatic_stream_serialization(self) -> bool:
        """Tell whether the kernel may start before the previous one has ended."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

def launch(stream: Stream | cuprum.typing.IsStreamType, config: LaunchConfig | dict, kernel: Kernel, *kernel_args: object) -> None:
    """
    Launch a kernel. Returns at once; the arguments are copied.

    Parameters
    ----------
    stream : Stream
        The kernel runs in this stream's order.
    config : LaunchConfig or dict
        Grid, block and the rest.
    kernel : Kernel
        What to run.
    *kernel_args : Buffer, int, bool, float, complex, numpy scalar, ctypes object or bytes
        One for each parameter. A Buffer passes its address. Numbers of Python convert to the
        parameter's size; anything else must have that size.

    Raises
    ------
    TypeError
        If count, type or size of the arguments is not what the kernel takes.
    OverflowError
        If a number does not fit its parameter.
    ValueError
        If the configuration exceeds a limit of the device; the text has the numbers.
    """

class StridedMemoryView:
    """
    Describe another library's array without copying it.

    Made by one of the ``from_*`` methods from arrays of numpy, CuPy, PyTorch and others. Keeps the array
    alive.
    """

    def __init__(self, obj: object, stream_ptr: int | None = None) -> None: ...

    @staticmethod
    def from_any_interface(obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """
        View an object through DLPack or else the CUDA array interface.

        Parameters
        ----------
        obj : object
            An array.
        stream_ptr : int
            The stream that will use the memory, which is made to wait for what the array's own stream holds,
            or -1 for no ordering.

        Raises
        ------
        BufferError
            If the object has neither protocol or `stream_ptr` is not given.
        """

    @staticmethod
    def from_dlpack(obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object through DLPack. See ``from_any_interface``."""

    @staticmethod
    def from_cuda_array_interface(obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """
        View an object through ``__cuda_array_interface__``. See ``from_any_interface``.
        """

    @staticmethod
    def from_array_interface(obj: object) -> StridedMemoryView:
        """View an object in host memory through ``__array_interface__``."""

    @property
    def ptr(self) -> int:
        """Return the address of the first element."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device it lies on, -1 for host memory."""

    @property
    def is_device_accessible(self) -> bool:
        """Tell whether devices can reach the memory."""

    @property
    def readonly(self) -> bool:
        """Tell whether the memory must not be written."""

    @property
    def exporting_obj(self) -> object:
        """Return the array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""

    @property
    def strides(self) -> tuple[int, ...] | None:
        """
        Return the strides in elements, or None if it is contiguous in C order.
        """

    @property
    def size(self) -> int:
        """Return the number of elements."""

    @property
    def dtype(self) -> object:
        """Return the elements' numpy dtype, or its string if there is no numpy."""

    def __repr__(self) -> str: ...

def driver_version() -> int:
    """Return the CUDA version that the driver supports, 13000 for 13.0."""

def driver_description() -> str:
    """Return which driver is in use and where it came from."""
