#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Find the examples in the documents and headers; write the C++ ones as one program.

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

Each public class has an example in its comment, between `@code` and `@endcode`. The page "headers"
of the program runs all of them; `SETUP` has the names that they use.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "core/include/cuprum"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

# All blocks become one program, because one compiler run is much cheaper than one per block.
PREAMBLE = """\
// Written by tools/documentation_examples.py from the documents; do not edit.

#include <cuprum/cuprum.hpp>

#if __has_include(<cuda/stream_ref>) && __has_include(<cuda_runtime_api.h>)
#define HAS_CCCL
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE // CCCL before 3.1 hides cuda::mr without it
#include <cuprum/interop/cccl.hpp>
#endif

#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
"""
# What the examples of classes start with. The C++ reference shows it on its first page.
SETUP = """\
const cuprum::Device device;
const cuprum::Stream stream = device.create_stream();
const cuprum::Buffer buffer = device.allocate(1024, stream);
const cuprum::Program program(
    R"(extern "C" __global__ void add_one(int* x) { x[threadIdx.x] += 1; })");
const cuprum::ObjectCode code = program.compile(cuprum::CodeType::Cubin);
const cuprum::Kernel kernel = code.get_kernel("add_one");
"""
# Examples that only compile, because they need something that tests do not have.
NEEDS = {
    "ExternalMemory": "int descriptor",
    "ExternalSemaphore": "int descriptor",
    "GraphicsResource": "unsigned vertices",
    "Process": "",  # a process to stop
    "SystemEvents": "",  # a device that joins the driver
}
# Runs the example of a class. A GPU may lack what it shows.
RUN = """
static void run(const std::string& name, void (*example)()) {
    try {
        example();
    } catch (const std::exception& error) {
        const bool is_unsupported = dynamic_cast<const cuprum::NotSupportedError*>(&error) ||
                                    dynamic_cast<const cuprum::NVMLError*>(&error);
        if (!is_unsupported || setup().device.is_emulated()) {
            throw std::runtime_error(name + ": " + error.what());
        }
        std::cout << name << " is not supported here: " << error.what() << '\\n';
    }
}

/// Some examples write files.
struct EmptyFolder {
    EmptyFolder() : before(std::filesystem::current_path()) {
        if (mkdtemp(path.data()) == nullptr) {
            throw std::runtime_error("no temporary folder");
        }
        std::filesystem::current_path(path);
    }

    ~EmptyFolder() {
        std::filesystem::current_path(before);
        std::filesystem::remove_all(path);
    }

    std::filesystem::path before;
    std::string path = std::filesystem::temp_directory_path() / "cuprum_examples_XXXXXX";
};
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


CLASS = re.compile(
    r"(?P<comment>(?:^///.*\n)*)(?:^template .*\n)?(?:^ +requires.*\n)?"
    r"^class (?:CUPRUM_API )?(?P<name>\w+)[^;]*?\{$",
    re.MULTILINE,
)
CODE = re.compile(r"^/// @code\n(?P<text>(?:^///.*\n)*?)^/// @endcode\n", re.MULTILINE)


@dataclass
class Class:
    """A public class of a header and the example in its comment."""

    header: Path
    name: str
    line: int  # number of the first line of the example
    text: str  # empty if there is none

    @property
    def function(self) -> str:
        """Return the name of the function that the example becomes."""
        return re.sub(r"\W", "_", str(self.header.relative_to(HEADERS))) + f"_{self.name}"


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


def classes() -> Iterator[Class]:
    """Yield the public classes, except for the exceptions."""
    for header in sorted(HEADERS.rglob("*.hpp")):
        if "detail" in header.parts:
            continue
        text = re.sub(r"^namespace detail \{.*?^\}", hide, header.read_text(), flags=re.M | re.S)
        for match in CLASS.finditer(text):
            if match["name"].endswith("Error"):
                continue
            code = CODE.search(match["comment"])
            start = match.start() + (code.start("text") if code else 0)
            lines = code["text"].splitlines() if code else []
            example = "".join(f"{line.removeprefix('///').removeprefix(' ')}\n" for line in lines)
            yield Class(header, match["name"], text.count("\n", 0, start) + 1, example)


def hide(match: re.Match[str]) -> str:
    """Return as many lines as the match has, all of them empty."""
    return "\n" * match[0].count("\n")


def class_examples() -> tuple[list[str], str]:
    """Return the functions of the examples in headers, and the case that calls them."""
    indented = textwrap.indent(SETUP, "    ")
    names = re.findall(r"^const cuprum::(\w+) (\w+)", SETUP, re.MULTILINE)
    members = "".join(f"    cuprum::{kind} {name};\n" for kind, name in names)
    uses = "".join(f"    const auto& {name} = setup().{name};\n" for _, name in names)
    values = ", ".join(name for _, name in names)
    functions = [
        f"\nstruct Setup {{\n{members}}};\n\nstatic const Setup& setup() {{\n"
        f"    static const Setup made = [] {{\n{indented}    return Setup{{{values}}};\n    }}();\n"
        "    return made;\n}\n"
    ]
    calls = []
    for each in classes():
        if not each.text:
            continue
        parameter = NEEDS.get(each.name)
        body = f'{uses}    {{\n#line {each.line} "{each.header}"\n{each.text}    }}\n'
        function = f"\nstatic void {each.function}({parameter or ''}) {{\n{body}}}\n"
        if "interop" in each.header.parts:
            function = f"\n#ifdef HAS_CCCL{function}#endif\n"
        elif parameter is None:
            calls.append(f'run("{each.name}", {each.function});')
        functions.append(function)
    functions.append(RUN)
    calls = ["const EmptyFolder folder;", *calls, "return 0;"]
    body = "".join(f"            {call}\n" for call in calls)
    return functions, f'        if (page == "headers") {{\n{body}        }}'


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
    more, case = class_examples()
    functions += more
    cases.append(case)
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
