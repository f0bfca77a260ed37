# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compare the exports of two libcudart.so of one version: names with their versions.

Programs refer to both, so a program cannot start if one is missing.
"""

import argparse
import subprocess
import sys


def exports(nm, library):
    """Return the names that a library defines."""
    command = [nm, "--dynamic", "--defined-only", library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = {line.split()[-1] for line in lines}
    return {name for name in names if name.startswith(("cuda", "__cuda"))}


def main():
    """Print the differences; succeed if there are none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--theirs", required=True)
    parser.add_argument("--nm", default="nm")
    arguments = parser.parse_args()
    ours = exports(arguments.nm, arguments.ours)
    theirs = exports(arguments.nm, arguments.theirs)
    for name in sorted(theirs - ours):
        print(f"missing: {name}")
    for name in sorted(ours - theirs):
        print(f"unknown: {name}")
    print(f"{len(ours & theirs)} of {len(theirs)} functions are exported")
    return 0 if ours == theirs else 1


if __name__ == "__main__":
    sys.exit(main())
