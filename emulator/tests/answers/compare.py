# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compare the answers of the emulated device with those of a GPU's driver.

Runs the program that asks, and compares its lines with the recorded ones, group by group. A driver
that crashed on a question gives no answer to compare; the emulated device must not crash. Other
differences must be listed in known.py, with their reason. An entry that no longer matches a
difference is an error too.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys

from known import DIFFERENCES, IGNORED_GROUPS

HERE = pathlib.Path(__file__).resolve().parent
CRASH = "(the process ended by signal"


def main():
    """Run the program and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the program that asks")
    parser.add_argument("--library", required=True, help="the emulated libcuda.so.1")
    parser.add_argument("--recorded", default=HERE / "recorded" / "h200.txt", type=pathlib.Path)
    arguments = parser.parse_args()
    # A machine with a GPU has another libcuda.so.1, which LD_LIBRARY_PATH may find first.
    folder = str(pathlib.Path(arguments.library).parent)
    environment = dict(os.environ)
    environment["LD_LIBRARY_PATH"] = os.pathsep.join(
        [folder, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    )
    run = subprocess.run(
        [arguments.program], capture_output=True, text=True, check=False, env=environment
    )
    if run.returncode != 0:
        sys.exit(f"the program failed: {run.returncode}\n{run.stderr}")
    ours = groups_of(run.stdout)
    theirs = groups_of(arguments.recorded.read_text())
    problems = []
    used = set()
    for name in [each for each in ours if each in theirs]:
        if any(line.startswith(CRASH) for line in ours[name]):
            problems.append(f"{name}: the emulated device crashed")
        if name not in IGNORED_GROUPS:
            problems += differences(name, ours[name], theirs[name], used)
    problems += [
        f"known.py: nothing differs any more for {entry.group!r}, {entry.pattern!r}"
        for index, entry in enumerate(DIFFERENCES)
        if index not in used
    ]
    if problems:
        sys.exit("\n".join(problems))
    count = sum(len(lines) for lines in theirs.values())
    print(f"{count} answers in {len(theirs)} groups, {len(DIFFERENCES)} known differences")


def groups_of(text):
    """Return the lines of each group by its name."""
    groups = {}
    lines = []
    for line in text.splitlines():
        if line.startswith("== "):
            lines = groups.setdefault(line[3:], [])
        else:
            lines.append(line)
    return groups


def differences(group, ours, theirs, used):
    """Return the differences of a group that are not known, and note which known ones occur."""
    if theirs and theirs[-1].startswith(CRASH):
        theirs = theirs[:-1]
        ours = ours[: len(theirs)]
    found = []
    matcher = difflib.SequenceMatcher(a=theirs, b=ours, autojunk=False)
    for tag, begin, end, our_begin, our_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        for line in theirs[begin:end] + ours[our_begin:our_end]:
            entry = known(group, line)
            if entry is None:
                sign = "-" if line in theirs[begin:end] else "+"
                found.append(f"{group}: {sign} {line}")
            else:
                used.add(entry)
    return found


def known(group, line):
    """Return the index of the known difference that a line belongs to."""
    for index, entry in enumerate(DIFFERENCES):
        if entry.group in ("", group) and re.match(entry.pattern, line):
            return index
    return None


if __name__ == "__main__":
    main()
