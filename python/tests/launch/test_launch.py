# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import enum
import pickle
import threading
import weakref

import numpy as np
import pytest
from kernel_source import SOURCE

import cuprum
from cuprum import LaunchConfig, launch
from cuprum.testing import fail_call

ONE = LaunchConfig(grid=1, block=1)


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_double)]


class Color(enum.IntEnum):
    RED = 3


class Index:
    def __index__(self):
        return 11


@pytest.fixture(scope="module")
def compiled_to_ptx():
    code = cuprum.Program(SOURCE, "c++", {"std": "c++17"}).compile(
        "ptx", name_expressions=("scale<float>", "scale<double>")
    )
    return code.code, code.symbol_mapping


@pytest.fixture
def module(compiled_to_ptx):
    """The test kernels as PTX, which declares the types of all parameters on both devices."""
    code, symbols = compiled_to_ptx
    module = cuprum.ObjectCode.from_ptx(code, name="test kernels", symbol_mapping=symbols)
    yield module
    module.close()  # pytest still refers to it when live objects are counted


def test_extents_become_three_tuples():
    config = LaunchConfig(grid=5, block=(2, 3), cluster=[2])
    assert config.grid == (5, 1, 1)
    assert config.block == (2, 3, 1)
    assert config.cluster == (2, 1, 1)
    assert config.shmem_size == 0
    assert LaunchConfig(grid=np.int64(4), block=1).grid == (4, 1, 1)
    assert LaunchConfig(grid=1, block=1).cluster is None


def test_the_order_of_positional_fields():
    config = LaunchConfig(1, None, 2, 48, True, True)
    assert (config.grid, config.block, config.shmem_size) == ((1, 1, 1), (2, 1, 1), 48)
    assert config.is_cooperative
    assert config.programmatic_stream_serialization


def test_equality_hash_repr_and_pickle():
    config = LaunchConfig(grid=(1, 2, 3), block=4, shmem_size=16)
    same = LaunchConfig(grid=(1, 2, 3), block=(4, 1, 1), shmem_size=16)
    assert config == same
    assert hash(config) == hash(same)
    assert config != LaunchConfig(grid=1, block=4)
    assert config != (1, 2, 3)
    assert repr(config) == (
        "LaunchConfig(grid=(1, 2, 3), cluster=None, block=(4, 1, 1), shmem_size=16, "
        "is_cooperative=False, programmatic_stream_serialization=False)"
    )
    assert pickle.loads(pickle.dumps(config)) == config
    assert weakref.ref(config)() is config


def test_a_configuration_does_not_change():
    config = LaunchConfig(grid=1, block=1)
    with pytest.raises(AttributeError):
        config.grid = 2


@pytest.mark.parametrize("bad", [0, -1, 2**32, (0, 1), (1, 1, 1, 1), (), "1", 1.5, None, (1, None)])
@pytest.mark.parametrize("name", ["grid", "block"])
def test_bad_extents_are_value_errors_that_name_them(name, bad):
    good = {"grid": 1, "block": 1}
    with pytest.raises(ValueError, match=f"{name} must be an integer from 1"):
        LaunchConfig(**{**good, name: bad})


def test_bad_shared_memory_is_refused():
    with pytest.raises(ValueError, match="shmem_size must be at least 0, got -1"):
        LaunchConfig(grid=1, block=1, shmem_size=-1)


@pytest.mark.parametrize(
    "fields",
    [
        {"grid": 1, "block": 100000},
        {"grid": 1, "block": (1, 1, 4096)},
        {"grid": (1, 2**31), "block": 1},
        {"grid": 1, "block": 1, "shmem_size": 1 << 30},
    ],
)
def test_what_exceeds_the_device_is_a_value_error_and_the_stream_stays_usable(
    module, stream, fields
):
    kernel = module.get_kernel("empty")
    with pytest.raises(ValueError, match=r"\d") as caught:
        launch(stream, LaunchConfig(**fields), kernel)
    assert str(max(max(v) if isinstance(v, tuple) else v for v in fields.values())) in str(
        caught.value
    )
    assert isinstance(caught.value, cuprum.LaunchError)
    assert isinstance(caught.value, cuprum.CUDAError)
    assert caught.value.code > 0
    assert str(caught.value).startswith(caught.value.limit)
    launch(stream, ONE, kernel)
    stream.sync()


