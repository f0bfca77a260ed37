# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels and how they are launched."""

from collections.abc import Callable
from typing import Any, SupportsIndex

from cuprum._cuprum.device import Device
from cuprum._cuprum.program import ObjectCode
from cuprum._cuprum.stream import Event, Stream
from cuprum._types import AccessPolicyWindow, MaxPotentialBlockSizeOccupancyResult, ParamInfo
from cuprum.typing import IsStreamType

class Kernel:
    """A kernel, which keeps its code loaded.

    Obtained from ``ObjectCode.get_kernel``. It knows the number and sizes of its parameters, so that
    ``launch`` can check its arguments.

    Examples
    --------
    >>> kernel = code.get_kernel("add_one")
    >>> kernel.num_arguments
    1
    >>> cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
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
    def arguments_info(self) -> list[ParamInfo]:
        """Return offset and size of each parameter as named tuples."""

    @staticmethod
    def from_handle(handle: int, mod: ObjectCode | None = None) -> Kernel:
        """Wrap a kernel that other code loaded.

        Parameters
        ----------
        handle : int
            The driver's ``CUkernel``.
        mod : ObjectCode, optional
            Kept alive with the kernel. Not needed for code that Cuprum loaded. If it is not the kernel's
            own code, a warning says so.

        Returns
        -------
        Kernel
            The kernel.

        Raises
        ------
        TypeError
            If the handle is not an int, or `mod` not an ObjectCode.
        """

    @property
    def attributes(self) -> KernelAttributes:
        """Return the kernel's attributes on the current device.

        Index it for another one: ``kernel.attributes[device].num_regs``.
        """

    @property
    def occupancy(self) -> KernelOccupancy:
        """Return an object that answers how many blocks fit on a multiprocessor."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release this object's share of the kernel. Calling it again does nothing."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def _parameter_words(self) -> tuple[str, ...] | None:
        """Return what is known of each parameter, for people to read; None if nothing is."""

    def _repr_html_(self) -> str:
        """Return what notebooks show."""

class KernelAttributes:
    """The attributes of a kernel on one device.

    Setting an attribute affects all later launches on that device.

    Examples
    --------
    >>> kernel.attributes.max_threads_per_block
    1024
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def __getitem__(self, device: Device | int) -> KernelAttributes:
        """Return the attributes on another device."""

    def __repr__(self) -> str: ...
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
    def cache_mode_ca(self) -> bool:
        """Return whether it was compiled to cache global loads in L1."""

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Return or set the most dynamic shared memory that a launch may use, in bytes.

        A launch that needs more raises this limit, up to the limit of the device.
        """

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, value: int, /) -> None: ...
    @property
    def preferred_shared_memory_carveout(self) -> int:
        """Return or set the percent of L1 to use as shared memory; -1 is the driver's choice."""

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, value: int, /) -> None: ...
    @property
    def cluster_size_must_be_set(self) -> bool:
        """Return whether a launch must give a cluster."""

    @property
    def required_cluster_width(self) -> int:
        """Return or set the x extent that a cluster must have; 0 is any."""

    @required_cluster_width.setter
    def required_cluster_width(self, value: int, /) -> None: ...
    @property
    def required_cluster_height(self) -> int:
        """Return or set the y extent that a cluster must have; 0 is any."""

    @required_cluster_height.setter
    def required_cluster_height(self, value: int, /) -> None: ...
    @property
    def required_cluster_depth(self) -> int:
        """Return or set the z extent that a cluster must have; 0 is any."""

    @required_cluster_depth.setter
    def required_cluster_depth(self, value: int, /) -> None: ...
    @property
    def non_portable_cluster_size_allowed(self) -> bool:
        """Return or set whether a cluster may have more than 8 blocks."""

    @non_portable_cluster_size_allowed.setter
    def non_portable_cluster_size_allowed(self, arg: bool, /) -> None: ...
    @property
    def cluster_scheduling_policy_preference(self) -> int:
        """Return or set how clusters are placed: 0 default, 1 spread, 2 load balancing."""

    @cluster_scheduling_policy_preference.setter
    def cluster_scheduling_policy_preference(self, value: int, /) -> None: ...

