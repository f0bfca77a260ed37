#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Find the examples in the documents; write the C++ ones as one program.

A comment directly above a fenced block describes the block:

    <!-- example: cpp -->               the body of a function; the tests compile and run it
    <!-- example: cpp                   the same, with lines before it that the reader does not see
    const cuprum::Device device;
    -->
    <!-- example: cpp continued -->     continues the function of the previous block
    <!-- example: python continued -->  continues with the names of the previous block
    <!-- example: python VAR=value -->  runs in its own process with this environment variable
    <!-- example: examples/cpp/x.cpp -> the text of this file, without its SPDX lines
    <!-- output -->                     the output of the block above; `...` matches anything

Python blocks need no comment: the tests run all of them. For a block that cannot run, use the
language `py`. To write the C++ program: documentation_examples.py OUTPUT
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

# All blocks become one program, because one compiler run is much cheaper than one per block.
PREAMBLE = """\
// Written by tools/documentation_examples.py from the documents; do not edit.

#include <cuprum/cuprum.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
"""
MAIN = """
int main(int count, char** arguments) {{
    const std::string_view page = count > 1 ? arguments[1] : "";
    try {{
{cases}
        std::cerr << "there is no page '" << page << "'\\n";
        return 2;
    }} catch (const std::exception& error) {{
        std::cerr << page << ": " << error.what() << '\\n';
        return 1;
    }}
}}
"""
BLOCK = re.compile(
    r"(?:^<!-- (?P<kind>example|output)(?::[ ]*(?P<info>(?:(?!-->).)*?))?\s*-->\n+)?"
    r"^```(?P<language>[\w+]+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    """A fenced block of a page and the comment above it."""

    page: Path
    line: int  # number of the first line of `text` in the page
    language: str
    text: str
    kind: str  # "example", "output" or ""
    info: str  # the rest of the comment

    @property
    def is_continued(self) -> bool:
        """Return whether the block continues the previous example."""
        return self.info.partition("\n")[0].split()[1:] == ["continued"]

    @property
    def name(self) -> str:
        """Return a name for tests: the page and the line."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    text = page.read_text()
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("text")) + 1
        yield Block(
            page,
            line,
            match["language"],
            match["text"],
            match["kind"] or "",
            match["info"] or "",
        )


def page_name(page: Path) -> str:
    """Return the name of a page on the program's command line: `guide/stream`."""
    path = page.relative_to(ROOT).with_suffix("")
    return str(path).removeprefix("docs/")


def cpp_program() -> str:
    """Return the program that runs the C++ blocks of the page it is given."""
    functions, cases = [], []
    for page in PAGES:
        calls: list[str] = []
        for block in blocks(page):
            if block.language != "cpp" or not re.match(r"cpp\b", block.info):
                continue
            _, _, hidden = block.info.partition("\n")
            text = f'{hidden}\n#line {block.line} "{page}"\n{block.text}'
            if block.is_continued:
                functions[-1] = functions[-1].removesuffix("}\n") + text + "}\n"
                continue
            function = re.sub(r"\W", "_", page_name(page)) + f"_{block.line}"
            functions.append(f"\n// {block.name}\nstatic void {function}() {{\n{text}}}\n")
            calls.append(f"{function}();")
        if calls:
            cases.append(
                f'        if (page == "{page_name(page)}") {{\n'
                f"            {' '.join(calls)}\n            return 0;\n        }}"
            )
    return PREAMBLE + "".join(functions) + MAIN.format(cases="\n".join(cases))


def main() -> int:
    """Write the program."""
    if len(sys.argv) != 2:
        sys.exit("usage: documentation_examples.py OUTPUT")
    output = Path(sys.argv[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(cpp_program())
    return 0


if __name__ == "__main__":
    sys.exit(main())
