# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""cuprum completion: what the shells offer."""

import re
import shutil
import subprocess

import pytest

from cuprum._command import SUCCESS, main
from cuprum._command.completion import script


def complete_in_bash(*words):
    """Return what bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in words)
    code = f"{script('bash')}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n_cuprum\n"
    result = subprocess.run(
        ["bash", "--norc", "-c", code + 'printf "%s\\n" "${COMPREPLY[@]}"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not result.stderr
    return set(result.stdout.split())


def test_bash_offers_commands_and_options():
    commands = complete_in_bash("cuprum", "")
    assert {"info", "doctor", "top", "run", "trace", "cache", "completion"} <= commands
    assert complete_in_bash("cuprum", "do") == {"doctor"}
    assert complete_in_bash("cuprum", "top", "--o") == {"--once"}
    assert complete_in_bash("cuprum", "trace", "") >= {"report"}
    assert complete_in_bash("cuprum", "trace", "report", "--j") == {"--json"}
    assert complete_in_bash("cuprum", "cache", "c") == {"clear"}
    assert complete_in_bash("cuprum", "completion", "") >= {"bash", "zsh", "fish"}
    assert complete_in_bash("cuprum", "run", "--dev") == {"--devices"}
    assert complete_in_bash("cuprum", "no-such-command", "") >= {"info"}


def test_the_script_for_zsh_leaves_the_search_path_alone():
    assert re.search(r"\bpath=|\$path\b", script("zsh")) is None


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_accepted_by_their_shells(shell, capsys):
    assert main(["completion", shell]) == SUCCESS
    text = capsys.readouterr().out
    assert "doctor" in text
    assert "--once" in text
    if shutil.which(shell) is not None:
        subprocess.run([shell, "-n"], input=text, text=True, check=True)
