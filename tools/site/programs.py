# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Write a page of the site for each program and notebook in `examples/`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

LANGUAGES = {".py": "python", ".cpp": "cpp", ".cu": "cuda", ".ipynb": "python"}
FOLDER = "programs"
# The longest fence in a program is shorter than this one.
FENCE = "`" * 8
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def place(file: Path, examples: Path) -> str | None:
    """Return the page of a file on the site; None if it has none."""
    if file.suffix not in LANGUAGES or not file.is_relative_to(examples):
        return None
    path = file.relative_to(examples)
    return f"{FOLDER}/{path.with_name(path.name.replace('.', '_'))}.md"


def write(examples: Path, output: Path) -> None:
    """Write the pages of all programs, each with a copy of the file to download."""
    for file in sorted(examples.rglob("*")):
        page = place(file, examples) if file.is_file() else None
        if page is None:
            continue
        target = output / page
        target.parent.mkdir(parents=True, exist_ok=True)
        (target.parent / file.name).write_text(file.read_text())
        back = os.path.relpath("examples.md", Path(page).parent)
        is_notebook = file.suffix == ".ipynb"
        title, text = notebook(file) if is_notebook else (file.name, source(file))
        target.write_text(
            f"---\norphan: true\n---\n\n# {title}\n\n"
            f"One of the [examples]({back}). [Download {file.name}]({file.name})\n\n{text}"
        )


def source(file: Path) -> str:
    """Return a program as a block."""
    text = re.sub(r"\A(?:(?:#|//) SPDX.*\n)+\n*", "", file.read_text())
    return f"{FENCE}{LANGUAGES[file.suffix]}\n{text}{FENCE}\n"


def notebook(file: Path) -> tuple[str, str]:
    """Return the title of a notebook and its cells: text, code and what the code printed."""
    title, parts = file.name, []
    for cell in json.loads(file.read_text())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            if found := re.match(r"# (.*)\n+", text):
                title, text = found[1], text[found.end() :]
            parts.append(text)
            continue
        is_cuda = re.match(r"%%cuda\b(?!_)", text)
        parts.append(f"{FENCE}{'cpp' if is_cuda else 'python'}\n{text}\n{FENCE}")
        shown = "".join(map(output_text, cell["outputs"])).rstrip()
        if shown:
            parts.append(f"{FENCE}{{code-block}} text\n:class: output\n\n{shown}\n{FENCE}")
    return title, "\n\n".join(parts) + "\n"


def output_text(output: dict) -> str:
    """Return what an output of a cell says as text."""
    lines = output["text"] if "text" in output else output.get("data", {}).get("text/plain", "")
    return COLOURS.sub("", "".join(lines)).rstrip() + "\n"
