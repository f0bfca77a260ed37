# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Views through DLPack's C exchange functions and its capsules, as exporter and as consumer."""

import ctypes
import gc
import re
import sys
import threading
import types
import weakref

import exchange_producer
import numpy as np
import pytest

import cuprum
from cuprum import LEGACY_DEFAULT_STREAM, Buffer, Stream
from cuprum.utils import StridedMemoryView

CPU = (1, 0)
CUDA = (2, 0)
READ_ONLY_ARRAY = np.arange(6, dtype=np.float32)
READ_ONLY_ARRAY.flags.writeable = False


def array():
    return np.arange(24, dtype=np.int16).reshape(4, 6)[::2, 1:]


def test_the_exchange_functions_are_used_and_what_they_hand_over_is_given_back():
    producer = exchange_producer.make_producer()
    source = producer(array())
    view = StridedMemoryView.from_any_interface(source, -1)
    assert producer.log == ["managed"]
    assert view.exporting_obj is source
    assert view.ptr == source.array.ctypes.data
    assert (view.shape, view.strides, view.dtype) == ((2, 5), (12, 1), np.int16)
    assert (view.device_id, view.is_device_accessible, view.readonly) == (-1, False, False)
    del view
    assert producer.log == ["managed", "delete"]
    assert not producer.alive


@pytest.mark.parametrize("module", ["torch", "cupy.somewhere"])
def test_libraries_without_read_only_arrays_lend_theirs(module):
    producer = exchange_producer.make_producer(module)
    source = producer(array())
    view = StridedMemoryView.from_dlpack(source, -1)
    assert producer.log == ["borrow"]
    reference = weakref.ref(source)
    del source
    assert reference() is view.exporting_obj
    assert view.shape == (2, 5)
    del view
    assert reference() is None


def test_a_library_that_only_sounds_alike_is_not_borrowed_from():
    producer = exchange_producer.make_producer("torchlight")
    StridedMemoryView.from_any_interface(producer(array()), -1)
    assert producer.log == ["managed", "delete"]


def test_what_cannot_be_lent_is_handed_over():
    producer = exchange_producer.make_producer("torch", may_lend=False)
    StridedMemoryView.from_any_interface(producer(array()), -1)
    assert producer.log == ["managed", "delete"]


def test_the_byte_offset_and_the_read_only_flag_count():
    producer = exchange_producer.make_producer()
    values = np.arange(10, dtype=np.float64)
    source = producer(values[3:], offset=24, readonly=True, data=values.ctypes.data)
    view = StridedMemoryView.from_any_interface(source, -1)
    assert view.ptr == values[3:].ctypes.data
    assert view.readonly
    assert np.array_equal(np.from_dlpack(view), values[3:])


def test_the_consumer_waits_for_the_producers_stream(device, stream):
    producer = exchange_producer.make_producer("torch")
    other = device.create_stream()
    with device.allocate(64, stream=stream) as buffer:
        source = producer(np.empty(8), device=CUDA, data=buffer.handle)
        producer.work_stream = int(other.handle)
        view = StridedMemoryView.from_any_interface(source, stream.handle)
        assert producer.log == ["borrow", ("stream", 2, 0)]
        assert (view.ptr, view.device_id, view.is_device_accessible) == (buffer.handle, 0, True)
        producer.log.clear()
        StridedMemoryView.from_any_interface(source, -1)
        assert producer.log == ["borrow"]
        stream.sync()
    other.close()


def test_a_table_of_another_version_is_not_used_but_the_one_before_it_is():
    older = exchange_producer.make_producer()
    newer = exchange_producer.make_producer(major=2, previous=older.table)
    StridedMemoryView.from_any_interface(newer(array()), -1)
    assert older.log == ["managed", "delete"]
    assert newer.log == []
    with pytest.raises(AssertionError, match="exchange functions"):
        StridedMemoryView.from_any_interface(exchange_producer.make_producer(major=2)(array()), -1)


