# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import dataclasses
import io
import os
import weakref
from pathlib import Path

import pytest

import cuprum
from cuprum import Program, ProgramOptions

GOOD = 'extern "C" __global__ void good(int* x) { *x = LIMIT; }'
TEMPLATE = "namespace n { template <typename T> __global__ void twice(T* x) { *x *= 2; } }"
BAD = 'extern "C" __global__ void bad() { no_such_thing(); }'


@pytest.mark.parametrize(
    "target", ["ptx", "cubin", "PTX", cuprum.typing.ObjectCodeFormatType.CUBIN]
)
def test_compiles_to_ptx_and_cubin(target):
    code = Program(GOOD, "c++", {"define_macro": ("LIMIT", "7")}).compile(target)
    assert code.code_type == target.lower()
    assert code.get_kernel("good").num_arguments == 1


def test_compiles_to_ltoir():
    program = Program(TEMPLATE, "c++", {"link_time_optimization": True})
    assert len(program.compile("ltoir").code) > 0


def test_code_type_ignores_case_and_takes_the_enumeration():
    for code_type in ("C++", cuprum.typing.SourceCodeType.CXX):
        program = Program(TEMPLATE, code_type)
        assert program.backend == "NVRTC"
        assert repr(program).startswith("<Program name=")
        assert " code_type='c++' arch='sm_" in repr(program)
        assert repr(program).endswith(" backend='NVRTC'>")
        assert weakref.ref(program)() is program


def test_name_expressions_are_known_by_their_names():
    code = Program(TEMPLATE, "c++").compile("cubin", ("n::twice<float>", "n::twice<int>"))
    assert set(code.symbol_mapping) == {"n::twice<float>", "n::twice<int>"}
    assert code.get_kernel("n::twice<float>") != code.get_kernel("n::twice<int>")


def test_one_program_compiles_again():
    program = Program(GOOD, "c++", {"define_macro": "LIMIT=1"})
    assert program.compile("ptx").code == program.compile("ptx").code
    assert program.compile("cubin").code_type == "cubin"


@pytest.mark.parametrize(
    ("define", "flag"),
    [
        ("ONE", "ONE"),
        ("ONE=1", "ONE=1"),
        (("ONE", "1"), "ONE=1"),
        ([("ONE", "1"), "TWO"], "ONE=1"),
        ((("ONE", "1"), ("TWO", "2")), "ONE=1"),
    ],
)
def test_macros_in_all_forms(define, flag):
    options = ProgramOptions(define_macro=define, arch="sm_90").as_bytes("nvrtc")
    assert any(option.endswith(flag.encode()) for option in options)


def test_a_bad_macro_is_an_error():
    with pytest.raises(RuntimeError, match="define_macro"):
        Program(GOOD, "c++", {"define_macro": 3})


def test_source_that_does_not_compile_gives_log_and_options():
    program = Program(BAD, "c++", ProgramOptions(name="bad.cu", std="c++17"))
    with pytest.raises(cuprum.NVRTCError, match="no_such_thing") as caught:
        program.compile("cubin")
    error = caught.value
    assert isinstance(error, cuprum.CUDAError)
    assert "NVRTC_ERROR_COMPILATION" in str(error)
    assert "no_such_thing" in error.log
    assert "bad.cu" in error.log
    assert any("c++17" in option for option in error.options)
    assert any("c++17" in line for line in str(error).splitlines())
    assert error.code == 6
    assert error.name == "NVRTC_ERROR_COMPILATION"
    assert "no_such_thing" in program.log


def test_warnings_go_to_the_log():
    logs = io.StringIO()
    source = 'extern "C" __global__ void warns() { int unused = 3; }'
    program = Program(source, "c++")
    program.compile("ptx", logs=logs)
    assert "unused" in logs.getvalue()
    assert logs.getvalue() == program.log


def test_a_clean_program_writes_nothing_to_logs():
    logs = io.StringIO()
    Program(GOOD, "c++", {"define_macro": "LIMIT=1"}).compile("ptx", logs=logs)
    assert logs.getvalue() == ""


def test_a_file_of_the_same_name_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("default_program", "mine.cu"):
        (tmp_path / name).write_text("precious")
    for options in (None, {"name": "mine.cu", "debug": True}):
        program = Program(TEMPLATE, "c++", options)
        program.compile("ptx")
        program.close()
    assert sorted(os.listdir(tmp_path)) == ["default_program", "mine.cu"]
    assert (tmp_path / "mine.cu").read_text() == "precious"


def test_a_script_whose_name_is_not_utf8_compiles():
    script = "made = Program(TEMPLATE, 'c++', {'lineinfo': True}).compile('ptx')"
    namespace = {"Program": Program, "TEMPLATE": TEMPLATE}
    exec(compile(script, "/no/such/\udcff.py", "exec"), namespace)
    assert namespace["made"].code_type == "ptx"


