# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import abc
import os
import stat
import subprocess
import sys
import time

import pytest

from cuprum import ObjectCode, Program, ProgramOptions
from cuprum.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
    set_default_program_cache,
)

KERNEL = 'extern "C" __global__ void f(int* x) { *x = 42; }'
TEMPLATE = "template <typename T> __global__ void f(T*) {}"


class DictCache(ProgramCacheResource):
    """A cache that a user defines."""

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
    with pytest.raises(ValueError, match='path is ""'):
        FileStreamProgramCache("")


def test_the_limit_may_be_any_kind_of_integer():
    np = pytest.importorskip("numpy")
    cache = InMemoryProgramCache(max_size_bytes=np.int64(5000))
    cache["first"] = b"1" * 4000
    cache["second"] = b"2" * 4000
    assert cache.get("first") is None
    for limit in (True, 1.5, np.float32(3), np.zeros(2, dtype=int), "5000"):
        with pytest.raises(TypeError, match="max_size_bytes must be an int or None, got "):
            InMemoryProgramCache(max_size_bytes=limit)


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


def test_headers_found_through_include_path_are_part_of_the_key(cache, tmp_path):
    header = tmp_path / "answer.h"
    program = Program(
        '#include "answer.h"\nextern "C" __global__ void f(int* x) { *x = ANSWER; }',
        "c++",
        ProgramOptions(include_path=str(tmp_path), arch="sm_90"),
    )
    codes = []
    for answer in (1234567, 7654321, 1234567):
        header.write_text(f"#define ANSWER {answer}\n")
        codes.append(program.compile("ptx", cache=cache).code)
        assert str(answer) in codes[-1].decode()
    assert len(cache) == 2
    assert codes[0] == codes[2]


def test_what_the_key_cannot_see_needs_a_digest(cache, tmp_path):
    (tmp_path / "answer.h").write_text("#define ANSWER 42\n")
    program = Program(
        '#define NAME "answer.h"\n#include NAME\n__global__ void f(int* x) { *x = ANSWER; }',
        "c++",
        ProgramOptions(include_path=str(tmp_path), arch="sm_90"),
    )
    with pytest.raises(ValueError, match=r"macro names.*extra_digest"):
        program.compile("ptx", cache=cache)
    first = program.compile("ptx", cache=cache, extra_digest=b"one")
    second = program.compile("ptx", cache=cache, extra_digest=b"one")
    assert first.code == second.code
    assert len(cache) == 1
    program.compile("ptx", cache=cache, extra_digest=b"two")
    assert len(cache) == 2


@pytest.fixture
def default_cache():
    used = InMemoryProgramCache()
    set_default_program_cache(used)
    yield used
    set_default_program_cache(None)


def test_a_default_cache_serves_every_program(default_cache):
    program = Program(KERNEL, "c++", ProgramOptions(arch="sm_90"))
    first = program.compile("cubin")
    assert len(default_cache) == 1
    assert program.compile("cubin").code == first.code
    assert len(default_cache) == 1
    other = InMemoryProgramCache()
    program.compile("cubin", cache=other)
    assert len(other) == 1


def test_a_default_cache_leaves_alone_what_cannot_be_cached(default_cache, tmp_path):
    options = ProgramOptions(arch="sm_90", time=str(tmp_path / "times.csv"))
    Program(KERNEL, "c++", options).compile("ptx")
    assert (tmp_path / "times.csv").exists()
    assert len(default_cache) == 0


def test_the_default_cache_is_one_of_ours():
    with pytest.raises(TypeError, match="InMemoryProgramCache or FileStreamProgramCache"):
        set_default_program_cache({})


def test_the_environment_turns_the_default_cache_on(tmp_path):
    script = (
        "import cuprum; from cuprum.utils import FileStreamProgramCache as F\n"
        "p = cuprum.Program('extern \"C\" __global__ void f() {}', 'c++', {'arch': 'sm_90'})\n"
        "p.compile('ptx'); print(len(F()))"
    )
    for value, count in (("1", "1"), ("0", "0")):
        environment = dict(os.environ, CUPRUM_CACHE_DIR=str(tmp_path / value))
        environment["CUPRUM_PROGRAM_CACHE"] = value
        ended = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True
        )
        assert ended.stdout.strip() == count, ended.stderr


def key(**changes):
    base = {
        "code": KERNEL,
        "code_type": "c++",
        "options": ProgramOptions(arch="sm_90"),
        "target_type": "cubin",
    }
    return make_program_cache_key(**{**base, **changes})


def test_keys_need_no_driver_and_follow_one_that_is_named_later(tmp_path):
    script = f"""
import os
from cuprum import ProgramOptions
from cuprum.utils import make_program_cache_key

def key():
    options = ProgramOptions(arch="sm_90")
    return make_program_cache_key(
        code={KERNEL!r}, code_type="c++", options=options, target_type="cubin"
    ).hex()

right = os.environ.get("CUPRUM_DRIVER")
os.environ["CUPRUM_DRIVER"] = {str(tmp_path / "libcuda.so.1")!r}
first = key()
assert key() == first
if right is None:
    del os.environ["CUPRUM_DRIVER"]
else:
    os.environ["CUPRUM_DRIVER"] = right
print(key())
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout.strip() == key().hex(), ended.stderr


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
        ({"options": ProgramOptions(pch=True)}, ValueError, "extra_digest"),
        ({"options": ProgramOptions(use_pch="a")}, ValueError, "extra_digest"),
        ({"options": ProgramOptions(time="x")}, ValueError, "side effect"),
        ({"options": ProgramOptions(extra_sources=[("a", "b")])}, ValueError, "extra_sources"),
        ({"code": "#include NAME"}, ValueError, "macro names.*extra_digest"),
    ],
)
def test_keys_refuse_what_they_cannot_stand_for(changes, error, text):
    with pytest.raises(error, match=text):
        key(**changes)