def test_a_type_that_changes_is_looked_at_again():
    producer = exchange_producer.make_producer()
    source = producer(array())
    StridedMemoryView.from_any_interface(source, -1)
    del producer.__dlpack_c_exchange_api__
    producer.__dlpack_device__ = lambda self: CPU
    producer.__dlpack__ = lambda self, **options: self.array.__dlpack__(**options)
    assert StridedMemoryView.from_any_interface(source, -1).shape == (2, 5)
    assert producer.log == ["managed", "delete"]


def test_cuda_tensors_of_unknown_devices_are_refused():
    producer = exchange_producer.make_producer()
    with pytest.raises(BufferError, match="device type 7: device not supported"):
        StridedMemoryView.from_any_interface(producer(array(), device=(7, 0)), -1)
    assert producer.log == ["managed", "delete"]
    with pytest.raises(BufferError, match="stream=None is ambiguous"):
        StridedMemoryView.from_any_interface(producer(array()))


class CupyLike:
    """A class that looks like CuPy's arrays."""

    class Memory:
        def __init__(self, ptr):
            self.ptr = ptr
            self.device_id = 0

    def __init__(self, buffer, shape, strides):
        self.data = CupyLike.Memory(buffer.handle)
        self.buffer = buffer
        self.shape = shape
        self.strides = strides
        self.dtype = np.dtype(np.float32)
        self.asked = []

    def __dlpack__(self, *, stream=None, max_version=None):
        self.asked.append(stream)
        return self.buffer.__dlpack__(max_version=max_version)

    def __dlpack_device__(self):
        return CUDA


CupyLike.__module__ = "cupy"


def test_cupy_arrays_are_read_and_asked_only_where_streams_must_be_ordered(device, stream):
    with device.allocate(96, stream=stream) as buffer:
        source = CupyLike(buffer, (2, 3), (16, 4))
        view = StridedMemoryView.from_any_interface(source, -1)
        assert source.asked == []
        assert (view.ptr, view.shape, view.strides) == (buffer.handle, (2, 3), (4, 1))
        assert (view.dtype, view.device_id, view.is_device_accessible) == (np.float32, 0, True)
        assert view.__dlpack_device__() == CUDA
        whole = StridedMemoryView.from_dlpack(CupyLike(buffer, (6, 4), (16, 4)), -1)
        assert whole.strides == (4, 1)
        StridedMemoryView.from_any_interface(source, stream.handle)
        assert source.asked == [int(stream.handle)]
        source.shape = "not a tuple"
        assert StridedMemoryView.from_any_interface(source, -1).shape == (96,)
        assert source.asked == [int(stream.handle), -1]


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((4, 6), None, (6, 1)),
        ((4, 6), (96, 8), (24, 2)),
        ((6, 4), (4, 24), (1, 6)),
        ((2, 3, 1, 2, 5), None, (30, 10, 10, 5, 1)),
        ((2, 3, 1, 2, 5), (400, 40, 40, 20, 4), (100, 10, 10, 5, 1)),
        ((1, 7), (4, 4), (1, 1)),
        ((0, 3), (60, 20), (15, 5)),
        ((), None, ()),
    ],
)
@pytest.mark.parametrize("is_derived", [False, True])
def test_real_cupy_arrays_are_seen_as_they_are(shape, strides, expected, is_derived):
    cupy = pytest.importorskip("cupy")
    # This memory does not exist, but nothing reads it.
    memory = cupy.cuda.UnownedMemory(0x7F0000000000, 1 << 20, None, 3)
    pointer = cupy.cuda.MemoryPointer(memory, 512)
    derived = type("Derived", (cupy.ndarray,), {})
    source = (derived if is_derived else cupy.ndarray)(shape, np.float32, pointer, strides)
    view = StridedMemoryView.from_any_interface(source, -1)
    assert (view.ptr, view.shape, view.strides) == (0x7F0000000200, shape, expected)
    assert (view.dtype, view.device_id, view.is_device_accessible) == (np.float32, 3, True)
    assert (view.readonly, view.size) == (False, source.size)
    assert view.exporting_obj is source