def test_bad_arguments():
    with pytest.raises(TypeError, match=r"code must be str for code_type 'c\+\+'"):
        Program(b"", "c++")
    with pytest.raises(TypeError, match=r"got PosixPath; pass the text .* path\.read_text\(\)"):
        Program(Path("scale.cu"), "c++")
    with pytest.raises(RuntimeError, match=r"code_type='fortran' .*'nvvm'"):
        Program("", "Fortran")
    with pytest.raises(TypeError, match="NVVM IR code must be"):
        Program(3, "nvvm")
    with pytest.raises(TypeError, match="options must be ProgramOptions"):
        Program("", "c++", 3)
    with pytest.raises(ValueError, match=r"target_type must be .*exe"):
        Program(TEMPLATE, "c++").compile("exe")
    with pytest.raises(TypeError, match="no_such_option"):
        Program("", "c++", {"no_such_option": 1})
    with pytest.raises(TypeError, match="max_register_count must be an int, got str"):
        Program("", "c++", {"max_register_count": "many"})
    with pytest.raises(TypeError, match="arch must be str"):
        Program("", "c++", {"arch": 90})


@pytest.mark.parametrize(
    "options", [{"use_libdevice": True}, {"extra_sources": [("name", "text")]}]
)
def test_options_without_a_meaning_for_this_language_are_refused(options):
    name = next(iter(options))
    with pytest.raises(cuprum.UnsupportedOptionError, match=f"{name} is not .* NVRTC backend"):
        Program("", "c++", options)


def test_a_closed_program_says_so():
    program = Program(TEMPLATE, "c++")
    program.close()
    program.close()
    assert repr(program) == "<Program closed>"
    with pytest.raises(cuprum.ClosedError, match="Program"):
        program.compile("ptx")


def test_there_are_54_options_and_two_of_our_own():
    fields = dataclasses.fields(ProgramOptions)
    assert len(fields) == 54 + 2
    assert ProgramOptions().name == "default_program"
    assert all(field.default is None for field in fields if field.name != "name")


BOOLEANS = [
    "relocatable_device_code",
    "extensible_whole_program",
    "debug",
    "lineinfo",
    "ftz",
    "prec_sqrt",
    "prec_div",
    "fma",
    "use_fast_math",
    "extra_device_vectorization",
    "no_source_include",
    "builtin_move_forward",
    "builtin_initializer_list",
    "disable_warnings",
    "restrict",
    "device_as_default_execution_space",
    "device_int128",
    "no_display_error_number",
    "brief_diagnostics",
    "minimal",
    "no_cache",
]


@pytest.mark.parametrize("name", BOOLEANS)
def test_the_compiler_accepts_every_switch(name):
    options = ProgramOptions(**{name: True})
    assert len(options.as_bytes("NVRTC")) > len(ProgramOptions().as_bytes("NVRTC"))
    Program(TEMPLATE, "c++", options).compile("ptx")


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"std": "c++20"}, "c++20"),
        ({"arch": "compute_80"}, "compute_80"),
        ({"max_register_count": 32}, "32"),
        ({"include_path": ["/a", "/b"]}, "/b"),
        ({"pre_include": "cuda_fp16.h"}, "cuda_fp16.h"),
        ({"undefine_macro": "X"}, "X"),
        ({"diag_suppress": [177, 550]}, "550"),
        ({"diag_error": 177}, "177"),
        ({"diag_warn": (177,)}, "177"),
        ({"ptxas_options": "-v"}, "-v"),
        ({"split_compile": 2}, "2"),
        ({"ofast_compile": "min"}, "min"),
        ({"frandom_seed": "seed"}, "seed"),
        ({"pch_dir": "/tmp"}, "/tmp"),
        ({"pch": True}, "--pch"),
        ({"pch_verbose": False}, "false"),
    ],
)
def test_options_with_values_reach_the_compiler(options, flag):
    assert any(flag in option for option in Program("", "c++", options).compiler_options)


def test_as_bytes_knows_two_compilers():
    options = ProgramOptions(arch="sm_90", debug=True, fma=False)
    assert options.as_bytes("NVRTC") == [b"-arch=sm_90", b"--device-debug", b"--fmad=false"]
    assert options.as_bytes("nvvm") == [b"-arch=compute_90", b"-g", b"-fma=0"]
    assert options.as_bytes("nvvm", "ltoir")[-1] == b"-gen-lto"
    with pytest.raises(ValueError, match="Unknown backend 'gcc'"):
        options.as_bytes("gcc")
    with pytest.raises(cuprum.UnsupportedOptionError, match="std is not supported by NVVM"):
        ProgramOptions(arch="sm_90", std="c++17").as_bytes("nvvm")
