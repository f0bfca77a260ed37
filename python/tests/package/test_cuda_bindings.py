# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""NVIDIA's own bindings on the emulated device.

Each test runs a program in a new process. The program finds the emulated driver by the name
``libcuda.so.1``, like any program without Cuprum.
"""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cuprum import Device

pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

PREAMBLE = '''
import ctypes
import numpy
from cuda.bindings import driver, nvrtc


def check(result):
    """Return the results of a call, whose code must be success."""
    code, *values = result
    assert int(code) == 0, result
    return values[0] if len(values) == 1 else values


def compile_ptx(source, *options):
    program = check(nvrtc.nvrtcCreateProgram(source.encode(), b"test.cu", 0, [], []))
    check(nvrtc.nvrtcCompileProgram(program, len(options), list(options)))
    size = check(nvrtc.nvrtcGetPTXSize(program))
    ptx = b" " * size
    check(nvrtc.nvrtcGetPTX(program, ptx))
    check(nvrtc.nvrtcDestroyProgram(program))
    return ptx


check(driver.cuInit(0))
device = check(driver.cuDeviceGet(0))
name = check(driver.cuDeviceGetName(64, device))
assert b"Emulated" in name, name
context = check(driver.cuDevicePrimaryCtxRetain(device))
check(driver.cuCtxSetCurrent(context))
'''


@pytest.fixture(scope="module")
def driver_folder():
    """The folder of the emulated driver that this process uses."""
    device = Device()
    if not device.is_emulated:
        pytest.skip("this is about the emulated device")
    device.set_current()
    with Path("/proc/self/maps").open() as maps:
        found = re.search(r"(/\S*)/libcuda\.so\.1\n", maps.read())
    assert found, "the emulated driver is loaded, but not mapped from a libcuda.so.1"
    return found[1]


@pytest.fixture
def run(driver_folder):
    """A function that runs a program on the emulated driver and returns its output."""

    def run_program(body, **settings):
        path = os.pathsep.join(filter(None, [driver_folder, os.environ.get("LD_LIBRARY_PATH")]))
        done = subprocess.run(
            [sys.executable, "-c", PREAMBLE + textwrap.dedent(body)],
            env=os.environ | {"LD_LIBRARY_PATH": path} | settings,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run_program


def test_a_module_compiled_by_nvrtc_is_loaded_and_launched(run):
    run(
        """
        ptx = compile_ptx('''
        extern "C" __global__ void scale(float* out, const float* in, float factor, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) out[i] = in[i] * factor;
        }''', b"--gpu-architecture=compute_80")
        module = check(driver.cuModuleLoadData(ptx))
        kernel = check(driver.cuModuleGetFunction(module, b"scale"))
        n = 1000
        values = numpy.arange(n, dtype=numpy.float32)
        source = check(driver.cuMemAlloc(values.nbytes))
        target = check(driver.cuMemAlloc(values.nbytes))
        stream = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        check(driver.cuMemcpyHtoDAsync(source, values.ctypes.data, values.nbytes, stream))
        arguments = ((target, source, 2.5, n), (None, None, ctypes.c_float, ctypes.c_int))
        check(driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, arguments, 0))
        result = numpy.empty_like(values)
        check(driver.cuMemcpyDtoHAsync(result.ctypes.data, target, result.nbytes, stream))
        check(driver.cuStreamSynchronize(stream))
        assert (result == values * numpy.float32(2.5)).all()
        check(driver.cuMemFree(source))
        check(driver.cuMemFree(target))
        check(driver.cuStreamDestroy(stream))
        check(driver.cuModuleUnload(module))
        """
    )


def test_memory_of_every_kind_is_set_copied_and_described(run):
    run(
        """
        memory = check(driver.cuMemAlloc(4096))
        check(driver.cuMemsetD32(memory, 7, 1024))
        host = numpy.zeros(1024, dtype=numpy.uint32)
        check(driver.cuMemcpyDtoH(host.ctypes.data, memory, host.nbytes))
        assert (host == 7).all()
        kind = check(driver.cuPointerGetAttribute(
            driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory))
        assert int(kind) == int(driver.CUmemorytype.CU_MEMORYTYPE_DEVICE)
        pinned = check(driver.cuMemHostAlloc(64, 0))
        managed = check(driver.cuMemAllocManaged(
            64, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
        ctypes.c_uint.from_address(int(managed)).value = 5
        check(driver.cuMemcpyDtoD(memory, managed, 4))
        check(driver.cuMemcpyDtoH(host.ctypes.data, memory, 4))
        assert host[0] == 5
        stream = check(driver.cuStreamCreate(0))
        pooled = check(driver.cuMemAllocAsync(1 << 20, stream))
        check(driver.cuMemFreeAsync(pooled, stream))
        check(driver.cuStreamSynchronize(stream))
        free, total = check(driver.cuMemGetInfo())
        assert 0 < free <= total
        check(driver.cuMemFreeHost(pinned))
        for address in (memory, managed):
            check(driver.cuMemFree(address))
        code, = driver.cuMemFree(memory)
        assert code == driver.CUresult.CUDA_ERROR_INVALID_VALUE
        """
    )


def test_events_order_streams_and_measure_time(run):
    run(
        """
        first = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        second = check(driver.cuStreamCreateWithPriority(
            driver.CUstream_flags.CU_STREAM_NON_BLOCKING, -1))
        begin = check(driver.cuEventCreate(0))
        end = check(driver.cuEventCreate(0))
        memory = check(driver.cuMemAlloc(1 << 22))
        check(driver.cuEventRecord(begin, first))
        check(driver.cuMemsetD8Async(memory, 1, 1 << 22, first))
        check(driver.cuEventRecord(end, first))
        check(driver.cuStreamWaitEvent(second, end, 0))
        check(driver.cuMemsetD8Async(memory, 2, 1, second))
        check(driver.cuStreamSynchronize(second))
        assert check(driver.cuEventElapsedTime(begin, end)) >= 0
        byte = numpy.zeros(2, dtype=numpy.uint8)
        check(driver.cuMemcpyDtoH(byte.ctypes.data, memory, 2))
        assert byte.tolist() == [2, 1]
        assert int(check(driver.cuStreamGetPriority(second))) == -1
        """
    )


def test_libraries_linking_and_kernel_attributes(run):
    run(
        """
        options = (b"--gpu-architecture=compute_80", b"-rdc=true")
        parts = [
            compile_ptx('''
            extern __device__ int table[4];
            extern __device__ int twice(int);
            extern "C" __global__ void fill(int* out) {
                out[threadIdx.x] = twice(threadIdx.x) + table[threadIdx.x];
            }''', *options),
            compile_ptx('''
            __device__ int table[4] = {10, 20, 30, 40};
            __device__ int twice(int x) { return 2 * x; }
            ''', *options),
        ]
        link = check(driver.cuLinkCreate(0, [], []))
        for index, part in enumerate(parts):
            check(driver.cuLinkAddData(link, driver.CUjitInputType.CU_JIT_INPUT_PTX, part,
                                       len(part), f"part {index}".encode(), 0, [], []))
        image, size = check(driver.cuLinkComplete(link))
        library = check(driver.cuLibraryLoadData(image, [], [], 0, [], [], 0))
        kernel = check(driver.cuLibraryGetKernel(library, b"fill"))
        assert check(driver.cuKernelGetParamInfo(kernel, 0)) == [0, 8]
        threads = check(driver.cuKernelGetAttribute(
            driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, device))
        assert threads == 1024
        memory = check(driver.cuMemAlloc(16))
        function = check(driver.cuKernelGetFunction(kernel))
        check(driver.cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, 0, ((memory,), (None,)), 0))
        result = numpy.zeros(4, dtype=numpy.int32)
        check(driver.cuMemcpyDtoH(result.ctypes.data, memory, result.nbytes))
        assert result.tolist() == [10, 22, 34, 46]
        check(driver.cuLibraryUnload(library))
        check(driver.cuLinkDestroy(link))
        """
    )


def test_what_a_kernel_prints_appears_and_a_fault_is_sticky(run):
    output = run(
        """
        ptx = compile_ptx('''
        extern "C" __global__ void hello(int x) { printf("hello %d\\\\n", x); }
        extern "C" __global__ void wild(int* p) { *p = 1; }
        ''', b"--gpu-architecture=compute_80")
        module = check(driver.cuModuleLoadData(ptx))
        hello = check(driver.cuModuleGetFunction(module, b"hello"))
        wild = check(driver.cuModuleGetFunction(module, b"wild"))
        check(driver.cuLaunchKernel(hello, 1, 1, 1, 1, 1, 1, 0, 0, ((42,), (ctypes.c_int,)), 0))
        check(driver.cuCtxSynchronize())
        arguments = ((64,), (ctypes.c_void_p,))
        check(driver.cuLaunchKernel(wild, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0))
        fault = driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
        assert driver.cuCtxSynchronize()[0] == fault
        assert driver.cuMemAlloc(4)[0] == fault
        """,
        CUPRUM_EMULATOR_LOG="off",
    )
    assert "hello 42" in output


def test_settings_apply(run):
    run(
        """
        assert check(driver.cuDeviceGetCount()) == 3
        attribute = driver.CUdevice_attribute
        assert check(driver.cuDeviceGetAttribute(
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 2)) == 9
        """,
        CUPRUM_EMULATOR_DEVICES="3",
        CUPRUM_EMULATOR_COMPUTE_CAPABILITY="9.0",
    )


@pytest.fixture
def run_by_command(driver_folder, tmp_path):
    """A function that runs a program by ``cuprum-emulator run`` and returns its output."""
    from cuprum._command.run import find_command

    command = find_command()
    if command is None or not (Path(driver_folder) / "compilers").is_dir():
        pytest.skip("the command cuprum-emulator is not installed")

    def run_program(body, **settings):
        file = tmp_path / "program.py"
        file.write_text(textwrap.dedent(body))
        done = subprocess.run(
            [command, "run", sys.executable, file],
            env=os.environ | {"ASAN_OPTIONS": "verify_asan_link_order=0"} | settings,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run_program


def test_the_runtime_has_devices_memory_and_streams(run_by_command):
    output = run_by_command(
        """
        import numpy
        from cuda.bindings import driver, runtime

        def check(result):
            code, *values = result
            assert code == runtime.cudaError_t.cudaSuccess, result
            return values[0] if len(values) == 1 else values

        print(runtime.cudaDeviceSynchronize(), runtime.cudaGetDeviceCount())
        assert check(runtime.cudaDeviceGetPCIBusId(13, 1)).startswith(b"0000:")
        assert runtime.cudaDeviceGetPCIBusId(13, 7)[0] == runtime.cudaError_t.cudaErrorInvalidDevice
        assert int(driver.cuCtxGetCurrent()[1]) != 0
        properties = check(runtime.cudaGetDeviceProperties(0))
        print(properties.name.decode(), properties.warpSize)
        stream = check(runtime.cudaStreamCreate())
        values = numpy.arange(1000, dtype=numpy.float32)
        result = numpy.empty_like(values)
        memory = check(runtime.cudaMallocAsync(values.nbytes, stream))
        to_device = runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
        to_host = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
        check(runtime.cudaMemcpyAsync(memory, values.ctypes.data, values.nbytes, to_device, stream))
        check(runtime.cudaMemcpyAsync(result.ctypes.data, memory, values.nbytes, to_host, stream))
        check(runtime.cudaFreeAsync(memory, stream))
        check(runtime.cudaStreamSynchronize(stream))
        assert (result == values).all()
        check(runtime.cudaStreamDestroy(stream))
        assert runtime.cudaFree(12345)[0] == runtime.cudaError_t.cudaErrorInvalidValue
        assert check(runtime.cudaGetErrorString(runtime.cudaError_t.cudaErrorInvalidDevice))
        """,
        CUPRUM_EMULATOR_DEVICES="2",
    )
    first, second = output.splitlines()
    assert first == "(<cudaError_t.cudaSuccess: 0>,) (<cudaError_t.cudaSuccess: 0>, 2)"
    assert second == "Cuprum Emulated Device 32"


def test_stream_0_of_the_runtime_can_be_one_per_thread(run_by_command):
    program = """
        from cuda.bindings import runtime

        def check(result):
            code, *values = result
            assert code == runtime.cudaError_t.cudaSuccess, result
            return values[0] if len(values) == 1 else values

        check(runtime.cudaSetDevice(0))
        of_null = check(runtime.cudaStreamGetId(0))
        print(of_null == check(runtime.cudaStreamGetId(runtime.cudaStreamPerThread)))
        """
    setting = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM"
    assert run_by_command(program, **{setting: "0"}) == "False\n"
    assert run_by_command(program, **{setting: "1"}) == "True\n"


def test_a_sitecustomize_of_the_user_runs_too(run_by_command, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.own = 1\n")
    assert run_by_command("import sys; print(sys.own)", PYTHONPATH=str(tmp_path)) == "1\n"


def test_threads_import_the_runtime_at_the_same_time(run_by_command):
    program = """
        import importlib.util, sys, threading

        finder = sys.meta_path[0]
        is_inside, may_go_on = threading.Event(), threading.Event()
        find_spec = importlib.util.find_spec

        def find_slowly(name):
            if threading.current_thread() is other:
                is_inside.set()
                may_go_on.wait(60)
            return find_spec(name)

        names = [name for name in sys.modules["sitecustomize"]._CHANGES if name != "torch"]
        name = next(name for name in names if find_spec(name) is not None)
        importlib.util.find_spec = find_slowly
        other = threading.Thread(target=finder.find_spec, args=(name, None))
        other.start()
        is_inside.wait(60)
        spec = finder.find_spec(name, None)
        may_go_on.set()
        other.join()
        print(type(spec.loader).__module__)
        """
    assert run_by_command(program) == "sitecustomize\n"


def test_machine_code_of_nvrtc_is_loaded(run_by_command):
    run_by_command(
        PREAMBLE
        + textwrap.dedent("""
        source = b'extern "C" __global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }'
        program = check(nvrtc.nvrtcCreateProgram(source, b"fill.cu", 0, [], []))
        check(nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_90"]))
        code = b" " * check(nvrtc.nvrtcGetCUBINSize(program))
        check(nvrtc.nvrtcGetCUBIN(program, code))
        kernel = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(code)), b"fill"))
        memory = check(driver.cuMemAlloc(128))
        arguments = ((memory,), (None,))
        check(driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0))
        out = numpy.zeros(32, dtype=numpy.int32)
        check(driver.cuMemcpyDtoH(out.ctypes.data, memory, 128))
        assert (out == numpy.arange(32)).all()
        """)
    )


def test_fatbins_take_the_code_of_nvrtc(run_by_command):
    pytest.importorskip("cuda.bindings.nvfatbin")
    output = run_by_command(
        PREAMBLE
        + textwrap.dedent("""
        from cuda.bindings import nvfatbin

        try:
            nvfatbin.version()
        except Exception:
            print("missing")
            raise SystemExit
        source = b'extern "C" __global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }'
        program = check(nvrtc.nvrtcCreateProgram(source, b"fill.cu", 0, [], []))
        check(nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_90"]))
        code = b" " * check(nvrtc.nvrtcGetCUBINSize(program))
        check(nvrtc.nvrtcGetCUBIN(program, code))
        handle = nvfatbin.create([], 0)
        contents = code[16:]
        two_entries = code[:8] + (2 * len(contents)).to_bytes(8, "little") + 2 * contents
        for wrong, architecture in ((code, "75"), (code[:-8], "90"), (two_entries, "90")):
            try:
                nvfatbin.add_cubin(handle, wrong, len(wrong), architecture, "fill")
                raise AssertionError("not refused")
            except nvfatbin.nvFatbinError as error:
                print(str(error).split()[0])
        nvfatbin.add_cubin(handle, code, len(code), "90", "fill")
        fatbin = bytearray(nvfatbin.size(handle))
        nvfatbin.get(handle, fatbin)
        nvfatbin.destroy(handle)
        module = check(driver.cuModuleLoadData(bytearray(fatbin)))
        kernel = check(driver.cuModuleGetFunction(module, b"fill"))
        memory = check(driver.cuMemAlloc(128))
        check(driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, ((memory,), (None,)), 0))
        out = numpy.zeros(32, dtype=numpy.int32)
        check(driver.cuMemcpyDtoH(out.ctypes.data, memory, 128))
        assert (out == numpy.arange(32)).all()
        """)
    )
    if output == "missing\n":
        pytest.skip("NVIDIA's nvFatbin is not installed")
    assert "ELF_ARCH_MISMATCH" in output
    assert output.count("ELF_SIZE_MISMATCH") == 2
