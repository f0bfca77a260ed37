# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import abc
import os
import stat
import time

import pytest

from cuprum import ObjectCode, Program, ProgramOptions
from cuprum.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
)

KERNEL = 'extern "C" __global__ void f(int* x) { *x = 42; }'
TEMPLATE = "template <typename T> __global__ void f(T*) {}"


class DictCache(ProgramCacheResource):
    """A cache of someone else's."""

    def __init__(self):
        self.codes = {}
        self.gets = 0

    def __getitem__(self, key):
        self.gets += 1
        return self.codes[key]

    def __setitem__(self, key, value):
        self.codes[key] = value

    def __delitem__(self, key):
        del self.codes[key]

    def __len__(self):
        return len(self.codes)

    def clear(self):
        self.codes.clear()


@pytest.fixture(params=["memory", "files"])
def cache(request, tmp_path):
    if request.param == "memory":
        return InMemoryProgramCache()
    return FileStreamProgramCache(tmp_path / "cache")


def test_the_base_is_abstract():
    assert issubclass(ProgramCacheResource, abc.ABC)
    with pytest.raises(TypeError, match="abstract"):
        ProgramCacheResource()


def test_a_cache_is_nearly_a_dict(cache):
    assert len(cache) == 0
    assert cache.get(b"k") is None
    assert cache.get(b"k", b"other") == b"other"
    with pytest.raises(KeyError):
        cache[b"k"]
    with pytest.raises(KeyError):
        del cache[b"k"]
    cache["k"] = bytearray(b"code")
    assert cache[b"k"] == cache["k"] == b"code"
    cache.update({b"a": memoryview(b"1")})
    cache.update([(b"b", b"2")])
    assert len(cache) == 3
    assert cache.size_bytes >= 6
    del cache["k"]
    assert cache.get("k") is None
    with cache as same:
        assert same is cache
    cache.clear()
    assert len(cache) == 0


def test_values_are_bytes_or_object_code(cache, tmp_path):
    cache["k"] = ObjectCode.from_cubin(b"cubin")
    assert cache["k"] == b"cubin"
    (tmp_path / "x.ptx").write_bytes(b"ptx")
    cache["k"] = ObjectCode.from_ptx(tmp_path / "x.ptx")
    assert cache["k"] == b"ptx"
    with pytest.raises(FileNotFoundError, match="path-backed ObjectCode"):
        cache["k"] = ObjectCode.from_ptx(tmp_path / "gone.ptx")
    with pytest.raises(TypeError, match="bytes-like or ObjectCode"):
        cache["k"] = "text"
    with pytest.raises(TypeError, match="key of a cache must be bytes or str"):
        cache[3]


def test_the_limit_must_be_positive(tmp_path):
    for limit in (0, -1):
        with pytest.raises(ValueError, match="positive"):
            InMemoryProgramCache(max_size_bytes=limit)
        with pytest.raises(ValueError, match="positive"):
            FileStreamProgramCache(tmp_path, max_size_bytes=limit)


def test_past_its_limit_a_cache_drops_what_was_not_used_for_longest(tmp_path):
    for cache in (
        InMemoryProgramCache(max_size_bytes=5000),
        FileStreamProgramCache(tmp_path / "cache", max_size_bytes=5000),
    ):
        for key in ("a", "b"):
            cache[key] = key.encode() * 2000
            time.sleep(0.02)
        assert cache.get("a")
        time.sleep(0.02)
        cache["c"] = b"c" * 2000
        assert [cache.get(key) is not None for key in "abc"] == [True, False, True]


def test_files_are_private_and_damage_is_noticed(tmp_path):
    cache = FileStreamProgramCache(tmp_path / "cache")
    cache["k"] = b"code"
    assert stat.S_IMODE(os.stat(cache.path).st_mode) == 0o700
    file = cache.file_of("k")
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    with open(file, "r+b") as opened:
        opened.write(b"X")
    with pytest.warns(UserWarning, match="damaged"):
        assert cache.get("k") is None
    assert not os.path.exists(file)


def test_a_folder_that_cannot_be_made_is_an_os_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="program cache"):
        FileStreamProgramCache(tmp_path / "file" / "cache")