def test_a_cupy_class_with_an_exchange_of_its_own_is_asked():
    cupy = pytest.importorskip("cupy")

    class Derived(cupy.ndarray):
        def __dlpack__(self, **options):
            raise BufferError(f"asked with {options['stream']}")

        def __dlpack_device__(self):
            return CUDA

    memory = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(1 << 40, 1 << 20, None, 0), 0)
    with pytest.raises(BufferError, match="asked with -1"):
        StridedMemoryView.from_any_interface(Derived((4,), np.float32, memory), -1)


@pytest.mark.parametrize("is_default", [False, True])
def test_cupys_current_stream_is_waited_for(stream, is_default):
    cupy = pytest.importorskip("cupy")
    if stream.device.is_emulated or not cupy.is_available():
        pytest.skip("needs CuPy on a GPU, and Cuprum on the same one")
    release = threading.Event()
    work = cupy.cuda.Stream.null if is_default else cupy.cuda.Stream(non_blocking=True)
    with work:
        source = cupy.zeros(64, np.float32)
        producer = Stream.from_handle(work.ptr or LEGACY_DEFAULT_STREAM.handle)
        producer.launch_host(release.wait)
        view = StridedMemoryView.from_any_interface(source, int(stream.handle))
        is_done = stream.is_done
        same = StridedMemoryView.from_any_interface(source, int(producer.handle))
    release.set()
    stream.sync()
    assert not is_done
    assert (view.ptr, view.shape, view.device_id) == (source.data.ptr, (64,), 0)
    assert same.ptr == view.ptr


def test_older_torch_is_asked_on_its_compiled_side(monkeypatch):
    class Tensor:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return CPU

        def __dlpack__(self, *, stream=None, max_version=None):
            asked.append("python")
            return self.array.__dlpack__(max_version=max_version)

    def to_dlpack(tensor):
        asked.append("compiled")
        return tensor.array.__dlpack__()

    Tensor.__module__ = "torch"
    asked = []
    source = Tensor(array())
    assert StridedMemoryView.from_any_interface(source, -1).shape == (2, 5)
    compiled = types.ModuleType("torch._C")
    compiled._to_dlpack = to_dlpack
    monkeypatch.setitem(sys.modules, "torch._C", compiled)
    assert StridedMemoryView.from_any_interface(source, -1).strides == (12, 1)
    assert StridedMemoryView.from_any_interface(source, 0).shape == (2, 5)
    assert asked == ["python", "compiled", "python"]


@pytest.mark.parametrize("way", ["python", "compiled"])
def test_older_torch_says_whether_its_tensors_are_in_memory(monkeypatch, way):
    class Tensor:
        conjugate = negative = False

        def __init__(self, array):
            self.array = array

        def is_conj(self):
            return self.conjugate

        def is_neg(self):
            return self.negative

        def __dlpack_device__(self):
            return CPU

        def __dlpack__(self, *, stream=None, max_version=None):
            return self.array.__dlpack__(max_version=max_version)

    Tensor.__module__ = "torch"
    if way == "compiled":
        compiled = types.ModuleType("torch._C")
        compiled._to_dlpack = lambda tensor: tensor.array.__dlpack__()
        monkeypatch.setitem(sys.modules, "torch._C", compiled)
    real, complex_ = Tensor(np.ones(4, np.float32)), Tensor(np.ones(4, np.complex64))
    for stream in (-1, 0):
        for tensor in (real, complex_):
            tensor.conjugate = tensor.negative = False
            assert StridedMemoryView.from_any_interface(tensor, stream).shape == (4,)
            tensor.negative = True
            for convert in (StridedMemoryView.from_any_interface, StridedMemoryView.from_dlpack):
                with pytest.raises(BufferError, match=r"pass tensor\.resolve_neg\(\)"):
                    convert(tensor, stream)
        complex_.conjugate = True
        with pytest.raises(BufferError, match=r"pass tensor\.resolve_conj\(\)"):
            StridedMemoryView.from_any_interface(complex_, stream)


