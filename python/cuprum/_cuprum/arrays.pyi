# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Layouts, views and tensor maps."""

from typing import Any, SupportsIndex

from typing_extensions import CapsuleType

from cuprum._cuprum.device import Device
from cuprum._cuprum.memory import Buffer
from cuprum._cuprum.stream import Stream
from cuprum._tensor_map import (
    TensorMapDataType,
    TensorMapDescriptorOptions,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
)

class StridedLayout:
    """The layout of the elements of an array in memory.

    Extents, strides, the size of an element and the offset of the first one. It does not change: every
    operation returns a new layout, and none touches memory. ``layout[1:, ::2]`` slices it.

    Parameters
    ----------
    shape : tuple of int
        The extents.
    strides : tuple of int or None
        In elements; None is contiguous in C order.
    itemsize : int
        Bytes per element.
    divide_strides : bool, optional
        The strides are given in bytes.

    Raises
    ------
    ValueError
        If an extent is negative, there are more than 64, strides and shape differ in length, or strides
        in bytes are no multiples of the element.

    Examples
    --------
    >>> layout = cuprum.utils.StridedLayout.dense((2, 3), itemsize=4)
    >>> layout.permuted((1, 0)).strides
    (1, 3)
    """

    def __init__(
        self,
        shape: tuple[SupportsIndex, ...],
        strides: tuple[SupportsIndex, ...] | None,
        itemsize: SupportsIndex,
        divide_strides: bool = False,
    ) -> None: ...
    @staticmethod
    def dense(
        shape: tuple[SupportsIndex, ...],
        itemsize: SupportsIndex,
        stride_order: str | tuple[int, ...] = "C",
    ) -> StridedLayout:
        """Make a layout without gaps.

        Parameters
        ----------
        shape : tuple of int
            The extents.
        itemsize : int
            Bytes per element.
        stride_order : str or tuple of int, optional
            "C", "F", or the axes from the outermost to the one that is contiguous.

        Returns
        -------
        StridedLayout
            The layout; its strides are explicit.

        Raises
        ------
        TypeError
            If the shape is not a tuple of ints.
        ValueError
            If an extent is negative, there are more than 64, the element has no bytes, the order does not
            name each axis once, or the size does not fit 64 bits.
        """

    @staticmethod
    def dense_like(
        other: StridedLayout, stride_order: str | tuple[int, ...] = "K"
    ) -> StridedLayout:
        """Make a layout without gaps with the shape of another. See ``to_dense``.

        Parameters
        ----------
        other : StridedLayout
            The layout whose shape is used.
        stride_order : str | tuple[int, ...], optional
            ``"C"``, ``"F"``, ``"K"`` for the order of `other`, or the axes from the outermost on.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        TypeError
            If `other` is not a StridedLayout.
        ValueError
            If the order does not name each axis once.
        """

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Return the strides in elements, or None if they were left implicit."""

    @property
    def strides_in_bytes(self) -> tuple[int, ...] | None:
        """Return the strides in bytes, or None if they were left implicit."""

    @property
    def itemsize(self) -> int:
        """Return the bytes per element."""

    @property
    def volume(self) -> int:
        """Return the number of elements."""

    @property
    def slice_offset(self) -> int:
        """Return the offset of the first element, in elements."""

    @property
    def slice_offset_in_bytes(self) -> int:
        """Return the offset of the first element, in bytes."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def stride_order(self) -> tuple[int, ...]:
        """Return the axes from the one with the largest stride to the one with the smallest."""

    @property
    def is_unique(self) -> bool:
        """Return whether no two elements share memory; strides that interleave are not analysed and
        count as shared."""

    @property
    def is_contiguous_c(self) -> bool:
        """Return whether it is contiguous with the last axis fastest."""

    @property
    def is_contiguous_f(self) -> bool:
        """Return whether it is contiguous with the first axis fastest."""

    @property
    def is_contiguous_any(self) -> bool:
        """Return whether it is contiguous in some order of its axes."""

    @property
    def is_dense(self) -> bool:
        """Return whether it is contiguous in some order and begins at offset 0."""

    @property
    def offset_bounds(self) -> tuple[int, int]:
        """Return the smallest and the largest offset of an element; (0, -1) if there is none."""

    @property
    def min_offset(self) -> int:
        """Return the smallest offset of an element, in elements."""

    @property
    def max_offset(self) -> int:
        """Return the largest offset of an element, in elements."""

    def required_size_in_bytes(self) -> int:
        """Return the bytes that memory needs for all elements to lie in it.

        Returns
        -------
        int
            The size, counted from the first byte of the memory.

        Raises
        ------
        ValueError
            If some element lies before the start.
        """

    def to_dense(self, stride_order: str | tuple[int, ...] = "K") -> StridedLayout:
        """Return a layout without gaps that has the same shape.

        Parameters
        ----------
        stride_order : str or tuple of int, optional
            "K" keeps the order of the axes in memory; else as in ``dense``.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If there is no such order.
        """

    def reshaped(self, shape: tuple[SupportsIndex, ...]) -> StridedLayout:
        """Return a layout of the same elements in another shape.

        Parameters
        ----------
        shape : tuple of int
            One extent may be -1: it is computed.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If the number of elements differs, or no strides describe the new shape.
        """

    def permuted(self, axis_order: tuple[SupportsIndex, ...]) -> StridedLayout:
        """Return a layout whose axis i is axis ``axis_order[i]`` of this one.

        Parameters
        ----------
        axis_order : tuple[int, ...]
            Each axis once.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If an axis is missing or there twice.
        """

    def flattened(
        self, start_axis: SupportsIndex = 0, end_axis: SupportsIndex = -1, mask: int | None = None
    ) -> StridedLayout:
        """Merge neighbouring axes that one stride can cover.

        Parameters
        ----------
        start_axis, end_axis : int, optional
            Only axes in this range, both included, are merged.
        mask : int, optional
            Only axes whose bit is set are merged into the axis before; see ``flattened_axis_mask``.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        TypeError
            If an axis is not an int.
        ValueError
            If there is no such axis.
        """

    def flattened_axis_mask(self) -> int:
        """Return the axes, one bit each, that can be merged into the axis before.

        Returns
        -------
        int
            A mask. Combine masks of several layouts with ``&``.
        """

    def squeezed(self) -> StridedLayout:
        """Remove the axes of extent 1; a layout without elements becomes one empty axis.

        Returns
        -------
        StridedLayout
            The new layout.
        """

    def unsqueezed(self, axis: SupportsIndex | tuple[SupportsIndex, ...]) -> StridedLayout:
        """Add axes of extent 1, numbered as in the result.

        Parameters
        ----------
        axis : int | tuple[int, ...]
            One axis or several.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If an axis is out of range or there twice.
        """

    def broadcast_to(self, shape: tuple[SupportsIndex, ...]) -> StridedLayout:
        """Repeat axes of extent 1, and add axes in front, by strides of 0.

        Parameters
        ----------
        shape : tuple[int, ...]
            The shape of the result.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If an axis of another extent than 1 would change.
        """

    def sliced(self, slices: int | slice | tuple[int | slice, ...]) -> StridedLayout:
        """Return the layout of a part.

        Parameters
        ----------
        slices : int, slice or tuple of them
            One for each of the leading axes; an int removes its axis.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        TypeError
            If an item is neither an int nor a slice.
        ValueError
            If there are more items than axes, an index is out of range, or a step is 0.
        """

    def __getitem__(self, slices: int | slice | tuple[int | slice, ...], /) -> StridedLayout: ...
    def repacked(
        self,
        itemsize: SupportsIndex,
        data_ptr: int = 0,
        axis: SupportsIndex = -1,
        keep_dim: bool = True,
    ) -> StridedLayout:
        """Combine neighbouring elements into larger ones, or divide each into smaller ones.

        Parameters
        ----------
        itemsize : int
            Bytes of the new elements, a multiple or a divisor of the present ones.
        data_ptr : int, optional
            Where the layout is to be used; its alignment is checked.
        axis : int, optional
            The contiguous axis along which elements are taken together.
        keep_dim : bool, optional
            An axis that shrinks to extent 1 stays.

        Returns
        -------
        StridedLayout
            The new layout.

        Raises
        ------
        ValueError
            If extent, strides, offset or address do not allow it. The message says which.
        """

    def max_compatible_itemsize(
        self, max_itemsize: int = 16, data_ptr: int = 0, axis: SupportsIndex = -1
    ) -> int:
        """Return the largest element size that ``repacked`` can widen to.

        Parameters
        ----------
        max_itemsize : int, optional
            A multiple of the size sought; not less than the present one.
        data_ptr : int, optional
            Where the layout is to be used, which it has to be aligned for.
        axis : int, optional
            The contiguous axis along which elements are taken together.

        Returns
        -------
        int
            The size in bytes.

        Raises
        ------
        TypeError
            If an argument is not an int.
        ValueError
            If `max_itemsize` is less than the element, or there is no such axis.
        """

