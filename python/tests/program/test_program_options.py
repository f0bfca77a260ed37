# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Every option of a program with every compiler: honoured, or refused by name."""

import dataclasses

import pytest

from cuprum import Program, ProgramOptions, UnsupportedOptionError

# A value for each option, and the languages whose compilers honour it.
ALL = {"c++", "ptx", "nvvm"}
CXX = {"c++"}
LINKED = {"c++", "ptx"}
OPTIONS = {
    "name": ("mine", ALL),
    "arch": ("sm_80", ALL),
    "relocatable_device_code": (True, CXX),
    "extensible_whole_program": (True, CXX),
    "debug": (True, ALL),
    "lineinfo": (True, LINKED),
    "device_code_optimize": (True, ALL),
    "ptxas_options": ("-v", LINKED),
    "max_register_count": (32, LINKED),
    "ftz": (True, ALL),
    "prec_sqrt": (True, ALL),
    "prec_div": (True, ALL),
    "fma": (True, ALL),
    "use_fast_math": (True, CXX),
    "extra_device_vectorization": (True, CXX),
    "link_time_optimization": (True, ALL),
    "gen_opt_lto": (True, CXX),
    "define_macro": ("A", CXX),
    "undefine_macro": ("A", CXX),
    "include_path": ("/a", CXX),
    "pre_include": ("a.h", CXX),
    "no_source_include": (True, CXX),
    "std": ("c++20", CXX),
    "builtin_move_forward": (True, CXX),
    "builtin_initializer_list": (True, CXX),
    "disable_warnings": (True, CXX),
    "restrict": (True, CXX),
    "device_as_default_execution_space": (True, CXX),
    "device_int128": (True, CXX),
    "device_float128": (True, CXX),
    "optimization_info": ("inline", CXX),
    "no_display_error_number": (True, CXX),
    "diag_error": (177, CXX),
    "diag_suppress": (177, CXX),
    "diag_warn": (177, CXX),
    "brief_diagnostics": (True, CXX),
    "time": ("times.csv", LINKED),
    "split_compile": (0, LINKED),
    "fdevice_syntax_only": (True, CXX),
    "minimal": (True, CXX),
    "no_cache": (True, LINKED),
    "fdevice_time_trace": ("trace.json", CXX),
    "frandom_seed": ("7", CXX),
    "ofast_compile": ("mid", CXX),
    "pch": (True, CXX),
    "create_pch": ("a.pch", CXX),
    "use_pch": ("a.pch", CXX),
    "pch_dir": ("/a", CXX),
    "pch_verbose": (True, CXX),
    "pch_messages": (True, CXX),
    "instantiate_templates_in_pch": (True, CXX),
    "extra_sources": ([("m", "ir")], {"nvvm"}),
    "use_libdevice": (True, {"nvvm"}),
    "numba_debug": (True, {"c++", "nvvm"}),
    "headers": ({"a.h": ""}, CXX),
    "default_include_path": (False, ALL),  # the other compilers include nothing
}
COMPILERS = {"c++": "NVRTC", "ptx": "PTX", "nvvm": "NVVM"}


def test_the_table_has_every_option():
    assert set(OPTIONS) == {field.name for field in dataclasses.fields(ProgramOptions)}


@pytest.mark.parametrize("language", COMPILERS)
@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_honoured_or_refused_by_name(name, language):
    value, honoured = OPTIONS[name]
    options = ProgramOptions(**{"arch": "sm_90", name: value})
    if name == "numba_debug" and language == "ptx":
        with pytest.warns(UserWarning, match="numba_debug is ignored"):
            Program("", language, options)
        return
    if language in honoured:
        Program("", language, options)
        return
    with pytest.raises(UnsupportedOptionError) as caught:
        Program("", language, options)
    assert name in str(caught.value)
    assert COMPILERS[language] in str(caught.value)
