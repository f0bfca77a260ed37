# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The examples in the documents run, their output is real, and the names they mention exist.

`tools/documentation_examples.py` explains how examples are marked. ctest compiles and runs the C++
blocks. These tests run the Python blocks and check everything else.
"""

import contextlib
import doctest
import html
import io
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from documentation_examples import NEEDS, PAGES, blocks, classes, page_name  # noqa: E402

# ARCHITECTURE.md is a map whose tables mention many files.
PROSE = [page for page in PAGES if page.name != "ARCHITECTURE.md"]
MAX_COLUMNS = 110
# Instead of a line, with versions of Python that hide it; see emulator/src/places/python_stack.hpp.
HIDDEN_LINE = "in Python; this version shows the line only to threads that hold the GIL"
MAX_PARAGRAPH_LINES = 5
MAX_README_LINES = 120
# What stands above the lines of program.py that the picture of the README shows.
PICTURE_BEGIN = """from pathlib import Path
import cuprum
from cuprum import LaunchConfig, launch
device = cuprum.Device(0)
stream = device.create_stream()
options = cuprum.ProgramOptions(name="fill.cu", lineinfo=True)
program = cuprum.Program(Path("fill.cu").read_text(), "c++", options)
fill = program.compile("ptx").get_kernel("fill")
"""


def python_examples():
    """Yield the examples: Python blocks that belong together, each with its expected output."""
    for page in PAGES:
        found = list(blocks(page))
        example = []
        for block, after in itertools.zip_longest(found, found[1:]):
            if block.language != "python":
                continue
            if example and not block.is_continued:
                yield parameter(example)
                example = []
            example.append((block, after.text if after and after.kind == "output" else None))
        if example:
            yield parameter(example)


def parameter(example):
    """Name a test after the first block of the example."""
    return pytest.param(example, id=example[0][0].name.replace("/", "-"))


@pytest.mark.parametrize("example", list(python_examples()))
def test_python_in_the_documents_runs_and_prints_what_they_show(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("numpy")
    names = {"__name__": "__main__"}
    for block, output in example:
        words = block.info.split()[1:]
        settings = dict(word.split("=", 1) for word in words if "=" in word)
        if settings:
            printed = run_in_a_process(block.text, settings, tmp_path)
        else:
            with contextlib.redirect_stdout(io.StringIO()) as stream:
                exec(compile(block.text, str(block.page), "exec"), names)
            printed = stream.getvalue()
        # The pages show runs on the emulated device. A GPU has another name and other numbers.
        if output is not None and cuprum.Device(0).is_emulated:
            compare(output, printed)


def compare(expected, printed):
    """Compare the output on a page with what its example printed; `...` matches anything."""
    expected, printed = (without_chance(text) for text in (expected, printed))
    if HIDDEN_LINE in printed:
        expected, printed = (without_lines_of_python(text) for text in (expected, printed))
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if not checker.check_output(expected, printed, flags):
        pytest.fail(checker.output_difference(doctest.Example("", expected), printed, flags))


def without_lines_of_python(text):
    """Remove which lines of a Python program called the driver."""
    return re.sub(rf"^ +(at /home/me/\w+\.py:\d+|{HIDDEN_LINE})\n", "", text, flags=re.MULTILINE)


def without_chance(text):
    """Replace what differs between runs, between compilers or between versions of Python."""
    text = re.sub(r"^ +[~^]+\n", "", text, flags=re.MULTILINE)  # marks in tracebacks
    text = re.sub(r"0x[0-9a-f]{6,}", "0x0", text)
    text = re.sub(r"host thread \d+", "host thread 0", text)
    return re.sub(r"PTX line \d+: .*", "PTX line 0", text)


def run_in_a_process(text, settings, folder):
    """Run a program on the emulated device with these settings; return all its output."""
    if not cuprum.Device(0).is_emulated:
        pytest.skip("the settings are those of the emulated device")
    script = folder / "program.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "CUPRUM_EMULATOR_LOG": "error",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            **settings,
        },
    )
    # A block may end with an exception that the page shows, but never with a signal.
    assert done.returncode >= 0, done.stdout
    return done.stdout.replace(str(folder), "/home/me")


def cpp_output(page):
    """Return the output that a page shows for the C++ blocks that the tests compile."""
    found = list(blocks(page))
    return "".join(
        after.text
        for block, after in itertools.pairwise(found)
        if block.language == "cpp" and block.info.startswith("cpp") and after.kind == "output"
    )


@pytest.mark.parametrize("page", [*filter(cpp_output, PAGES)], ids=lambda page: page.name)
def test_cpp_in_the_documents_prints_what_they_show(page):
    # build/dev has the package in python/cuprum and the program in examples.
    program = Path(cuprum.__file__).parents[2] / "examples/documentation_examples"
    if not program.exists():
        pytest.skip("the C++ examples are not built")
    if not cuprum.Device(0).is_emulated:
        pytest.skip("the pages show runs on the emulated device")
    done = subprocess.run(
        [program, page_name(page)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CUPRUM_DRIVER": "emulated"},
    )
    compare(cpp_output(page), done.stdout)


def test_every_public_class_of_cpp_has_an_example():
    found = list(classes())
    assert {"Buffer", "Stream", "TypedKernel", "GraphBuilder"} <= {each.name for each in found}
    missing = [f"{each.header.name}: {each.name}" for each in found if not each.text.strip()]
    assert missing == []
    assert set(NEEDS) <= {each.name for each in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_cpp_block_is_compiled_or_shows_a_tested_file(page):
    for block in blocks(page):
        if block.language != "cpp":
            continue
        assert block.kind == "example", f"{block.name}: add <!-- example: cpp --> above the block"
        if block.info.split()[0] != "cpp":
            source = (ROOT / block.info).read_text()
            assert block.text.strip() == source.split("\n\n", 1)[1].strip(), block.name


def test_the_first_example_of_each_language_has_ten_lines():
    for language, page in (("python", "README.md"), ("cpp", "docs/index.md")):
        first = next(block for block in blocks(ROOT / page) if block.language == language)
        assert len([line for line in first.text.splitlines() if line.strip()]) == 10


def test_the_readme_has_no_unfilled_place():
    assert re.search(r"@[A-Z_]+@", (ROOT / "README.md").read_text()) is None


def test_the_readme_is_short_and_in_order():
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") <= MAX_README_LINES
    order = ["**CUDA from", "](docs/images/report.svg)", "- **It runs", "- **It finds", "- **It is"]
    order += ["\n## Install\n", "\n## Ten lines of Python\n", "\n## What it is not\n"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_the_picture_of_the_readme_shows_a_real_report(tmp_path):
    picture = (ROOT / "docs/images/report.svg").read_text()
    found = re.findall(r'<text .*?x="(\d+)" y="(\d+)">(.*?)</text>', picture)
    texts = [
        (int(x), int(y), html.unescape(re.sub(r"</?tspan.*?>", "", text))) for x, y, text in found
    ]
    kernel, program = ({}, {})
    for x, _, text in texts:
        if numbered := re.match(r"(\d+) (.*)", text):
            (kernel if x < 400 else program)[int(numbered[1])] = numbered[2]
    (tmp_path / "fill.cu").write_text("".join(f"{line}\n" for line in [*kernel.values(), "}"]))
    above = PICTURE_BEGIN + "\n" * (min(program) - 1 - PICTURE_BEGIN.count("\n"))
    text = "\n".join([*program.values(), "stream.sync()"])
    output = run_in_a_process(above + text, {"CUPRUM_EMULATOR_CHECK": "memory"}, tmp_path)
    reported = output[: output.index("Traceback")].replace("/home/me/", "")
    reported = reported.removeprefix("cuprum emulator: error: ")
    shown = "\n".join(text for _, y, text in texts if y > 150)
    # The picture breaks the lines elsewhere.
    shown, reported = (
        " ".join(without_chance(text).replace(", at program", " at program").split())
        for text in (f"{shown}\n", reported)
    )
    if HIDDEN_LINE in reported:
        shown, reported = (
            re.sub(rf" at program\.py:\d+| {HIDDEN_LINE}", "", text) for text in (shown, reported)
        )
    assert reported == shown


def test_paths_in_the_architecture_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    # `core/src/driver/table.hpp`, not `core/tests/test_<object>.cpp` or `api -> objects`
    named = re.findall(
        r"`((?:core|python|emulator|docs|tools|examples|benchmarks|cmake)/[\w./]*)`", text
    )
    assert named
    missing = [path for path in named if not (ROOT / path).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_documents_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text()):
        if "://" in target:
            continue
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in headings(file), f"{page.name} links to {target}#{anchor}"


def headings(page):
    """Return the anchors that GitHub creates for a page's headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_prose_is_wrapped_and_paragraphs_are_short(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.strip().splitlines()
        if not lines or lines[0].startswith(("|", "#")):
            continue
        wide = [line for line in lines if len(line) > MAX_COLUMNS and " " in line.strip()]
        assert not wide, f"{page.name}: wrap at {MAX_COLUMNS} columns: {wide[0]}"
        # List items must be as short as paragraphs.
        items = re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", paragraph.strip())
        long = [item for item in items if item.count("\n") >= MAX_PARAGRAPH_LINES]
        assert not long, f"{page.name}: more than {MAX_PARAGRAPH_LINES} lines: {long[0]}"


