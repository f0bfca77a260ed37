# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Pictures of graphs."""

import dataclasses
import os

import pytest

import cuprum
from cuprum.graph import GraphDebugPrintOptions, GraphDefinition, capture


@pytest.fixture
def graph(kernels, one, cell):
    graph = GraphDefinition()
    first = graph.launch(one, kernels("add"), cell.buffer, 1)
    first.memset(cell.buffer, 0, 4)
    child = GraphDefinition()
    child.callback(lambda: None)
    first.embed(child)
    yield graph
    graph.close()


def test_text_names_kernels_and_order(graph):
    text = graph.to_text()
    assert text.startswith("graph: 3 nodes, 2 edges")
    assert "add" in text
    assert "after 1" in text


def test_dot_names_kernels(graph):
    dot = graph.to_dot()
    assert dot.lstrip().startswith("digraph")
    assert "add" in dot
    assert dot.count("->") >= 2


def test_the_driver_writes_a_file(graph, tmp_path, stream):
    file = tmp_path / "graph.dot"
    graph.debug_dot_print(file)
    assert "digraph" in file.read_text()
    everything = dataclasses.asdict(GraphDebugPrintOptions(verbose=True))
    graph.debug_dot_print(str(file), everything)
    assert "digraph" in file.read_text()
    file.unlink()
    with capture(stream) as builder:
        builder.callback(lambda: None)
    builder.debug_dot_print(file, GraphDebugPrintOptions(handles=True))
    assert "digraph" in file.read_text()


def test_every_option_is_a_flag_of_its_own():
    names = [field.name for field in dataclasses.fields(GraphDebugPrintOptions)]
    flags = [GraphDebugPrintOptions(**{name: True})._to_flags() for name in names]
    assert flags == [1 << bit for bit in range(16)]
    assert GraphDebugPrintOptions()._to_flags() == 0


def test_wrong_options(graph, tmp_path):
    with pytest.raises(TypeError, match=r"options must be a GraphDebugPrintOptions.*got str"):
        graph.debug_dot_print(tmp_path / "graph.dot", "all")
    with pytest.raises(TypeError, match=r"options must be a GraphCompleteOptions.*got int"):
        graph.instantiate(1)
    with pytest.raises(TypeError, match="no_such"):
        graph.instantiate({"no_such": True})
    with pytest.raises((cuprum.CUDAError, OSError)):
        graph.debug_dot_print(tmp_path / "no folder" / "graph.dot")


DOT = """#!/bin/sh
cat > /dev/null
echo '<?xml version="1.0"?>'
echo "<svg>drawn with $1</svg>"
"""


@pytest.fixture
def fake_dot(tmp_path, monkeypatch):
    """A program in the place of Graphviz's."""

    def install(text):
        program = tmp_path / "dot"
        program.write_text(text)
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")

    return install


def test_an_svg_is_drawn_by_graphviz(graph, fake_dot):
    fake_dot(DOT)
    assert "<svg>drawn with -Tsvg</svg>" in graph.to_svg()
    assert graph._repr_svg_() == graph.to_svg()


def test_without_graphviz_there_is_no_svg(graph, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert graph._repr_svg_() is None
    with pytest.raises(cuprum.LibraryNotFoundError, match=r"(?i)graphviz"):
        graph.to_svg()


def test_a_failure_of_graphviz_is_reported(graph, fake_dot):
    fake_dot("#!/bin/sh\ncat > /dev/null\necho 'no layout' >&2\nexit 3\n")
    with pytest.raises(RuntimeError, match="no layout"):
        graph.to_svg()