def test_a_failure_of_the_quick_way_is_no_reason_for_the_other(monkeypatch):
    class Tensor:
        def __dlpack_device__(self):
            return CPU

        def __dlpack__(self, *, stream=None, max_version=None):
            return array().__dlpack__(max_version=max_version)

    def fail(tensor):
        raise failure

    Tensor.__module__ = "torch"
    compiled = types.ModuleType("torch._C")
    compiled._to_dlpack = fail
    monkeypatch.setitem(sys.modules, "torch._C", compiled)
    failure = RuntimeError("not this one")
    assert StridedMemoryView.from_any_interface(Tensor(), -1).shape == (2, 5)
    for failure in (MemoryError(), KeyboardInterrupt()):
        with pytest.raises(type(failure)):
            StridedMemoryView.from_any_interface(Tensor(), -1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float16, np.complex128, np.bool_])
def test_views_go_back_to_numpy(dtype):
    source = np.zeros((3, 4), dtype)[:, ::2]
    source[1, 1] = 1
    view = StridedMemoryView.from_any_interface(source, -1)
    back = np.from_dlpack(view)
    assert back.dtype == source.dtype
    assert back.strides == source.strides
    assert np.array_equal(back, source)
    assert back.ctypes.data == source.ctypes.data


def test_read_only_stays_read_only():
    view = StridedMemoryView.from_any_interface(READ_ONLY_ARRAY, -1)
    assert not np.from_dlpack(view).flags.writeable
    described, give_back = exchange_producer.consume(view)
    assert described["readonly"]
    give_back()


def test_a_capsule_keeps_the_view_and_an_unused_one_gives_it_back():
    source = np.arange(6)
    view = StridedMemoryView.from_any_interface(source, -1)
    references = sys.getrefcount(view)
    for version in (None, (1, 0)):
        capsule = view.__dlpack__(max_version=version)
        assert sys.getrefcount(view) == references + 1
        del capsule
        assert sys.getrefcount(view) == references
    back = np.from_dlpack(view)
    del view, source
    gc.collect()
    assert back.tolist() == list(range(6))


def test_tensors_may_be_dropped_by_any_thread():
    view = StridedMemoryView.from_any_interface(np.arange(6), -1)
    references = sys.getrefcount(view)
    _, give_back = exchange_producer.consume(view)
    thread = threading.Thread(target=give_back)
    thread.start()
    thread.join()
    assert sys.getrefcount(view) == references


def test_our_types_offer_the_exchange_functions(device, stream):
    source = array()
    view = StridedMemoryView.from_any_interface(source, -1)
    described, give_back = exchange_producer.consume(view)
    assert described == {
        "data": source.ctypes.data,
        "device": CPU,
        "dtype": np.dtype(np.int16),
        "shape": (2, 5),
        "strides": (12, 1),
        "readonly": False,
    }
    give_back()
    buffer = device.allocate(16, stream=stream)
    described, give_back = exchange_producer.consume(buffer)
    assert described["data"] == buffer.handle
    assert (described["device"], described["shape"]) == (CUDA, (16,))
    buffer.close()  # the tensor still shares the memory
    give_back()


def test_a_lent_tensor_describes_a_view():
    view = StridedMemoryView.from_any_interface(array(), -1)
    tensor = exchange_producer.Tensor()
    table = exchange_producer.exchange_table(StridedMemoryView)
    assert table.tensor_from_object(view, ctypes.byref(tensor)) == 0
    assert (tensor.data, tensor.ndim, tensor.shape[1]) == (view.ptr, 2, 5)
    with pytest.raises(TypeError, match="must be a StridedMemoryView, got int"):
        table.tensor_from_object(3, ctypes.byref(tensor))


