# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What every version of CUDA's compilers must do: tools/test-matrix runs this file with each.

Ordinary test runs use the compilers that are installed, and PTX that newer ones made.
"""

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuprum
from cuprum import LaunchConfig, Linker, Program, _cuprum

# The versions that tools/test-matrix has installed: "12.4 12.4 12.4" for NVRTC, nvJitLink, libNVVM.
EXPECTED = os.environ.get("CUPRUM_MATRIX_VERSIONS", "").split()
DATA = Path(__file__).parent / "newer_ptx"

# Many features of the language, with results that the host can check.
FEATURES = r"""
#include <cuda_fp16.h>
template <typename T> __device__ T sum_of_warp(T value) {
    for (int offset = 16; offset != 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}
struct Shape {
    __device__ virtual float area(float x) const { return x; }
};
struct Square : Shape {
    __device__ float area(float x) const override { return x * x; }
};
__constant__ float weights[2] = {1.5f, 2.5f};
extern "C" __global__ void features(float* out, int* counts, const float* in, int n) {
    extern __shared__ float dynamic[];
    __shared__ float partial[8];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = i < n ? in[i] : 0.0f;
    dynamic[threadIdx.x] = x;
    __syncthreads();
    const float neighbour = dynamic[(threadIdx.x + 1) % blockDim.x];
    const float total = sum_of_warp(x);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        float block = 0;
        for (int warp = 0; warp < blockDim.x / 32; ++warp) block += partial[warp];
        atomicAdd(&out[n], block);
    }
    atomicAdd(&counts[i % 4], 1);
    const Square square;
    const Shape* shape = &square;
    const __half half = __float2half(x * 0.5f);
    if (i < n) {
        out[i] = neighbour * weights[i % 2] + shape->area(x) + __half2float(half)
               + (float)(__popc(i) + __clz(i + 1)) + (float)sqrt((double)x);
    }
}
"""
KERNEL = 'extern "C" __global__ void f(int* x) { *x = 42; }'
TEMPLATE = "template <typename T> __global__ void fill(T* x, T v) { x[threadIdx.x] = v; }"
CALLER = """
extern __device__ int twice(int);
extern "C" __global__ void f(int* x) { *x = twice(21); }
"""
CALLED = "__device__ int twice(int x) { return 2 * x; }"
LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)


def version_of(backend):
    """Return (12, 4) for a compiler of CUDA 12.4."""
    return tuple(int(part) for part in cuprum.compiler_version(backend).split(".")[:2])


def needs(backend, *version):
    """Skip a test if the compiler is older."""
    found = version_of(backend)
    if found < version:
        pytest.skip(f"needs {backend} {version[0]}.{version[1]}, found {found[0]}.{found[1]}")


def run_f(device, stream, code):
    """Run the kernel f and return the int that it stored."""
    buffer = device.allocate(4, stream=stream)
    cuprum.launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("f"), buffer)
    host = bytearray(4)
    buffer.copy_to_host(host, stream=stream)
    stream.sync()
    return struct.unpack("i", host)[0]


def check_features(device, stream, code):
    """Run the kernel of FEATURES and compare with numpy."""
    n, threads = 500, 128
    x = (np.arange(n) % 17).astype(np.float32)
    out = np.zeros(n + 1, np.float32)
    counts = np.zeros(4, np.int32)
    register = cuprum.utils.register_host_memory
    with register(out) as to, register(counts) as count, register(x) as source:
        config = LaunchConfig(grid=4, block=threads, shmem_size=threads * 4)
        cuprum.launch(stream, config, code.get_kernel("features"), to, count, source, np.int32(n))
        stream.sync()
    i = np.arange(n)
    padded = np.concatenate([x, np.zeros(4 * threads - n, np.float32)])
    neighbour = padded.reshape(4, threads)[:, np.r_[1:threads, 0]].reshape(-1)[:n]
    ones = np.array([bin(each).count("1") for each in i])
    zeros = np.array([32 - int(each + 1).bit_length() for each in i])
    expected = neighbour * np.where(i % 2 == 0, 1.5, 2.5) + x * x + x * 0.5 + ones + zeros
    np.testing.assert_allclose(out[:n], expected + np.sqrt(x.astype(np.float64)), rtol=1e-6)
    assert out[n] == x.sum()
    assert counts.tolist() == [128] * 4


def parts(target):
    """Compile two sources that need each other."""
    options = {"relocatable_device_code": True}
    return [Program(source, "c++", options).compile(target) for source in (CALLER, CALLED)]


def nvvm_ir():
    """Return IR of a kernel f, in the version that the library wants."""
    numbers = re.search(r"IR (\d+)\.(\d+), debug (\d+)\.(\d+)", cuprum.compiler_version("nvvm"))
    version = ", ".join(f"i32 {number}" for number in numbers.groups())
    return (
        f'target triple = "nvptx64-unknown-cuda"\ntarget datalayout = "{LAYOUT}"\n'
        # Without this, link-time optimisation drops the kernel.
        "@llvm.used = appending global [1 x i8*] [i8* bitcast (void (i32*)* @f to i8*)], "
        'section "llvm.metadata"\n'
        "define void @f(i32* %x) {\n  store i32 42, i32* %x\n  ret void\n}\n"
        '!nvvm.annotations = !{!1}\n!1 = !{void (i32*)* @f, !"kernel", i32 1}\n'
        f"!nvvmir.version = !{{!0}}\n!0 = !{{{version}}}\n"
    )


# ---- which libraries -----------------------------------------------------------------------------


def test_libraries():
    assert cuprum.compiler_version("nvrtc").startswith(EXPECTED[0] if EXPECTED else "")
    found = {each.name: each for each in _cuprum.compiler_libraries()}
    for name, version in zip(("NVRTC", "nvJitLink", "NVVM"), EXPECTED, strict=False):
        assert found[name].version.startswith(version), (name, found[name].version)
        assert sys.prefix in found[name].path, f"{name} comes from {found[name].path}"
    assert found["NVRTC"].version


# ---- NVRTC ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_features(device, stream, target):
    code = Program(FEATURES, "c++").compile(target)
    check_features(device, stream, code)


def test_templates(device, stream):
    names = ["fill<float>", "fill<unsigned char>"]
    code = Program(TEMPLATE, "c++").compile("cubin", name_expressions=names)
    x = np.zeros(4, np.float32)
    with cuprum.utils.register_host_memory(x) as buffer:
        kernel = code.get_kernel("fill<float>")
        cuprum.launch(stream, LaunchConfig(grid=1, block=4), kernel, buffer, np.float32(2.5))
        stream.sync()
    assert x.tolist() == [2.5] * 4
    assert code.get_kernel("fill<unsigned char>").num_arguments == 2


def test_debug_information(device, stream):
    for options in ({"lineinfo": True}, {"debug": True}):
        check_features(device, stream, Program(FEATURES, "c++", options).compile("ptx"))


def test_error_log():
    program = Program('extern "C" __global__ void f() { undeclared(); }', "c++")
    with pytest.raises(cuprum.NVRTCError, match="undeclared") as caught:
        program.compile("ptx")
    assert "NVRTC_ERROR_COMPILATION" in str(caught.value)
    assert "default_program(1): error" in caught.value.log


def test_newer_options(tmp_path):
    # Each needs a version; an older compiler refuses it, and the error says which one is loaded.
    found = version_of("nvrtc")
    program = Program(KERNEL, "c++", {"create_pch": tmp_path / "x.pch"})
    if found >= (12, 8):
        program.compile("ptx")
        assert program.pch_status == "created"
    else:
        with pytest.raises(cuprum.NVRTCError) as caught:
            program.compile("ptx")
        assert "--create-pch" in str(caught.value)
        assert f"NVRTC {found[0]}.{found[1]} does not know" in str(caught.value)
        assert "needs CUDA 12.8" in str(caught.value)
    if found < (12, 8):
        with pytest.raises(
            cuprum.NotSupportedError, match=r"nvrtcSetFlowCallback.*needs CUDA 12\.8"
        ):
            Program(KERNEL, "c++").cancel()


def test_unknown_architectures():
    with pytest.raises(cuprum.NVRTCError, match="invalid value for --gpu-architecture"):
        Program(KERNEL, "c++", {"arch": "sm_999"}).compile("ptx")
    known = cuprum.supported_architectures()
    assert 90 in known
    for number in (known[0], known[-1]):
        assert (
            b".target sm_" in Program(KERNEL, "c++", {"arch": f"sm_{number}"}).compile("ptx").code
        )


def test_newer_devices():
    # From compute capability 10 on, compilers write another dialect of PTX.
    newest = [each for each in cuprum.supported_architectures() if each >= 100 and each != 101]
    if not newest:
        pytest.skip("NVRTC knows no architecture from sm_100 on")
    if not cuprum.Device().is_emulated:
        pytest.skip("the compute capability of a GPU is fixed")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_compiler_matrix as tests\n"
        "device = tests.cuprum.Device(); device.set_current(); stream = device.create_stream()\n"
        "code = tests.Program(tests.FEATURES, 'c++').compile('ptx')\n"
        "tests.check_features(device, stream, code)\n"
    )
    for number in newest:
        capability = f"{number // 10}.{number % 10}"
        environment = {**os.environ, "CUPRUM_EMULATOR_COMPUTE_CAPABILITY": capability}
        ended = subprocess.run(
            [sys.executable, "-c", program, str(Path(__file__).parent)],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, f"sm_{number}: {ended.stderr}"


# ---- nvJitLink -----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["ltoir", "ptx", "cubin"])
def test_links(device, stream, target):
    linker = Linker(*parts(target))
    assert linker.backend == "nvJitLink"
    assert run_f(device, stream, linker.link("cubin")) == 42


def test_links_to_ptx(device, stream):
    code = Linker(*parts("ltoir"), options={"link_time_optimization": True}).link("ptx")
    assert b".version" in code.code
    assert run_f(device, stream, code) == 42


def test_link_errors():
    linker = Linker(parts("ptx")[0])
    with pytest.raises(cuprum.LinkerError) as caught:
        linker.link("cubin")
    assert "nvJitLinkComplete" in str(caught.value)
    if version_of("nvjitlink") >= (12, 9):
        assert "twice" in caught.value.log
    else:
        assert "writes the reason, such as an undefined symbol, to stderr" in str(caught.value)


# ---- libNVVM -------------------------------------------------------------------------------------


def test_nvvm(device, stream):
    program = Program(nvvm_ir(), "nvvm")
    assert run_f(device, stream, program.compile("ptx")) == 42


def test_nvvm_lto(device, stream):
    code = Program(nvvm_ir(), "nvvm").compile("ltoir")
    linker = Linker(code, options={"link_time_optimization": True})
    assert run_f(device, stream, linker.link("cubin")) == 42


def test_nvvm_errors():
    with pytest.raises(cuprum.NVVMError) as caught:
        Program("no IR", "nvvm").compile("ptx")
    assert caught.value.log


# ---- PTX of newer compilers ----------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(DATA.glob("*.ptx")), ids=lambda path: path.stem)
def test_recorded_ptx(device, stream, path):
    code = path.read_bytes()
    version = re.search(rb"\.version (\d+)\.(\d+)", code)
    if not device.is_emulated and cuprum.driver_version() < 13000 + 10 * int(version[2]):
        pytest.skip("the driver is older than the compiler")
    check_features(device, stream, cuprum.ObjectCode.from_ptx(code))


def test_recorded_ptx_of_unknown_versions(device):
    # One line in the log for the whole process; only an unknown instruction is refused.
    if not device.is_emulated:
        pytest.skip("a driver refuses PTX of versions that it does not know")
    program = (
        "import sys, cuprum\n"
        "text = open(sys.argv[1]).read().replace('.version 9.4', '.version 9.9')\n"
        "cuprum.Device().set_current()\n"
        "for name in ('one', 'two'):\n"
        "    cuprum.ObjectCode.from_ptx(text.encode(), name=name).get_kernel('features')\n"
        "try:\n"
        "    text = text.replace('ret;', 'frobnicate.u32; ret;', 1)\n"
        "    cuprum.ObjectCode.from_ptx(text.encode()).get_kernel('features')\n"
        "except cuprum.CUDAError as error:\n"
        "    print(error)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(DATA / "nvrtc_13_4.ptx")],
        env={**os.environ, "CUPRUM_EMULATOR_LOG": "warn"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    warnings = [line for line in ended.stderr.splitlines() if "warn" in line]
    assert len(warnings) == 1, ended.stderr
    assert "PTX ISA 9.9, newer than version 9.4" in warnings[0]
    assert "'frobnicate.u32' is not an instruction of PTX ISA 9.4" in ended.stdout + ended.stderr
