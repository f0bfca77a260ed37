# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What is said about calls: their signatures, and what is wrong with an argument.

Imported only when somebody asks or a call is wrong.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
from collections.abc import Iterable
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type)

# The way out for an argument that nearly every call of a kind needs.
_ADVICE = {"stream": "pass a stream of device.create_stream(), or device.default_stream"}


def signature(text: str) -> inspect.Signature:
    """Return the signature that a stub describes, for ``inspect``, ``help`` and editors."""
    namespace: dict[str, Any] = {}
    exec(f"from __future__ import annotations\ndef described{text}: ...", namespace)
    return inspect.signature(namespace["described"])


def explained(options: _Class) -> _Class:
    """Have a dataclass of options say what is wrong with a call, as compiled functions do."""
    init: Any = vars(options)["__init__"]
    described = inspect.signature(options)

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **given: Any) -> None:  # noqa: N807
        try:
            described.bind(*args, **given)
        except TypeError:
            for name in given:
                if name not in described.parameters:
                    raise TypeError(_unexpected(options.__name__, described, name)) from None
            for name, each in list(described.parameters.items())[len(args) :]:
                if each.default is each.empty and name not in given:
                    raise TypeError(_missing(options.__name__, described, name)) from None
        init(self, *args, **given)

    setattr(options, "__init__", __init__)  # noqa: B010 -- mypy knows no other way
    return options


def missing(callable_name: str, text: str, name: str) -> str:
    """Return what to say about an argument that was left out."""
    return _missing(callable_name, signature(text), name)


def unexpected(callable_name: str, text: str, name: str) -> str:
    """Return what to say about a name that is no parameter."""
    return _unexpected(callable_name, signature(text), name)


def repeated(callable_name: str, text: str, name: str) -> str:
    """Return what to say about an argument that was given twice."""
    said = f"{callable_name}() got multiple values for argument '{name}', by place and by name"
    return f"{said}; {_usage(callable_name, signature(text))}"


def too_many(callable_name: str, text: str, most: int, given: int) -> str:
    """Return what to say about too many arguments without names."""
    described = signature(text)
    named = [name for name, each in described.parameters.items() if each.kind is each.KEYWORD_ONLY]
    plural = "" if most == 1 else "s"
    said = f"{callable_name}() takes at most {most} positional argument{plural}, {given} given"
    if named:
        return f"{said}; pass {' and '.join(named[: given - most])} by name"
    return f"{said}; {_usage(callable_name, described)}"


def wrong_type(name: str, annotation: str, value: object) -> str:
    """Return what to say about an argument of a wrong type."""
    got = "None" if value is None else type(value).__name__
    return f"{name} must be {_with_article(_plain(annotation))}, got {got}"


def _missing(callable_name: str, described: inspect.Signature, name: str) -> str:
    parameter = described.parameters[name]
    kind = "keyword-only" if parameter.kind is parameter.KEYWORD_ONLY else "positional"
    said = f"{callable_name}() missing 1 required {kind} argument: '{name}'"
    if name in _ADVICE:
        return f"{said}; {_ADVICE[name]}"
    return f"{said} ({_plain(parameter.annotation)}); {_usage(callable_name, described)}"


def _unexpected(callable_name: str, described: inspect.Signature, name: str) -> str:
    parameters = described.parameters.values()
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    known = [each.name for each in parameters if each.kind not in by_place and not _is_self(each)]
    said = f"{callable_name}() got an unexpected keyword argument '{name}'"
    said += f"; {suggestion(name, known)}"
    rest = [each.name for each in parameters if each.kind is each.VAR_POSITIONAL]
    return f"{said}; {rest[0]} are positional" if rest else said


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the name that was probably meant, and all that there are."""
    known = list(known)
    if not known:
        return "it takes no arguments"
    listed = f"it takes {', '.join(known)}"
    meant = closest(name, known)
    return listed if meant is None else f"did you mean '{meant}'? {listed.capitalize()}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like another, if any is."""
    known = list(known)
    words = [each for each in known if name in each or (len(each) > 2 and each in name)]
    if found := difflib.get_close_matches(name, known, n=1, cutoff=0.7) or words[:1]:
        return found[0]
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)


def _usage(callable_name: str, described: inspect.Signature) -> str:
    """Return how to call a function, without annotations."""
    plain = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in described.parameters.values()
        if not _is_self(each)
    ]
    return f"call {callable_name}{inspect.Signature(plain)}"


def _is_self(parameter: inspect.Parameter) -> bool:
    return parameter.name in ("self", "cls")


def _plain(annotation: str) -> str:
    """Return an annotation in the words of a sentence."""
    words = [ast.unparse(each) for each in _alternatives(ast.parse(annotation, mode="eval").body)]
    words = [each for each in words if not each.endswith("Word")]
    return " or ".join(words).replace("dict[str, Any]", "dict")


def _with_article(words: str) -> str:
    if words.startswith(("None", "an ", "a ")):
        return words
    return f"{'an' if words[0] in 'aeiouAEIOU' else 'a'} {words}"


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [node]
