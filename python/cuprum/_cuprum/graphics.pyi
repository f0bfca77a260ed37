# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Resources of graphics libraries, external memory and semaphores."""

from collections.abc import Sequence
from typing import Any, SupportsIndex

from cuprum._cuprum.device import Context, Device
from cuprum._cuprum.memory import Buffer
from cuprum._cuprum.stream import Stream
from cuprum._cuprum.texture import MipmappedArray, OpaqueArray
from cuprum._texture_options import MipmappedArrayOptions
from cuprum.typing import ExternalMemoryHandleType, ExternalSemaphoreHandleType

class GraphicsResource:
    """A buffer or an image of OpenGL or EGL that CUDA can use.

    The graphics API owns the contents. Map the resource before CUDA work uses it, and unmap it before
    the graphics API does. OpenGL's context must be current on the calling thread whenever a resource
    is registered, mapped, unmapped or closed.

    Made by ``from_gl_buffer``, ``from_gl_image`` or ``from_egl_image``. In a ``with`` statement the
    resource is closed at the end. If it was made with a stream, it is also mapped at the beginning,
    and the statement gives the mapped buffer.

    Examples
    --------
    >>> resource = cuprum.GraphicsResource.from_gl_buffer(vbo)  # doctest: +SKIP
    >>> with resource.map(stream=stream) as vertices:  # doctest: +SKIP
    ...     cuprum.launch(stream, config, kernel, vertices)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @classmethod
    def from_gl_buffer(
        cls,
        gl_buffer: int,
        *,
        flags: str | Sequence[str] | None = None,
        stream: Stream | None = None,
    ) -> GraphicsResource:
        """Register a buffer of OpenGL in the current context.

        Parameters
        ----------
        gl_buffer : int
            The name that ``glGenBuffers`` returned. The buffer must have storage.
        flags : str or sequence of str, optional
            What kernels do with it: ``"read_only"``, or ``"write_discard"`` if they write all of it and
            read none of it. ``"none"`` is the default.
        stream : Stream, optional
            Lets ``with`` map the resource on this stream and give the mapped buffer.

        Returns
        -------
        GraphicsResource
            The registered resource.

        Raises
        ------
        ValueError
            If a flag is unknown or does not suit a buffer.
        CUDAError
            If no context of OpenGL is current on this thread, or it has no such buffer.
        """

    @classmethod
    def from_gl_image(
        cls, image: int, target: int, *, flags: str | Sequence[str] | None = None
    ) -> GraphicsResource:
        """Register a texture or a renderbuffer of OpenGL in the current context.

        Parameters
        ----------
        image : int
            The name that ``glGenTextures`` or ``glGenRenderbuffers`` returned.
        target : int
            What it is bound to, such as ``GL_TEXTURE_2D``.
        flags : str or sequence of str, optional
            What kernels do with it: ``"read_only"``, ``"write_discard"``, ``"surface_load_store"``,
            ``"texture_gather"``. ``"none"`` is the default.

        Returns
        -------
        GraphicsResource
            The registered resource.

        Raises
        ------
        ValueError
            If a flag is unknown, or CUDA cannot use images of this target.
        CUDAError
            If no context of OpenGL is current on this thread, or it has no such image.
        """

    @classmethod
    def from_egl_image(
        cls, image: int, *, flags: str | Sequence[str] | None = None
    ) -> GraphicsResource:
        """Register an image of EGL in the current context.

        Parameters
        ----------
        image : int
            The address of the ``EGLImageKHR``.
        flags : str or sequence of str, optional
            As for ``from_gl_image``.

        Returns
        -------
        GraphicsResource
            The registered resource.

        Raises
        ------
        CUDAError
            If the driver refuses the image.
        """

    def map(self, *, stream: Stream) -> Buffer:
        """Map the resource for the work of a stream and return its memory.

        The buffer is the mapping: ``unmap``, or closing the buffer, ends it. The resource keeps the
        buffer until then.

        Parameters
        ----------
        stream : Stream
            The work that uses the memory; pass ``device.default_stream`` for the default stream.

        Returns
        -------
        Buffer
            The memory, until ``unmap``.

        Raises
        ------
        RuntimeError
            If the resource is mapped already, is closed, or is an image, which has no linear memory.
        CUDAError
            If the driver refuses it. Nothing is mapped then.
        """

    def map_array(self, index: int = 0, level: SupportsIndex = 0, *, stream: Stream) -> OpaqueArray:
        """Map an image for the work of a stream and return one of its arrays.

        The array is the mapping: ``unmap``, or closing all arrays of it, ends it. The resource keeps this
        array until then.

        Parameters
        ----------
        index : int
            The layer of a layered image, or the face of a cube map.
        level : int
            The mipmap level.
        stream : Stream
            The work that uses the array.

        Returns
        -------
        OpaqueArray
            The array, until ``unmap``.

        Raises
        ------
        RuntimeError
            If the resource is mapped already, is closed, or is a buffer, which has no arrays.
        CUDAError
            If the image has no such array. Nothing is mapped then.
        """

    def mapped_array(self, index: int = 0, level: SupportsIndex = 0) -> OpaqueArray:
        """Return another array of an image that is mapped. It shares the mapping.

        Parameters
        ----------
        index : int
            The layer of a layered image, or the face of a cube map.
        level : int
            The mipmap level.

        Returns
        -------
        OpaqueArray
            The array, until ``unmap``.

        Raises
        ------
        RuntimeError
            If the resource is not mapped, or is a buffer.
        CUDAError
            If the image has no such array.
        """

    def unmap(self, *, stream: Stream | None = None) -> None:
        """Give the resource back to the graphics API and close the mapped buffer.

        Parts of the buffer that are still alive must not be used any more. The arrays of an image raise
        ``ClosedError``, and so do their levels and planes and the textures and surfaces made of them.

        Parameters
        ----------
        stream : Stream, optional
            Later work of the graphics API waits for the work of this stream. Without one, for the work of
            the stream that the resource was mapped on.

        Raises
        ------
        RuntimeError
            If the resource is not mapped, or is closed.
        CUDAError
            If the driver refuses it. The resource stays mapped then.
        """

    def close(self, stream: Stream | None = None) -> None:
        """Unmap the resource if it is mapped, and unregister it.

        Calling it again does nothing.

        Parameters
        ----------
        stream : Stream, optional
            The stream that the mapped buffer is closed on.

        Raises
        ------
        TypeError
            If `stream` is not a stream.
        ClosedError
            If the stream is closed.
        CUDAError
            If the driver cannot unmap the resource.
        """

    def set_map_use(self, use: str) -> None:
        """Set what kernels do with the resource when it is mapped next.

        Parameters
        ----------
        use : str
            ``"read_write"``, ``"read_only"`` or ``"write_discard"``.

        Raises
        ------
        RuntimeError
            If the resource is mapped.
        """

    def __enter__(self) -> GraphicsResource | Buffer: ...
    def __exit__(self, *exception: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the driver's ``CUgraphicsResource`` as an int."""

    @property
    def resource_handle(self) -> int:
        """Return the driver's ``CUgraphicsResource`` as an int."""

    @property
    def is_mapped(self) -> bool:
        """Return whether CUDA may use the resource now."""

    @property
    def is_image(self) -> bool:
        """Return whether it was registered as an image."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def context(self) -> Context:
        """Return the context that it was registered in."""

    @property
    def device(self) -> Device:
        """Return the device that it was registered on."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

