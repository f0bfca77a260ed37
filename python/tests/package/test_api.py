# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The package as a whole: names, documentation, stubs, the cost of importing it."""

import ast
import dataclasses
import inspect
import pathlib
import subprocess
import sys
import types

import pytest

import cuprum
from cuprum import _cuprum

PACKAGE = pathlib.Path(cuprum.__file__).parent
# Plain values need no docstring.
VALUES = ("__version__", "LEGACY_DEFAULT_STREAM", "PER_THREAD_DEFAULT_STREAM")
CLASSES = [
    getattr(cuprum, name) for name in cuprum.__all__ if inspect.isclass(getattr(cuprum, name))
]


def python(*arguments):
    result = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("name", cuprum.__all__)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(cuprum, name)
    if name not in VALUES:
        assert inspect.getdoc(value)


@pytest.mark.parametrize("owner", CLASSES, ids=lambda owner: owner.__name__)
def test_every_public_member_is_documented(owner):
    for name, member in vars(owner).items():
        is_field = dataclasses.is_dataclass(owner) and name in owner.__dataclass_fields__
        is_data = not callable(member) and not isinstance(member, (property, staticmethod))
        if not name.startswith("_") and not is_field and not is_data:
            assert inspect.getdoc(getattr(owner, name)), f"{owner.__name__}.{name}"


VERBS = (
    *("Allocate", "Answer", "Ask", "Be", "Describe", "Give", "Hold", "Keep", "Link", "Make"),
    *("Mark", "Match", "Name", "Own", "Read", "Report", "Return", "Say", "Share", "Stand", "Tell"),
)


def test_a_class_is_documented_by_a_noun_phrase():
    for owner in CLASSES:
        first = inspect.getdoc(owner).splitlines()[0]
        assert first[0].isupper(), first
        assert first.endswith("."), first
        assert first.split()[0] not in VERBS, f"{owner.__name__}: {first}"


def test_a_function_is_documented_by_what_it_does():
    for owner in CLASSES:
        for name in vars(owner):
            member = getattr(owner, name, None)
            is_own = not name.startswith("_") and callable(member) and not inspect.isclass(member)
            if not is_own or not (text := inspect.getdoc(member)):
                continue
            lines = [line for line in text.splitlines() if not line.startswith(f"{name}(")]
            first = next(line for line in lines if line)
            word = first.split()[0].rstrip(",").lower()
            assert first[0].isupper(), f"{owner.__name__}.{name}: {first}"
            assert word not in ("a", "an", "the", "tell", "says"), f"{owner.__name__}.{name}"
            assert not word.endswith("s") or word in ("pass", "press", "process"), first


def test_all_is_sorted_and_without_doubles():
    assert len(set(cuprum.__all__)) == len(cuprum.__all__)


@pytest.mark.parametrize("module", [cuprum, *map(cuprum.__getattr__, cuprum._LAZY_MODULES)])
def test_completion_shows_public_names_only(module):
    assert {*module.__all__, "__name__"} <= {*dir(module)}
    assert {name for name in dir(module) if not name.startswith("__")} <= {*module.__all__}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = cuprum.no_such_name


def test_importing_loads_neither_numpy_nor_a_driver():
    python(
        "-S",
        "-c",
        _with_path(
            "import sys, cuprum; "
            "late = {'numpy', 'dataclasses', 'typing', 'inspect'} & set(sys.modules); "
            "assert not late, late; "
            "assert 'libcuda' not in open('/proc/self/maps').read()"
        ),
    )


def test_typing_marker_and_stub_are_shipped():
    assert (PACKAGE / "py.typed").exists()
    assert (PACKAGE / "_cuprum/__init__.pyi").exists()


def described_members(folder):
    """Return the names that stubs describe: classes, their members, functions."""
    for stub in folder.glob("*.pyi"):
        nodes = ast.parse(stub.read_text()).body
        shared = {  # members that several classes have
            node.name: node.body
            for node in nodes
            if any(
                ast.unparse(each) == "type_check_only"
                for each in getattr(node, "decorator_list", ())
            )
        }
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                yield node.name
            elif isinstance(node, ast.ClassDef) and node.name not in shared:
                yield node.name
                inherited = [shared.get(ast.unparse(base), []) for base in node.bases]
                for member in sum(inherited, node.body):
                    if isinstance(member, ast.FunctionDef):
                        yield f"{node.name}.{member.name}"


def test_the_stubs_describe_what_is_there_and_nothing_else():
    described = set(described_members(PACKAGE / "_cuprum"))
    missing = {name for name in described if not has_member(_cuprum, name)}
    # Slots, which only newer versions of Python show as methods.
    assert {name.partition(".")[2] for name in missing} <= {"__buffer__", "__release_buffer__"}
    own = {name for name, each in vars(_cuprum).items() if callable(each)}
    assert own <= described
    for name in own:
        if inspect.isclass(kind := getattr(_cuprum, name)):
            members = {each for each, value in vars(kind).items() if is_bound(value)}
            members.discard("__new__")  # described as __init__
            assert {f"{name}.{each}" for each in members} <= described, name


def has_member(owner, name):
    for part in name.split("."):
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


def is_bound(value):
    """Return whether an entry of a class was bound, not made by Python for a slot."""
    kinds = (type(cuprum.Stream.sync), types.GetSetDescriptorType, staticmethod, classmethod)
    return isinstance(value, kinds)


def test_enumerations_are_strings():
    from cuprum.typing import CompilerBackendType, ObjectCodeFormatType, SourceCodeType

    assert SourceCodeType.CXX == "c++"
    assert str(ObjectCodeFormatType.CUBIN) == "cubin"
    assert f"{CompilerBackendType.NVRTC}" == "NVRTC"


def test_streams_match_the_protocol(stream):
    from cuprum.typing import IsStreamType

    assert isinstance(stream, IsStreamType)
    assert not isinstance(3, IsStreamType)


def test_leaving_with_objects_alive_is_quiet():
    code = (
        "import cuprum; d = cuprum.Device(0); d.set_current(); s = d.create_stream(); "
        "b = d.allocate(64, stream=s); e = s.record(); v = [b, e, s]; v.append(v)"
    )
    result = subprocess.run(
        [sys.executable, "-c", _with_path(code)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0
    assert "Error" not in result.stderr
    assert "leak" not in result.stderr


def _with_path(code):
    return f"import sys; sys.path[:0] = {[*sys.path]!r}; {code}"