def test_a_view_of_a_buffer_shares_the_memory(device, stream, live_objects):
    before = live_objects()
    buffer = device.allocate(16, stream=stream)
    view = StridedMemoryView.from_any_interface(buffer, stream.handle)
    buffer.close()
    if before:
        assert live_objects()["pool_allocations"] == before["pool_allocations"] + 1
    del view
    stream.sync()
    assert live_objects() == before


def test_exporting_orders_the_consumer_after_the_views_stream(device, stream):
    other = device.create_stream()
    with device.allocate(16, stream=stream) as buffer:
        view = StridedMemoryView.from_any_interface(buffer, stream.handle)
        for order in (None, -1, 1, int(other.handle)):
            assert "dltensor" in repr(view.__dlpack__(stream=order))
            assert "dltensor" in repr(buffer.__dlpack__(stream=order))
        other.sync()
        del view
    other.close()


@pytest.mark.parametrize("what", ["buffer", "view of a buffer", "part", "view made for a stream"])
def test_a_consumers_stream_waits_for_the_work_on_a_buffer(device, stream, what):
    consumer = device.create_stream()
    is_released = threading.Event()
    with device.allocate(16, stream=stream) as buffer:
        exporter = {
            "buffer": lambda: buffer,
            "view of a buffer": lambda: StridedMemoryView.from_buffer(buffer, (16,), dtype="u1"),
            "part": lambda: buffer[4:8],
            "view made for a stream": lambda: StridedMemoryView.from_any_interface(
                buffer, stream.handle
            ),
        }[what]()
        stream.launch_host(lambda: is_released.wait(10))
        for unordered in (None, -1):
            exporter.__dlpack__(stream=unordered)
            assert consumer.is_done
        capsule = exporter.__dlpack__(stream=int(consumer.handle))
        assert not consumer.is_done
        is_released.set()
        consumer.sync()
        assert stream.is_done
        del capsule, exporter
    consumer.close()


def test_another_threads_default_stream_is_waited_for(device):
    consumer = device.create_stream()
    is_released = threading.Event()
    made = []

    def work():
        device.set_current()
        made.append(device.allocate(16, stream=cuprum.PER_THREAD_DEFAULT_STREAM))
        cuprum.PER_THREAD_DEFAULT_STREAM.launch_host(lambda: is_released.wait(10))

    device.set_current()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    made[0].__dlpack__(stream=int(consumer.handle))
    assert not consumer.is_done
    is_released.set()
    consumer.sync()
    made.pop().close(consumer)
    consumer.close()


@pytest.mark.parametrize("what", ["buffer", "view of a buffer", "view made for a stream"])
@pytest.mark.parametrize("how", ["from_any_interface", "from_dlpack"])
def test_a_view_made_for_a_stream_makes_it_wait_for_the_work_on_a_buffer(device, stream, how, what):
    consumer = device.create_stream()
    is_released = threading.Event()
    with device.allocate(16, stream=stream) as buffer:
        source = {
            "buffer": lambda: buffer,
            "view of a buffer": lambda: StridedMemoryView.from_buffer(buffer, (16,), dtype="u1"),
            "view made for a stream": lambda: StridedMemoryView.from_dlpack(buffer, stream.handle),
        }[what]()
        stream.sync()
        stream.launch_host(lambda: is_released.wait(10))
        view = getattr(StridedMemoryView, how)(source, -1)
        assert consumer.is_done
        view = getattr(StridedMemoryView, how)(source, int(consumer.handle))
        assert not consumer.is_done
        is_released.set()
        consumer.sync()
        del view, source
    consumer.close()


def test_a_buffer_named_another_stream_is_waited_for_there(device, stream):
    consumer, other = device.create_stream(), device.create_stream()
    is_released = threading.Event()
    with device.allocate(16, stream=stream) as buffer:
        stream.sync()
        buffer.set_deallocation_stream(other)
        other.launch_host(lambda: is_released.wait(10))
        capsule = buffer.__dlpack__(stream=int(consumer.handle))
        assert not consumer.is_done
        is_released.set()
        consumer.sync()
        del capsule
    other.close()
    consumer.close()


