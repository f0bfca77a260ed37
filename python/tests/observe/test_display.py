# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What objects show of themselves in a console and in a notebook."""

import html.parser
import re
import subprocess
import sys

import pytest

import cuprum
from cuprum import _display
from cuprum.graph import GraphDefinition

UNTRUSTED = "<script>alert('x')</script>&\"quoted\""
SOURCE = 'extern "C" __global__ void scale(float* values, int count, double factor) {}'


class Text(html.parser.HTMLParser):
    """The tags and the text of some HTML, as a browser sees them."""

    def __init__(self, source):
        super().__init__()
        self.tags = []
        self.open = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert not any(name.startswith("on") for name, _ in attrs)
        self.tags.append(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + "\n"


def shown(thing):
    """Return the text that a notebook shows; the HTML must be small and whole."""
    source = thing._repr_html_()
    assert len(source) < 20_000
    seen = Text(source)
    assert seen.open == []
    assert "script" not in seen.tags
    return seen.text


def compiled(name="scale.cu"):
    return cuprum.Program(SOURCE, "c++", cuprum.ProgramOptions(name=name)).compile("ptx")


def test_a_device_shows_its_name_and_memory(device):
    text = shown(device)
    assert text.startswith(f"Device {device.device_id}\n")
    assert device.name in text
    assert ("emulated on the CPU" in text) == device.is_emulated
    assert "compute capability" in text
    assert re.search(r"[\d.]+ .?i?B free of [\d.]+ .iB", text)


def test_showing_a_device_creates_no_context(device):
    program = """
import cuprum
device = cuprum.Device(0)
assert not device.is_primary_context_active
assert " free of " not in device._repr_html_()
assert not device.is_primary_context_active
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_objects_that_the_driver_refuses_show_their_repr(device):
    kernel = compiled().get_kernel("scale")
    with cuprum.testing.fail_call("cuKernelGetAttribute"):
        assert shown(kernel).strip() == repr(kernel)
    assert "registers per thread" in shown(kernel)


def test_a_buffer_shows_address_size_and_resource(device, stream):
    buffer = device.allocate(3 << 20, stream=stream)
    text = shown(buffer)
    for part in (f"{buffer.handle:#x}", "3 MiB (3,145,728 bytes)", "DeviceMemoryResource"):
        assert part in text
    assert "device, device 0" in text
    buffer.close()
    assert "closed" in shown(buffer)


def test_buffers_show_the_kind_of_memory_and_the_owner(device, stream):
    pinned = cuprum.LegacyPinnedMemoryResource().allocate(64, stream=stream)
    assert "pinned" in shown(pinned)
    managed = cuprum.ManagedMemoryResource().allocate(64, stream=stream)
    assert "managed" in shown(managed)

    owner = type(UNTRUSTED, (), {})()
    wrapped = cuprum.Buffer.from_handle(pinned.handle, 64, owner=owner)
    assert UNTRUSTED in shown(wrapped)
    assert "resource" not in shown(wrapped)


def test_a_kernel_shows_name_and_parameters(device):
    kernel = compiled().get_kernel("scale")
    text = shown(kernel)
    assert "scale" in text
    assert "int64 or pointer, int32, float64" in text
    assert "registers per thread" in text
    assert repr(kernel).startswith(
        "<Kernel name='scale' parameters=(int64 or pointer, int32, float64) handle=0x"
    )
    kernel.close()
    assert "closed" in shown(kernel)


def test_names_from_elsewhere_are_escaped(device):
    code = compiled(UNTRUSTED)
    assert UNTRUSTED in shown(code)
    assert repr(code).startswith(f"<ObjectCode name={UNTRUSTED!r} code_type='ptx' size=")
    code.close()
    assert "closed" in shown(code)


def test_object_code_lists_the_names_that_were_asked_for(device):
    names = [f"f<{index}>" for index in range(25)]
    source = "template <int i> __global__ void f() {}"
    code = cuprum.Program(source, "c++").compile("ptx", name_expressions=names)
    text = shown(code)
    assert "f<0>" in text
    assert "and 5 more" in text


def make_graph(device, stream):
    kernel = compiled().get_kernel("scale")
    buffer = device.allocate(64, stream=stream)
    graph = GraphDefinition()
    first = graph.memset(buffer.handle, 0, 64)
    first.launch(cuprum.LaunchConfig(grid=2, block=32), kernel, buffer, 16, 2.0)
    return graph


def test_a_graph_shows_counts_and_a_picture(device, stream):
    graph = make_graph(device, stream)
    assert repr(graph).endswith(" nodes=2 edges=1>")
    source = graph._repr_html_()
    text = shown(graph)
    assert "2 (1 KernelNode, 1 MemsetNode)" in text
    if graph._repr_svg_() is None:
        assert "scale, grid 2, block 32" in text
    else:
        assert 'src="data:image/svg+xml;base64,' in source


def test_a_graph_is_text_without_graphviz(device, stream, monkeypatch):
    graph = make_graph(device, stream)
    monkeypatch.setenv("PATH", "")
    assert graph._repr_svg_() is None
    assert "scale, grid 2, block 32" in shown(graph)


def test_empty_and_closed_graphs_are_shown(device):
    graph = GraphDefinition()
    assert repr(graph).endswith(" nodes=0 edges=0>")
    assert "nodes\n0\n" in shown(graph)
    graph.close()
    assert "closed" in shown(graph)


def test_a_kernel_node_names_its_kernel(device, stream):
    graph = make_graph(device, stream)
    (node,) = (each for each in graph.nodes() if isinstance(each, cuprum.graph.KernelNode))
    assert repr(node).endswith(" name='scale' grid=(2, 1, 1) block=(32, 1, 1)>")


def test_a_graph_builder_has_one_name(device):
    builder = device.create_graph_builder()
    assert re.fullmatch(r"<GraphBuilder \d+ primary, not started>", repr(builder))
    builder.close()


def test_memory_resources_name_their_device(device):
    pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})
    assert repr(pool) == f"<DeviceMemoryResource device=0 handle={int(pool.handle):#x}>"
    pool.close()
    assert repr(pool) == "<DeviceMemoryResource closed>"


class Mine(cuprum.MemoryResource):
    """A resource that leaves everything out."""


class Failing(Mine):
    @property
    def device_id(self):
        raise ZeroDivisionError


def test_memory_resources_of_users_have_a_repr_whatever_they_leave_out():
    for resource in (Mine(), Failing(), Failing.__new__(Failing)):
        assert re.fullmatch(rf"<{type(resource).__name__} at 0x[0-9a-f]+>", repr(resource))


def test_properties_and_occupancy_say_what_they_are_of(device):
    assert re.fullmatch(
        r"<DeviceProperties compute_capability=\d+\.\d multiprocessor_count=\d+ warp_size=32>",
        repr(device.properties),
    )
    assert repr(compiled().get_kernel("scale").occupancy) == "<KernelOccupancy kernel='scale'>"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1536, "1.5 KiB"),
        (1 << 30, "1 GiB"),
        (1 << 60, "1048576 TiB"),
    ],
)
def test_sizes_have_units(count, text):
    assert _display.size(count) == text
