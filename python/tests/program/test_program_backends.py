# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""PTX, NVVM IR, headers, precompiled headers, cancelling, files for debuggers."""

import os
import re
import struct
import subprocess
import sys
import threading
import warnings

import pytest

import cuprum
from cuprum import LaunchConfig, Program, ProgramOptions, _cuprum

KERNEL = 'extern "C" __global__ void f(int* x) { *x = 42; }'
LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)


def nvvm_ir(body, kernel=None):
    version = re.search(
        r"IR (\d+)\.(\d+), debug (\d+)\.(\d+)", cuprum.compiler_version("nvvm")
    ).groups()
    numbers = ", ".join(f"i32 {number}" for number in version)
    text = f'target triple = "nvptx64-unknown-cuda"\ntarget datalayout = "{LAYOUT}"\n{body}\n'
    text += f"!nvvmir.version = !{{!0}}\n!0 = !{{{numbers}}}\n"
    if kernel:
        text += f'!nvvm.annotations = !{{!1}}\n!1 = !{{void (i32*)* @{kernel}, !"kernel", i32 1}}\n'
    return text


STORE = "define void @f(i32* %x) {\n  store i32 42, i32* %x\n  ret void\n}"
CALL = (
    "declare i32 @answer()\ndefine void @f(i32* %x) {\n  %v = call i32 @answer()\n"
    "  store i32 %v, i32* %x\n  ret void\n}"
)
ANSWER = "define i32 @answer() {\n  ret i32 42\n}"


def run(device, stream, code):
    buffer = device.allocate(4, stream=stream)
    cuprum.launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("f"), buffer)
    host = bytearray(4)
    buffer.copy_to_host(host, stream=stream)
    stream.sync()
    return struct.unpack("i", host)[0]


def test_ptx_compiles_to_a_cubin_that_runs(device, stream):
    ptx = Program(KERNEL, "c++").compile("ptx").code.decode()
    program = Program(ptx, "PTX", ProgramOptions(name="mine", max_register_count=64))
    assert program.backend == "nvJitLink"
    assert program.handle != 0
    code = program.compile("cubin")
    assert code.name == "mine"
    assert run(device, stream, code) == 42


def test_ptx_refuses_options_of_other_compilers():
    with pytest.raises(cuprum.UnsupportedOptionError, match=r"std is not .* PTX backend"):
        Program("", "ptx", {"std": "c++17"})
    with pytest.warns(UserWarning, match="numba_debug is ignored for code_type='ptx'"):
        Program("", "ptx", {"numba_debug": True})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Program("", "ptx", {"numba_debug": False})


@pytest.mark.parametrize("convert", [str, str.encode, lambda text: bytearray(text, "utf-8")])
def test_nvvm_ir_compiles_to_ptx_that_runs(device, stream, convert):
    program = Program(convert(nvvm_ir(STORE, "f")), "nvvm")
    assert program.backend == "NVVM"
    assert repr(program).startswith("<Program name='")
    assert repr(program).endswith(" backend='NVVM'>")
    assert run(device, stream, program.compile("ptx")) == 42
    assert len(program.compile("ltoir").code) > 0


def test_nvvm_takes_further_modules(device, stream):
    options = {"extra_sources": [("answer", nvvm_ir(ANSWER).encode())]}
    program = Program(nvvm_ir(CALL, "f"), "nvvm", options)
    assert run(device, stream, program.compile("ptx")) == 42


def test_nvvm_errors_have_log_and_options():
    program = Program("no IR", "nvvm", {"arch": "sm_90"})
    with pytest.raises(cuprum.NVVMError, match="NVVM program log") as caught:
        program.compile("ptx")
    assert caught.value.options == ["-arch=compute_90"]
    assert caught.value.log
    with pytest.raises(ValueError, match='target_type="cubin" for NVVM'):
        program.compile("cubin")


@pytest.mark.parametrize(
    ("sources", "error", "text"),
    [
        (3, TypeError, "sequence of 2-tuples"),
        (["x"], TypeError, "2-tuple"),
        ([(3, "x")], TypeError, "index 0 must be a string"),
        ([("a", 3)], TypeError, "index 0 must be str"),
        ([("a", b"")], ValueError, "'a'.*cannot be empty"),
    ],
)
def test_extra_sources_are_checked_in_form(sources, error, text):
    with pytest.raises(error, match=text):
        ProgramOptions(extra_sources=sources)


