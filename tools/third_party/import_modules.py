# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Import packages and the modules directly in them, or --only those named; print a line for each.

Each is imported by a process of its own, forked from this one, because a failure may end it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys


def main() -> None:
    """Import the packages on the command line, and the modules in them."""
    is_only = sys.argv[1] == "--only"
    for package in sys.argv[2:] if is_only else sys.argv[1:]:
        names = [package]
        spec = None if is_only else importlib.util.find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            names += [
                found.name
                for found in pkgutil.iter_modules(spec.submodule_search_locations, f"{package}.")
                if not found.name.endswith("__main__")
            ]
        for name in sorted(names):
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                _import(name)
                sys.stdout.flush()
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if status != 0:
                print(f"module {name}: ended with status {os.waitstatus_to_exitcode(status)}")


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except BaseException as error:
        text = " ".join(str(error).split())[:200]
        print(f"module {name}: {type(error).__name__}: {text}")
    else:
        print(f"module {name}: imported")


if __name__ == "__main__":
    main()