def test_saxpy(module, device, stream):
    n = 10_000
    rng = np.random.default_rng(1)
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    out = np.empty_like(y)
    with (
        device.allocate(x.nbytes, stream=stream) as dx,
        device.allocate(y.nbytes, stream=stream) as dy,
    ):
        dx.copy_from_host(x, stream=stream)
        dy.copy_from_host(y, stream=stream)
        config = LaunchConfig(grid=(n + 255) // 256, block=256)
        launch(stream, config, module.get_kernel("saxpy"), 2.5, dx, dy, n)
        dy.copy_to_host(out, stream=stream)
        stream.sync()
    np.testing.assert_allclose(out, np.float32(2.5) * x + y, rtol=1e-6)


def test_a_template_by_its_name(module, device, stream):
    data = np.arange(100, dtype=np.float64)
    out = np.empty_like(data)
    with device.allocate(data.nbytes, stream=stream) as buffer:
        buffer.copy_from_host(data, stream=stream)
        launch(
            stream, {"grid": 1, "block": 128}, module.get_kernel("scale<double>"), buffer, 3.0, 100
        )
        buffer.copy_to_host(out, stream=stream)
        stream.sync()
    np.testing.assert_array_equal(out, data * 3)


@pytest.mark.parametrize(
    ("kernel", "value", "expected"),
    [
        ("keep_char", -128, -128),
        ("keep_char", 255, -1),
        ("keep_short", -32768, -32768),
        ("keep_int", 2**31 - 1, 2**31 - 1),
        ("keep_int", -(2**31), -(2**31)),
        ("keep_unsigned", 2**32 - 1, 2**32 - 1),
        ("keep_long", -(2**63), -(2**63)),
        ("keep_long", 2**64 - 1, -1),
        ("keep_int", True, 1),
        ("keep_bool", True, 1),
        ("keep_bool", np.True_, 1),
        ("keep_int", Color.RED, 3),
        ("keep_int", Index(), 11),
        ("keep_int", np.int8(-5), -5),
        ("keep_int", np.int32(-5), -5),
        ("keep_int", np.int64(-5), -5),
        ("keep_long", np.int32(-5), -5),
        ("keep_unsigned", np.uint64(2**32 - 1), 2**32 - 1),
        ("keep_long", np.uint8(200), 200),
        ("keep_int", ctypes.c_int(-9), -9),
        ("keep_long", ctypes.c_longlong(-9), -9),
        ("keep_char", ctypes.c_int8(-9), -9),
        ("keep_bool", ctypes.c_bool(True), 1),
        ("keep_int", b"\x01\x02\x00\x00", 0x201),
        ("keep_int", memoryview(b"\x05\x00\x00\x00"), 5),
    ],
)
def test_integers_arrive(run, kernel, value, expected):
    assert run(kernel, value) == expected


@pytest.mark.parametrize(
    ("kernel", "value", "expected"),
    [
        ("keep_float", 1.5, 1.5),
        ("keep_float", np.float32(0.1), float(np.float32(0.1))),
        ("keep_float", ctypes.c_float(2.5), 2.5),
        ("keep_float", float("inf"), float("inf")),
        ("keep_double", 0.1, 0.1),
        ("keep_double", np.float64(0.1), 0.1),
        ("keep_double", ctypes.c_double(0.1), 0.1),
        # The code declares these parameters as floats, so integers are converted.
        ("keep_float", 2, 2.0),
        ("keep_float", -(2**40), -(2.0**40)),
        ("keep_float", True, 1.0),
        ("keep_float", np.int64(3), 3.0),
        ("keep_float", np.uint64(2**63), 2.0**63),
        ("keep_float", Index(), 11.0),
        ("keep_double", 2, 2.0),
        ("keep_double", -7, -7.0),
        ("keep_double", 2**70, 2.0**70),
        ("keep_double", np.int32(-3), -3.0),
    ],
)
def test_floats_arrive(run, kernel, value, expected):
    assert run(kernel, value, result=np.float64) == expected


@pytest.mark.parametrize("value", [1.5 - 2j, np.complex64(1.5 - 2j)])
def test_complex_numbers_arrive(run, value):
    assert run("keep_complex", value, result=np.float64, count=2).tolist() == [1.5, -2.0]


@pytest.mark.parametrize(
    "value",
    [
        Pair(3, 4.5),
        bytes(Pair(3, 4.5)),
        np.array((3, 4.5), np.dtype([("a", "i4"), ("b", "f8")], align=True))[()],
    ],
)
def test_structures_arrive(run, value):
    assert run("keep_pair", value, result=np.float64, count=2).tolist() == [3.0, 4.5]


@pytest.mark.parametrize(
    "value",
    [Pair(3, 4.5), bytes(Pair(3, 4.5))],
)
def test_a_structure_does_not_give_out_the_handle_of_the_stream(module, device, value):
    def capture_queries():
        with cuprum.trace.record() as timeline:
            device.allocate(64, stream=stream).close()
        return sum(each["name"] == "cuStreamIsCapturing" for each in timeline.events)

    stream = device.create_stream()
    kernel = module.get_kernel("keep_pair")
    with device.allocate(16, stream=stream) as buffer:
        launch(stream, ONE, kernel, buffer, value)
    assert capture_queries() == 0  # nobody else can capture the stream
    assert int(stream.handle) != 0
    assert capture_queries() > 0


def test_many_arguments_arrive(run):
    assert run("sixteen", *range(15)) == sum(range(15))


@pytest.mark.parametrize(
    ("kernel", "value", "error", "words"),
    [
        ("keep_int", 2**32, OverflowError, r"index 1 .*4294967296.*2\*\*31.*2\*\*32"),
        ("keep_int", -(2**31) - 1, OverflowError, r"index 1 .*-2147483649"),
        ("keep_char", 256, OverflowError, r"index 1 .*256.*2\*\*7.*2\*\*8"),
        ("keep_long", 2**64, OverflowError, r"index 1 .*18446744073709551616.*2\*\*64"),
        ("keep_long", -(2**63) - 1, OverflowError, r"index 1"),
        ("keep_int", np.int64(2**40), OverflowError, r"index 1 .*1099511627776"),
        ("keep_int", np.uint64(2**40), OverflowError, r"index 1 .*1099511627776"),
        ("keep_float", 1e300, OverflowError, r"index 1 .*4-byte float"),
        ("keep_float", np.float64(1), TypeError, r"has 8 bytes \(float64\).* 4 there; pass float"),
        ("keep_double", np.float32(1), TypeError, r"index 1 has 4 bytes \(float32\).* 8 there"),
        ("keep_short", 1.5, TypeError, r"index 1 is the float 1\.5.* a 2-byte integer .*int\("),
        ("keep_int", 1.5, TypeError, r"index 1 is the float 1\.5.* a 4-byte .*numpy\.float32"),
        ("keep_long", 2.0, TypeError, r"index 1 is the float 2\.0.* an 8-byte .*numpy\.float64"),
        ("keep_float", 10**400, OverflowError, r"too large"),
        ("keep_float", 10**100, OverflowError, r"index 1 does not fit.*4-byte float"),
        ("keep_pair", 3, TypeError, r"index 1 is an integer.*16 bytes"),
        ("keep_pair", b"short", TypeError, r"index 1 has 5 bytes \(bytes\).* 16 there"),
        ("keep_int", ctypes.c_double(1), TypeError, r"index 1 has 8 bytes.* 4 there"),
        ("keep_int", "text", TypeError, r"index 1 is of unsupported type str"),
        ("keep_int", None, TypeError, r"index 1 is of unsupported type None"),
        ("keep_long", np.zeros(1), TypeError, r"index 1 is a numpy array"),
        ("keep_long", None, TypeError, r"index 1 .*None; pass 0 for a null pointer"),
        ("keep_pair", memoryview(bytes(32))[::2], BufferError, r"index 1 .*one piece"),
        ("keep_float", 1e300, OverflowError, r"index 1 does not fit: 1e\+300 is"),
        ("keep_pair", np.zeros((), "f8,f8"), TypeError, r"index 1 is a numpy array"),
    ],
)
def test_what_cannot_be_passed_says_why(run, kernel, value, error, words):
    with pytest.raises(error, match=words):
        run(kernel, value)
    assert run("keep_int", 5) == 5


def test_a_float_for_a_pointer_is_refused(module, stream):
    with pytest.raises(TypeError, match=r"index 0 is the float 1\.5.* takes a"):
        launch(stream, ONE, module.get_kernel("add_one"), 1.5)


def test_bits_of_a_float_can_be_passed_for_an_integer(run):
    assert run("keep_int", np.float32(1.5)) == 0x3FC00000
    assert run("keep_int", ctypes.c_float(1.5)) == 0x3FC00000


@pytest.mark.parametrize("code_type", ["ptx", "cubin"])
def test_mangled_names_say_what_is_a_float(device, stream, code_type):
    source = "template <typename T> __global__ void put(T* out, T value) { *out = value; }"
    options = cuprum.ProgramOptions(arch=f"sm_{device.arch}")
    program = cuprum.Program(source, "c++", options)
    names = ("put<float>", "put<int>")
    code = program.compile(code_type, name_expressions=names)
    out = np.zeros(1, np.float32)
    with device.allocate(4, stream=stream) as buffer:
        launch(stream, ONE, code.get_kernel("put<float>"), buffer, 2)
        buffer.copy_to_host(out, stream=stream)
        stream.sync()
        assert out[0] == 2.0
        with pytest.raises(TypeError, match=r"index 1 is the float 2\.0"):
            launch(stream, ONE, code.get_kernel("put<int>"), buffer, 2.0)


@pytest.mark.parametrize("kept_in", ["memory", "pickle", "cache", "file"])
@pytest.mark.parametrize("code_type", ["ptx", "cubin"])
def test_kernels_of_c_convert_numbers_wherever_their_code_was(
    device, stream, tmp_path, code_type, kept_in
):
    source = 'extern "C" __global__ void put(float* out, float value) { *out = value; }'
    program = cuprum.Program(source, "c++", cuprum.ProgramOptions(arch=f"sm_{device.arch}"))
    if kept_in == "cache":
        with cuprum.utils.FileStreamProgramCache(tmp_path / "cache") as cache:
            program.compile(code_type, cache=cache)
            code = program.compile(code_type, cache=cache)
    else:
        code = program.compile(code_type)
    if kept_in == "pickle":
        code = pickle.loads(pickle.dumps(code))
    if kept_in == "file":
        (tmp_path / "code").write_bytes(code.code)
        read = getattr(cuprum.ObjectCode, f"from_{code_type}")
        code = read(str(tmp_path / "code"))
    kernel = code.get_kernel("put")
    out = np.zeros(1, np.float32)
    with device.allocate(4, stream=stream) as buffer:
        launch(stream, ONE, kernel, buffer, 2)
        buffer.copy_to_host(out, stream=stream)
        stream.sync()
        assert out[0] == 2.0
        with pytest.raises(TypeError, match=r"index 0 is the float 1\.5"):
            launch(stream, ONE, kernel, 1.5, 2)


def test_a_buffer_for_a_small_parameter_is_refused(module, device, stream):
    kernel = module.get_kernel("keep_int")
    with (
        device.allocate(8, stream=stream) as buffer,
        pytest.raises(TypeError, match=r"index 1 has 8 bytes \(Buffer\).*4 there.*pointer"),
    ):
        launch(stream, ONE, kernel, buffer, buffer)


@pytest.mark.parametrize("arguments", [(), (1, 2), (1, 2, 3)])
def test_a_wrong_count_gives_both_numbers(module, stream, arguments):
    text = f'kernel "add_one" takes 1 argument, {len(arguments)} given; .* bytes: 8$'
    with pytest.raises(TypeError, match=text):
        launch(stream, ONE, module.get_kernel("add_one"), *arguments)


def test_arguments_in_a_tuple_are_refused_with_the_way_out(module, stream):
    with pytest.raises(TypeError, match=r"takes 2 arguments, 1 given.*one by one, not as a tuple"):
        launch(stream, ONE, module.get_kernel("keep_int"), (0, 1))


def test_the_leading_arguments_are_checked(module, stream):
    kernel = module.get_kernel("empty")
    with pytest.raises(TypeError, match=r"device\.default_stream"):
        launch(None, ONE, kernel)
    with pytest.raises(TypeError, match="Stream or GraphBuilder expected for stream, got int"):
        launch(3, ONE, kernel)
    with pytest.raises(TypeError, match="config must be a LaunchConfig or a dict, got int"):
        launch(stream, 3, kernel)
    with pytest.raises(TypeError, match="kernel must be a Kernel, got ObjectCode; the order is"):
        launch(stream, ONE, module)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'kernel'"):
        launch(stream, ONE)
    with pytest.raises(TypeError, match=r"keyword argument 'block'.*kernel_args are positional"):
        launch(stream, ONE, kernel, block=1)


def test_the_leading_arguments_by_name(module, stream):
    with fail_call("cuLaunchKernelEx", nth=3):
        launch(config=ONE, kernel=module.get_kernel("empty"), stream=stream)
        launch(stream, kernel=module.get_kernel("empty"), config={"grid": 1, "block": 1})
        with pytest.raises(cuprum.CUDAError, match="cuLaunchKernelEx"):  # the third driver call
            launch(stream, ONE, kernel=module.get_kernel("empty"))
    stream.sync()


def test_a_closed_stream_is_not_the_default_stream(module, device):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(cuprum.ClosedError, match="Stream"):
        launch(stream, ONE, module.get_kernel("empty"))


def test_a_foreign_stream_works_and_warns(module, stream):
    class Foreign:
        def __cuda_stream__(self):
            return 0, stream.handle

    with pytest.warns(DeprecationWarning, match="create_stream"):
        launch(Foreign(), ONE, module.get_kernel("empty"))
    stream.sync()


def test_default_streams_take_launches(module, device):
    for stream in (cuprum.LEGACY_DEFAULT_STREAM, cuprum.PER_THREAD_DEFAULT_STREAM):
        with device.allocate(4, stream=stream) as buffer:
            buffer.fill(7, stream=stream)
            launch(stream, ONE, module.get_kernel("add_one"), buffer)
            result = bytearray(4)
            buffer.copy_to_host(result, stream=stream)
            stream.sync()
            assert result == b"\x08\x07\x07\x07"


def test_one_configuration_serves_many_threads(module, device):
    config = LaunchConfig(grid=4, block=32)
    kernel = module.get_kernel("add_one")
    results = []

    def work():
        stream = device.create_stream()
        out = np.empty(128, np.int32)
        with device.allocate(out.nbytes, stream=stream) as buffer:
            buffer.fill(0, stream=stream)
            for _ in range(20):
                launch(stream, config, kernel, buffer)
            buffer.copy_to_host(out, stream=stream)
            stream.sync()
        stream.close()
        results.append((out == 20).all())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


class Interface:
    """An array of another library, in device memory."""

    def __init__(self, buffer, stream=None):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "shape": (buffer.size,),
            "typestr": "|u1",
            "data": (int(buffer.handle), False),
            "version": 3,
            "stream": stream,
        }


