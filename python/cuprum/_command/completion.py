# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuprum completion``: scripts that make a shell complete the words of the command.

The words come from the parser, so that they cannot become outdated.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from cuprum._command import SUCCESS, make_parser

_BASH = """\
# bash completion for cuprum; put `source <(cuprum completion bash)` into ~/.bashrc
_cuprum() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} place= each
    for each in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$place $each" in
{steps}
        esac
    done
    case "$place" in
{cases}
    esac
}}
complete -o default -F _cuprum cuprum
"""
# NOTE: not `path`, which is the array of $PATH in zsh.
_ZSH = """\
#compdef cuprum
# zsh completion for cuprum; put `source <(cuprum completion zsh)` into ~/.zshrc, after compinit
_cuprum() {{
    local place= each
    for each in "${{words[@]:1:$((CURRENT-2))}}"; do
        case "$place $each" in
{steps}
        esac
    done
    case "$place" in
{cases}
    esac
}}
compdef _cuprum cuprum
"""
_FISH = """\
# fish completion for cuprum; `cuprum completion fish > ~/.config/fish/completions/cuprum.fish`
function __cuprum_path
    set -l path
    for each in (commandline -opc)[2..-1]
        switch "$path $each"
{steps}
        end
    end
    echo $path
end
{lines}
"""


def run(shell: str) -> int:
    """Print the script of a shell."""
    print(script(shell), end="")
    return SUCCESS


def script(shell: str) -> str:
    """Return the script of a shell."""
    levels = dict(_levels(make_parser(), ""))
    paths = [path for path in levels if path]
    if shell == "fish":
        steps = "\n".join(
            f'            case "{_parent(path)} {_last(path)}"\n                set path "{path}"'
            for path in paths
        )
        lines = "\n".join(
            f'complete -c cuprum -f -n \'test (__cuprum_path) = "{path}"\' -a "{word}" -d "{text}"'
            for path, words in levels.items()
            for word, text in words
        )
        return _FISH.format(steps=steps, lines=lines)
    steps = "\n".join(
        f'            "{_parent(path)} {_last(path)}") place="{path}" ;;' for path in paths
    )
    if shell == "zsh":
        cases = "\n".join(
            f'        "{path}") compadd -- {" ".join(word for word, _ in words)}; _files ;;'
            for path, words in levels.items()
        )
        return _ZSH.format(steps=steps, cases=cases)
    cases = "\n".join(
        f'        "{path}") COMPREPLY=($(compgen -W "{" ".join(word for word, _ in words)}" -- '
        f'"$word")) ;;'
        for path, words in levels.items()
    )
    return _BASH.format(steps=steps, cases=cases)


def _levels(
    parser: argparse.ArgumentParser, path: str
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Return the words that can follow each sequence of commands, with their descriptions."""
    words: list[tuple[str, str]] = []
    inner: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        text = (action.help or "").replace('"', "'")
        words += [(option, text) for option in action.option_strings if option.startswith("--")]
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help or "" for each in action._choices_actions}
            words += [(name, helps.get(name, "")) for name in action.choices]
            inner += [(f"{path} {name}".strip(), each) for name, each in action.choices.items()]
        elif action.choices is not None:
            words += [(str(choice), "") for choice in action.choices]
    yield path, words
    for name, each in inner:
        yield from _levels(each, name)


def _parent(path: str) -> str:
    return path.rpartition(" ")[0]


def _last(path: str) -> str:
    return path.rpartition(" ")[2]
