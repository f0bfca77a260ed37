# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The exceptions that Cuprum raises, beside ValueError, TypeError and OverflowError."""

from __future__ import annotations


class CUDAError(Exception):
    """A failed driver call.

    The text names the call, the code and its number, what the code means and, for the codes people
    meet, what to do.

    Attributes
    ----------
    domain : str
        Whose code it is: ``"driver"``, ``"NVRTC"``, ``"nvJitLink"`` or ``"NVVM"``. The same number
        means different things in two domains.
    code : int or None
        The result code.
    name : str
        Its name, such as ``"CUDA_ERROR_INVALID_VALUE"``.
    call : str
        The function that failed.
    explanation : str
        What the code means, in one sentence.
    driver_log : str
        What the driver wrote to its log about it; empty if nothing, or before CUDA 12.9.
    in_flight : list of str
        If work on the device failed: the kernel last launched on each stream, one of which may be
        at fault.
    """

    domain: str = "driver"
    code: int | None = None
    name: str = ""
    call: str = ""
    explanation: str = ""
    driver_log: str = ""
    in_flight: list[str] = []  # noqa: RUF012 -- set on each instance


class OutOfMemoryError(CUDAError, MemoryError):
    """A request for more memory than the device has free.

    Attributes
    ----------
    requested_bytes : int
        The size of the allocation that failed.
    free_bytes : int
        What the device reported free just after the failure.
    total_bytes : int
        The size of the device's memory.
    """

    requested_bytes: int = 0
    free_bytes: int = 0
    total_bytes: int = 0


class MissingFileError(CUDAError, FileNotFoundError):
    """A file with code that is not there, or that cannot be read."""


class LaunchError(CUDAError, ValueError):
    """A launch that exceeds a limit of the device or of the kernel.

    Nothing was launched and the context stays usable, so a tuner can try another configuration.

    Attributes
    ----------
    limit : str
        Which limit was broken, with the numbers.
    """

    limit: str = ""


class NVRTCError(CUDAError):
    """A program that NVRTC rejected.

    Attributes
    ----------
    log : str
        The compiler's log.
    options : list of str
        The options that were passed to the compiler.
    """

    log: str = ""
    options: list[str] = []  # noqa: RUF012 -- set on each instance


class NVVMError(CUDAError):
    """A program that libNVVM rejected.

    Attributes
    ----------
    log : str
        The compiler's log.
    options : list of str
        The options that were passed to the compiler.
    """

    log: str = ""
    options: list[str] = []  # noqa: RUF012 -- set on each instance


class LinkerError(CUDAError):
    """Code that the linker rejected.

    Attributes
    ----------
    log : str
        The linker's error log.
    options : list of str
        The options that were passed to the linker.
    """

    log: str = ""
    options: list[str] = []  # noqa: RUF012 -- set on each instance


class UnsupportedOptionError(CUDAError, ValueError):
    """Options, by name, that the compiler in use does not support."""


class NotSupportedError(CUDAError, RuntimeError):
    """A function that the loaded driver or compiler lacks; the text says which version has it."""


class NoContextError(CUDAError, RuntimeError):
    """The use of a default stream on a thread without a current context."""


class UnknownAttributeError(CUDAError, AttributeError):  # type: ignore[misc]
    """A device attribute that the driver does not know."""


class ElapsedTimeError(CUDAError, RuntimeError):
    """Two events without an elapsed time, because of how they were created or recorded."""


class GraphError(CUDAError, ValueError):
    """A wrong use of a graph that was found before the driver was called; it names the nodes."""


class GraphInstantiateError(CUDAError, RuntimeError):
    """A graph that cannot become an executable one; the text names the node."""


class GraphUpdateError(CUDAError):
    """A definition that an executable graph cannot take over. The graph stays as it was.

    Attributes
    ----------
    result : cuprum.graph.GraphUpdateResult
        What differs, and at which node.
    """

    result: object = None


class LibraryNotFoundError(RuntimeError):
    """A library that cannot be loaded.

    Attributes
    ----------
    library : str
        Its plain name, such as ``"NVRTC"``.
    tried : list of str
        Each place that was tried, with why it did not serve.
    """

    library: str = ""
    tried: list[str] = []  # noqa: RUF012 -- set on each instance


class ClosedError(RuntimeError):
    """The use of an object after ``close()``, or after a reset of its device destroyed it."""


class GraphClosedError(CUDAError, ClosedError, ValueError):
    """The use of a closed graph, builder or executable, of a destroyed node, or of a closed buffer.

    All of these raise this one class. Programs for ``cuda.core`` catch some as ``RuntimeError`` and
    some as ``ValueError``, so that it is both.
    """


# Users and pickle see these names, wherever the classes are defined.
for _class in tuple(globals().values()):
    if isinstance(_class, type):
        _class.__module__ = "cuprum"