def test_host_memory_may_be_had_as_the_cpus(device):
    memory = (ctypes.c_byte * 16)(*range(16))
    buffer = Buffer.from_handle(ctypes.addressof(memory), 16, owner=memory)
    assert buffer.__dlpack_device__() == CPU
    assert np.from_dlpack(buffer).tolist() == list(range(16))
    assert np.from_dlpack(buffer, device="cpu").tolist() == list(range(16))


def test_exports_refuse_what_they_cannot_do(device, stream):
    view = StridedMemoryView.from_any_interface(np.arange(3), -1)
    with device.allocate(16, stream=stream) as buffer:
        for exporter in (view, buffer):
            own = re.escape(str(exporter.__dlpack_device__()))
            text = rf"dl_device other than None and where the memory is, {own}.*, got \(2, 7\)"
            with pytest.raises(BufferError, match=text):
                exporter.__dlpack__(dl_device=(2, 7))
            with pytest.raises(BufferError, match="copy=True"):
                exporter.__dlpack__(copy=True)
            with pytest.raises(ValueError, match="truth value"):
                exporter.__dlpack__(copy=np.zeros(2))
            for version in ((), (9, 8, 7), "12", ("a", 0), (1, "a"), (1, -1), (1.5, 0)):
                with pytest.raises(BufferError, match="Expected max_version"):
                    exporter.__dlpack__(max_version=version)
        untyped = StridedMemoryView.from_buffer(buffer, (16,), itemsize=1)
        with pytest.raises(BufferError, match="no dtype"):
            untyped.__dlpack__()
        assert "dltensor" in repr(untyped.view(dtype="u1").__dlpack__())
        del untyped


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (np.dtype([("x", "f4"), ("y", "i4")]), "Structured dtypes"),
        (np.dtype(">i8"), "Non-native-endian"),
        (np.dtype("V8"), "Unsupported dtype for DLPack export"),
    ],
)
def test_element_types_that_dlpack_lacks_are_refused(dtype, text):
    view = StridedMemoryView.from_any_interface(np.zeros(3), -1).view(dtype=dtype)
    with pytest.raises(BufferError, match=text):
        view.__dlpack__()


class Failing:
    def __dlpack_device__(self):
        return CPU

    def __dlpack__(self, **options):
        raise TypeError(f"no luck with {sorted(options)}")


def test_when_the_second_try_fails_too_both_errors_are_shown():
    with pytest.raises(TypeError, match=r"\['stream'\]") as caught:
        StridedMemoryView.from_dlpack(Failing(), -1)
    assert "max_version" in str(caught.value.__context__)


def test_exporters_that_break_the_protocol_are_refused():
    class Breaking(Failing):
        def __dlpack__(self, **options):
            return "no capsule"

    with pytest.raises(BufferError, match="did not give a DLPack capsule"):
        StridedMemoryView.from_dlpack(Breaking(), -1)
    Breaking.__dlpack_device__ = lambda self: "12"
    with pytest.raises(BufferError, match="must give"):
        StridedMemoryView.from_dlpack(Breaking(), -1)


@pytest.mark.parametrize(
    ("code", "bits", "name"),
    [(4, 16, "bfloat16"), (10, 8, "float8_e4m3fn"), (12, 8, "float8_e5m2")],
)
def test_narrow_floats_come_from_ml_dtypes(code, bits, name):
    producer = exchange_producer.make_producer("torch")
    source = producer(np.zeros(4, f"u{bits // 8}"), type=(code, bits))
    view = StridedMemoryView.from_any_interface(source, -1)
    assert view.layout.itemsize == bits // 8
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(NotImplementedError, match="requires `ml_dtypes`"):
            _ = view.dtype
    else:
        assert view.dtype == np.dtype(getattr(ml_dtypes, name))
    described = exchange_producer.Tensor()
    table = exchange_producer.exchange_table(StridedMemoryView)
    assert table.tensor_from_object(view, ctypes.byref(described)) == 0
    assert (described.dtype.code, described.dtype.bits) == (code, bits)
