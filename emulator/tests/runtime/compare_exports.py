# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compare the exports of two libcudart.so of one version: names with their versions.

Programs refer to both, so a program cannot start if one is missing. Ours may also have the
functions of newer versions.
"""

import argparse
import re
import subprocess
import sys


def exports(nm, library):
    """Return the names that a library defines."""
    command = [nm, "--dynamic", "--defined-only", library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = {line.split()[-1] for line in lines}
    return {name for name in names if name.startswith(("cuda", "__cuda"))}


def names_in(file):
    """Return the functions that a file of the runtime library names."""
    with open(file) as source:
        return set(re.findall(r"\b(?:__)?cuda\w+(?=[(,])", source.read()))


def main():
    """Print the differences; succeed if there are none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--theirs", required=True)
    parser.add_argument("--newer", action="append", default=[], help="names functions we may have")
    parser.add_argument("--nm", default="nm")
    arguments = parser.parse_args()
    ours = exports(arguments.nm, arguments.ours)
    theirs = exports(arguments.nm, arguments.theirs)
    newer = set().union(*(names_in(file) for file in arguments.newer))
    missing = sorted(theirs - ours)
    unknown = sorted(
        name for name in ours - theirs if name.split("@")[0].removesuffix("_ptsz") not in newer
    )
    for name in missing:
        print(f"missing: {name}")
    for name in unknown:
        print(f"unknown: {name}")
    print(f"{len(ours & theirs)} of {len(theirs)} functions are exported")
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
