# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import inspect
import shutil
import struct
import subprocess
import warnings
import weakref

import pytest

import cuprum
from cuprum import LaunchConfig, Linker, LinkerOptions, ObjectCode, Program

CALLER = """
extern __device__ int twice(int);
extern "C" __global__ void caller(int* x) { *x = twice(21); }
"""
CALLED = "__device__ int twice(int x) { return 2 * x; }"


def parts(target):
    options = {"relocatable_device_code": True}
    return [Program(source, "c++", options).compile(target) for source in (CALLER, CALLED)]


def run(device, stream, code):
    buffer = device.allocate(4, stream=stream)
    cuprum.launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("caller"), buffer)
    return struct.unpack("i", read(buffer, stream))[0]


def read(buffer, stream):
    host = bytearray(buffer.size)
    buffer.copy_to_host(host, stream=stream)
    stream.sync()
    return bytes(host)


@pytest.mark.parametrize("target", ["ltoir", "ptx", "cubin"])
def test_links_code_that_runs(device, stream, target):
    linker = Linker(*parts(target))
    assert linker.backend == Linker.which_backend() == "nvJitLink"
    assert linker.handle != 0
    code = linker.link("cubin")
    assert (code.code_type, code.name) == ("cubin", "<default linker>")
    assert run(device, stream, code) == 42


@pytest.fixture
def nvcc(tmp_path):
    """Compile with nvcc, with PTX in the result; skip if nvcc is missing."""
    program = shutil.which("nvcc")
    if program is None:
        pytest.skip("there is no nvcc")

    def run_nvcc(*arguments):
        ended = subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, text=True)
        if ended.returncode != 0:
            pytest.skip(f"nvcc does not work here: {ended.stderr}")

    return run_nvcc


@pytest.mark.parametrize("kind", ["object", "library"])
def test_objects_and_libraries_of_nvcc_are_linked(device, stream, tmp_path, nvcc, kind):
    (tmp_path / "called.cu").write_text(CALLED)
    number = device.arch
    virtual = f"-gencode=arch=compute_{number},code=compute_{number}"
    real = f"-gencode=arch=compute_{number},code=sm_{number}"
    nvcc("-dc", virtual, real, "-o", "called.o", "called.cu")
    nvcc("-lib", "-o", "called.a", "called.o")
    caller = Program(CALLER, "c++", {"relocatable_device_code": True}).compile("cubin")
    file = tmp_path / {"object": "called.o", "library": "called.a"}[kind]
    for given in (file, file.read_bytes()):
        part = getattr(ObjectCode, f"from_{kind}")(given)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            code = Linker(caller, part).link("cubin")
        assert len(code.code) > 0
        if told:
            assert device.is_emulated
            assert "runs on GPUs only" in str(told[0].message)
            pytest.skip(str(told[0].message))
        assert run(device, stream, code) == 42


def test_links_lto_code_to_ptx(device, stream):
    code = Linker(*parts("ltoir"), options={"name": "mine"}).link("PTX")
    assert b".entry caller(" in code.code
    assert code.name == "mine"
    assert run(device, stream, code) == 42


def test_logs_are_kept_and_errors_have_them():
    linker = Linker(*parts("ptx"), options=LinkerOptions(time=True))
    linker.link("cubin")
    assert "time" in linker.get_info_log()
    assert linker.get_error_log() == ""
    broken = Linker(parts("ptx")[0])
    with pytest.raises(cuprum.LinkerError, match="twice") as caught:
        broken.link("cubin")
    assert "twice" in caught.value.log
    assert any(option.startswith("-arch=") for option in caught.value.options)
    assert "twice" in broken.get_error_log()


def test_bad_arguments():
    with pytest.raises(ValueError, match="At least one ObjectCode"):
        Linker()
    with pytest.raises(TypeError, match="ObjectCode objects, got bytes"):
        Linker(b"code")
    (part, _) = parts("ptx")
    with pytest.raises(TypeError, match="options must be LinkerOptions"):
        Linker(part, options=3)
    with pytest.raises(cuprum.LinkerError, match='arch is "99"'):
        Linker(part, options={"arch": "99"})
    with pytest.raises(ValueError, match='target_type must be "cubin" or "ptx"'):
        Linker(part).link("ltoir")
    with pytest.raises(ValueError, match="backend must be"):
        Linker(part, options={"backend": "gcc"})


