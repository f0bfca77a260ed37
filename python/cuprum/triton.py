# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Triton kernels on the devices of Cuprum, with a GPU or without one.

Needs no PyTorch. If there is PyTorch, kernels also take its tensors in host memory: their storage
is copied to the device, and what the kernel changed is copied back. Launches with such tensors wait
for the kernel and for each other.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprum import Buffer, Device, LegacyPinnedMemoryResource, driver_description

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Tensor", "activate"]

# Triton's names of numpy's types.
_TYPES = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
}
_ALIGNMENT = 256  # Triton compiles for the alignment of a tensor
_BENCHMARK_SECONDS = 0.1
_LEGACY_STREAM = 0
_lending = threading.RLock()


def activate() -> None:
    """Let Triton use the current device of Cuprum, from now on.

    On the emulated device Triton compiles with a stand-in for ``ptxas``, so the program needs
    neither a GPU nor ``cuprum run``. Call it before the first kernel.

    Raises
    ------
    ImportError
        If Triton is not installed.
    RuntimeError
        If the emulated device is installed without its stand-in for ``ptxas``, or if the driver of
        a GPU is loaded already, which Triton would use instead.

    Examples
    --------
    >>> import cuprum.triton
    >>> cuprum.triton.activate()
    >>> x = cuprum.triton.Tensor(np.arange(8, dtype=np.float32))
    >>> double[(1,)](x, 8, block=8)
    >>> x.numpy()
    """
    device = Device()
    device.set_current()
    if device.is_emulated:
        _name_compilers(Path(driver_description().partition("(")[2].rpartition(")")[0]))
    from triton.runtime import driver

    driver.set_active(_make_driver())


