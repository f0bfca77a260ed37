# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Options for compiling, linking and loading programs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuprum import _cuprum
from cuprum._calls import explained

_DEFAULT_NAME = "default_program"


@explained
@dataclass
class ProgramOptions:
    """Options for compiling a program. None leaves the compiler's default.

    NVRTC (C++), the linker (PTX) and libNVVM (NVVM IR) each support some of these. An option that
    the compiler in use does not support raises ``UnsupportedOptionError``, which names both.

    Attributes
    ----------
    name : str or None
        The name of the source in the compiler's messages. No file of that name is read or written.
    arch : str or None
        The architecture, such as ``"sm_90"``. None: that of the current device.
    relocatable_device_code : bool or None
        Produce code that can be linked.
    extensible_whole_program : bool or None
        Produce code that is complete but may be extended.
    debug, lineinfo : bool or None
        Add debug information, or line numbers only.
    device_code_optimize : bool or None
        True: optimise even if `debug` is set. False: do not optimise PTX and NVVM IR. NVRTC always
        optimises unless `debug` is set.
    ptxas_options : str or sequence of str or None
        Options that are passed to the assembler.
    max_register_count : int or None
        The most registers that a thread may use.
    ftz, prec_sqrt, prec_div, fma : bool or None
        Flush denormals to zero; round square root and division correctly; contract into fused
        multiply-add.
    use_fast_math : bool or None
        Prefer speed to precision in all of those.
    extra_device_vectorization : bool or None
        Vectorise more.
    link_time_optimization, gen_opt_lto : bool or None
        Prepare for optimisation when linking. For C++ and NVVM IR the target ``"ltoir"`` implies
        the first of the two; other targets ignore it.
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
        Suppress warnings.
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
    time : str or bool or None
        A file for the time of each phase. True: the log. PTX always uses the log.
    split_compile : int or None
        The number of threads that compile. 0: all processors.
    fdevice_syntax_only : bool or None
        Check the syntax and stop.
    minimal : bool or None
        Leave out what few programs need, to compile faster.
    no_cache : bool or None
        Do not use the compiler's cache.
    fdevice_time_trace : str or None
        Write a trace of the compilation to this file.
    frandom_seed : str or None
        A seed for generated names, so that they are the same in every run.
    ofast_compile : str or None
        Compile faster, with slower code as the result: ``"0"``, ``"min"``, ``"mid"`` or ``"max"``.
    pch : bool or None
        Use a precompiled header; create it if it does not exist.
    create_pch, use_pch, pch_dir : str or None
        The file to create, the file to use, the folder of both.
    pch_verbose, pch_messages, instantiate_templates_in_pch : bool or None
        Report why a precompiled header is not used; report when one is created; instantiate
        templates in it.
    extra_sources : sequence of (str, str or bytes) or None
        NVVM only: further modules, as name and IR.
    use_libdevice : bool or None
        NVVM only: link CUDA's mathematical functions.
    numba_debug : bool or None
        Add the debug information that Numba needs.
    headers : mapping of str to str, or None
        C++ only: headers in memory. The key is the name in ``#include``, the value is the text.
    default_include_path : bool or None
        Whether to search CUDA's and CCCL's own headers; None means yes.

    Examples
    --------
    >>> options = cuprum.ProgramOptions(std="c++20", lineinfo=True, define_macro=("N", "4"))
    >>> code = cuprum.Program('extern "C" __global__ void f(int* x) { *x = N; }', "c++",
    ...                       options).compile("cubin")
    """

    name: str | None = _DEFAULT_NAME
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
    time: str | bool | None = None
    split_compile: int | None = None
    fdevice_syntax_only: bool | None = None
    minimal: bool | None = None
    no_cache: bool | None = None
    fdevice_time_trace: str | os.PathLike[str] | None = None
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
    headers: Mapping[str, str] | None = None
    default_include_path: bool | None = None

    def __post_init__(self) -> None:
        """Fill in the name and check the form of the extra sources."""
        if self.name is None:
            self.name = _DEFAULT_NAME
        if self.extra_sources is not None:
            _check_extra_sources(self.extra_sources)

    def as_bytes(self, backend: str, target_type: str | None = None) -> list[bytes]:
        """Return the options as a compiler takes them.

        Parameters
        ----------
        backend : str
            ``"nvrtc"`` or ``"nvvm"``, in any case.
        target_type : str, optional
            What is compiled to. Only NVVM needs it.

        Returns
        -------
        list[bytes]
            One entry for each option.

        Raises
        ------
        ValueError
            If the backend is another one.
        UnsupportedOptionError
            If libNVVM has no equivalent of an option.
        """
        name = backend.lower()
        if name == "nvrtc":
            options = _cuprum.nvrtc_options(self)
        elif name == "nvvm":
            options = _cuprum.nvvm_options(self, target_type or "ptx")
        else:
            raise ValueError(f"Unknown backend {backend!r}: expected 'nvrtc' or 'nvvm'")
        return [option.encode() for option in options]