def test_headers_of_cuda_are_found_and_headers_in_memory_too():
    source = '#include <cuda_fp16.h>\n#include "mine.h"\n__global__ void f(__half* x) { *x = ONE; }'
    Program(source, "c++", {"headers": {"mine.h": "#define ONE __half(1)\n"}}).compile("ptx")
    with pytest.raises(cuprum.NVRTCError, match=r'"mine\.h" was not found; these directories'):
        Program(source, "c++").compile("ptx")
    with pytest.raises(TypeError, match="headers must map names to texts"):
        Program(source, "c++", {"headers": "mine.h"})
    assert all(os.path.isdir(folder) for folder in cuprum.default_include_directories())


def test_a_precompiled_header_has_a_status(tmp_path):
    source = "#include <cuda_fp16.h>\n__global__ void f() {}"
    program = Program(source, "c++", {"create_pch": tmp_path / "x.pch"})
    assert program.pch_status is None
    program.compile("ptx")
    assert program.pch_status == "created"
    assert isinstance(program.pch_status, cuprum.typing.PCHStatusType)
    assert (tmp_path / "x.pch").exists()
    plain = Program(source, "c++")
    plain.compile("ptx")
    assert plain.pch_status is None


def test_debuggers_find_the_source_as_long_as_the_code_lives(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = Program(KERNEL, "c++", {"debug": True})
    code = program.compile("ptx")
    assert re.fullmatch(r"test_program_backends_f_[a-z0-9]{8}\.cu", os.path.basename(code.name))
    with open(code.name) as file:
        assert file.read() == KERNEL
    program.close()
    assert os.path.exists(code.name)
    name = code.name
    del code
    assert not os.path.exists(name)


def test_cancel_ends_a_compilation_in_another_thread():
    lines = [
        f"__global__ void f{i}(float* x) {{ for (int i = 0; i < 64; ++i) x[i] = "
        f"sinf(x[i] + {i}) * powf(x[i], {i}.5f); }}"
        for i in range(1500)
    ]
    program = Program("\n".join(lines), "c++")
    finished = threading.Event()

    def cancel():
        while not finished.wait(0.05):
            program.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        with pytest.raises(cuprum.NVRTCError, match="NVRTC_ERROR_CANCELLED"):
            program.compile("cubin")
    finally:
        finished.set()
        thread.join()
    with pytest.raises(ValueError, match="cannot be cancelled"):
        Program("", "ptx").cancel()


def test_any_architecture_that_the_compiler_knows_can_be_compiled_for():
    known = cuprum.supported_architectures()
    assert known == sorted(known)
    for number in (known[0], known[-1]):
        assert len(Program(KERNEL, "c++", {"arch": f"sm_{number}"}).compile("cubin").code) > 100


def test_versions_of_compilers():
    for backend in ("NVRTC", "nvjitlink", "driver"):
        assert re.fullmatch(r"\d+\.\d+", cuprum.compiler_version(backend))
    with pytest.raises(ValueError, match="backend must be"):
        cuprum.compiler_version("gcc")


def test_libraries_of_packages_are_listed_before_those_of_a_toolkit(tmp_path):
    # Listing the libraries is the first use of CUDA in that process.
    known = {each.name: each.path for each in _cuprum.compiler_libraries()}
    folder = tmp_path / "nvidia/cu13/lib"
    folder.mkdir(parents=True)
    name = os.path.basename(known["NVRTC"])
    (folder / name).symlink_to(known["NVRTC"])
    program = "from cuprum import _cuprum; print(_cuprum.compiler_libraries()[0].path)"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {key: value for key, value in os.environ.items() if key != "CUPRUM_NVRTC"}
    listed = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout.strip() == str(folder / name)


def test_times_go_to_the_log_or_a_file(tmp_path):
    program = Program(KERNEL, "c++", {"time": True})
    program.compile("ptx")
    assert "phase" in program.log
    Program(KERNEL, "c++", {"time": tmp_path / "times.csv"}).compile("ptx")
    assert "phase" in (tmp_path / "times.csv").read_text()
