# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Arrays for textures, texture and surface objects."""

from typing import Any, NoReturn, SupportsIndex, type_check_only

from cuprum._cuprum.device import Device
from cuprum._cuprum.graph import GraphBuilder
from cuprum._cuprum.memory import Buffer
from cuprum._cuprum.stream import Stream
from cuprum._texture_options import (
    ArrayMemoryRequirements,
    ArraySparseProperties,
    TextureObjectOptions,
)
from cuprum.typing import ArrayFormatType

@type_check_only
class _ArrayFacts:
    """What arrays with and without levels have."""

    @property
    def format(self) -> ArrayFormatType:
        """Return the format of the elements."""

    @property
    def num_channels(self) -> int:
        """Return the number of channels of an element."""

    @property
    def num_layers(self) -> int:
        """Return the number of layers, 0 if the array has none."""

    @property
    def is_cubemap(self) -> bool:
        """Return whether the array has six faces."""

    @property
    def device(self) -> Device:
        """Return the device that the array lies on."""

    @property
    def memory_requirements(self) -> ArrayMemoryRequirements:
        """Return the memory that an array with ``is_deferred_mapping`` needs.

        Raises
        ------
        ValueError
            If the array has its own memory.
        """

    @property
    def sparse_properties(self) -> ArraySparseProperties:
        """Return how the memory of a sparse array is divided.

        Raises
        ------
        ValueError
            If the array is not sparse.
        """

