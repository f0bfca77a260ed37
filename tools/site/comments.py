# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""List the public declarations of C++ that have no documentation comment.

Doxygen wrote its view of the headers as XML. A declaration counts if a program can name it. These
need no comment: special members that the compiler writes, destructors, comparison operators, the
hash that `std::unordered_map` uses, and the types that the standard library expects of an iterator.

Usage: comments.py XML
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

ITERATOR_TYPES = {
    "iterator_category",
    "iterator_concept",
    "value_type",
    "difference_type",
    "pointer",
    "reference",
}
# `device.hpp` defines these for one list and undefines them.
TEMPORARY_MACROS = {"CUPRUM_INT_ATTRIBUTE", "CUPRUM_BOOL_ATTRIBUTE"}
COMPARISON = re.compile(r"operator\s*(==|!=|<=>|<=|>=|<|>)$")


def main() -> int:
    """Print what has no comment."""
    if len(sys.argv) != 2:
        sys.exit("usage: comments.py XML")
    missing, seen = undocumented(Path(sys.argv[1]))
    for place in missing:
        print(f"{place}: has no documentation comment")
    print(f"[site] {seen} public C++ declarations, {len(missing)} without a documentation comment")
    return bool(missing)


def undocumented(xml: Path) -> tuple[list[str], int]:
    """Return where comments are missing, and how many declarations there are."""
    missing, seen = {}, set()
    for file in sorted(xml.glob("*.xml")):
        if file.name == "index.xml":
            continue
        for compound in ElementTree.parse(file).getroot().iter("compounddef"):
            for place, key, has_comment in declarations(compound):
                seen.add(key)
                if not has_comment:
                    missing[key] = place
    return sorted(missing.values(), key=by_line), len(seen)


def declarations(compound: ElementTree.Element) -> Iterator[tuple[str, str, bool]]:
    """Yield the place, the identity and the state of each public declaration of a compound."""
    kind = compound.get("kind")
    name = compound.findtext("compoundname", "")
    if kind not in ("class", "struct", "namespace", "file", "union") or is_private(compound, name):
        return
    if kind in ("class", "struct", "union"):
        yield place_of(compound, name), compound.get("id", name), has_text(compound)
    for member in compound.iter("memberdef"):
        if member.get("prot") == "public" and needs_comment(member):
            full = f"{name}::{member.findtext('name')}"
            yield place_of(member, full), member.get("id", full), has_text(member)


def is_private(element: ElementTree.Element, name: str) -> bool:
    """Return whether a program cannot or should not name a compound."""
    return element.get("prot", "public") != "public" or "detail" in name or name.startswith("std")


def needs_comment(member: ElementTree.Element) -> bool:
    """Return whether a member is more than what every reader knows."""
    name = member.findtext("name", "")
    if name in TEMPORARY_MACROS or "detail" in member.findtext("definition", "").split("(")[0]:
        return False
    arguments = member.findtext("argsstring", "")
    is_written_by_compiler = re.search(r"=\s*(default|delete)$", arguments) is not None
    is_destructor = name.startswith("~")
    is_friend_type = member.get("kind") == "friend" and not arguments
    is_iterator_type = member.get("kind") == "typedef" and name in ITERATOR_TYPES
    return not (
        is_written_by_compiler
        or is_destructor
        or is_friend_type
        or is_iterator_type
        or COMPARISON.search(name)
    )


def has_text(element: ElementTree.Element) -> bool:
    """Return whether an element has a comment."""
    parts = [element.find(part) for part in ("briefdescription", "detaileddescription")]
    return any("".join(part.itertext()).strip() for part in parts if part is not None)


def place_of(element: ElementTree.Element, name: str) -> str:
    """Return where an element is declared."""
    location = element.find("location")
    if location is None:
        return name
    return f"{location.get('file')}:{location.get('line')}: {name}"


def by_line(place: str) -> tuple[str, int]:
    """Return the key that sorts places by file and line."""
    file, line, *_ = [*place.split(":"), "0"]
    return file, int(line) if line.isdigit() else 0


if __name__ == "__main__":
    sys.exit(main())