class StridedMemoryView:
    """A view of another library's array, without a copy.

    Made by one of the ``from_*`` methods from arrays of numpy, CuPy, PyTorch and others, or from a
    Buffer. Keeps the array alive.

    Examples
    --------
    >>> view = cuprum.utils.StridedMemoryView.from_any_interface(np.ones((2, 3)), stream_ptr=-1)
    >>> view.shape, view.dtype
    ((2, 3), dtype('float64'))
    """

    def __init__(self, obj: object | None = None, stream_ptr: int | None = None) -> None: ...
    def __del__(self) -> None: ...
    @classmethod
    def from_any_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object through DLPack, or through the CUDA array interface if it has no DLPack.

        Parameters
        ----------
        obj : object
            An array.
        stream_ptr : int
            The stream that will use the memory. It waits for the work that the array's stream holds now.
            -1 means no ordering.

        Returns
        -------
        StridedMemoryView
            The view.

        Raises
        ------
        BufferError
            If the object has neither protocol or `stream_ptr` is not given.
        """

    @classmethod
    def from_dlpack(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object through DLPack. See ``from_any_interface``.

        Parameters
        ----------
        obj : object
            An object with ``__dlpack__``.
        stream_ptr : int, optional
            The ``CUstream`` that you use the view on; -1 orders nothing.

        Returns
        -------
        StridedMemoryView
            The view. It keeps the object alive.

        Raises
        ------
        BufferError
            If the object does not have the protocol.
        """

    @classmethod
    def from_cuda_array_interface(
        cls, obj: object, stream_ptr: int | None = None
    ) -> StridedMemoryView:
        """View an object through ``__cuda_array_interface__``. See ``from_any_interface``.

        Parameters
        ----------
        obj : object
            An object with ``__cuda_array_interface__``.
        stream_ptr : int, optional
            The ``CUstream`` that you use the view on; -1 orders nothing.

        Returns
        -------
        StridedMemoryView
            The view. It keeps the object alive.

        Raises
        ------
        BufferError
            If the object does not have the protocol.
        """

    @classmethod
    def from_array_interface(cls, obj: object) -> StridedMemoryView:
        """View an object in host memory through ``__array_interface__``.

        Parameters
        ----------
        obj : object
            An object with ``__array_interface__``, such as a numpy array.

        Returns
        -------
        StridedMemoryView
            The view. It keeps the object alive.

        Raises
        ------
        BufferError
            If the object does not have the protocol.
        """

    @classmethod
    def from_buffer(
        cls,
        buffer: Buffer,
        shape: tuple[SupportsIndex, ...],
        strides: tuple[SupportsIndex, ...] | None = None,
        *,
        itemsize: SupportsIndex | None = None,
        dtype: object | None = None,
        is_readonly: bool = False,
    ) -> StridedMemoryView:
        """View a buffer as an array.

        No stream waits: order the use of the view after the work that fills the buffer yourself.

        Parameters
        ----------
        buffer : Buffer
            The memory; the view keeps it.
        shape : tuple of int
            The extents.
        strides : tuple of int, optional
            In elements; contiguous in C order if not given.
        itemsize : int, optional
            Bytes per element; the dtype's if not given.
        dtype : numpy.dtype, optional
            What the elements are, as ``numpy.dtype()`` takes it.
        is_readonly : bool, optional
            Mark the view as read-only.

        Returns
        -------
        StridedMemoryView
            The view.

        Raises
        ------
        ValueError
            If neither `itemsize` nor `dtype` is given, they contradict each other, or the buffer is too small.
        """

    @property
    def ptr(self) -> int:
        """Return the address of the first element."""

    @property
    def device_id(self) -> int:
        """Return the ordinal of the device it lies on, -1 for host memory."""

    @property
    def is_device_accessible(self) -> bool:
        """Return whether devices can access the memory."""

    @property
    def readonly(self) -> bool:
        """Return whether the memory must not be written."""

    @property
    def exporting_obj(self) -> object:
        """Return the array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Return the strides in elements, or None if the array gives none and is contiguous in C order."""

    @property
    def size(self) -> int:
        """Return the number of elements."""

    @property
    def dtype(self) -> object:
        """Return the elements' numpy dtype (its string if there is no numpy), or None if it is not
        known."""

    @property
    def layout(self) -> StridedLayout:
        """Return the layout of the elements."""

    @property
    def _layout(self) -> StridedLayout: ...
    def __repr__(self) -> str: ...
    def view(
        self, layout: StridedLayout | None = None, dtype: object | None = None
    ) -> StridedMemoryView:
        """View the same memory with another layout or element type.

        Parameters
        ----------
        layout : StridedLayout, optional
            Offsets count from where the array, or the buffer, begins.
        dtype : numpy.dtype, optional
            As ``numpy.dtype()`` takes it; of the layout's element size.

        Returns
        -------
        StridedMemoryView
            This view if nothing is given.

        Raises
        ------
        ValueError
            If the layout reaches beyond the memory, or the element sizes differ.
        """

    def as_tensor_map(
        self,
        box_dim: tuple[int, ...] | None = None,
        *,
        options: TensorMapDescriptorOptions | dict[str, Any] | None = None,
        element_strides: tuple[int, ...] | None = None,
        data_type: object | None = None,
        interleave: object | None = None,
        swizzle: object | None = None,
        l2_promotion: object | None = None,
        oob_fill: object | None = None,
    ) -> TensorMapDescriptor:
        """Create a tensor map, with which kernels copy boxes of the array to shared memory.

        Numbers follow the axes of the view. If `data_type` has another size than the view's elements, the
        innermost axis is seen as elements of that size.

        Parameters
        ----------
        box_dim : tuple of int
            The size of one copy, 1 to 256 elements on each axis.
        options : TensorMapDescriptorOptions or dict, optional
            All arguments in one object, instead of the single ones.
        element_strides : tuple of int, optional
            Copy every n-th element of an axis, 1 to 8.
        data_type : numpy.dtype or TensorMapDataType, optional
            The type of the elements, if it is not that of the view.
        interleave : TensorMapInterleave, optional
            Whether channels are interleaved.
        swizzle : TensorMapSwizzle, optional
            How pieces are permuted in shared memory.
        l2_promotion : TensorMapL2Promotion, optional
            How much the L2 cache fetches at once.
        oob_fill : TensorMapOOBFill, optional
            What loads write for elements outside the array.

        Returns
        -------
        TensorMapDescriptor
            It keeps the view alive. Pass it to a kernel.

        Raises
        ------
        TypeError
            If `box_dim` is missing, or `options` is given together with other arguments.
        ValueError
            If a rule does not hold; the text says which.
        """

    def copy_from(
        self, other: object, stream: Stream, allocator: None = None, blocking: bool | None = None
    ) -> None:
        """Copy all elements from another array of the same shape and element type.

        Both may be on the host or on devices, contiguous or not. Nothing is converted. Contiguous arrays
        and arrays with regular gaps are one copy; axes in different orders need several.

        Parameters
        ----------
        other : StridedMemoryView, Buffer or array
            A buffer counts as contiguous and must have the same number of bytes; an array of another library
            is viewed first, ordered on `stream`.
        stream : Stream
            The copy is ordered on it.
        allocator : None
            No temporary memory is needed.
        blocking : bool, optional
            Whether to wait until the copy is done. If not given, the call waits only if it uses host
            memory that devices cannot reach. Pinned and managed memory is copied like device memory.

        Raises
        ------
        ValueError
            If shapes or element types differ, this view is read-only, its elements share memory, or the two
            overlap.
        """

    def copy_to(
        self, other: object, stream: Stream, allocator: None = None, blocking: bool | None = None
    ) -> None:
        """Copy all elements to another array of the same shape and element type. See ``copy_from``.

        Parameters
        ----------
        other : object
            A view or an array to write to.
        stream : Stream
            The copy runs in the order of this stream.
        allocator : None, optional
            Reserved; pass None.
        blocking : bool, optional
            Whether to wait for the copy; see ``copy_from``.

        Raises
        ------
        TypeError
            If `stream` is not a stream.
        BufferError
            If `other` is not an array.
        ValueError
            If shapes or element types differ, `other` is read-only, its elements share memory, or the two
            overlap.
        """

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """Return the memory as a DLPack capsule, which keeps the view alive.

        Parameters
        ----------
        stream : int, optional
            The stream that will use the memory. It is made to wait for the one that the view was made for,
            or, if it views a ``Buffer``, for the one that the buffer will be freed on; None and -1 leave
            ordering to the caller.
        max_version : tuple of int, optional
            The newest version that the caller knows; a versioned capsule is returned from (1, 0) on.
        dl_device : tuple of int, optional
            Only None, the device it lies on, or the CPU for memory that the host can reach.
        copy : bool, optional
            True is refused.

        Raises
        ------
        BufferError
            If another device or a copy is asked for, or the elements have no DLPack type.
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and the ordinal."""

    __dlpack_c_exchange_api__: CapsuleType

    __c_dlpack_exchange_api__: CapsuleType

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        """Return the elements in host memory as a numpy array.

        Parameters
        ----------
        dtype : object, optional
            The type that numpy asks for.
        copy : bool, optional
            Whether numpy needs a copy.

        Returns
        -------
        numpy.ndarray
            The elements.

        Raises
        ------
        TypeError
            If the elements lie in the memory of a device.
        """

    __array_ufunc__: None = None

