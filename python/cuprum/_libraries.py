# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Where Python packages may hold CUDA's compiler libraries."""

from __future__ import annotations

import os
import sys


def search_paths() -> list[str]:
    """Return the folders on ``sys.path`` that have an ``nvidia`` package, in order."""
    folders = [os.path.abspath(entry) for entry in sys.path if entry]
    return [folder for folder in folders if os.path.isdir(os.path.join(folder, "nvidia"))]