class OpaqueArray(_ArrayFacts):
    """Memory in a layout that textures and surfaces read fast.

    Made by ``Device.create_opaque_array``. It has no address: kernels read it through a
    ``TextureObject`` and read and write it through a ``SurfaceObject``. Copy data in with ``copy_from``
    and out with ``copy_to`` or ``to_numpy``.

    Examples
    --------
    >>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
    >>> array.copy_from(np.ones((8, 8), dtype=np.float32), stream=stream)
    >>> array.shape
    (8, 8)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @staticmethod
    def from_handle(handle: int, *, owner: object | None = None) -> OpaqueArray:
        """Wrap an array made elsewhere, without owning it.

        Parameters
        ----------
        handle : int
            The driver's ``CUarray``. It belongs to the current context.
        owner : object, optional
            Kept alive with the array.

        Returns
        -------
        OpaqueArray
            The array, not owned.

        Raises
        ------
        TypeError
            If `handle` is not an int.
        ValueError
            If `handle` is 0.
        CUDAError
            If it is not an array of the current context.
        """

    @property
    def handle(self) -> int:
        """Return the driver's ``CUarray`` as an int, 0 once closed."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return width, height and depth in elements, as many as there are. Layers do not count."""

    @property
    def is_surface_load_store(self) -> bool:
        """Return whether a ``SurfaceObject`` can be made of the array."""

    @property
    def element_bytes(self) -> int:
        """Return the bytes of an element, or of a block of a compressed format."""

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all elements, as copies take them."""

    def get_plane(self, index: int) -> OpaqueArray:
        """Return one plane of a video format as an array, which keeps this one alive.

        Parameters
        ----------
        index : int
            Which plane; 0 is the brightness.

        Returns
        -------
        OpaqueArray
            The plane.

        Raises
        ------
        ValueError
            If the format has no such plane.
        """

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        """Raise TypeError: numpy would make an array of one Python object."""

    __array_ufunc__: None = None

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def copy_from(
        self,
        src: object,
        *,
        stream: Stream | GraphBuilder,
        offset: tuple[SupportsIndex, ...] | None = None,
        shape: tuple[SupportsIndex, ...] | None = None,
        src_offset: tuple[int, ...] | None = None,
        pitch_bytes: int | None = None,
        rows_per_slice: int | None = None,
    ) -> None:
        """Copy all elements, or a region, into this array. Returns at once.

        Parameters
        ----------
        src : Buffer, OpaqueArray or object with the buffer protocol
            Where to copy from. A numpy array has the type of the channels and the shape of the region,
            slowest axis first; its last axis holds the channels. Its rows may have gaps. All numbers may
            also lie in one dimension. A buffer or a row of bytes, such as ``bytes``, has no type: it has at
            least the bytes of the region, rows one after another.
        stream : Stream or GraphBuilder
            The copy is ordered on it. Host memory cannot be captured into a graph.
        offset : tuple of int, optional
            The first element of the region: x, y, and the slice, layer or face.
        shape : tuple of int, optional
            The size of the region: width, height, and slices, layers or faces. None is up to the end.
        src_offset : tuple of int, optional
            The first element in another array.
        pitch_bytes : int, optional
            Bytes from row to row in a buffer. None is without gaps.
        rows_per_slice : int, optional
            Rows from slice to slice in a buffer. None is without gaps.

        Raises
        ------
        ValueError
            If the region does not lie in the array, or `src` is too small for it or has another shape or
            type.
        TypeError
            If `src` has another type.
        """

    def copy_to(
        self,
        dst: object,
        *,
        stream: Stream | GraphBuilder,
        offset: tuple[SupportsIndex, ...] | None = None,
        shape: tuple[SupportsIndex, ...] | None = None,
        dst_offset: tuple[int, ...] | None = None,
        pitch_bytes: int | None = None,
        rows_per_slice: int | None = None,
    ) -> object:
        """Copy all elements, or a region, out of this array. Returns `dst` at once.

        Parameters
        ----------
        dst : Buffer, OpaqueArray or writable object with the buffer protocol
            Where to copy to; see ``copy_from``. Keep host memory alive, and do not read it before the
            stream gets there.
        stream : Stream or GraphBuilder
            The copy is ordered on it. Host memory cannot be captured into a graph.
        offset : tuple of int, optional
            The first element of the region: x, y, and the slice, layer or face.
        shape : tuple of int, optional
            The size of the region: width, height, and slices, layers or faces. None is up to the end.
        dst_offset : tuple of int, optional
            The first element in another array.
        pitch_bytes : int, optional
            Bytes from row to row in a buffer. None is without gaps.
        rows_per_slice : int, optional
            Rows from slice to slice in a buffer. None is without gaps.

        Returns
        -------
        object
            `dst`.

        Raises
        ------
        ValueError
            If the region does not lie in the array, or `dst` is too small for it or has another shape or
            type.
        TypeError
            If `dst` has another type.
        """

    def to_numpy(
        self,
        *,
        stream: Stream,
        offset: tuple[SupportsIndex, ...] | None = None,
        shape: tuple[SupportsIndex, ...] | None = None,
    ) -> Any:
        """Return all elements, or a region, as a new numpy array. Waits for the stream.

        The axes are slices or layers, rows, columns and channels. An axis that the array does not have is
        left out, and so is that of a single channel. Blocks of a compressed format are bytes, video formats
        of one plane words.

        Parameters
        ----------
        stream : Stream
            The copy is ordered on it.
        offset : tuple of int, optional
            The first element of the region: x, y, and the slice, layer or face.
        shape : tuple of int, optional
            The size of the region: width, height, and slices, layers or faces. None is up to the end.

        Returns
        -------
        numpy.ndarray
            The elements.

        Raises
        ------
        TypeError
            If `stream` is not a stream, or `offset` or `shape` is not a tuple of ints.
        ValueError
            If the region does not lie in the array.
        ClosedError
            If the array or the stream is closed.
        ImportError
            If numpy is not installed.
        """

    def close(self) -> None:
        """Release this object's share of the array. Calling it again does nothing.

        Textures, surfaces and graphs that use the array keep their shares.
        """

    def __enter__(self) -> OpaqueArray: ...
    def __exit__(self, exc_type: object, exc: object, tb: object) -> None: ...

class MipmappedArray(_ArrayFacts):
    """An array with smaller versions of itself.

    Made by ``Device.create_mipmapped_array``. Each level has half the size of the one before. Levels
    are ``OpaqueArray`` objects that keep the whole alive.

    Examples
    --------
    >>> options = cuprum.texture.MipmappedArrayOptions((64, 64), "float32", num_levels=3)
    >>> array = device.create_mipmapped_array(options)
    >>> array.get_level(1).shape
    (32, 32)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the driver's ``CUmipmappedArray`` as an int, 0 once closed."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return width, height and depth of level 0 in elements, as many as there are."""

    @property
    def num_levels(self) -> int:
        """Return the number of levels."""

    @property
    def is_surface_load_store(self) -> bool:
        """Return whether a ``SurfaceObject`` can be made of a level."""

    def get_level(self, level: SupportsIndex) -> OpaqueArray:
        """Return a level as an array, which keeps the whole alive.

        Parameters
        ----------
        level : int
            0 is the largest one.

        Returns
        -------
        OpaqueArray
            The level.

        Raises
        ------
        ValueError
            If there is no such level.
        """

    def close(self) -> None:
        """Release this object's share of the array. Calling it again does nothing.

        Levels, textures and graphs keep their shares.
        """

    def __enter__(self) -> MipmappedArray: ...
    def __exit__(self, exc_type: object, exc: object, tb: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class ResourceDescriptor:
    """The memory that a texture or a surface reads.

    Made by the ``from_`` methods, from an array, a mipmapped array or a buffer. Surfaces need an
    ``OpaqueArray``.

    Examples
    --------
    >>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
    >>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
    >>> texture = device.create_texture_object(resource=resource)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @staticmethod
    def from_opaque_array(array: OpaqueArray) -> ResourceDescriptor:
        """Describe an array, for textures and surfaces.

        Parameters
        ----------
        array : OpaqueArray
            What kernels read.

        Returns
        -------
        ResourceDescriptor
            The description. It keeps the array alive.

        Raises
        ------
        TypeError
            If `array` is not an OpaqueArray.
        ClosedError
            If the array is closed.
        """

    @staticmethod
    def from_mipmapped_array(mipmapped_array: MipmappedArray) -> ResourceDescriptor:
        """Describe an array with levels, for textures.

        Parameters
        ----------
        mipmapped_array : MipmappedArray
            What kernels read.

        Returns
        -------
        ResourceDescriptor
            The description. It keeps the array alive.

        Raises
        ------
        TypeError
            If `mipmapped_array` is not a MipmappedArray.
        ClosedError
            If the array is closed.
        """

    @staticmethod
    def from_linear(
        buffer: Buffer,
        *,
        format: object,
        num_channels: SupportsIndex,
        size_bytes: SupportsIndex | None = None,
    ) -> ResourceDescriptor:
        """Describe elements in a buffer that kernels read by index, for textures.

        There is no filtering, and coordinates are not normalized.

        Parameters
        ----------
        buffer : Buffer
            The memory. Its address is a multiple of the device's ``texture_alignment``.
        format : ArrayFormatType, str or numpy type
            One of the first eight formats.
        num_channels : int
            1, 2 or 4.
        size_bytes : int, optional
            How many bytes are read. None is the whole buffer.

        Returns
        -------
        ResourceDescriptor
            The description. It keeps the buffer alive.

        Raises
        ------
        ValueError
            If the elements do not fill the bytes, or these exceed the buffer.
        """

    @staticmethod
    def from_pitch2d(
        buffer: Buffer,
        *,
        format: object,
        num_channels: SupportsIndex,
        width: SupportsIndex,
        height: SupportsIndex,
        pitch_bytes: int,
    ) -> ResourceDescriptor:
        """Describe the rows of an image in a buffer, for textures.

        Parameters
        ----------
        buffer : Buffer
            The memory. Its address is a multiple of the device's ``texture_alignment``.
        format : ArrayFormatType, str or numpy type
            One of the first eight formats.
        num_channels : int
            1, 2 or 4.
        width : int
            Elements in a row.
        height : int
            Rows.
        pitch_bytes : int
            Bytes from row to row, a multiple of the device's ``texture_pitch_alignment``.

        Returns
        -------
        ResourceDescriptor
            The description. It keeps the buffer alive.

        Raises
        ------
        ValueError
            If rows overlap or do not fit the buffer.
        """

    @property
    def kind(self) -> str:
        """Return the kind: 'array', 'mipmapped_array', 'linear' or 'pitch2d'."""

    @property
    def source(self) -> OpaqueArray | MipmappedArray | Buffer:
        """Return the array or the buffer."""

    @property
    def format(self) -> ArrayFormatType | None:
        """Return the format of the elements in a buffer, or None for an array."""

    @property
    def num_channels(self) -> int | None:
        """Return the number of channels of the elements in a buffer, or None for an array."""

    @property
    def size_bytes(self) -> int | None:
        """Return the bytes that are read of linear memory, or None for another kind."""

    @property
    def _size_bytes(self) -> int | None:
        """Return the bytes that are read of linear memory, or None for another kind."""

    @property
    def width(self) -> int | None:
        """Return the elements in a row of an image, or None for another kind."""

    @property
    def height(self) -> int | None:
        """Return the rows of an image, or None for another kind."""

    @property
    def pitch_bytes(self) -> int | None:
        """Return the bytes from row to row of an image, or None for another kind."""

    def __repr__(self) -> str: ...

class _TextureSampling:
    """The settings of a texture, checked and converted."""

class TextureObject:
    """A handle by which kernels read an array or a buffer as a texture.

    Made by ``Device.create_texture_object``. It keeps the memory alive. Pass it to ``launch`` for a
    parameter of type ``cudaTextureObject_t``, and keep it until the kernels that read it are done.

    Examples
    --------
    >>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
    >>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
    >>> texture = device.create_texture_object(resource=resource, options={"filter_mode": "linear"})
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the handle that kernels take as an int, 0 once closed."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def resource(self) -> ResourceDescriptor | None:
        """Return the memory that it was made from, or None once closed."""

    @property
    def device(self) -> Device:
        """Return the device that it belongs to."""

    def close(self) -> None:
        """Release this object's share. Calling it again does nothing.

        Graphs that use it keep their shares.
        """

    def __enter__(self) -> TextureObject: ...
    def __exit__(self, exc_type: object, exc: object, tb: object) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def options(self) -> TextureObjectOptions:
        """Return the options that it was made with."""

class SurfaceObject:
    """A handle by which kernels read and write an array.

    Made by ``Device.create_surface_object``. It keeps the array alive. Pass it to ``launch`` for a
    parameter of type ``cudaSurfaceObject_t``, and keep it until the kernels that use it are done.

    Examples
    --------
    >>> options = cuprum.texture.OpaqueArrayOptions((8, 8), "float32", is_surface_load_store=True)
    >>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(
    ...     device.create_opaque_array(options))
    >>> surface = device.create_surface_object(resource=resource)
    """

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def handle(self) -> int:
        """Return the handle that kernels take as an int, 0 once closed."""

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""

    @property
    def resource(self) -> ResourceDescriptor | None:
        """Return the memory that it was made from, or None once closed."""

    @property
    def device(self) -> Device:
        """Return the device that it belongs to."""

    def close(self) -> None:
        """Release this object's share. Calling it again does nothing.

        Graphs that use it keep their shares.
        """

    def __enter__(self) -> SurfaceObject: ...
    def __exit__(self, exc_type: object, exc: object, tb: object) -> None: ...
    def __repr__(self) -> str: ...