def test_arrays_of_other_libraries_pass_their_address(module, device, stream):
    kernel = module.get_kernel("saxpy")
    ones = np.ones(4, np.float32)
    with (
        device.allocate(16, stream=stream) as x,
        device.allocate(16, stream=stream) as y,
    ):
        x.copy_from_host(ones, stream=stream)
        y.copy_from_host(ones, stream=stream)
        view = cuprum.utils.StridedMemoryView.from_any_interface(x, stream_ptr=-1)
        config = LaunchConfig(grid=1, block=4)
        launch(stream, config, kernel, 2.0, Interface(x), y, 4)
        launch(stream, config, kernel, 2.0, view, Interface(y, int(stream.handle)), 4)
        result = np.empty(4, np.float32)
        y.copy_to_host(result, stream=stream)
        stream.sync()
    assert result.tolist() == [5.0] * 4


def test_a_view_made_for_another_stream_is_waited_for(module, device, stream):
    other = device.create_stream()
    gate = threading.Event()
    ones = np.ones(4, np.float32)
    with (
        device.allocate(16, stream=stream) as source,
        device.allocate(16, stream=stream) as x,
        device.allocate(16, stream=stream) as y,
    ):
        source.copy_from_host(ones, stream=stream)
        y.copy_from_host(ones, stream=stream)
        x.fill(0, stream=stream)
        # The first launch may wait for the whole device. Make it before the device waits for this
        # test.
        saxpy, config = module.get_kernel("saxpy"), LaunchConfig(grid=1, block=4)
        launch(stream, config, saxpy, 0.0, x, y, 4)
        stream.sync()
        other.launch_host(gate.wait)
        x.copy_from(source, stream=other)
        view = cuprum.utils.StridedMemoryView.from_any_interface(
            Interface(x, int(other.handle)), stream_ptr=int(other.handle)
        )
        launch(stream, config, saxpy, 2.0, view, y, 4)
        marked = stream.record()
        assert not marked.is_done
        gate.set()
        result = np.empty(4, np.float32)
        y.copy_to_host(result, stream=stream)
        stream.sync()
    assert result.tolist() == [3.0] * 4