def test_the_second_compilation_comes_from_the_cache(cache):
    program = Program(f"#warning once\n{KERNEL}", "c++", {"name": "mine", "arch": "sm_90"})
    first = program.compile("ptx", cache=cache)
    assert program.log
    second = program.compile("ptx", cache=cache)
    assert program.log == ""
    assert (second.code, second.name, second.code_type) == (first.code, "mine", "ptx")
    assert len(cache) == 1


def test_name_expressions_are_remembered(cache):
    program = Program(TEMPLATE, "c++")
    first = program.compile("cubin", ("f<int>", "f<float>"), cache=cache)
    second = program.compile("cubin", ("f<int>", "f<float>"), cache=cache)
    assert second.symbol_mapping == first.symbol_mapping
    assert second.get_kernel("f<int>").num_arguments == 1
    third = program.compile("cubin", ("f<int>",), cache=cache)
    assert set(third.symbol_mapping) == {"f<int>"}
    assert len(cache) == 2


def test_caches_of_others_are_asked():
    cache = DictCache()
    options = ProgramOptions(arch="sm_90")
    program = Program(KERNEL, "c++", options)
    code = program.compile("ptx", cache=cache).code
    key = make_program_cache_key(code=KERNEL, code_type="c++", options=options, target_type="ptx")
    assert cache.codes == {key: code}
    cache.codes[key] = b"something else"
    assert program.compile("ptx", cache=cache).code == b"something else"
    assert cache.gets == 2


def test_errors_of_caches_are_the_callers():
    class Broken(DictCache):
        def get(self, key, default=None):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        Program(KERNEL, "c++").compile("ptx", cache=Broken())
    with pytest.raises(TypeError, match="cache must be a ProgramCacheResource"):
        Program(KERNEL, "c++").compile("ptx", cache={})


def test_what_the_key_cannot_see_needs_a_digest(cache, tmp_path):
    (tmp_path / "mine.h").write_text("#define ANSWER 42\n")
    source = "#include <mine.h>\n__global__ void f(int* x) { *x = ANSWER; }"
    program = Program(source, "c++", {"include_path": tmp_path})
    with pytest.raises(ValueError, match=r"include_path .*extra_digest"):
        program.compile("ptx", cache=cache)
    assert len(cache) == 0
    for digest in (b"one", b"two", b"one"):
        program.compile("ptx", cache=cache, extra_digest=digest)
    assert len(cache) == 2


def key(**changes):
    base = {
        "code": KERNEL,
        "code_type": "c++",
        "options": ProgramOptions(arch="sm_90"),
        "target_type": "cubin",
    }
    return make_program_cache_key(**{**base, **changes})


def test_keys_tell_compilations_apart():
    keys = [
        key(),
        key(code="other"),
        key(target_type="ptx"),
        key(options=ProgramOptions(arch="sm_80")),
        key(options=ProgramOptions(arch="sm_90", name="other")),
        key(options=ProgramOptions(arch="sm_90", headers={"a.h": ""})),
        key(name_expressions=("a",)),
        key(name_expressions=(b"a",)),
        key(extra_digest=b""),
        key(code_type="nvvm", target_type="ptx"),
        key(code_type="ptx"),
    ]
    assert all(isinstance(each, bytes) and len(each) == 32 for each in keys)
    assert len(set(keys)) == len(keys)
    assert key(name_expressions=("a", "b")) == key(name_expressions=("b", "a"))
    assert key(code_type="C++", target_type="CUBIN") == key()


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"code_type": "fortran"}, ValueError, "fortran"),
        ({"target_type": "exe"}, ValueError, "target_type"),
        ({"code_type": "ptx", "target_type": "ltoir"}, ValueError, "not valid for code_type"),
        ({"code": 3}, TypeError, "code must be"),
        ({"code": b""}, TypeError, "code must be str for code_type"),
        ({"name_expressions": (3,)}, TypeError, "name_expressions"),
        ({"options": ProgramOptions(include_path="/a")}, ValueError, "extra_digest"),
        ({"options": ProgramOptions(name="a/b.cu")}, ValueError, "directory component"),
        ({"options": ProgramOptions(time="x")}, ValueError, "side effect"),
        ({"options": ProgramOptions(extra_sources=[("a", "b")])}, ValueError, "extra_sources"),
        ({"code": '#include "x.h"'}, ValueError, "extra_digest"),
    ],
)
def test_keys_refuse_what_they_cannot_stand_for(changes, error, text):
    with pytest.raises(error, match=text):
        key(**changes)
