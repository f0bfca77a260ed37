# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The magics of ``%load_ext cuprum.ipython``, in an IPython shell of this process."""

import gc

import numpy as np
import pytest

pytest.importorskip("IPython", reason="IPython is not installed; make test-gallery installs it")

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import cuprum

SCALE = """
__global__ void scale(float* values, int count, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] *= factor;
}
"""


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "cuprum.ipython")
    yield shell
    shell.user_ns.clear()
    shell.user_ns_hidden.clear()
    shell.displayhook.flush()
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()
    del shell
    gc.collect()


def error_of(shell, line, cell):
    with pytest.raises(UsageError) as raised:
        shell.run_cell_magic("cuda", line, cell)
    return str(raised.value)


def test_a_cell_becomes_kernels_with_python_names(shell, device, stream):
    shell.run_cell_magic("cuda", "", SCALE + "namespace inner { __global__ void other() {} }")
    kernel = shell.user_ns["scale"]
    assert isinstance(kernel, cuprum.Kernel)
    assert kernel.num_arguments == 3
    assert shell.user_ns["other"].num_arguments == 0

    values = np.arange(8, dtype=np.float32)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from_host(values, stream=stream)
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, buffer, 8, 2.0)
    result = np.empty_like(values)
    buffer.copy_to_host(result, stream=stream)
    stream.sync()
    assert np.array_equal(result, values * 2)


def test_names_of_c_are_kept(shell):
    shell.run_cell_magic("cuda", "", 'extern "C" __global__ void _Zombie() {}')
    assert shell.user_ns["_Zombie"].name == "_Zombie"


def test_a_kernel_can_be_launched_at_once(shell, device, stream):
    values = np.ones(300, dtype=np.float32)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from_host(values, stream=stream)
    stream.sync()
    shell.user_ns.update(buffer=buffer, count=300)
    line = "--launch 'scale[(count + 255) // 256, 256](buffer, count, 3.0)'"
    shell.run_cell_magic("cuda", line, SCALE)
    buffer.copy_to_host(values, stream=stream)
    stream.sync()
    assert np.all(values == 3)
    buffer.close()


def test_shared_memory_follows_the_block(shell, device, stream):
    buffer = device.allocate(4, stream=stream)
    stream.sync()
    shell.user_ns.update(buffer=buffer)
    source = """
    __global__ void size(unsigned* out) { asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(*out)); }
    """
    shell.run_cell_magic("cuda", "--launch 'size[1, 32, 4096](buffer)'", source)
    size = np.zeros(1, np.uint32)
    buffer.copy_to_host(size, stream=stream)
    stream.sync()
    assert size[0] == 4096
    buffer.close()


def test_options_reach_the_compiler(shell, device, tmp_path):
    (tmp_path / "own.h").write_text("#define OWN 1\n")
    source = """
    #include "own.h"
    static_assert(OWN == 1 && VALUE == 7 && __cplusplus == 202002L && FLAG);
    __global__ void f() {}
    """
    line = f"--std c++20 -I '{tmp_path}' -D VALUE=7 -D FLAG --code code --fast-math"
    line += f" --arch sm_{device.arch}"
    shell.run_cell_magic("cuda", line, source)
    assert f".target sm_{device.arch}" in shell.user_ns["code"].code.decode()
    assert shell.user_ns["code"].name.startswith("cell_")


def test_templates_get_names_of_their_arguments(shell):
    source = "template <class T, int n> __global__ void fill(T* x) { *x = n; }"
    shell.run_cell_magic(
        "cuda", "--instantiate 'fill<float, 2>' --instantiate 'fill<int, 3>'", source
    )
    assert shell.user_ns["fill_float_2"].name == "fill<float, 2>"
    assert shell.user_ns["fill_int_3"].num_arguments == 1


