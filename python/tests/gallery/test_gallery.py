# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The programs and notebooks of the gallery run, and draw their pictures.

``make test`` skips those that need other packages. ``make test-gallery`` installs the packages in
an environment of its own.
"""

import contextlib
import http.client
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

import cuprum

ROOT = Path(__file__).parents[3]
GALLERY = ROOT / "examples" / "gallery"
NOTEBOOKS = ROOT / "examples" / "notebooks"
TIMEOUT_S = 280

# Modules that are no programs of their own.
PARTS = {"pictures", "cluster_work", "run_notebook"}
# What programs need beside NumPy.
NEEDS = {"torch_operator": "torch", "dask_cluster": "distributed", "ray_cluster": "ray"}
PICTURES = {"four_devices": "png", "dask_cluster": "png", "ray_cluster": "png"}


def need(package):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; make test-gallery installs it")


def run(program, *arguments, folder):
    """Run a program in an empty folder; return what it prints."""
    environment = {
        **os.environ,
        "HOME": str(folder),  # some packages leave files there
        "CUPRUM_EMULATOR_DEVICES": "4" if "four" in program else "1",
    }
    process = subprocess.Popen(
        [sys.executable, GALLERY / f"{program}.py", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=TIMEOUT_S)
    finally:
        with contextlib.suppress(ProcessLookupError):  # workers and servers, if any are left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0, output + errors
    return output


@pytest.mark.parametrize(
    "program", sorted(path.stem for path in GALLERY.glob("*.py") if path.stem not in PARTS)
)
def test_a_program_runs_and_draws_its_picture(program, tmp_path, device):
    if program in NEEDS:
        need(NEEDS[program])
    if program in ("catch_a_bug", "four_devices") and not device.is_emulated:
        pytest.skip("is about the emulated device")
    picture = tmp_path / f"picture.{PICTURES.get(program, 'svg')}"
    output = run(program, picture, folder=tmp_path)
    assert output
    begin = b"\x89PNG" if picture.suffix == ".png" else b"<svg "
    assert picture.read_bytes().startswith(begin)


def test_the_report_of_a_bug_names_its_lines(tmp_path, device):
    if not device.is_emulated:
        pytest.skip("is about the emulated device")
    output = run("catch_a_bug", folder=tmp_path)
    assert "race: read of 4 bytes" in output
    assert output.count("from sum.cu:8") == 2
    assert "with the barrier: the sum is 32640" in output


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    for package in ("nbclient", "nbformat", "ipykernel"):
        need(package)
    import nbclient
    import nbformat

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=TIMEOUT_S, kernel_name="python3").execute()
    shown = {}
    for cell in code_cells(notebook):
        for output in cell["outputs"]:
            shown.setdefault(cell["source"].split("\n")[0], []).append(
                json.dumps(output.get("data", output.get("text")))
            )
    text = "\n".join(part for parts in shown.values() for part in parts)
    assert "the graph drew the same picture" in text
    assert 'identifier \\"missing\\" is undefined' in text
    assert "takes 5 arguments, 3 given" in text
    (timeline,) = shown["%%cuda_trace timeline"]
    assert "6 kernels" in timeline
    assert "<svg " in timeline


def test_notebooks_are_kept_with_their_output():
    for path in NOTEBOOKS.glob("*.ipynb"):
        notebook = json.loads(path.read_text())
        assert any(cell["outputs"] for cell in code_cells(notebook)), f"{path} has no output"
        assert not re.search(r'"/(home|root|work|tmp)/', path.read_text())


def test_the_page_shows_every_program_and_every_picture():
    page = (ROOT / "docs" / "gallery.md").read_text()
    for path in [*GALLERY.glob("*.py"), *NOTEBOOKS.glob("*.ipynb")]:
        if path.stem not in PARTS:
            assert f"../examples/{path.parent.name}/{path.name}" in page, path.name
    for picture in (ROOT / "docs" / "images" / "gallery").iterdir():
        pages = [page, (ROOT / "docs" / "guide" / "notebooks.md").read_text()]
        assert any(picture.name in text for text in pages), picture.name


def test_the_timeline_in_the_documents_is_drawn_as_timelines_are_now(device, stream):
    """If this fails, draw it again: tools/test-gallery --pictures."""
    buffer = device.allocate(64, stream=stream)
    with cuprum.trace.record() as timeline:
        buffer.fill(b"\1", stream=stream)
        stream.sync()
    picture = (ROOT / "docs" / "images" / "gallery" / "timeline.svg").read_text()
    for text in (picture, timeline.to_svg()):
        assert 'font-family="sans-serif" font-size="11">' in text
        colour = "#2f7ed8" if text is picture else "#e08a1e"  # kernels, copies
        assert f'height="15" fill="{colour}"><title>' in text
        assert re.search(r'<path d="M170\.0 18V\d+" stroke="#ddd"', text)
        assert re.search(
            r'<text x="170\.0" y="13" fill="#666" text-anchor="start">0 us</text>', text
        )


def test_a_server_ends_with_its_parent(tmp_path):
    """Also if the parent was killed."""
    server = subprocess.Popen(
        [sys.executable, GALLERY / "web_service.py", "--serve", tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        port = int(server.stdout.readline())
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
        for count in ("-1", "x", "9" * 5000, "\u00b2"):
            query = urllib.parse.urlencode({"formula": "x", "count": count})
            connection.request("GET", f"/evaluate?{query}")
            with connection.getresponse() as response:
                assert response.status == 400
                assert b"expected a formula of x, and a count" in response.read()
        connection.close()
        server.stdin.close()
        assert server.wait(TIMEOUT_S) == 0
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
