# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Programs, linkers and object code."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

from cuprum import JITOptions, LinkerOptions, ProgramOptions
from cuprum._cuprum.launch import Kernel
from cuprum._cuprum.memory import Buffer
from cuprum._cuprum.words import (
    ObjectCodeFormatTypeWord,
    SourceCodeTypeWord,
)
from cuprum.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType, SourceCodeType
from cuprum.utils import ProgramCacheResource

class ObjectCode:
    """Compiled code.

    Made by ``Program.compile`` or one of the ``from_*`` methods. It is loaded into the driver on first
    use and unloaded when the last object and the last kernel from it are gone.

    Examples
    --------
    >>> code = cuprum.Program(source, "c++").compile("ptx")
    >>> code.code_type, code.get_kernel("add_one").num_arguments
    ('ptx', 1)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @staticmethod
    def from_cubin(
        module: bytes | str | os.PathLike[str],
        *,
        name: str = "",
        symbol_mapping: dict[str, Any] | None = None,
        jit_options: JITOptions | dict[str, Any] | None = None,
    ) -> ObjectCode:
        """Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_ptx(
        module: bytes | str | os.PathLike[str],
        *,
        name: str = "",
        symbol_mapping: dict[str, Any] | None = None,
        jit_options: JITOptions | dict[str, Any] | None = None,
    ) -> ObjectCode:
        """Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_ltoir(
        module: bytes | str | os.PathLike[str],
        *,
        name: str = "",
        symbol_mapping: dict[str, Any] | None = None,
        jit_options: JITOptions | dict[str, Any] | None = None,
    ) -> ObjectCode:
        """Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_fatbin(
        module: bytes | str | os.PathLike[str],
        *,
        name: str = "",
        symbol_mapping: dict[str, Any] | None = None,
        jit_options: JITOptions | dict[str, Any] | None = None,
    ) -> ObjectCode:
        """Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_object(
        module: bytes | str | os.PathLike[str],
        *,
        name: str = "",
        symbol_mapping: dict[str, Any] | None = None,
        jit_options: JITOptions | dict[str, Any] | None = None,
    ) -> ObjectCode:
        """Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @staticmethod
    def from_library(
        module: bytes | str | os.PathLike[str],
        *,
        name: str = "",
        symbol_mapping: dict[str, Any] | None = None,
        jit_options: JITOptions | dict[str, Any] | None = None,
    ) -> ObjectCode:
        """Create an ObjectCode from code of this type.

        Parameters
        ----------
        module : bytes, str or path
            The code itself as bytes, or the path of a file, read when the code is first needed.
        name : str, optional
            Its name in messages.
        symbol_mapping : dict of str, optional
            Maps kernel names in the source to their names in the code.
        jit_options : JITOptions or dict, optional
            How the driver compiles PTX when it loads it.

        Returns
        -------
        ObjectCode
            The code. It is loaded when it is first used.

        Raises
        ------
        TypeError
            If the code is neither bytes nor a path.
        """

    @property
    def code(self) -> bytes | str:
        """Return the code, or the path of the file that holds it."""

    @property
    def code_type(self) -> str:
        """Return its format: ptx, cubin, ltoir, fatbin, object or library."""

    @property
    def name(self) -> str:
        """Return the name."""

    @property
    def symbol_mapping(self) -> dict[str, str]:
        """Return a copy of the map from kernel names in the source to names in the code."""

    @property
    def handle(self) -> int:
        """Return the driver's ``CUlibrary`` as an int. Loads the code on first use."""

    def get_kernel(self, name: str | bytes) -> Kernel:
        """Return a kernel by name.

        Parameters
        ----------
        name : str or bytes
            As given in ``name_expressions`` when compiling, or as it is in the code.

        Returns
        -------
        Kernel
            The kernel. It keeps the code loaded.

        Raises
        ------
        ValueError
            If there is no such kernel. The message lists the kernels that exist.
        """

    @property
    def kernel_names(self) -> list[str]:
        """Return the names in the code of all kernels. Loads the code on first use."""

    def get_global(self, name: str | bytes) -> Buffer:
        """Return a ``__device__`` or ``__constant__`` variable as a buffer.

        It is the memory that the variable has in the current context (the current device's, if none is
        current). The buffer keeps the code loaded.

        Parameters
        ----------
        name : str or bytes
            The name of the variable.

        Returns
        -------
        Buffer
            The memory of the variable. It keeps the code loaded.

        Raises
        ------
        ValueError
            If there is no such variable.
        """

    def get_managed(self, name: str | bytes) -> Buffer:
        """Return a ``__managed__`` variable, which all contexts share, as a buffer.

        Parameters
        ----------
        name : str or bytes
            The name of the variable.

        Returns
        -------
        Buffer
            The memory of the variable. It keeps the code loaded.

        Raises
        ------
        ValueError
            If there is no such variable.
        """

    def get_module(self) -> int:
        """Return the code as a ``CUmodule`` of the current context, as an int, for interfaces that take one. It belongs to this object.

        Returns
        -------
        int
            The driver's ``CUmodule``.

        Raises
        ------
        ClosedError
            If the code is closed.
        CUDAError
            If the driver cannot load the code. The text has the driver's log.
        """

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release this object's share of the code. Calling it again does nothing."""

    def __reduce__(self) -> tuple[Any, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def _repr_html_(self) -> str:
        """Return what notebooks show."""

class Program:
    """Source code and the options to compile it.

    Parameters
    ----------
    code : str, bytes or bytearray
        CUDA C++ source, PTX, or NVVM IR; bytes for NVVM alone.
    code_type : SourceCodeType or str
        ``"c++"`` for NVRTC, ``"ptx"`` for the linker, ``"nvvm"`` for libNVVM.
    options : ProgramOptions or dict, optional
        How it is compiled.

    Raises
    ------
    LibraryNotFoundError
        If the compiler library cannot be found. The message lists every place that was searched.
    UnsupportedOptionError
        For options that the compiler cannot honour.

    Examples
    --------
    >>> program = cuprum.Program('extern "C" __global__ void f() {}', "c++")
    >>> kernel = program.compile("cubin").get_kernel("f")
    >>> kernel.name
    'f'
    """

    def __init__(
        self,
        code: str | bytes | bytearray,
        code_type: SourceCodeType | SourceCodeTypeWord,
        options: ProgramOptions | dict[str, Any] | None = None,
    ) -> None: ...
    def compile(
        self,
        target_type: ObjectCodeFormatType | ObjectCodeFormatTypeWord,
        name_expressions: Iterable[str] = (),
        logs: object | None = None,
        *,
        cache: ProgramCacheResource | None = None,
        extra_digest: bytes | None = None,
    ) -> ObjectCode:
        """Compile the program. Blocks; may be called again, also with another target.

        Parameters
        ----------
        target_type : ObjectCodeFormatType or str
            From C++ ``"ptx"``, ``"cubin"`` or ``"ltoir"``, from PTX ``"cubin"`` (or ``"ptx"``), from NVVM
            IR ``"ptx"`` or ``"ltoir"``. For an emulated device a cubin is a fat binary that holds the cubin
            and its PTX; a GPU and the emulated device both load it.
        name_expressions : iterable of str, optional
            For C++ only: kernels with mangled names, such as ``"add<float>"``. The result finds them under
            these names.
        logs : object with ``write``, optional
            Receives the compiler's log, unless it is empty.
        cache : ProgramCacheResource, optional
            Searched before compiling, and stores the result. A cached result has no log.
        extra_digest : bytes, optional
            Part of the cache key, for contents that the cache cannot see, such as the files in
            ``include_path``.

        Returns
        -------
        ObjectCode
            The compiled code.

        Raises
        ------
        NVRTCError, NVVMError, LinkerError
            If it does not compile, with log and options.
        ValueError
            If there is a cache and the result depends on contents that its key does not cover. The message
            says which.
        """

    def cancel(self) -> None:
        """Cancel the compilations of this program that run in other threads.

        They soon raise ``NVRTCError`` with ``NVRTC_ERROR_CANCELLED``. Later compilations are not affected.

        Raises
        ------
        NotSupportedError
            If NVRTC is older than 12.8.
        """

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release the compiler's state. Calling it again does nothing."""

    def __repr__(self) -> str: ...
    @property
    def backend(self) -> CompilerBackendType:
        """Return which compiler is used."""

    @property
    def pch_status(self) -> PCHStatusType | None:
        """Return the result of the precompiled header in the last compilation. None if no header was
        requested or nothing was compiled yet. A failure is also a warning, with the reason."""

    @property
    def options(self) -> ProgramOptions:
        """Return the options that it was made with."""

    @property
    def compiler_options(self) -> list[str]:
        """Return the options as they are passed to the compiler."""

    @property
    def log(self) -> str:
        """Return the log of the last compilation, which may be empty."""

    @property
    def handle(self) -> int:
        """Return an ``nvrtcProgram``, ``nvvmProgram`` or the linker's handle, as an int, made of the
        source and not compiled yet."""

def nvrtc_options(options: object) -> list[str]:
    """Return ProgramOptions as NVRTC takes them."""

def nvvm_options(options: object, target_type: object) -> list[str]:
    """Return ProgramOptions as libNVVM takes them."""

def supported_architectures() -> list[int]:
    """Return the architectures that NVRTC compiles for, ascending, as in 90 for ``sm_90``.

    Needs no device.

    Returns
    -------
    list[int]
        The architectures.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVRTC. The text shows the places that were searched.
    """

def compiler_version(backend: CompilerBackendType | str) -> str:
    """Return the version of a compiler, such as ``"13.0"``.

    Parameters
    ----------
    backend : CompilerBackendType or str
        Which compiler, such as ``"NVRTC"``.

    Returns
    -------
    str
        Major and minor number.

    Raises
    ------
    ValueError
        If there is no such compiler.
    """

def default_include_directories() -> list[str]:
    """Return the folders of CUDA's and CCCL's headers, which every program can include.

    Returns
    -------
    list[str]
        The folders, in the order in which they are searched.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVRTC, whose folder the search starts from.
    """

class Linker:
    """A linker, which turns several pieces of code into one image.

    For an emulated device, which cannot run machine code, the result is a fat binary that holds the
    cubin and PTX: from nvJitLink if all input is LTO-IR, from the one input if there is one, else from
    the emulated device's own linker.

    Parameters
    ----------
    *object_codes : ObjectCode
        What is linked.
    options : LinkerOptions or dict, optional
        How it is linked.

    Raises
    ------
    LinkerError
        If the linker refuses an input or an option.

    Examples
    --------
    >>> first = cuprum.Program("__device__ int one() { return 1; }", "c++",
    ...                        {"relocatable_device_code": True}).compile("ptx")
    >>> second = cuprum.Program("extern __device__ int one();"
    ...                         'extern "C" __global__ void f(int* x) { *x = one(); }', "c++",
    ...                         {"relocatable_device_code": True}).compile("ptx")
    >>> linked = cuprum.Linker(first, second).link("cubin")
    >>> linked.get_kernel("f").num_arguments
    1
    """

    def __init__(
        self, *object_codes: ObjectCode, options: LinkerOptions | dict[str, Any] | None = None
    ) -> None: ...
    def link(self, target_type: ObjectCodeFormatType | ObjectCodeFormatTypeWord) -> ObjectCode:
        """Link. Blocks; may be called again.

        Parameters
        ----------
        target_type : ObjectCodeFormatType or str
            ``"cubin"``, or ``"ptx"`` if all input is LTO-IR.

        Returns
        -------
        ObjectCode
            The linked code.

        Raises
        ------
        LinkerError
            If it does not link, with log and options.
        """

    def get_error_log(self) -> str:
        """Return the errors of the last ``link``, or so far.

        Returns
        -------
        str
            The messages, one on each line.

        Raises
        ------
        ClosedError
            If the linker is closed.
        LinkerError
            If nvJitLink cannot return its log.
        """

    def get_info_log(self) -> str:
        """Return the other messages of the last ``link``.

        Returns
        -------
        str
            The messages, one on each line.

        Raises
        ------
        ClosedError
            If the linker is closed.
        LinkerError
            If nvJitLink cannot return its log.
        """

    @property
    def backend(self) -> CompilerBackendType:
        """Return the backend: nvJitLink or the driver."""

    @property
    def options(self) -> LinkerOptions:
        """Return the options that it was made with."""

    @property
    def linker_options(self) -> list[str]:
        """Return the options as they are passed to nvJitLink."""

    @property
    def handle(self) -> int:
        """Return the ``nvJitLinkHandle`` or ``CUlinkState`` as an int."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    def close(self) -> None:
        """Release the linker's state. Calling it again does nothing."""

    def __repr__(self) -> str: ...
    @classmethod
    def which_backend(cls) -> CompilerBackendType:
        """Return the default backend.

        It is nvJitLink. If nvJitLink 12.3 or later is missing, it is the driver, with a warning.

        Returns
        -------
        CompilerBackendType
            The backend of a linker whose options name none.

        Raises
        ------
        LibraryNotFoundError
            If there is neither nvJitLink nor a driver.
        """

def nvjitlink_options(options: object) -> list[str]:
    """Return LinkerOptions as nvJitLink takes them."""

class ProgramCache:
    """A cache that the compiled library implements."""

class InMemoryCache(ProgramCache):
    """A cache in memory."""

    def __init__(self, max_size_bytes: SupportsIndex | None) -> None: ...
    def get(self, key: bytes) -> bytes | None:
        """Return the code under a key, or None."""

    def put(self, key: bytes, code: object) -> None:
        """Keep code under a key."""

    def remove(self, key: bytes) -> bool:
        """Remove the code under a key. Return whether there was any."""

    def count(self) -> int:
        """Return how many pieces of code there are."""

    def clear(self) -> None:
        """Remove everything."""

    def size_bytes(self) -> int:
        """Return the size of everything."""

class FileStreamCache(ProgramCache):
    """A cache in files."""

    def __init__(
        self, path: str | os.PathLike[str] | None, max_size_bytes: SupportsIndex | None
    ) -> None: ...
    def get(self, key: bytes) -> bytes | None:
        """Return the code under a key, or None."""

    def put(self, key: bytes, code: object) -> None:
        """Keep code under a key."""

    def remove(self, key: bytes) -> bool:
        """Remove the code under a key. Return whether there was any."""

    def count(self) -> int:
        """Return how many pieces of code there are."""

    def clear(self) -> None:
        """Remove everything."""

    def size_bytes(self) -> int:
        """Return the size of everything."""

    @property
    def path(self) -> str:
        """Return the folder."""

    def file_of(self, key: bytes) -> str:
        """Return the file of a key."""

def set_default_cache(cache: object | None) -> None:
    """Make all programs use a cache."""

def ptx_options(options: object) -> list[str]:
    """Return ProgramOptions for PTX as nvJitLink takes them."""

def check_cache_options(options: object, has_extra_digest: bool) -> None:
    """Refuse options that cuda.core refuses for a cache key, if it is to be followed."""

def program_cache_key(
    code: object,
    code_type: object,
    target_type: object,
    options: object,
    flags: Sequence[str],
    names: Sequence[str],
    extra_digest: object | None,
) -> bytes:
    """Return the key of a compilation; see make_program_cache_key."""