class Tensor:
    """A numpy array in memory that kernels and the host share.

    Parameters
    ----------
    array : array_like
        The values, which are copied.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
        Triton's name of the type, such as ``"fp32"``.

    Raises
    ------
    TypeError
        If Triton has no such element type.
    OutOfMemoryError
        If there is not enough pinned memory.

    Examples
    --------
    >>> import cuprum.triton
    >>> x = cuprum.triton.Tensor(np.arange(4, dtype=np.float32))
    >>> x.shape
    (4,)
    """

    def __init__(self, array: np.ndarray) -> None:
        import numpy as np

        array = np.asarray(array)
        name = str(array.dtype)
        if name not in _TYPES:
            raise TypeError(f"array has elements of type {name}, which Triton does not have")
        array = np.array(array, order="C")
        self.shape = array.shape
        self.dtype = _TYPES[name]
        self._buffer = LegacyPinnedMemoryResource().allocate(max(array.nbytes, 1))
        memory = (ctypes.c_char * array.nbytes).from_address(int(self._buffer.handle))
        self._array = np.frombuffer(memory, dtype=array.dtype).reshape(array.shape)
        self._array[...] = array

    def __repr__(self) -> str:
        return f"Tensor(shape={self.shape}, dtype={self.dtype})"

    def data_ptr(self) -> int:
        """Return the address, which is the same for kernels and the host.

        Returns
        -------
        int
            The address.
        """
        return int(self._buffer.handle)

    def stride(self, dimension: int | None = None) -> int | tuple[int, ...]:
        """Return the distance of elements in one dimension, or in all of them.

        Parameters
        ----------
        dimension : int, optional
            The dimension. None means all of them.

        Returns
        -------
        int or tuple[int, ...]
            Elements, not bytes.

        Raises
        ------
        IndexError
            If there is no such dimension.
        """
        strides = tuple(each // self._array.itemsize for each in self._array.strides)
        return strides if dimension is None else strides[dimension]

    def element_size(self) -> int:
        """Return the size of an element in bytes.

        Returns
        -------
        int
            The size.
        """
        return self._array.itemsize

    def numpy(self) -> np.ndarray:
        """Wait for the device and return a copy of the values.

        Returns
        -------
        np.ndarray
            The copy.

        Raises
        ------
        CUDAError
            If work on the device failed.
        """
        Device().sync()
        return self._array.copy()


# ---- helpers -------------------------------------------------------------------------------------


def _name_compilers(library: Path) -> None:
    """Tell Triton where the emulated driver and its stand-in for ptxas are."""
    ptxas = library.parent / "compilers" / "ptxas"
    if not ptxas.exists():
        raise RuntimeError(f"{ptxas} does not exist: reinstall cuprum-emulator")
    for other in _loaded_drivers():
        if not (other.exists() and other.samefile(library)):
            raise RuntimeError(
                f"{other} is loaded, and Triton would use it instead of the emulated device: call "
                "activate() before you import what loads it, such as PyTorch, or start the program "
                "with `cuprum run`"
            )
    os.environ["TRITON_PTXAS_PATH"] = str(ptxas)
    os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = str(ptxas)
    os.environ["TRITON_LIBCUDA_PATH"] = str(library.parent)


def _loaded_drivers() -> list[Path]:
    """Return the files of all drivers in this process."""
    # As bytes: names of files need not be text.
    lines = Path("/proc/self/maps").read_bytes().split(b"\n")
    files = {os.fsdecode(line.split(maxsplit=5)[-1]) for line in lines if line}
    return sorted(Path(file) for file in files if "/libcuda.so." in file)


def _make_driver() -> Any:
    """Return a driver for Triton that asks Cuprum and needs no PyTorch."""
    from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils

    class Launcher(CudaLauncher):
        """Launches kernels; tensors of PyTorch in host memory are lent to the device."""

        def __call__(
            self, grid_x: int, grid_y: int, grid_z: int, stream: int, *arguments: Any
        ) -> None:
            # The arguments of the kernel come after five of the launch.
            given = arguments[5:]
            with _lent(given) as lent:
                super().__call__(grid_x, grid_y, grid_z, stream, *arguments[:5], *lent)

    class Driver(CudaDriver):
        """The devices of Cuprum. The current one is what Device() returns."""

        def __init__(self) -> None:
            self.utils = CudaUtils()
            self.launcher_cls = Launcher
            self.get_device_capability = lambda index: tuple(Device(index).compute_capability)
            self.get_current_stream = lambda _: _LEGACY_STREAM
            self.get_current_device = lambda: Device().device_id
            self.set_current_device = lambda index: Device(index).set_current()

        def get_active_torch_device(self) -> Any:
            return sys.modules["torch"].device("cpu", 0)  # programs read the index

        def get_benchmarker(self) -> Callable[..., Any]:
            return _benchmark

    return Driver()


def _benchmark(call: Callable[[], object], *, quantiles: Sequence[float], **_: object) -> Any:
    """Return the time of a call in milliseconds, once for each quantile."""
    device = Device()
    times: list[float] = []
    end = time.perf_counter() + _BENCHMARK_SECONDS
    while not times or time.perf_counter() < end:
        device.sync()
        begin = time.perf_counter()
        call()
        device.sync()
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    return [times[min(int(each * len(times)), len(times) - 1)] for each in quantiles]


class _Loan:
    """The storage of PyTorch tensors, copied to memory of the device for one launch."""

    def __init__(self, storage: Any) -> None:
        self._address = storage.data_ptr()
        self._bytes = storage.nbytes()
        self._buffer: Buffer = LegacyPinnedMemoryResource().allocate(self._bytes + _ALIGNMENT)
        base = int(self._buffer.handle)
        self._copy = base + (self._address - base) % _ALIGNMENT
        ctypes.memmove(self._copy, self._address, self._bytes)
        self._before = ctypes.string_at(self._copy, self._bytes)

    def address_of(self, tensor: Any) -> int:
        """Return where the tensor's memory is in the copy."""
        return int(self._copy + tensor.data_ptr() - self._address)

    def give_back(self) -> None:
        """Copy the storage back if the kernel changed it: it may be read-only memory."""
        if ctypes.string_at(self._copy, self._bytes) != self._before:
            ctypes.memmove(self._address, self._copy, self._bytes)


@contextmanager
def _lent(arguments: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield the arguments with PyTorch tensors in host memory lent to the device."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield arguments
        return
    loans: dict[int, _Loan] = {}

    def lend(argument: Any) -> Any:
        if isinstance(argument, torch.Tensor) and argument.device.type == "cpu":
            storage = argument.untyped_storage()
            if storage.nbytes() == 0:
                return None
            loan = loans.get(storage.data_ptr())
            if loan is None:
                loan = loans[storage.data_ptr()] = _Loan(storage)
            return loan.address_of(argument)
        if isinstance(argument, tuple):
            return tuple(lend(each) for each in argument)
        if dataclasses.is_dataclass(argument) and hasattr(argument, "base"):
            return _with_base(argument, lend(argument.base))
        return argument

    # One launch at a time: tensors may share a storage.
    with _lending:
        lent = [lend(each) for each in arguments]
        yield lent
        if loans:
            Device().sync()
            for loan in loans.values():
                loan.give_back()


def _with_base(descriptor: Any, base: Any) -> Any:
    """Return a tensor descriptor of Triton for other memory."""
    if not isinstance(base, int):
        return descriptor
    changed = object.__new__(type(descriptor))
    changed.__dict__.update(descriptor.__dict__)
    changed.base = _Address(base)
    return changed


class _Address:
    """An address in the form that tensor descriptors need."""

    def __init__(self, address: int) -> None:
        self._address = address

    def data_ptr(self) -> int:
        return self._address
