# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Functions that take arrays of any library."""

from __future__ import annotations

import functools

from cuprum._cuprum import StridedMemoryView

# Type checkers know this name. Importing it from typing would be slower than the whole package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class ViewableArgument:
    """An array that is viewed once the stream is known.

    Parameters
    ----------
    obj : object
        An array with DLPack or the CUDA array interface.

    Raises
    ------
    BufferError
        If it has neither.
    """

    __slots__ = ("has_dlpack", "obj")

    def __init__(self, obj: object) -> None:
        self.obj = obj
        self.has_dlpack = hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__")
        if not self.has_dlpack and not hasattr(obj, "__cuda_array_interface__"):
            raise BufferError(
                f"{type(obj).__name__} does not support any data exchange protocol: it has "
                "neither __dlpack__ nor __cuda_array_interface__"
            )

    def view(self, stream_ptr: int | None = None) -> StridedMemoryView:
        """View the array.

        Parameters
        ----------
        stream_ptr : int
            As in ``StridedMemoryView.from_any_interface``.
        """
        return StridedMemoryView.from_any_interface(self.obj, stream_ptr)


def args_viewable_as_strided_memory(
    arg_indices: tuple[int, ...],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function take arrays of any library.

    The function gets objects with a method ``view(stream_ptr)``, which returns a
    ``StridedMemoryView``, in place of the arrays.

    Parameters
    ----------
    arg_indices : tuple of int
        Which positional arguments are arrays.

    Returns
    -------
    Callable
        The decorator.

    Raises
    ------
    TypeError
        When the function is called with fewer positional arguments than `arg_indices` names.
    """
    indices = tuple(arg_indices)
    for index in indices:
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(
                f"arg_indices must be a tuple of positions, all integers, got {arg_indices!r}"
            )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            arguments = list(args)
            for index in indices:
                if not -len(arguments) <= index < len(arguments):
                    raise TypeError(
                        f"{function.__name__}() takes an array as positional argument {index}, "
                        f"but {len(arguments)} positional arguments were given"
                    )
                arguments[index] = ViewableArgument(arguments[index])
            return function(*arguments, **kwargs)

        return wrapper

    return decorate