class KernelOccupancy:
    """The number of blocks of a kernel that fit on a device.

    The device is that of the current context. ``Kernel.occupancy`` is one object, which remembers its last
    answer until an attribute of a kernel is set. After a change with the driver's own functions, get the
    kernel anew with ``ObjectCode.get_kernel``.

    Examples
    --------
    >>> kernel.occupancy.max_active_blocks_per_multiprocessor(256, dynamic_shared_memory_size=0) > 0
    True
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    def __repr__(self) -> str: ...
    def max_active_blocks_per_multiprocessor(
        self, block_size: SupportsIndex, dynamic_shared_memory_size: SupportsIndex
    ) -> int:
        """Return how many blocks fit on one multiprocessor at once.

        Parameters
        ----------
        block_size : int
            Threads per block.
        dynamic_shared_memory_size : int
            Dynamic shared memory per block, in bytes.

        Returns
        -------
        int
            The number of blocks.

        Raises
        ------
        TypeError
            If an argument is not an int.
        ValueError
            If the block size is less than 1.
        CUDAError
            If the driver refuses it.
        """

    def max_potential_block_size(
        self,
        dynamic_shared_memory_needed: int | Callable[[int], int],
        block_size_limit: SupportsIndex,
    ) -> MaxPotentialBlockSizeOccupancyResult:
        """Return the block size with the most resident threads.

        Parameters
        ----------
        dynamic_shared_memory_needed : int or callable
            Dynamic shared memory per block, in bytes, or a function that gives it for a block size; a
            ``CUoccupancyB2DSize`` of the driver's bindings too.
        block_size_limit : int
            The most threads per block; 0 is the kernel's own limit.

        Returns
        -------
        MaxPotentialBlockSizeOccupancyResult
            ``min_grid_size``, the fewest blocks that fill the device, and ``max_block_size``.

        Raises
        ------
        TypeError
            If `dynamic_shared_memory_needed` is neither an int nor a function that returns one.
        ValueError
            If a number is negative.
        CUDAError
            If the driver refuses it.
        """

    def available_dynamic_shared_memory_per_block(
        self, num_blocks_per_multiprocessor: int, block_size: SupportsIndex
    ) -> int:
        """Return the largest dynamic shared memory per block with which this many blocks fit.

        Parameters
        ----------
        num_blocks_per_multiprocessor : int
            Blocks that must be resident at once.
        block_size : int
            Threads per block.

        Returns
        -------
        int
            The size in bytes.

        Raises
        ------
        TypeError
            If an argument is not an int.
        ValueError
            If a number is less than 1.
        CUDAError
            If the block is too large for the kernel.
        """

    def max_potential_cluster_size(
        self, config: LaunchConfig | dict[str, Any], *, stream: Stream
    ) -> int:
        """Return the most blocks per cluster for a configuration, whose own cluster is ignored.

        Parameters
        ----------
        config : LaunchConfig or dict
            Only block and shared memory matter.
        stream : Stream
            Selects the device.

        Returns
        -------
        int
            The number of blocks.

        Raises
        ------
        TypeError
            If `config` is neither a LaunchConfig nor a dict, or `stream` is not a stream.
        ClosedError
            If the stream is closed.
        CUDAError
            If the configuration exceeds a limit of the device or of the kernel.
        """

    def max_active_clusters(self, config: LaunchConfig | dict[str, Any], *, stream: Stream) -> int:
        """Return how many clusters of a configuration fit on a device at once.

        Parameters
        ----------
        config : LaunchConfig or dict
            With a cluster.
        stream : Stream
            Selects the device.

        Returns
        -------
        int
            The number of clusters.

        Raises
        ------
        TypeError
            If `config` is neither a LaunchConfig nor a dict, or `stream` is not a stream.
        ClosedError
            If the stream is closed.
        CUDAError
            If the configuration exceeds a limit of the device or of the kernel.
        """

class LaunchConfig:
    """The shape and the attributes of a launch.

    It is immutable: share it between threads, reuse it for many launches, use it as a key.

    Parameters
    ----------
    grid : int or tuple of int
        Blocks in up to three dimensions, or clusters if `cluster` is given.
    cluster : int or tuple of int, optional
        Blocks per cluster. Needs compute capability 9.0 or later.
    block : int or tuple of int
        Threads per block.
    shmem_size : int, optional
        Dynamic shared memory per block, in bytes. More than 48 KiB needs no preparation.
    is_cooperative : bool, optional
        All blocks are resident at once, so that the grid can synchronise.
    programmatic_stream_serialization : bool, optional
        The kernel may start before the previous one on the stream has ended.
    priority : int, optional
        Lower numbers run first. Without it, the stream's priority.
    preferred_cluster : int or tuple of int, optional
        A multiple of `cluster`, used where it fits.
    cluster_scheduling_policy : str, optional
        ``"default"``, ``"spread"`` or ``"load_balancing"``.
    shared_memory_carveout : int, optional
        Percent of the L1 cache to use as shared memory; a hint.
    access_policy_window : AccessPolicyWindow or dict, optional
        A range of memory and how the L2 cache treats the kernel's accesses to it.
    memory_sync_domain : str, optional
        ``"default"`` or ``"remote"``: which memory barriers order the kernel's writes.
    memory_sync_domain_map : tuple of int, optional
        The numbers of these two domains.
    programmatic_event : Event or (Event, bool), optional
        An event without timing. Every block triggers it by an instruction or, with True, when it starts.
    launch_completion_event : Event, optional
        An event without timing, recorded when all blocks have begun.
    nvlink_centric_scheduling : bool, optional
        A hint that NVLink limits the kernel's speed.
    portable_cluster_mode, shared_memory_mode : str, optional
        ``"default"``, ``"require_portable"`` or ``"allow_non_portable"``. Drivers from 13.1 on.
    raw_attributes : dict of int to bytes, optional
        Further launch attributes by the driver's numbers, with up to 64 bytes of value.

    Raises
    ------
    ValueError
        If an extent is missing or not at least 1, or a value is out of its range.

    Examples
    --------
    >>> config = cuprum.LaunchConfig(grid=(4, 2), block=64)
    >>> config.grid
    (4, 2, 1)
    >>> cuprum.LaunchConfig.from_size(1000, block=256).grid
    (4, 1, 1)
    """

    def __init__(
        self,
        grid: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        cluster: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        block: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        shmem_size: SupportsIndex | None = None,
        is_cooperative: bool = False,
        programmatic_stream_serialization: bool = False,
        *,
        priority: int | None = None,
        preferred_cluster: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        cluster_scheduling_policy: str | None = None,
        shared_memory_carveout: SupportsIndex | None = None,
        access_policy_window: AccessPolicyWindow | dict[str, Any] | None = None,
        memory_sync_domain: str | None = None,
        memory_sync_domain_map: tuple[int, int] | None = None,
        programmatic_event: Event | tuple[Event, bool] | None = None,
        launch_completion_event: Event | None = None,
        nvlink_centric_scheduling: bool = False,
        portable_cluster_mode: str | None = None,
        shared_memory_mode: str | None = None,
        raw_attributes: dict[int, bytes] | None = None,
    ) -> None: ...
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
        """Return whether all blocks are resident at once."""

    @property
    def programmatic_stream_serialization(self) -> bool:
        """Return whether the kernel may start before the previous one has ended."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __repr__(self) -> str: ...
    @property
    def priority(self) -> int | None:
        """Return the priority, or None for the stream's."""

    @property
    def preferred_cluster(self) -> tuple[int, int, int] | None:
        """Return the preferred cluster, or None."""

    @property
    def cluster_scheduling_policy(self) -> str | None:
        """Return how the blocks of a cluster are placed, or None."""

    @property
    def shared_memory_carveout(self) -> int | None:
        """Return the percent of L1 used as shared memory, or None."""

    @property
    def access_policy_window(self) -> AccessPolicyWindow | None:
        """Return how the L2 cache treats a range of memory, or None."""

    @property
    def memory_sync_domain(self) -> str | None:
        """Return the memory synchronisation domain, or None."""

    @property
    def memory_sync_domain_map(self) -> tuple[int, int] | None:
        """Return the numbers of the domains, or None."""

    @property
    def programmatic_event(self) -> Event | tuple[Event, bool] | None:
        """Return the event that blocks trigger, or None."""

    @property
    def launch_completion_event(self) -> Event | None:
        """Return the event for the blocks' start, or None."""

    @property
    def nvlink_centric_scheduling(self) -> bool:
        """Return whether NVLink limits the kernel's speed."""

    @property
    def portable_cluster_mode(self) -> str | None:
        """Return whether more than 8 blocks per cluster are allowed."""

    @property
    def shared_memory_mode(self) -> str | None:
        """Return whether more than 48 KiB per block are allowed."""

    @property
    def raw_attributes(self) -> dict[int, bytes] | None:
        """Return attributes given by number, or None."""

    @staticmethod
    def from_size(elements: SupportsIndex, block: SupportsIndex = 256) -> LaunchConfig:
        """Return a one-dimensional configuration with at least one thread per element.

        Parameters
        ----------
        elements : int
            How many threads are needed.
        block : int
            Threads per block.

        Returns
        -------
        LaunchConfig
            The configuration.

        Raises
        ------
        ValueError
            If there is no element, or too many for one grid.
        """

    @staticmethod
    def from_occupancy(
        kernel: Kernel,
        elements: SupportsIndex | None = None,
        shmem_size: SupportsIndex = 0,
        block_size_limit: SupportsIndex = 0,
    ) -> LaunchConfig:
        """Return a one-dimensional configuration with the block size that suits the device best.

        Parameters
        ----------
        kernel : Kernel
            What is to be launched.
        elements : int, optional
            How many threads are needed. Without it, as many blocks as fill the device.
        shmem_size : int
            Dynamic shared memory per block, in bytes.
        block_size_limit : int
            The most threads per block; 0 is the kernel's own limit.

        Returns
        -------
        LaunchConfig
            The configuration.

        Raises
        ------
        ValueError
            If `elements` is less than 1.
        """

