# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Views of PyTorch tensors, which are read through PyTorch's C functions once they are verified.

Most tests use our own library with the same functions. Tests of PyTorch itself run only if it is
installed.
"""

import ctypes
import gc
import itertools
import struct
import subprocess
import sysconfig
import threading
import weakref
from pathlib import Path
from typing import ClassVar

import exchange_producer
import numpy as np
import pytest

from cuprum import Stream
from cuprum.utils import StridedMemoryView

PROGRAM = Path(__file__).parents[1] / "programs" / "torch_functions.c"
FLOAT32 = {"number": 6, "code": 2, "bits": 32}
INT16 = {"number": 2, "code": 0, "bits": 16}
COMPLEX64 = {"number": 9, "code": 5, "bits": 64}
CPU, CUDA, ELSEWHERE = 0, 1, 7

needs_gil = pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="without a GIL tensors are read through DLPack, and objects are laid out otherwise",
)


class Library:
    """A loaded copy of the library, and a class of tensors that it knows."""

    # Tables live as long as the process, as in real libraries. Cuprum remembers their addresses.
    _tables: ClassVar[list] = []

    def __init__(self, path, *, slots=("impl",), module="torch", name="Tensor"):
        self._library = ctypes.CDLL(str(path))
        self.count("tensor_at").value = object.__basicsize__ + 8 * sorted(slots).index("impl")
        self.table = exchange_producer.Table(
            exchange_producer.Version(1, 3),
            None,
            exchange_producer.Allocate(),
            self._function("managed_from_object", exchange_producer.FromObject),
            exchange_producer.ToObject(),
            self._function("tensor_from_object", exchange_producer.Borrow),
            self._function("current_work_stream", exchange_producer.CurrentStream),
        )
        self._tables.append(self.table)
        members = {
            "__slots__": slots,
            "__module__": module,
            "__dlpack__": None,
            "__dlpack_device__": None,
            "__dlpack_c_exchange_api__": exchange_producer.capsule_of(self.table),
            "is_conj": lambda self: self.impl.endswith(b"conjugated"),
            "is_neg": lambda self: self.impl.endswith(b"negated"),
        }
        self.tensor_type = type(name, (), members)

    def _function(self, name, prototype):
        return ctypes.cast(getattr(self._library, name), prototype)

    def count(self, name):
        return ctypes.c_int64.in_dll(self._library, name)

    @property
    def counts(self):
        """Return how often tensors were exported through DLPack, and how often read directly."""
        return self.count("lent_count").value, self.count("read_count").value

    def tensor(
        self, shape, kind, *, device=CPU, index=-1, layout=0, data=0x1000, more=b"", cls=None
    ):
        fill = [0] * (8 - len(shape))
        strides = [int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape))]
        made = (cls or self.tensor_type)()
        made.impl = (
            struct.pack("q8q8qQ", len(shape), *shape, *fill, *strides, *fill, data)
            + struct.pack("4i", kind["number"], device, index, layout)
            + struct.pack("BBH", kind["code"], kind["bits"], 1)
            + more
        )
        return made

    def view(self, *arguments, **options):
        return StridedMemoryView.from_any_interface(self.tensor(*arguments, **options), -1)


@pytest.fixture(scope="module")
def build(c_compiler, tmp_path_factory):
    """Return a function that compiles a new library, because Cuprum verifies each library once."""
    folder = tmp_path_factory.mktemp("torch_functions")
    numbers = itertools.count()

    def build_one(*options):
        path = folder / f"libtorch_functions{next(numbers)}.so"
        command = [*c_compiler, "-shared", "-fPIC", *options, str(PROGRAM), "-o", str(path)]
        subprocess.run(command, check=True)
        return path

    return build_one


# ---- on a library of our own -------------------------------------------------------------------


@needs_gil
@pytest.mark.parametrize("slots", [("impl",), ("Owner", "impl")])
def test_the_second_tensor_of_a_kind_is_read_and_looks_like_the_first(build, slots):
    library = Library(build(), slots=slots)
    first = library.view((2, 3), FLOAT32)
    assert library.counts == (1, 1)
    second = library.view((2, 3), FLOAT32)
    assert library.counts == (1, 2)
    for view in (first, second):
        assert (view.ptr, view.shape, view.strides) == (0x1000, (2, 3), (3, 1))
        assert (view.dtype, view.device_id) == (np.float32, -1)
        assert not view.is_device_accessible
        assert not view.readonly


@needs_gil
def test_each_kind_is_compared_once(build):
    library = Library(build())
    kinds = [(FLOAT32, CPU, -1), (INT16, CPU, -1), (FLOAT32, CUDA, 0), (FLOAT32, CUDA, 3)]
    lent = []
    for kind, device, index in [*kinds, *kinds]:
        before = library.counts[0]
        view = library.view((4,), kind, device=device, index=index)
        lent.append(library.counts[0] - before)
        assert view.device_id == index
        assert view.is_device_accessible == (device == CUDA)
        assert view.dtype == (np.float32 if kind is FLOAT32 else np.int16)
    # The fourth tensor is of the same kind as the third.
    assert lent == [1, 1, 1, 0, 0, 0, 0, 0]


@needs_gil
def test_a_tensor_of_no_or_many_dimensions_does_not_tell_where_it_lies(build):
    library = Library(build())
    for _ in range(2):
        assert library.view((), FLOAT32).shape == ()
        assert library.view((1, 2, 3, 4, 5, 6), FLOAT32).shape == (1, 2, 3, 4, 5, 6)
    assert library.counts == (4, 0)
    library.view((7,), FLOAT32)
    assert library.view((), FLOAT32).shape == ()
    assert library.view((1, 2, 3, 4, 5, 6), FLOAT32).shape == (1, 2, 3, 4, 5, 6)
    assert library.counts == (5, 3)


@needs_gil
def test_where_the_two_ways_differ_dlpack_is_right(build):
    library = Library(build())
    library.count("moved_bytes").value = 64
    for _ in range(3):
        assert library.view((4,), FLOAT32).ptr == 0x1000
    assert library.counts == (3, 1)
    library.count("moved_bytes").value = 0
    library.view((4,), FLOAT32)
    assert library.counts == (4, 1)


@needs_gil
@pytest.mark.parametrize(
    ("module", "name"),
    [("torch", "SomeTensor"), ("torch.somewhere", "Tensor"), ("torch", "tensor")],
)
def test_other_classes_of_tensors_are_lent(build, module, name):
    library = Library(build(), module=module, name=name)
    for _ in range(3):
        library.view((4,), FLOAT32)
    assert library.counts == (3, 0)


@needs_gil
def test_tensors_of_a_derived_class_are_lent(build):
    library = Library(build())
    library.view((4,), FLOAT32)
    derived = type("Derived", (library.tensor_type,), {})
    for _ in range(2):
        assert library.view((4,), FLOAT32, cls=derived).shape == (4,)
    assert library.counts == (3, 1)


@needs_gil
def test_parameters_are_read_too(build):
    library = Library(build(), module="torch.nn.parameter", name="Parameter")
    library.view((4,), FLOAT32)
    library.view((4,), FLOAT32)
    assert library.counts == (1, 2)


@needs_gil
def test_a_library_without_the_functions_lends(build):
    library = Library(build("-DWITHOUT_FUNCTIONS"))
    for _ in range(3):
        assert library.view((4,), FLOAT32).shape == (4,)
    assert library.count("lent_count").value == 3


@needs_gil
def test_a_tensor_without_memory_raises_what_its_library_says(build):
    library = Library(build())
    for _ in range(2):
        library.view((4,), FLOAT32)
        with pytest.raises(RuntimeError, match="there is no storage"):
            library.view((4,), FLOAT32, layout=1)
    with pytest.raises(BufferError, match="device type 8"):
        library.view((4,), FLOAT32, device=ELSEWHERE)


@needs_gil
def test_conjugates_that_are_not_in_memory_are_refused(build):
    library = Library(build())
    for _ in range(2):
        assert library.view((4,), COMPLEX64).dtype == np.complex64
        with pytest.raises(BufferError, match=r"conjugate bit set.*pass tensor\.resolve_conj\(\)"):
            library.view((4,), COMPLEX64, more=b"conjugated")


@needs_gil
@pytest.mark.parametrize("kind", [FLOAT32, COMPLEX64])
def test_negatives_that_are_not_in_memory_are_refused(build, kind):
    library = Library(build())
    for _ in range(3):
        assert library.view((4,), kind).shape == (4,)
        with pytest.raises(BufferError, match=r"negative bit set.*pass tensor\.resolve_neg\(\)"):
            library.view((4,), kind, more=b"negated")


def test_tensors_that_libraries_hand_out_are_checked_too(build):
    library = Library(build(), name="Derived")  # not PyTorch's own class, so that it is lent
    with pytest.raises(BufferError, match="negative bit set"):
        library.view((4,), FLOAT32, more=b"negated")


@needs_gil
def test_two_libraries_do_not_mix(build):
    one, other = Library(build()), Library(build(), slots=("Owner", "impl"))
    for library, data in [(one, 0x2000), (other, 0x3000), (one, 0x4000), (other, 0x5000)]:
        for _ in range(2):
            assert library.view((3, 5), INT16, data=data).ptr == data


# ---- on PyTorch --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def devices(torch):
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def tensors(torch, device):
    """Yield tensors of many element types and shapes."""
    names = (
        "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 bool"
    )
    for name in names.split():
        base = torch.zeros((4, 6, 5), dtype=getattr(torch, name), device=device)
        yield base
        yield base[1:, ::2, 3]
        yield base.permute(2, 0, 1)
        yield base[0, 0, 0]
        yield base[:0]
        yield base.reshape(1, 2, 2, 1, 6, 5)
        yield base[:1].expand(7, 6, 5)
    yield torch.nn.Parameter(torch.ones(3, device=device))
    yield torch.ones(3, device=device).requires_grad_()


def test_views_of_tensors_say_what_the_tensors_say(torch):
    for device in devices(torch):
        for _ in range(2):  # the first round compares, the second reads
            for tensor in tensors(torch, device):
                view = StridedMemoryView.from_any_interface(tensor, -1)
                assert view.ptr == tensor.data_ptr()
                assert view.shape == tuple(tensor.shape)
                assert view.strides == tensor.stride()
                assert view.device_id == (tensor.device.index if device == "cuda" else -1)
                assert view.is_device_accessible == (device == "cuda")
                assert view.exporting_obj is tensor
                if tensor.dtype != torch.bfloat16:
                    own = str(tensor.dtype).removeprefix("torch.")
                    assert view.dtype == np.dtype(own)


def test_a_tensor_that_was_given_other_data_is_read_anew(torch):
    tensor = torch.zeros(4, 5)
    StridedMemoryView.from_any_interface(tensor, -1)
    tensor.data = torch.zeros(3, 7, dtype=torch.float32).t()
    view = StridedMemoryView.from_any_interface(tensor, -1)
    assert (view.ptr, view.shape, view.strides) == (tensor.data_ptr(), (7, 3), (1, 7))
    tensor.resize_(2, 2)
    assert StridedMemoryView.from_any_interface(tensor, -1).shape == (2, 2)


def test_tensors_without_plain_memory_are_refused(torch, capfd):
    StridedMemoryView.from_any_interface(torch.zeros(2), -1)
    for tensor in (torch.eye(2).to_sparse(), torch.zeros(2, device="meta")):
        with pytest.raises((RuntimeError, BufferError)):
            StridedMemoryView.from_any_interface(tensor, -1)
    assert "aoti" not in capfd.readouterr().err
    numbers = torch.tensor([1 + 2j])
    with pytest.raises(BufferError, match="resolve_conj"):
        StridedMemoryView.from_any_interface(numbers.conj(), -1)
    for convert in (StridedMemoryView.from_any_interface, StridedMemoryView.from_dlpack):
        with pytest.raises(BufferError, match="resolve_neg"):
            convert(numbers.conj().imag, -1)
    view = StridedMemoryView.from_any_interface(numbers.conj().resolve_conj(), -1)
    assert np.from_dlpack(view)[0] == 1 - 2j


def test_a_tensor_lives_as_long_as_its_view_and_a_cycle_is_collected(torch):
    tensor = torch.zeros(3)
    view = StridedMemoryView.from_any_interface(tensor, -1)
    address, reference = tensor.data_ptr(), weakref.ref(tensor)
    del tensor
    assert reference() is not None
    assert view.exporting_obj.data_ptr() == address
    del view
    assert reference() is None

    tensor = torch.zeros(3)
    tensor.view_of_it = StridedMemoryView.from_any_interface(tensor, -1)
    reference = weakref.ref(tensor)
    del tensor
    gc.collect()
    assert reference() is None


def test_a_long_chain_of_tensors_and_views_is_dropped(torch):
    tensor = torch.zeros(1)
    reference = weakref.ref(tensor)
    for _ in range(50_000):
        following = torch.zeros(1)
        following.view_of_last = StridedMemoryView.from_any_interface(tensor, -1)
        tensor = following
    assert reference() is not None
    del tensor, following
    assert reference() is None


def test_the_stream_of_a_tensor_is_waited_for(torch, device, stream):
    if device.is_emulated or not torch.cuda.is_available():
        pytest.skip("needs PyTorch on a GPU, and Cuprum on the same one")
    work = torch.cuda.Stream()
    release = threading.Event()
    with torch.cuda.stream(work):
        tensor = torch.zeros(64, device="cuda")
        Stream.from_handle(work.cuda_stream).launch_host(release.wait)
        view = StridedMemoryView.from_any_interface(tensor, int(stream.handle))
        is_done = stream.is_done
    release.set()
    stream.sync()
    assert not is_done
    assert view.device_id == 0
