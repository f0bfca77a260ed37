# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Paths of files: any bytes that the file system takes, as str, bytes or os.PathLike."""

import os
from pathlib import Path

import pytest

import cuprum

SOURCE = '#include "value.h"\nextern "C" __global__ void fill(int* x) { *x = VALUE; }'


@pytest.fixture
def folder(tmp_path):
    """Make a folder whose name is not UTF-8."""
    folder = os.path.join(os.fsencode(tmp_path), b"h\xe9ros")
    os.mkdir(folder)
    return os.fsdecode(folder)


@pytest.fixture
def program(folder):
    Path(folder, "value.h").write_text("#define VALUE 7\n")
    return cuprum.Program(SOURCE, "c++", cuprum.ProgramOptions(include_path=folder))


@pytest.mark.parametrize("kind", [str, Path])
def test_code_is_read_from_any_path(folder, program, kind):
    code = program.compile("cubin")
    file = Path(folder, "fill.cubin")
    file.write_bytes(bytes(code.code))
    read = cuprum.ObjectCode.from_cubin(kind(file))
    assert read.code == str(file)
    assert read.get_kernel("fill").num_arguments == 1


def test_a_cache_in_any_folder(folder, program):
    cache = cuprum.utils.FileStreamProgramCache(Path(folder, "cache"))
    assert cache.path == os.path.join(folder, "cache")
    for _ in range(2):
        program.compile("ptx", cache=cache)
    assert os.path.dirname(cache.file_of(b"key")).startswith(cache.path)


def test_files_that_are_written(folder, program):
    trace = os.path.join(folder, "trace.json")
    cuprum.trace.start(trace)
    program.compile("ptx")
    cuprum.trace.stop()
    assert os.path.getsize(trace) > 0
    dot = os.path.join(folder, "graph.dot")
    cuprum.graph.GraphDefinition().debug_dot_print(dot)
    assert os.path.getsize(dot) > 0


def test_errors_show_such_a_path_with_escapes(folder):
    absent = os.path.join(folder, "absent.cubin")
    with pytest.raises(cuprum.CUDAError, match=r"h\\xe9ros/absent\.cubin"):
        cuprum.ObjectCode.from_cubin(absent).get_kernel("fill")


def test_what_no_path_can_be_is_refused_with_the_name_of_the_argument():
    with pytest.raises(ValueError, match=r"path has a character .* '\\ud800'"):
        cuprum.utils.FileStreamProgramCache("\ud800")
    with pytest.raises(TypeError, match="path must be str, bytes or a path, got int"):
        cuprum.trace.start(3)
