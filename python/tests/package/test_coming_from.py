# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Names in docs/coming_from.md exist, in their column's language; work needs a stream."""

import re
from pathlib import Path

import pytest

import cuprum
import cuprum.graph

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/coming_from.md").read_text()
HEADERS = {
    path.relative_to(ROOT / "core/include/cuprum").as_posix(): path.read_text()
    for path in (ROOT / "core/include/cuprum").rglob("*.hpp")
    # These have classes named Device of their own.
    if path.parent.name != "system" and path.name != "dlpack.hpp"
}

# What the page calls the objects, and their classes.
OBJECTS = {
    "device": "Device",
    "stream": "Stream",
    "event": "Event",
    "buffer": "Buffer",
    "program": "Program",
    "code": "ObjectCode",
    "kernel": "Kernel",
    "definition": "GraphDefinition",
    "builder": "GraphBuilder",
    "graph": "Graph",
}
# Sections whose tables are about C++.
CPP_SECTIONS = {"cuda-api-wrappers"}


def cells():
    """Yield the language and the text of each cell of Cuprum's columns."""
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        title = section.partition("\n")[0]
        if "|---" not in section:
            continue
        rows = [
            [cell.strip() for cell in line.strip("|").split(" | ")]
            for line in section.splitlines()
            if line.startswith("|")
        ]
        header = [cell.strip() for cell in rows[0]]
        for row in rows[2:]:
            assert len(row) == len(header), row
            for column, cell in zip(header[1:], row[1:], strict=True):
                is_cpp = column.strip("| ") == "C++" or title in CPP_SECTIONS
                yield ("cpp" if is_cpp else "python"), cell


def code_of(language):
    """Yield the code of one language in the tables."""
    for found, cell in cells():
        if found == language:
            yield from re.findall(r"`([^`]+)`", cell)


def python_class(name):
    """Return a class of the package."""
    return getattr(cuprum, name, None) or getattr(cuprum.graph, name)


def cpp_class(name):
    """Return the text of a class from the headers."""
    for text in HEADERS.values():
        found = re.search(
            rf"^(?:class|struct) (?:CUPRUM_API )?{name}\b[^;]*?\{{.*?^\}};", text, re.M | re.S
        )
        if found:
            return found[0]
    pytest.fail(f"no header declares {name}")


def test_the_page_has_a_table_for_each_library():
    titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert titles == [
        "One program, before and after",
        "`cuda.core`",
        "The CUDA runtime API",
        "CuPy",
        "Numba",
        "PyCUDA",
        "cuda-api-wrappers",
    ]
    assert len(list(code_of("python"))) > 100
    assert len(list(code_of("cpp"))) > 50


def test_members_of_python_objects_exist():
    for code in code_of("python"):
        for name, member in re.findall(r"\b(?<![.\w])(\w+)\.(\w+)", code):
            if name in OBJECTS:
                assert hasattr(python_class(OBJECTS[name]), member), code


def test_names_of_the_python_package_exist():
    for code in code_of("python"):
        for path in re.findall(r"\bcuprum((?:\.\w+)+)", code):
            value = cuprum
            for part in path.strip(".").split("."):
                value = getattr(value, part)
        for name in re.findall(r"\b(?<![.\w])([A-Z]\w+)\(", code):
            assert hasattr(cuprum, name), code


def test_keywords_of_python_options_exist():
    for code in code_of("python"):
        for name, arguments in re.findall(r"\b(EventOptions|LaunchConfig)\(([^()]*)\)", code):
            for keyword in re.findall(r"(\w+)=", arguments):
                assert keyword in dir(getattr(cuprum, name)), code


def test_members_of_cpp_objects_exist():
    for code in code_of("cpp"):
        for name, member in re.findall(r"\b(?<![.\w])(\w+)\.(\w+)[<(]", code):
            if name in OBJECTS:
                assert re.search(rf"\b{member}\(", cpp_class(OBJECTS[name])), code
        for name, member in re.findall(r"\b([A-Z]\w+)::(\w+)", code):
            if name == "CodeType":
                assert member in ("Ptx", "Cubin"), code
            else:
                assert re.search(rf"\b{member}\(", cpp_class(name)), code


def test_fields_of_cpp_launches_exist():
    config = cpp_class("LaunchConfig")
    for code in code_of("cpp"):
        for field in re.findall(r"\.(\w+) = ", code):
            assert re.search(rf"\b{field}\b", config), code


def test_free_functions_and_classes_of_cpp_exist():
    everything = "\n".join(HEADERS.values())
    for code in code_of("cpp"):
        for name in re.findall(r"^(\w+)\(", code):
            assert re.search(rf"\b{name}\(", everything), code
        for name in re.findall(r"^([A-Z]\w+)\b", code):
            assert re.search(rf"\b(?:class|struct) (?:CUPRUM_API )?{name}\b", everything), code


@pytest.mark.parametrize(
    "work",
    [
        lambda device, buffer: device.allocate(16),
        lambda device, buffer: device.memory_resource.allocate(16),
        lambda device, buffer: buffer.fill(0),
        lambda device, buffer: buffer.copy_to(buffer),
        lambda device, buffer: buffer.copy_from(buffer),
        lambda device, buffer: buffer.copy_to_host(bytearray(16)),
        lambda device, buffer: buffer.copy_from_host(bytes(16)),
        lambda device, buffer: cuprum.launch(cuprum.LaunchConfig(grid=1, block=1), None, None),
        lambda device, buffer: cuprum.graph.GraphDefinition().instantiate().launch(),
    ],
)
def test_work_without_a_stream_is_refused(device, stream, work):
    buffer = device.allocate(16, stream=stream)
    with pytest.raises(TypeError, match="stream"):
        work(device, buffer)
