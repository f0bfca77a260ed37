# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import copy
import pickle
import re
import weakref

import numpy as np
import pytest

import cuprum
from cuprum import ObjectCode, Program

PTX_WITH_A_SYNTAX_ERROR = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry broken() {
    this is not ptx;
    ret;
}
"""


def test_object_codes_are_not_made_directly():
    with pytest.raises(RuntimeError, match=r"Program\.compile"):
        ObjectCode()


def test_facts_of_an_object_code(module, compiled):
    assert module.code == compiled[0]
    assert module.code_type == "cubin"
    assert module.name == "test kernels"
    assert module.symbol_mapping == compiled[1]
    assert isinstance(module.handle, int)
    assert "code_type='cubin'" in repr(module)
    assert weakref.ref(module)() is module


def test_the_symbol_mapping_is_a_copy(module):
    module.symbol_mapping.clear()
    assert module.symbol_mapping


def test_code_is_loaded_on_first_use_and_unloaded_with_the_last_share(compiled, live_objects):
    before = live_objects()
    code = ObjectCode.from_cubin(compiled[0])
    assert live_objects() == before
    kernel = code.get_kernel("empty")
    if before:
        assert live_objects()["libraries"] == before["libraries"] + 1
    code.close()
    assert kernel.num_arguments == 0
    if before:
        assert live_objects()["libraries"] == before["libraries"] + 1
    del kernel
    assert live_objects() == before


def test_code_from_a_file(tmp_path, compiled):
    path = tmp_path / "kernels.cubin"
    path.write_bytes(compiled[0])
    for given in (path, str(path)):
        code = ObjectCode.from_cubin(given)
        assert code.code == str(path)
        assert code.get_kernel("empty").num_arguments == 0


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(cuprum.CUDAError, match=r"absent\.cubin"):
        ObjectCode.from_cubin(tmp_path / "absent.cubin").get_kernel("empty")


def test_all_factories_are_there():
    for kind in ("cubin", "ptx", "ltoir", "fatbin", "object", "library"):
        code = getattr(ObjectCode, f"from_{kind}")(b"anything", name="n")
        assert code.code_type == kind
        assert code.code == b"anything"
        assert code.name == "n"


def test_factories_refuse_other_types():
    with pytest.raises(TypeError, match="module must be bytes"):
        ObjectCode.from_ptx(3)
    with pytest.raises(TypeError, match="symbol_mapping must be a dict"):
        ObjectCode.from_ptx(b"", symbol_mapping=3)


def test_kernels_by_name(module):
    assert module.get_kernel("empty") == module.get_kernel(b"empty")
    assert module.get_kernel("scale<float>").num_arguments == 3
    assert {"empty", "saxpy"} <= set(module.kernel_names)


def test_an_unknown_kernel_lists_those_there_are():
    source = 'extern "C" { __global__ void one() {} __global__ void two() {} }'
    code = cuprum.Program(source, "c++").compile("cubin")
    with pytest.raises(ValueError, match="no_such_kernel") as caught:
        code.get_kernel("no_such_kernel")
    assert '"one"' in str(caught.value)
    assert '"two"' in str(caught.value)
    assert code.get_kernel("two").num_arguments == 0


def test_a_kernel_name_of_another_type_is_a_type_error(module):
    with pytest.raises(TypeError, match="name must be str or bytes, got int"):
        module.get_kernel(3)


def test_pickle_keeps_code_name_and_symbols(module):
    again = pickle.loads(pickle.dumps(module))
    assert again.code == module.code
    assert again.code_type == module.code_type
    assert again.name == module.name
    assert again.symbol_mapping == module.symbol_mapping
    assert again.get_kernel("scale<double>").num_arguments == 3


def test_pickle_keeps_jit_options():
    code = ObjectCode.from_ptx(b"text", jit_options={"optimization_level": 9, "debug": True})
    again = pickle.loads(pickle.dumps(code))
    assert again.__reduce__() == code.__reduce__()
    with pytest.raises(ValueError, match="JITOptions optimization_level is 9"):
        again.get_kernel("count")


def test_equality(module, compiled):
    other = ObjectCode.from_cubin(compiled[0])
    assert module == module
    assert module != other
    assert module != 3
    assert hash(module) != hash(other)
    assert copy.deepcopy(module) is not module


def test_ptx_with_a_syntax_error_gives_the_line():
    code = ObjectCode.from_ptx(PTX_WITH_A_SYNTAX_ERROR)
    with pytest.raises(cuprum.CUDAError, match="CUDA_ERROR_INVALID_PTX") as caught:
        code.get_kernel("broken")
    # The GPU's assembler reports the line, the emulated device line and column.
    assert re.search(r"line 5|:5:\d+", str(caught.value))
    assert caught.value.code == 218


def test_a_cubin_for_another_architecture_is_refused(device):
    other = "sm_100" if device.arch != "100" else "sm_80"
    code = cuprum.Program(
        'extern "C" __global__ void k() {}', "c++", cuprum.ProgramOptions(arch=other)
    ).compile("cubin")
    with pytest.raises(cuprum.CUDAError, match="CUDA_ERROR_NO_BINARY_FOR_GPU"):
        code.get_kernel("k")


def test_rubbish_is_refused():
    with pytest.raises(cuprum.CUDAError, match="CUDA_ERROR_INVALID"):
        ObjectCode.from_cubin(b"rubbish" * 100).get_kernel("k")


def test_a_closed_object_code_says_so(compiled):
    code = ObjectCode.from_cubin(compiled[0])
    code.close()
    code.close()
    assert repr(code) == "<ObjectCode closed>"
    for use in (lambda: code.get_kernel("empty"), lambda: code.handle, lambda: code.code):
        with pytest.raises(cuprum.ClosedError, match="ObjectCode"):
            use()


VARIABLES = """
extern "C" __device__ int counter = 7;
extern "C" __constant__ float table[4];
extern "C" __global__ void count(int* out) { *out = counter++ + (int)table[1]; }
"""


def test_variables_are_buffers(device, stream):
    code = Program(VARIABLES, "c++").compile("cubin")
    counter = code.get_global("counter")
    table = code.get_global(b"table")
    assert (counter.size, table.size) == (4, 16)
    table.copy_from_host(np.array([0, 100, 0, 0], np.float32), stream=stream)
    out = device.allocate(4, stream=stream)
    for expected in (107, 108):
        cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), code.get_kernel("count"), out)
        host = np.zeros(1, np.int32)
        out.copy_to_host(host, stream=stream)
        stream.sync()
        assert host[0] == expected
    with pytest.raises(ValueError, match='no __device__ variable "absent"'):
        code.get_global("absent")
    with pytest.raises(ValueError, match='no __managed__ variable "absent"') as caught:
        code.get_managed("absent")
    assert "name_expressions" not in str(caught.value), "NVRTC takes none of these"


def test_a_variable_keeps_its_code_loaded(device, stream):
    counter = Program(VARIABLES, "c++").compile("ptx").get_global("counter")
    host = np.zeros(1, np.int32)
    counter.copy_to_host(host, stream=stream)
    stream.sync()
    assert host[0] == 7


def test_code_is_a_module_for_interfaces_that_take_one(device):
    assert Program(VARIABLES, "c++").compile("cubin").get_module() != 0


def test_code_to_be_linked_has_no_kernels_yet():
    code = Program(VARIABLES, "c++").compile("ltoir")
    with pytest.raises(RuntimeError, match='Unsupported code type "ltoir"'):
        code.get_kernel("count")


def test_jit_options_are_checked_and_passed_on(device):
    ptx = Program(VARIABLES, "c++").compile("ptx").code
    options = cuprum.JITOptions(max_register_count=64, optimization_level=2, lineinfo=True)
    ObjectCode.from_ptx(ptx, jit_options=options).get_kernel("count")
    for name, value in (
        ("l1_cache", False),
        ("threads_per_block", 128),
        ("max_threads_per_block", 256),
        ("min_blocks_per_multiprocessor", 2),
        ("override_directives", True),
        ("position_independent_code", True),
        ("split_compile", 0),
        ("prefer_binary", True),
        ("debug", True),
    ):
        ObjectCode.from_ptx(ptx, jit_options={name: value}).get_kernel("count")
    bad = ObjectCode.from_ptx(ptx, jit_options={"optimization_level": 9})
    with pytest.raises(ValueError, match="JITOptions optimization_level is 9"):
        bad.get_kernel("count")
    with pytest.raises(TypeError, match="options must be JITOptions"):
        ObjectCode.from_ptx(ptx, jit_options=3)
