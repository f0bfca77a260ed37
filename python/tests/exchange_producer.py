# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Arrays with DLPack's C exchange functions, made with ctypes, and a consumer of such arrays."""

import ctypes

import numpy as np

_EXCHANGE = b"dlpack_exchange_api"
_READ_ONLY = 1


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class Managed(ctypes.Structure):
    _fields_ = [
        ("version", Version),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


Allocate = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
FromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
ToObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
Borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
CurrentStream = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)
Deleter = ctypes.PYFUNCTYPE(None, ctypes.POINTER(Managed))


class Table(ctypes.Structure):
    _fields_ = [
        ("version", Version),
        ("previous", ctypes.c_void_p),
        ("allocate", Allocate),
        ("managed_from_object", FromObject),
        ("managed_to_object", ToObject),
        ("tensor_from_object", Borrow),
        ("current_work_stream", CurrentStream),
    ]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype = ctypes.c_void_p
_pointer_in.argtypes = (ctypes.py_object, ctypes.c_char_p)


def exchange_table(cls):
    """Return the exchange functions of a type."""
    capsule = cls.__dlpack_c_exchange_api__
    return ctypes.cast(_pointer_in(capsule, _EXCHANGE), ctypes.POINTER(Table)).contents


def capsule_of(table):
    """Return the ``__dlpack_c_exchange_api__`` of a type; the table must outlive it."""
    return _new_capsule(ctypes.addressof(table), _EXCHANGE, None)


def make_producer(module="somewhere", major=1, previous=None, may_lend=True):
    """Make a type whose objects are viewed through its exchange functions.

    An object has the fields of a tensor as attributes; `log` lists the functions that were called.
    """

    class Producer:
        work_stream = 0

        def __init__(self, array, *, device=(1, 0), offset=0, readonly=False, data=None, type=None):
            self.array = array
            self.device = device
            self.offset = offset
            self.readonly = readonly
            codes = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
            self.type = type or (codes[array.dtype.kind], array.itemsize * 8)
            self.data = array.ctypes.data if data is None else data
            self.extents = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
            self.steps = (ctypes.c_int64 * max(array.ndim, 1))(
                *(stride // array.itemsize for stride in array.strides)
            )

        def __dlpack__(self, **options):
            raise AssertionError("the exchange functions were not used")

        def __dlpack_device__(self):
            raise AssertionError("the exchange functions were not used")

    Producer.log = []
    Producer.alive = {}

    def describe(array, tensor):
        tensor.data = array.data
        tensor.device = Device(*array.device)
        tensor.ndim = array.array.ndim
        tensor.dtype = DataType(*array.type, 1)
        tensor.shape = array.extents
        tensor.strides = array.steps
        tensor.byte_offset = array.offset

    def delete(managed):
        Producer.log.append("delete")
        del Producer.alive[ctypes.addressof(managed.contents)]

    def managed_from_object(array, out):
        Producer.log.append("managed")
        managed = Managed()
        managed.version = Version(1, 0)
        managed.flags = _READ_ONLY if array.readonly else 0
        managed.deleter = ctypes.cast(deleter, ctypes.c_void_p)
        describe(array, managed.tensor)
        Producer.alive[ctypes.addressof(managed)] = (managed, array)
        out[0] = ctypes.addressof(managed)
        return 0

    def tensor_from_object(array, out):
        Producer.log.append("borrow")
        describe(array, out.contents)
        return 0

    def current_work_stream(device_type, device_id, out):
        Producer.log.append(("stream", device_type, device_id))
        out[0] = Producer.work_stream
        return 0

    deleter = Deleter(delete)
    table = Table(
        Version(major, 3),
        ctypes.addressof(previous) if previous is not None else None,
        Allocate(lambda *_: -1),
        FromObject(managed_from_object),
        ToObject(lambda *_: -1),
        Borrow(tensor_from_object) if may_lend else Borrow(),
        CurrentStream(current_work_stream),
    )
    Producer.table = table  # the table must outlive the type
    Producer.__module__ = module
    Producer.__dlpack_c_exchange_api__ = capsule_of(table)
    return Producer


def consume(obj):
    """View an object with numpy through its type's exchange functions; return array and deleter."""
    out = ctypes.c_void_p()
    assert exchange_table(type(obj)).managed_from_object(obj, ctypes.byref(out)) == 0
    managed = ctypes.cast(out, ctypes.POINTER(Managed)).contents
    tensor = managed.tensor
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    deleter = Deleter(managed.deleter)
    described = {
        "data": tensor.data,
        "device": (tensor.device.type, tensor.device.id),
        "dtype": np.dtype(f"{'iuf bcb'[tensor.dtype.code]}{tensor.dtype.bits // 8}"),
        "shape": shape,
        "strides": strides,
        "readonly": bool(managed.flags & _READ_ONLY),
    }
    return described, lambda: deleter(ctypes.byref(managed))
