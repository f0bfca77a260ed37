# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The programs that write the pages of the site, as far as they need no Sphinx."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/site"))

import comments  # noqa: E402
import links  # noqa: E402
import pages  # noqa: E402
import programs  # noqa: E402
import python_reference  # noqa: E402

SOURCES = python_reference.Sources(ROOT / "python/cuprum")
PAGE = ROOT / "docs/guide/stream.md"


def site_page(text):
    """Return what the site makes of a page in docs/guide."""
    return pages.site_page(text, PAGE, pages.site_places())


def test_python_and_cpp_that_follow_each_other_become_tabs():
    text = site_page(
        "A.\n\n```python\na()\n```\n\n<!-- output -->\n```text\n1\n```\n\n"
        "<!-- example: cpp\nint hidden;\n-->\n```cpp\na();\n```\n\nB.\n"
    )
    python, _, cpp = text.partition(":::{tab-item} C++")
    assert ":::{tab-item} Python" in python
    assert "```python\na()\n```" in python
    assert "```{code-block} text\n:class: output\n\n1\n```" in python
    assert "```cpp\na();\n```" in cpp
    assert "hidden" not in text
    assert "<!--" not in text
    assert text.endswith("B.\n")


def test_the_output_of_cpp_stays_in_its_tab():
    text = site_page(
        "```python\na()\n```\n\n<!-- example: cpp -->\n```cpp\na();\n```\n\n"
        "<!-- output -->\n```text\n2\n```\n\nB.\n"
    )
    tab = text.partition(":::{tab-item} C++")[2].partition("\n:::\n")[0]
    assert "```{code-block} text\n:class: output\n\n2\n```" in tab


def test_programs_become_pages_that_links_lead_to(tmp_path):
    text = site_page("[a](../../examples/gallery/catch_a_bug.py)\n")
    assert text == "[a](../programs/gallery/catch_a_bug_py.md)\n"

    programs.write(ROOT / "examples", tmp_path)
    page = (tmp_path / "programs/gallery/catch_a_bug_py.md").read_text()
    source = (ROOT / "examples/gallery/catch_a_bug.py").read_text()
    assert "[Download catch_a_bug.py](catch_a_bug.py)" in page
    assert source.partition("\n\n")[2] in page
    assert (tmp_path / "programs/gallery/catch_a_bug.py").read_text() == source


def test_notebooks_become_text_code_and_output(tmp_path):
    programs.write(ROOT / "examples", tmp_path)
    page = (tmp_path / "programs/notebooks/first_kernel_ipynb.md").read_text()
    assert "\n# A first kernel\n" in page
    assert page.count("\n# ") == 1
    assert "\n## Compile a cell\n" in page
    assert "cpp\n%%cuda\n" in page
    assert "<Device 0 (Cuprum Emulated Device)>" in page


def test_blocks_with_text_between_them_stay_apart():
    text = site_page("```python\na()\n```\n\nIn C++:\n\n```cpp\na();\n```\n")
    assert "tab-set" not in text


def test_links_lead_to_the_places_on_the_site():
    text = site_page(
        "[a](../errors.md#which-exception) [b](../../ARCHITECTURE.md) [c](../../LICENSE) "
        "[d](https://example.com)\n\n```text\n[e](../../LICENSE)\n```\n"
    )
    assert text.startswith(
        "[a](../errors.md#which-exception) [b](../project/architecture.md) c [d](https://example.com)"
    )
    assert "[e](../../LICENSE)" in text


def test_a_link_that_leads_nowhere_stops_the_build():
    with pytest.raises(SystemExit, match=r"missing\.md leads nowhere"):
        site_page("[a](missing.md)\n".replace("missing", "../../missing"))


@pytest.mark.parametrize("module", ["cuprum", *python_reference.MODULES])
def test_the_reference_finds_every_public_name(module):
    for name in SOURCES.public_names(module):
        is_module = f"{module}.{name}" in python_reference.MODULES
        if not name.startswith("__") and not is_module:
            assert SOURCES.find(module, name) is not None, name


def test_signatures_have_the_names_that_a_reader_imports():
    node = SOURCES.find("cuprum", "Stream")
    record = next(item for item in node.body if getattr(item, "name", "") == "record")
    assert python_reference.signature(record, skip_first=True) == (
        "(event: Event | None=None, options: EventOptions | dict[str, Any] | None=None, *, "
        "external: bool=False) -> Event"
    )


def test_the_constructor_of_a_dataclass_has_its_fields():
    node = SOURCES.find("cuprum", "StreamOptions")
    assert isinstance(node, ast.ClassDef)
    assert python_reference.constructor(node) == (
        "(nonblocking: bool = True, priority: int | None = None)"
    )


def test_wrong_links_of_the_built_site_are_found(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a><a href="c.html">y</a>')
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="a.html">z</a>')
    monkeypatch.setattr(sys, "argv", ["links.py", str(tmp_path)])
    assert links.main() == 1
    printed = capsys.readouterr().out
    assert "checked 3 links on 2 pages, 2 lead nowhere" in printed
    assert "a.html: b.html#here" in printed
    assert "a.html: c.html" in printed


COMPOUND = """<doxygen><compounddef id="a" kind="struct" prot="public">
<compoundname>cuprum::A</compoundname><location file="cuprum/a.hpp" line="3"/>
<briefdescription>{class_text}</briefdescription><detaileddescription/>
<sectiondef>
<memberdef kind="function" id="a1" prot="public"><name>f</name><argsstring>()</argsstring>
<definition>void cuprum::A::f</definition><briefdescription>{member_text}</briefdescription>
<detaileddescription/><location file="cuprum/a.hpp" line="5"/></memberdef>
<memberdef kind="function" id="a2" prot="private"><name>g</name><argsstring>()</argsstring>
<definition>void cuprum::A::g</definition><location file="cuprum/a.hpp" line="6"/></memberdef>
<memberdef kind="function" id="a3" prot="public"><name>A</name><argsstring>()=default</argsstring>
<definition>cuprum::A::A</definition><location file="cuprum/a.hpp" line="7"/></memberdef>
<memberdef kind="function" id="a4" prot="public"><name>operator==</name><argsstring>(A)</argsstring>
<definition>bool cuprum::operator==</definition><location file="cuprum/a.hpp" line="8"/></memberdef>
</sectiondef></compounddef></doxygen>"""


def test_declarations_without_a_comment_are_found(tmp_path):
    (tmp_path / "a.xml").write_text(COMPOUND.format(class_text="", member_text=""))
    assert comments.undocumented(tmp_path) == (
        ["cuprum/a.hpp:3: cuprum::A", "cuprum/a.hpp:5: cuprum::A::f"],
        2,
    )
    (tmp_path / "a.xml").write_text(COMPOUND.format(class_text="A thing.", member_text="Acts."))
    assert comments.undocumented(tmp_path) == ([], 2)


@pytest.mark.skipif(shutil.which("doxygen") is None, reason="doxygen is not installed")
def test_every_public_cpp_declaration_has_a_comment(tmp_path):
    settings = (ROOT / "tools/site/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {tmp_path}\n"
    subprocess.run(
        ["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True, capture_output=True
    )
    missing, seen = comments.undocumented(tmp_path / "xml")
    assert seen > 1000
    assert missing == []