def test_an_error_shows_the_log_and_the_line_of_the_cell(shell):
    text = error_of(shell, "", "// one\n__global__ void f() { missing; }")
    assert text.startswith("%%cuda: the cell does not compile\n")
    assert '.cu(2): error: identifier "missing" is undefined' in text


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("", "struct S {};", "the cell has no kernel; a kernel is a function with __global__"),
        ("--archh sm_90", SCALE, "unrecognized arguments: --archh sm_90"),
        ("--arch", SCALE, "--arch: expected one argument"),
        ("--arch 'sm_90", SCALE, "No closing quotation"),
        ("--code 1x", SCALE, "--code is '1x'; expected a Python name"),
        ("--launch 'scale(1)'", SCALE, "expected kernel[grid, block](arguments)"),
        ("--launch 'scale[1](1)'", SCALE, "expected kernel[grid, block](arguments)"),
        ("--launch 'scale[1, 2](x=1)'", SCALE, "expected kernel[grid, block](arguments)"),
        ("--launch 'scale[1,'", SCALE, "expected kernel[grid, block](arguments)"),
        ("--launch 'other[1, 2](1)'", SCALE, "no kernel 'other'; it has scale"),
        ("--stream device", SCALE, "--stream is for --launch, which is missing"),
        ("--launch 'scale[1, 2](1)' --stream none", SCALE, "the name of a cuprum.Stream"),
        (
            "",
            "__global__ void f() {} __global__ void f(int) {}",
            "several kernels have the name 'f'",
        ),
        ("--arch sm_1", SCALE, "invalid value for --gpu-architecture"),
    ],
)
def test_mistakes_are_named(shell, line, cell, message):
    assert message in error_of(shell, line, cell)


def test_a_launch_uses_the_stream_that_is_named(shell, device, stream, monkeypatch):
    used = []

    def launch(stream, *arguments):
        used.append(stream)
        original(stream, *arguments)

    original = cuprum.launch
    monkeypatch.setattr(cuprum, "launch", launch)
    values = np.arange(8, dtype=np.float32)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from_host(values, stream=stream)
    shell.user_ns.update(buffer=buffer, stream=stream)
    shell.run_cell_magic("cuda", "--stream stream --launch 'scale[1, 32](buffer, 8, 3.0)'", SCALE)
    assert used == [stream]
    result = np.empty_like(values)
    buffer.copy_to_host(result, stream=stream)
    stream.sync()
    assert result.tolist() == (values * 3).tolist()
    buffer.close()


def test_wrong_arguments_of_a_launch_are_plain_errors(shell, device):
    with pytest.raises(TypeError, match="takes 3 arguments, 1 given"):
        shell.run_cell_magic("cuda", "--launch 'scale[1, 32](1)'", SCALE)
    with pytest.raises(NameError, match="nothing"):
        shell.run_cell_magic("cuda", "--launch 'scale[1, 32](nothing, 1, 1.0)'", SCALE)


def test_help_lists_the_options(shell, capsys):
    shell.run_line_magic("cuda", "--help")
    assert "--launch CALL" in capsys.readouterr().out
    with pytest.raises(UsageError, match="%%cuda starts a cell of CUDA C"):
        shell.run_line_magic("cuda", "--arch sm_90")


def test_a_traced_cell_shows_a_timeline(shell, device):
    shell.user_ns.update(device=device)
    with capture_output() as captured:
        shell.run_cell_magic("cuda_trace", "timeline", "device.sync()\nanswer = 42")
    assert shell.user_ns["answer"] == 42
    assert shell.user_ns["timeline"].count("driver") > 0
    (output,) = captured.outputs
    assert output.data["text/html"].startswith("<svg ")
    assert output.data["text/plain"].startswith("<Timeline ")


def test_a_traced_cell_that_fails_stops_the_trace(shell):
    with capture_output() as captured, pytest.raises(UsageError, match="the cell failed"):
        shell.run_cell_magic("cuda_trace", "", "1 / 0")
    assert captured.stdout.count("Traceback (most recent call last)") == 1  # IPython shows it
    assert not cuprum.trace.is_tracing()
    for name in ("two names", "lambda"):
        with pytest.raises(UsageError, match="is not a Python name"):
            shell.run_cell_magic("cuda_trace", name, "1")


def test_names_that_python_reserves_are_refused(shell):
    kernel = "__global__ void lambda() {}"
    assert "a kernel has the name 'lambda', which Python reserves" in error_of(shell, "", kernel)
    message = error_of(shell, "--code class", "__global__ void fine() {}")
    assert "--code is 'class'; expected a Python name" in message
    assert "fine" not in shell.user_ns


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("plain", "plain"),
        ("_Z5scalePfif", "scale"),
        ("_ZN5inner5scaleEv", "scale"),
        ("_ZN12_GLOBAL__N_11kEv", "k"),
        ("_ZN2ns5ScaleIfE3runEv", "run"),
        ("_ZN2ns5ScaleINS_5OtherELi12EE3runEv", "run"),
        ("_ZN2ns5ScaleIfNS0_IiEEA8_fE3runEv", "run"),
        ("_Z3runI5OtherEvT_", "run"),
    ],
)
def test_a_kernel_has_the_last_part_of_its_name(symbol, name):
    from cuprum.ipython import _source_name

    assert _source_name(symbol) == name
