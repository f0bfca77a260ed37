#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Write what the stubs say as a C++ table: write_stub_table.py OUTPUT STUB...

Each class, method, property and function becomes a row of ``stub_table.hpp``: its documentation,
its signature and its parameters. The bindings name a member and take the rest from its row.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

HEADER = """\
// Written by write_stub_table.py from the stubs in python/cuprum/_cuprum.

#include "support/stub_table.hpp"

#include <array>

namespace cuprum::python {

namespace {

constexpr StubParameter PARAMETERS[] = {
"""
MIDDLE = """\
};

constexpr StubEntry ENTRIES[] = {
"""
FOOTER = """\
};

} // namespace

const std::span<const StubEntry> STUB_ENTRIES = ENTRIES;

} // namespace cuprum::python
"""
# Longer literals are split: compilers accept up to 64 KiB.
MAX_LITERAL = 4000


class Table:
    """The rows of both arrays."""

    def __init__(self) -> None:
        self.parameters: list[str] = []
        self.entries: dict[str, str] = {}

    def add_module(self, tree: ast.Module) -> None:
        """Add the classes and functions of a stub."""
        for node in with_shared_members(tree).body:
            if isinstance(node, ast.ClassDef):
                self._add_class(node)
            elif isinstance(node, ast.FunctionDef):
                self._add_function(node, "", "")

    def _add_class(self, node: ast.ClassDef) -> None:
        text = documentation(node)
        for member, following in zip(node.body, [*node.body[1:], None], strict=True):
            if isinstance(member, ast.AnnAssign) and isinstance(following, ast.Expr):
                self._add(f"{node.name}.{ast.unparse(member.target)}", text_of(following))
            if not isinstance(member, ast.FunctionDef):
                continue
            decorators = [ast.unparse(each) for each in member.decorator_list]
            if "property" in decorators:
                self._add(f"{node.name}.{member.name}", documentation(member))
            elif not any(each.endswith(".setter") for each in decorators):
                first = {"staticmethod": "", "classmethod": "$type"}
                kind = next((first[each] for each in decorators if each in first), "$self")
                if member.name == "__new__":
                    text = f"{node.name}({plain_parameters(member, '$type')})\n--\n\n{text}"
                self._add_function(member, f"{node.name}.", kind)
        self._add(node.name, text)

    def _add_function(self, node: ast.FunctionDef, prefix: str, first: str) -> None:
        start = len(self.parameters)
        for name, annotation, default, kind in parameters_of(node, bool(first)):
            fallback = quoted(default) if default else "nullptr"
            fields = (quoted(name), quoted(annotation), fallback, f"StubParameter::{kind}")
            self.parameters.append(row(*fields))
        text = f"{node.name}({plain_parameters(node, first)})\n--\n\n{documentation(node)}"
        returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        signature = f"({ast.unparse(node.args)}){returned}"
        self._add(prefix + node.name, text, signature, start, len(self.parameters) - start)

    def _add(
        self, name: str, text: str, signature: str = "", start: int = 0, count: int = 0
    ) -> None:
        if name in self.entries:
            raise SystemExit(f"{name} has two stubs")
        first = f"PARAMETERS + {start}"
        self.entries[name] = row(quoted(name), quoted(text), quoted(signature), first, str(count))

    def source(self) -> str:
        """Return the C++ source."""
        rows = [f"    {row},\n" for row in self.parameters]
        entries = [f"    {self.entries[name]},\n" for name in sorted(self.entries)]
        return HEADER + "".join(rows) + MIDDLE + "".join(entries) + FOOTER


def with_shared_members(tree: ast.Module) -> ast.Module:
    """Return a stub whose classes have what they share themselves.

    A class marked ``@type_check_only`` describes members that several classes have. It does not
    exist at run time, and is left out.
    """
    shared = {
        node.name: node.body[1:]  # without the docstring
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(mark) == "type_check_only" for mark in node.decorator_list)
    }
    tree.body = [node for node in tree.body if getattr(node, "name", None) not in shared]
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                node.body += shared.get(ast.unparse(base), [])
    return tree


def documentation(node: ast.ClassDef | ast.FunctionDef) -> str:
    """Return a docstring without its indentation."""
    return ast.get_docstring(node) or ""


def text_of(node: ast.Expr) -> str:
    """Return the text below an attribute."""
    return str(ast.literal_eval(node.value))


def parameters_of(node: ast.FunctionDef, is_bound: bool) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, annotation, default ("nullptr" for none) and kind of each parameter."""
    arguments = node.args
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for i, (each, default) in enumerate(zip(positional, defaults, strict=True)):
        if i > 0 or not is_bound:
            kind = "POSITIONAL_ONLY" if i < len(arguments.posonlyargs) else "ANY"
            yield described(each, default, kind)
    if arguments.vararg:
        yield described(arguments.vararg, None, "REST")
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield described(each, default, "KEYWORD_ONLY")
    if arguments.kwarg:
        yield described(arguments.kwarg, None, "NAMED_REST")


def described(argument: ast.arg, default: ast.expr | None, kind: str) -> tuple[str, str, str, str]:
    """Return the fields of one parameter."""
    annotation = ast.unparse(argument.annotation) if argument.annotation else ""
    if default is None:
        return argument.arg, annotation, "", kind
    ast.literal_eval(default)  # the bindings evaluate it
    return argument.arg, annotation, ast.unparse(default), kind


def plain_parameters(node: ast.FunctionDef, first: str) -> str:
    """Return parameters as ``__text_signature__`` has them: without annotations."""
    arguments = node.args
    bare = ast.arguments(
        posonlyargs=[ast.arg(each.arg) for each in arguments.posonlyargs],
        args=[ast.arg(each.arg) for each in arguments.args],
        vararg=arguments.vararg and ast.arg(arguments.vararg.arg),
        kwonlyargs=[ast.arg(each.arg) for each in arguments.kwonlyargs],
        kw_defaults=arguments.kw_defaults,
        kwarg=arguments.kwarg and ast.arg(arguments.kwarg.arg),
        defaults=arguments.defaults,
    )
    if not first:
        return ast.unparse(bare)
    # The first parameter stands for the object: "$self, /", as CPython's own methods have it.
    (bare.posonlyargs or bare.args).pop(0)
    bare.args, bare.posonlyargs = bare.posonlyargs + bare.args, []
    rest = ast.unparse(bare)
    return f"{first}, /, {rest}" if rest else f"{first}, /"


def row(*fields: str) -> str:
    """Return the initialiser of a row."""
    return "{" + ", ".join(fields) + "}"


def quoted(text: str) -> str:
    """Return a C++ string literal."""
    if not text:
        return '""'
    parts = [text[i : i + MAX_LITERAL] for i in range(0, len(text), MAX_LITERAL)]
    return " ".join(json.dumps(part, ensure_ascii=False).replace("??", "?\\?") for part in parts)


def main(arguments: list[str]) -> int:
    """Write the table."""
    if len(arguments) < 2:
        sys.exit(__doc__)
    table = Table()
    for stub in arguments[1:]:
        table.add_module(ast.parse(Path(stub).read_text(encoding="utf-8"), stub))
    Path(arguments[0]).write_text(table.source(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