class TensorMapDescriptor:
    """A tensor map: describes to the tensor memory accelerator where a tensor lies.

    Made by ``StridedMemoryView.as_tensor_map``. Pass it to a kernel whose parameter is a
    ``const __grid_constant__ CUtensorMap``. Keeps the view alive. Needs compute capability 9.0.

    Examples
    --------
    >>> view = cuprum.utils.StridedMemoryView.from_buffer(buffer, (16, 16), dtype=np.float32)
    >>> tensor_map = view.as_tensor_map(box_dim=(8, 8))
    >>> tensor_map.rank
    2
    """

    def __init__(self) -> None: ...
    @classmethod
    def _from_tiled(
        cls,
        view: StridedMemoryView,
        box_dim: tuple[int, ...] | None = None,
        *,
        options: object = None,
        element_strides: tuple[int, ...] | None = None,
        data_type: object = None,
        interleave: object = None,
        swizzle: object = None,
        l2_promotion: object = None,
        oob_fill: object = None,
    ) -> TensorMapDescriptor:
        """Make a tiled map. See ``StridedMemoryView.as_tensor_map``."""

    @classmethod
    def _from_im2col(
        cls,
        view: StridedMemoryView,
        pixel_box_lower_corner: tuple[int, ...],
        pixel_box_upper_corner: tuple[int, ...],
        channels_per_pixel: int,
        pixels_per_column: int,
        *,
        element_strides: tuple[int, ...] | None = None,
        data_type: object = None,
        interleave: object = None,
        swizzle: object = None,
        l2_promotion: object = None,
        oob_fill: object = None,
    ) -> TensorMapDescriptor:
        """Make an im2col map, for convolutions.

        Parameters
        ----------
        view : StridedMemoryView
            A tensor NWC, NHWC or NDHWC.
        pixel_box_lower_corner, pixel_box_upper_corner : tuple of int
            Offsets of the box from the first and from the last pixel, one for each axis between the
            first and the last.
        channels_per_pixel : int
            1 to 256.
        pixels_per_column : int
            1 to 1024.
        element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill
            As for ``StridedMemoryView.as_tensor_map``.

        Raises
        ------
        ValueError
            If a rule does not hold; the text says which.
        """

    @classmethod
    def _from_im2col_wide(
        cls,
        view: StridedMemoryView,
        pixel_box_lower_corner_width: int,
        pixel_box_upper_corner_width: int,
        channels_per_pixel: int,
        pixels_per_column: int,
        *,
        element_strides: tuple[int, ...] | None = None,
        data_type: object = None,
        interleave: object = None,
        mode: object = None,
        swizzle: object = None,
        l2_promotion: object = None,
        oob_fill: object = None,
    ) -> TensorMapDescriptor:
        """Make a wide im2col map, whose box has a size along W only; kernels need compute capability
        10.0. See ``_from_im2col``."""

    def replace_address(self, tensor: object) -> None:
        """Describe other memory from now on, with the same extents and strides.

        Launches that were enqueued before keep the old address. The map keeps the new memory alive instead
        of the old one, so wait for those launches before the old memory goes.

        Parameters
        ----------
        tensor : object
            A StridedMemoryView, or an array with DLPack or ``__cuda_array_interface__``.

        Raises
        ------
        ValueError
            If the memory is not accessible to the device, not aligned, too small, or on another device.
        RuntimeError
            If the map belongs to another device than the current one.
        """

    @property
    def device(self) -> Device | None:
        """Return the device it was made for."""

    @property
    def mode(self) -> str:
        """Return "tiled", "im2col" or "im2col_wide"."""

    @property
    def rank(self) -> int:
        """Return the number of axes."""

    @property
    def data_type(self) -> TensorMapDataType:
        """Return the type of the elements."""

    @property
    def interleave(self) -> TensorMapInterleave:
        """Return whether channels are interleaved."""

    @property
    def swizzle(self) -> TensorMapSwizzle:
        """Return how pieces are permuted in shared memory."""

    @property
    def l2_promotion(self) -> TensorMapL2Promotion:
        """Return how much the L2 cache fetches at once."""

    @property
    def oob_fill(self) -> TensorMapOOBFill:
        """Return what loads write for elements outside the tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents in elements."""

    @property
    def strides_in_bytes(self) -> tuple[int, ...]:
        """Return the strides in bytes."""

    @property
    def box_dim(self) -> tuple[int, ...]:
        """Return the size of one copy; empty unless the map is tiled."""

    @property
    def element_strides(self) -> tuple[int, ...]:
        """Return the steps between copied elements."""

    @property
    def pixel_box_lower_corner(self) -> tuple[int, ...]:
        """Return the lower corner of an im2col map; empty for a tiled one."""

    @property
    def pixel_box_upper_corner(self) -> tuple[int, ...]:
        """Return the upper corner of an im2col map; empty for a tiled one."""

    @property
    def copy_bytes(self) -> int:
        """Return how many bytes of shared memory one copy writes: what a barrier must expect."""

    @property
    def address(self) -> int:
        """Return the address of the tensor."""

    def __bytes__(self) -> bytes:
        """Return the 128 bytes that a kernel takes."""

    def __repr__(self) -> str: ...
    def __str__(self) -> str: ...
    def __reduce__(self) -> str | tuple[Any, ...]: ...
