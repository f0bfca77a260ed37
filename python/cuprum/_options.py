# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""How objects are made. Wherever one of these is taken, a dict of its fields is too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuprum import _cuprum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuprum.typing import WorkqueueSharingScopeType


@dataclass
class StreamOptions:
    """Say how a stream is made.

    Attributes
    ----------
    nonblocking : bool
        The stream does not wait for the legacy default stream, nor that for it.
    priority : int or None
        Lower runs first; None is the device's lowest.
    """

    nonblocking: bool = True
    priority: int | None = None


@dataclass
class EventOptions:
    """Say how an event is made.

    Attributes
    ----------
    timing_enabled : bool
        Elapsed time can be asked for; recording costs a little more.
    blocking_sync : bool
        ``Event.sync`` sleeps instead of spinning.
    ipc_enabled : bool
        Other processes can wait for the event; excludes timing. Only ``Stream.record`` makes such
        events, and they are recorded once.
    """

    timing_enabled: bool = False
    blocking_sync: bool = False
    ipc_enabled: bool = False


@dataclass
class ContextOptions:
    """Say what a green context is made of.

    Attributes
    ----------
    resources : sequence of SMResource and WorkqueueResource
        At least one SMResource.
    """

    resources: Sequence[_cuprum.SMResource | _cuprum.WorkqueueResource] | None


@dataclass
class SMResourceOptions:
    """Say how multiprocessors are split. Each field is one value, or a sequence with one per group.

    Attributes
    ----------
    count : int or sequence of int or None
        The multiprocessors of each group; the number of values is the number of groups. None lets
        the driver choose.
    coscheduled_sm_count : int or sequence of int or None
        How many of them must be able to run one cluster together.
    preferred_coscheduled_sm_count : int or sequence of int or None
        How many of them should be.
    backfill : bool or sequence of bool
        Fill a group up with multiprocessors that are not co-scheduled.
    """

    count: int | Sequence[int | None] | None = None
    coscheduled_sm_count: int | Sequence[int | None] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int | None] | None = None
    backfill: bool | Sequence[bool] = False

    def _groups(self) -> list[tuple[int | None, int | None, int | None, bool]]:
        """Return count, co-scheduled count, preferred one and backfill of each group."""
        is_scalar = self.count is None or isinstance(self.count, int)
        if not is_scalar and (isinstance(self.count, str) or not isinstance(self.count, Sequence)):
            raise TypeError(
                f"count must be int, Sequence, or None, got {type(self.count).__name__}"
            )
        counts = [self.count] if is_scalar else list(self.count)  # type: ignore[arg-type]
        if not counts:
            raise ValueError("count sequence must not be empty")
        for count in counts:
            if count is not None and count < 0:  # type: ignore[operator]
                raise ValueError(f"count must be non-negative, got {count}")
        others = ("coscheduled_sm_count", "preferred_coscheduled_sm_count", "backfill")
        columns = [self._column(name, len(counts), is_scalar) for name in others]
        return list(zip(counts, *columns, strict=True))  # type: ignore[arg-type]

    def _column(self, name: str, group_count: int, is_scalar: bool) -> list[object]:
        value = getattr(self, name)
        if not isinstance(value, Sequence):
            return [value] * group_count
        if is_scalar:
            raise ValueError(
                f"{name} is a sequence but count is scalar; give count as a sequence too"
            )
        if len(value) != group_count:
            raise ValueError(f"{name} has {len(value)} values, expected {group_count}, as count")
        return list(value)


