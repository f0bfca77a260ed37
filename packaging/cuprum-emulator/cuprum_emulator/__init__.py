# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The emulated CUDA device: where its files are, and the command ``cuprum-emulator``."""

from __future__ import annotations

import os
import sys

__all__ = ["COMMAND", "LIBRARY", "main"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))
COMMAND = os.path.join(_FOLDER, "bin", "cuprum-emulator")
LIBRARY = os.path.join(_FOLDER, "lib", "cuprum", "libcuda.so.1")


def main() -> int:
    """Become the command; return only if that fails."""
    try:
        os.execv(COMMAND, ["cuprum-emulator", *sys.argv[1:]])
    except OSError as error:
        print(f"cuprum-emulator: {COMMAND} cannot be started: {error.strerror}", file=sys.stderr)
    return 127
