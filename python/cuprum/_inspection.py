# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Signatures of compiled functions, for ``inspect.signature``, ``help`` and editors.

Imported only when somebody asks: ``__signature__`` of a compiled function calls ``signature_of``.
"""

import ast
import inspect
import re
from typing import Any

_NEW_FOR_PICKLE = "def __new__(arg: object, /) -> object"


def signature_of(function: Any) -> inspect.Signature:
    """Return the signature of a compiled function, read from the text that the stub has too."""
    # nanobind adds a __new__ without arguments, which only pickle uses.
    described = [each for each in function.__nb_signature__ if each[0] != _NEW_FOR_PICKLE]
    if len(described) != 1:
        raise AttributeError("a function with overloads has no single signature")
    line, _, defaults = described[0]
    # The text contains numbers for default values that are objects: \0, \1 and so on.
    source = re.sub(r"\\(\d+)", r"_default(\1)", line).replace("def (", "def _(")
    parameters, returned = _parsed(ast.parse(f"{source}: ...").body[0], defaults)
    is_bound = type(function).__name__ == "nb_bound_method"
    return inspect.Signature(parameters[is_bound:], return_annotation=returned)


def _parsed(function: Any, defaults: tuple) -> tuple[list[inspect.Parameter], object]:
    arguments = function.args
    plain = [
        *((each, inspect.Parameter.POSITIONAL_ONLY) for each in arguments.posonlyargs),
        *((each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in arguments.args),
    ]
    missing = len(plain) - len(arguments.defaults)
    described: list[tuple[Any, Any, Any]] = [
        (each, kind, None if i < missing else arguments.defaults[i - missing])
        for i, (each, kind) in enumerate(plain)
    ]
    if arguments.vararg:
        described.append((arguments.vararg, inspect.Parameter.VAR_POSITIONAL, None))
    described += [
        (each, inspect.Parameter.KEYWORD_ONLY, default)
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        described.append((arguments.kwarg, inspect.Parameter.VAR_KEYWORD, None))
    parameters = [
        inspect.Parameter(
            each.arg,
            kind,
            default=inspect.Parameter.empty if default is None else _value(default, defaults),
            annotation=_text(each.annotation),
        )
        for each, kind, default in described
    ]
    return parameters, _text(function.returns)


def _text(annotation: ast.expr | None) -> object:
    return inspect.Signature.empty if annotation is None else ast.unparse(annotation)


def _value(node: Any, defaults: tuple) -> object:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_default":
        return defaults[ast.literal_eval(node.args[0])]
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _Shown(ast.unparse(node))


class _Shown:
    """A default value of which only the text is known."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text
