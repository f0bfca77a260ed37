# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Public callables document parameters, result and exceptions, and every class has an example.

The examples run on the emulated device. They all start with the lines of `SETUP`, which the Python
reference shows on its first page.
"""

import ast
import doctest
import re
import sys
from pathlib import Path

import pytest

import cuprum

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/site"))

import python_reference  # noqa: E402

SOURCES = python_reference.Sources(ROOT / "python/cuprum")
# Classes that need no example: their members or their base class say all.
PLAIN_BASE = re.compile(r"(Enum|Flag|Protocol|Error|Exception|Warning)$")
DEFINITIONS = list(python_reference.public_definitions(SOURCES))
CONSTRUCTORS = ("__init__", "__new__")
# These raise nothing that a caller could act on. A release that fails is a warning.
CANNOT_RAISE = {
    "cuprum.Event.close",
    "cuprum.ExternalMemory.close",
    "cuprum.ExternalSemaphore.close",
    "cuprum.GraphMemoryResource.close",
    "cuprum.Host.numa_current",
    "cuprum.Kernel.close",
    "cuprum.Linker.close",
    "cuprum.MemoryPool.close",
    "cuprum.ObjectCode.close",
    "cuprum.Program.close",
    "cuprum.Stream.close",
    "cuprum._cuprum.DeviceProperties.names",
    "cuprum._cuprum.IPCAllocationHandle.close",
    "cuprum.graph.Graph.close",
    "cuprum.graph.GraphDefinition.close",
    "cuprum.ipython.load_ipython_extension",
    "cuprum.system.DeviceEvents.close",
    "cuprum.system.RegisteredSystemEvents.close",
    "cuprum.texture.MipmappedArray.close",
    "cuprum.texture.OpaqueArray.close",
    "cuprum.texture.SurfaceObject.close",
    "cuprum.texture.TextureObject.close",
    "cuprum.trace.is_tracing",
    "cuprum.triton.Tensor.data_ptr",
    "cuprum.triton.Tensor.element_size",
    "cuprum.utils.ProgramCacheResource.close",
    "cuprum.utils.StridedLayout.flattened_axis_mask",
    "cuprum.utils.StridedLayout.squeezed",
}


def callables():
    """Yield the public functions and methods, each with its name and whether it has a `self`."""
    for name, node in DEFINITIONS:
        if isinstance(node, ast.FunctionDef):
            yield name, node, False
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    marks = [ast.unparse(mark) for mark in member.decorator_list]
                    if not any(mark.endswith(".setter") for mark in marks):
                        yield f"{name}.{member.name}", member, "staticmethod" not in marks


def documented_parameters(text):
    """Return the names in the section "Parameters" of a docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+$|\Z)", text, re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^(\S[^:\n]*)", section[1], re.MULTILINE) if section else []
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def is_property(node):
    """Return whether a function is a property."""
    marks = {ast.unparse(mark) for mark in node.decorator_list}
    return bool(marks & {"property", "cached_property"})


def test_every_callable_has_a_docstring():
    assert [name for name, node, _ in callables() if not ast.get_docstring(node)] == []


def test_every_parameter_is_documented():
    missing = []
    for name, node, has_self in callables():
        if is_property(node):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args][has_self:] + node.args.kwonlyargs
        documented = documented_parameters(ast.get_docstring(node) or "")
        missing += [f"{name}({item.arg})" for item in arguments if item.arg not in documented]
    assert missing == []


def test_every_result_is_documented():
    missing = []
    for name, node, _ in callables():
        returns = ast.unparse(node.returns) if node.returns else "None"
        text = ast.get_docstring(node) or ""
        has_section = re.search(r"^(Returns|Yields)\n-+$", text, re.MULTILINE)
        if not is_property(node) and returns != "None" and not has_section:
            missing.append(f"{name} -> {returns}")
    assert missing == []


def has_raises(node):
    """Return whether a docstring has a section "Raises"."""
    return re.search(r"^Raises\n-+$", ast.get_docstring(node) or "", re.MULTILINE) is not None


def test_every_exception_is_documented():
    functions = {name: node for name, node, _ in callables() if not is_property(node)}
    silent = {name for name, node in functions.items() if not has_raises(node)}
    assert sorted(silent - CANNOT_RAISE) == []
    assert sorted(CANNOT_RAISE - silent) == []  # it documents exceptions, or no longer exists


def test_every_exception_of_a_constructor_is_documented():
    missing = []
    for name, node in DEFINITIONS:
        members = node.body if isinstance(node, ast.ClassDef) else []
        has_constructor = any(getattr(each, "name", "") in CONSTRUCTORS for each in members)
        if has_constructor and documented_parameters(ast.get_docstring(node) or ""):
            missing += [] if has_raises(node) else [name]
    assert missing == []


def classes():
    """Yield the public classes that need an example."""
    for name, node in DEFINITIONS:
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            if not any(PLAIN_BASE.search(base) for base in [*bases, name]):
                yield name, node


def test_every_class_has_an_example():
    assert [name for name, node in classes() if ">>>" not in (ast.get_docstring(node) or "")] == []


@pytest.fixture(scope="module")
def names():
    """Return the names that every example can use."""
    pytest.importorskip("numpy")
    if not cuprum.Device(0).is_emulated:
        pytest.skip("the examples show what the emulated device answers")
    found = {}
    exec(python_reference.SETUP, found)
    yield found
    found.clear()


@pytest.mark.parametrize(("name", "node"), [pytest.param(*item, id=item[0]) for item in classes()])
def test_the_example_of_a_class_runs(name, node, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = ast.get_docstring(node)
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    printed = []
    runner.run(example, out=printed.append)
    assert runner.failures == 0, "".join(printed)