def gl_devices(devices: str = "all") -> list[Device]:
    """Return the devices that the current context of OpenGL uses.

    Parameters
    ----------
    devices : str
        ``"all"``, or those that render the ``"current_frame"`` or the ``"next_frame"``.

    Returns
    -------
    list[Device]
        The devices.

    Raises
    ------
    CUDAError
        If no context of OpenGL is current on this thread.
    """

class ExternalMemory:
    """Memory of another API, such as Vulkan, that CUDA can map.

    Made by ``from_fd``. The import ends when the object and all buffers mapped from it are closed or
    dropped. The APIs see each other's writes once an ``ExternalSemaphore`` orders them.

    Examples
    --------
    >>> memory = cuprum.ExternalMemory.from_fd(fd, size)  # doctest: +SKIP
    >>> buffer = memory.map()  # doctest: +SKIP
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the driver's ``CUexternalMemory`` as an int."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def context(self) -> Context:
        """Return the context that it was imported into."""

    @property
    def device(self) -> Device:
        """Return the device that it was imported into."""

    def __enter__(self) -> ExternalMemory: ...
    def __exit__(self, *exception: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @classmethod
    def from_fd(
        cls,
        fd: int | object,
        size: SupportsIndex,
        *,
        handle_type: str = "opaque_fd",
        dedicated: bool = False,
    ) -> ExternalMemory:
        """Import memory into the current context.

        Parameters
        ----------
        fd : int or object with fileno()
            A file descriptor of the memory. The caller keeps it; the driver gets a duplicate.
        size : int
            In bytes: the size of the whole allocation.
        handle_type : str
            ``"opaque_fd"`` for memory that Vulkan exported as ``OPAQUE_FD`` or that CUDA exported;
            ``"dma_buf_fd"`` for a DMA-BUF, which few drivers import.
        dedicated : bool
            Whether Vulkan made it as a dedicated allocation of one image or buffer.

        Returns
        -------
        ExternalMemory
            The imported memory.

        Raises
        ------
        ValueError
            If the descriptor is not open, the size is 0 or the type is unknown.
        CUDAError
            If the driver does not take this memory.
        """

    def map(self, offset: SupportsIndex = 0, size: SupportsIndex | None = None) -> Buffer:
        """Map a part of the memory, or all of it.

        Parameters
        ----------
        offset : int
            In bytes.
        size : int, optional
            In bytes; all from `offset` on if not given.

        Returns
        -------
        Buffer
            The mapped part.

        Raises
        ------
        ValueError
            If the part is empty or does not lie in the memory.
        """

    def map_mipmapped_array(
        self, options: MipmappedArrayOptions | dict[str, Any], offset: SupportsIndex = 0
    ) -> MipmappedArray:
        """Map an image in the memory as a mipmapped array.

        Parameters
        ----------
        options : MipmappedArrayOptions or dict
            What the image is: size, format, channels and levels.
        offset : int
            In bytes: where the image begins.

        Returns
        -------
        MipmappedArray
            The mapped image.

        Raises
        ------
        ValueError
            If the options describe no array, or the image does not begin in the memory.
        CUDAError
            If the image does not fit into the memory, or the driver cannot map it.
        """

    @property
    def size(self) -> int:
        """Return the size in bytes."""

    @property
    def handle_type(self) -> ExternalMemoryHandleType:
        """Return what the file descriptor stood for."""

    def close(self) -> None:
        """Release this object's share of the memory. Calling it again does nothing."""