def test_options_that_the_driver_does_not_have_are_refused():
    (part, _) = parts("ptx")
    for option in ({"time": True}, {"ftz": False}, {"ptxas_options": "-v"}, {"split_compile": 0}):
        with pytest.raises(cuprum.UnsupportedOptionError, match=f"{next(iter(option))} option"):
            Linker(part, options={"backend": "driver", **option})


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({}, []),
        ({"debug": True, "lineinfo": True}, [b"-g", b"-lineinfo"]),
        ({"time": False, "optimize_unused_variables": False}, []),
        ({"kernels_used": "a"}, [b"-kernels-used=a"]),
        ({"kernels_used": ("a", "b")}, [b"-kernels-used=a", b"-kernels-used=b"]),
        ({"variables_used": ["v"]}, [b"-variables-used=v"]),
        ({"ptxas_options": ("-v", "-O2")}, [b"-Xptxas=-v", b"-Xptxas=-O2"]),
        ({"ftz": True, "fma": False}, [b"-ftz=true", b"-fma=false"]),
        ({"split_compile": 0, "no_cache": True}, [b"-split-compile=0", b"-no-cache"]),
        ({"max_register_count": 32}, [b"-maxrregcount=32"]),
        ({"name": None}, []),
    ],
)
def test_options_as_bytes(options, flags):
    assert LinkerOptions(arch="sm_90", **options).as_bytes() == [b"-arch=sm_90", *flags]


def test_as_bytes_knows_only_nvjitlink():
    with pytest.raises(ValueError, match="only supports 'nvjitlink' backend"):
        LinkerOptions(arch="sm_90").as_bytes("driver")


def test_an_option_without_effect_says_so():
    with pytest.warns(DeprecationWarning, match="numba_debug is not supported"):
        LinkerOptions(numba_debug=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinkerOptions(debug=True)


def test_which_backend_is_a_class_method():
    assert isinstance(inspect.getattr_static(Linker, "which_backend"), classmethod)
    assert isinstance(Linker.which_backend(), cuprum.typing.CompilerBackendType)


def test_a_closed_linker_says_so():
    linker = Linker(*parts("ptx"))
    assert weakref.ref(linker)() is linker
    assert repr(linker) == "<Linker name='<default linker>' backend='nvJitLink'>"
    linker.close()
    linker.close()
    assert repr(linker) == "<Linker closed>"
    with pytest.raises(cuprum.ClosedError, match="Linker"):
        linker.link("cubin")


def test_code_from_a_file_is_linked(device, stream, tmp_path):
    for name, part in zip(("a.ptx", "b.ptx"), parts("ptx"), strict=True):
        (tmp_path / name).write_bytes(part.code)
    codes = [ObjectCode.from_ptx(tmp_path / name) for name in ("a.ptx", "b.ptx")]
    assert run(device, stream, Linker(*codes).link("cubin")) == 42


def test_the_driver_links_kernels_that_launch_kernels(device, stream):
    if not device.is_emulated:
        pytest.skip("a GPU needs libcudadevrt for this")
    source = """
extern "C" __global__ void child(int* x) { atomicAdd(x, 21); }
extern "C" __global__ void caller(int* x) { *x = 0; child<<<1, 2>>>(x); }
"""
    code = Program(source, "c++", {"relocatable_device_code": True}).compile("ptx")
    # Before 12.9, nvJitLink does not say what is missing.
    reason = r"need CUDA's libcudadevrt.*backend \"driver\"|writes the reason"
    with pytest.raises(cuprum.LinkerError, match=reason):
        Linker(code, options={"backend": "nvJitLink"}).link("cubin")
    assert run(device, stream, Linker(code, options={"backend": "driver"}).link("cubin")) == 42