@explained
@dataclass
class LinkerOptions:
    """Options for linking code. None leaves the linker's default.

    The driver's linker knows fewer of these than nvJitLink; one that it cannot honour is an
    ``UnsupportedOptionError`` that names it.

    Attributes
    ----------
    name : str or None
        The name of the result.
    arch : str or None
        The architecture, such as ``"sm_90"``; None is the current device's.
    max_register_count : int or None
        The most registers that a thread may use.
    time, verbose : bool or None
        Write times, or more, to the info log.
    link_time_optimization : bool or None
        Optimise across the parts; implied by LTO-IR.
    ptx : bool or None
        Link to PTX; implied by ``link("ptx")``.
    optimization_level : int or None
        From 0 to 3.
    debug, lineinfo : bool or None
        Add debug information, or line numbers only.
    ftz, prec_div, prec_sqrt, fma : bool or None
        Flush denormals to zero; round division and square root correctly; contract into fused
        multiply-add.
    kernels_used, variables_used : str or sequence of str or None
        What is used, so that the rest can go; with link-time optimisation.
    optimize_unused_variables : bool or None
        Remove variables that device code does not use.
    ptxas_options : str or sequence of str or None
        Passed on to the assembler.
    split_compile, split_compile_extended : int or None
        Compile in this many threads; 0 is all.
    no_cache : bool or None
        Do not use the linker's cache.
    numba_debug : bool or None
        Has no effect in any linker; deprecated.
    backend : CompilerBackendType or str or None
        ``"nvJitLink"`` or ``"driver"``; None is ``Linker.which_backend()``.

    Examples
    --------
    >>> ptx = cuprum.Program(source, "c++").compile("ptx")
    >>> linked = cuprum.Linker(ptx, options=cuprum.LinkerOptions(name="linked")).link("cubin")
    >>> linked.name
    'linked'
    """

    name: str | None = "<default linker>"
    arch: str | None = None
    max_register_count: int | None = None
    time: bool | None = None
    verbose: bool | None = None
    link_time_optimization: bool | None = None
    ptx: bool | None = None
    optimization_level: int | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    ftz: bool | None = None
    prec_div: bool | None = None
    prec_sqrt: bool | None = None
    fma: bool | None = None
    kernels_used: str | Sequence[str] | None = None
    variables_used: str | Sequence[str] | None = None
    optimize_unused_variables: bool | None = None
    ptxas_options: str | Sequence[str] | None = None
    split_compile: int | None = None
    split_compile_extended: int | None = None
    no_cache: bool | None = None
    numba_debug: bool | None = None
    backend: str | None = None

    def __post_init__(self) -> None:
        """Fill in the name and say what has no effect."""
        if self.name is None:
            self.name = "<default linker>"
        if self.numba_debug is not None:
            import warnings

            warnings.warn(
                "LinkerOptions numba_debug is not supported by any linking backend and has no "
                "effect; it will be removed",
                DeprecationWarning,
                stacklevel=3,
            )

    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """Return the options as nvJitLink takes them.

        Parameters
        ----------
        backend : str
            ``"nvjitlink"``, in any case.

        Returns
        -------
        list[bytes]
            One entry for each option.

        Raises
        ------
        ValueError
            If the backend is another one: the driver takes no texts.
        """
        if backend.lower() != "nvjitlink":
            raise ValueError(f"as_bytes() only supports 'nvjitlink' backend, got {backend!r}")
        return [option.encode() for option in _cuprum.nvjitlink_options(self)]


@explained
@dataclass
class JITOptions:
    """Options for the driver's own compiler, which loads PTX. None leaves its default.

    Attributes
    ----------
    max_register_count : int or None
        The most registers that a thread may use.
    optimization_level : int or None
        From 0 to 4.
    debug, lineinfo : bool or None
        Add debug information, or line numbers only.
    l1_cache : bool or None
        Whether loads of global memory go through the L1 cache.
    threads_per_block : int or None
        Use so few registers that blocks of this many threads can be launched.
    max_threads_per_block : int or None
        Promise that no block has more threads.
    min_blocks_per_multiprocessor : int or None
        So many blocks should fit on one; goes with ``max_threads_per_block``.
    override_directives : bool or None
        Let these numbers win over the code's own launch bounds.
    position_independent_code : bool or None
        Make code that runs at any address.
    split_compile : int or None
        Compile in this many threads; 0 is all.
    prefer_binary : bool or None
        Of a fat binary without the device's exact architecture take machine code that suits it,
        not PTX.

    Examples
    --------
    >>> options = cuprum.JITOptions(max_register_count=32)
    >>> ptx = cuprum.Program(source, "c++").compile("ptx")
    >>> code = cuprum.ObjectCode.from_ptx(ptx.code, jit_options=options)
    """

    max_register_count: int | None = None
    optimization_level: int | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    l1_cache: bool | None = None
    threads_per_block: int | None = None
    max_threads_per_block: int | None = None
    min_blocks_per_multiprocessor: int | None = None
    override_directives: bool | None = None
    position_independent_code: bool | None = None
    split_compile: int | None = None
    prefer_binary: bool | None = None


def _check_extra_sources(sources: object) -> None:
    if not isinstance(sources, Sequence) or isinstance(sources, (str, bytes, bytearray)):
        raise TypeError(
            f"extra_sources must be a sequence of 2-tuples (name, source), got {sources!r}"
        )
    for index, item in enumerate(sources):
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError(
                f"Each extra module must be a 2-tuple (name, source), got {item!r} at index {index}"
            )
        name, source = item
        if not isinstance(name, str):
            raise TypeError(f"Module name at index {index} must be a string, got {name!r}")
        if not isinstance(source, (str, bytes, bytearray)):
            raise TypeError(
                f"Module source at index {index} must be str, bytes or bytearray, "
                f"got {type(source).__name__}"
            )
        if len(source) == 0:
            raise ValueError(f"Module source for {name!r} (index {index}) cannot be empty")


for _class in (ProgramOptions, LinkerOptions, JITOptions):
    _class.__module__ = "cuprum"
