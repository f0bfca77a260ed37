# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Check every link inside the built site: its page and its anchor must exist.

Usage: links.py FOLDER
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect what an element links to and which anchor it is."""
        for name, value in attributes:
            if value is None:
                continue
            if name in ("href", "src"):
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


def main() -> int:
    """Print the links that lead nowhere."""
    if len(sys.argv) != 2:
        sys.exit("usage: links.py FOLDER")
    folder = Path(sys.argv[1]).resolve()
    pages = {file: Page(file) for file in folder.rglob("*.html")}
    wrong, checked = [], 0
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            anchors = pages[target].anchors if target in pages else None
            if not target.exists() or (
                anchors is not None and unquote(parts.fragment) not in anchors
            ):
                wrong.append(f"{file.relative_to(folder)}: {link}")
    print(f"[site] checked {checked} links on {len(pages)} pages, {len(wrong)} lead nowhere")
    print("".join(f"    {link}\n" for link in wrong), end="")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
