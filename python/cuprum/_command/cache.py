# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuprum cache``: the cache of compiled programs on disk."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from cuprum._command import FAILURE, SUCCESS
from cuprum._display import size

if TYPE_CHECKING:
    from cuprum.utils import FileStreamProgramCache


def run(action: str, path: str | None, is_json: bool) -> int:
    """Show the cache or empty it; return 1 if its folder cannot be used."""
    folder = Path(path) if path is not None else default_folder()
    try:
        facts = describe(folder, is_named=path is not None)
        if action == "clear" and facts["exists"]:
            _open(folder, path is not None).clear()
            facts["removed_entries"] = facts["entries"]
            facts["removed_bytes"] = facts["size_bytes"]
            facts.update(describe(folder, is_named=path is not None))
    except Exception as error:
        print(f"cuprum: the cache in {folder} cannot be used: {error}", file=sys.stderr)
        return FAILURE
    if is_json:
        print(json.dumps(facts, indent=2))
    elif action == "clear":
        print(f"{facts['path']}: removed {_amount(facts.get('removed_entries', 0))}")
    elif facts["exists"]:
        print(f"{facts['path']}: {_amount(facts['entries'])}, {size(facts['size_bytes'])}")
    else:
        print(f"{facts['path']}: there is no cache yet")
    return SUCCESS


def describe(folder: Path, *, is_named: bool) -> dict:
    """Return what the cache holds. Makes no folder."""
    facts = {"path": str(folder), "exists": folder.is_dir(), "entries": 0, "size_bytes": 0}
    if facts["exists"]:
        cache = _open(folder, is_named)
        facts["entries"] = len(cache)
        facts["size_bytes"] = cache.size_bytes
    return facts


def default_folder() -> Path:
    """Return the folder that programs use if they name none."""
    for variable, rest in (("CUPRUM_CACHE_DIR", ""), ("XDG_CACHE_HOME", "cuprum/program-cache")):
        value = os.environ.get(variable, "")
        if os.path.isabs(value):
            return Path(value, rest)
    return Path.home() / ".cache/cuprum/program-cache"


def _open(folder: Path, is_named: bool) -> FileStreamProgramCache:
    from cuprum.utils import FileStreamProgramCache

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a named folder that others can write to
        # The default folder is opened by default: then it must be closed to others.
        return FileStreamProgramCache(str(folder) if is_named else None)


def _amount(count: int) -> str:
    return f"{count} entry" if count == 1 else f"{count} entries"
