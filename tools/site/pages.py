# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Write the source pages of the site.

The pages in `docs/` are plain Markdown, which a code host shows as it is. This program copies them
and adds what only the site has:

- `docs/index.md` becomes the navigation: each `##` heading is a part of the site. The first link of
  a list item or of a table row is a page; further links of that row are pages below it.
- Examples in Python and C++ that follow each other become tabs.
- Each program and notebook in `examples/` becomes a page, so that links to it work.
- Other links to files outside `docs/` become plain text; their number is printed.
- The references are generated: see `python_reference.py` and `cpp_reference.py`.

Usage: pages.py OUTPUT XML, where XML is the folder that doxygen wrote.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import cpp_reference
import programs
import python_reference

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

# Pages outside docs/ and their places on the site.
OTHER_PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code_of_conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/README.md": "project/benchmark_programs.md",
    "examples/README.md": "examples.md",
    "packaging/README.md": "project/packages.md",
}
# Links to a folder lead to its page.
FOLDERS = {"examples": "examples.md", "benchmarks": OTHER_PAGES["benchmarks/README.md"]}

# The start page shows the first parts as cards.
MAX_CARDS = 4
# So many pages of the part "Reference" come before the two references.
MAX_FIRST_PAGES = 3

LINK = re.compile(r"(?<!!)\[([^\]\[]+)\]\(([^)\s#]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)

# Links to files that the site does not have.
plain_links: list[str] = []

BLOCK = r"^```{language}\n(?:(?!^```).*\n)*?^```\n"
PYTHON = BLOCK.replace("{language}", "(?:python|py)")
CPP = BLOCK.replace("{language}", "cpp")
OUTPUT = BLOCK.replace("{language}", "text")
OUTPUT_MARK = "<!-- output -->\n"
TABS = re.compile(
    rf"(?P<python>{PYTHON})\n*(?P<python_output>{OUTPUT_MARK}\n*{OUTPUT})?\n*(?P<cpp>{CPP})"
    rf"(?:\n*(?P<cpp_output>{OUTPUT_MARK}\n*{OUTPUT}))?"
    rf"|(?P<cpp_first>{CPP})\n*(?P<python_second>{PYTHON})"
    rf"\n*(?P<second_output>{OUTPUT_MARK}\n*{OUTPUT})?",
    re.MULTILINE,
)


def main() -> int:
    """Write every page."""
    if len(sys.argv) != 3:
        sys.exit("usage: pages.py OUTPUT XML")
    output, xml = Path(sys.argv[1]), Path(sys.argv[2])
    # Written to a new folder first, so that pages that did not change keep their time.
    new = output.with_name("new")
    shutil.rmtree(new, ignore_errors=True)
    write_pages(new, xml)
    replace_changed(output, new)
    if plain_links:
        print(f"[site] {len(plain_links)} links to other files of the repository are plain text")
    return 0


def write_pages(output: Path, xml: Path) -> None:
    """Write every page below a folder."""
    places = site_places()
    for source, place in places.items():
        target = output / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text()
        target.write_text(site_page(text, source, places))
    programs.write(ROOT / "examples", output)
    shutil.copytree(DOCS / "images", output / "images", dirs_exist_ok=True)

    python_pages = python_reference.write(ROOT / "python/cuprum", output / "reference/python")
    cpp_pages = cpp_reference.write(xml, output / "reference/cpp")
    navigate(output, {"python": python_pages, "cpp": cpp_pages})


def replace_changed(output: Path, new: Path) -> None:
    """Make a folder equal to another, and leave files alone that are equal already."""
    for file in [file for file in output.rglob("*") if file.is_file()]:
        if not (new / file.relative_to(output)).exists():
            file.unlink()
    for file in [file for file in new.rglob("*") if file.is_file()]:
        old = output / file.relative_to(new)
        if not old.exists() or old.read_bytes() != file.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            file.replace(old)
    shutil.rmtree(new)


def site_places() -> dict[Path, str]:
    """Return every Markdown page and its place on the site."""
    places = {page: str(page.relative_to(DOCS)) for page in sorted(DOCS.rglob("*.md"))}
    places.update({ROOT / source: place for source, place in OTHER_PAGES.items()})
    return places


def site_page(text: str, source: Path, places: dict[Path, str]) -> str:
    """Return a page as the site has it: with tabs, without comments, with links that work there."""
    # The mark of an output is the only comment that later steps need.
    text = COMMENT.sub(lambda found: found[0] if found[0].startswith("<!-- output") else "", text)
    text = TABS.sub(tabs, text)
    text = re.sub(rf"{OUTPUT_MARK}\n*```text\n", "```{code-block} text\n:class: output\n\n", text)
    text = COMMENT.sub("", text)
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [relink(text[end : fence.start()], source, places), fence[0]]
        end = fence.end()
    parts.append(relink(text[end:], source, places))
    return "".join(parts).lstrip()


def tabs(found: re.Match[str]) -> str:
    """Return two examples as tabs. The choice of a language applies to all pages."""
    if found["python"]:
        items = [
            ("Python", found["python"] + (found["python_output"] or "")),
            ("C++", found["cpp"] + (found["cpp_output"] or "")),
        ]
    else:
        items = [
            ("C++", found["cpp_first"]),
            ("Python", found["python_second"] + (found["second_output"] or "")),
        ]
    lines = ["::::{tab-set}", ":sync-group: language", ""]
    for title, text in items:
        text = re.sub(r"^```py$", "```python", text, flags=re.MULTILINE)
        lines += [f":::{{tab-item}} {title}", f":sync: {title}", "", text.strip(), ":::", ""]
    return "\n".join([*lines, "::::", ""])


def relink(text: str, source: Path, places: dict[Path, str]) -> str:
    """Make the relative links of a piece of text lead to pages of the site."""
    here = Path(places[source]).parent

    def replaced(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target or target.startswith("mailto:") or not target:
            return found[0]
        file = (source.parent / target).resolve()
        place = places.get(file) or FOLDERS.get(os.path.relpath(file, ROOT))
        if place is None and file.is_file():
            place = programs.place(file, ROOT / "examples")
        if place is None and file.is_relative_to(DOCS):
            place = str(file.relative_to(DOCS))
        if place is None:
            if not file.exists():
                raise SystemExit(f"{source}: the link to {target} leads nowhere")
            plain_links.append(f"{source}: {target}")
            return label
        return f"[{label}]({os.path.relpath(place, here)}{anchor})"

    return LINK.sub(replaced, text)


# ---- navigation ---------------------------------------------------------------------------------


def navigate(output: Path, generated: dict[str, list[str]]) -> None:
    """Add the tables of contents to the start page and to the pages that have pages below them."""
    index = output / "index.md"
    text = index.read_text()
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    cards, trees = [], []
    below: dict[str, list[str]] = {}
    seen: set[str] = set()
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        entries: list[str] = []
        for row in re.split(r"\n(?=\||\s*[-*] |\s*\d+\. )", body):
            pages = [
                page for _, page, anchor in LINK.findall(row) if page.endswith(".md") and not anchor
            ]
            pages = [page for page in dict.fromkeys(pages) if page not in seen]
            seen.update(pages)
            if pages and not row.startswith(" "):
                entries.append(pages.pop(0))
            if pages:
                below.setdefault(entries[-1], []).extend(pages)
        if title == "Reference":
            entries[MAX_FIRST_PAGES:MAX_FIRST_PAGES] = [
                f"reference/{language}/index.md" for language in generated
            ]
        trees.append(tree(entries, title))
        intro = re.match(r"\n*((?:(?![|\-*]|\d+\.).+\n)+)", body)
        if intro and len(cards) < MAX_CARDS:
            cards.append(card(title, " ".join(intro[1].split()), entries[0].removesuffix(".md")))
    for parent, pages in below.items():
        add_tree(output / parent, [os.path.relpath(page, Path(parent).parent) for page in pages])
    for language, pages in generated.items():
        add_tree(output / f"reference/{language}/index.md", pages)
    text = re.sub(
        r"(?m)^(## Reference\n(?:.*\n)*?)(?=- )", rf"\1{reference_links(generated)}", text
    )
    grid = "\n".join(["::::{grid} 1 2 2 2", ":gutter: 3", "", *cards, "::::", "", ""])
    index.write_text(parts[0] + grid + text[len(parts[0]) :] + "\n" + "\n".join(trees))


def reference_links(generated: dict[str, list[str]]) -> str:
    """Return the links to the pages that only the site has."""
    titles = {"python": "Python reference", "cpp": "C++ reference"}
    return "".join(f"- [{titles[name]}](reference/{name}/index.md)\n" for name in generated)


def card(title: str, text: str, link: str) -> str:
    """Return a card of the start page."""
    return f":::{{grid-item-card}} {title}\n:link: {link}\n:link-type: doc\n\n{text}\n:::\n"


def tree(entries: list[str], caption: str = "") -> str:
    """Return a table of contents that only the navigation shows."""
    options = [":hidden:", f":caption: {caption}"] if caption else [":hidden:"]
    return "\n".join(["```{toctree}", *options, "", *entries, "```", ""])


def add_tree(page: Path, entries: list[str]) -> None:
    """Put pages below another page."""
    page.write_text(f"{page.read_text().rstrip()}\n\n{tree(entries)}")


if __name__ == "__main__":
    sys.exit(main())