def launch(
    stream: Stream | IsStreamType,
    config: LaunchConfig | dict[str, Any],
    kernel: Kernel,
    *kernel_args: object,
) -> None:
    """Launch a kernel. Returns at once; the arguments are copied.

    Parameters
    ----------
    stream : Stream or GraphBuilder
        The kernel runs in this stream's order. In a builder's capture it becomes a node.
    config : LaunchConfig or dict
        Grid, block and the rest.
    kernel : Kernel
        What to run.
    *kernel_args : Buffer, array, texture, surface, condition, number, numpy scalar, ctypes or bytes
        One for each parameter. A Buffer passes its address. So does an object with DLPack or
        ``__cuda_array_interface__``; the stream waits for its producer. Python's numbers convert to the
        parameter's size. Everything else, such as ctypes and numpy structures, must have that size.

        PTX and the mangled names of C++ kernels declare whether a parameter is a floating-point number.
        An int is then converted to it, and a float for an integer is refused. A cubin does not declare
        the types of ``extern "C"`` kernels. There an int for a ``float`` passes the integer's bits, so
        pass ``2.0`` instead of ``2``.

    Raises
    ------
    TypeError
        If count, type or size of the arguments is not what the kernel takes.
    OverflowError
        If a number does not fit its parameter.
    ValueError
        If the configuration exceeds a limit of the device. The message shows the numbers.
    """