def test_driver_objects_pass_their_number(run):
    # Like those of the driver's Python bindings.
    bindings = type("CUtexObject", (), {"__int__": lambda self: 2**63 + 1})
    assert run("keep_long", bindings()) == 2**63 + 1 - 2**64
    with pytest.raises(TypeError, match="it stands for an address or handle"):
        run("keep_int", bindings())


def test_tensor_maps_pass_their_128_bytes(run):
    # Like those of the driver's Python bindings; for Cuprum's own see test_tensor_map.py.
    memory = (ctypes.c_ubyte * 128)(*range(128))
    bindings = type("CUtensorMap", (), {"getPtr": lambda self: ctypes.addressof(memory)})
    with pytest.raises(TypeError, match=r"index 1 has 128 bytes \(CUtensorMap\).* 4 there"):
        run("keep_int", bindings())
    assert run("keep_map", bindings()) == int.from_bytes(bytes(range(124, 128)), "little")


def test_a_closed_buffer_is_refused(run, device, stream):
    buffer = device.allocate(16, stream=stream)
    buffer.close()
    with pytest.raises(cuprum.ClosedError, match="Buffer"):
        run("keep_long", buffer)


def test_an_array_in_host_memory_is_refused(module, stream):
    kernel = module.get_kernel("saxpy")
    for host in (np.ones(4, np.float32), memoryview(bytes(4))):
        with pytest.raises(TypeError, match="argument at index 1"):
            launch(stream, ONE, kernel, 2.0, host, 0, 4)


def test_launches_leave_no_object_behind(module, stream):
    import gc
    import sys

    kernel = module.get_kernel("saxpy")
    config = LaunchConfig(grid=1, block=1)

    def many():
        for _ in range(100):
            launch(stream, config, kernel, 2.0, 0, 0, 0)

    many()
    stream.sync()
    gc.collect()
    before = sys.getallocatedblocks()
    many()
    assert sys.getallocatedblocks() - before < 20
    stream.sync()