@dataclass
class WorkqueueResourceOptions:
    """Say what to change about work queues. None leaves a setting as it is.

    Attributes
    ----------
    sharing_scope : WorkqueueSharingScopeType or str or None
        ``"device_ctx"``: all contexts share the queues. ``"green_ctx_balanced"``: green contexts
        get queues of their own, as far as they go.
    concurrency_limit : int or None
        How many streams should not wait for each other; at least 1.
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self) -> None:
        from cuprum.typing import WorkqueueSharingScopeType

        scopes = [str(scope) for scope in WorkqueueSharingScopeType]
        if self.sharing_scope is not None and self.sharing_scope not in scopes:
            raise ValueError(
                f"sharing_scope: {self.sharing_scope!r} is not a valid WorkqueueSharingScopeType. "
                f"Must be one of {', '.join(map(repr, scopes))}"
            )
        if self.concurrency_limit is not None and self.concurrency_limit < 1:
            raise ValueError(f"concurrency_limit must be >= 1, got {self.concurrency_limit}")


@dataclass
class DeviceMemoryResourceOptions:
    """Say how a device pool is made.

    Attributes
    ----------
    ipc_enabled : bool
        Not available yet.
    max_size : int
        Bytes that the pool may hold; 0 is the driver's limit.
    """

    ipc_enabled: bool = False
    max_size: int = 0


@dataclass
class ProgramOptions:
    """Say how a program is compiled. None leaves the compiler's default.

    Attributes
    ----------
    name : str or None
        What the compiler's messages call the source. No file of that name is ever touched.
    arch : str or None
        The architecture, such as ``"sm_90"``; None is the current device's.
    relocatable_device_code : bool or None
        Make code that can be linked.
    extensible_whole_program : bool or None
        Make code that is complete but may be extended.
    debug, lineinfo : bool or None
        Make debug information, or line numbers alone.
    device_code_optimize : bool or None
        Optimise also when debugging.
    ptxas_options : str or sequence of str or None
        Passed on to the assembler.
    max_register_count : int or None
        The most registers that a thread may use.
    ftz, prec_sqrt, prec_div, fma : bool or None
        Flush denormals to zero; round square root and division correctly; contract into fused
        multiply-add.
    use_fast_math : bool or None
        Trade precision for speed in all of those.
    extra_device_vectorization : bool or None
        Vectorise more.
    link_time_optimization, gen_opt_lto : bool or None
        Prepare for optimisation when linking.
    define_macro : str, (str, str), or sequence of those, or None
        ``"NAME"``, ``"NAME=value"`` or ``("NAME", "value")``.
    undefine_macro : str or sequence of str or None
        Macros to undefine.
    include_path, pre_include : str or sequence of str or None
        Folders searched for headers; headers included before the source.
    no_source_include : bool or None
        Do not search the source's own folder for headers.
    std : str or None
        The language, such as ``"c++17"``.
    builtin_move_forward, builtin_initializer_list : bool or None
        Provide ``std::move`` and ``std::forward``; ``std::initializer_list``.
    disable_warnings : bool or None
        Say nothing about what is only suspicious.
    restrict : bool or None
        Treat all pointer parameters of kernels as restricted.
    device_as_default_execution_space : bool or None
        Treat functions without an attribute as device functions.
    device_int128, device_float128 : bool or None
        Allow the 128-bit types.
    optimization_info : str or None
        Report on a kind of optimisation, such as ``"inline"``.
    no_display_error_number : bool or None
        Leave the numbers of diagnostics out.
    diag_error, diag_suppress, diag_warn : int or sequence of int or None
        Diagnostics by number: errors, silent, warnings.
    brief_diagnostics : bool or None
        Write diagnostics in one line.
    time : str or None
        Write the time of each phase to this file.
    split_compile : int or None
        Compile in this many threads; 0 is all.
    fdevice_syntax_only : bool or None
        Check the syntax and stop.
    minimal : bool or None
        Leave out what is not needed, to compile faster.
    no_cache : bool or None
        Do not use the compiler's cache.
    fdevice_time_trace : str or None
        Write a trace of the compilation to this file.
    frandom_seed : str or None
        Where made-up names start from.
    ofast_compile : str or None
        Compile fast rather than well: ``"0"``, ``"min"``, ``"mid"`` or ``"max"``.
    pch : bool or None
        Use a precompiled header, making it if need be.
    create_pch, use_pch, pch_dir : str or None
        The file to make, the file to use, the folder they are in.
    pch_verbose, pch_messages, instantiate_templates_in_pch : bool or None
        Say why a precompiled header is not used; when one is made; instantiate templates in it.
    extra_sources : sequence of (str, str or bytes) or None
        Has a meaning only for NVVM; refused for C++.
    use_libdevice : bool or None
        Has a meaning only for NVVM; refused for C++.
    numba_debug : bool or None
        Make the debug information that numba needs.
    """

    name: str | None = "default_program"
    arch: str | None = None
    relocatable_device_code: bool | None = None
    extensible_whole_program: bool | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    device_code_optimize: bool | None = None
    ptxas_options: str | Sequence[str] | None = None
    max_register_count: int | None = None
    ftz: bool | None = None
    prec_sqrt: bool | None = None
    prec_div: bool | None = None
    fma: bool | None = None
    use_fast_math: bool | None = None
    extra_device_vectorization: bool | None = None
    link_time_optimization: bool | None = None
    gen_opt_lto: bool | None = None
    define_macro: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None
    undefine_macro: str | Sequence[str] | None = None
    include_path: str | Sequence[str] | None = None
    pre_include: str | Sequence[str] | None = None
    no_source_include: bool | None = None
    std: str | None = None
    builtin_move_forward: bool | None = None
    builtin_initializer_list: bool | None = None
    disable_warnings: bool | None = None
    restrict: bool | None = None
    device_as_default_execution_space: bool | None = None
    device_int128: bool | None = None
    optimization_info: str | None = None
    no_display_error_number: bool | None = None
    diag_error: int | Sequence[int] | None = None
    diag_suppress: int | Sequence[int] | None = None
    diag_warn: int | Sequence[int] | None = None
    brief_diagnostics: bool | None = None
    time: str | None = None
    split_compile: int | None = None
    fdevice_syntax_only: bool | None = None
    minimal: bool | None = None
    no_cache: bool | None = None
    fdevice_time_trace: str | None = None
    device_float128: bool | None = None
    frandom_seed: str | None = None
    ofast_compile: str | None = None
    pch: bool | None = None
    create_pch: str | None = None
    use_pch: str | None = None
    pch_dir: str | None = None
    pch_verbose: bool | None = None
    pch_messages: bool | None = None
    instantiate_templates_in_pch: bool | None = None
    extra_sources: Sequence[tuple[str, str | bytes | bytearray]] | None = None
    use_libdevice: bool | None = None
    numba_debug: bool | None = None

    def as_bytes(self, backend: str, target_type: str | None = None) -> list[bytes]:
        """Return the options as a compiler takes them.

        Parameters
        ----------
        backend : str
            ``"nvrtc"``, in any case.
        target_type : str, optional
            Makes no difference to NVRTC.

        Raises
        ------
        ValueError
            If the backend is another one.
        """
        del target_type
        if backend.lower() != "nvrtc":
            raise ValueError(f'backend must be "nvrtc", got {backend!r}')
        return [option.encode() for option in _cuprum.nvrtc_options(self)]


for _class in (
    ContextOptions,
    SMResourceOptions,
    WorkqueueResourceOptions,
    StreamOptions,
    EventOptions,
    DeviceMemoryResourceOptions,
    ProgramOptions,
):
    _class.__module__ = "cuprum"
