# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The stand-ins for ptxas and nvJitLink are used only on request, with a GPU and without one."""

import mmap
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import cuprum
import cuprum.triton

# What a program does without `cuprum run`; prints what could come from the stand-ins.
PROGRAM = """
import ctypes, os
before = dict(os.environ)
import cuprum, cuprum.triton
from cuprum import _cuprum
source = 'extern "C" __global__ void f(int* x) { *x = 42; }'
code = cuprum.Linker(cuprum.Program(source, "c++").compile("ptx")).link("cubin")
code.get_kernel("f")
for library in _cuprum.compiler_libraries():
    assert "/compilers/" not in library.path, library.path
for name in ("libnvJitLink.so.12", "libnvJitLink.so.13"):
    try:
        ctypes.CDLL(name)
    except OSError:
        pass
changed = {name: value for name, value in os.environ.items() if before.get(name) != value}
print("changed:", changed)
print("loaded:", [line.split()[-1] for line in open("/proc/self/maps") if "/compilers/" in line])
"""
LOADED_DRIVERS = cuprum.triton._loaded_drivers
VARIABLES = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_LIBCUDA_PATH")


def test_an_ordinary_program_never_meets_them():
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment.pop("LD_PRELOAD", None)
    environment.pop("LD_LIBRARY_PATH", None)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == ["changed: {}", "loaded: []"]


@pytest.fixture
def fake_triton(monkeypatch):
    """A Triton that only notes which driver is active."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    active = []
    runtime = types.ModuleType("triton.runtime")
    runtime.driver = types.SimpleNamespace(set_active=active.append)
    monkeypatch.setitem(sys.modules, "triton", types.ModuleType("triton"))
    monkeypatch.setitem(sys.modules, "triton.runtime", runtime)
    monkeypatch.setattr(cuprum.triton, "_make_driver", lambda: "driver")
    monkeypatch.setattr(cuprum.triton, "_loaded_drivers", list)  # a GPU's may be there too
    yield active
    for name in VARIABLES:
        os.environ.pop(name, None)


def test_triton_on_a_gpu_keeps_its_own_ptxas(monkeypatch, fake_triton):
    gpu = types.SimpleNamespace(is_emulated=False, set_current=lambda: None)
    monkeypatch.setattr(cuprum.triton, "Device", lambda: gpu)
    before = dict(os.environ)
    cuprum.triton.activate()
    assert fake_triton == ["driver"]
    assert dict(os.environ) == before


def test_triton_on_the_emulated_device_gets_the_stand_in(device, fake_triton):
    if not device.is_emulated:
        pytest.skip("needs the emulated device")
    cuprum.triton.activate()
    assert fake_triton == ["driver"]
    assert os.environ["TRITON_PTXAS_PATH"].endswith("/compilers/ptxas")


def test_triton_must_not_find_the_driver_of_a_gpu_first(device, fake_triton, monkeypatch):
    if not device.is_emulated:
        pytest.skip("needs the emulated device")
    assert any(each.name == "libcuda.so.1" for each in LOADED_DRIVERS())
    other = Path("/usr/lib/libcuda.so.999.1")
    monkeypatch.setattr(cuprum.triton, "_loaded_drivers", lambda: [other])
    with pytest.raises(RuntimeError, match=rf"{re.escape(str(other))} is loaded, .*cuprum run"):
        cuprum.triton.activate()
    assert fake_triton == []
    assert not any(name in os.environ for name in VARIABLES)


def test_a_driver_is_found_whatever_names_other_files_have(tmp_path):
    odd = os.fsencode(tmp_path) + b"/libcuda.so.99\xff"  # not UTF-8
    with open(odd, "wb+") as file:
        file.write(bytes(mmap.PAGESIZE))
        file.flush()
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
            assert os.fsdecode(odd) in map(str, LOADED_DRIVERS())


@pytest.mark.parametrize(
    ("architecture", "capabilities"),
    [("sm_86", ["8.6", "8.9"]), ("sm_90", ["9.0"]), ("sm_90a", ["9.0"])],
)
def test_code_of_ptxas_loads_where_machine_code_would(tmp_path, architecture, capabilities):
    device = cuprum.Device(0)
    if not device.is_emulated:
        pytest.skip("the stand-in is the emulated device's")
    library = Path(cuprum.driver_description().partition("(")[2].rpartition(")")[0])
    source, code = tmp_path / "f.ptx", tmp_path / "f.cubin"
    source.write_text(
        ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry f()\n{\nret;\n}\n"
    )
    ptxas = library.parent / "compilers" / "ptxas"
    subprocess.run([ptxas, f"-arch={architecture}", source, "-o", code], check=True, timeout=60)
    program = f"""
import cuprum
try:
    cuprum.ObjectCode.from_cubin({str(code)!r}).get_kernel("f").handle
    print("runs")
except cuprum.CUDAError as error:
    print(error.name)
"""
    for capability in ("8.0", "8.6", "8.9", "9.0", "10.0"):
        environment = {**os.environ, "CUPRUM_EMULATOR_COMPUTE_CAPABILITY": capability}
        ended = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        expected = "runs" if capability in capabilities else "CUDA_ERROR_NO_BINARY_FOR_GPU"
        assert ended.stdout.strip() == expected, (capability, ended.stderr)


def test_nvcc_is_the_next_program_in_path_and_gets_its_arguments_whole(tmp_path):
    for place in ("relative", "found"):
        program = tmp_path / place / "nvcc"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" {place} "$@"\n')
        program.chmod(0o755)
    (tmp_path / "folder/nvcc").mkdir(parents=True)
    stand_in = Path(__file__).parents[3] / "emulator/compilers/nvcc.sh"
    ended = subprocess.run(
        ["sh", stand_in, "-cubin", "-arch", "sm_80", "a b.cu", "-DTEXT=c d"],
        env={"PATH": f":relative:{tmp_path}/folder:{tmp_path}/found:{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    code = ["-gencode", "arch=compute_80,code=compute_80"]
    rest = ["a b.cu", "-DTEXT=c d", "-o", "a b.cubin"]
    expected = ["found", "--fatbin", "--no-compress", *code, *rest]
    assert ended.stdout.splitlines() == expected