class ExternalSemaphore:
    """A semaphore of another API, such as Vulkan, that streams signal and wait for.

    Made by ``from_fd``. The import ends with the object, but not before the signals and waits that it
    enqueued are done. A graph that captured them keeps it alive as well. If other code uses
    ``handle``, keep the object until that work is done.

    Examples
    --------
    >>> semaphore = cuprum.ExternalSemaphore.from_fd(fd)  # doctest: +SKIP
    >>> semaphore.wait(stream=stream)  # doctest: +SKIP
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the driver's ``CUexternalSemaphore`` as an int."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def context(self) -> Context:
        """Return the context that it was imported into."""

    @property
    def device(self) -> Device:
        """Return the device that it was imported into."""

    def __enter__(self) -> ExternalSemaphore: ...
    def __exit__(self, *exception: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @classmethod
    def from_fd(cls, fd: int | object, *, handle_type: str = "opaque_fd") -> ExternalSemaphore:
        """Import a semaphore into the current context.

        Parameters
        ----------
        fd : int or object with fileno()
            A file descriptor of the semaphore. The caller keeps it; the driver gets a duplicate.
        handle_type : str
            ``"opaque_fd"`` for a binary semaphore, ``"timeline_fd"`` for a timeline semaphore.

        Returns
        -------
        ExternalSemaphore
            The imported semaphore.

        Raises
        ------
        ValueError
            If the descriptor is not open or the type is unknown.
        CUDAError
            If the driver does not take this semaphore.
        """

    def signal(self, value: int | None = None, *, stream: Stream) -> None:
        """Signal the semaphore after the work that a stream holds now. Return at once.

        Parameters
        ----------
        value : int, optional
            What a timeline semaphore is raised to. A binary semaphore has none.
        stream : Stream
            The stream that signals.

        Raises
        ------
        ValueError
            If a timeline semaphore gets no value, or a binary one gets one.
        """

    def wait(self, value: int | None = None, *, stream: Stream) -> None:
        """Hold back later work of a stream until the semaphore is signalled.

        Parameters
        ----------
        value : int, optional
            What a timeline semaphore must have reached. A binary semaphore has none; the wait takes it.
        stream : Stream
            The stream that waits.

        Raises
        ------
        ValueError
            If a timeline semaphore gets no value, or a binary one gets one.
        """

    @property
    def handle_type(self) -> ExternalSemaphoreHandleType:
        """Return what the file descriptor stood for."""

    def close(self) -> None:
        """Release this object's share of the semaphore. Calling it again does nothing.

        Does not wait. If signals or waits are still enqueued, a later synchronisation ends the import.
        """