def test_the_index_leads_to_every_page():
    index = (ROOT / "docs/index.md").read_text()
    folder = ROOT / "docs"
    pages = [page.relative_to(folder) for page in folder.rglob("*.md") if page.name != "index.md"]
    missing = [str(page) for page in pages if f"({page})" not in index]
    assert missing == []


def test_the_examples_page_lists_every_example():
    rows = re.findall(
        r"^\| \d+ \|.*\| (?:\[✓\]\((.*?)\))? ?\| (?:\[✓\]\((.*?)\))? ?\|$",
        (ROOT / "examples/README.md").read_text(),
        re.MULTILINE,
    )
    for column, folder in enumerate(("cpp", "python")):
        listed = [row[column] for row in rows if row[column]]
        paths = (ROOT / "examples" / folder).glob("[0-9][0-9]_*")
        assert listed == sorted(f"{folder}/{path.name}" for path in paths)


FOLDER_PAGES = [
    page
    for folder in ("core/src", "emulator/src", "python/bindings")
    for page in sorted((ROOT / folder).rglob("README.md"))
]


@pytest.mark.parametrize("page", FOLDER_PAGES, ids=lambda page: page.parent.name)
def test_files_that_a_folder_page_names_exist(page):
    top = ROOT.joinpath(*page.relative_to(ROOT).parts[:2])
    for name in re.findall(r"`([\w./]+\.(?:hpp|cpp|def))`", page.read_text()):
        found = (page.parent / name).exists() or (top / name).exists()
        assert found or any(page.parent.rglob(name)), f"{page.relative_to(ROOT)} names {name}"


def test_the_page_of_what_the_emulator_supports_is_up_to_date():
    result = subprocess.run(
        [sys.executable, ROOT / "tools/emulator-support", "--check"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def test_the_plots_show_the_figures_of_the_tables():
    result = subprocess.run(
        [sys.executable, ROOT / "tools/plot-benchmarks", "--check"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
